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
	news chan struct{}

	mu        sync.Mutex
	ids       map[string]bool
	all       bool
	followed  state.Revision // marks are complete up to here
	finished  state.Revision // listeners do what the store held then
	advancing chan struct{}  // closed when finished grows
}

func newDirty() *dirty {
	return &dirty{news: make(chan struct{}, 1), ids: make(map[string]bool), advancing: make(chan struct{})}
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

func (d *dirty) wake() {
	select {
	case d.news <- struct{}{}:
	default:
	}
}

// take returns what is marked, and the revision up to which that is all.
func (d *dirty) take() (ids []string, all bool, revision state.Revision) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ids, all = slices.Sorted(maps.Keys(d.ids)), d.all
	clear(d.ids)
	d.all = false
	return ids, all, d.followed
}

// done keeps that the listeners do what the store held at a revision.
func (d *dirty) done(revision state.Revision) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if revision != d.finished {
		d.finished = revision
		close(d.advancing)
		d.advancing = make(chan struct{})
	}
}

// wait returns when the listeners do what the store held at a revision.
func (d *dirty) wait(ctx context.Context, revision state.Revision) error {
	for {
		d.mu.Lock()
		finished, advancing := d.finished, d.advancing
		d.mu.Unlock()
		if finished >= revision {
			return nil
		}
		select {
		case <-advancing:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
