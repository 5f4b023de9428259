package scenarios

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Problem is something wrong with a file, and where.
type Problem struct {
	File   string
	Line   int
	Field  string
	Reason string
}

func (p Problem) String() string {
	if p.Field == "" {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Reason)
	}
	return fmt.Sprintf("%s:%d: %s: %s", p.File, p.Line, p.Field, p.Reason)
}

// Problems is everything that is wrong with a file.
type Problems []Problem

// Error lists the problems, one a line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// err is nil when there is no problem.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// decoder fills the types of a scenario from YAML. What does not fit, it reports.
type decoder struct {
	file     string
	problems Problems
}

func (d *decoder) fail(node *yaml.Node, field, format string, args ...any) {
	d.problems = append(d.problems, Problem{d.file, node.Line, field, fmt.Sprintf(format, args...)})
}

// value fills target from a node.
func (d *decoder) value(node *yaml.Node, target reflect.Value, field string) {
	if r, ok := target.Addr().Interface().(reader); ok {
		if err := r.read(node); err != nil {
			d.fail(node, field, "%s", err)
		}
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

func (d *decoder) is(node *yaml.Node, kind yaml.Kind, what, field string) bool {
	if node.Kind == kind {
		return true
	}
	hint := ""
	if node.Kind == yaml.MappingNode && len(node.Content) > 0 && node.Content[0].Kind == yaml.MappingNode {
		hint = `: write a template in quotes, as "{{name}}"`
	}
	d.fail(node, field, "want %s%s", what, hint)
	return false
}

// object fills a struct: each key must be a field, and come once.
func (d *decoder) object(node *yaml.Node, target reflect.Value, field string) {
	if !d.is(node, yaml.MappingNode, "fields", field) {
		return
	}
	if placed, ok := target.Addr().Interface().(interface{ keep(*yaml.Node) }); ok {
		placed.keep(node)
	}
	known, required := keysOf(target.Type())
	seen := make(map[string]bool)
	before := len(d.problems)
	for i := 0; i < len(node.Content); i += 2 {
		key, path := node.Content[i], join(field, node.Content[i].Value)
		index, ok := known[key.Value]
		switch {
		case !ok:
			d.fail(key, path, "there is no such field%s", suggest(key.Value, slices.Collect(maps.Keys(known)), ""))
		case seen[key.Value]:
			d.fail(key, path, "it is here twice")
		default:
			d.value(node.Content[i+1], target.Field(index), path)
		}
		seen[key.Value] = true
	}
	for _, name := range required {
		if !seen[name] {
			d.fail(node, join(field, name), "it is missing")
		}
	}
	if v, ok := target.Addr().Interface().(interface{ validate() error }); ok && len(d.problems) == before {
		if err := v.validate(); err != nil {
			d.fail(node, field, "%s", err)
		}
	}
}

// keysOf lists the keys of a struct with the numbers of their fields.
func keysOf(t reflect.Type) (known map[string]int, required []string) {
	known = make(map[string]int)
	for i := range t.NumField() {
		name, option, _ := strings.Cut(t.Field(i).Tag.Get("key"), ",")
		if name == "" {
			continue
		}
		known[name] = i
		if option == "required" {
			required = append(required, name)
		}
	}
	return known, required
}

func join(field, name string) string {
	if field == "" {
		return name
	}
	return field + "." + name
}

func (d *decoder) list(node *yaml.Node, target reflect.Value, field string) {
	if !d.is(node, yaml.SequenceNode, "a list", field) {
		return
	}
	list := reflect.MakeSlice(target.Type(), len(node.Content), len(node.Content))
	for i, element := range node.Content {
		d.value(element, list.Index(i), fmt.Sprintf("%s[%d]", field, i))
	}
	target.Set(list)
}

func (d *decoder) mapping(node *yaml.Node, target reflect.Value, field string) {
	if !d.is(node, yaml.MappingNode, "names with values", field) {
		return
	}
	target.Set(reflect.MakeMap(target.Type()))
	for i := 0; i < len(node.Content); i += 2 {
		key, path := node.Content[i], join(field, node.Content[i].Value)
		name := reflect.ValueOf(key.Value)
		if target.MapIndex(name).IsValid() {
			d.fail(key, path, "it is here twice")
			continue
		}
		element := reflect.New(target.Type().Elem()).Elem()
		d.value(node.Content[i+1], element, path)
		target.SetMapIndex(name, element)
	}
}

func (d *decoder) scalar(node *yaml.Node, target reflect.Value, field string) {
	if !d.is(node, yaml.ScalarNode, "a "+kindName(target.Kind()), field) {
		return
	}
	if target.Kind() != reflect.String && isTemplate(node) {
		return
	}
	var err error
	switch target.Kind() {
	case reflect.String:
		target.SetString(node.Value)
	case reflect.Bool:
		var b bool
		b, err = strconv.ParseBool(node.Value)
		target.SetBool(b)
	case reflect.Int:
		var n int
		n, err = strconv.Atoi(node.Value)
		target.SetInt(int64(n))
	case reflect.Float64:
		var f float64
		f, err = strconv.ParseFloat(node.Value, 64)
		target.SetFloat(f)
	}
	if err != nil {
		d.fail(node, field, "%q is no %s", node.Value, kindName(target.Kind()))
	}
}

func kindName(kind reflect.Kind) string {
	switch kind {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	}
	return "number"
}
