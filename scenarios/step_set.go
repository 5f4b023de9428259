package scenarios

import (
	"context"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

var setKind = Kind{Name: "set", About: "Change conditions of the world by name.", Value: reflect.TypeFor[Settings]()}

// Setting gives a condition of the world a value.
type Setting struct {
	Name, Value string
	Line        int `json:"-"`
}

// Settings are conditions in the order of the file.
type Settings []Setting

// ReadYAML implements yamlfile.Reader.
func (s *Settings) ReadYAML(d *yamlfile.Decoder, node *yaml.Node, field string) {
	if node.Kind != yaml.MappingNode || len(node.Content) == 0 {
		d.Fail(node, field, "give conditions as name: value")
		return
	}
	for _, e := range d.Entries(node, field) {
		text := readAsText(d, e.Value, yamlfile.Join(field, e.Key.Value))
		*s = append(*s, Setting{e.Key.Value, text, e.Key.Line})
	}
}

// String hides the value of a key's secret, since results are kept and shown.
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

func (s Settings) title() string { return "set " + cut(s.String()) }

func (s Settings) check(c *checker, at spot, in scope) {
	for _, setting := range s {
		if c.names == nil {
			continue
		}
		value := setting.Value
		if template().MatchString(value) {
			value = ""
		}
		if err := c.names.CheckCondition(setting.Name, value); err != nil {
			c.refuse(at.in(setting.Name), "%s", err)
		}
		if err := c.names.CheckConditionID(setting.Name); in.half != KubernetesHalf && !template().MatchString(setting.Name) && err != nil {
			c.refuse(at.in(setting.Name), "%s", err)
		}
	}
}

func (s Settings) do(ctx context.Context, p *play, _ *Step) error { return p.Target.Set(ctx, s) }
