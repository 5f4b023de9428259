package state

import (
	"slices"
	"time"

	"github.com/clbemu/clbemu/state/engine"
)

// The store keeps a little of the past for reads of it: values are
// immutable, so an old state costs what has changed since.

// snapshot is the state after one transaction.
type snapshot struct {
	state   *workingSet
	at      time.Time
	changes int
	cause   Cause
}

// How far one can look back: some transactions, and at most some changes, as each keeps
// in memory what it replaced.
const (
	maxPast        = 64
	maxPastChanges = 1 << 14
)

// recordPast keeps what a batch made of the state. What only counts the hits of a
// fault rule is no change of the cloud, and must not hide the change before it
// from the read that the rule makes stale.
func (s *Store) recordPast(b *batch) {
	for i, set := range b.sets {
		if b.after[i].state != s.past[len(s.past)-1].state && slices.ContainsFunc(set, func(c engine.Change) bool { return !s.schema.kinds[Kind(c.Table)].counter }) {
			s.past = append(s.past, b.after[i])
		}
	}
	oldest, changes := len(s.past)-1, 0
	for oldest > 0 && len(s.past)-oldest < maxPast {
		if changes += s.past[oldest].changes; changes > maxPastChanges {
			break
		}
		oldest--
	}
	s.past = slices.Delete(s.past, 0, oldest) // and frees the states before it
}

// Past limits how far a View looks back: by transactions, or by time. The zero Past is
// the present.
type Past struct {
	Changes int
	Age     time.Duration
}

// ViewPast is like View, of the state as it was then, or as it was at the earliest time that is
// remembered.
func (s *Store) ViewPast(past Past, scope Owner) *View {
	if past == (Past{}) {
		return s.View(scope)
	}
	return s.view(s.pastState(past).reading(), scope)
}

func (s *Store) pastState(past Past) *workingSet {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := max(len(s.past)-1-past.Changes, 0)
	if past.Age > 0 {
		now := s.view(s.visible.Load().reading(), Owner{}).now
		for at = len(s.past) - 1; at > 0 && s.past[at].at.After(now.Add(-past.Age)); at-- {
		}
	}
	return s.past[at].state
}
