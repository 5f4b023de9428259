package state

import (
	"cmp"
	"context"

	"github.com/clbemu/clbemu/state/engine"
)

// ForkConfig configures a fork.
type ForkConfig struct {
	// Clock defaults to the clock of the parent store.
	Clock Clock
	// Seed begins a new sequence of ids; 0 goes on with the one of the store that is
	// forked.
	Seed uint64
	// Warn is as in Config.
	Warn func(string)
}

// Fork returns a store in memory that begins with what readers of s see now. Neither
// sees what becomes of the other. They share the rows that neither changes, so that a
// fork of a large state costs no more than one of a small state.
func (s *Store) Fork(cfg ForkConfig) (*Store, error) {
	if cfg.Warn == nil {
		cfg.Warn = func(string) {}
	}
	begin, revision := s.now()
	fork := &Store{
		schema:   s.schema,
		engine:   discardEngine{},
		clock:    cmp.Or(cfg.Clock, s.clock),
		warn:     cfg.Warn,
		requires: s.requires,
		seed:     cmp.Or(cfg.Seed, s.seed),
		newest:   begin,
		past:     []snapshot{{state: begin}},
		revision: revision,
		wake:     make(chan struct{}, 1),
		written:  make(chan struct{}, 1),
		done:     make(chan struct{}),
	}
	fork.visible.Store(begin)
	go fork.commitLoop()
	if cfg.Seed == 0 {
		return fork, nil
	}
	return fork, fork.Update(Owner{}, func(tx *Tx) error {
		Sequences.Put(tx, &Sequence{ID: sequenceID, Seed: cfg.Seed})
		return nil
	})
}

// now returns the state that readers see, and its revision.
func (s *Store) now() (*workingSet, Revision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.visible.Load(), s.revision
}

// CopyTo commits what readers of s see now to an engine that is empty.
func (s *Store) CopyTo(ctx context.Context, e engine.Engine) error {
	var all engine.ChangeSet
	for change, err := range s.encoded(s.View(Owner{})) {
		if err != nil {
			return err
		}
		all = append(all, change)
	}
	return e.Commit(ctx, []engine.ChangeSet{all})
}

// discardEngine is the engine of a fork, which keeps nothing: the working set is all that there
// is, and no commit fails, so nothing ever loads its rows.
type discardEngine struct{}

var _ engine.Engine = discardEngine{}

// Load implements engine.Engine.
func (discardEngine) Load(context.Context, func(table, id string, value []byte) error) error {
	return nil
}

// Commit implements engine.Engine.
func (discardEngine) Commit(context.Context, []engine.ChangeSet) error { return nil }

// Recover implements engine.Engine.
func (discardEngine) Recover(context.Context) error { return nil }

// Revision implements engine.Engine.
func (discardEngine) Revision(context.Context) (uint64, error) { return 0, nil }

// Close implements engine.Engine.
func (discardEngine) Close() error { return nil }
