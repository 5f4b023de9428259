package state

import (
	"context"
	"time"
)

// While a watch is open, an alarm waits for the first moment at which something
// becomes due, and lets a transaction write it. Otherwise nothing needs it written:
// readers see it projected, and the next transaction writes it.

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
				wait = longestWait
			}
			select {
			case <-s.After(wait):
			case <-s.written:
			case <-ctx.Done():
			}
		}
	}()
	return stop
}

// untilDue returns how long it takes until the first transition of the visible state is
// due. It reports whether one is due now.
func (s *Store) untilDue() (wait time.Duration, due bool) {
	v := &View{txn: s.visible.Load().reading(), schema: s.schema}
	v.now = emulatedTime(v, s.clock.Now())
	first, ok := transitionsByDue.First(v)
	if !ok {
		return longestWait, false
	}
	if !first.Due.After(v.now) {
		return 0, true
	}
	return first.Due.Sub(v.now), false
}
