package scenarios

import (
	"context"
	"fmt"
	"slices"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

// A half proves something when one of its steps can fail by what the client does, or
// one of its expectations does not hold before the steps.

// stepsJudge reports whether a step of the half can fail by what the client does or gets: a
// fault must strike, and a program must succeed.
func (h *Half) stepsJudge(half string) bool {
	return half == ProgramHalf || h.find(func(s *Step) bool { return s.Kind.judges }) != nil
}

// holdsAlready reports whether every expectation of the half holds now.
func (p *play) holdsAlready(ctx context.Context, half *Half) bool {
	return !slices.ContainsFunc(half.Expect, func(original Expectation) bool {
		e, err := filled[Expectation](p, original.node)
		return err != nil || e.Value.(looking).look(ctx, p) != nil
	})
}

// Warnings returns warnings about a valid scenario.
func (s *Scenario) Warnings() (all Problems) {
	for _, name := range Halves {
		half := s.Half(name)
		if half == nil || half.stepsJudge(name) || slices.ContainsFunc(half.Expect, happens) {
			continue
		}
		all = append(all, yamlfile.Problem{File: s.File, Line: half.Line, Field: name,
			Reason: fmt.Sprintf("every expectation holds before the first step: expect something that the %s must do", doers[name])})
	}
	return all
}

// happens reports whether an expectation is that something happens.
func happens(e Expectation) bool {
	n, ok := e.Value.(negative)
	return !ok || !n.ofNothing()
}

// doers names who must act in each half.
var doers = map[string]string{ClientHalf: "client", KubernetesHalf: "controller", ProgramHalf: "program"}
