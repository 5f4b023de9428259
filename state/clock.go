package state

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Clock is the source of the emulated time.
type Clock interface {
	Now() time.Time
	// After returns a channel that receives when so much time has passed.
	After(time.Duration) <-chan time.Time
}

// SystemClock is the machine's clock, but for what that goes back: it stands still
// until the machine's shows the same again. The zero value is ready.
type SystemClock struct {
	mu      sync.Mutex
	latest  time.Time
	machine func() time.Time // nil is time.Now
}

var _ Clock = (*SystemClock)(nil)

// Now implements Clock.
func (c *SystemClock) Now() time.Time {
	now := time.Now
	if c.machine != nil {
		now = c.machine
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// Round takes the reading of the monotonic clock away, which would hide a step.
	if shown := now().Round(0).UTC(); shown.After(c.latest) {
		c.latest = shown
	}
	return c.latest
}

// After implements Clock.
func (c *SystemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// ManualClock stands still until Advance moves it.
type ManualClock struct {
	mu     sync.Mutex
	now    time.Time
	timers []timer
}

var _ Clock = (*ManualClock)(nil)

// timer is the timer that ManualClock.After returns.
type timer struct {
	due  time.Time
	fire chan time.Time
}

// NewManualClock returns a clock that shows start.
func NewManualClock(start time.Time) *ManualClock { return &ManualClock{now: start.UTC()} }

// Now implements Clock.
func (c *ManualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// After implements Clock.
func (c *ManualClock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := timer{c.now.Add(d), make(chan time.Time, 1)}
	c.timers = append(c.timers, t)
	c.fire()
	return t.fire
}

// Advance moves the clock forward.
func (c *ManualClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.fire()
}

// fire lets the timers go whose time has come. The caller holds the lock.
func (c *ManualClock) fire() {
	c.timers = slices.DeleteFunc(c.timers, func(t timer) bool {
		due := !t.due.After(c.now)
		if due {
			t.fire <- c.now
		}
		return due
	})
}

// ClockSetting relates the emulated time to the base clock: it was Emulated when the
// base clock showed Base, and runs Scale times as fast. Scale 0 is frozen. No setting
// is the base clock itself.
type ClockSetting struct {
	ID       string
	Emulated time.Time
	Base     time.Time
	Scale    float64
}

// ClockSettings holds the only setting.
var ClockSettings = NewTable(kernel, "ClockSetting", func(c *ClockSetting) string { return c.ID }, Setting(),
	// It is one that AdjustClock could have set.
	Checks(func(c *Checker, s *ClockSetting) {
		if s.Scale < 0 || s.Scale > maxScale || s.Emulated.Year() > maxYear {
			c.Fail("ClockSetting %s shows %s and goes at %v", s.ID, s.Emulated.Format(time.RFC3339), s.Scale)
		}
	}))

const clockSettingID = "clock"

// at never goes back, though the base clock may, and stands still rather than
// count what a Duration can't.
func (c *ClockSetting) at(base time.Time) time.Time {
	elapsed := float64(max(base.Sub(c.Base), 0)) * c.Scale
	return c.Emulated.Add(time.Duration(min(elapsed, float64(maxElapsed))))
}

// The limits of the emulated time, so that every time that a transaction writes
// has the four digits of the year that JSON takes.
const (
	maxElapsed = 200 * 365 * 24 * time.Hour
	maxYear    = 9000
)

// emulatedTime returns the time of a state when the base clock shows base.
func emulatedTime(v *View, base time.Time) time.Time {
	if c, ok := ClockSettings.Find(v, clockSettingID); ok {
		return c.at(base)
	}
	return base
}

// ClockStatus is the time and the speed of the emulated clock.
type ClockStatus struct {
	Now   time.Time
	Scale float64
}

// ClockStatus reads the emulated clock.
func (s *Store) ClockStatus() ClockStatus {
	v := s.View(Owner{})
	status := ClockStatus{Now: v.Now(), Scale: 1}
	if c, ok := ClockSettings.Find(v, clockSettingID); ok {
		status.Scale = c.Scale
	}
	return status
}

// longestWait limits how long After waits, since the machine's clock may jump meanwhile.
const longestWait = time.Minute

// After returns a channel that receives when d of emulated time has passed, or earlier: the
// clock may change meanwhile, so the receiver looks at Now.
func (s *Store) After(d time.Duration) <-chan time.Time {
	wait := s.Real(d)
	if c, ok := s.clockSetting(); ok && c.Scale == 0 {
		wait = longestWait
	}
	return s.clock.After(max(min(wait, longestWait), time.Nanosecond))
}

// Real returns how long d of emulated time takes on the base clock, unless that changes.
// A frozen clock counts as one that runs.
func (s *Store) Real(d time.Duration) time.Duration {
	if c, ok := s.clockSetting(); ok && c.Scale > 0 {
		return time.Duration(min(float64(d)/c.Scale, float64(maxElapsed)))
	}
	return d
}

func (s *Store) clockSetting() (*ClockSetting, bool) {
	v := View{txn: s.visible.Load().reading(), schema: s.schema}
	return ClockSettings.Find(&v, clockSettingID)
}

// maxScale bounds how fast the emulated time may go: a year in half a minute.
const maxScale = 1e6

// ErrClock is in every error about moving the clock.
var ErrClock = errors.New("the clock can't be set so")

// AdjustClock moves the emulated clock forward by advance, and runs it at scale from
// there; 0 freezes it. Time never goes back.
func (s *Store) AdjustClock(advance time.Duration, scale float64) error {
	if advance < 0 {
		return fmt.Errorf("%w: time does not go back, not even by %s", ErrClock, -advance)
	}
	if !(scale >= 0 && scale <= maxScale) {
		return fmt.Errorf("%w: the scale is %v, want 0 to %v", ErrClock, scale, float64(maxScale))
	}
	base := s.clock.Now() // before the transaction's own reading: later would go back
	return s.Update(Owner{}, func(tx *Tx) error {
		emulated := tx.Now().Add(advance)
		if emulated.Year() > maxYear {
			return fmt.Errorf("%w: %s from now is after the year %d", ErrClock, advance, maxYear)
		}
		ClockSettings.Put(tx, &ClockSetting{ID: clockSettingID, Emulated: emulated, Base: base, Scale: scale})
		return nil
	})
}
