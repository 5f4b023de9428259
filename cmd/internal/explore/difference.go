package explore

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// fieldStart begins a field in a line of a state.
var fieldStart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` ([A-Z][A-Za-z0-9]*)=`) })

// Difference tells two states apart in a few words: by the fields that differ of lines of
// the same resource, and by the names of the other lines.
func (f *Finding) Difference() []string {
	if len(f.Missing)+len(f.Extra) == 0 {
		return []string{"expected " + f.Expected, "saw " + f.Seen}
	}
	extra := slices.Clone(f.Extra)
	var all []string
	for _, want := range f.Missing {
		i := slices.IndexFunc(extra, func(is string) bool { return headOf(is) == headOf(want) })
		if i < 0 {
			all = append(all, "missing: "+headOf(want))
			continue
		}
		all = append(all, headOf(want)+": "+fieldsThatDiffer(want, extra[i]))
		extra = slices.Delete(extra, i, i+1)
	}
	for _, is := range extra {
		if gone, ok := strings.CutPrefix(is, "- "); ok {
			all = append(all, "gone: "+headOf(gone))
		} else {
			all = append(all, "too much: "+headOf(is))
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
func fieldsThatDiffer(want, is string) string {
	a, b := fieldsOf(want), fieldsOf(is)
	var all []string
	for _, name := range sorted(a) {
		if b[name] != a[name] {
			all = append(all, name+" is "+orNone(b[name])+", want "+a[name])
		}
	}
	for _, name := range sorted(b) {
		if _, ok := a[name]; !ok {
			all = append(all, name+" is "+b[name]+", want none")
		}
	}
	return strings.Join(all, "; ")
}

func orNone(value string) string {
	if value == "" {
		return "none"
	}
	return value
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
