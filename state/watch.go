package state

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/clbemu/clbemu/state/engine"
)

// Revision numbers the transactions that an open store has made visible, without
// gaps. It starts anew when the store is opened.
type Revision uint64

// ErrBehind ends a watch that can't go on without a gap: it was read too slowly,
// asked for what is no longer remembered, or the store had to read its state
// again. Who watches begins anew, with a snapshot.
var ErrBehind = errors.New("the watch fell behind: begin anew")

// Event is one transaction, or, as the first of a watch from nothing, everything
// that there is.
type Event struct {
	Revision Revision
	// Snapshot says that nothing is known of what was before.
	Snapshot bool
	// Changed are the rows that the transaction put or deleted.
	Changed []Changed

	state *workingSet
	store *Store
}

// Changed is a row that a transaction changed.
type Changed struct {
	Kind    Kind
	ID      string
	Deleted bool
}

// View runs fn on the state right after the transaction, as scope sees it.
func (e *Event) View(scope Owner, fn func(*View) error) error {
	return fn(e.store.view(e.state.reading(), scope))
}

// watchBuffer is how many transactions a watch may lag behind.
const watchBuffer = 1024

// watch is the queue of one who watches.
type watch struct {
	queue  []Event
	behind bool
	news   chan struct{}
}

// Watch yields what becomes visible from now on, in order. From 0 it begins with a
// snapshot; from a revision it goes on after that. It ends with ErrBehind, or with
// the error of ctx. Writers never wait for it, and it costs them nothing while
// nobody watches.
//
// What has become due and no transaction has brought about yet is not in it.
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
			case <-w.news:
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
	w := &watch{news: make(chan struct{}, 1)}
	switch from {
	case 0:
		w.push(Event{Revision: s.revision, Snapshot: true, state: s.visible.Load(), store: s})
	case s.revision:
	default:
		return nil, ErrBehind
	}
	s.watches = append(s.watches, w)
	return w, nil
}

func (s *Store) stopWatch(w *watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches = slices.DeleteFunc(s.watches, func(other *watch) bool { return other == w })
}

// take empties the queue of a watch.
func (s *Store) take(w *watch) (events []Event, behind bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	events, w.queue = w.queue, nil
	return events, w.behind
}

// publish tells those who watch of a batch that became visible. The caller holds
// the lock.
func (s *Store) publish(b *batch) {
	for i, set := range b.sets {
		s.revision++
		if len(s.watches) == 0 {
			continue
		}
		e := Event{Revision: s.revision, Changed: changedBy(set), state: b.after[i].state, store: s}
		for _, w := range s.watches {
			w.push(e)
		}
	}
}

func changedBy(set engine.ChangeSet) []Changed {
	changed := make([]Changed, len(set))
	for i, c := range set {
		changed[i] = Changed{Kind(c.Table), c.ID, c.Value == nil}
	}
	return changed
}

// breakWatches ends all watches: what they saw is not what there is. The caller
// holds the lock.
func (s *Store) breakWatches() {
	s.revision++
	for _, w := range s.watches {
		w.breakOff()
	}
}

func (w *watch) push(e Event) {
	switch {
	case w.behind:
	case len(w.queue) >= watchBuffer:
		w.breakOff()
	default:
		w.queue = append(w.queue, e)
		w.wake()
	}
}

// breakOff drops what waits, which would only lead up to the gap.
func (w *watch) breakOff() {
	w.behind, w.queue = true, nil
	w.wake()
}

func (w *watch) wake() {
	select {
	case w.news <- struct{}{}:
	default:
	}
}
