package dataplane

import (
	"time"

	"github.com/clbemu/clbemu/faults"
)

// filterInterval limits how late a listener starts or stops answering by a rule that
// depends on time.
const filterInterval = 50 * time.Millisecond

// filterTimer returns when to look at the rules again, or never if there are none.
func (p *Plane) filterTimer() <-chan time.Time {
	if p.cfg.Faults.Idle(faults.Listen) {
		return nil
	}
	return time.After(filterInterval)
}

// setFilters lets each socket take packets, or none, as the fault rules say.
func (p *Plane) setFilters() {
	if p.cfg.Faults.Idle(faults.Listen) && !p.filtering {
		return
	}
	p.filtering = false
	for _, l := range p.snapshot() {
		for _, socket := range l.bound {
			at := &faultRequest{local: socket.at.Addr().Unmap()}
			deaf := p.cfg.Faults.Holds(faults.Listen, at.request(l), p.cfg.Store.Now())
			if !deaf {
				socket.lost = time.Time{}
			}
			p.filtering = p.filtering || deaf
			deaf = deaf && !p.failedOver(l, socket, at)
			if deaf == socket.filtered {
				continue
			}
			if err := setFilter(socket, deaf); err != nil {
				l.config.Log(err)
				continue
			}
			socket.filtered = deaf
			if deaf {
				p.recordFilter(l, socket, at)
			}
		}
	}
}

// failover is the time for which a load balancer is out until its secondary zone serves: CLB-0633.
const failover = 30 * time.Second

// failedOver reports whether the secondary zone serves a socket that a rule makes deaf with
// its zone. When the zone is back, it serves at once.
func (p *Plane) failedOver(l *listener, socket *boundSocket, at *faultRequest) bool {
	plan, now := l.followed.Load(), p.cfg.Store.Now()
	if plan == nil || plan.standby == "" {
		return false
	}
	elsewhere := *at
	elsewhere.zone = plan.standby
	if p.cfg.Faults.Holds(faults.Listen, elsewhere.request(l), now) {
		return false // of the listener, or of both zones
	}
	if socket.lost.IsZero() {
		socket.lost = now
	}
	return now.Sub(socket.lost) >= failover
}

// Answers implements topology.Prober: an address does unless a rule makes it deaf, with its
// zone or alone.
func (p *Plane) Answers(loadBalancerID, zone, address string) bool {
	fields := map[string]string{"loadBalancer": loadBalancerID, "zone": zone, "address": address}
	return !p.cfg.Faults.Holds(faults.Listen, faults.Request{Packets: func(field string) (string, bool) {
		value, ok := fields[field]
		return value, ok && value != ""
	}}, p.cfg.Store.Now())
}

// recordFilter counts and logs that a socket takes no packet.
func (p *Plane) recordFilter(l *listener, socket *boundSocket, at *faultRequest) {
	if verdict, strikes := p.applyFaults(faults.Listen, l, at); strikes {
		p.log.recordFilter(verdict, l, socket.at)
	}
}
