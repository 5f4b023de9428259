package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clbemu/clbemu/scenarios"
)

// observed holds the calls and the end of a play.
type observed struct {
	result  scenarios.Result
	calls   []Call
	lines   []Line
	omitted int
	waited  time.Duration
	retry   time.Duration // how long after a disturbance the client called again
	// states lists what has changed since the beginning, at each rest and at the end, by step.
	states [][]string
	// ingress has the kinds of the addresses that Services have, at each rest, by
	// namespace and name.
	ingress []map[string]map[string][]string
	steps   []uint64 // the journal's mark at the end of each step
	rests   []uint64 // the journal's mark at the end of each rest
	given   []string // what was there before the client, as a state has it
	// lost lists, for each rest and the end, the resources that stopped serving before it.
	lost [][]string
	// warning says of a cluster's play that the client fails at a rest.
	warning string
	// interfaces lists the network interfaces of the beginning.
	interfaces []string
	all        []Call // calls has those alone that disturbed plays make too
	ended      bool   // the program had ended on its own
	// flooded is true when there were more calls than the journal keeps.
	flooded bool
}

// play plays a scenario in its own place.
func (e *explorer) play(ctx context.Context, all composed, worker int) (*observed, error) {
	s, err := e.Load(e.File, []byte(all.text))
	if err != nil {
		return nil, fmt.Errorf("a play of the plan is no scenario: %w\n%s", err, all.text)
	}
	place, err := e.Open(ctx, worker)
	if err != nil {
		return nil, err
	}
	o, err := e.playAt(ctx, s, all, place, worker)
	return o, errors.Join(err, place.Close(context.WithoutCancel(ctx)))
}

func (e *explorer) playAt(ctx context.Context, s *scenarios.Scenario, all composed, place Place, worker int) (*observed, error) {
	patient := &patientTarget{Target: place}
	w := &watcher{explorer: e, observed: &observed{}, all: all, place: place, programs: &watchedPrograms{Programs: place, waited: &patient.waited}, serving: &scenarios.Serving{}}
	if w.before, w.err = place.State(ctx); w.err != nil {
		return nil, w.err
	}
	setup := scenarios.Setup{Target: patient, Programs: w.programs, Program: e.Program, For: time.Duration(e.subject.Within), MustCall: true, SkipIdle: true}
	if e.Env != nil {
		setup.Program.Env = e.Env(worker)
	}
	if e.Part == scenarios.KubernetesPart {
		w.cluster = e.Cluster(worker)
		setup.Cluster = w.cluster
	}
	if all.learns {
		setup.Looked = func(balancers []scenarios.LoadBalancerState, at time.Duration) { w.serving.Look(balancers, at) }
	}
	setup.Progress = func(done scenarios.StepDone) { w.step(ctx, done) }
	setup.AtStart = func(mark uint64) { w.start(ctx, mark) }
	setup.AtEnd = func(ctx context.Context, names map[string]string) { w.end(ctx, names, s.Values) }
	w.result = scenarios.Play(ctx, s, e.Part, setup)
	w.waited = patient.waited
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return w.observed, w.err
}

// watcher looks at a play while it goes on.
type watcher struct {
	*explorer
	*observed
	all      composed
	place    Place
	programs *watchedPrograms
	cluster  scenarios.Cluster // nil is none
	before   []string          // the state
	begin    uint64            // the journal's mark
	events   uint64            // the version of the newest Event
	serving  *scenarios.Serving
	err      error
}

// note keeps the first error of a look.
func (w *watcher) note(err error) {
	if w.err == nil {
		w.err = err
	}
}

// state returns what has changed since the beginning.
func (w *watcher) state(ctx context.Context) []string {
	now, err := w.place.State(ctx)
	w.note(err)
	return scenarios.Changed(w.before, now)
}

// start looks at the cloud before the client.
func (w *watcher) start(ctx context.Context, mark uint64) {
	w.begin = mark
	if !w.all.learns {
		return
	}
	w.given = w.state(ctx)
	for _, line := range slices.Concat(w.before, w.given) {
		if strings.HasPrefix(line, "NetworkInterface ") {
			w.interfaces = append(w.interfaces, line)
		}
	}
	if w.cluster != nil {
		var err error
		_, w.events, err = w.failing(ctx, w.cluster, 0)
		w.note(err)
	}
}

// step looks at what a step has led to.
func (w *watcher) step(ctx context.Context, done scenarios.StepDone) {
	mark, err := w.place.Mark(ctx)
	w.note(err)
	w.observed.steps = append(w.observed.steps, mark)
	if done.Kind != kindRest {
		return
	}
	w.rests = append(w.rests, mark)
	if w.all.during[len(w.rests)-1] {
		return
	}
	w.states = append(w.states, w.state(ctx))
	if w.cluster == nil {
		return
	}
	kinds, err := w.ingressOf(ctx, w.cluster)
	w.note(err)
	w.ingress = append(w.ingress, kinds)
	if w.all.learns {
		w.lost, w.serving = append(w.lost, w.serving.Lost()), &scenarios.Serving{}
		warning, newest, err := w.failing(ctx, w.cluster, w.events)
		w.note(err)
		if w.events = newest; warning != "" && w.warning == "" {
			w.warning = fmt.Sprintf("at rest %d, %s", len(w.rests), warning)
		}
	}
}

// end looks at the end.
func (w *watcher) end(ctx context.Context, names, values map[string]string) {
	w.ended = w.programs.ended(ctx)
	w.states = append(w.states, w.state(ctx))
	w.lost = append(w.lost, w.serving.Lost())
	for _, lists := range [][][]string{w.states, w.lost, {w.given}} {
		for _, list := range lists {
			named(list, names, values)
		}
	}
	calls, err := w.place.Calls(ctx, w.begin)
	if w.flooded = err != nil; w.flooded {
		return // more calls than the journal keeps, which the judge says
	}
	w.calls = w.callsOf(calls)
	w.lines, w.omitted = w.linesOf(calls)
	w.retry = w.retryIn(calls, w.rests)
}

// interfaceOf returns the line of the network interface of an address, or "" if there was none.
func (o *observed) interfaceOf(address string) string {
	if i := slices.IndexFunc(o.interfaces, func(line string) bool { return strings.Contains(line, strconv.Quote(address)) }); i >= 0 {
		return o.interfaces[i]
	}
	return ""
}

// attached reports whether it was attached to an instance.
func (o *observed) attached(address string) bool {
	return field(o.interfaceOf(address), "InstanceID") != ""
}

// primary reports whether it is an instance's own, which can't be detached.
func (o *observed) primary(address string) bool {
	return field(o.interfaceOf(address), "Type") == "Primary"
}

// ingressOf returns the kinds of the addresses that Services have, by namespace and name.
func (e *explorer) ingressOf(ctx context.Context, cluster scenarios.Cluster) (kinds map[string]map[string][]string, err error) {
	kinds = make(map[string]map[string][]string)
	for _, namespace := range e.namespaces() {
		in, kindsErr := scenarios.IngressKinds(ctx, cluster, namespace)
		kinds[namespace], err = in, errors.Join(err, kindsErr)
	}
	return kinds, err
}

// kindRest is the kind of the step that waits for rest.
const kindRest = "rest"

// named replaces the values that the part saved by their names, so that lines compare with those of
// other plays.
func named(lines []string, names, values map[string]string) {
	for i := range lines {
		for name, value := range names {
			if _, given := values[name]; !given && len(value) > 3 {
				lines[i] = strings.ReplaceAll(lines[i], value, "{{"+name+"}}")
			}
		}
	}
}

// patientTarget measures how long a play waits.
type patientTarget struct {
	scenarios.Target
	waited time.Duration
}

var _ scenarios.Target = (*patientTarget)(nil)

// Pass implements scenarios.Target.
func (p *patientTarget) Pass(ctx context.Context, d time.Duration) error {
	defer since(time.Now(), &p.waited)
	return p.Target.Pass(ctx, d)
}

// History lets scenarios see each change.
func (p *patientTarget) History(ctx context.Context, look func([]scenarios.LoadBalancerState, time.Time)) error {
	if h, ok := p.Target.(interface {
		History(context.Context, func([]scenarios.LoadBalancerState, time.Time)) error
	}); ok {
		return h.History(ctx, look)
	}
	all, err := p.Target.LoadBalancers(ctx, "")
	if err == nil {
		look(all, time.Now())
	}
	return err
}

func since(begin time.Time, sum *time.Duration) { *sum += time.Since(begin) }

// watchedPrograms remembers the program that it started last, and measures how long the
// play waits for it.
type watchedPrograms struct {
	scenarios.Programs
	last   scenarios.Running
	waited *time.Duration
}

var _ scenarios.Programs = (*watchedPrograms)(nil)

// Start implements scenarios.Programs.
func (w *watchedPrograms) Start(ctx context.Context, p scenarios.Program) (scenarios.Running, error) {
	r, err := w.Programs.Start(ctx, p)
	if err != nil {
		return nil, err
	}
	w.last = &awaited{r, w.waited}
	return w.last, nil
}

// awaited is a program for which a play waits.
type awaited struct {
	scenarios.Running
	waited *time.Duration
}

var _ scenarios.Running = (*awaited)(nil)

// Wait implements scenarios.Running.
func (a *awaited) Wait(ctx context.Context, most time.Duration) (ended bool, err error) {
	defer since(time.Now(), a.waited)
	return a.Running.Wait(ctx, most)
}

func (w *watchedPrograms) ended(ctx context.Context) bool {
	if w.last == nil {
		return false
	}
	over, err := w.last.Wait(ctx, 0)
	return over && err == nil
}
