package state

import (
	"testing"
	"time"
)

// The emulated time follows the machine's, which may jump back, and never goes
// back itself.
func TestSystemClockNeverGoesBack(t *testing.T) {
	machine := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := &SystemClock{machine: func() time.Time { return machine }}
	for _, step := range []struct{ machine, want time.Duration }{
		{0, 0}, {time.Second, time.Second}, {-time.Hour, time.Second}, {-time.Minute, time.Second}, {2 * time.Hour, 59*time.Minute + time.Second},
	} {
		machine = machine.Add(step.machine)
		if got := clock.Now().Sub(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)); got != step.want {
			t.Errorf("after the machine's clock moved by %s: %s, want %s", step.machine, got, step.want)
		}
	}
}
