package dataplane

import (
	"fmt"
	"maps"
	"net/netip"
	"strconv"
	"strings"
	"sync"

	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/faults"
)

// observer lets what passes a listener go wrong by fault rules, and logs it.
type observer struct {
	plane    *Plane
	listener *listener
}

var _ forward.Observer = (*observer)(nil)

// pointOf returns the point of rules for a point of package forward.
func pointOf(p forward.Point) faults.Point {
	if p == forward.Connect {
		return faults.Connect
	}
	return faults.Forward
}

// Armed implements forward.Observer.
func (o *observer) Armed(p forward.Point) bool { return !o.plane.cfg.Faults.Idle(pointOf(p)) }

// Fault implements forward.Observer.
func (o *observer) Fault(p forward.Point, e *forward.Event) *forward.Fault {
	point := pointOf(p)
	if o.plane.cfg.Faults.Idle(point) {
		return nil
	}
	verdict, strikes := o.plane.applyFaults(point, o.listener, &faultRequest{local: e.Local.Addr(), client: e.Client.Addr(), member: e.Member, host: e.Host, path: e.Path})
	if !strikes {
		return nil
	}
	o.plane.log.recordFault(verdict, o.listener, e)
	f := &forward.Fault{Rule: verdict.Rule}
	verdict.Afflict(f)
	return f
}

// Logs implements forward.Observer.
func (o *observer) Logs() bool { return o.plane.log.whole }

// Ended implements forward.Observer.
func (o *observer) Ended(e *forward.Event) { o.plane.log.ended(o.listener, e) }

// faultRequest holds the known properties of packets at a listener. What is unknown is
// empty.
type faultRequest struct {
	local, client netip.Addr
	member        string
	host, path    string
	zone          string // in place of that of local
}

// request returns what rules may look at.
func (p *faultRequest) request(l *listener) faults.Request {
	return faults.Request{Packets: func(field string) (string, bool) {
		value := p.field(l, field)
		return value, value != ""
	}}
}

func (p *faultRequest) field(l *listener, name string) string {
	switch name {
	case "loadBalancer":
		return l.loadBalancer
	case "listener":
		return l.id
	case "protocol":
		return l.protocol
	case "server":
		return serverOf(p.member)
	case "host":
		return p.host
	case "path":
		return p.path
	case "address":
		return textOf(p.local)
	case "client":
		return textOf(p.client)
	case "zone":
		if p.zone != "" {
			return p.zone
		}
	}
	plan := l.followed.Load()
	switch {
	case plan == nil:
	case name == "port":
		return strconv.Itoa(plan.firstPort)
	case name == "zone":
		return plan.zones[p.local]
	}
	return ""
}

func textOf(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}

// serverOf returns the name of a member without its port.
func serverOf(key string) string { return key[:max(strings.LastIndex(key, ":"), 0)] }

// applyFaults asks the fault rules of a point, and counts what they strike.
func (p *Plane) applyFaults(point faults.Point, l *listener, packets *faultRequest) (faults.Verdict, bool) {
	verdict, strikes := p.cfg.Faults.At(point, packets.request(l), p.cfg.Store.Now())
	if strikes {
		l.faultCounts.count(verdict.Rule)
	}
	return verdict, strikes
}

// checkFault returns why a fault rule lets a check of a server fail that some listeners
// share.
func (p *Plane) checkFault(server string, frontends []string) error {
	if p.cfg.Faults.Idle(faults.Check) {
		return nil
	}
	for _, id := range frontends {
		l := p.find(id)
		if l == nil {
			continue
		}
		if verdict, strikes := p.applyFaults(faults.Check, l, &faultRequest{member: server + ":"}); strikes {
			p.log.recordCheckFault(verdict, l, server)
			return failing(topology.ConnectFailed, fmt.Errorf("the fault rule %s lets the check fail", verdict.Rule))
		}
	}
	return nil
}

// faultCounts count what fault rules have struck, by rule.
type faultCounts struct {
	mu sync.Mutex
	by map[string]uint64
}

func (s *faultCounts) count(rule string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = make(map[string]uint64)
	}
	s.by[rule]++
}

func (s *faultCounts) all() map[string]uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.by)
}
