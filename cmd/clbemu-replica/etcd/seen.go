package etcd

import (
	"fmt"
	"sync"

	"go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/clbemu/clbemu/state/engine"
)

// Seen is the newest that a process has seen of an etcd. An etcd that answers with less
// is an older copy, or another one: from then on nothing is read of it, nor written.
type Seen struct {
	mu       sync.Mutex
	cluster  uint64 // etcd's own id
	newestOf mark
	sums     sums
	replaced chan struct{} // closed once etcd has answered with less
	change   error         // what another program has changed
	noted    chan struct{} // closed once change is set
}

// mark is a point in what etcd keeps.
type mark struct {
	revision int64  // etcd's
	count    uint64 // the engine's revision, which etcd's own activity does not move
}

// errReplaced says what to do about an etcd that has forgotten earlier answers.
var errReplaced = fmt.Errorf("etcd lacks what clbemu has read before: %w: stop all replicas, and start them again if that is what you want", engine.ErrReplaced)

// newest returns the newest point that was seen. An answer to a question asked now must not be
// older.
func (s *Seen) newest() mark {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newestOf
}

// over returns a channel that is closed when etcd was replaced.
func (s *Seen) over() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.channel()
}

func (s *Seen) channel() chan struct{} {
	if s.replaced == nil {
		s.replaced = make(chan struct{})
	}
	return s.replaced
}

// check returns errReplaced if etcd was replaced, which less says it was just now.
func (s *Seen) check(less bool) error {
	over := s.channel()
	select {
	case <-over:
		return errReplaced
	default:
	}
	if less {
		close(over)
		return errReplaced
	}
	return nil
}

// checkHeader notes who answered what was asked for at before.
func (s *Seen) checkHeader(h *etcdserverpb.ResponseHeader, before mark) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check(s.cluster != 0 && h.ClusterId != s.cluster || h.Revision < before.revision); err != nil {
		return err
	}
	s.cluster, s.newestOf.revision = h.ClusterId, max(s.newestOf.revision, h.Revision)
	return nil
}

// checkRevision notes the engine's revision, asked for at before.
func (s *Seen) checkRevision(count uint64, before mark) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check(count < before.count); err != nil {
		return err
	}
	s.newestOf.count = max(s.newestOf.count, count)
	return nil
}

// changes returns a channel that is closed once another program has changed the kept state.
func (s *Seen) changes() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.noted == nil {
		s.noted = make(chan struct{})
	}
	return s.noted
}

// changed returns an error that says what another program has changed, or nil.
func (s *Seen) changed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.change
}

// noteChange notes the first key that another program has changed, at or by a revision of etcd.
func (s *Seen) noteChange(key, when string, revision int64) {
	s.changes() // which makes the channel
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.change == nil {
		s.change = fmt.Errorf("another program changed %.200q in etcd, %s its revision %d: writes are refused; keep what was acknowledged with `clbemu state export`, "+
			"and restart every replica to go on with what etcd has", key, when, revision)
		close(s.noted)
	}
}
