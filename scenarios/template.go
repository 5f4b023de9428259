package scenarios

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// template finds {{name}} in a text.
var template = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\{ *([A-Za-z][A-Za-z0-9_]*) *\}\}`) })

var validName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`) })

// namesIn lists the names that a text needs. It reports a brace that opens no name.
func namesIn(text string) (names []string, err error) {
	if !strings.Contains(text, "{{") {
		return nil, nil
	}
	for _, found := range template().FindAllStringSubmatch(text, -1) {
		names = append(names, found[1])
	}
	if rest := template().ReplaceAllString(text, ""); strings.Contains(rest, "{{") {
		return names, fmt.Errorf("{{ opens no name: write {{name}} with letters, digits and _")
	}
	return names, nil
}

// maxFilled bounds in bytes what templates become: those of all values together, of
// the whole file, or of one step with what was saved.
const maxFilled = 4 << 20

// filler puts texts in place of names; names that it does not know stay.
type filler struct {
	known map[string]string
	left  int // in bytes
}

func newFiller(known map[string]string) *filler { return &filler{known, maxFilled} }

func (f *filler) fill(text string) (string, error) {
	if !template().MatchString(text) {
		return text, nil
	}
	f.left -= len(template().ReplaceAllString(text, ""))
	filled := template().ReplaceAllStringFunc(text, func(found string) string {
		put, ok := f.known[strings.Trim(found, "{} ")]
		if !ok {
			put = found
		}
		if f.left -= len(put); f.left < 0 {
			return ""
		}
		return put
	})
	if f.left < 0 {
		return "", fmt.Errorf("the templates become more than %d MiB: use shorter values, or fewer", maxFilled>>20)
	}
	return filled, nil
}

// render returns a copy of a node with the templates filled, but for those in a part.
func (f *filler) render(node, but *yaml.Node) (*yaml.Node, error) {
	if node == but {
		return node, nil
	}
	copied := *node
	var err error
	if node.Kind == yaml.ScalarNode {
		copied.Value, err = f.fill(node.Value)
		return &copied, err
	}
	copied.Content = make([]*yaml.Node, len(node.Content))
	for i, child := range node.Content {
		if copied.Content[i], err = f.render(child, but); err != nil {
			return nil, err
		}
	}
	return &copied, nil
}

// resolve fills values that use other values, and reports those that use
// themselves in the end. An error is about the value that bad names.
func resolve(values map[string]string) (resolved map[string]string, bad string, err error) {
	resolved = make(map[string]string, len(values))
	filler := newFiller(resolved)
	var visit func(name string, path []string) error
	visit = func(name string, path []string) error {
		if _, done := resolved[name]; done {
			return nil
		}
		bad = name
		if slices.Contains(path, name) {
			return fmt.Errorf("values use each other in a circle: %s", strings.Join(append(path, name), " → "))
		}
		names, err := namesIn(values[name])
		if err != nil {
			return err
		}
		for _, used := range names {
			if _, ok := values[used]; !ok {
				return fmt.Errorf("there is no value {{%s}}", used)
			}
			if err := visit(used, append(path, name)); err != nil {
				return err
			}
			bad = name
		}
		resolved[name], err = filler.fill(values[name])
		return err
	}
	for _, name := range sortedKeys(values) {
		if err := visit(name, nil); err != nil {
			return nil, bad, err
		}
	}
	return resolved, "", nil
}
