package scenarios

import (
	"encoding/json"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

// Duration is a time.Duration written as 1m30s.
type Duration time.Duration

var _ yamlfile.Reader = (*Duration)(nil)

// ReadYAML implements yamlfile.Reader.
func (d *Duration) ReadYAML(file *yamlfile.Decoder, node *yaml.Node, field string) {
	if file.Open(node) {
		*d = 1 // some duration, as far as can be told before it is played
		return
	}
	parsed, err := time.ParseDuration(node.Value)
	if err == nil && parsed <= 0 && node.Kind == yaml.ScalarNode {
		file.Fail(node, field, "%s is not above 0, and time only goes forward: write 90s, 1m30s or 168h", node.Value)
		return
	}
	if err != nil || node.Kind != yaml.ScalarNode {
		file.Fail(node, field, "%q is not a duration: write 90s, 1m30s or 168h", node.Value)
	}
	*d = Duration(parsed)
}

// String returns the duration in the form of a file: 6m, not 6m0s.
func (d Duration) String() string {
	text := time.Duration(d).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Value is a parameter as sent.
type Value string

var _ yamlfile.Reader = (*Value)(nil)

// ReadYAML implements yamlfile.Reader.
func (v *Value) ReadYAML(d *yamlfile.Decoder, node *yaml.Node, field string) {
	*v = Value(readAsText(d, node, field))
}

// readAsText returns a scalar's text, or another value as JSON.
func readAsText(d *yamlfile.Decoder, node *yaml.Node, field string) string {
	if node.Kind == yaml.ScalarNode {
		return node.Value
	}
	var value any
	err := node.Decode(&value)
	if err == nil {
		var text []byte
		if text, err = json.Marshal(value); err == nil {
			return string(text)
		}
	}
	d.Fail(node, field, "%s", `it is not a value: write a template in quotes, as "{{name}}"`)
	return ""
}

// NameList is one name or a list of them.
type NameList []string

var _ yamlfile.Reader = (*NameList)(nil)

// ReadYAML implements yamlfile.Reader.
func (n *NameList) ReadYAML(d *yamlfile.Decoder, node *yaml.Node, field string) {
	list := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode {
		list = node.Content
	}
	for _, one := range list {
		if one.Kind == yaml.ScalarNode && one.Value != "" {
			*n = append(*n, one.Value)
		}
	}
	if len(*n) == 0 || len(*n) < len(list) {
		d.Fail(node, field, "give a name or a list of names")
	}
}

// Manifest is YAML within the YAML: a text, an object or a list of objects.
type Manifest struct {
	text string
}

var _ yamlfile.Reader = (*Manifest)(nil)

// ReadYAML implements yamlfile.Reader.
func (m *Manifest) ReadYAML(d *yamlfile.Decoder, node *yaml.Node, field string) {
	objects := []*yaml.Node{node}
	switch node.Kind {
	case yaml.ScalarNode:
		m.text = node.Value
		inner := &yamlfile.Decoder{}
		objects = inner.Documents([]byte(node.Value))
		if err := inner.Err(); err != nil {
			d.Fail(node, field, "it is no YAML of objects: in its text, %s", err)
			return
		}
	case yaml.SequenceNode:
		objects = node.Content
	}
	if len(objects) == 0 {
		d.Fail(node, field, "there is no object")
	}
	for _, object := range objects {
		if object.Kind != yaml.MappingNode {
			d.Fail(node, field, "it is no YAML of objects: write kind, metadata and the others, or a list of such")
			return
		}
		if node.Kind != yaml.ScalarNode {
			m.add(d, object, field)
		}
	}
}

// add puts an object at the end, as text that kubectl reads.
func (m *Manifest) add(d *yamlfile.Decoder, object *yaml.Node, field string) {
	object.Style = 0 // kubectl patch takes what begins with a brace for JSON
	text, err := yaml.Marshal(object)
	if err != nil {
		d.Fail(object, field, "it is no YAML of objects")
	}
	if m.text != "" {
		m.text += "---\n"
	}
	m.text += string(text)
}
