package control_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control"
	"github.com/clbemu/clbemu/scenarios"
)

// player stands in for the emulator's: it fails what is called bad, and looks at
// the world in the middle of a play.
type player struct{ during func() }

func (p *player) Load(name string, text []byte) (*scenarios.Scenario, error) {
	switch string(text) {
	case "bad":
		return nil, errors.New(name + ":1: bad")
	case "kubernetes":
		return &scenarios.Scenario{Name: "k", Kubernetes: &scenarios.Part{}}, nil
	}
	return &scenarios.Scenario{Name: strings.TrimSuffix(name, ".yaml"), Client: &scenarios.Part{}}, nil
}

func (p *player) Play(_ context.Context, s *scenarios.Scenario, progress func(scenarios.StepDone)) scenarios.Result {
	progress(scenarios.StepDone{Line: 7, Title: "call DescribeRegions", Passed: true})
	p.during()
	return scenarios.Result{Scenario: s.Name, Part: scenarios.ClientPart, Status: scenarios.Passed}
}

// TestScenarios proves that what is sent is played, and what is named from the
// library, one at a time, and that the status shows what is being played and how
// the last plays ended.
func TestScenarios(t *testing.T) {
	p := &player{}
	f := newFixture(t, func(cfg *control.Config) { cfg.Player = p })
	var status controlapi.Scenarios
	p.during = func() {
		f.ask("GET", "/v1/scenarios", "", 200, &status)
		if want := (controlapi.Playing{Scenario: "scenario", Steps: 1, Line: 7, Step: "call DescribeRegions"}); status.Playing == nil || *status.Playing != want {
			t.Errorf("playing is %+v, want %+v", status.Playing, want)
		}
		f.mustRefuse("POST", "/v1/scenarios/run", "good", 409, "another scenario")
	}
	var result scenarios.Result
	f.ask("POST", "/v1/scenarios/run", "good", 200, &result)
	if result.Status != scenarios.Passed || result.Scenario != "scenario" {
		t.Errorf("the result is %+v", result)
	}
	p.during = func() {}
	f.ask("POST", "/v1/scenarios/run?name=arrears", "", 200, &result)
	f.mustRefuse("POST", "/v1/scenarios/run?name=nosuch", "", 422, "nosuch")
	f.mustRefuse("POST", "/v1/scenarios/run", "bad", 422, "scenario.yaml:1: bad")
	f.mustRefuse("POST", "/v1/scenarios/run", "kubernetes", 422, "no client part")
	f.mustRefuse("POST", "/v1/scenarios/run", strings.Repeat("x", 2<<20), 413, "too large")

	status = controlapi.Scenarios{}
	f.ask("GET", "/v1/scenarios", "", 200, &status)
	if status.Playing != nil || len(status.Results) != 2 || status.Results[1].Scenario != "arrears" || len(status.Library) < 30 {
		t.Errorf("the status is %+v, want two results and the library", status)
	}
	newFixture(t, nil).mustRefuse("POST", "/v1/scenarios/run", "good", 501, "without a player")
}

// longWinded is a player whose results are long.
type longWinded struct {
	*player
	length int
}

func (p *longWinded) Play(_ context.Context, s *scenarios.Scenario, _ func(scenarios.StepDone)) scenarios.Result {
	return scenarios.Result{Scenario: s.Name, Part: scenarios.ClientPart, Status: scenarios.Passed, Notes: []string{strings.Repeat("x", p.length)}}
}

// TestResultsTogether proves that results are remembered up to what they may take
// together, the newest first, and that the last one is remembered in any case.
func TestResultsTogether(t *testing.T) {
	p := &longWinded{player: &player{}, length: 1 << 20}
	f := newFixture(t, func(cfg *control.Config) { cfg.Player = p })
	kept := func() []scenarios.Result {
		var status controlapi.Scenarios
		f.ask("GET", "/v1/scenarios", "", 200, &status)
		return status.Results
	}
	for range 20 {
		f.ask("POST", "/v1/scenarios/run", "good", 200, nil)
	}
	if n := len(kept()); n != 7 {
		t.Errorf("%d results of 1 MiB and a little are remembered, want 7", n)
	}
	f.ask("POST", "/v1/scenarios/run?name=arrears", "", 200, nil)
	if results := kept(); len(results) != 7 || results[6].Scenario != "arrears" {
		t.Errorf("%d results are remembered", len(results))
	}
	p.length = 10 << 20
	f.ask("POST", "/v1/scenarios/run", "good", 200, nil)
	if n := len(kept()); n != 1 {
		t.Errorf("%d results are remembered after one of 10 MiB, want that one", n)
	}
}

// playerUntil plays until it is stopped.
type playerUntil struct{ *player }

func (p playerUntil) Play(ctx context.Context, s *scenarios.Scenario, progress func(scenarios.StepDone)) scenarios.Result {
	result := p.player.Play(ctx, s, progress)
	<-ctx.Done()
	return result
}
