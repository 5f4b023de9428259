package dataplane

import (
	"time"

	"github.com/clbemu/clbemu/faults"
)

// hearAgainAfter limits how late a listener starts or stops answering by a rule that
// depends on time.
const hearAgainAfter = 50 * time.Millisecond

// hearAgain returns when the rules need another look, never where there are none.
func (p *Plane) hearAgain() <-chan time.Time {
	if p.cfg.Faults.Idle(faults.Listen) {
		return nil
	}
	return time.After(hearAgainAfter)
}

// hear lets each socket take packets, or none, as the fault rules say.
func (p *Plane) hear() {
	if p.cfg.Faults.Idle(faults.Listen) && !p.deaf {
		return
	}
	p.deaf = false
	for _, l := range p.snapshot() {
		for _, socket := range l.bound {
			at := &packets{local: socket.at.Addr().Unmap()}
			deaf := p.cfg.Faults.Holds(faults.Listen, at.request(l), p.cfg.Store.Now())
			p.deaf = p.deaf || deaf
			if deaf == socket.deaf {
				continue
			}
			if err := setDeaf(socket, deaf); err != nil {
				l.config.Log(err)
				continue
			}
			socket.deaf = deaf
			if deaf {
				p.deafened(l, socket, at)
			}
		}
	}
}

// deafened counts and logs that a socket takes no packet.
func (p *Plane) deafened(l *listener, socket *boundSocket, at *packets) {
	if verdict, strikes := p.strike(faults.Listen, l, at); strikes {
		p.log.struckSocket(verdict, l, socket.at)
	}
}
