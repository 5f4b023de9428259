package scenarios_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/scenarios"
)

// TestNewKind proves that a kind of step and one of expectation need no more than their rows:
// they are read, checked, entitled, played, reported and described.
func TestNewKind(t *testing.T) {
	scenarios.AddToys(t)
	for text, want := range map[string]string{
		"steps: [{toy: {}}]":                              "client.steps[0].toy.says: it is missing",
		"steps: [{toi: {says: a}}]":                       "client.steps[0].toi: there is no such field: do you mean toy?",
		"steps: [{toy: {says: a}, restart: true}]":        "give exactly one of set, fault, clear, call",
		"steps: [{}]":                                     "mark, expect and toy",
		"steps: [{toy: {says: moo}}]":                     "f.yaml:2:31: client.steps[0].toy.says: no toy of the client part says moo",
		"steps: [{toy: {says: '{{who}}'}}]":               "there is no value {{who}} here",
		"steps: [{expect: [{heard: a, state: []}]}]":      "finalizer and heard",
		"steps: [{mark: a}], expect: [{herd: a}]":         "client.expect[0].herd: there is no such field: do you mean heard?",
		"steps: [{toy: {says: a}}], expect: [{heard: 0}]": "",
	} {
		if _, err := load("client: {" + text + "}\n"); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("Load(%s) = %v, want %q", text, err, want)
		}
	}
	for part, warned := range map[string]bool{"{steps: [{toy: {says: a}}]}": false, "{steps: [{clock: {freeze: true}}], expect: [{heard: a}]}": false, "{steps: [{clock: {freeze: true}}], expect: [{heard: nothing}]}": true} {
		if s, err := load("client: " + part + "\n"); err != nil || len(s.Warnings()) > 0 != warned {
			t.Errorf("%s: %v, %v", part, s.Warnings(), err)
		}
	}

	var done []string
	progress := func(step scenarios.StepDone) {
		done = append(done, step.Kind+"/"+step.Title)
	}
	result := play(t, `
client:
  steps:
    - repeat: {times: 2, steps: [{toy: {says: "quack {{n}}"}}, {expect: [{heard: "quack {{n}}"}]}]}
    - toy: {says: quack}
    - expect: [{heard: quack, within: 1s}]
  expect: [{heard: quack}, {heard: meow}]
`, scenarios.ClientPart, scenarios.Setup{Target: &fake{}, Progress: progress})
	if want := []string{"repeat/repeat 2 times", "toy/toy quack", "expect/expect heard", "heard/expect heard", "heard/expect heard"}; !slices.Equal(done, want) {
		t.Errorf("it did %q, want %q", done, want)
	}
	if u := result.Failure.Unmet[0]; u.Kind != "heard" || u.String() != "expect heard: expected meow, saw quack" || !slices.Equal(u.Missing, []string{"meow"}) || u.Of.Kind.Rule != "runs" {
		t.Errorf("the expectation is reported as %+v", u)
	}
	result = play(t, "client: {steps: [{toy: {says: crack}}]}\n", scenarios.ClientPart, scenarios.Setup{Target: &fake{}})
	if u := result.Failure.Unmet[0]; u.Kind != "toy" || u.Step != "toy crack" || u.Code != "Toy.Broken" || u.Line != 2 {
		t.Errorf("the step is reported as %+v", u)
	}

	schema := string(described(t, "scenarios/schema.json"))
	for _, want := range []string{`"toyStep": {`, `"description":"What the toy says."`, `"description":"Make a toy speak."`, `"description":"What the toy said last."`} {
		if !strings.Contains(schema, want) {
			t.Errorf("the schema has no %s", want)
		}
	}
}
