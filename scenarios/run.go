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
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

// Setup describes where a part runs.
type Setup struct {
	Target Target
	// Cluster is for the kubernetes part.
	Cluster Cluster
	// Programs runs programs. If nil, none run.
	Programs Programs
	// Program is the program of the program part. For limits how long it may run before it is
	// judged while it runs.
	Program Program
	For     time.Duration
	// Restarts is the number of restarts of a program that ends with an error, if the part has no
	// higher number.
	Restarts int
	// MustCall makes a part fail whose program never makes the calls that it judges, which is
	// NotApplicable otherwise.
	MustCall bool
	// SkipIdle moves the emulated clock on instead of waiting, once the program has ended
	// and only the cloud may still be at work. The target must be this play's own.
	SkipIdle bool
	// Output, if set, gets what programs write, as it comes.
	Output io.Writer
	// Waiting, if set, runs while a step waits.
	Waiting func(Waiting)
	// Progress, if set, runs at the end of each step.
	Progress func(StepDone)
	// Held, if set, runs when an expectation holds, with its text, and a function that reports
	// whether another text holds at the same moment.
	Held func(text *yaml.Node, also func(other *yaml.Node) bool)
	// Looked, if set, runs with the load balancers after each change, as far as the target
	// knows it, and with the emulated time since the first; else whenever the play waits.
	Looked func(all []LoadBalancerState, at time.Duration)
	// AtStart, if set, runs after the given part, with the journal's mark.
	AtStart func(mark uint64)
	// AtEnd, if set, runs when the part is over, before its objects and its program
	// end, with the names that its templates know.
	AtEnd func(ctx context.Context, names map[string]string)
}

// StepDone is a played step.
type StepDone struct {
	Part string
	Line int
	// Kind is the step's or expectation's, or program for the one that the part is about. Title is for people alone.
	Kind   string
	Title  string
	Passed bool
}

// kindProgram is the kind of what a program part is about.
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

// play is a part in progress.
type play struct {
	Setup
	scenario *Scenario
	part     string
	names    map[string]string
	marks    map[string]uint64 // in the journal; "" is when the steps began
	watched  []*watchedFault
	applied  []string
	uids     map[string][]string // of what was applied, by idOf
	// earlier has the resourceVersions, by uid, of the Events before a moment.
	earlier map[position]map[string]string
	running Running // the program of the part
	// restarts counts how often it was started again, and rested is true once a step has
	// waited for its rest.
	restarts int
	rested   bool
	// restedAt and startedAt are the journal's marks of its last rest and start.
	restedAt, startedAt uint64
	base                []string              // the state at the beginning, if the part looks at it
	ready               map[string]readySince // by mark, if an expectation is about it
	serving             map[string]*Serving   // by mark, likewise
	passed, at          time.Duration         // the time of all waits, and of the last look at load balancers
	origin              time.Time             // of the first such look
	notes               []string
	servers             map[string]*localServer
	clients             map[string][]*http.Client // of traffic steps, by name
}

// Play plays one part of a scenario. The result says how it ended.
func Play(ctx context.Context, s *Scenario, part string, setup Setup) Result {
	p := &play{Setup: setup, scenario: s, part: part, names: make(map[string]string), marks: make(map[string]uint64), uids: make(map[string][]string),
		earlier: make(map[position]map[string]string), ready: make(map[string]readySince), serving: make(map[string]*Serving), servers: make(map[string]*localServer), clients: make(map[string][]*http.Client)}
	maps.Copy(p.names, s.Values)
	begin := time.Now()
	result := Result{Scenario: s.Name, File: s.File, Part: part, Client: p.client(), Status: Passed}
	if err := p.checkSupported(ctx); err != nil {
		result.Status, result.Failure = Broken, err
	} else if failure := p.all(ctx); failure != nil && p.neverAsked(ctx, failure) {
		result.Status = NotApplicable
		result.Reason = "the program never makes the call that it is about, and nothing kept it from that: " + failure.Unmet[0].Expected
	} else if failure != nil {
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

// checkSupported rejects, before anything happens, what this target can't do.
func (p *play) checkSupported(ctx context.Context) *Failure {
	part := p.scenario.Part(p.part)
	if p.part == KubernetesPart && p.Cluster == nil {
		return p.stepFailure(part.Line, "kubernetes", errors.New("there is no cluster: name one by --kubeconfig"))
	}
	if len(p.Program.Command) == 0 {
		p.Program.Command = part.Command
	}
	if p.part == ProgramPart && len(p.Program.Command) == 0 {
		return p.stepFailure(part.Line, p.part, errors.New("there is no program: give command in the part, or the program after --"))
	}
	if step := part.needing(programs); p.Programs == nil && (step != nil || p.part == ProgramPart) {
		line := part.Line
		if step != nil {
			line = step.Line
		}
		return p.stepFailure(line, p.part, errors.New("programs are run by clbemu scenario run and watch alone"))
	}
	if len(p.scenario.Given.Servers) > 0 || part.needing(packets) != nil {
		if err := p.Target.Packets(ctx); err != nil {
			return p.stepFailure(part.Line, p.part, err)
		}
	}
	if p.Target.CanRestart() {
		return nil
	}
	if step := part.needing(restarts); step != nil {
		return p.stepFailure(step.Line, step.title(), errors.New("a running emulator is not ended: play this scenario without --server"))
	}
	return nil
}

// needing finds a step that needs something. A fault may end the server.
func (h *Part) needing(n need) *Step {
	return h.find(func(s *Step) bool {
		f, ok := s.Value.(*Fault)
		return s.Kind.needs == n || n == restarts && ok && f.crashes()
	})
}

// client says in words whose client the part is about.
func (p *play) client() string {
	switch {
	case p.part == KubernetesPart:
		return "the cluster's controller"
	case p.part == ProgramPart:
		return p.Program.String()
	case p.scenario.RunsPrograms(p.part):
		return "programs of the scenario"
	}
	return ScriptedClient
}

// all plays the given part, the steps and the final expectations.
func (p *play) all(ctx context.Context) *Failure {
	part := p.scenario.Part(p.part)
	var err error
	if slices.ContainsFunc(part.allExpectations(), func(e Expectation) bool { return e.Kind == stateKind }) {
		if p.base, err = p.Target.State(ctx); err != nil {
			return p.stepFailure(part.Line, p.part, err)
		}
	}
	if failure := p.given(ctx); failure != nil {
		return failure
	}
	err = mark("").do(ctx, p, nil)
	if p.AtStart != nil {
		p.AtStart(p.marks[""])
	}
	if err != nil {
		return p.stepFailure(part.Line, p.part, err)
	}
	if p.part == KubernetesPart && len(p.Program.Command) > 0 {
		if err := p.begin(ctx); err != nil {
			return p.stepFailure(part.Line, "the program", err)
		}
	}
	if !part.stepsJudge(p.part) && p.holdsAlready(ctx, part) {
		p.notes = append(p.notes, "every expectation of the part held before its first step: it proves nothing")
	}
	if failure := p.steps(ctx, part.Steps); failure != nil {
		return failure
	}
	var exit *Unmet
	if p.part == ProgramPart {
		if exit, err = p.finish(ctx); err != nil {
			return p.stepFailure(part.Line, "the program", err)
		}
		p.reportStep(part.Line, kindProgram, "the program "+p.Program.String(), exit == nil)
	}
	err = p.expectAll(ctx, part.Expect, func(e *Expectation, passed bool) { p.reportStep(e.Line, e.Kind.Name, e.title(), passed) })
	if not := unmet(nil); exit != nil && (err == nil || errors.As(err, &not)) {
		err = append(unmet{*exit}, not...)
	}
	if err != nil {
		return p.stepFailure(part.Line, p.part, err)
	}
	return p.everyFaultFired(ctx)
}

// given prepares the world. A fault in it is no verdict on the client.
func (p *play) given(ctx context.Context) *Failure {
	original := &p.scenario.Given
	if original.node == nil {
		return nil
	}
	given, err := filled[Given](p, original.node)
	if err == nil && p.part == KubernetesPart {
		err = p.clusterHas(ctx, given.Cluster)
	}
	if err == nil && given.World != nil {
		err = given.World.do(ctx, p, nil)
	}
	for i := range given.Servers {
		if err == nil {
			err = given.Servers[i].do(ctx, p, nil)
		}
	}
	if err == nil && given.Clock != nil {
		err = given.Clock.do(ctx, p, nil)
	}
	if err != nil {
		return p.stepFailure(original.Line, "given", err)
	}
	for i := range original.State {
		unfilled := &original.State[i]
		call, err := filled[CallStep](p, unfilled.node)
		if err == nil {
			err = call.do(ctx, p, nil)
		}
		if err != nil {
			failure := p.stepFailure(unfilled.Line, "given: call "+unfilled.Action, err)
			failure.status = Broken
			return failure
		}
	}
	return nil
}

// filled returns a part of the scenario with its templates filled from the values known now.
func filled[T any](p *play, node *yaml.Node) (*T, error) {
	d, part := NewDecoder(p.scenario.File), new(T)
	rendered, err := newFiller(p.names).render(node, nil)
	if err != nil {
		return nil, err
	}
	d.Decode(rendered, part, "")
	return part, d.Err()
}

func (p *play) steps(ctx context.Context, steps []Step) *Failure {
	for i := range steps {
		failure := (*Failure)(nil)
		if own, ok := steps[i].Value.(playing); ok {
			failure = own.play(ctx, p, &steps[i])
		} else {
			failure = p.perform(ctx, &steps[i])
		}
		if failure != nil {
			return failure
		}
	}
	return nil
}

// shortText returns a line's text with its templates filled, as a result keeps it.
func (p *play) shortText(text string) string {
	if filled, err := newFiller(p.names).fill(text); err == nil {
		text = filled
	}
	return truncate(text, maxKeptLine)
}

// perform runs one step and turns its error into a failure.
func (p *play) perform(ctx context.Context, step *Step) *Failure {
	title := p.shortText(step.title())
	filled, err := filled[Step](p, step.node)
	if err == nil {
		err = filled.Value.(acting).do(ctx, p, filled)
	}
	if err == nil {
		err = p.noteBackends(ctx)
	}
	p.reportStep(step.Line, step.Kind.Name, title, err == nil)
	if err == nil {
		return nil
	}
	failure := p.stepFailure(step.Line, title, err)
	for i := range failure.Unmet {
		failure.Unmet[i].Kind = cmp.Or(failure.Unmet[i].Kind, step.Kind.Name)
	}
	return failure
}

func (p *play) reportStep(line int, kind, title string, passed bool) {
	if p.Progress != nil {
		p.Progress(StepDone{p.part, line, kind, title, passed})
	}
}

// stepFailure returns a failure of a step: of the client if the result differs from what was
// expected, and otherwise of the play.
func (p *play) stepFailure(line int, title string, err error) *Failure {
	f := &Failure{File: p.scenario.File, Line: line, Step: title, status: Failed}
	var u *Unmet
	var not unmet
	switch {
	case errors.As(err, &not) && not[0].cannot:
		f.Line, f.Step, f.Reason, f.status = not[0].Line, not[0].Step, not[0].Seen, Broken
	case errors.As(err, &u) && u.cannot:
		f.Reason, f.status = u.Seen, Broken
	case errors.As(err, &not):
		f.Unmet, f.Line, f.Step = not, not[0].Line, not[0].Step
	case errors.As(err, &u):
		u.Line, u.Step = line, title
		f.Unmet, f.Output = []Unmet{*u}, u.output
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
	calls, err := p.Target.Calls(ctx, p.marks[""])
	calls = slices.DeleteFunc(calls, func(c JournalCall) bool { return !p.judged(c) })
	switch {
	case len(calls) == 0 && err == nil:
		f.Hint = p.noCallHint()
	case slices.ContainsFunc(f.Unmet, func(u Unmet) bool { return u.Kind == kindProgram }):
		f.Hint = fmt.Sprintf("the program failed, and was restarted %s: `--restarts N` restarts it N times, as systemd or a Kubernetes Job does", counted(p.restarts, "time"))
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

// noCallHint says what may be wrong when there was no call at all.
func (p *play) noCallHint() string {
	switch {
	case p.part == KubernetesPart:
		return "no client called this emulator: is the controller running, and pointed here?"
	case p.scenario.RunsPrograms(p.part):
		return "no client called this emulator: does the program take its endpoint and its key from the environment, as clbemu env has it?"
	}
	return ""
}

// A part proves something when one of its steps can fail by what the client does, or
// one of its expectations does not hold before the steps.

// stepsJudge reports whether a step of the part can fail by what the client does or gets: a
// fault must strike, and a program must succeed.
func (h *Part) stepsJudge(part string) bool {
	return part == ProgramPart || h.find(func(s *Step) bool { return s.Kind.judges }) != nil
}

// holdsAlready reports whether every expectation of the part holds now.
func (p *play) holdsAlready(ctx context.Context, part *Part) bool {
	return !slices.ContainsFunc(part.Expect, func(original Expectation) bool {
		e, err := filled[Expectation](p, original.node)
		return err != nil || e.Value.(looking).look(ctx, p) != nil
	})
}

// Warnings returns warnings about a valid scenario.
func (s *Scenario) Warnings() (all Problems) {
	for _, name := range Parts {
		part := s.Part(name)
		if part == nil || part.stepsJudge(name) || slices.ContainsFunc(part.Expect, isPositive) {
			continue
		}
		all = append(all, yamlfile.Problem{File: s.File, Line: part.Line, Field: name,
			Reason: fmt.Sprintf("every expectation holds before the first step: expect something that the %s must do", doers[name])})
	}
	return all
}

// isPositive reports whether an expectation is that something happens.
func isPositive(e Expectation) bool {
	n, ok := e.Value.(absenceChecker)
	return !ok || !n.expectsAbsence()
}

// doers names who must act in each part.
var doers = map[string]string{ClientPart: "client", KubernetesPart: "controller", ProgramPart: "program"}
