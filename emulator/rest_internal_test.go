package emulator

import "testing"

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
