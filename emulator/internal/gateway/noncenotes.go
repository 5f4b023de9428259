package gateway

import (
	"context"
	"sync"
	"time"
)

// Notes are what the emulators that share a state tell each other, for at least as long
// as a nonce is remembered.
type Notes interface {
	// Share returns when the others can read the note.
	Share(ctx context.Context, note []byte) error
	// Shared returns the notes after a position, and the position of the last.
	Shared(ctx context.Context, after int64) (notes [][]byte, position int64, err error)
}

// nonceNotes shares used nonces, those that come meanwhile together. Each note is
// records, as in the file.
type nonceNotes struct {
	notes Notes

	mu       sync.Mutex
	filling  *nonceBatch // takes nonces while another is on its way
	sharing  bool
	hurry    chan struct{} // wakes who shares when a call waits
	learning sync.Mutex
	position int64
}

type nonceBatch struct {
	note []byte
	err  error
	done chan struct{}
}

// SharedNonces returns the nonces of one of several emulators. It knows what it has
// learned of the others.
func SharedNonces(notes Notes) *Nonces {
	return &Nonces{shared: &nonceNotes{notes: notes, hurry: make(chan struct{}, 1)}}
}

// shareEvery is how often nonces are shared that no call waits for: the many nonces of
// reads.
const shareEvery = 100 * time.Millisecond

// shareTimeout limits how long a call waits until others know its nonce.
const shareTimeout = 5 * time.Second

// share shares a nonce, and returns what waits until the others can know it.
func (s *nonceNotes) share(used nonce) (kept func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.filling == nil {
		s.filling = &nonceBatch{done: make(chan struct{})}
	}
	b := s.filling
	b.note = append(b.note, used.bytes()...)
	if !s.sharing {
		s.sharing = true
		go s.shareAll()
	}
	return func() error {
		select {
		case s.hurry <- struct{}{}:
		default:
		}
		<-b.done
		return b.err
	}
}

// shareAll shares batch after batch until none waits.
func (s *nonceNotes) shareAll() {
	for {
		select {
		case <-s.hurry:
		case <-time.After(shareEvery):
		}
		s.mu.Lock()
		b := s.filling
		s.filling, s.sharing = nil, b != nil
		s.mu.Unlock()
		if b == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), shareTimeout)
		b.err = s.notes.Share(ctx, b.note)
		cancel()
		close(b.done)
	}
}

// Learn adds the nonces that were shared since it was last asked; it does nothing for
// nonces that are not shared.
func (n *Nonces) Learn(ctx context.Context, now time.Time) error {
	s := n.shared
	if s == nil {
		return nil
	}
	s.learning.Lock()
	defer s.learning.Unlock()
	notes, position, err := s.notes.Shared(ctx, s.position)
	if err != nil {
		return err
	}
	s.position = position
	n.mu.Lock()
	defer n.mu.Unlock()
	age := n.age(now)
	for _, note := range notes {
		for ; len(note) >= nonceRecord; note = note[nonceRecord:] {
			if used, good := readRecord(note[:nonceRecord]); good {
				n.makeRoom(age)
				n.add(used, age)
			}
		}
	}
	return nil
}
