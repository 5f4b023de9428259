package kinds_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

func adjust(t testing.TB, s *state.Store, advance time.Duration, scale float64) {
	t.Helper()
	if err := s.AdjustClock(advance, scale); err != nil {
		t.Fatalf("AdjustClock(%s, %v): %v", advance, scale, err)
	}
}

// wantTime compares the emulated time with what has passed since the start.
func wantTime(t testing.TB, s *state.Store, when string, since time.Duration) {
	t.Helper()
	if got := s.Now(); !got.Equal(start.Add(since)) {
		t.Errorf("%s: %s since the start, want %s", when, got.Sub(start), since)
	}
}

// The emulated time follows the base clock until it is set, and then goes its own
// way: frozen, advanced, faster or slower.
func TestAdjustClock(t *testing.T) {
	s, clock := timed(t)
	clock.Advance(time.Hour)
	wantTime(t, s, "untouched", time.Hour)
	adjust(t, s, 0, 0)
	clock.Advance(time.Hour)
	wantTime(t, s, "frozen", time.Hour)
	adjust(t, s, time.Hour, 0)
	wantTime(t, s, "advanced and frozen", 2*time.Hour)
	adjust(t, s, 0, 1)
	clock.Advance(time.Hour)
	wantTime(t, s, "released", 3*time.Hour)
	adjust(t, s, 0, 60)
	clock.Advance(time.Minute)
	wantTime(t, s, "sixty times as fast", 4*time.Hour)
	adjust(t, s, time.Hour, 0.5)
	clock.Advance(2 * time.Hour)
	wantTime(t, s, "advanced, and half as fast", 6*time.Hour)
	if status := s.ClockStatus(); status.Scale != 0.5 || !status.Now.Equal(start.Add(6*time.Hour)) {
		t.Errorf("ClockStatus = %+v", status)
	}
}

// A clock that was never set follows the base clock does.
func TestClockStatusUnset(t *testing.T) {
	s, _ := timed(t)
	if status := s.ClockStatus(); status.Scale != 1 || !status.Now.Equal(start) {
		t.Errorf("ClockStatus = %+v", status)
	}
}

// The clock refuses what it can't do, and changes nothing.
func TestAdjustClockRefuses(t *testing.T) {
	s, clock := timed(t)
	adjust(t, s, time.Hour, 2)
	for name, c := range map[string]struct {
		advance time.Duration
		scale   float64
	}{
		"back":            {-1, 1},
		"backwards":       {0, -1},
		"too fast":        {0, 1e7},
		"infinitely fast": {0, math.Inf(1)},
		"not a number":    {0, math.NaN()},
	} {
		if err := s.AdjustClock(c.advance, c.scale); !errors.Is(err, state.ErrClock) {
			t.Errorf("%s: AdjustClock = %v, want ErrClock", name, err)
		}
	}
	clock.Advance(time.Hour)
	wantTime(t, s, "after the refusals", 3*time.Hour)
}

// The setting survives a restart, and the emulated time does not go back when
// the base clock has.
func TestClockOverRestart(t *testing.T) {
	e, clock := &memory.Engine{}, state.NewManualClock(start)
	s := openAt(t, e, clock)
	adjust(t, s, day, 2)
	clock.Advance(time.Hour)
	checkAndClose(t, s)

	s = openAt(t, e, clock)
	clock.Advance(time.Hour)
	wantTime(t, s, "after the restart", day+4*time.Hour)
	checkAndClose(t, s)

	s = openAt(t, e, state.NewManualClock(start.Add(-time.Hour)))
	defer checkAndClose(t, s)
	wantTime(t, s, "with a base clock that went back", day)
}

// However fast and far the clock goes, time goes forward, and transactions can
// write it.
func TestClockGoesFar(t *testing.T) {
	s, clock := timed(t)
	write := func(when string) {
		t.Helper()
		before := s.Now()
		update(t, s, hangzhou, func(tx *state.Tx) error {
			kinds.VServerGroups.Put(tx, &kinds.VServerGroup{Owner: hangzhou, ID: "rsp-1", LoadBalancerID: "lb-1", CreateTime: tx.Now()})
			return nil
		})
		if s.Now().Before(before) || before.Before(start) {
			t.Errorf("%s: time went from %v to %v", when, before, s.Now())
		}
	}
	adjust(t, s, 0, 1e6)
	clock.Advance(time.Hour)
	write("an hour at a million times the speed")
	clock.Advance(365 * day)
	write("a year at a million times the speed")
	for {
		before := s.Now()
		if err := s.AdjustClock(math.MaxInt64, 1e6); errors.Is(err, state.ErrClock) {
			break
		} else if err != nil || !s.Now().After(before) {
			t.Fatalf("AdjustClock = %v, and goes from %v to %v", err, before, s.Now())
		}
	}
	clock.Advance(365 * day)
	write("at the end of time")
}
