package explore

import (
	"context"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/scenarios"
)

// minimise leaves out the steps of a script without which the violation is the same.
func (e *explorer) minimise(ctx context.Context, f *Finding) {
	if e.subject.program {
		return
	}
	at := slices.IndexFunc(e.outcomes, func(o Outcome) bool { return o.ID == f.Plays[0] })
	disturbances := planned(e.outcomes[at].Disturbances)
	smaller := &explorer{Config: e.Config, scenario: e.scenario, subject: e.subject, actions: e.actions}
	for step := e.steps() - 1; step >= 0 && ctx.Err() == nil; step-- {
		text, ok := without(smaller.Text, e.Part, step)
		if !ok {
			continue
		}
		one := &explorer{Config: smaller.Config, scenario: e.scenario, subject: e.subject, actions: e.actions}
		one.Text = text
		if scenario, ok := one.violates(ctx, disturbances, f.Rule); ok {
			smaller, f.Scenario = one, scenario
		}
	}
}

// steps counts the steps of the part.
func (e *explorer) steps() int { return len(e.scenario.Part(e.Part).Steps) }

// without returns a scenario without one of its steps, if it has others.
func without(text []byte, part string, step int) ([]byte, bool) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, false
	}
	steps := child(child(document.Content[0], part), "steps")
	if steps == nil || step >= len(steps.Content) || len(steps.Content) < 2 {
		return nil, false
	}
	steps.Content = slices.Delete(steps.Content, step, step+1)
	dropUnusedSaves(document.Content[0])
	dropUnused(document.Content[0])
	less, err := encoded(&document)
	return []byte(less), err == nil
}

// violates reports whether the scenario passes undisturbed and violates the rule disturbed.
func (e *explorer) violates(ctx context.Context, p planned, rule string) (scenario string, ok bool) {
	all, err := e.compose(nil, false)
	if err != nil {
		return "", false
	}
	if e.base, err = e.play(ctx, all, 0); err != nil || e.base.result.Status != scenarios.Passed {
		return "", false
	}
	if all, err = e.compose(p, true); err != nil {
		return "", false
	}
	seen, err := e.play(ctx, all, 0)
	if err != nil {
		return "", false
	}
	var o Outcome
	o.Disturbances = p
	e.judge(&o, seen)
	return all.text, o.Verdict == Violated && o.Rule == rule
}
