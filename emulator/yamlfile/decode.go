package yamlfile

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Decoder fills values from YAML. What does not fit, it reports, and goes on.
type Decoder struct {
	// File is the file's name in problems.
	File string
	// Unsettled reports whether a text will be replaced when it is used: where it
	// stands, anything may.
	Unsettled func(text string) bool

	problems Problems
	around   []surrounding
}

// surrounding is a struct that is being filled, and the field of it that is now.
type surrounding struct {
	of  reflect.Type
	now string
}

// Reader is a type that reads its own node.
type Reader interface {
	ReadYAML(d *Decoder, node *yaml.Node, field string)
}

// An Absentee learns where its field could be when it is absent.
type Absentee interface {
	Absent(in *yaml.Node, field string)
}

// keyReader is a struct that reads the keys which are not its fields, and reports those that it does
// not know either.
type keyReader interface {
	ReadKey(d *Decoder, e Entry, field string, fields []string)
}

// A Placed value learns its place in the file.
type Placed interface {
	Place(node *yaml.Node)
}

// Validator is a type that rejects some values. It is called once its fields are right.
type Validator interface {
	Validate() error
}

// Fail reports a problem at a node.
func (d *Decoder) Fail(node *yaml.Node, field, format string, args ...any) {
	d.problems = append(d.problems, Problem{d.File, node.Line, node.Column, field, fmt.Sprintf(format, args...)})
}

// Unknown reports an unknown key. meant says, by keys of other tools, what to write here.
func (d *Decoder) Unknown(key *yaml.Node, field string, known []string, meant map[string]string) {
	hint := suggestion(key.Value, known)
	if write := meant[key.Value]; write != "" {
		hint = ": write " + write
	} else if place := d.place(key.Value); place != "" {
		hint = ": it belongs " + place
	}
	d.Fail(key, field, "there is no such field%s", hint)
}

// place returns where a misplaced field belongs, or "" for a field that no struct around it has.
func (d *Decoder) place(name string) string {
	for _, s := range slices.Backward(d.around) {
		fields := fieldsOf(s.of)
		if _, found := fields[name]; found && name == s.now {
			return "one level up, where it is already"
		} else if found {
			return "next to " + s.now
		}
		if other := meantBy(s.of)[name]; other != "" && other != s.now {
			return "in " + other
		}
		for _, other := range slices.Sorted(maps.Keys(fields)) {
			if t := s.of.Field(fields[other].index).Type; t.Kind() == reflect.Struct && other != s.now {
				if _, found := fieldsOf(t)[name]; found {
					return "in " + other
				}
			}
		}
	}
	return ""
}

// Add reports a problem found elsewhere.
func (d *Decoder) Add(p Problem) { d.problems = append(d.problems, p) }

// Found returns the number of reported problems.
func (d *Decoder) Found() int { return len(d.problems) }

// Err returns Problems, or nil if there are none.
func (d *Decoder) Err() error { return d.problems.Err() }

// Decode fills what target points to from a node that is at a field.
func (d *Decoder) Decode(node *yaml.Node, target any, field string) {
	d.value(node, reflect.ValueOf(target).Elem(), field)
}

func (d *Decoder) value(node *yaml.Node, target reflect.Value, field string) {
	if r, ok := target.Addr().Interface().(Reader); ok {
		r.ReadYAML(d, node, field)
		return
	}
	switch target.Kind() {
	case reflect.Pointer:
		target.Set(reflect.New(target.Type().Elem()))
		d.value(node, target.Elem(), field)
	case reflect.Struct:
		d.object(node, target, field)
	case reflect.Slice:
		d.list(node, target, field)
	case reflect.Map:
		d.mapping(node, target, field)
	default:
		d.scalar(node, target, field)
	}
}

// Is reports whether a node is of a kind. If not, it adds a problem.
func (d *Decoder) Is(node *yaml.Node, kind yaml.Kind, what, field string) bool {
	if node.Kind == kind {
		return true
	}
	hint := ""
	if d.Unsettled != nil && node.Kind == yaml.MappingNode && len(node.Content) > 0 && node.Content[0].Kind == yaml.MappingNode {
		hint = `: write a template in quotes, as "{{name}}"`
	}
	d.Fail(node, field, "want %s%s", what, hint)
	return false
}

// Entry is a key of a mapping with its value.
type Entry struct{ Key, Value *yaml.Node }

// Entries returns the entries of a mapping, and reports invalid keys and those that occur twice.
func (d *Decoder) Entries(node *yaml.Node, field string) (entries []Entry) {
	lines := make(map[string]int)
	for pair := range slices.Chunk(node.Content, 2) {
		key := pair[0]
		if !d.Is(key, yaml.ScalarNode, "a plain key", field) {
			continue
		}
		if line, twice := lines[key.Value]; twice {
			d.Fail(key, Join(field, key.Value), "it is here twice, on line %d too", line)
			continue
		}
		lines[key.Value] = key.Line
		entries = append(entries, Entry{key, pair[1]})
	}
	return entries
}

// object fills a struct: each key must be a field, and come once.
func (d *Decoder) object(node *yaml.Node, target reflect.Value, field string) {
	if !d.Is(node, yaml.MappingNode, "fields"+such(target.Type()), field) {
		return
	}
	d.around = append(d.around, surrounding{of: target.Type()})
	defer func() { d.around = d.around[:len(d.around)-1] }()
	if placed, ok := target.Addr().Interface().(Placed); ok {
		placed.Place(node)
	}
	fields := fieldsOf(target.Type())
	keyed, _ := target.Addr().Interface().(keyReader)
	before := len(d.problems)
	seen := make(map[string]bool)
	for _, e := range d.Entries(node, field) {
		name := e.Key.Value
		seen[name] = true
		d.around[len(d.around)-1].now = name
		if f, ok := fields[name]; ok {
			d.value(e.Value, target.Field(f.index), Join(field, name))
			if n, err := strconv.ParseFloat(e.Value.Value, 64); f.counted && err == nil && n == 0 {
				d.Fail(e.Value, Join(field, name), "0 would be as if it were not there: leave it out, or give more")
			}
		} else if keyed != nil {
			keyed.ReadKey(d, e, Join(field, name), slices.Collect(maps.Keys(fields)))
		} else {
			d.Unknown(e.Key, Join(field, name), slices.Collect(maps.Keys(fields)), meantBy(target.Type()))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if seen[name] {
			continue
		}
		if a, ok := target.Field(fields[name].index).Addr().Interface().(Absentee); ok {
			a.Absent(node, Join(field, name))
		}
		if fields[name].required {
			d.Fail(node, Join(field, name), "it is missing")
		}
	}
	if v, ok := target.Addr().Interface().(Validator); ok && len(d.problems) == before {
		if err := v.Validate(); err != nil {
			d.Fail(node, field, "%s", err)
		}
	}
}

type fieldOf struct {
	index    int
	required bool
	counted  bool // a number of which 0 is none
}

// structs keeps the fields of structs, a map[string]fieldOf by reflect.Type.
var structs sync.Map

// fieldsOf lists the fields of a struct by their names in a file.
func fieldsOf(t reflect.Type) map[string]fieldOf {
	if fields, ok := structs.Load(t); ok {
		return fields.(map[string]fieldOf)
	}
	fields := make(map[string]fieldOf)
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		if name, _, _ := strings.Cut(tag.Get("yaml"), ","); name != "" {
			fields[name] = fieldOf{i, tag.Get("required") == "true", tag.Get("counted") == "true"}
		}
	}
	structs.Store(t, fields)
	return fields
}

// such names a field of a struct as an example: a required one if there is one.
func such(t reflect.Type) string {
	fields := fieldsOf(t)
	names := slices.Sorted(maps.Keys(fields))
	i := max(slices.IndexFunc(names, func(name string) bool { return fields[name].required }), 0)
	if len(names) == 0 {
		return ""
	}
	return ", such as " + names[i] + ": …"
}

// meantBy returns what to write for the names that other tools have for a struct's fields, which
// the tag meant lists.
func meantBy(t reflect.Type) map[string]string {
	meant := make(map[string]string)
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		for name := range strings.FieldsFuncSeq(tag.Get("meant"), func(r rune) bool { return r == ',' }) {
			meant[name], _, _ = strings.Cut(tag.Get("yaml"), ",")
		}
	}
	return meant
}

func (d *Decoder) list(node *yaml.Node, target reflect.Value, field string) {
	if !d.Is(node, yaml.SequenceNode, "a list", field) {
		return
	}
	list := reflect.MakeSlice(target.Type(), 0, len(node.Content))
	for i, element := range node.Content {
		before := len(d.problems)
		one := reflect.New(target.Type().Elem()).Elem()
		d.value(element, one, fmt.Sprintf("%s[%d]", field, i))
		// What is no element at all, nothing more can be said about.
		if len(d.problems) == before || element.Kind == yaml.MappingNode {
			list = reflect.Append(list, one)
		}
	}
	target.Set(list)
}

func (d *Decoder) mapping(node *yaml.Node, target reflect.Value, field string) {
	if !d.Is(node, yaml.MappingNode, "names with values", field) {
		return
	}
	target.Set(reflect.MakeMap(target.Type()))
	for _, e := range d.Entries(node, field) {
		element := reflect.New(target.Type().Elem()).Elem()
		d.value(e.Value, element, Join(field, e.Key.Value))
		target.SetMapIndex(reflect.ValueOf(e.Key.Value), element)
	}
}

func (d *Decoder) scalar(node *yaml.Node, target reflect.Value, field string) {
	if !d.Is(node, yaml.ScalarNode, kindName(target.Kind()), field) {
		return
	}
	if node.Tag == "!!null" {
		d.Fail(node, field, "it has no value")
		return
	}
	if target.Kind() != reflect.String && d.Open(node) {
		return
	}
	if set(target, node.Value) != nil {
		d.Fail(node, field, "%q is not %s", node.Value, kindName(target.Kind()))
	}
}

// Open reports whether a value is not settled yet.
func (d *Decoder) Open(node *yaml.Node) bool {
	return d.Unsettled != nil && node.Kind == yaml.ScalarNode && d.Unsettled(node.Value)
}

// set gives a value the text's.
func set(target reflect.Value, text string) error {
	switch kind := target.Kind(); kind {
	case reflect.String:
		target.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		target.SetBool(b)
		return err
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, target.Type().Bits())
		target.SetInt(n)
		return err
	case reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, 64)
		target.SetUint(n)
		return err
	case reflect.Float64:
		f, err := strconv.ParseFloat(text, 64)
		target.SetFloat(f)
		return err
	default:
		panic(fmt.Sprintf("yamlfile: a field of kind %s", kind)) // of a type in the source
	}
	return nil
}

func kindName(kind reflect.Kind) string {
	switch kind {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	case reflect.Uint64:
		return "a whole number that is not negative"
	}
	return "a whole number"
}
