package state

import (
	"fmt"
	"strconv"
	"time"
)

// Asynchronous life is a table of stages. Entering a stage sets the status that
// a resource has meanwhile and schedules the one that follows; nothing runs in
// the background. Every transaction first brings the state up to its own time, and
// every View sees it so.

// Stage is a time that a resource spends on the way to another status.
type Stage string

// stage declares a stage. One without a fixed end goes back to where the resource came
// from.
type stage struct {
	kind     *kind
	from, to string
	after    time.Duration // in the realistic profile
}

// Stage declares a stage: the status from of a resource in it, the status to that follows, or ""
// for the one that it came from, and its duration in the realistic profile.
func (t *Table[T]) Stage(name Stage, from, to string, after time.Duration) Stage {
	t.declared.schema.stages[name] = &stage{t.declared, from, to, after}
	return name
}

// Busy and Idle are the two states of a resource that has no status on the wire but takes one
// change at a time.
const (
	Busy = "busy"
	Idle = ""
)

// anyStatus is the status from which any stage may begin.
const anyStatus = "*"

// Enter brings a resource into a stage: to its end at once where the stage takes
// no time. A stage without an end of its own goes back to the status then.
func Enter(tx *Tx, name Stage, id string, then ...string) {
	row, ok := tx.schema.stages[name]
	if !ok {
		panic(fmt.Sprintf("state: unknown stage %s", name))
	}
	to := row.to
	if len(then) > 0 {
		to = then[0]
	}
	delay := tx.Delay(name)
	if delay <= 0 && row.from == Busy {
		return
	}
	_, event := row.kind.events[row.from]
	if delay <= 0 && !event { // no reader sees what it has meanwhile
		row.kind.setStatus(tx, id, anyStatus, to)
		return
	}
	row.kind.setStatus(tx, id, anyStatus, row.from)
	t := Transition{Kind: row.kind.name, ResourceID: id, From: row.from, To: to}
	if delay <= 0 {
		row.kind.applyTransition(tx, &t)
		return
	}
	Schedule(tx, tx.Now().Add(delay), t)
}

// applyTransition completes what a resource waited for.
func (k *kind) applyTransition(tx *Tx, t *Transition) {
	if event, ok := k.events[t.From]; ok {
		event(tx, t)
		return
	}
	k.setStatus(tx, t.ResourceID, t.From, t.To)
}

// Transition is a change whose time has not come.
type Transition struct {
	ID         string
	Due        time.Time
	Kind       Kind
	ResourceID string
	From, To   string
}

// Transitions by id.
var Transitions = NewTable(kernel, "Transition", func(t *Transition) string { return t.ID }, Setting(),
	Checks(func(c *Checker, t *Transition) {
		if !c.v.schema.known(t) {
			c.Fail("%s %s belongs to a %s, which has no such stage", "Transition", t.ID, t.Kind)
		}
	}))

// transitionsByDue has them in order of time.
var transitionsByDue = Transitions.Index("due", func(t *Transition) [][]string {
	return Key(timeKey(t.Due))
})

// timeKey sorts as times do.
func timeKey(t time.Time) string { return fmt.Sprintf("%020d.%09d", t.Unix(), t.Nanosecond()) }

// Schedule adds a transition to the list. A resource has one for each starting status:
// a later one replaces an earlier one.
func Schedule(tx *Tx, due time.Time, t Transition) {
	t.Due = due
	t.ID = transitionID(t.Kind, t.ResourceID, t.From)
	Transitions.Put(tx, &t)
}

func transitionID(of Kind, id, from string) string { return string(of) + "/" + id + "/" + from }

// Next returns what a resource with a status becomes next, or "" if it is not on its way.
func Next(v *View, of Kind, id, status string) string {
	t, ok := Transitions.Find(v, transitionID(of, id, status))
	if !ok {
		return ""
	}
	return t.To
}

// maxTransitions bounds what one transaction brings up to date, so that a rule
// which schedules itself without end fails.
const maxTransitions = 1 << 20

// settle does what is due, in order of time, each at its own time, and as seen
// from everywhere.
func (tx *Tx) settle() {
	now := tx.now
	tx = tx.In(Owner{})
	for range maxTransitions {
		t, ok := nextDue(tx.View, now)
		if !ok {
			return
		}
		tx.now = t.Due
		Transitions.Delete(tx, t.ID)
		tx.schema.kinds[t.Kind].applyTransition(tx, t)
	}
	panic("state: more than " + strconv.Itoa(maxTransitions) + " transitions at once")
}

// nextDue returns the first transition whose time has come. Views see all of them.
func nextDue(v *View, now time.Time) (*Transition, bool) {
	t, ok := transitionsByDue.First(v)
	return t, ok && !t.Due.After(now)
}

// known reports whether the transition can happen: one from an imported state may
// be of a kind that has no life.
func (s *Schema) known(t *Transition) bool {
	k, ok := s.kinds[t.Kind]
	if !ok {
		return false
	}
	_, event := k.events[t.From]
	return event || k.setStatus != nil
}

// The profiles of life cycles.
const (
	LifeInstant   = "instant"
	LifeRealistic = "realistic"
)

// LifeCycle sets the duration of the stages.
type LifeCycle struct {
	ID      string
	Profile string
	// Delays override the profile's.
	Delays map[Stage]time.Duration `json:",omitempty"`
}

// LifeCycles holds the only life cycle, under LifeCycleID.
var LifeCycles = NewTable(kernel, "LifeCycle", func(l *LifeCycle) string { return l.ID }, Setting())

// LifeCycleID is the id of the one LifeCycle.
const LifeCycleID = "life"

// Delay returns how long a stage takes now: zero, unless the transaction or the world
// sets a delay.
func (v *View) Delay(name Stage) time.Duration {
	if d, ok := v.stageDelays[name]; ok {
		return d
	}
	life, ok := LifeCycles.Find(v, LifeCycleID)
	if !ok {
		return 0
	}
	if d, ok := life.Delays[name]; ok {
		return d
	}
	if life.Profile == LifeRealistic {
		return v.schema.stages[name].after
	}
	return 0
}
