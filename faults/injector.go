package faults

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Status is a rule with what became of it.
type Status struct {
	Rule Rule
	// Text, if set, is the rule as it is kept.
	Text string
	// Since is the emulated time at which the rule was set.
	Since time.Time
	// Seen counts the calls that the rule matched at its point, and Hits those that it struck.
	Seen, Hits uint64
}

// Spent reports whether a rule has affected as many calls as it may.
func (s Status) Spent() bool { return s.Rule.When.Times > 0 && s.Hits >= s.Rule.When.Times }

// Verdict is the decision about a call.
type Verdict struct {
	Rule   string
	Point  Point
	effect Value
	by     chances
}

// Strike does to the call what the rule says.
func (v Verdict) Strike(call Call) { v.effect.(onCall).apply(call, v.by) }

// Afflict does to packets what the rule says.
func (v Verdict) Afflict(packets Packets) { v.effect.(onPackets).applyPackets(packets) }

// Injector holds rules and evaluates them. Its zero value has none.
type Injector struct {
	// asked are the points that have rules; nil is none.
	asked atomic.Pointer[map[Point]bool]
	// changing is held while rules are changed where they are kept and here, and
	// shared by calls from their decision until it is recorded: a count that was
	// decided before a change is kept before it.
	changing sync.RWMutex

	mu   sync.Mutex
	list []*activeRule
	// candidates holds the rules that can concern an action at a point, found on the
	// first request. Most rules are about other actions.
	candidates map[candidate][]*activeRule
	// Record, if set, gets every rule whose counters changed, before the verdict is
	// returned, so that the counters survive a crash that the verdict causes. It may be
	// called concurrently, and so with an older count after a newer.
	Record func(Status)
	// Changed, if set, is called after the rules were set.
	Changed func()
}

// activeRule is a rule at work.
type activeRule struct {
	Status
	match compiled
	only  Calls
	left  allowance
}

type candidate struct {
	point  Point
	action string
}

// maxCandidates bounds what is remembered of actions, which clients name.
const maxCandidates = 500

// Change runs change, which may set the rules, while no call is decided.
func (e *Injector) Change(change func()) {
	e.changing.Lock()
	defer e.changing.Unlock()
	change()
}

// Set replaces all rules, in order, with the counters that they come with. Two
// rules of one name are refused.
func (e *Injector) Set(list []Status) error {
	armedList := make([]*activeRule, len(list))
	names := make(map[string]bool, len(list))
	for i, s := range list {
		if err := s.Rule.validate(); err != nil {
			return err
		}
		if names[s.Rule.Name] {
			return fmt.Errorf("there are two rules called %s", s.Rule.Name)
		}
		names[s.Rule.Name] = true
		armedList[i] = &activeRule{Status: s, match: s.Rule.Match.compile(), only: s.Rule.Effect.Kind().Only}
	}
	e.replace(armedList)
	if e.Changed != nil {
		e.Changed()
	}
	return nil
}

func (e *Injector) replace(list []*activeRule) {
	asked := make(map[Point]bool)
	for _, a := range list {
		if !a.Rule.Disabled {
			asked[a.Rule.Point()] = true
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list, e.candidates = list, make(map[candidate][]*activeRule)
	e.asked.Store(&asked)
}

// Rules lists the rules in order, spent ones too.
func (e *Injector) Rules() []Status {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := make([]Status, len(e.list))
	for i, a := range e.list {
		list[i] = a.Status
	}
	return list
}

// Idle reports whether no rule has the point, at the cost of one load if there are no rules at all.
func (e *Injector) Idle(point Point) bool {
	asked := e.asked.Load()
	return asked == nil || len(*asked) == 0 || !(*asked)[point]
}

// Holds reports whether the first rule of a point that matches is in force now, without
// counting it.
func (e *Injector) Holds(point Point, r Request, now time.Time) bool {
	if e.Idle(point) {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, a := range e.about(point, r.Action) {
		if a.eligible(r, now) {
			return a.applies(now)
		}
	}
	return false
}

// Wants reports whether a rule of the point matches the call and could strike it,
// without counting it.
func (e *Injector) Wants(point Point, call Request, now time.Time) bool {
	if e.Idle(point) {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.ContainsFunc(e.about(point, call.Action), func(a *activeRule) bool { return a.eligible(call, now) })
}

// about returns the rules of a point that can concern an action and are not spent, as
// far as that is known, in order. The lock is held.
func (e *Injector) about(point Point, action string) []*activeRule {
	key := candidate{point, action}
	list, known := e.candidates[key]
	if !known {
		for _, a := range e.list {
			if !a.Rule.Disabled && a.Rule.Point() == point && a.match.concerns(action) {
				list = append(list, a)
			}
		}
		if len(e.candidates) >= maxCandidates {
			clear(e.candidates)
		}
	}
	spent := 0
	for spent < len(list) && list[spent].Spent() {
		spent++
	}
	if !known || spent > 0 {
		key.action = strings.Clone(action) // which is a part of a request
		e.candidates[key] = list[spent:]
	}
	return list[spent:]
}

// concerns reports whether there is a rule of the point about the action.
func (e *Injector) concerns(point Point, action string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.about(point, action)) > 0
}

// eligible reports whether the rule is the one to decide about a call, if none before
// it is.
func (a *activeRule) eligible(call Request, now time.Time) bool {
	return !a.Spent() && a.within(now) && a.only.include(call) && a.match.matches(call)
}

// At asks the rules of a point about a call: the first that matches decides
// whether it strikes.
func (e *Injector) At(point Point, call Request, now time.Time) (Verdict, bool) {
	if e.Idle(point) || !e.concerns(point, call.Action) {
		return Verdict{}, false
	}
	e.changing.RLock()
	defer e.changing.RUnlock()
	verdict, status, asked := e.decide(point, call, now)
	if asked && e.Record != nil {
		e.Record(status)
	}
	return verdict, verdict.Rule != ""
}

// decide evaluates the rules and counts. The verdict is empty if no rule affects the call.
func (e *Injector) decide(point Point, call Request, now time.Time) (verdict Verdict, status Status, asked bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, a := range e.about(point, call.Action) {
		if !a.eligible(call, now) {
			continue
		}
		a.Seen++
		if a.due() && a.applies(now) {
			a.Hits++
			verdict = Verdict{Rule: a.Rule.Name, Point: point, effect: a.Rule.Effect.Value, by: a.chances()}
		}
		return verdict, a.Status, true
	}
	return Verdict{}, Status{}, false
}

// within reports whether the call is in the window of time.
func (a *activeRule) within(now time.Time) bool {
	w := a.Rule.When
	age := now.Sub(a.Since)
	return age >= time.Duration(w.After) && (w.For == 0 || age < time.Duration(w.After+w.For))
}

// due asks the schedule about the call that was just counted.
func (a *activeRule) due() bool {
	w := a.Rule.When
	if a.Seen <= w.Skip {
		return false
	}
	n := a.Seen - w.Skip
	if w.Every > 1 && n%w.Every != 0 {
		return false
	}
	return w.Probability == nil || a.chances().draw(0) < *w.Probability
}

// applies reports whether the effect applies now, if it comes and goes.
func (a *activeRule) applies(now time.Time) bool {
	r, ok := a.Rule.Effect.Value.(intermittent)
	return !ok || r.applies(&a.left, now.Sub(a.Since)-time.Duration(a.Rule.When.After), now)
}

// chances holds the chances of one call.
type chances struct {
	seed, seen uint64
	rule       string
}

func (a *activeRule) chances() chances { return chances{a.Rule.When.Seed, a.Seen, a.Rule.Name} }

// draw returns a number from 0 to 1 that depends on the seed, the rule and the
// count of the call alone, so that a run can be repeated.
func (c chances) draw(number byte) float64 {
	var in [17]byte
	binary.BigEndian.PutUint64(in[:8], c.seed)
	binary.BigEndian.PutUint64(in[8:16], c.seen)
	in[16] = number
	sum := sha256.Sum256(append(in[:], c.rule...))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}
