package control

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/scenarios"
)

// Player plays scenarios on the emulator that the control API is of.
type Player interface {
	// Load reads a scenario; an error has a line for everything that is wrong.
	Load(name string, text []byte) (*scenarios.Scenario, error)
	// Play plays its client half and tells progress of each step.
	Play(ctx context.Context, s *scenarios.Scenario, progress func(scenarios.StepDone)) scenarios.Result
}

// keptResults is how many results are remembered.
const keptResults = 100

// scenarioRuns plays one scenario at a time, as each changes the world for all.
type scenarioRuns struct {
	Player

	mu      sync.Mutex
	playing *controlapi.Playing
	results []scenarios.Result
}

func (t *scenarioRuns) status() controlapi.Scenarios {
	t.mu.Lock()
	defer t.mu.Unlock()
	status := controlapi.Scenarios{Library: scenarios.LibraryNames(), Results: append([]scenarios.Result{}, t.results...)}
	if t.playing != nil {
		now := *t.playing
		status.Playing = &now
	}
	return status
}

// play plays a scenario, unless another is being played.
func (t *scenarioRuns) play(ctx context.Context, s *scenarios.Scenario) (result scenarios.Result, free bool) {
	if !t.begin(s.Name) {
		return result, false
	}
	defer func() { t.end(result) }()
	return t.Play(ctx, s, t.progress), true
}

func (t *scenarioRuns) begin(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.playing != nil {
		return false
	}
	t.playing = &controlapi.Playing{Scenario: name}
	return true
}

func (t *scenarioRuns) progress(step scenarios.StepDone) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.playing.Steps++
	t.playing.Line, t.playing.Step = step.Line, step.Title
}

func (t *scenarioRuns) end(result scenarios.Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.playing = nil
	t.results = append(t.results, result)
	t.results = t.results[max(len(t.results)-keptResults, 0):]
}

func (a *api) getScenarios(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, a.runs.status())
}

// runScenario plays what is sent, or the scenario of the library that is named,
// until the client leaves.
func (a *api) runScenario(w http.ResponseWriter, r *http.Request) {
	if a.Player == nil {
		fail(w, http.StatusNotImplemented, "this emulator was started without a player of scenarios: use clbemu serve")
		return
	}
	name := r.URL.Query().Get("name")
	text, known := scenarios.LibraryText(name)
	if name == "" {
		var err error
		name = "scenario.yaml"
		text, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			fail(w, http.StatusRequestEntityTooLarge, err.Error())
			return
		}
		known = err == nil
	}
	if !known {
		fail(w, http.StatusUnprocessableEntity, "there is no such scenario in the library: "+name+names.DidYouMean(name, scenarios.LibraryNames(), "GET /v1/scenarios lists them"))
		return
	}
	s, err := a.runs.Load(name, text)
	if err != nil {
		fail(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	if s.Client == nil {
		fail(w, http.StatusUnprocessableEntity, name+" has no client half: clbemu scenario run plays the other")
		return
	}
	// The listener's limit is on the time that a request takes to come in.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // a recorder has none
	result, free := a.runs.play(r.Context(), s)
	if !free {
		fail(w, http.StatusConflict, "another scenario is being played: GET /v1/scenarios shows it")
		return
	}
	answer(w, http.StatusOK, result)
}
