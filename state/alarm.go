package state

import (
	"context"
	"time"
)

// While somebody watches, an alarm waits for the first moment at which something
// becomes due, and lets a transaction write it. Otherwise nobody needs it written:
// readers see it projected, and the next transaction writes it.

// alarmPause limits how long the alarm waits, since the machine's clock may be set
// meanwhile, and after a write that failed.
const alarmPause = time.Minute

// startAlarm starts the alarm. Its end is not waited for.
func (s *Store) startAlarm() (stop context.CancelFunc) {
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		for ctx.Err() == nil {
			wait, due := s.untilDue()
			if due {
				if s.Update(Owner{}, nil) == nil {
					continue
				}
				wait = alarmPause
			}
			select {
			case <-s.clock.After(min(wait, alarmPause)):
			case <-s.written:
			case <-ctx.Done():
			}
		}
	}()
	return stop
}

// untilDue returns how long, by the base clock, it takes until the first transition
// of the visible state is due. It reports whether one is due now.
func (s *Store) untilDue() (wait time.Duration, due bool) {
	base := s.clock.Now()
	v := &View{txn: s.visible.Load().reading(), schema: s.schema}
	v.now = emulatedTime(v, base)
	first, ok := transitionsByDue.First(v)
	if !ok {
		return alarmPause, false
	}
	if !first.Due.After(v.now) {
		return 0, true
	}
	wait = first.Due.Sub(v.now)
	if c, ok := ClockSettings.Find(v, clockSettingID); ok {
		if c.Scale == 0 {
			return alarmPause, false
		}
		wait = time.Duration(min(float64(wait)/c.Scale, float64(alarmPause)))
	}
	return max(wait, time.Nanosecond), false
}
