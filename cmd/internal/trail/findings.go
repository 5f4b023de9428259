package trail

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/clbemu/clbemu/emulator/names"
)

// Finding is something that clbemu would have done otherwise.
type Finding struct {
	// Kind says what is unknown here: action, parameter, code, the status of a code, or field. For
	// a call that was played, it is the answer or the value of a field.
	Kind   string `json:"kind"`
	Action string `json:"action"`
	// What names it: a parameter, a code, a field, or both answers.
	What string `json:"what,omitempty"`
	// Times counts the events.
	Times int `json:"times"`
}

// maxFindings limits the number of different findings: names in hostile files have no end.
const maxFindings = 10_000

// Findings collects what differs.
type Findings struct {
	known  *names.Names
	counts map[Finding]int
	// Dropped counts what came when there were maxFindings.
	Dropped int
	// judged by action: which parameters, codes and fields it has.
	judged map[string]*actionModel
}

// actionModel holds the parameters, codes and fields of an action.
type actionModel struct {
	action        names.Action
	found         bool
	service       bool // the product has actions here
	codes, fields map[string]bool
	parameters    map[string]bool // in lower case
}

// NewFindings returns an empty collection, which judges by the names of this emulator.
func NewFindings(known *names.Names) *Findings {
	return &Findings{known: known, counts: make(map[Finding]int), judged: make(map[string]*actionModel)}
}

// Add counts a finding.
func (f *Findings) Add(kind, action, what string) {
	found := Finding{Kind: kind, Action: action, What: what}
	if _, known := f.counts[found]; !known && len(f.counts) >= maxFindings {
		f.Dropped++
		return
	}
	f.counts[found]++
}

// Sorted lists the findings, the most frequent first.
func (f *Findings) Sorted() []Finding {
	list := make([]Finding, 0, len(f.counts))
	for found, n := range f.counts {
		found.Times = n
		list = append(list, found)
	}
	slices.SortFunc(list, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Action, b.Action), strings.Compare(a.What, b.What))
	})
	return list
}

// Judge compares an event with what this emulator knows. It reports whether the event is about a
// service here.
func (f *Findings) Judge(e *Event) bool {
	j := f.of(e)
	switch {
	case !j.service:
		return false
	case !j.found || !j.action.Emulated:
		f.Add("action", j.name(e), "")
	default:
		f.judge(e, j)
	}
	return true
}

func (f *Findings) judge(e *Event, j *actionModel) {
	for _, name := range slices.Sorted(maps.Keys(e.Params)) {
		if !j.reads(name) {
			f.Add("parameter", j.name(e), shape(name))
		}
	}
	switch {
	case e.Code == "":
	case !j.codes[e.Code] && !j.codes[numbered(e.Code)]:
		f.Add("code", j.name(e), shape(e.Code))
	case e.Status != 0 && !j.answers(numbered(e.Code), e.Status):
		f.Add("status", j.name(e), shape(e.Code)+" with "+strconv.Itoa(e.Status))
	}
	for _, path := range slices.Sorted(maps.Keys(paths(e.Answer))) {
		if !j.fields[path] {
			f.Add("field", j.name(e), shape(path))
		}
	}
}

// reads reports whether the action reads a parameter, in any letter case.
func (j *actionModel) reads(name string) bool {
	named := strings.ToLower(numbered(name))
	return j.parameters[named] || j.parameters[named+".n"] // a list of one
}

// answers reports whether the action has the code with this status, or is not known to have
// it with any.
func (j *actionModel) answers(code string, status int) bool {
	row, _, known := j.action.Worded(code)
	for r := range j.action.ErrorsWith(code) {
		if r.Status == status {
			return true
		}
	}
	return !known || row.Status == status
}

// name returns the action's name with its product, as this model has them: a log does not say the
// product.
func (j *actionModel) name(e *Event) string {
	if j.found {
		return j.action.Product + " " + j.action.Name
	}
	if e.Product == "" {
		return shape(e.Action)
	}
	return shape(e.Product) + " " + shape(e.Action)
}

// of finds the action of an event.
func (f *Findings) of(e *Event) *actionModel {
	key := e.Product + " " + e.Action
	if j := f.judged[key]; j != nil {
		return j
	}
	j := &actionModel{codes: make(map[string]bool), parameters: make(map[string]bool), fields: map[string]bool{"RequestId": true}, service: e.Product == ""}
	for _, a := range f.known.Actions() {
		if e.Product != "" && !strings.EqualFold(a.Product, e.Product) {
			continue
		}
		if j.service = true; a.Name != e.Action || j.found && !a.Emulated {
			continue
		}
		if j.found && j.action.Emulated {
			continue // the first of several products that have it
		}
		j.action, j.found = a, true
	}
	if j.found {
		for _, code := range append(j.action.Codes(), j.action.Catalogued()...) {
			j.codes[code] = true
		}
		for _, path := range j.action.ResponseFields() {
			j.addField(strings.ReplaceAll(path, "[]", ""))
		}
		for _, name := range j.action.ParameterNames() {
			j.parameters[strings.ToLower(name)] = true
		}
	}
	if len(f.judged) < maxFindings {
		f.judged[key] = j
	}
	return j
}

// addField knows a path and all above it.
func (j *actionModel) addField(path string) {
	for ; path != ""; path = path[:max(strings.LastIndexByte(path, '.'), 0)] {
		j.fields[path] = true
	}
}

// paths returns the paths of all fields of an answer, without the numbers of elements.
func paths(answer any) map[string]bool {
	found := make(map[string]bool)
	var visit func(at any, path string, depth int)
	visit = func(at any, path string, depth int) {
		if depth > 20 || len(found) > maxFindings {
			return
		}
		switch v := at.(type) {
		case map[string]any:
			for name, value := range v {
				under := strings.TrimPrefix(path+"."+name, ".")
				found[under] = true
				visit(value, under, depth+1)
			}
		case []any:
			for _, element := range v {
				visit(element, path, depth+1)
			}
		}
	}
	visit(answer, "", 0)
	return found
}

var number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.\d+(\.|$)`) })

// numbered returns the name with N for the numbers of elements.
func numbered(name string) string {
	return number().ReplaceAllString(number().ReplaceAllString(name, ".N$1"), ".N$1")
}

// plainName is the form of names and codes, which have no hyphen, unlike ids and names that people
// choose. manyDigits is the form of ids and numbers, and keyPrefix of keys and tokens. Any other
// text may be a secret, and is not printed.
var (
	plainName  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.]{0,79}$`) })
	manyDigits = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d.*){3}`) })
	keyPrefix  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|\.)(LTAI|STS\.|CAIS)`) })
)

// shape returns a name fit to show.
func shape(name string) string {
	if n := numbered(name); plainName().MatchString(n) && !manyDigits().MatchString(n) && !keyPrefix().MatchString(n) {
		return n
	}
	return "(a name that may be a value)"
}
