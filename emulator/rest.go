package emulator

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
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
	collector := thrift{percent: usualPercent}
	for {
		select {
		case <-ticker.C:
		case <-e.life.Done():
			return
		}
		if percent, changed := collector.wants(heapInUse()); changed && os.Getenv("GOGC") == "" {
			debug.SetGCPercent(percent)
		}
		if calls.begins(e.calls.Load()) {
			debug.FreeOSMemory()
		}
	}
}

// heapInUse is what the last collection found in use, in bytes.
func heapInUse() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// thrift decides how much room the collector leaves beside what is in use: as much
// again, and half of that once a state is so large that the room counts and is used
// up slowly.
type thrift struct{ percent int }

const (
	usualPercent   = 100
	thriftyPercent = 50
	largeHeap      = 128 << 20
)

// wants returns the percentage for a heap, and whether it is another one than
// before.
func (t *thrift) wants(inUse uint64) (percent int, changed bool) {
	before := t.percent
	switch {
	case inUse > largeHeap:
		t.percent = thriftyPercent
	case inUse < largeHeap/2:
		t.percent = usualPercent
	}
	return t.percent, t.percent != before
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
