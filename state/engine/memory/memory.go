// Package memory is an engine that keeps nothing after a restart: for tests and
// throw-away servers.
package memory

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/clbemu/clbemu/state/engine"
)

type key struct{ table, id string }

// Engine keeps values in a map. Its zero value is ready for use.
type Engine struct {
	mu       sync.Mutex
	values   map[key][]byte
	revision uint64
	readings []*reading
}

var _ engine.Engine = (*Engine)(nil)
var _ engine.Followed = (*Engine)(nil)

// Load implements engine.Engine.
func (e *Engine) Load(ctx context.Context, fn func(table, id string, value []byte) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return load(ctx, e.values, fn)
}

func load(ctx context.Context, values map[key][]byte, fn func(table, id string, value []byte) error) error {
	keys := make([]key, 0, len(values))
	for k := range values {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		if keys[i].table != keys[j].table {
			return keys[i].table < keys[j].table
		}
		return keys[i].id < keys[j].id
	})
	for _, k := range keys {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(k.table, k.id, values[k]); err != nil {
			return err
		}
	}
	return nil
}

// Commit implements engine.Engine.
func (e *Engine) Commit(_ context.Context, sets []engine.ChangeSet) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.values == nil {
		e.values = make(map[key][]byte)
	}
	e.revision += uint64(len(sets))
	if len(e.readings) > 0 {
		c := engine.Commit{Revision: e.revision, Changes: engine.InOrder(sets)}
		for _, r := range e.readings {
			r.add(c)
		}
	}
	for _, set := range sets {
		for _, c := range set {
			if c.Value == nil {
				delete(e.values, key{c.Table, c.ID})
				continue
			}
			e.values[key{c.Table, c.ID}] = c.Value
		}
	}
	return nil
}

// Recover implements engine.Engine; no commit fails.
func (e *Engine) Recover(context.Context) error { return nil }

// Revision implements engine.Engine.
func (e *Engine) Revision(context.Context) (uint64, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.revision, nil
}

// Close implements engine.Engine; the values stay, so a test can open a second
// store on the same engine.
func (e *Engine) Close() error { return nil }

// reading is the content at one moment, and the commits since.
type reading struct {
	e        *Engine
	values   map[key][]byte
	revision uint64

	mu    sync.Mutex
	queue []engine.Commit
	news  chan struct{}
}

var _ engine.Reading = (*reading)(nil)

// Follow implements engine.Followed, for others in this process.
func (e *Engine) Follow(context.Context) (engine.Reading, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := &reading{e: e, values: maps.Clone(e.values), revision: e.revision, news: make(chan struct{}, 1)}
	e.readings = append(e.readings, r)
	return r, nil
}

func (r *reading) add(c engine.Commit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = append(r.queue, c)
	select {
	case r.news <- struct{}{}:
	default:
	}
}

// Load implements engine.Reading.
func (r *reading) Load(ctx context.Context, fn func(table, id string, value []byte) error) error {
	return load(ctx, r.values, fn)
}

// Revision implements engine.Reading.
func (r *reading) Revision() uint64 { return r.revision }

// Confirmed implements engine.Reading: a commit is with its readers at once.
func (r *reading) Confirmed() time.Time { return time.Now() }

// Commits implements engine.Reading.
func (r *reading) Commits(ctx context.Context) iter.Seq2[engine.Commit, error] {
	return func(yield func(engine.Commit, error) bool) {
		defer r.stop()
		for {
			select {
			case <-r.news:
			case <-ctx.Done():
				yield(engine.Commit{}, ctx.Err())
				return
			}
			r.mu.Lock()
			queue := r.queue
			r.queue = nil
			r.mu.Unlock()
			for _, c := range queue {
				if !yield(c, nil) {
					return
				}
			}
		}
	}
}

func (r *reading) stop() {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	r.e.readings = slices.DeleteFunc(r.e.readings, func(other *reading) bool { return other == r })
}
