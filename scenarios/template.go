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

// namesIn lists the names that a text needs. A brace that opens no name is
// reported.
func namesIn(text string) (names []string, err error) {
	for _, found := range template().FindAllStringSubmatch(text, -1) {
		names = append(names, found[1])
	}
	if rest := template().ReplaceAllString(text, ""); strings.Contains(rest, "{{") {
		return names, fmt.Errorf("{{ opens no name: write {{name}} with letters, digits and _")
	}
	return names, nil
}

// fill puts texts in place of names; names that it does not know stay.
func fill(text string, known map[string]string) string {
	return template().ReplaceAllStringFunc(text, func(found string) string {
		name := template().FindStringSubmatch(found)[1]
		if value, ok := known[name]; ok {
			return value
		}
		return found
	})
}

// render is a copy of a node with the templates filled.
func render(node *yaml.Node, known map[string]string) *yaml.Node {
	copied := *node
	if node.Kind == yaml.ScalarNode {
		copied.Value = fill(node.Value, known)
		return &copied
	}
	copied.Content = make([]*yaml.Node, len(node.Content))
	for i, child := range node.Content {
		copied.Content[i] = render(child, known)
	}
	return &copied
}

// renderBut is render of an object, but for one of its keys.
func renderBut(node *yaml.Node, key string, known map[string]string) *yaml.Node {
	copied := render(node, known)
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			copied.Content[i+1] = node.Content[i+1]
		}
	}
	return copied
}

// resolve fills values that use other values, and reports those that use
// themselves in the end.
func resolve(values map[string]string) (map[string]string, error) {
	resolved := make(map[string]string, len(values))
	var visit func(name string, path []string) error
	visit = func(name string, path []string) error {
		if _, done := resolved[name]; done {
			return nil
		}
		if slices.Contains(path, name) {
			return fmt.Errorf("values use each other in a circle: %s", strings.Join(append(path, name), " → "))
		}
		names, err := namesIn(values[name])
		if err != nil {
			return fmt.Errorf("values.%s: %w", name, err)
		}
		for _, used := range names {
			if _, ok := values[used]; !ok {
				return fmt.Errorf("values.%s: there is no value {{%s}}", name, used)
			}
			if err := visit(used, append(path, name)); err != nil {
				return err
			}
		}
		resolved[name] = fill(values[name], resolved)
		return nil
	}
	for _, name := range sortedKeys(values) {
		if err := visit(name, nil); err != nil {
			return nil, err
		}
	}
	return resolved, nil
}
