package command

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// startGCPercent is for the start, which allocates much that stays and little that
	// goes, so that collections would gain nothing.
	startGCPercent = 400
	// largeGCPercent is for a heap of largeHeap and more, which grows slowly and would
	// double the process for it.
	largeGCPercent = 50
	largeHeap      = 128 << 20
	// heapCheck is the time between two looks at the heap.
	heapCheck = 15 * time.Second
)

// tuneCollector sets how much room the garbage collector leaves beside the heap in
// use, from the end of the start until ctx ends: usual, a percentage as in
// debug.SetGCPercent, or less for a large heap. It is the command's business: a process
// that embeds an emulator has its own.
func tuneCollector(ctx context.Context, usual int) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(startOver):
	}
	debug.SetGCPercent(usual)
	debug.FreeOSMemory()
	ticker := time.NewTicker(heapCheck)
	defer ticker.Stop()
	followHeap(ctx, ticker.C, usual)
}

// followHeap looks at the heap at each tick, until ctx ends.
func followHeap(ctx context.Context, ticks <-chan time.Time, usual int) {
	for now := usual; ; {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		// Setting it stops the world, so only a change is set.
		if next := gcPercent(now, usual, liveHeap()); next != now {
			debug.SetGCPercent(next)
			now = next
		}
	}
}

// gcPercent returns the percentage for a heap with so many bytes in use, given the
// percentage now. A heap that has shrunk to half of a large one gets the usual again,
// so that one at the limit doesn't switch each time.
func gcPercent(now, usual int, live uint64) int {
	switch {
	case live >= largeHeap:
		return min(usual, largeGCPercent)
	case live < largeHeap/2:
		return usual
	default:
		return now
	}
}

// liveHeap returns the bytes that the last collection found in use.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
