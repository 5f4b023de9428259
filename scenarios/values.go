package scenarios

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/faults"
)

// reader is a type that reads its own node. Where the node's text is still a
// template, what only a number or a pattern can be is not checked.
type reader interface {
	read(node *yaml.Node) error
}

// Duration is a time.Duration that is written as 1m30s.
type Duration time.Duration

func (d *Duration) read(node *yaml.Node) error {
	if isTemplate(node) {
		*d = 1 // some duration, as far as can be told before it is played
		return nil
	}
	parsed, err := time.ParseDuration(node.Value)
	if err != nil || parsed <= 0 {
		return fmt.Errorf("%q is no duration: write 90s, 1m30s or 168h", node.Value)
	}
	*d = Duration(parsed)
	return nil
}

// String is the duration as a file would have it: 6m, not 6m0s.
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

// Value is a parameter as it is sent.
type Value string

func (v *Value) read(node *yaml.Node) error {
	text, err := asText(node)
	*v = Value(text)
	return err
}

// asText is a scalar's text, or another value as JSON.
func asText(node *yaml.Node) (string, error) {
	if node.Kind == yaml.ScalarNode {
		return node.Value, nil
	}
	var value any
	if err := node.Decode(&value); err != nil {
		return "", errors.New(`write a template in quotes, as "{{name}}"`)
	}
	text, err := json.Marshal(value)
	return string(text), err
}

// Setting gives a condition of the world a value.
type Setting struct {
	Name, Value string
	Line        int `json:"-"`
}

// Settings are conditions in the order of the file.
type Settings []Setting

func (s *Settings) read(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode || len(node.Content) == 0 {
		return errors.New("give conditions as name: value")
	}
	for i := 0; i < len(node.Content); i += 2 {
		text, err := asText(node.Content[i+1])
		if err != nil {
			return err
		}
		*s = append(*s, Setting{node.Content[i].Value, text, node.Content[i].Line})
	}
	return nil
}

// String tells no value of a key's secret: results are kept and shown.
func (s Settings) String() string {
	texts := make([]string, len(s))
	for i, setting := range s {
		texts[i] = setting.Name
		if !strings.HasSuffix(setting.Name, ".secret") {
			texts[i] += "=" + setting.Value
		}
	}
	return strings.Join(texts, " ")
}

// NameList is one name or a list of them.
type NameList []string

func (n *NameList) read(node *yaml.Node) error {
	list := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode {
		list = node.Content
	}
	for _, one := range list {
		if one.Kind != yaml.ScalarNode || one.Value == "" {
			return errors.New("give a name or a list of names")
		}
		*n = append(*n, one.Value)
	}
	if len(*n) == 0 {
		return errors.New("give a name or a list of names")
	}
	return nil
}

// Manifest is YAML within the YAML: a text, an object or a list of objects.
type Manifest struct {
	text string
}

func (m Manifest) set() bool { return m.text != "" }

func (m *Manifest) read(node *yaml.Node) error {
	switch node.Kind {
	case yaml.ScalarNode:
		m.text = node.Value
		return m.check()
	case yaml.SequenceNode:
		for _, object := range node.Content {
			if err := m.add(object); err != nil {
				return err
			}
		}
		return m.check()
	}
	return m.add(node)
}

func (m *Manifest) add(object *yaml.Node) error {
	object.Style = 0 // kubectl patch takes what begins with a brace for JSON
	text, err := yaml.Marshal(object)
	if m.text != "" {
		m.text += "---\n"
	}
	m.text += string(text)
	return err
}

// check wants objects that kubectl could read.
func (m *Manifest) check() error {
	d := yaml.NewDecoder(strings.NewReader(m.text))
	for {
		var object map[string]any
		switch err := d.Decode(&object); {
		case err != nil && err.Error() == "EOF":
			if m.text == "" {
				return errors.New("there is no object")
			}
			return nil
		case err != nil:
			return errors.New("it is no YAML of objects: " + strings.TrimPrefix(err.Error(), "yaml: "))
		}
	}
}

func (f *Fault) read(node *yaml.Node) error {
	f.node = node
	_, err := f.rule()
	return err
}

// linePrefix is how the faults package names lines, which here would be those of
// the rule alone.
var linePrefix = regexp.MustCompile(`(?:rule at )?line \d+: |yaml: unmarshal errors:\s*`)

// rule parses the rule.
func (f *Fault) rule() (faults.Rule, error) {
	if f.node.Kind != yaml.MappingNode {
		return faults.Rule{}, errors.New("give a rule with name, match, when and effect")
	}
	text, err := yaml.Marshal(f.node)
	if err != nil {
		return faults.Rule{}, err
	}
	rules, err := faults.Parse(text)
	if err != nil {
		return faults.Rule{}, errors.New(linePrefix.ReplaceAllString(err.Error(), ""))
	}
	return rules[0], nil
}
