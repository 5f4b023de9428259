package emulator

import (
	"runtime/debug"
	"time"
)

// restAfter is how long there must have been no call before memory is given back.
const restAfter = 15 * time.Second

// rest gives the memory that calls have left behind back to the machine: an
// emulator waits far longer than it works, and the collector by itself keeps room
// for as much again as is in use.
func (e *Emulator) rest() {
	ticker := time.NewTicker(restAfter)
	defer ticker.Stop()
	var calls quiet
	for {
		select {
		case <-ticker.C:
		case <-e.life.Done():
			return
		}
		if calls.begins(e.calls.Load()) {
			debug.FreeOSMemory()
		}
	}
}

// quiet finds out when calls have ended.
type quiet struct {
	calls uint64
	since bool
}

// begins tells whether no call was answered since it was asked last, for the
// first time after there were some.
func (q *quiet) begins(calls uint64) bool {
	busy, known := calls != q.calls, q.since
	q.calls, q.since = calls, !busy
	return !busy && !known
}
