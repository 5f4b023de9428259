package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
)

// board is notes in memory, and fails to share more with fails.
type board struct {
	mu    sync.Mutex
	notes [][]byte
	fails error
}

func (b *board) Share(note []byte) (kept func(context.Context) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fails := b.fails
	switch {
	case fails != nil:
	case len(b.notes) < 3: // some come together
		b.notes = append(b.notes, note)
	default:
		last := len(b.notes) - 1
		b.notes[last] = append(b.notes[last], note...)
	}
	return func(context.Context) error { return fails }
}

func (b *board) Shared(_ context.Context, after int64) ([][]byte, int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.notes[after:], int64(len(b.notes)), nil
}

// What one emulator has spent is refused by another that has learned it, and a call can
// wait until that is certain.
func TestSharedNonces(t *testing.T) {
	b := &board{}
	one, other := SharedNonces(b), SharedNonces(b)
	for i := range 100 {
		used, problem := one.spend(nonceOf("testid", fmt.Sprint(i), nonceStart), nonceStart)
		if problem != nil || used.known == nil {
			t.Fatalf("nonce %d: %v", i, problem)
		}
		if err := used.known(); err != nil {
			t.Fatal(err)
		}
	}
	b.notes = append(b.notes, []byte("not a record, and more than one long"), nil)
	for range 2 {
		if err := other.Learn(t.Context(), nonceStart); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 100 {
		if other.refuse(nonceOf("testid", fmt.Sprint(i), nonceStart)) == nil {
			t.Errorf("nonce %d is good elsewhere", i)
		}
	}
	if other.refuse(nonceOf("testid", "new", nonceStart)) != nil {
		t.Error("a new nonce is refused")
	}
	b.fails = errors.New("etcd is gone")
	if used, _ := one.spend(nonceOf("testid", "lost", nonceStart), nonceStart); !errors.Is(used.known(), b.fails) {
		t.Error("a nonce that nobody can know is kept")
	}
}
