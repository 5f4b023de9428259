package etcd

import (
	"context"
	"errors"
	"hash/maphash"
	"maps"
	"sync"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/clbemu/clbemu/state/engine"
)

// A watch that was lost to a compaction has not seen all changes. So a process keeps a checksum of
// each row that it has read or written. Rows that differ at the same revision of the engine were
// changed by another program.

// sums are the checksums of the rows at a revision of the engine.
type sums struct {
	mu       sync.Mutex
	of       map[uint64]uint64 // those of values, by those of their places; nil while the rows are not known
	revision uint64
}

// seed seeds all checksums: they never leave the process.
var seed = maphash.MakeSeed()

func placeSum(table, id string) uint64 { return maphash.Comparable(seed, [2]string{table, id}) }

// at returns a copy of the checksums at a revision, or nil if they are not known.
func (s *sums) at(revision uint64) map[uint64]uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.revision != revision {
		return nil
	}
	return maps.Clone(s.of)
}

// set keeps the checksums of what was read, unless later ones are known.
func (s *sums) set(revision uint64, of map[uint64]uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil || s.revision <= revision {
		s.of, s.revision = of, revision
	}
}

// commit keeps the checksums of what a commit has changed.
func (s *sums) commit(from, to uint64, changes engine.ChangeSet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil || s.revision != from {
		s.of = nil
		return
	}
	s.revision = to
	for _, c := range changes {
		if c.Value == nil {
			delete(s.of, placeSum(c.Table, c.ID))
		} else {
			s.of[placeSum(c.Table, c.ID)] = maphash.Bytes(seed, c.Value)
		}
	}
}

// forget makes the rows unknown until they are read again.
func (s *sums) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of = nil
}

// compare yields the rows as load does. It notes the first that differs from what this process
// knows of them, or nil, and returns their checksums.
func (r *reading) compare(ctx context.Context, known map[uint64]uint64, fn func(table, id string, value []byte) error) (found map[uint64]uint64, err error) {
	changed := ""
	found = make(map[uint64]uint64, len(known))
	err = r.load(ctx, func(table, id string, value []byte) error {
		place, sum := placeSum(table, id), maphash.Bytes(seed, value)
		if found[place] = sum; known != nil && changed == "" && known[place] != sum {
			changed = r.e.rows() + table + "/" + id
		}
		return fn(table, id, value)
	})
	if err != nil {
		return nil, err
	}
	if changed == "" && len(found) < len(known) {
		changed = r.e.rows() // a row is missing, whose name no checksum says
	}
	if changed != "" {
		r.e.seen.noteChange(changed, "by", r.at)
	}
	return found, nil
}

// compareRows compares the rows of the state and of its open branches with what this process
// knows of them.
func (e *Engine) compareRows(ctx context.Context) error {
	e.mu.Lock()
	all := []*Engine{e}
	for b := range e.branches {
		all = append(all, b)
	}
	e.mu.Unlock()
	for _, each := range all {
		if err := each.compareOwnRows(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) compareOwnRows(ctx context.Context) error {
	whatever := func(string, string, []byte) error { return nil }
	r, known, err := e.readKnown(ctx)
	if err == nil {
		_, err = r.compare(ctx, known, whatever)
	}
	if !errors.Is(err, rpctypes.ErrCompacted) {
		return err
	}
	// Commits were faster: etcd no longer has the revision. They wait, this once.
	if err := e.commits.take(ctx); err != nil {
		return err
	}
	defer e.commits.give()
	if r, err = e.read(ctx); err == nil {
		_, err = r.compare(ctx, e.sums.at(r.revision), whatever)
	}
	return err
}

// readKnown begins to read, with the checksums of the same revision. Only so long do commits wait:
// the rows are read as they were then.
func (e *Engine) readKnown(ctx context.Context) (*reading, map[uint64]uint64, error) {
	if err := e.commits.take(ctx); err != nil {
		return nil, nil, err
	}
	defer e.commits.give()
	r, err := e.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	return r, e.sums.at(r.revision), nil
}
