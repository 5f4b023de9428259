package command

import (
	"context"
	"strings"

	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/emulator/target/private"
	"github.com/clbemu/clbemu/scenarios"
)

// stateBefore describes what a running emulator held before a part was played on it.
type stateBefore struct {
	run  *scenarioRun
	held []string
}

// beforeOf looks at the emulator; the play itself reports what it can't see.
func (r *scenarioRun) beforeOf(ctx context.Context, on scenarios.Target) *stateBefore {
	remote, ok := on.(*target.Remote)
	if !ok || r.reset {
		return nil
	}
	held, _ := remote.Held(ctx)
	return &stateBefore{r, held}
}

// suggestReset suggests --reset where it helps: when the part passes on a new emulator, or,
// where it can't be played on one, if this one was in use.
func (u *stateBefore) suggestReset(ctx context.Context, s *scenarios.Scenario, result *scenarios.Result) {
	prepared := result.Failure != nil && strings.HasPrefix(result.Failure.Step, "given")
	if u == nil || result.Status != scenarios.Failed && !(result.Status == scenarios.Broken && prepared) {
		return
	}
	before := "it held before: " + strings.Join(u.held, ", ")
	const way = "--reset deletes everything in it first"
	switch scripted := result.Part == scenarios.ClientPart && !s.RunsPrograms(result.Part); {
	case scripted && !passesAlone(ctx, s):
	case scripted && len(u.held) == 0:
		result.Notes = append(result.Notes, "it passes on a new emulator, so the state of this one makes it fail; "+way)
	case scripted:
		result.Notes = append(result.Notes, "it passes on a new emulator, so the state of this one makes it fail ("+before+"); "+way)
	case len(u.held) > 0:
		result.Notes = append(result.Notes, "this emulator was in use before, which may be the cause ("+before+"); "+way)
	}
}

// passesAlone plays a client part on a private emulator, which takes no time.
func passesAlone(ctx context.Context, s *scenarios.Scenario) bool {
	local, err := private.New(ctx)
	if err != nil {
		return false
	}
	result := scenarios.Play(ctx, s, scenarios.ClientPart, scenarios.Setup{Target: local})
	return local.Close(ctx) == nil && result.Status == scenarios.Passed
}
