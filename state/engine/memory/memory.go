// Package memory is an engine that keeps nothing after a restart: for tests and
// throw-away servers.
package memory

import (
	"context"
	"sort"
	"sync"

	"github.com/clbemu/clbemu/state/engine"
)

type key struct{ table, id string }

// Engine keeps values in a map. Its zero value is ready for use.
type Engine struct {
	mu       sync.Mutex
	values   map[key][]byte
	revision uint64
}

// Load implements engine.Engine.
func (e *Engine) Load(ctx context.Context, fn func(table, id string, value []byte) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	keys := make([]key, 0, len(e.values))
	for k := range e.values {
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
		if err := fn(k.table, k.id, e.values[k]); err != nil {
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
