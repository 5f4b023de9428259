package fidelity

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

// raw is a part of a file that statements copy.
type raw struct{ *yaml.Node }

var _ yamlfile.Reader = (*raw)(nil)

// ReadYAML implements yamlfile.Reader.
func (r *raw) ReadYAML(_ *yamlfile.Decoder, node *yaml.Node, _ string) { r.Node = node }

// base says how the rows of parameters are played.
type base struct {
	// Before lists the calls before the call of each case.
	Before []raw `yaml:"before"`
	// Call has the parameters with which the action succeeds.
	Call raw `yaml:"call"`
	// Reads show afterwards what the call has set; the last one is compared.
	Reads []raw `yaml:"reads"`
}

// parameter is a row from which statements follow: values that the parameter takes are accepted and
// read back, and others are refused with a code.
type parameter struct {
	Source string `yaml:"source" required:"true"`
	// Read is the field of the last read that shows the parameter.
	Read string `yaml:"read"`
	// Shown is the field of the call's own answer that shows it.
	Shown string `yaml:"shown"`
	// AnyCase says that the cloud has spellings of its own.
	AnyCase bool `yaml:"anyCase"`
	// With and Without change the parameters of the base's call.
	With    raw      `yaml:"with"`
	Without []string `yaml:"without"`
	// Values lists all values that the parameter takes. As lists what a read shows for each, if
	// that differs; absent means that it shows none. Other is the error code for any other value.
	Values []string `yaml:"values"`
	As     []string `yaml:"as"`
	Other  string   `yaml:"other"`
	// Within is the text of the parameter before the last dot of the row's name, a list in
	// JSON, in which @ stands for the value; Absent is the text without it.
	Within string `yaml:"within"`
	Absent string `yaml:"absent"`
	// Range bounds the numbers that it takes, 10..900, with the codes of those beyond.
	Range string `yaml:"range"`
	Below string `yaml:"below"`
	Above string `yaml:"above"`
	// Length is the range of a text's length in characters, 2..80. Such texts begin with Fill.
	// Shorter and Longer are the codes of other lengths.
	Length  string `yaml:"length"`
	Fill    string `yaml:"fill"`
	Shorter string `yaml:"shorter"`
	Longer  string `yaml:"longer"`
	// Begins is the class of a text's first letter, a letter or a slash, and Otherwise the code of another.
	Begins    string `yaml:"begins"`
	Otherwise string `yaml:"otherwise"`
	// Counts are values of a filter, each with how many rows a list has then.
	Counts raw `yaml:"counts"`
	// Finds and Misses are values of a filter, with which a list has Found rows and none. Shown
	// is the count, TotalCount if it is absent, or List the list without one.
	List   string `yaml:"list"`
	Finds  string `yaml:"finds"`
	Misses string `yaml:"misses"`
	Found  int    `yaml:"found"`
	// Default is the value that is read if it is absent.
	Default *string `yaml:"default"`
	// Required is the code of a call without it.
	Required string `yaml:"required"`

	line int
}

var _ yamlfile.Placed = (*parameter)(nil)

// Place implements yamlfile.Placed.
func (p *parameter) Place(node *yaml.Node) { p.line = node.Line }

// answers lists fields that one call answers, each of which is a statement.
type answers struct {
	Source string `yaml:"source" required:"true"`
	Before []raw  `yaml:"before"`
	Call   raw    `yaml:"call"`
	Fields raw    `yaml:"fields" required:"true"`
}

// unpublished stands for the code of a refusal whose code no source has.
const unpublished = "unpublished"

// derived is a case that follows from a row.
type derived struct {
	suffix, class, says string
	value               *string // nil leaves the parameter out
	code                string  // of a refusal
	read                string  // the value that is read afterwards
}

// rows returns the nodes of the statements that follow from the rows of a file.
func (f *File) rows(d *yamlfile.Decoder) (list []*yaml.Node) {
	names := slices.SortedFunc(maps.Keys(f.Parameters), func(a, b string) int { return cmp.Compare(f.Parameters[a].line, f.Parameters[b].line) })
	for _, name := range names {
		p := f.Parameters[name]
		cases, err := p.cases(name)
		if err != nil {
			d.Fail(&yaml.Node{Line: p.line}, "parameters."+name, "%s", err)
			continue
		}
		for _, c := range cases {
			list = append(list, f.parameterStatement(name, p, c))
		}
	}
	for i := range f.Answers {
		a := &f.Answers[i]
		if a.Fields.Node == nil || a.Fields.Kind != yaml.MappingNode {
			continue
		}
		for pair := range slices.Chunk(a.Fields.Content, 2) {
			list = append(list, f.answerStatement(a, pair[0], pair[1]))
		}
	}
	return append(list, f.commonStatements()...)
}

// cases returns what follows from a row.
func (p *parameter) cases(name string) (list []derived, err error) {
	if p.Required != "" {
		list = append(list, derived{suffix: "required", class: "parameter", says: name + " is required.", code: p.Required})
	}
	for i, v := range p.Values {
		read := v
		if i < len(p.As) {
			read = p.As[i]
		}
		list = append(list, derived{suffix: kebab(called(v)), class: "parameter", says: name + " takes " + called(v) + ".", value: &v, read: read})
	}
	if p.Other != "" {
		list = append(list, derived{suffix: "other", class: "range", says: name + " refuses what is none of " + strings.Join(p.Values, ", ") + ".", value: text("neither"), code: p.Other})
	}
	if p.Default != nil {
		list = append(list, derived{suffix: "default", class: "default", says: name + " is " + *p.Default + " if it is absent.", read: *p.Default})
	}
	ranged, err := p.ranged(name)
	if err != nil {
		return nil, err
	}
	long, err := p.long(name)
	list = slices.Concat(p.filter(name), list, ranged, long, p.begun(name))
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("nothing follows from it: give values, range, length, default or required")
	}
	return list, err
}

// called returns a value as a sentence has it. It calls a value that a call has saved an id.
func called(value string) string {
	switch {
	case strings.HasPrefix(value, "{{"):
		return "what has the id"
	case strings.HasPrefix(value, "["):
		return "a list"
	case strings.HasPrefix(value, "-----BEGIN"):
		return "a text in PEM"
	}
	return value
}

// otherwise are texts that don't begin as they must.
var otherwise = map[string]string{"a letter": "1web", "a slash": "ready"}

func (p *parameter) begun(name string) []derived {
	if p.Begins == "" {
		return nil
	}
	return []derived{{suffix: strings.TrimPrefix(p.Begins, "a "), class: "range", says: name + " begins with " + p.Begins + ".", value: text(otherwise[p.Begins]), code: p.Otherwise}}
}

func (p *parameter) filter(name string) (list []derived) {
	if p.Shown == "" && (p.Finds+p.Misses != "" || p.Counts.Node != nil) {
		p.Shown = cmp.Or(p.List, "TotalCount")
	}
	each(p.Counts.Node, func(value, count *yaml.Node) {
		list = append(list, derived{suffix: "filters-" + kebab(called(value.Value)), class: "parameter", says: name + " takes " + called(value.Value) + ", and finds what has it.", value: &value.Value, read: count.Value})
	})
	if p.Finds != "" {
		list = append(list, derived{suffix: "finds", class: "parameter", says: name + " finds what has it.", value: &p.Finds, read: strconv.Itoa(max(p.Found, 1))})
	}
	if p.Misses != "" {
		list = append(list, derived{suffix: "misses", class: "parameter", says: name + " leaves out what has another.", value: &p.Misses, read: "0"})
	}
	return list
}

// ends reads a range, which may lack an end.
func ends(text string) (low, high *int, err error) {
	if text == "" {
		return nil, nil, nil
	}
	first, last, ok := strings.Cut(text, "..")
	for part, to := range map[string]**int{first: &low, last: &high} {
		if part == "" {
			continue
		}
		n, failed := strconv.Atoi(part)
		if failed != nil {
			ok = false
		}
		*to = &n
	}
	if !ok || low == nil && high == nil || low != nil && high != nil && *low >= *high {
		return nil, nil, fmt.Errorf("%q is not a range such as 10..900", text)
	}
	return low, high, nil
}

func text(s string) *string { return &s }

func (p *parameter) ranged(name string) (list []derived, err error) {
	low, high, err := ends(p.Range)
	number := func(suffix, words string, n, shown int, code string) {
		list = append(list, derived{suffix: suffix, class: "range", says: fmt.Sprintf("%s %s %d.", name, words, shown), value: text(strconv.Itoa(n)), code: code, read: strconv.Itoa(n)})
	}
	if low != nil {
		number("least", "can be", *low, *low, "")
	}
	if high != nil {
		number("most", "can be", *high, *high, "")
	}
	if low != nil && p.Below != "" {
		number("below", "can't be less than", *low-1, *low, p.Below)
	}
	if high != nil && p.Above != "" {
		number("above", "can't be more than", *high+1, *high, p.Above)
	}
	return list, err
}

func (p *parameter) long(name string) (list []derived, err error) {
	low, high, err := ends(p.Length)
	add := func(suffix, words string, n, shown int, code string) {
		v := p.Fill + strings.Repeat("a", max(n-len(p.Fill), 0))
		read := v
		if p.Finds != "" || p.Counts.Node != nil {
			read = "0" // nothing has it
		}
		list = append(list, derived{suffix: suffix, class: "range", says: fmt.Sprintf("%s %s %d characters.", name, words, shown), value: &v, code: code, read: read})
	}
	if high != nil {
		add("longest", "can have", *high, *high, "")
	}
	if high != nil && p.Longer != "" {
		add("too-long", "can't have more than", *high+1, *high, p.Longer)
	}
	if low != nil && p.Shorter != "" {
		add("too-short", "can't have fewer than", *low-1, *low, p.Shorter)
	}
	return list, err
}

// sent returns the parameter of a call that has a value of the row, and its text.
func (p *parameter) sent(name string, value *string) (key string, sent *string) {
	if p.Within == "" {
		return name, value
	}
	key = name[:strings.LastIndexByte(name, '.')]
	if value == nil {
		return key, &p.Absent
	}
	return key, text(strings.ReplaceAll(p.Within, "@", *value))
}

// parameterStatement returns the node of a statement about a parameter.
func (f *File) parameterStatement(name string, p *parameter, c derived) *yaml.Node {
	at := p.line
	key, value := p.sent(name, c.value)
	params := merged(at, child(f.Base.Call.Node, "params"), p.With.Node, append([]string{key}, p.Without...))
	if value != nil {
		params.Content = append(params.Content, scalar(at, key), scalar(at, *value))
	}
	call := f.call(at, f.Base.Call.Node, params)
	steps := copied(at, f.Base.Before)
	if c.code != "" {
		without(call, "save")
		return statement(at, kebab(name)+"-"+c.suffix, c.class, c.says, p.Source, c.code == unpublished, append(steps, step(at, with(at, call, "expect", refusal(at, c.code)))))
	}
	if p.Read == "" {
		without(call, "save")
		if p.Shown != "" {
			call = with(at, call, "expect", mapping(at, "fields", mapping(at, p.Shown, p.want(c.read))))
		}
		steps = append(steps, step(at, call))
		return statement(at, kebab(name)+"-"+c.suffix, c.class, c.says, p.Source, false, steps)
	}
	steps = append(steps, step(at, call))
	for i, read := range f.Base.Reads {
		r := read.Node
		if i == len(f.Base.Reads)-1 {
			r = with(at, r, "expect", mapping(at, "fields", mapping(at, p.Read, p.want(c.read))))
		}
		steps = append(steps, step(at, r))
	}
	return statement(at, kebab(name)+"-"+c.suffix, c.class, c.says, p.Source, false, steps)
}

// want returns the expected value of a field that shows a value. absent stands for none.
func (p *parameter) want(read string) *yaml.Node {
	switch {
	case p.List != "":
		return mapping(p.line, "count", scalar(p.line, read))
	case read == "absent":
		return mapping(p.line, "absent", scalar(p.line, "true"))
	case p.AnyCase:
		return mapping(p.line, "matches", scalar(p.line, "(?i)^"+regexp.QuoteMeta(read)+"$"))
	}
	return scalar(p.line, read)
}

// answerStatement returns the node of a statement about a field.
func (f *File) answerStatement(a *answers, path, want *yaml.Node) *yaml.Node {
	parts := strings.Split(path.Value, ".")
	id, shown := "answers", ""
	for _, part := range parts {
		if _, err := strconv.Atoi(part); err == nil {
			shown += "[]"
			continue
		}
		id += "-" + kebab(part)
		shown += "." + part
	}
	says := "It answers " + shown[1:]
	if want.Kind == yaml.ScalarNode && want.Value != "" && !strings.Contains(want.Value, "{{") {
		says += ", " + want.Value
	}
	at := path.Line
	call := f.call(at, a.Call.Node, child(a.Call.Node, "params"))
	call = with(at, call, "expect", mapping(at, "fields", mapping(at, path.Value, want)))
	return statement(at, id, "field", says+".", a.Source, false, append(copied(at, a.Before), step(at, call)))
}

// call returns a call of the file's action with parameters, of the form of another.
func (f *File) call(line int, form, params *yaml.Node) *yaml.Node {
	call := mapping(line, "product", scalar(line, f.Product), "action", scalar(line, f.Action))
	if params != nil {
		call = with(line, call, "params", params)
	}
	if form != nil {
		for pair := range slices.Chunk(form.Content, 2) {
			if pair[0].Value != "params" {
				call = with(line, call, pair[0].Value, pair[1])
			}
		}
	}
	return call
}

// kebab writes a name in small letters with hyphens: AclId is acl-id.
func kebab(name string) string {
	var b strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			b.WriteRune('-')
			continue
		}
		before := i > 0 && (unicode.IsLower(letters[i-1]) || unicode.IsDigit(letters[i-1]))
		after := i > 0 && unicode.IsUpper(letters[i-1]) && i+1 < len(letters) && unicode.IsLower(letters[i+1])
		if unicode.IsUpper(r) && (before || after) {
			b.WriteRune('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Trim(b.String(), "-")
}
