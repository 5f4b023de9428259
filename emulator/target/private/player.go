package private

import (
	"context"
	"sync"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/scenarios"
)

// Player plays client parts of scenarios, each on an emulator of its own: it is the Apart of
// an emulator.Config.
type Player struct{}

var known = sync.OnceValue(func() *target.Names { return target.NewNames(emulator.NamesIn(world.Default())) })

// Load reads a scenario; an error has a line for everything that is wrong.
func (Player) Load(name string, text []byte) (*scenarios.Scenario, error) {
	return scenarios.Load(name, text, scenarios.Options{Names: known()})
}

// Play plays the client part of a scenario and reports the progress of each step.
func (Player) Play(ctx context.Context, s *scenarios.Scenario, progress func(scenarios.StepDone)) scenarios.Result {
	result := scenarios.Result{Scenario: s.Name, File: s.File, Part: scenarios.ClientPart, Status: scenarios.Broken}
	local, err := New(ctx)
	if err == nil {
		result = scenarios.Play(ctx, s, scenarios.ClientPart, scenarios.Setup{Target: local, Progress: progress})
		err = local.Close(context.WithoutCancel(ctx))
	}
	if err != nil {
		result.Status = scenarios.Broken
		result.Failure = &scenarios.Failure{File: s.File, Line: 1, Step: scenarios.ClientPart, Reason: err.Error()}
	}
	return result
}
