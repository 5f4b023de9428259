package gateway

import (
	"context"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
)

// MemoryBudget bounds the memory that all calls under way take together, of all servers that
// share it. Parameters are read before the caller is known.
type MemoryBudget struct {
	// bodies is in bytes of large bodies, taken before they are read. A client may
	// send one slowly, so that small ones do not wait for it.
	bodies *semaphore.Weighted
	// parameters is in bytes of what a query and a body that are here become.
	parameters *semaphore.Weighted
}

const (
	budgetForBodies     = 16 * MaxBody
	budgetForParameters = 32 << 20
	smallBody           = 64 << 10
	// paramCost is the memory that a parameter takes in addition to its letters.
	paramCost = 256
	// patience limits how long a call waits for memory, and bodyTimeout how long a large
	// body may take that others wait for.
	patience    = 10 * time.Second
	bodyTimeout = 30 * time.Second
)

// NewMemoryBudget returns a budget of which nothing is taken.
func NewMemoryBudget() *MemoryBudget {
	return &MemoryBudget{semaphore.NewWeighted(budgetForBodies), semaphore.NewWeighted(budgetForParameters)}
}

// share is the part of the budget that a call holds.
type share struct {
	of   *semaphore.Weighted
	size int64
}

// acquire waits for a share, and refuses the call when that takes too long.
func (s *share) acquire(ctx context.Context, of *semaphore.Weighted, size int64) *Problem {
	if !of.TryAcquire(size) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if of.Acquire(ctx, size) != nil {
			return problemBusy
		}
	}
	*s = share{of, size}
	return nil
}

// shrink gives back all but size.
func (s *share) shrink(size int64) {
	if s.size > size {
		s.of.Release(s.size - size)
		s.size = size
	}
}

// costOf bounds the memory of parameters that arrive in the given number of bytes.
func costOf(bytes int) int64 { return int64(bytes + min(bytes/2+1, maxParams)*paramCost) }

// limitBodyTime gives a client so long for its body. Where there is no connection, there is
// no time to limit.
func limitBodyTime(w http.ResponseWriter) (stop func()) {
	controller := http.NewResponseController(w)
	if controller.SetReadDeadline(time.Now().Add(bodyTimeout)) != nil {
		return func() {}
	}
	return func() { _ = controller.SetReadDeadline(time.Time{}) }
}
