package dataplane

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/clbemu/clbemu/state"
)

// dirty are the load balancers that need a look, and how far the plane has looked.
type dirty struct {
	notify chan struct{}

	mu        sync.Mutex
	ids       map[string]bool
	all       bool
	followed  state.Revision // marks are complete up to here
	finished  state.Revision // listeners do what the store held then
	asked     int            // the number of requested rounds
	answered  int            // listeners do what was known then
	advancing chan struct{}  // closed when finished or answered grows
}

func newDirty() *dirty {
	return &dirty{notify: make(chan struct{}, 1), ids: make(map[string]bool), advancing: make(chan struct{})}
}

func (d *dirty) mark(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ids[id] = true
	d.wake()
}

func (d *dirty) markAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = true
	d.wake()
}

// seen keeps that all changes up to a revision are marked.
func (d *dirty) seen(revision state.Revision) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.followed = revision
	d.wake()
}

// rulesChanged lets the plane look at the fault rules.
func (d *dirty) rulesChanged() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wake()
}

// wake asks for a look. The caller has the lock.
func (d *dirty) wake() {
	d.asked++
	select {
	case d.notify <- struct{}{}:
	default:
	}
}

// round holds what the plane looks at in one go.
type round struct {
	ids      []string
	all      bool
	revision state.Revision // up to which that is all
	asked    int
}

// take returns the marked load balancers.
func (d *dirty) take() round {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := round{slices.Sorted(maps.Keys(d.ids)), d.all, d.followed, d.asked}
	clear(d.ids)
	d.all = false
	return r
}

// done keeps that the listeners do what a round says.
func (d *dirty) done(r round) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.revision != d.finished || r.asked != d.answered {
		d.finished, d.answered = r.revision, r.asked
		close(d.advancing)
		d.advancing = make(chan struct{})
	}
}

// wait returns when the listeners do what the store held at a revision, what the fault
// rules say now and what checks have found by now.
func (d *dirty) wait(ctx context.Context, revision state.Revision) error {
	d.mu.Lock()
	asked := d.asked
	d.mu.Unlock()
	for {
		d.mu.Lock()
		done, advancing := d.finished >= revision && d.answered >= asked, d.advancing
		d.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-advancing:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
