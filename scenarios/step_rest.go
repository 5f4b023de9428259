package scenarios

import (
	"cmp"
	"context"
	"slices"
	"time"
)

var restKind = kind[restStep](Kind{Name: "rest", About: "Wait until the program has ended, or the client has made no call for this long.",
	notClient: "a scripted client rests when its steps are over"})

// restStep is a wait for the client to come to rest.
type restStep struct {
	Quiet  Duration `yaml:"quiet" required:"true" doc:"How long the client must make no call."`
	Within Duration `yaml:"within" doc:"The longest wait; 5m if absent."`
	Polls  NameList `yaml:"polls" doc:"Actions that the client calls again and again at rest: such a call that succeeds does not count. * stands for each call that was made twice before, with the same parameters."`
	After  Duration `yaml:"after" doc:"How long to watch a client that rests and still runs. When it calls then, it must come to rest again."`
	// Disturbed keeps a client in its back-off from looking like one at rest.
	Disturbed *disturbed `yaml:"disturbed" doc:"What a disturbed client must do first."`
}

// disturbed says when a client disturbed since its last rest is at rest again.
type disturbed struct {
	By    NameList `yaml:"by" required:"true" doc:"The fault rules that disturb it."`
	Quiet Duration `yaml:"quiet" required:"true" doc:"How long it must make no call once one of them has struck, or a call was refused. Longer than its first back-off."`
	Again bool     `yaml:"again" doc:"true: it must have called again since, and since it was started; or within is over."`
}

func (r *restStep) title() string { return "wait for rest" }

func (r *restStep) do(ctx context.Context, p *play, _ *Step) error {
	polls := polling{of: r.Polls}
	if err := r.wait(ctx, p, &polls); err != nil || r.After == 0 {
		return err
	}
	last, calls := p.restedAt, false
	for passed := time.Duration(0); passed < time.Duration(r.After); passed += watchEvery {
		over, pause, err := p.ended(ctx)
		if over || err != nil {
			return err
		}
		passed += pause
		if err := p.advance(ctx, watchEvery); err != nil {
			return err
		}
		journal, err := p.Target.Calls(ctx, last)
		if err != nil {
			return err
		}
		for _, c := range journal {
			last = c.Sequence
			calls = p.judged(c) && !polls.has(c) || calls
		}
	}
	if !calls {
		return nil
	}
	return r.wait(ctx, p, &polls)
}

// watchEvery is the pause between two looks at a client that rests.
const watchEvery = 500 * time.Millisecond

// polling tells the calls that a client makes again and again from the others.
type polling struct {
	of   NameList
	made map[string]int // by what they ask, since the last that failed
}

// has reports whether a call is a poll, which counts for nothing. It counts repetitions: pass each
// call once.
func (s *polling) has(c JournalCall) bool {
	switch {
	case c.Code != "" || len(c.Faults) > 0:
		s.made = nil
		return false
	case !slices.Contains(s.of, everyPoll):
		return slices.Contains(s.of, c.Action)
	case s.made == nil:
		s.made = make(map[string]int)
	}
	asks := c.Action
	for _, name := range sortedKeys(c.Params) {
		asks += "\x00" + name + "=" + c.Params[name]
	}
	s.made[asks]++
	return s.made[asks] >= pollsFrom
}

// everyPoll stands for each call that repeats, from the third on.
const (
	everyPoll = "*"
	pollsFrom = 3
)

// wait waits until the client rests.
func (r *restStep) wait(ctx context.Context, p *play, polls *polling) error {
	within := cmp.Or(time.Duration(r.Within), defaultRest)
	last, err := p.Target.Mark(ctx)
	if err != nil {
		return err
	}
	debt, err := p.restStateOf(ctx, r)
	if err != nil {
		return err
	}
	begun := p.hasCalled(ctx)
	silence := time.Duration(0)
	for passed := time.Duration(0); ; passed, silence = passed+lookEvery, silence+lookEvery {
		if !begun && passed < firstCall {
			silence = 0 // a program that starts makes no call yet
		}
		over, pause, err := p.ended(ctx)
		if err != nil {
			return err
		}
		if over {
			p.rested, p.restedAt = true, last
			return nil
		}
		passed += pause
		calls, err := p.Target.Calls(ctx, last)
		if err != nil {
			return err
		}
		for _, c := range calls {
			last = c.Sequence
			if debt.observe(p, c); !p.judged(c) {
				continue
			}
			if begun = true; !polls.has(c) {
				silence = 0
			}
		}
		quiet, owes, err := debt.remaining(ctx, p)
		switch {
		case err != nil:
			return err
		case silence >= quiet && (!owes || passed >= within):
			p.rested, p.restedAt = true, last
			return nil
		case passed >= within:
			return &Unmet{Expected: "no call for " + Duration(quiet).String() + " within " + Duration(within).String(), Seen: "that the client still calls"}
		}
		if err := p.advance(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// hasCalled reports whether the client has made a call since the part began, also so many
// that the journal forgot some.
func (p *play) hasCalled(ctx context.Context) bool {
	calls, err := p.Target.Calls(ctx, p.marks[""])
	return err != nil || slices.ContainsFunc(calls, p.judged)
}

// restState lists the calls that a disturbed client owes before it is at rest.
type restState struct {
	rest      *restStep
	disturbed bool   // since the last rest
	retried   bool   // it has called since
	faulted   uint64 // in the journal since the part began
}

// restStateOf reads what has happened since the last rest. A journal that forgot some of it
// tells nothing.
func (p *play) restStateOf(ctx context.Context, r *restStep) (*restState, error) {
	d := &restState{rest: r}
	if r.Disturbed == nil {
		return d, nil
	}
	calls, err := p.Target.Calls(ctx, p.marks[""])
	for _, c := range calls {
		d.observe(p, c)
	}
	return d, err
}

// observe regards a call.
func (d *restState) observe(p *play, c JournalCall) {
	if d.rest.Disturbed == nil {
		return
	}
	struck := slices.ContainsFunc(c.Faults, func(name string) bool { return slices.Contains(d.rest.Disturbed.By, name) })
	if struck {
		d.faulted++
	}
	switch {
	case c.Sequence <= p.restedAt || !p.judged(c):
	case struck:
		d.disturbed, d.retried = true, false
	default:
		d.disturbed = d.disturbed || c.Code != ""
		d.retried = d.retried || c.Sequence > p.startedAt
	}
}

// remaining returns how long the client must make no call, and whether it must call first. A call
// that hangs is in no journal yet.
func (d *restState) remaining(ctx context.Context, p *play) (quiet time.Duration, owes bool, err error) {
	quiet = time.Duration(d.rest.Quiet)
	if d.rest.Disturbed == nil {
		return quiet, false, nil
	}
	if err := p.count(ctx); err != nil {
		return quiet, false, err
	}
	hits := uint64(0)
	for _, w := range p.watched {
		if slices.Contains(d.rest.Disturbed.By, w.name) {
			hits += w.hits
		}
	}
	hangs := hits > d.faulted
	if d.disturbed || hangs {
		quiet = max(quiet, time.Duration(d.rest.Disturbed.Quiet))
	}
	return quiet, d.rest.Disturbed.Again && (hangs || d.disturbed && !d.retried), nil
}
