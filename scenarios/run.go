package scenarios

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/faults"
)

// The halves of a scenario.
const (
	ClientHalf     = "client"
	KubernetesHalf = "kubernetes"
	ProgramHalf    = "program"
)

// Halves lists the halves in the order in which they are played.
var Halves = []string{ClientHalf, KubernetesHalf, ProgramHalf}

// Half is a half by its name, nil if the scenario does not have it.
func (s *Scenario) Half(name string) *Half {
	return map[string]*Half{ClientHalf: s.Client, KubernetesHalf: s.Kubernetes, ProgramHalf: s.Program}[name]
}

// HalfNames returns the names of the scenario's halves, in the order in which they run.
func (s *Scenario) HalfNames() (names []string) {
	for _, name := range Halves {
		if s.Half(name) != nil {
			names = append(names, name)
		}
	}
	return names
}

// counter is the counter of a repeat; maxTimes bounds it.
const (
	counter  = "n"
	maxTimes = 100_000
)

// Setup describes where a half runs.
type Setup struct {
	Target Target
	// Cluster is for the kubernetes half.
	Cluster Cluster
	// Programs runs programs; nil runs none.
	Programs Programs
	// Program is the one that the program half is about, and For how long it may
	// run before it is judged as it runs.
	Program Program
	For     time.Duration
	// SkipIdle moves the emulated clock on instead of waiting, once the program has ended
	// and only the cloud may still be at work. The target must be this play's own.
	SkipIdle bool
	// Output, if set, gets what programs write, as it comes.
	Output io.Writer
	// Waiting, if set, is called while a step waits.
	Waiting func(Waiting)
	// Progress, if set, is called at the end of each step.
	Progress func(StepDone)
	// AtStart, if set, is called after what is given, with the journal's mark.
	AtStart func(mark uint64)
	// AtEnd, if set, is called when the half is over, before its objects and its program
	// end, with the names that its templates know.
	AtEnd func(ctx context.Context, names map[string]string)
}

// StepDone is a step that was played.
type StepDone struct {
	Half string
	Line int
	// Kind is the step's or expectation's, or program for the one that the half is about. Title is for people alone.
	Kind   string
	Title  string
	Passed bool
}

// kindProgram is the kind of what a program half is about.
const kindProgram = "program"

// Waiting is a wait that goes on.
type Waiting struct {
	Passed, Limit time.Duration
	// Seen describes the state so far.
	Seen string
}

func (p *play) waiting(passed, limit time.Duration, seen string) {
	if p.Waiting != nil {
		p.Waiting(Waiting{passed, limit, seen})
	}
}

// play is a half while it is played.
type play struct {
	Setup
	scenario *Scenario
	half     string
	names    map[string]string
	marks    map[string]uint64
	start    uint64 // the journal's mark when the steps began
	watched  []*watchedFault
	applied  []string
	uids     map[string][]string // of what was applied, by idOf
	// earlier has the resourceVersions, by uid, of the Events before a mark; that of the
	// first step has no name.
	earlier map[string]map[string]string
	running Running // the program of the half
	// restarts counts how often it was started again, and rested is true once a step has
	// waited for its rest.
	restarts int
	rested   bool
	// restedAt and startedAt are the journal's marks of its last rest and start.
	restedAt, startedAt uint64
	base                []string              // the state at the beginning, if the half looks at it
	ready               map[string]readySince // by mark, if an expectation is about it
	notes               []string
	servers             map[string]*localServer
	clients             map[string][]*http.Client // of traffic steps, by name
}

// Play plays one half of a scenario. The result says how it ended.
func Play(ctx context.Context, s *Scenario, half string, setup Setup) Result {
	p := &play{Setup: setup, scenario: s, half: half, names: maps.Clone(s.Values), marks: make(map[string]uint64), uids: make(map[string][]string),
		earlier: make(map[string]map[string]string), ready: make(map[string]readySince), servers: make(map[string]*localServer), clients: make(map[string][]*http.Client)}
	if p.names == nil {
		p.names = make(map[string]string)
	}
	begin := time.Now()
	result := Result{Scenario: s.Name, File: s.File, Half: half, Client: p.client(), Status: Passed}
	if err := p.possible(ctx); err != nil {
		result.Status, result.Failure = Broken, err
	} else if failure := p.all(ctx); failure != nil {
		p.explain(context.WithoutCancel(ctx), failure)
		result.Status, result.Failure = failure.status, failure
	}
	if p.AtEnd != nil {
		p.AtEnd(context.WithoutCancel(ctx), maps.Clone(p.names))
	}
	result.Notes = append(p.notes, p.end(context.WithoutCancel(ctx))...)
	result.clip()
	result.Seconds = time.Since(begin).Seconds()
	return result
}

// possible refuses before anything is done what this stage can't do.
func (p *play) possible(ctx context.Context) *Failure {
	half := p.scenario.Half(p.half)
	if p.half == KubernetesHalf && p.Cluster == nil {
		return p.broken(half.Line, "kubernetes", errors.New("there is no cluster: name one by --kubeconfig"))
	}
	if len(p.Program.Command) == 0 {
		p.Program.Command = half.Command
	}
	if p.half == ProgramHalf && len(p.Program.Command) == 0 {
		return p.broken(half.Line, p.half, errors.New("there is no program: give command in the half, or the program after --"))
	}
	if step := find(half.Steps, func(s *Step) bool { return s.Exec != nil || s.Start }); p.Programs == nil && (step != nil || p.half == ProgramHalf) {
		line := half.Line
		if step != nil {
			line = step.Line
		}
		return p.broken(line, p.half, errors.New("programs are run by clbemu scenario run and watch alone"))
	}
	if p.scenario.hasTraffic(half) {
		if err := p.Target.Packets(ctx); err != nil {
			return p.broken(half.Line, p.half, err)
		}
	}
	if p.Target.CanRestart() {
		return nil
	}
	if line, what := needsRestart(half.Steps); line > 0 {
		return p.broken(line, what, errors.New("a running emulator is not ended: play this scenario without --server"))
	}
	return nil
}

// hasTraffic reports whether a half sends packets or has servers for them.
func (s *Scenario) hasTraffic(h *Half) bool {
	return len(s.Given.Servers) > 0 || find(h.Steps, func(s *Step) bool { return s.Serve != nil || s.Traffic != nil }) != nil
}

// needsRestart finds a step that ends the server.
func needsRestart(steps []Step) (line int, what string) {
	step := find(steps, func(s *Step) bool {
		if s.Fault == nil {
			return s.Restart || s.Kill
		}
		rule, err := s.Fault.rule()
		_, crashes := rule.Effect.Value.(faults.Crash)
		return err == nil && crashes
	})
	if step == nil {
		return 0, ""
	}
	return step.Line, step.title()
}

// find returns the first step that is wanted, also within a repeat.
func find(steps []Step, wanted func(*Step) bool) *Step {
	for i := range steps {
		if wanted(&steps[i]) {
			return &steps[i]
		}
		if steps[i].Repeat != nil {
			if found := find(steps[i].Repeat.Steps, wanted); found != nil {
				return found
			}
		}
	}
	return nil
}

// RunsPrograms reports whether a half is about a program, or runs one.
func (s *Scenario) RunsPrograms(half string) bool {
	h := s.Half(half)
	return half == ProgramHalf || h != nil && (len(h.Command) > 0 || find(h.Steps, func(s *Step) bool { return s.Exec != nil }) != nil)
}

// client says in words whose client the half is about.
func (p *play) client() string {
	switch {
	case p.half == KubernetesHalf:
		return "the cluster's controller"
	case p.half == ProgramHalf:
		return p.Program.String()
	case p.scenario.RunsPrograms(p.half):
		return "programs of the scenario"
	}
	return ScriptedClient
}

// all plays what is given, the steps and what is expected of the end.
func (p *play) all(ctx context.Context) *Failure {
	half := p.scenario.Half(p.half)
	var err error
	if slices.ContainsFunc(half.allExpectations(), func(e Expectation) bool { return e.State != nil }) {
		if p.base, err = p.Target.State(ctx); err != nil {
			return p.broken(half.Line, p.half, err)
		}
	}
	if failure := p.given(ctx); failure != nil {
		return failure
	}
	if p.start, err = p.Target.Mark(ctx); err == nil && p.half == KubernetesHalf {
		err = p.noteEvents(ctx, "")
	}
	if err == nil {
		err = p.watchBackends(ctx, "")
	}
	if p.AtStart != nil {
		p.AtStart(p.start)
	}
	if err != nil {
		return p.broken(half.Line, p.half, err)
	}
	if p.half == KubernetesHalf && len(p.Program.Command) > 0 {
		if err := p.begin(ctx); err != nil {
			return p.broken(half.Line, "the program", err)
		}
	}
	if !half.stepsJudge(p.half) && p.holdsAlready(ctx, half) {
		p.notes = append(p.notes, "every expectation of the half held before its first step: it proves nothing")
	}
	if failure := p.steps(ctx, half.Steps); failure != nil {
		return failure
	}
	var exit *Unmet
	if p.half == ProgramHalf {
		if exit, err = p.finish(ctx); err != nil {
			return p.broken(half.Line, "the program", err)
		}
		p.tell(half.Line, kindProgram, "the program "+p.Program.String(), exit == nil)
	}
	err = p.expectAll(ctx, half.Expect, func(e *Expectation, passed bool) { p.tell(e.Line, e.kind(), e.title(), passed) })
	if not := unmet(nil); exit != nil && (err == nil || errors.As(err, &not)) {
		err = append(unmet{*exit}, not...)
	}
	if err != nil {
		return p.broken(half.Line, p.half, err)
	}
	return p.everyFaultFired(ctx)
}

// given prepares the world. What is wrong with it is no verdict on the client.
func (p *play) given(ctx context.Context) *Failure {
	original := &p.scenario.Given
	if original.node == nil {
		return nil
	}
	given, err := filled[Given](p, original.node)
	if err == nil && p.half == KubernetesHalf {
		err = p.clusterHas(ctx, given.Cluster)
	}
	if err == nil && given.World != nil {
		err = p.Target.Set(ctx, given.World)
	}
	for i := range given.Servers {
		if err == nil {
			err = p.serve(ctx, &given.Servers[i])
		}
	}
	if err == nil && given.Clock != nil {
		err = p.setClock(ctx, given.Clock)
	}
	if err != nil {
		return p.broken(original.Line, "given", err)
	}
	for i := range original.State {
		call := &original.State[i]
		if err := p.call(ctx, call); err != nil {
			failure := p.broken(call.Line, "given: call "+call.Action, err)
			failure.status = Broken
			return failure
		}
	}
	return nil
}

// filled is a part of the scenario with its templates filled by what is known
// now.
func filled[T any](p *play, node *yaml.Node) (*T, error) {
	d, part := NewDecoder(p.scenario.File), new(T)
	rendered, err := newFiller(p.names).render(node)
	if err != nil {
		return nil, err
	}
	d.Decode(rendered, part, "")
	return part, d.Err()
}

func (p *play) steps(ctx context.Context, steps []Step) *Failure {
	for i := range steps {
		step := &steps[i]
		if step.Repeat != nil {
			if failure := p.repeat(ctx, step); failure != nil {
				return failure
			}
			continue
		}
		if failure := p.perform(ctx, step); failure != nil {
			return failure
		}
	}
	return nil
}

func (p *play) repeat(ctx context.Context, step *Step) *Failure {
	text := p.short(step.Repeat.Times)
	times, err := strconv.Atoi(text)
	if err != nil || times < 1 || times > maxTimes {
		return p.broken(step.Line, step.title(), fmt.Errorf("times: %q is not a number from 1 to %d", text, maxTimes))
	}
	outer, nested := p.names[counter]
	first := step.Repeat.From
	if first == 0 {
		first = 1
	}
	quiet := p.Progress
	p.Progress = nil // one line for all of them
	var failure *Failure
	for n := first; n < first+times && failure == nil; n++ {
		p.names[counter] = strconv.Itoa(n)
		if failure = p.steps(ctx, step.Repeat.Steps); failure != nil {
			failure.times(n)
		}
	}
	p.Progress = quiet
	if delete(p.names, counter); nested {
		p.names[counter] = outer
	}
	p.tell(step.Line, step.kind(), step.title(), failure == nil)
	return failure
}

// short is a text of a line with its templates filled, as a result keeps it.
func (p *play) short(text string) string {
	if filled, err := newFiller(p.names).fill(text); err == nil {
		text = filled
	}
	return clipped(text, maxKeptLine)
}

// perform runs one step and turns its error into a failure.
func (p *play) perform(ctx context.Context, step *Step) *Failure {
	title := p.short(step.title())
	err := p.do(ctx, step)
	if err == nil {
		err = p.noteBackends(ctx)
	}
	p.tell(step.Line, step.kind(), title, err == nil)
	if err == nil {
		return nil
	}
	failure := p.broken(step.Line, title, err)
	for i := range failure.Unmet {
		failure.Unmet[i].Kind = cmp.Or(failure.Unmet[i].Kind, step.kind())
	}
	return failure
}

func (p *play) tell(line int, kind, title string, passed bool) {
	if p.Progress != nil {
		p.Progress(StepDone{p.half, line, kind, title, passed})
	}
}

// broken is a failure of a step: of the client if what was seen differs from what
// was expected, and otherwise of the play.
func (p *play) broken(line int, title string, err error) *Failure {
	f := &Failure{File: p.scenario.File, Line: line, Step: title, status: Failed}
	var d *difference
	var not unmet
	var program *badEnd
	switch {
	case errors.As(err, &program):
		f.Unmet, f.Output = []Unmet{unmetOf(line, "", title, &program.difference)}, program.output
	case errors.As(err, &not):
		f.Unmet, f.Line, f.Step = not, not[0].Line, not[0].Step
	case errors.As(err, &d):
		f.Unmet = []Unmet{unmetOf(line, "", title, d)}
	default:
		f.Reason, f.status = err.Error(), Broken
	}
	return f
}

// explain adds to a failure of the client what it did, and what it should do. A
// failure without that is still one.
func (p *play) explain(ctx context.Context, f *Failure) {
	if f.status != Failed {
		return
	}
	f.Advice = p.scenario.Advice
	calls, err := p.Target.Calls(ctx, p.start)
	calls = slices.DeleteFunc(calls, func(c JournalCall) bool { return !p.judged(c) })
	if len(calls) == 0 && err == nil {
		f.Hint = p.nobody()
	}
	if p.running != nil && p.Output == nil {
		f.Output = p.running.Output() // it was not seen as it came
	}
	folded := fold(calls)
	f.Calls = folded[max(len(folded)-maxKeptCalls, 0):]
	_ = p.count(ctx) // the counts of before are better than none
	for _, w := range p.watched {
		f.Faults = append(f.Faults, FaultHits{w.name, w.seen, w.hits})
	}
}

// nobody says what may be wrong when there was no call at all.
func (p *play) nobody() string {
	switch {
	case p.half == KubernetesHalf:
		return "no client called this emulator: is the controller running, and pointed here?"
	case p.scenario.RunsPrograms(p.half):
		return "no client called this emulator: does the program take its endpoint and its key from the environment, as clbemu env has it?"
	}
	return ""
}
