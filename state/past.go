package state

import (
	"time"

	"github.com/hashicorp/go-memdb"
)

// A little of the past is kept, so that a read can be made to see it: values are
// immutable, so an old state costs what has changed since.

// moment is the state after one transaction.
type moment struct {
	state *memdb.MemDB
	at    time.Time
}

// maxPast is how many transactions can be looked back.
const maxPast = 64

// Past says how far a View looks back: some transactions, or some time. The zero
// Past is the present.
type Past struct {
	Changes int
	Age     time.Duration
}

// ViewPast is View of the state as it was, or as it was at the earliest that is
// remembered.
func (s *Store) ViewPast(past Past, scope Owner, fn func(*View) error) error {
	if past == (Past{}) {
		return s.View(scope, fn)
	}
	return fn(s.view(s.lookBack(past).Txn(false), scope))
}

func (s *Store) lookBack(past Past) *memdb.MemDB {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.past) == 0 {
		return s.visible.Load()
	}
	at := max(len(s.past)-1-past.Changes, 0)
	if past.Age > 0 {
		now := s.view(s.visible.Load().Txn(false), Owner{}).now
		for at = len(s.past) - 1; at > 0 && s.past[at].at.After(now.Add(-past.Age)); at-- {
		}
	}
	return s.past[at].state
}
