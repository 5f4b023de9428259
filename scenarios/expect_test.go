package scenarios_test

import (
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/scenarios"
)

// TestHeld proves that Held sees each expectation that holds, in a step and at the end, and
// that another one is held at the same moment, with its templates filled.
func TestHeld(t *testing.T) {
	f := &fake{answer: fields}
	var seen []string
	result := play(t, `values: {name: web}
client:
  steps:
    - expect: [{resource: {action: Do, fields: {Name: '{{name}}'}}, within: 1m}]
  expect:
    - resource: {action: Do, fields: {Name: web}}
    - resource: {action: Do, fields: {Name: mail}}
`, scenarios.ClientPart, scenarios.Setup{Target: f, Held: func(text *yaml.Node, also func(*yaml.Node) bool) {
		for _, name := range []string{"'{{name}}'", "mail", "'{{nothing}}'"} {
			var other yaml.Node
			if err := yaml.Unmarshal([]byte("{resource: {action: Do, fields: {Name: "+name+"}}, within: 1h}"), &other); err != nil {
				t.Fatal(err)
			}
			if also(other.Content[0]) {
				seen = append(seen, text.Content[1].Content[1].Value+" "+name)
			}
		}
	}})
	if want := []string{"Do '{{name}}'", "Do '{{name}}'"}; result.Status != scenarios.Failed || !slices.Equal(seen, want) {
		t.Errorf("Play = %v and Held saw %q, want %q", result.Status, seen, want)
	}
}
