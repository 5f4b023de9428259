package gateway

import (
	"context"
	"sync"
	"time"
)

// Notes are what the emulators that share a state tell each other, for at least as long
// as a nonce is remembered.
type Notes interface {
	// Share tells the others a note; what is committed from then on is not kept without it.
	// Kept returns when they can read it. Notes that come together are one.
	Share(note []byte) (kept func(context.Context) error)
	// Shared returns the notes after a position, and the position of the last.
	Shared(ctx context.Context, after int64) (notes [][]byte, position int64, err error)
}

// nonceNotes shares used nonces. A note is records, as in the file.
type nonceNotes struct {
	notes Notes

	learning sync.Mutex
	position int64
}

// SharedNonces returns the nonces of one of several emulators. It knows what it has
// learned of the others.
func SharedNonces(notes Notes) *Nonces { return &Nonces{shared: &nonceNotes{notes: notes}} }

// shareTimeout limits how long a call waits until others know its nonce.
const shareTimeout = 5 * time.Second

// share shares a nonce, and returns what waits until the others can know it.
func (s *nonceNotes) share(used nonce) (known func() error) {
	kept := s.notes.Share(used.bytes())
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), shareTimeout)
		defer cancel()
		return kept(ctx)
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
