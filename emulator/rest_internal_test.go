package emulator

import (
	"runtime"
	"testing"
)

// TestQuiet proves that memory is given back once after each time that there were
// calls, and not while there are.
func TestQuiet(t *testing.T) {
	var q quiet
	for i, step := range []struct {
		calls  uint64
		begins bool
	}{{0, true}, {0, false}, {5, false}, {6, false}, {6, true}, {6, false}, {7, false}, {7, true}} {
		if got := q.begins(step.calls); got != step.begins {
			t.Errorf("step %d, %d calls: quiet begins = %v, want %v", i, step.calls, got, step.begins)
		}
	}
}

// TestThrift proves that a large heap gets less room, and that one near the limit does
// not go to and fro.
func TestThrift(t *testing.T) {
	collector := thrift{percent: usualPercent}
	for i, step := range []struct {
		inUse   uint64
		percent int
		changed bool
	}{
		{1 << 20, 100, false}, {largeHeap, 100, false}, {largeHeap + 1, 50, true}, {1 << 40, 50, false},
		{largeHeap - 1, 50, false}, {largeHeap/2 - 1, 100, true}, {largeHeap - 1, 100, false},
	} {
		if percent, changed := collector.wants(step.inUse); percent != step.percent || changed != step.changed {
			t.Errorf("step %d: wants(%d) = %d, %t, want %d, %t", i, step.inUse, percent, changed, step.percent, step.changed)
		}
	}
	runtime.GC()
	if heapInUse() == 0 {
		t.Error("the runtime does not tell how much of the heap is in use")
	}
}
