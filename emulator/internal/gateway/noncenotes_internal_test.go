package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
)

// board is notes in memory, whose sharing waits for open, and fails with fails.
type board struct {
	mu    sync.Mutex
	notes [][]byte
	open  chan struct{}
	fails error
}

func (b *board) Share(_ context.Context, note []byte) error {
	<-b.open
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fails == nil {
		b.notes = append(b.notes, note)
	}
	return b.fails
}

func (b *board) Shared(_ context.Context, after int64) ([][]byte, int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.notes[after:], int64(len(b.notes)), nil
}

// What one emulator has spent is refused by another that has learned it; a call can wait
// until that is certain; and nonces that come while others are on their way go together.
func TestSharedNonces(t *testing.T) {
	b := &board{open: make(chan struct{})}
	one, other := SharedNonces(b), SharedNonces(b)
	var kept []func() error
	for i := range 100 {
		problem, wait := one.spend(nonceOf("testid", fmt.Sprint(i), nonceStart), nonceStart)
		if problem != nil || wait == nil {
			t.Fatalf("nonce %d: %v", i, problem)
		}
		kept = append(kept, wait)
	}
	close(b.open)
	for _, wait := range kept {
		if err := wait(); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.notes) > 3 {
		t.Errorf("100 nonces made %d notes", len(b.notes))
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
	if _, wait := one.spend(nonceOf("testid", "lost", nonceStart), nonceStart); !errors.Is(wait(), b.fails) {
		t.Error("a nonce that nobody can know is kept")
	}
}
