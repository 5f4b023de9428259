package pull

import (
	"cmp"
	_ "embed"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clbemu/clbemu/state"
)

// row holds what was read about a resource: the fields of its entry in a list, those of the answers
// about it, and under parent the row of the resource that it belongs to.
type row map[string]any

// parent is the key of a row's parent.
const parent = "^"

// at follows a path of names with dots. In a list, a number is an element and * each of them;
// a list that stands where a name is looked for is meant itself, as some answers wrap their
// lists and others do not. The parent's fields are under ^.
func (r row) at(path string) any { return follow(r, strings.Split(path, ".")) }

func follow(from any, path []string) any {
	if len(path) == 0 {
		return from
	}
	switch from := from.(type) {
	case row:
		return follow(from.get(path[0]), path[1:])
	case map[string]any:
		return follow(row(from).get(path[0]), path[1:])
	case []any:
		if path[0] == "*" {
			var each []any
			for _, e := range from {
				each = append(each, follow(e, path[1:]))
			}
			return each
		}
		if n, err := strconv.Atoi(path[0]); err == nil {
			if n < len(from) {
				return follow(from[n], path[1:])
			}
			return nil
		}
		return follow(from, path[1:])
	}
	return nil
}

// get returns a field by its name, in whatever letters the answer spells it: Id or ID, Ipv6 or IPv6.
func (r row) get(name string) any {
	if value, ok := r[name]; ok {
		return value
	}
	for other, value := range r {
		if strings.EqualFold(other, name) {
			return value
		}
	}
	return nil
}

// text returns a field as text, or "" if it is absent.
func (r row) text(path string) string { return textOf(r.at(path)) }

func textOf(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(value)
	}
	return ""
}

// list returns the objects in a list of a field.
func (r row) list(path string) (list []row) {
	entries, ok := r.at(path).([]any)
	if !ok {
		return nil
	}
	for _, e := range entries {
		if object, ok := e.(map[string]any); ok {
			list = append(list, object)
		}
	}
	return list
}

// field says which part of a row becomes a field of a resource.
type field struct {
	// name is the field's, such as HealthCheck.Switch; of the elements of a list, Servers[].Port.
	name string
	// paths lists the places where it may be; the first that has something counts.
	paths []string
	// form says how the answer spells it, "" as it is.
	form string
}

// The forms in which answers have fields.
const (
	formIs  = "=" // true where the text is the one that follows
	formNot = "!" // false where the text is the one that follows
)

// table has a line for each field that answers have under another name than the usual ones: its kind and name,
// the paths (- is one that is computed) and the form; and for each that no answer has: no path, and the reason.
//
//go:embed fields.tsv
var table string

// tableOf returns the fields of a kind in the table, and the reasons of those that no answer has.
func tableOf(name state.Kind) (fields []field, unread map[string]string) {
	unread = make(map[string]string)
	for line := range strings.Lines(table) {
		cells := append(strings.Split(strings.TrimSuffix(line, "\n"), "\t"), "")
		switch {
		case cells[0] != string(name):
		case cells[2] == "":
			unread[cells[1]] = cells[3]
		default:
			fields = append(fields, field{cells[1], strings.Split(cells[2], "|"), cells[3]})
		}
	}
	return fields, unread
}

// fieldsOf returns the fields of a kind: those in the table, and the others under their own names,
// as answers have them.
func fieldsOf(k *kind) (fields []field) {
	said := make(map[string]bool)
	fields, k.unread = tableOf(k.name)
	for _, f := range fields {
		said[f.name] = true
	}
	add := func(name, about string, of reflect.Type) {
		if !said[name] {
			fields = append(fields, field{name: name, paths: usualPaths(name[strings.Index(name, "[].")+1:], about, of)})
			said[name] = true
		}
	}
	about := cmp.Or(strings.TrimSuffix(k.id, "Id"), strings.TrimPrefix(string(k.name), "NLB"))
	for name, of := range leaves(k.rowOf, "") {
		list, _, isList := strings.Cut(name, "[]")
		switch _, unread := k.unread[name]; {
		case unread, k.unread[list] != "", name == "AccountID", name == "RegionID":
		case isList:
			add(list+"[]", about, nil)
			add(name, strings.TrimSuffix(list, "s"), of)
		default:
			add(name, about, of)
		}
	}
	return fields
}

// usualPaths returns the names that answers use for a field: the field's own name, and that name
// after the resource's, such as VpcName for the Name of a VPC.
func usualPaths(name, about string, of reflect.Type) (paths []string) {
	name = strings.Trim(name, "[].")
	dir, last, nested := strings.Cut(name, ".")
	if !nested {
		dir, last = "", name
	}
	names := []string{last}
	if of == reflect.TypeFor[time.Time]() {
		names = []string{last + "Stamp", last, strings.Replace(last, "Create", "Creation", 1)}
	}
	for _, n := range names {
		if nested {
			paths = append(paths, dir+"."+n, dir+"."+dir+n, dir+n)
		}
		paths = append(paths, n)
		if !nested {
			paths = append(paths, about+n)
		}
	}
	return paths
}

// leaves yields the fields of a struct with their types, and those of lists as Servers[].Port.
func leaves(of reflect.Type, name string) iter.Seq2[string, reflect.Type] {
	return func(yield func(string, reflect.Type) bool) {
		for of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		isList := of.Kind() == reflect.Slice && of.Elem().Kind() == reflect.Struct
		if !isList && (of.Kind() != reflect.Struct || of == reflect.TypeFor[time.Time]()) {
			yield(name, of)
			return
		}
		if isList {
			of, name = of.Elem(), name+"[]"
		}
		for f := range of.Fields() {
			within := strings.TrimPrefix(name+"."+f.Name, ".")
			if f.Anonymous {
				within = name
			}
			for leaf, is := range leaves(f.Type, within) {
				if !yield(leaf, is) {
					return
				}
			}
		}
	}
}

// fill sets the fields of a resource, which is a struct, from a row.
func fill(of reflect.Value, fields []field, from row) error {
	for _, f := range fields {
		if inList, _, _ := strings.Cut(f.name, "[]"); inList != f.name {
			if strings.HasSuffix(f.name, "[]") {
				if err := fillList(of, f, fields, from); err != nil {
					return err
				}
			}
			continue
		}
		if err := f.set(of, from); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

// fillList fills the elements of a list by the fields of the table whose names go on from its
// own.
func fillList(of reflect.Value, f field, fields []field, from row) error {
	var within []field
	for _, other := range fields {
		if rest, ok := strings.CutPrefix(other.name, f.name+"."); ok {
			other.name = rest
			within = append(within, other)
		}
	}
	list := reachedBy(of, strings.TrimSuffix(f.name, "[]"))
	at := slices.IndexFunc(f.paths, func(path string) bool { return from.at(path) != nil })
	if at < 0 {
		return nil
	}
	entries := from.list(f.paths[at])
	if len(entries) == 0 {
		return nil
	}
	made := reflect.MakeSlice(list.Type(), len(entries), len(entries))
	for i, entry := range entries {
		if err := fill(made.Index(i), within, entry); err != nil {
			return err
		}
	}
	list.Set(made)
	return nil
}

// reachedBy returns the field of a struct with a dotted name. It allocates what pointers on the way
// lead to.
func reachedBy(of reflect.Value, name string) reflect.Value {
	for part := range strings.SplitSeq(name, ".") {
		if of.Kind() == reflect.Pointer {
			if of.IsNil() {
				of.Set(reflect.New(of.Type().Elem()))
			}
			of = of.Elem()
		}
		of = of.FieldByName(part)
	}
	return of
}

// set sets the field, and leaves it alone where the row has nothing.
func (f *field) set(of reflect.Value, from row) error {
	var value any
	for _, path := range f.paths {
		if value = from.at(path); value != nil && value != "" {
			break
		}
	}
	if value == nil || value == "" && f.form == "" {
		return nil
	}
	switch {
	case strings.HasPrefix(f.form, formIs):
		value = textOf(value) == f.form[1:]
	case strings.HasPrefix(f.form, formNot):
		value = textOf(value) != f.form[1:]
	}
	return assign(reachedBy(of, f.name), value)
}

// split reads a list that an answer has as one text.
func split(text string) (list []any) {
	for part := range strings.SplitSeq(text, ",") {
		if part != "" {
			list = append(list, part)
		}
	}
	return list
}

// timeForms are the forms of times in answers.
var timeForms = []string{time.RFC3339, "2006-01-02T15:04Z", time.DateTime, time.DateOnly, "2006-01-02 15:04:05.0"}

func parseTime(value any) (time.Time, error) {
	if millis, ok := value.(float64); ok {
		return time.UnixMilli(int64(millis)).UTC(), nil
	}
	for _, form := range timeForms {
		if at, err := time.Parse(form, textOf(value)); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time", textOf(value))
}

// assign puts a value of an answer into a field, whether the answer has it as text, number or
// boolean.
func assign(to reflect.Value, value any) error {
	if to.Type() == reflect.TypeFor[time.Time]() {
		at, err := parseTime(value)
		to.Set(reflect.ValueOf(at))
		return err
	}
	switch to.Kind() {
	case reflect.String:
		to.SetString(textOf(value))
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(textOf(value), 10, 64)
		if err != nil {
			return fmt.Errorf("%q is no number", textOf(value))
		}
		to.SetInt(n)
	case reflect.Bool:
		on := slices.Contains([]string{"true", "True", "on", "enabled"}, textOf(value))
		to.SetBool(on)
	case reflect.Slice:
		list, ok := value.([]any)
		if !ok {
			list = split(textOf(value))
		}
		if len(list) == 0 {
			return nil
		}
		made := reflect.MakeSlice(to.Type(), len(list), len(list))
		for i := range list {
			if err := assign(made.Index(i), list[i]); err != nil {
				return err
			}
		}
		to.Set(made)
	default:
		return fmt.Errorf("is a %s, which no answer has", to.Type())
	}
	return nil
}
