package explore

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// fieldStart begins a field in a line of a state.
var fieldStart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` ([A-Z][A-Za-z0-9]*)=`) })

// Change is one thing that differs between what was expected and what was seen.
type Change struct {
	// What is missing, "too much" or gone of a resource that only one state has, "" of one
	// whose fields differ, and expected or saw where no states are compared.
	What string `json:"what,omitempty"`
	Of   string `json:"of"`
	// Fields lists the fields that differ.
	Fields []FieldChange `json:"fields,omitempty"`
}

// FieldChange is a field that differs. The value "" stands for none.
type FieldChange struct {
	Name string `json:"name"`
	Is   string `json:"is,omitempty"`
	Want string `json:"want,omitempty"`
}

func (c Change) String() string {
	switch c.What {
	case "expected", "saw":
		return c.What + " " + c.Of
	case "":
		return c.Of + ": " + joined(c.Fields)
	}
	return c.What + ": " + c.Of
}

func joined(fields []FieldChange) string {
	all := make([]string, len(fields))
	for i, f := range fields {
		all[i] = f.Name + " is " + cmp.Or(f.Is, "none") + ", want " + cmp.Or(f.Want, "none")
	}
	return strings.Join(all, "; ")
}

// Difference describes how two states differ: the fields that differ of resources in both, and the
// names of resources in only one.
func (f *Finding) Difference() (all []Change) {
	if len(f.Missing)+len(f.Extra) == 0 {
		return []Change{{What: "expected", Of: f.Expected}, {What: "saw", Of: f.Seen}}
	}
	extra := slices.Clone(f.Extra)
	for _, want := range f.Missing {
		i := slices.IndexFunc(extra, func(is string) bool { return headOf(is) == headOf(want) })
		if i < 0 {
			all = append(all, Change{What: "missing", Of: headOf(want)})
			continue
		}
		all = append(all, Change{Of: headOf(want), Fields: fieldsThatDiffer(want, extra[i])})
		extra = slices.Delete(extra, i, i+1)
	}
	for _, is := range extra {
		if gone, ok := strings.CutPrefix(is, "- "); ok {
			all = append(all, Change{What: "gone", Of: headOf(gone)})
		} else {
			all = append(all, Change{What: "too much", Of: headOf(is)})
		}
	}
	return all
}

// headOf names the resource of a line: by kind and name, or by where it belongs.
func headOf(line string) string {
	kind, rest, _ := strings.Cut(line, " ")
	if name := nameIn(rest); name != "" {
		return kind + " " + name
	}
	return line
}

// fieldsThatDiffer compares two lines of a resource.
func fieldsThatDiffer(want, is string) (all []FieldChange) {
	a, b := fieldsOf(want), fieldsOf(is)
	for _, name := range sorted(a) {
		if b[name] != a[name] {
			all = append(all, FieldChange{Name: name, Is: b[name], Want: a[name]})
		}
	}
	for _, name := range sorted(b) {
		if _, ok := a[name]; !ok {
			all = append(all, FieldChange{Name: name, Is: b[name]})
		}
	}
	return all
}

func fieldsOf(line string) map[string]string {
	fields := make(map[string]string)
	starts := fieldStart().FindAllStringSubmatchIndex(line, -1)
	for i, at := range starts {
		end := len(line)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		fields[line[at[2]:at[3]]] = line[at[1]:end]
	}
	return fields
}
