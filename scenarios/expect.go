package scenarios

import (
	"context"
	"errors"
	"time"

	"go.yaml.in/yaml/v3"
)

var expectKind = kind[Expectations](Kind{Name: "expect", About: "The expectations at this moment.", judges: true})

// Expectations are expectations as a step.
type Expectations []Expectation

func (e Expectations) title() string {
	if len(e) == 1 {
		return e[0].title()
	}
	return ""
}

func (e Expectations) holds() ([]Step, []Expectation)      { return nil, e }
func (e Expectations) check(c *checker, at spot, in scope) { c.expectations(e, at.path, in) }

func (e Expectations) do(ctx context.Context, p *play, _ *Step) error {
	return p.expectAll(ctx, e, func(*Expectation, bool) {})
}

// expect holds an expectation: now, within a time, or for a time.
func (p *play) expect(ctx context.Context, e *Expectation) error {
	limit := time.Duration(max(e.Within, e.For))
	for passed := time.Duration(0); ; {
		over, pause, err := p.ended(ctx)
		if err != nil {
			return err
		}
		passed += pause
		gone := e.For == 0 && over
		if gone && !e.Kind.ofCloud { // the cloud may still be at work
			limit = passed
		}
		err = e.Value.(looking).look(ctx, p)
		u := (*Unmet)(nil)
		differs := errors.As(err, &u)
		if err != nil && !differs {
			return err
		}
		if decided, err := e.decided(u, passed, limit); decided {
			return err
		}
		if differs {
			p.waiting(passed, limit, "saw "+u.Seen)
		} else {
			p.waiting(passed, limit, "as it should be so far")
		}
		pause = pauseFor(limit)
		if e.For == 0 {
			pause = poll(passed, limit)
		}
		if gone && p.SkipIdle {
			err = p.Target.SetClock(ctx, pause, nil)
		} else {
			err = p.advance(ctx, pause)
		}
		if err != nil {
			return err
		}
		passed += pause
	}
}

// decided reports whether a look decides, after a time and with a limit, and how: u is the
// difference that it saw, nil for none.
func (e *Expectation) decided(u *Unmet, passed, limit time.Duration) (bool, error) {
	over := passed >= limit
	switch {
	case u == nil:
		return e.For == 0 || over, nil
	case e.For > 0:
		return true, u.after(" for "+e.For.String(), " after "+passed.String())
	case over && e.Within > 0:
		return true, u.after(" within "+e.Within.String(), "")
	}
	return over, u
}

// poll returns the pause before the next look at something that may take until a limit. It is short
// at first: most expected things come soon.
func poll(passed, limit time.Duration) time.Duration {
	return min(max((passed/4).Truncate(lookEvery), firstLook), pauseFor(limit), max(limit-passed, lookEvery))
}

// firstLook is the shortest such pause, which leaves time for kubectl.
const firstLook = 100 * time.Millisecond

// pauseFor returns the pause between two looks at something that may take as long as d.
func pauseFor(d time.Duration) time.Duration {
	return min(max(d/60, 200*time.Millisecond), 10*time.Second)
}

// expectAll holds all of a list, and reports all that do not hold. After one that
// does not, time has run out for the others too: each gets one look.
func (p *play) expectAll(ctx context.Context, list []Expectation, over func(*Expectation, bool)) error {
	var not unmet
	for i := range list {
		e, err := filled[Expectation](p, list[i].node)
		if err != nil {
			return err
		}
		if not != nil {
			e.Within, e.For = 0, 0
		}
		err = p.expect(ctx, e)
		u := (*Unmet)(nil)
		switch differs := errors.As(err, &u); {
		case differs:
			u.Line, u.Kind, u.Step, u.Of = list[i].Line, e.Kind.Name, e.title(), e
			not = append(not, *u)
		case err != nil && not == nil:
			return err
		}
		if err == nil && p.Held != nil {
			p.Held(list[i].node, func(other *yaml.Node) bool { return p.holds(ctx, other) })
		}
		over(e, err == nil)
	}
	if not == nil {
		return nil
	}
	return not
}

// holds reports whether an expectation holds now.
func (p *play) holds(ctx context.Context, text *yaml.Node) bool {
	e, err := filled[Expectation](p, text)
	if err != nil {
		return false
	}
	e.Within, e.For = 0, 0
	return p.expect(ctx, e) == nil
}

// judged reports whether a call is from the client that the part is about. Where a
// client part runs programs, they and its script are one client.
func (p *play) judged(call JournalCall) bool {
	switch {
	case call.UserAgent == ObserverAgent:
		return false
	case p.part == ClientPart:
		return call.UserAgent == ClientAgent || p.scenario.RunsPrograms(p.part)
	}
	return call.UserAgent != ClientAgent
}
