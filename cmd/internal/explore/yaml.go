package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// child returns the value of a key, or nil if there is none.
func child(node *yaml.Node, key string) *yaml.Node {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return nil
}

// remove takes a key out of a mapping.
func remove(node *yaml.Node, key string) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			node.Content = slices.Delete(node.Content, i, i+2)
			return
		}
	}
}

// put sets the value of a key.
func put(node *yaml.Node, key string, value *yaml.Node) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			node.Content[i+1] = value
			return
		}
	}
	node.Content = append(node.Content, scalar(key), value)
}

func scalar(text string) *yaml.Node {
	var node yaml.Node
	node.SetString(text)
	node.Tag = ""
	return &node
}

func listOf(texts []string) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, text := range texts {
		item := scalar(text)
		item.Style = yaml.DoubleQuotedStyle
		list.Content = append(list.Content, item)
	}
	return list
}

// snippet parses YAML that this package writes.
func snippet(format string, args ...any) *yaml.Node {
	var document yaml.Node
	text := fmt.Sprintf(format, args...)
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		panic(fmt.Sprintf("%v: %s", err, text)) // a form of this package with names of actions
	}
	return document.Content[0]
}

// copied returns a deep copy of a node.
func copied(node *yaml.Node) *yaml.Node {
	c := *node
	c.Content = make([]*yaml.Node, len(node.Content))
	for i, inner := range node.Content {
		c.Content[i] = copied(inner)
	}
	return &c
}

// encoded writes a document without comments, which are about what it was made from.
func encoded(document *yaml.Node) (string, error) {
	uncomment(document)
	var text strings.Builder
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	err := e.Encode(document)
	return text.String(), err
}

func uncomment(node *yaml.Node) {
	node.HeadComment, node.LineComment, node.FootComment = "", "", ""
	for _, inner := range node.Content {
		uncomment(inner)
	}
}

// dropUnused takes out the values that nothing uses any more.
func dropUnused(root *yaml.Node) {
	values := child(root, "values")
	if values == nil {
		return
	}
	for changed := true; changed; {
		changed = false
		text, err := encoded(&yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{root}})
		if err != nil {
			return
		}
		for i := 0; i+1 < len(values.Content); i += 2 {
			name := values.Content[i].Value
			if !strings.Contains(text, "{{"+name+"}}") && !strings.Contains(text, "{{ "+name+" }}") {
				values.Content = slices.Delete(values.Content, i, i+2)
				changed = true
				break
			}
		}
	}
	if len(values.Content) == 0 {
		remove(root, "values")
	}
}

// dropUnusedSaves takes out of the calls the names that nothing uses any more.
func dropUnusedSaves(root *yaml.Node) {
	text, err := encoded(&yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{root}})
	if err != nil {
		return
	}
	var walk func(node *yaml.Node)
	walk = func(node *yaml.Node) {
		if save := child(node, "save"); save != nil && save.Kind == yaml.MappingNode {
			for i := len(save.Content) - 2; i >= 0; i -= 2 {
				if !strings.Contains(text, "{{"+save.Content[i].Value+"}}") {
					save.Content = slices.Delete(save.Content, i, i+2)
				}
			}
			if len(save.Content) == 0 {
				remove(node, "save")
			}
		}
		for _, inner := range node.Content {
			walk(inner)
		}
	}
	walk(root)
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
