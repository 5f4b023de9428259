package control

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/mux"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/explain"
	"github.com/clbemu/clbemu/emulator/internal/control/routes"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/scenarios"
)

// Player plays scenarios.
type Player interface {
	// Load reads a scenario; an error has a line for everything that is wrong.
	Load(name string, text []byte) (*scenarios.Scenario, error)
	// Play plays its client part and reports the progress of each step.
	Play(ctx context.Context, s *scenarios.Scenario, progress func(scenarios.StepDone)) scenarios.Result
}

// keptResults limits how many results are remembered, and keptBytes their size
// together, as JSON. The last one is always remembered.
const (
	keptResults = 100
	keptBytes   = 8 << 20
)

// scenarioRuns shows one play at a time: each on this emulator changes it for all.
type scenarioRuns struct {
	mu      sync.Mutex
	playing *controlapi.Playing
	stopped context.Context // ends when stop is called, of what is being played
	stop    context.CancelFunc
	results []keptResult
	// events holds the events of the current or last play, which is number round.
	events []controlapi.ScenarioEvent
	round  int
	news   chan struct{} // closed by the next event
}

// keptResult is a result with its size as JSON.
type keptResult struct {
	scenarios.Result
	size int
}

func (t *scenarioRuns) status() controlapi.Scenarios {
	t.mu.Lock()
	defer t.mu.Unlock()
	status := controlapi.Scenarios{Library: scenarios.LibraryNames(), Results: make([]scenarios.Result, len(t.results))}
	for i, kept := range t.results {
		status.Results[i] = kept.Result
	}
	if t.playing != nil {
		now := *t.playing
		status.Playing = &now
	}
	return status
}

// play plays a scenario that has begun.
func (t *scenarioRuns) play(ctx context.Context, p *play) scenarios.Result {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.stopped, cancel)()
	result := p.run(ctx, t.progress)
	t.end(result)
	return result
}

// playUnseen plays a scenario that changes nothing here: any number of them play at a time.
func (t *scenarioRuns) playUnseen(ctx context.Context, p *play) scenarios.Result {
	result := p.run(ctx, func(scenarios.StepDone) {})
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keepLocked(result)
	return result
}

// begin keeps the stage for a scenario, unless another is on it.
func (t *scenarioRuns) begin(name string, apart bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.playing != nil {
		return false
	}
	t.playing = &controlapi.Playing{Scenario: name, Apart: apart}
	t.stopped, t.stop = context.WithCancel(context.Background())
	t.round, t.events = t.round+1, nil
	t.tellLocked(controlapi.ScenarioEvent{Event: controlapi.ScenarioBegun})
	return true
}

func (t *scenarioRuns) progress(step scenarios.StepDone) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.playing.Steps++
	t.playing.Line, t.playing.Step = step.Line, step.Title
	t.tellLocked(controlapi.ScenarioEvent{Event: controlapi.ScenarioStepDone, Step: &controlapi.ScenarioStep{Line: step.Line, Title: step.Title, Passed: step.Passed}})
}

func (t *scenarioRuns) end(result scenarios.Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tellLocked(controlapi.ScenarioEvent{Event: controlapi.ScenarioEnded, Result: &result})
	t.stop()
	t.playing, t.stop = nil, nil
	t.keepLocked(result)
}

// keepLocked remembers a result, and forgets the oldest where that is too much; mu is
// held.
func (t *scenarioRuns) keepLocked(result scenarios.Result) {
	text, _ := json.Marshal(result) // it has nothing that is no JSON
	t.results = append(t.results, keptResult{result, len(text)})
	oldest, size := len(t.results), 0
	for oldest > max(len(t.results)-keptResults, 0) && (oldest == len(t.results) || size+t.results[oldest-1].size <= keptBytes) {
		oldest--
		size += t.results[oldest].size
	}
	t.results = slices.Clone(t.results[oldest:]) // and frees the others
}

// tellLocked adds an event of the current play; mu is held.
func (t *scenarioRuns) tellLocked(event controlapi.ScenarioEvent) {
	event.Scenario, event.Apart = t.playing.Scenario, t.playing.Apart
	t.events = append(t.events, event)
	close(t.news)
	t.news = make(chan struct{})
}

// cancel stops the current play.
func (t *scenarioRuns) cancel() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stop == nil {
		return false
	}
	t.stop()
	return true
}

// since returns the events of a round after the first n, or all events of a newer round.
func (t *scenarioRuns) since(round, seen int) (events []controlapi.ScenarioEvent, now int, news <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if round != t.round {
		seen = 0
	}
	return t.events[seen:], t.round, t.news
}

func (a *api) getScenarios(*http.Request) (controlapi.Scenarios, error) { return a.runs.status(), nil }

// runScenario plays what is sent, or the scenario of the library that is named,
// until the client leaves.
func (a *api) runScenario(w http.ResponseWriter, r *http.Request) {
	p, err := a.playOf(r, http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		failed(w, ofBody(err))
		return
	}
	do := a.runs.playUnseen
	if !p.apart {
		if err := a.begin(p); err != nil {
			failed(w, err)
			return
		}
		do = a.runs.play
	}
	// The listener's limit is on the time that a request takes to come in.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // a recorder has none
	answer(w, http.StatusOK, do(r.Context(), p))
}

// startScenario does the same and does not wait.
func (a *api) startScenario(r *http.Request, body io.Reader) (controlapi.Playing, error) {
	if a.Go == nil {
		return controlapi.Playing{}, refused(http.StatusNotImplemented, "this emulator was started without a stage for scenarios: use clbemu serve")
	}
	p, err := a.playOf(r, body)
	if err == nil {
		err = a.begin(p)
	}
	if err != nil {
		return controlapi.Playing{}, err
	}
	a.Go(func(ctx context.Context) { a.runs.play(ctx, p) })
	return controlapi.Playing{Scenario: p.scenario.Name, Apart: p.apart}, nil
}

// begin keeps the stage for a play.
func (a *api) begin(p *play) error {
	if !a.runs.begin(p.scenario.Name, p.apart) {
		return refused(http.StatusConflict, "another scenario is being played: GET /v1/scenarios shows it")
	}
	return nil
}

// play is a scenario with the player of its client part, apart if not on this emulator.
type play struct {
	scenario *scenarios.Scenario
	player   Player
	apart    bool
}

func (p *play) run(ctx context.Context, progress func(scenarios.StepDone)) scenarios.Result {
	result := p.player.Play(ctx, p.scenario, progress)
	if ctx.Err() != nil {
		result.Notes = append(result.Notes, "it was stopped before its end")
	}
	return result
}

// playOf loads the scenario of a call.
func (a *api) playOf(r *http.Request, body io.Reader) (p *play, err error) {
	of, err := routes.RunScenario.ReadQuery(r)
	if err != nil {
		return nil, err
	}
	p = &play{player: a.Player, apart: of.Apart}
	if p.apart {
		p.player = a.Apart
	}
	if p.player == nil {
		return nil, refused(http.StatusNotImplemented, "this emulator was started without a player of scenarios: use clbemu serve")
	}
	name, text, err := scenarioText(of.Name, body)
	if err == nil {
		p.scenario, err = p.player.Load(name, text)
	}
	switch {
	case err != nil:
		return nil, err
	case p.scenario.Client == nil:
		return nil, errors.New(name + " has no client part: clbemu scenario run plays the other")
	}
	return p, nil
}

// scenarioText returns the text of the scenario with a name, or the body of a call without one.
func scenarioText(name string, body io.Reader) (file string, text []byte, err error) {
	if name == "" {
		text, err = io.ReadAll(body)
		return "scenario.yaml", text, err
	}
	text, err = libraryText(name)
	return name, text, err
}

func libraryText(name string) ([]byte, error) {
	text, known := scenarios.LibraryText(name)
	if !known {
		return nil, errors.New("there is no such scenario in the library: " + name + names.DidYouMean(name, scenarios.LibraryNames(), "GET /v1/scenarios lists them"))
	}
	return text, nil
}

func (a *api) stopScenario(*http.Request) (controlapi.Status, error) {
	if !a.runs.cancel() {
		return controlapi.Status{}, refused(http.StatusConflict, "no scenario is being played")
	}
	return controlapi.Status{Status: "stopped"}, nil
}

// watchScenarios sends what is being played, or was last, and then what comes, as
// server-sent events.
func (a *api) watchScenarios(w http.ResponseWriter, r *http.Request) {
	s := newStream(w)
	for round, seen := 0, 0; ; {
		events, now, news := a.runs.since(round, seen)
		if now != round {
			round, seen = now, 0
		}
		for _, event := range events {
			if s.send("scenario", 0, event) != nil {
				return
			}
		}
		seen += len(events)
		if s.Flush() != nil {
			return
		}
		select {
		case <-news:
		case <-r.Context().Done():
			return
		}
	}
}

func (a *api) getLibrary(_ *http.Request, of routes.OfLibrary) (controlapi.Library, error) {
	list, err := library()
	if err != nil {
		return controlapi.Library{}, a.inside("load the library", err)
	}
	var about *controlapi.TextAnswer
	if text := of.Text; text != "" {
		index, err := a.index()
		if err != nil {
			return controlapi.Library{}, a.inside("search the library", err)
		}
		if answer, earned := index.Search(text); earned {
			about = answer.For(text, "").Best.Shown()
		}
		found := index.Scenarios(text)
		list = slices.DeleteFunc(slices.Clone(list), func(s controlapi.LibraryScenario) bool { return !slices.Contains(found, s.Name) })
	}
	symptoms, err := explain.Symptoms()
	if err != nil {
		return controlapi.Library{}, a.inside("read the symptoms", err)
	}
	return controlapi.Library{Scenarios: list, Symptoms: symptoms, About: about}, nil
}

// library lists the scenarios that are a part of the program. It reads them once.
var library = sync.OnceValues(func() ([]controlapi.LibraryScenario, error) {
	list := []controlapi.LibraryScenario{}
	for _, name := range scenarios.LibraryNames() {
		text, err := libraryText(name)
		if err != nil {
			return nil, err
		}
		s, err := scenarios.Load(name, text, scenarios.Options{})
		if err != nil {
			return nil, err
		}
		list = append(list, controlapi.LibraryScenario{Name: name, Parts: s.PartNames(), About: s.About})
	}
	return list, nil
})

func (a *api) getLibraryScenario(w http.ResponseWriter, r *http.Request) {
	text, err := libraryText(mux.Vars(r)["name"])
	if err != nil {
		fail(w, http.StatusNotFound, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(text) // the client may be gone
}
