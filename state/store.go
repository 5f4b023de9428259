package state

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clbemu/clbemu/state/engine"
)

// ErrClosed is the answer of a closed store.
var ErrClosed = errors.New("the store is closed")

// Config configures a store.
type Config struct {
	// Schema declares the kinds of resources that the store holds.
	Schema *Schema
	Engine engine.Engine
	// Clock defaults to SystemClock.
	Clock Clock
	// Seed makes the ids of a new store repeatable; 0 takes a random one. A
	// store that has one keeps it.
	Seed uint64
	// Requires, if set, returns a line for each thing that a state lacks to be served. Import
	// refuses such a state, and Check reports it.
	Requires func(*View) []string
	// Warn gets the parts of the state that this version does not know, and a message
	// when the store starts and stops rejecting writes. It may be nil.
	Warn func(string)
}

// Store is the working set and its way to the disk.
type Store struct {
	schema *Schema
	engine engine.Engine
	clock  Clock
	warn   func(string)
	// requires is Config.Requires, or finds nothing.
	requires func(*View) []string
	seed     uint64 // of the sequence, unless there is one
	attached any

	// visible is the durable working set, which is immutable.
	visible atomic.Pointer[workingSet]
	// projected is the state that readers see once something is due.
	projected atomic.Pointer[projection]
	// failing is why the store refuses writes, nil while it takes them.
	failing atomic.Pointer[failure]
	// unwritten says how the last commit failed. It is nil if it did not.
	unwritten atomic.Pointer[unwritten]
	// recovered counts how often the kept state was read again.
	recovered atomic.Uint64
	// following is nil but for a store that shows what another process commits.
	following atomic.Pointer[following]

	writing sync.Mutex  // serialises writers and guards what they build on
	newest  *workingSet // visible plus the batches on their way to the disk
	closed  bool
	// upgrade holds what the first commit has to change: the rows that opening dropped.
	upgrade engine.ChangeSet

	// mu guards what writers and watchers share with the committer, who does not wait until a
	// writer has finished. Lock it after writing.
	mu       sync.Mutex
	filling  *batch // takes the change sets of running writers
	inFlight *batch // is with the engine
	past     []snapshot
	revision Revision // of what is visible
	watches  []*watch
	// stopAlarm ends the alarm, nil while no watch is open.
	stopAlarm context.CancelFunc
	// written wakes the alarm, since a transaction may have changed what it waits for.
	written chan struct{}

	wake chan struct{}
	done chan struct{}
}

// batch is one commit of the engine.
type batch struct {
	sets  []engine.ChangeSet
	after []snapshot // each of the sets
	// upgrade is the first of the sets if that is Store.upgrade.
	upgrade engine.ChangeSet
	err     error
	done    chan struct{}
}

// Open loads what the engine keeps. The store owns the engine from then on and
// closes it, also when Open fails.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	s, err := open(ctx, cfg)
	if err != nil {
		cfg.Engine.Close()
		return nil, err
	}
	go s.commitLoop()
	return s, nil
}

func open(ctx context.Context, cfg Config) (*Store, error) {
	s := newStore(cfg)
	if err := s.reload(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// newStore returns an empty store.
func newStore(cfg Config) *Store {
	if cfg.Clock == nil {
		cfg.Clock = &SystemClock{}
	}
	if cfg.Warn == nil {
		cfg.Warn = func(string) {}
	}
	if cfg.Requires == nil {
		cfg.Requires = func(*View) []string { return nil }
	}
	if cfg.Seed == 0 {
		cfg.Seed = rand.Uint64()
	}
	return &Store{
		schema:   cfg.Schema,
		engine:   cfg.Engine,
		clock:    cfg.Clock,
		warn:     cfg.Warn,
		requires: cfg.Requires,
		seed:     cfg.Seed,
		wake:     make(chan struct{}, 1),
		written:  make(chan struct{}, 1),
		done:     make(chan struct{}),
	}
}

// reload makes the working set what the engine keeps. The caller lets no transaction write.
func (s *Store) reload(ctx context.Context) error {
	revision, err := s.engine.Revision(ctx)
	if err != nil {
		return fmt.Errorf("load the store: %w", err)
	}
	return s.reloadFrom(ctx, s.engine, revision)
}

// reloadFrom loads the working set of a revision.
func (s *Store) reloadFrom(ctx context.Context, kept loader, revision uint64) error {
	loaded, unknown, gone, err := s.schema.load(ctx, kept)
	if err != nil {
		return fmt.Errorf("load the store: %w", err)
	}
	for _, what := range unknown {
		s.warn(what)
	}
	if loaded, err = s.retire(loaded, gone); err != nil {
		return fmt.Errorf("load the store: %w", err)
	}
	s.newest = loaded
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visible.Store(loaded)
	s.past = []snapshot{{state: loaded}}
	s.revision = Revision(revision)
	s.cancelWatches()
	return nil
}

// Schema returns the store's schema.
func (s *Store) Schema() *Schema { return s.schema }

// Revision returns the newest revision that readers see.
func (s *Store) Revision() Revision {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

// Now returns the emulated time.
func (s *Store) Now() time.Time {
	v := View{txn: s.visible.Load().reading(), schema: s.schema}
	return emulatedTime(&v, s.clock.Now())
}

// Attach keeps a value with the store for those who get its views alone: what this process
// knows and the state does not hold. Attach is called before the first view.
func (s *Store) Attach(value any) { s.attached = value }

func (s *Store) view(txn txn, scope Owner) *View {
	v := &View{txn: txn, schema: s.schema, scope: scope, attached: s.attached}
	v.now = emulatedTime(v, s.clock.Now())
	return v
}

// Update runs fn in a transaction: nil commits it, an error or a panic leaves everything as it was.
// It returns when all that fn saw and did is durable. When the engine fails, it returns an error
// that wraps ErrNotKept: later reads show whether the engine kept fn's change and the others of its
// batch. A nil fn only writes due transitions.
func (s *Store) Update(scope Owner, fn func(*Tx) error) error {
	seen, err := s.apply(scope, fn)
	if seen != nil {
		<-seen.done
		if seen.err != nil {
			return &NotKeptError{Cause: seen.err, Unknown: !errors.Is(seen.err, engine.ErrNotMade)}
		}
	}
	return err
}

// apply runs fn on the newest working set and returns the batch that must be
// durable before its outcome may be told.
func (s *Store) apply(scope Owner, fn func(*Tx) error) (*batch, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	if s.following.Load() != nil {
		return nil, ErrFollows
	}
	if err := s.writable(); err != nil {
		return nil, err
	}
	s.writeUpgrade()
	now, err := s.settle()
	if err != nil {
		return nil, err
	}
	if fn == nil {
		return s.newestPending(), nil
	}
	txn := s.newest.writing()
	tx := newTx(&View{txn: txn, schema: s.schema, scope: scope, now: now, attached: s.attached})
	tx.seed(s.seed)
	tx.expireClientTokens()
	if err := fn(tx); err != nil {
		return s.newestPending(), err
	}
	tx.forgetClientTokens()
	if len(tx.log.changes) == 0 {
		return s.newestPending(), nil
	}
	set, err := tx.changeSet()
	if err != nil {
		return nil, err
	}
	s.newest = txn.committed()
	return s.enqueue(set, snapshot{s.newest, tx.now, len(set), ByUpdate}), nil
}

// settle writes what is due in a separate transaction, and returns the time that it
// brought the state to. The caller holds the lock of writers.
func (s *Store) settle() (now time.Time, err error) {
	txn := s.newest.writing()
	tx := newTx(s.view(txn, Owner{}))
	now = tx.now
	if _, due := nextDue(tx.View, now); !due {
		return now, nil
	}
	tx.settle()
	set, err := tx.changeSet()
	if err != nil {
		return now, err
	}
	s.newest = txn.committed()
	s.enqueue(set, snapshot{s.newest, now, len(set), ByTime})
	return now, nil
}

// enqueue puts what a transaction did into the next batch.
func (s *Store) enqueue(set engine.ChangeSet, after snapshot) *batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.filling == nil {
		s.filling = &batch{done: make(chan struct{})}
	}
	s.filling.sets = append(s.filling.sets, set)
	s.filling.after = append(s.filling.after, after)
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return s.filling
}

// newestPending returns the newest batch that is not on disk yet, or nil if there is none.
func (s *Store) newestPending() *batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.filling != nil {
		return s.filling
	}
	return s.inFlight
}

// commitLoop keeps its thread, since tools such as strace, which make system calls fail for tests,
// count them by thread. It gives the thread back: when a thread ends, the kernel ends programs that
// it started with PR_SET_PDEATHSIG.
func (s *Store) commitLoop() {
	if s.engine != (discardEngine{}) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	defer close(s.done)
	for range s.wake {
		for s.commitBatch() {
		}
	}
}

// commitBatch makes the waiting batch durable and visible. It reports whether
// there was one.
func (s *Store) commitBatch() bool {
	s.mu.Lock()
	b := s.filling
	s.filling, s.inFlight = nil, b
	s.mu.Unlock()
	if b == nil {
		return false
	}

	err := s.engine.Commit(context.Background(), b.sets)

	if err == nil {
		s.show(b)
		close(b.done)
	} else {
		s.fail(b, err)
	}
	return true
}

// show makes a batch visible that is durable.
func (s *Store) show(b *batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight = nil
	s.unwritten.Store(nil)
	before := s.visible.Swap(b.after[len(b.after)-1].state)
	s.recordPast(b)
	s.publish(b, before)
	if s.stopAlarm != nil {
		select {
		case s.written <- struct{}{}:
		default:
		}
	}
}

// fail refuses a batch that the engine did not take, and what stands on it.
func (s *Store) fail(b *batch, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	failed := []*batch{b}
	if s.filling != nil {
		failed = append(failed, s.filling)
	}
	s.filling, s.inFlight = nil, nil
	s.mu.Unlock()
	s.newest = s.visible.Load()
	if !errors.Is(err, engine.ErrTooLarge) {
		s.unwritten.Store(&unwritten{err, time.Now()})
		s.recover(err)
	} else if b.upgrade != nil {
		s.upgrade = b.upgrade
	}
	if failing := s.failing.Load(); failing != nil {
		err = failing
	}
	for _, f := range failed {
		f.err = err
		close(f.done)
	}
}

// Close commits what waits, and closes the engine. Later calls of Update answer
// ErrClosed.
func (s *Store) Close() error {
	s.writing.Lock()
	if s.closed {
		s.writing.Unlock()
		return nil
	}
	s.closed = true
	f := s.following.Load()
	s.writing.Unlock()
	if f != nil {
		f.stop()
		<-f.done
		return s.engine.Close()
	}
	close(s.wake)
	<-s.done
	return s.engine.Close()
}
