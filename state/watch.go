package state

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/clbemu/clbemu/state/engine"
)

// Revision numbers the transactions of a store, without gaps. It grows over
// restarts.
type Revision uint64

// ErrBehind ends a watch that can't go on without a gap: the reader was too slow,
// asked for a revision that the store does not remember, or the store had to read
// its state again. The reader watches again from 0, which begins with a snapshot.
var ErrBehind = errors.New("the watch fell behind: watch again from a snapshot")

// Cause is the cause of a transaction.
type Cause string

// The causes of transactions.
const (
	// ByUpdate is a call of Update.
	ByUpdate Cause = "update"
	// ByTime is a change whose time came.
	ByTime Cause = "time"
)

// Event is one transaction. The first event of a watch from 0 is a snapshot
// instead, which has no changes.
type Event struct {
	Revision Revision
	Snapshot bool
	Cause    Cause
	Changes  []Change

	state *workingSet
	store *Store
}

// Change is a row before and after a transaction. Before and After are pointers
// to the type of the kind's table, nil where the row did not exist, and must not
// be modified.
type Change struct {
	Kind          Kind
	ID            string
	Before, After any
}

// View returns the state right after the transaction, as scope sees it.
func (e *Event) View(scope Owner) *View { return e.store.view(e.state.reading(), scope) }

// watchBuffer limits how many transactions a watch may lag behind.
const watchBuffer = 1024

// watch is the queue of one reader.
type watch struct {
	queue  []Event
	behind bool
	notify chan struct{}
}

// Watch yields each transaction from now on, in order, as it becomes visible. From 0
// it begins with a snapshot; from the newest revision it goes on after that. It ends
// with ErrBehind, or with the error of ctx. Writers never wait for a reader, and a
// store without watches does no work for it.
//
// While a watch is open, the store writes what becomes due by time at its time, in
// separate transactions.
func (s *Store) Watch(ctx context.Context, from Revision) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		w, err := s.startWatch(from)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer s.stopWatch(w)
		for {
			select {
			case <-w.notify:
			case <-ctx.Done():
				yield(Event{}, ctx.Err())
				return
			}
			events, behind := s.take(w)
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
			if behind {
				yield(Event{}, ErrBehind)
				return
			}
		}
	}
}

func (s *Store) startWatch(from Revision) (*watch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &watch{notify: make(chan struct{}, 1)}
	switch from {
	case 0:
		w.push(Event{Revision: s.revision, Snapshot: true, state: s.visible.Load(), store: s})
	case s.revision:
	default:
		return nil, ErrBehind
	}
	s.watches = append(s.watches, w)
	if s.stopAlarm == nil {
		s.stopAlarm = s.startAlarm()
	}
	return w, nil
}

func (s *Store) stopWatch(w *watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches = slices.DeleteFunc(s.watches, func(other *watch) bool { return other == w })
	if len(s.watches) == 0 {
		s.stopAlarm()
		s.stopAlarm = nil
	}
}

// take empties the queue of a watch.
func (s *Store) take(w *watch) (events []Event, behind bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	events, w.queue = w.queue, nil
	return events, w.behind
}

// publish hands a batch that became visible to all watches. The caller holds the
// lock. Before is the state that the batch changed.
func (s *Store) publish(b *batch, before *workingSet) {
	for i, set := range b.sets {
		s.revision++
		if len(s.watches) == 0 {
			continue
		}
		after := b.after[i]
		e := Event{Revision: s.revision, Cause: after.cause, Changes: s.changes(set, before, after.state), state: after.state, store: s}
		for _, w := range s.watches {
			w.push(e)
		}
		before = after.state
	}
}

// changes pairs the rows of a change set before and after it.
func (s *Store) changes(set engine.ChangeSet, before, after *workingSet) []Change {
	if before == after { // the state does not show what opening it dropped
		return nil
	}
	changes := make([]Change, len(set))
	for i, c := range set {
		at := s.schema.kinds[Kind(c.Table)].position
		changes[i] = Change{Kind: Kind(c.Table), ID: c.ID}
		changes[i].Before, _ = before.rows[at].Get(c.ID)
		changes[i].After, _ = after.rows[at].Get(c.ID)
	}
	return changes
}

// cancelWatches ends all watches: the store may have lost what they saw. The caller
// holds the lock.
func (s *Store) cancelWatches() {
	for _, w := range s.watches {
		w.cancel()
	}
}

func (w *watch) push(e Event) {
	switch {
	case w.behind:
	case len(w.queue) >= watchBuffer:
		w.cancel()
	default:
		w.queue = append(w.queue, e)
		w.wake()
	}
}

// cancel drops the queue, which would only lead up to the gap.
func (w *watch) cancel() {
	w.behind, w.queue = true, nil
	w.wake()
}

func (w *watch) wake() {
	select {
	case w.notify <- struct{}{}:
	default:
	}
}
