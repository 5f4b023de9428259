package scenarios

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/clbemu/clbemu/emulator/spelling"
	"github.com/clbemu/clbemu/faults"
)

// Names knows the names that exist where a scenario runs. Unknown names fail
// before anything runs: an expectation with one could never match, or would always
// find it absent.
type Names interface {
	// Actions lists the actions of all products.
	Actions() []Action
	// Quotas lists the names of the quotas.
	Quotas() []string
	// ResolveFault says what is wrong with a rule that could never match.
	ResolveFault(*faults.Rule) []faults.Problem
	// CheckCondition rejects an unknown condition of the world, and a value with an
	// unknown name. An empty value is not known yet.
	CheckCondition(name, value string) error
	// CheckConditionID rejects a condition of something that the world, if known,
	// does not have.
	CheckConditionID(name string) error
	// CheckID rejects the id of something that the world, if known, does not have.
	// The field is a parameter, or one of the objects in it.
	CheckID(field, id string) error
}

// Action is an action with the names that calls of it can have.
type Action struct {
	Product, Name string
	// Emulated is false for one that always fails.
	Emulated bool
	// Parameters by name: Tag.N.Key for elements of lists, BackendServers[].Port for
	// fields of JSON text.
	Parameters []string
	// Values lists what a parameter may be, by name, where that is a closed list.
	Values map[string][]string
	// Required are the parameters without which it is refused, but for those of elements of
	// lists, and Ranges bounds numbers, as in 1..65535.
	Required []string
	Ranges   map[string]string
	// Writes reports whether it changes something.
	Writes bool
	// Secrets are the parameters of which the journal keeps no value.
	Secrets []string
	// Fields are the paths of what it answers, such as Listeners[].Status.
	Fields []string
	// Codes lists the codes of its refusals, without those that faults inject.
	Codes []string
}

// suggest ends a refusal of a name: with the likely one, or else all of
// them where they are few, or else with where to find them.
func suggest(name string, names []string, otherwise string) string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	if len(names) > 0 && len(names) <= mostListed || otherwise == "" {
		otherwise = "there are " + strings.Join(names, ", ")
	}
	return spelling.DidYouMean(name, names, otherwise)
}

// mostListed limits how many names a refusal lists.
const mostListed = 30

// number finds the number of an element of a list, such as Tag.2.Key.
var number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.[1-9][0-9]*(\.|$)`) })

// numbered returns a name with N instead of numbers.
func numbered(name string) string { return number().ReplaceAllString(name, ".N$1") }

// reads reports whether one of the actions reads a parameter.
func reads(actions []Action, parameter string) bool {
	return slices.ContainsFunc(actions, func(a Action) bool {
		return slices.Contains(a.Parameters, parameter) || slices.Contains(a.Parameters, numbered(parameter)) ||
			slices.Contains(a.Parameters, parameter+".N") // a list of one
	})
}

// parametersOf lists the parameters of actions, without fields of JSON text.
func parametersOf(actions []Action) (all []string) {
	for _, a := range actions {
		for _, p := range a.Parameters {
			if !strings.Contains(p, "[]") {
				all = append(all, p)
			}
		}
	}
	return all
}

// jsonFields lists the fields of the objects in a parameter, nil if it has none.
func (a Action) jsonFields(parameter string) (fields []string) {
	for _, p := range a.Parameters {
		if field, ok := strings.CutPrefix(p, parameter+"[]."); ok {
			fields = append(fields, field)
		}
	}
	return fields
}

// readsList reports whether the action reads a list element by element, as Name.1 or Name.1.Field.
func (a Action) readsList(name string) bool {
	return slices.ContainsFunc(a.Parameters, func(p string) bool { return p == name+".N" || strings.HasPrefix(p, name+".N.") })
}

func (a Action) name() string    { return a.Name }
func (a Action) product() string { return a.Product }

func namesOf(actions []Action, of func(Action) string) []string {
	all := make([]string, len(actions))
	for i, a := range actions {
		all[i] = of(a)
	}
	return all
}

// shape describes what a path leads to.
type shape int

const (
	leadsNowhere shape = iota
	leadsToValue
	leadsToObject
	leadsToList
)

// envelope lists the fields of every answer, and of refusals.
var envelope = []string{"RequestId", "HostId", "Code", "Message", "Recommend"}

// answers lists the paths of all fields that an action can return.
func (a Action) answers() []string { return slices.Concat(a.Fields, envelope) }

// shapeAt finds what a path leads to in an answer with these fields.
func shapeAt(fields, path []string) shape {
	found := leadsNowhere
	for _, field := range fields {
		found = max(found, shapeIn(parts(field), path))
	}
	return found
}

// parts splits a field's path; [] is a part of its own.
func parts(field string) []string { return strings.Split(strings.ReplaceAll(field, "[]", ".[]"), ".") }

// shapeIn follows a path through one field.
func shapeIn(field, path []string) shape {
	for i, part := range path {
		if i >= len(field) || field[i] != part && field[i] != "*" && (field[i] != "[]" || !isElement(part)) {
			return leadsNowhere
		}
	}
	switch {
	case len(path) == len(field):
		return leadsToValue
	case field[len(path)] == "[]":
		return leadsToList
	}
	return leadsToObject
}

// isIndex reports whether a part of a path is the number of an element.
func isIndex(part string) bool {
	_, err := strconv.ParseUint(part, 10, 31)
	return err == nil
}

// isElement reports whether a part of a path names an element of a list.
func isElement(part string) bool { return isIndex(part) || strings.Contains(part, "=") }

// checkPath refuses a path that leads nowhere, and a count of something that is not a list.
func checkPath(fields []string, path string, count bool) error {
	parts := splitPath(path)
	found := shapeAt(fields, parts)
	for i, part := range parts {
		if name, _, by := strings.Cut(part, "="); by && shapeAt(fields, parts[:i]) == leadsToList {
			found = min(found, shapeAt(fields, slices.Concat(parts[:i], []string{"0", name})))
		}
	}
	if found == leadsNowhere {
		return fmt.Errorf("there is no such field%s", suggest(path, written(fields), "none is like it"))
	}
	if count && found != leadsToList {
		return fmt.Errorf("it is not a list, and has no count")
	}
	return nil
}

// written returns paths as a scenario writes them: with the number of an element, and
// those of the lists.
func written(fields []string) (all []string) {
	for _, field := range fields {
		for i := range field {
			if strings.HasPrefix(field[i:], "[]") {
				all = append(all, strings.ReplaceAll(field[:i], "[]", ".0"))
			}
		}
		all = append(all, strings.ReplaceAll(field, "[]", ".0"))
	}
	return all
}

// checkJSON refuses fields of the objects in a JSON text that none of them has. A
// text that is no list of objects may be what a scenario is about.
func checkJSON(fields []string, text string) (problems []error) {
	var objects []map[string]any
	if fields == nil || json.Unmarshal([]byte(text), &objects) != nil {
		return nil
	}
	for i, o := range objects {
		for _, name := range sortedKeys(o) {
			if !slices.ContainsFunc(fields, func(f string) bool { return strings.EqualFold(f, name) }) {
				problems = append(problems, fmt.Errorf("[%d].%s: there is no such field%s", i, name, suggest(name, fields, "")))
			}
		}
	}
	return problems
}
