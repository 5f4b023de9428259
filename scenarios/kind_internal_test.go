package scenarios

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// toyStep makes a toy say something.
type toyStep struct {
	Says string `yaml:"says" required:"true" doc:"What the toy says."`
}

func (s *toyStep) title() string { return "toy " + s.Says }

func (s *toyStep) check(c *checker, at spot, in scope) {
	if s.Says == "moo" {
		c.refuse(at.in("says"), "no toy of the %s part says moo", in.part)
	}
}

func (s *toyStep) do(_ context.Context, p *play, _ *Step) error {
	if p.names["toy"] = s.Says; s.Says == "crack" {
		return &Unmet{Expected: "a toy", Seen: "two parts", Code: "Toy.Broken"}
	}
	return nil
}

// toyHeard expects a toy to have said something.
type toyHeard string

func (h toyHeard) look(_ context.Context, p *play) error {
	if p.names["toy"] != string(h) {
		return &Unmet{Expected: string(h), Seen: p.names["toy"], Missing: []string{string(h)}}
	}
	return nil
}

func (h toyHeard) expectsAbsence() bool { return h == "nothing" }

// AddToys adds a kind of step and one of expectation until the test ends.
func AddToys(t *testing.T) {
	steps, expectations := stepKinds, expectationKinds
	stepKinds = append(slices.Clone(steps), kind[toyStep](Kind{Name: "toy", About: "Make a toy speak.", judges: true}))
	expectationKinds = append(slices.Clone(expectations), kind[toyHeard](Kind{Name: "heard", About: "What the toy said last.", Rule: "runs"}))
	t.Cleanup(func() { stepKinds, expectationKinds = steps, expectations })
}

// TestKinds proves that each row is complete: its kind has an explanation and plays.
func TestKinds(t *testing.T) {
	for _, k := range append(slices.Clone(stepKinds), expectationKinds...) {
		value := reflect.New(k.Value).Interface()
		_, acts := value.(acting)
		_, plays := value.(playing)
		_, looks := value.(looking)
		if k.Name == "" || !strings.HasSuffix(k.About, ".") || (acts || plays) != slices.Contains(stepKinds, k) || looks != slices.Contains(expectationKinds, k) {
			t.Errorf("the row of %q is not complete", k.Name)
		}
		if k.Rule != "" && !slices.ContainsFunc(Rules, func(r [2]string) bool { return r[0] == k.Rule }) {
			t.Errorf("%s stands for the rule %s, which is none", k.Name, k.Rule)
		}
	}
}
