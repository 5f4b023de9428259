package world

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// place is where something stands in the file.
type place struct {
	line int
	path string
}

// scalar is a value of the file. An absent one has no text, and the line of what
// should hold it.
type scalar struct {
	place
	text string
}

// pair is an entry of a mapping whose keys the user chooses, such as a tag.
type pair struct {
	key   string
	value scalar
}

// decoder fills the structs of spec.go, whose fields are scalars, lists of
// scalars, lists of structs and lists of pairs. What it can't place, it reports.
type decoder struct {
	problems problems
}

// syntaxLine finds the line in what the YAML library says about bad syntax.
var syntaxLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

func decode(text []byte) (*spec, problems) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		found := syntaxLine.FindStringSubmatch(err.Error())
		line, _ := strconv.Atoi(found[1]) // none is line 0
		return &spec{}, problems{{place: place{line: max(line, 1)}, reason: strings.TrimPrefix(err.Error(), found[0])}}
	}
	s, d := &spec{}, &decoder{}
	root := &yaml.Node{Kind: yaml.MappingNode, Line: 1}
	if document.Kind == yaml.DocumentNode {
		root = document.Content[0]
	}
	d.mapping(root, reflect.ValueOf(s).Elem(), "")
	return s, d.problems
}

func (d *decoder) fail(line int, path, format string, args ...any) {
	d.problems = append(d.problems, problem{place{line, path}, fmt.Sprintf(format, args...)})
}

// value fills target, and reports false when the node is not of its form.
func (d *decoder) value(node *yaml.Node, target reflect.Value, path string) bool {
	switch t := target.Addr().Interface().(type) {
	case *scalar:
		return d.scalar(node, t, path)
	case *[]pair:
		return d.pairs(node, t, path)
	}
	if target.Kind() == reflect.Slice {
		return d.list(node, target, path)
	}
	return d.mapping(node, target, path)
}

func (d *decoder) is(node *yaml.Node, kind yaml.Kind, name, path string) bool {
	if node.Kind == kind {
		return true
	}
	if node.Kind == yaml.AliasNode {
		d.fail(node.Line, path, "aliases are not supported: write the value out")
	} else {
		d.fail(node.Line, path, "must be %s", name)
	}
	return false
}

func (d *decoder) mapping(node *yaml.Node, target reflect.Value, path string) bool {
	if !d.is(node, yaml.MappingNode, "a mapping", path) {
		return false
	}
	entries := d.entries(node, path)
	for i := range target.NumField() {
		name, option, _ := strings.Cut(target.Type().Field(i).Tag.Get("yaml"), ",")
		field, at := target.Field(i), join(path, name)
		if absent, ok := field.Addr().Interface().(*scalar); ok {
			absent.place = place{node.Line, at}
		}
		n := slices.IndexFunc(entries, func(e entry) bool { return e.key.Value == name })
		if n >= 0 {
			d.value(entries[n].value, field, at)
			entries = slices.Delete(entries, n, n+1)
		} else if option == "required" {
			d.fail(node.Line, at, "is required")
		}
	}
	for _, e := range entries {
		d.fail(e.key.Line, join(path, e.key.Value), "unknown field")
	}
	return true
}

type entry struct{ key, value *yaml.Node }

// entries returns what a mapping holds, and reports a key that stands there twice.
func (d *decoder) entries(node *yaml.Node, path string) []entry {
	var entries []entry
	lines := make(map[string]int)
	for pair := range slices.Chunk(node.Content, 2) {
		key := pair[0]
		if !d.is(key, yaml.ScalarNode, "a plain key", path) {
			continue
		}
		if line, twice := lines[key.Value]; twice {
			d.fail(key.Line, join(path, key.Value), "is already set on line %d", line)
			continue
		}
		lines[key.Value] = key.Line
		entries = append(entries, entry{key, pair[1]})
	}
	return entries
}

func (d *decoder) list(node *yaml.Node, target reflect.Value, path string) bool {
	if !d.is(node, yaml.SequenceNode, "a list", path) {
		return false
	}
	for i, item := range node.Content {
		element := reflect.New(target.Type().Elem()).Elem()
		if d.value(item, element, fmt.Sprintf("%s[%d]", path, i)) {
			target.Set(reflect.Append(target, element))
		}
	}
	return true
}

func (d *decoder) pairs(node *yaml.Node, target *[]pair, path string) bool {
	if !d.is(node, yaml.MappingNode, "a mapping", path) {
		return false
	}
	for _, e := range d.entries(node, path) {
		p := pair{key: e.key.Value}
		if d.scalar(e.value, &p.value, join(path, p.key)) {
			*target = append(*target, p)
		}
	}
	return true
}

func (d *decoder) scalar(node *yaml.Node, target *scalar, path string) bool {
	if !d.is(node, yaml.ScalarNode, "a single value", path) {
		return false
	}
	target.place = place{node.Line, path}
	switch {
	case node.Tag == "!!null":
		d.fail(node.Line, path, "has no value")
	case strings.ContainsFunc(node.Value, isForbidden):
		d.fail(node.Line, path, "holds a control character")
	default:
		target.text = node.Value
		return true
	}
	return false
}

func isForbidden(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' || r == unicode.ReplacementChar
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// problem is one thing that is wrong with a file.
type problem struct {
	place
	reason string
}

type problems []problem

// in returns the problems as one error, a line each: file:line: field: reason.
func (ps problems) in(file string) error {
	if len(ps) == 0 {
		return nil
	}
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = fmt.Sprintf("%s:%d: %s: %s", file, p.line, p.path, p.reason)
		if p.path == "" {
			lines[i] = fmt.Sprintf("%s:%d: %s", file, p.line, p.reason)
		}
	}
	return errors.New(strings.Join(lines, "\n"))
}
