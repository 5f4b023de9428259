package state

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/clbemu/clbemu/state/engine"
)

// ErrFollows is the answer to every write of a store that follows another process.
var ErrFollows = errors.New("this store follows another process, which alone writes")

// following is a store's part as a follower, until it leads.
type following struct {
	engine engine.Followed
	stop   context.CancelFunc
	done   chan struct{}
	// moved wakes Lead when the store has followed a commit.
	moved   chan struct{}
	reading atomic.Pointer[engine.Reading]
}

// followAgain is the wait of a follower after a feed that broke, so that it does not read the whole
// state without a pause.
const followAgain = 200 * time.Millisecond

// Follow opens a store that shows what another process commits to the same medium, and
// refuses writes with ErrFollows until Lead. It loads what the engine keeps before it
// returns. The store owns the engine, as after Open.
func Follow(ctx context.Context, cfg Config, e engine.Followed) (*Store, error) {
	cfg.Engine = e
	s := newStore(cfg)
	f := &following{engine: e, done: make(chan struct{}), moved: make(chan struct{}, 1)}
	reading, err := s.follow(ctx, f)
	if err != nil {
		e.Close()
		return nil, err
	}
	s.following.Store(f)
	life, stop := context.WithCancel(context.Background())
	f.stop = stop
	go s.keepFollowing(life, f, reading)
	return s, nil
}

// follow makes the working set what the engine keeps, and returns the reading that
// goes on from there.
func (s *Store) follow(ctx context.Context, f *following) (engine.Reading, error) {
	reading, err := f.engine.Follow(ctx)
	if err != nil {
		return nil, fmt.Errorf("follow: %w", err)
	}
	if err := s.reloadFrom(ctx, reading, reading.Revision()); err != nil {
		return nil, err
	}
	f.reading.Store(&reading)
	return reading, nil
}

// keepFollowing shows the commits of others until ctx ends. Where the feed breaks, it
// reads everything again, so that no commit is left out.
func (s *Store) keepFollowing(ctx context.Context, f *following, reading engine.Reading) {
	defer close(f.done)
	for {
		err := s.showCommits(ctx, f, reading)
		for err != nil && ctx.Err() == nil {
			s.warn(fmt.Sprintf("the feed of what the leader commits broke, and all is read again: %v", err))
			select {
			case <-time.After(followAgain):
			case <-ctx.Done():
				return
			}
			reading, err = s.follow(ctx, f)
			f.wake()
		}
		if ctx.Err() != nil {
			return
		}
	}
}

func (s *Store) showCommits(ctx context.Context, f *following, reading engine.Reading) error {
	for c, err := range reading.Commits(ctx) {
		if err == nil {
			err = s.showCommit(c)
		}
		if err != nil {
			return err
		}
		f.wake()
	}
	return engine.ErrBehind // which a feed says on its own
}

func (f *following) wake() {
	select {
	case f.moved <- struct{}{}:
	default:
	}
}

// showCommit makes a commit of another process visible, as one transaction.
func (s *Store) showCommit(c engine.Commit) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	txn := s.newest.writing()
	for _, change := range c.Changes {
		if _, gone := s.schema.retired[Kind(change.Table)]; gone && change.Value == nil {
			continue
		}
		k, ok := s.schema.kinds[Kind(change.Table)]
		if !ok {
			return fmt.Errorf("unknown table %q", change.Table)
		}
		if err := k.table.follow(txn, change.ID, change.Value); err != nil {
			return err
		}
	}
	s.newest, s.upgrade = txn.committed(), upgraded(s.upgrade, c.Changes)
	at := s.view(s.newest.reading(), Owner{}).now
	b := &batch{sets: []engine.ChangeSet{c.Changes}, after: []snapshot{{s.newest, at, len(c.Changes), ByUpdate}}}
	s.mu.Lock()
	s.revision = Revision(c.Revision) - 1 // of what several transactions may have made
	s.mu.Unlock()
	s.show(b)
	return nil
}

// Lead ends a store's following: what it shows is brought up to all that was committed,
// and writes are taken from then on. The caller has made sure that no other process commits.
func (s *Store) Lead(ctx context.Context) error {
	f := s.following.Load()
	if f == nil {
		return nil
	}
	if err := s.endFollowing(ctx, f); err != nil {
		return err
	}
	return s.Update(Owner{}, func(tx *Tx) error {
		tx.freshDraws(time.Now())
		return nil
	})
}

// endFollowing shows all that was committed, and takes writes from then on.
func (s *Store) endFollowing(ctx context.Context, f *following) error {
	last, err := f.engine.Revision(ctx)
	if err != nil {
		return fmt.Errorf("lead: %w", err)
	}
	for s.Revision() != Revision(last) {
		select {
		case <-f.moved:
		case <-f.done:
			return fmt.Errorf("lead: %w", ErrClosed)
		case <-ctx.Done():
			return fmt.Errorf("lead: at revision %d of %d: %w", s.Revision(), last, ctx.Err())
		}
	}
	f.stop()
	<-f.done
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.following.Store(nil)
	s.recovered.Add(1)
	go s.commitLoop()
	select {
	case s.written <- struct{}{}:
	default:
	}
	return nil
}

// Follows reports whether another process writes what the store shows, and if so, a
// time, on this machine's clock, up to which the store shows all of it.
func (s *Store) Follows() (confirmed time.Time, follows bool) {
	f := s.following.Load()
	if f == nil {
		return time.Time{}, false
	}
	return (*f.reading.Load()).Confirmed(), true
}
