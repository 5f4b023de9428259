package forward

import (
	"sync"
	"time"
)

// udpRelease is the time for which sessions go on with a UDP member that left, is down
// or has weight 0 (CLB-0601).
const udpRelease = 5 * time.Minute

// A record keeps the facts about a member over plans.
type record struct {
	counters
	key   string
	clock Clock
	flows flowSet

	mu   sync.Mutex
	stop func() bool // what is to cut the flows, nil where nothing is
}

// release cuts the member's flows after d, unless keep comes first. Without d they are
// cut when it returns.
func (r *record) release(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case d <= 0:
		r.flows.cut()
	case r.stop == nil:
		r.stop = r.clock.AfterFunc(d, r.flows.cut)
	}
}

// keep undoes release.
func (r *record) keep() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop != nil {
		r.stop()
		r.stop = nil
	}
}

// idle reports whether nothing of the member is open.
func (r *record) idle() bool { return r.active.Load() == 0 && r.flows.len() == 0 }

// follow schedules or cancels the cut of the member's flows as the plan says. m
// is nil where the plan lacks the member.
func (r *record) follow(p *Plan, m *Member) {
	switch {
	case p.Protocol == UDP && (m == nil || !m.available()):
		r.release(udpRelease)
	case p.Drain.On && (m == nil || m.Down):
		r.release(p.Drain.Timeout)
	default:
		r.keep()
	}
}
