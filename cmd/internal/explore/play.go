package explore

import (
	"context"
	"errors"
	"fmt"
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
	// states has what changed since the beginning, at each rest and at the end, by step.
	states [][]string
	// ingress has the kinds of the addresses that Services have, at each rest, by
	// namespace and name.
	ingress []map[string]map[string][]string
	steps   []uint64 // the journal's mark at the end of each step
	ended   bool     // the program had ended on its own
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
	o, err := e.playAt(ctx, s, all.during, place, worker)
	return o, errors.Join(err, place.Close(context.WithoutCancel(ctx)))
}

func (e *explorer) playAt(ctx context.Context, s *scenarios.Scenario, during map[int]bool, place Place, worker int) (*observed, error) {
	o := &observed{}
	patient := &patientTarget{Target: place}
	watched := &watchedPrograms{Programs: place, waited: &patient.waited}
	before, err := place.State(ctx)
	if err != nil {
		return nil, err
	}
	setup := scenarios.Setup{Target: patient, Programs: watched, Program: e.Program, For: time.Duration(e.subject.Within), MustCall: true, SkipIdle: true}
	if e.Env != nil {
		setup.Program.Env = e.Env(worker)
	}
	if e.Half == scenarios.KubernetesHalf {
		setup.Cluster = e.Cluster(worker)
	}
	look := func(ctx context.Context) {
		now, stateErr := place.State(ctx)
		err = errors.Join(err, stateErr)
		o.states = append(o.states, scenarios.Changed(before, now))
	}
	var rests []uint64 // the journal's mark at the end of each
	setup.Progress = func(done scenarios.StepDone) {
		mark, markErr := place.Mark(ctx)
		err = errors.Join(err, markErr)
		o.steps = append(o.steps, mark)
		if done.Kind == kindRest {
			rests = append(rests, mark)
		}
		if done.Kind == kindRest && !during[len(rests)-1] {
			look(ctx)
			if setup.Cluster != nil {
				kinds, kindsErr := e.ingressOf(ctx, setup.Cluster)
				err = errors.Join(err, kindsErr)
				o.ingress = append(o.ingress, kinds)
			}
		}
	}
	begin := uint64(0)
	setup.AtStart = func(mark uint64) { begin = mark }
	setup.AtEnd = func(ctx context.Context, names map[string]string) {
		o.ended = watched.ended(ctx)
		look(ctx)
		for i := range o.states {
			o.states[i] = named(o.states[i], names, s.Values)
		}
		calls, callsErr := place.Calls(ctx, begin)
		if o.flooded = callsErr != nil; o.flooded {
			return // more calls than the journal keeps, which the judge says
		}
		o.calls = e.callsOf(calls)
		o.lines, o.omitted = e.linesOf(calls)
		o.retry = e.retryIn(calls, rests)
	}
	o.result = scenarios.Play(ctx, s, e.Half, setup)
	o.waited = patient.waited
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return o, err
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

// named puts the names of what the half saved in place of their values, in lines that
// compare with those of other plays.
func named(lines []string, names, values map[string]string) []string {
	for i := range lines {
		for name, value := range names {
			if _, given := values[name]; !given && len(value) > 3 {
				lines[i] = strings.ReplaceAll(lines[i], value, "{{"+name+"}}")
			}
		}
	}
	return lines
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
