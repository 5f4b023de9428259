package scenarios

import (
	"context"
	"fmt"
	"slices"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

// A half proves something when one of its steps can fail by what the client does, or
// one of its expectations does not hold before the steps.

// allExpectations lists the expectations of the half and of its steps.
func (h *Half) allExpectations() []Expectation {
	return append(stepExpectations(h.Steps), h.Expect...)
}

func stepExpectations(steps []Step) (all []Expectation) {
	for i := range steps {
		all = append(all, steps[i].Expect...)
		if steps[i].Repeat != nil {
			all = append(all, stepExpectations(steps[i].Repeat.Steps)...)
		}
	}
	return all
}

// stepsJudge reports whether a step of the half can fail by what the client does or gets: a
// fault must strike, and a program must succeed.
func (h *Half) stepsJudge(half string) bool {
	return half == ProgramHalf || find(h.Steps, func(s *Step) bool {
		return s.Call != nil || s.Wait != nil || s.Exec != nil || s.Fault != nil || s.Expect != nil || s.Traffic != nil
	}) != nil
}

// holdsAlready reports whether every expectation of the half holds now.
func (p *play) holdsAlready(ctx context.Context, half *Half) bool {
	return !slices.ContainsFunc(half.Expect, func(original Expectation) bool {
		e, err := filled[Expectation](p, original.node)
		return err != nil || p.look(ctx, e) != nil
	})
}

// Warnings returns warnings about a valid scenario.
func (s *Scenario) Warnings() (all Problems) {
	for _, name := range Halves {
		half := s.Half(name)
		if half == nil || half.stepsJudge(name) || slices.ContainsFunc(half.Expect, func(e Expectation) bool { return !e.ofNothing() }) {
			continue
		}
		all = append(all, yamlfile.Problem{File: s.File, Line: half.Line, Field: name,
			Reason: fmt.Sprintf("every expectation holds before the first step: expect something that the %s must do", doers[name])})
	}
	return all
}

// doers names who must act in each half.
var doers = map[string]string{ClientHalf: "client", KubernetesHalf: "controller", ProgramHalf: "program"}

// ofNothing reports whether an expectation is that something does not happen.
func (e *Expectation) ofNothing() bool {
	switch {
	case e.Calls != nil:
		c := e.Calls
		return c.None || c.Exactly != nil && *c.Exactly == 0 || c.AtMost != nil && c.AtLeast == nil
	case e.Event != nil:
		return e.Event.Absent
	case e.Finalizer != nil:
		return e.Finalizer.Absent
	}
	return false
}
