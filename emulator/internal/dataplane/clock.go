package dataplane

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
	"github.com/clbemu/clbemu/state"
)

// clock is the emulated time, by which connections are idle and drains end: it implements
// forward.Clock. run must run, and hear of adjustments of the store's clock.
type clock struct {
	store   *state.Store
	changed chan struct{} // wakes run

	callbacks sync.Mutex // held while a callback runs

	mu     sync.Mutex
	timers timers
}

var _ forward.Clock = (*clock)(nil)

func newClock(store *state.Store) *clock {
	return &clock{store: store, changed: make(chan struct{}, 1)}
}

// timer does something at a time.
type timer struct {
	at time.Time
	do func()
	n  int // its place in the heap, -1 once it has left
}

// Now implements forward.Clock.
func (c *clock) Now() time.Time { return c.store.Now() }

// Real implements forward.Clock.
func (c *clock) Real(d time.Duration) time.Duration { return c.store.Real(d) }

// AfterFunc implements forward.Clock.
func (c *clock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	t := &timer{at: c.Now().Add(d), do: f}
	c.mu.Lock()
	defer c.mu.Unlock()
	heap.Push(&c.timers, t)
	if t.n == 0 {
		c.wake()
	}
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		if t.n < 0 {
			return false
		}
		heap.Remove(&c.timers, t.n)
		return true
	}
}

// wake lets run look again, after a change of the clock.
func (c *clock) wake() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// longestSleep limits the time that run sleeps without a timer.
const longestSleep = time.Hour

// run does what is due until ctx ends.
func (c *clock) run(ctx context.Context) {
	for {
		select {
		case <-c.store.After(c.runDue()):
		case <-c.changed:
		case <-ctx.Done():
			return
		}
	}
}

// runDue does what is due, and returns how long it takes until more is.
func (c *clock) runDue() time.Duration {
	c.callbacks.Lock()
	defer c.callbacks.Unlock()
	for now := c.Now(); ; {
		due, left := c.next(now)
		if due == nil {
			return left
		}
		due()
	}
}

// next takes what is due, or returns how long it takes until more is.
func (c *clock) next(now time.Time) (due func(), left time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.timers) == 0 {
		return nil, longestSleep
	}
	if left := c.timers[0].at.Sub(now); left > 0 {
		return nil, left
	}
	return heap.Pop(&c.timers).(*timer).do, 0
}

// timers implements heap.Interface.
type timers []*timer

func (h timers) Len() int           { return len(h) }
func (h timers) Less(i, j int) bool { return h[i].at.Before(h[j].at) }

func (h timers) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].n, h[j].n = i, j
}

func (h *timers) Push(t any) {
	t.(*timer).n = len(*h)
	*h = append(*h, t.(*timer))
}

func (h *timers) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	t.n, (*h)[last], *h = -1, nil, (*h)[:last]
	return t
}
