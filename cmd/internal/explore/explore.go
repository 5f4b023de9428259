package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clbemu/clbemu/emulator/glob"
	"github.com/clbemu/clbemu/scenarios"
)

// Place is a cloud that begins as every other does, plays once, and goes.
type Place interface {
	scenarios.Target
	scenarios.Programs
	Close(ctx context.Context) error
}

// Config says what to explore.
type Config struct {
	// File names the scenario, and Text is its text.
	File string
	Text []byte
	// Part is the part to play, and Program the program that it is about, if any.
	Part    string
	Program scenarios.Program
	// Depth is the number of disturbances of a play, 1 or 2.
	Depth int
	// Parallel is the number of plays at a time.
	Parallel int
	// Plays limits the number of plays, 0 does not; Seed chooses them.
	Plays int
	Seed  uint64
	// Calls selects the actions to disturb, and Disturbances what to try, by name or kind. Nil
	// selects all. With Calls, nothing happens at rest.
	Calls, Disturbances glob.List
	// First stops the exploration at the first violation.
	First bool
	// Open returns a place for a worker, from 0 on, and the worker's cluster, if any.
	Open func(ctx context.Context, worker int) (Place, error)
	// Cluster returns the cluster of a worker.
	Cluster func(worker int) scenarios.Cluster
	// Env holds what a worker's program gets in addition to the place's variables.
	Env func(worker int) map[string]string
	// Load reads a scenario.
	Load func(file string, text []byte) (*scenarios.Scenario, error)
	// Actions lists the actions of the cloud.
	Actions []scenarios.Action
	// Refusals lists the codes with which the state can make an action fail.
	Refusals func(action string) []string
	// Conditions go on and off again.
	Conditions []Condition
	// Done holds the outcomes of an earlier run, by id.
	Done map[string]Outcome
	// Record, if set, keeps an outcome as it comes.
	Record func(Outcome) error
	// Progress, if set, hears of each play.
	Progress func(Progress)
}

// Progress tells how far an exploration has come.
type Progress struct {
	Done, Total, Violations int
	Passed, Left            time.Duration
	// Last is the play that ended last.
	Last Outcome
}

// Verdict says how a play ended.
type Verdict string

// The verdicts.
const (
	Fine     Verdict = "fine"
	Violated Verdict = "violated"
	Known    Verdict = "known"  // a violation that the scenario names
	Idle     Verdict = "idle"   // the disturbance did not happen
	Broken   Verdict = "broken" // the play could not run
)

// Outcome describes how one play ended.
type Outcome struct {
	ID           string        `json:"id"`
	Disturbances []Disturbance `json:"disturbances"`
	Verdict      Verdict       `json:"verdict"`
	Rule         string        `json:"rule,omitempty"`
	Expected     string        `json:"expected,omitempty"`
	Seen         string        `json:"seen,omitempty"`
	// Missing and Extra are the lines of a state that differs.
	Missing []string `json:"missing,omitempty"`
	Extra   []string `json:"extra,omitempty"`
	// Retry is the time in seconds from the disturbance until the client called again.
	Retry float64 `json:"retry,omitempty"`
	// Why is the reason of a known violation, or why the play could not run.
	Why     string  `json:"why,omitempty"`
	Seconds float64 `json:"seconds"`
	// Waited is the part of Seconds in which the play waited for the client.
	Waited float64 `json:"waited,omitempty"`
	// Scenario plays a violation.
	Scenario string `json:"scenario,omitempty"`
	// Went has the calls of a play that may become the first half of a pair, Trace is equal
	// for plays that went the same way, and Rests counts the rests before the disturbance.
	Went  []Call `json:"went,omitempty"`
	Trace string `json:"trace,omitempty"`
	Rests int    `json:"rests,omitempty"`
	// Journal has the calls of the play, but for so many that are Omitted.
	Journal []Line `json:"journal,omitempty"`
	Omitted int    `json:"omitted,omitempty"`
}

// Report is the result of an exploration.
type Report struct {
	Scenario string `json:"scenario"`
	Part     string `json:"part"`
	Client   string `json:"client"`
	Depth    int    `json:"depth"`
	Seed     uint64 `json:"seed"`
	// Calls are the calls of the undisturbed play, and Varying the ones that only one of two
	// such plays made.
	Calls    []Call    `json:"calls"`
	Varying  []Call    `json:"varying,omitempty"`
	Outcomes []Outcome `json:"outcomes"`
	// Findings lists the violations, with alike ones together, each made minimal.
	Findings []Finding `json:"findings"`
	// Polls are the reads that the client repeats at rest.
	Polls []string `json:"polls,omitempty"`
	// Planned counts the plays that the plan has, and Stopped says why it did not make all.
	Planned int `json:"planned"`
	// Quiet is for how many seconds a disturbed client made no call when it was at rest.
	Quiet   float64 `json:"quiet"`
	Stopped string  `json:"stopped,omitempty"`
	Seconds float64 `json:"seconds"`
}

// Finding is a violation with everything that leads to it.
type Finding struct {
	Rule     string   `json:"rule"`
	About    string   `json:"about"`
	Expected string   `json:"expected"`
	Seen     string   `json:"seen"`
	Missing  []string `json:"missing,omitempty"`
	Extra    []string `json:"extra,omitempty"`
	Plays    []string `json:"plays"`
	Known    string   `json:"known,omitempty"`
	// Scenario plays it.
	Scenario string `json:"scenario"`
}

// New counts the findings that are not known.
func (r *Report) New() (n int) {
	for _, f := range r.Findings {
		if f.Known == "" {
			n++
		}
	}
	return n
}

// Late returns the play in which the client called again last, if that was later than a client at
// rest is quiet: other plays may have judged it too early. It returns nil if there is none.
func (r *Report) Late() (late *Outcome) {
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.Retry > r.Quiet && (late == nil || o.Retry > late.Retry) {
			late = o
		}
	}
	return late
}

// Undisturbed is the error of a scenario that fails before any disturbance.
type Undisturbed struct{ Result scenarios.Result }

func (e *Undisturbed) Error() string {
	return fmt.Sprintf("%s fails undisturbed: make it pass first\n%s", e.Result.Scenario, e.Result.Failure)
}

// explorer is an exploration that runs.
type explorer struct {
	Config
	scenario *scenarios.Scenario
	subject  subject
	base     *observed
	actions  map[string]scenarios.Action
	begin    time.Time

	mu       sync.Mutex
	outcomes []Outcome
}

// subject holds what all plays share.
type subject struct {
	scenarios.Explore
	part    string
	program bool // a program is the client
	ends    bool // it ends on its own
	// polls are the reads that it repeats at rest, which count for nothing, and every is the
	// longest time between two; restless is a cluster's client that seems to have such reads.
	polls    []string
	every    time.Duration
	restless bool
}

// Run explores. A context that ends stops it: the report has the results so far.
func Run(ctx context.Context, c Config) (*Report, error) {
	e := &explorer{Config: c, actions: make(map[string]scenarios.Action), begin: time.Now()}
	for _, a := range c.Actions {
		e.actions[a.Product+" "+a.Name] = a
	}
	report, err := e.run(ctx)
	if report != nil {
		report.Seconds = time.Since(e.begin).Seconds()
	}
	return report, err
}

func (e *explorer) run(ctx context.Context) (*Report, error) {
	var err error
	if e.scenario, err = e.Load(e.File, e.Text); err != nil {
		return nil, err
	}
	part := e.scenario.Part(e.Part)
	if part == nil {
		return nil, fmt.Errorf("%s has no %s part", e.scenario.Name, e.Part)
	}
	if len(e.Program.Command) == 0 {
		e.Program.Command = part.Command
	}
	e.subject = subject{Explore: e.scenario.Explore.WithDefaults(e.Part), part: e.Part, program: e.Part != scenarios.ClientPart}
	report := &Report{Scenario: e.scenario.Name, Part: e.Part, Client: e.Program.String(), Depth: e.Depth, Seed: e.Seed, Quiet: time.Duration(e.subject.Quiet).Seconds()}
	if !e.subject.program {
		report.Client = scenarios.ScriptedClient
	}
	if err := e.undisturbed(ctx, report); err != nil {
		return nil, err
	}
	if err := e.judgeUndisturbed(ctx); err != nil {
		return nil, err
	}
	plan := e.plan()
	if len(plan) == 0 && (e.Calls != nil || e.Disturbances != nil) {
		return nil, e.nothingToTry()
	}
	first := e.sample(plan)
	report.Planned = len(e.outcomes) + len(first)
	err = e.playAll(ctx, first, len(e.outcomes))
	if e.Depth > 1 && err == nil && ctx.Err() == nil {
		pairs := e.pairs()
		if e.Plays > 0 {
			pairs = e.sample(pairs)[:min(len(pairs), max(e.Plays-len(first), 0))]
		}
		report.Planned += len(pairs)
		err = e.playAll(ctx, pairs, report.Planned-len(pairs))
	}
	if ctx.Err() != nil {
		report.Stopped = interrupted
	}
	if err != nil {
		report.Stopped = err.Error()
	}
	slices.SortFunc(e.outcomes, func(a, b Outcome) int { return strings.Compare(a.ID, b.ID) })
	report.Outcomes = e.outcomes
	report.Findings = e.findings(ctx)
	return report, nil
}

// undisturbed plays twice without a disturbance, and learns what a disturbed play is
// judged by.
func (e *explorer) undisturbed(ctx context.Context, report *Report) error {
	var seen [2]*observed
	for i := range seen {
		var err error
		if seen[i], err = e.playUndisturbed(ctx); err != nil {
			return err
		}
	}
	e.base = seen[0]
	e.subject.ends = e.base.ended
	e.base.all = e.base.calls
	var varying []Call
	e.base.calls, varying = inBoth(seen[0].calls, seen[1].calls)
	if e.subject.polls, e.subject.every = pollsOf(seen[0]); e.subject.polls != nil {
		e.base.calls = withoutRounds(e.base.calls, e.subject.polls)
		varying = slices.DeleteFunc(varying, func(c Call) bool { return slices.Contains(e.subject.polls, c.Action) })
	}
	report.Calls, report.Varying, report.Polls = e.base.calls, varying, e.subject.polls
	report.Quiet = max(report.Quiet, (roundsOfRest * e.subject.every).Seconds())
	if len(seen[0].calls) == 0 {
		return errors.New("the client makes no call: does it take its endpoint and its key from the environment, as clbemu env has it?")
	}
	return e.compareUndisturbed(seen[0], seen[1])
}

// playUndisturbed plays without a disturbance. What ends in an error is no measure.
func (e *explorer) playUndisturbed(ctx context.Context) (*observed, error) {
	all, err := e.compose(nil, false)
	if err != nil {
		return nil, err
	}
	seen, err := e.play(ctx, all, 0)
	if err != nil {
		return nil, err
	}
	if seen.result.Status != scenarios.Passed {
		if f := seen.result.Failure; e.Part == scenarios.KubernetesPart && !e.subject.restless && f != nil && f.Unmet != nil && f.Unmet[0].Kind == kindRest {
			e.subject.restless = true // it may poll
			return e.playUndisturbed(ctx)
		}
		return nil, &Undisturbed{seen.result}
	}
	if why := cmp.Or(seen.warning, seen.unsettled()); why != "" && e.subject.program && !slices.Contains(e.subject.Off, ruleEnds) {
		return nil, &Unsettled{e.scenario.Name, why}
	}
	return seen, nil
}

// compareUndisturbed compares two undisturbed plays: what varies can't be judged.
func (e *explorer) compareUndisturbed(a, b *observed) error {
	for i := range min(len(a.states), len(b.states)) {
		if d := scenarios.Changed(a.states[i], b.states[i]); d != nil {
			where := "at the end"
			if i < len(a.states)-1 {
				where = fmt.Sprintf("at rest %d", i+1)
			}
			return fmt.Errorf("two undisturbed plays differ %s, so that no play can be judged there; if the client was not done yet, give `rest` and `explore` a longer quiet:\n  %s", where, strings.Join(d, "\n  "))
		}
	}
	for i := range min(len(a.lost), len(b.lost)) {
		e.base.lost[i] = slices.Compact(slices.Sorted(slices.Values(slices.Concat(a.lost[i], b.lost[i]))))
	}
	e.base.ingress = e.base.ingress[:min(len(a.ingress), len(b.ingress))]
	for i, namespaces := range e.base.ingress {
		for namespace, kinds := range namespaces { // what varies is not judged
			maps.DeleteFunc(kinds, func(name string, is []string) bool { return !slices.Equal(is, b.ingress[i][namespace][name]) })
		}
	}
	return nil
}

// judgeUndisturbed plays without a disturbance once more. What a rule finds then is no
// consequence of any: it is a program's violation once, and the other plays leave that
// rule out. A script does as it says.
func (e *explorer) judgeUndisturbed(ctx context.Context) error {
	for range ranks {
		o, err := e.try(ctx, nil, 0)
		if err != nil || o.Verdict == Fine {
			return err
		}
		if o.Verdict == Broken {
			return fmt.Errorf("the undisturbed play could not run: %s", o.Why)
		}
		e.subject.Off = append(slices.Clone(e.subject.Off), o.Rule)
		if e.subject.program {
			e.outcomes = append(e.outcomes, o)
		}
	}
	return nil
}

// playAll plays a list, several at a time.
func (e *explorer) playAll(ctx context.Context, plays []planned, before int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan planned)
	var workers sync.WaitGroup
	for worker := range max(e.Parallel, 1) {
		workers.Go(func() {
			for p := range next {
				o, ok := e.Done[p.id()]
				if !ok {
					var err error
					if o, err = e.try(ctx, p, worker); err != nil {
						cancel(err)
						continue
					}
				}
				if err := e.keep(o, !ok, before+len(plays)); err != nil {
					cancel(err)
				}
				if e.First && o.Verdict == Violated {
					cancel(nil)
				}
			}
		})
	}
	for _, p := range plays {
		select {
		case next <- p:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	workers.Wait()
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// keep adds an outcome to those known.
func (e *explorer) keep(o Outcome, fresh bool, total int) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.outcomes = append(e.outcomes, o)
	if e.Progress != nil {
		p := Progress{Done: len(e.outcomes), Total: total, Passed: time.Since(e.begin), Last: o}
		for _, o := range e.outcomes {
			if o.Verdict == Violated {
				p.Violations++
			}
		}
		p.Left = e.left(total)
		e.Progress(p)
	}
	if fresh && e.Record != nil {
		return e.Record(o)
	}
	return nil
}

// left estimates how long the other plays take, by those that were made.
func (e *explorer) left(total int) time.Duration {
	seconds := 0.0
	for i := range e.outcomes {
		seconds += e.outcomes[i].Seconds
	}
	done := len(e.outcomes)
	return time.Duration(seconds / float64(done) * float64(total-done) / float64(max(e.Parallel, 1)) * float64(time.Second))
}

// try makes one planned play.
func (e *explorer) try(ctx context.Context, p planned, worker int) (Outcome, error) {
	begin := time.Now()
	o := Outcome{ID: p.id(), Disturbances: p}
	all, err := e.compose(p, true)
	if err != nil {
		return o, err
	}
	seen, err := e.play(ctx, all, worker)
	if err == nil && p.ofConditions() {
		if code := refusedWith(seen.result); code != "" {
			for i := range p {
				p[i].refused = code
			}
			if all, err = e.compose(p, true); err == nil {
				seen, err = e.play(ctx, all, worker)
			}
		}
	}
	if err != nil {
		return o, err
	}
	e.judge(&o, seen)
	o.Seconds, o.Waited = time.Since(begin).Seconds(), seen.waited.Seconds()
	o.Journal, o.Omitted = seen.lines, seen.omitted
	if !p.hangs() {
		o.Retry = seen.retry.Seconds()
	}
	if o.Verdict == Violated || o.Verdict == Known {
		o.Scenario = all.text
	}
	if e.Depth > 1 && len(p) == 1 {
		o.Went = seen.calls
		o.Trace, o.Rests = seen.since(p)
	}
	return o, nil
}
