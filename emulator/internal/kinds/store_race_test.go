package kinds_test

import (
	"errors"
	"fmt"
	"testing"

	"maps"
	"sync"
	"testing/synctest"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// A feed that breaks leads to a new reading, never to a gap; those who watch begin again.
func TestFollowABrokenFeed(t *testing.T) {
	e := &memory.Engine{}
	leader := planted(t, e)
	follower := followed(t, &broken{e, 3})
	watched := make(chan error, 1)
	go func() {
		for _, err := range follower.Watch(t.Context(), 0) {
			if err != nil {
				watched <- err
				return
			}
		}
	}()
	for n := range 20 {
		update(t, leader, state.Owner{}, putAccount(fmt.Sprint(n)))
	}
	reaches(t, follower, leader.Revision())
	sameStores(t, leader, follower)
	if err := <-watched; !errors.Is(err, state.ErrBehind) {
		t.Errorf("the watch ended with %v", err)
	}
}

// read starts readers that run until the test calls stop.
func read(t *testing.T, s *state.Store) (stop func()) {
	ended := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
				if err := consistent(s.View(hangzhou)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	return func() { close(ended); wg.Wait() }
}

// Many writers at once: every acknowledged change is there, and nothing
// is given out twice.
func TestConcurrentWriters(t *testing.T) {
	e := &memory.Engine{}
	s := planted(t, e)
	var wg sync.WaitGroup
	var mu sync.Mutex
	acknowledged := newTwin()
	for range 16 {
		wg.Go(func() {
			made := newTwin()
			err := s.Update(hangzhou, func(tx *state.Tx) error { return createLoadBalancer(made, tx, 0, 0) })
			if err != nil && factOf(err) != kinds.NoFreeAddress {
				t.Errorf("Update: %v", err)
			}
			if err == nil {
				mu.Lock()
				maps.Copy(acknowledged.loadBalancers, made.loadBalancers)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if n := len(acknowledged.loadBalancers); n != 12 {
		t.Errorf("%d load balancers got one of 12 addresses", n)
	}
	view(t, s, hangzhou, func(v *state.View) {
		if err := acknowledged.compare(v); err != nil {
			t.Error(err)
		}
	})
}

// The clock may move while transactions run.
func TestManualClockIsSafe(t *testing.T) {
	clock := state.NewManualClock(start)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { clock.Advance(time.Second); clock.Now() })
	}
	wg.Wait()
	if want := start.Add(8 * time.Second); !clock.Now().Equal(want) {
		t.Errorf("Now = %v, want %v", clock.Now(), want)
	}
}

// started runs Update in the background; the channel gets its error.
func started(s *state.Store, fn func(*state.Tx) error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- s.Update(state.Owner{}, fn) }()
	synctest.Wait()
	return done
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		s := open(t, g)
		g.shut.Store(true)
		writer := started(s, putAccount("1"))
		closed := make(chan error, 1)
		go func() { closed <- s.Close() }()
		mustWait(t, "Close", closed)
		if err := s.Update(state.Owner{}, putAccount("2")); !errors.Is(err, state.ErrClosed) {
			t.Errorf("Update while the store closes = %v, want ErrClosed", err)
		}
		g.verdict <- nil
		if err := errors.Join(<-writer, <-closed); err != nil {
			t.Errorf("the waiting commit or Close: %v", err)
		}
		if _, err := s.Check(t.Context()); !errors.Is(err, state.ErrClosed) {
			t.Errorf("Check of a closed store = %v, want ErrClosed", err)
		}
		if err := s.Close(); err != nil || g.closed != 1 {
			t.Errorf("the second Close = %v, engine closed %d times", err, g.closed)
		}
		g.shut.Store(false)
		again := open(t, g)
		defer checkAndClose(t, again)
		if !hasAccount(t, again, "1") || hasAccount(t, again, "2") {
			t.Error("the reopened store does not hold exactly what was acknowledged")
		}
	})
}
