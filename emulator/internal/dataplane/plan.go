package dataplane

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

// planned is a plan in a form that can be compared.
type planned struct {
	forward.Plan
	firstPort  int
	admissions []topology.Admission // one for each port, or one for all
	zones      map[netip.Addr]string
	standby    string // the zone that serves while theirs is gone
}

// forward returns the plan with its admission.
func (p *planned) forward() forward.Plan {
	plan := p.Plan
	plan.Admit = p.admits
	return plan
}

// admits reports whether a client may connect to a port. It refuses those at a port that
// the listener has just given up.
func (p *planned) admits(client netip.Addr, port uint16) bool {
	if len(p.admissions) == 1 {
		return p.admissions[0].Admits(client)
	}
	i := int(port) - p.firstPort
	return 0 <= i && i < len(p.admissions) && p.admissions[i].Admits(client)
}

// planner builds the plan of one frontend.
type planner struct {
	*Plane
	v      *state.View
	lb     *topology.LoadBalancer
	f      *topology.Frontend
	health topology.Health
	checks []checkKey
}

// plan reads what a frontend does, with the checks that its members need.
func (p *Plane) plan(v *state.View, lb *topology.LoadBalancer, f *topology.Frontend) (*planned, []checkKey, error) {
	r := &planner{Plane: p, v: v, lb: lb, f: f, health: p.Health()}
	of := f.Forwarding
	plan := forward.Plan{
		Protocol: forward.Protocol(f.Protocol), Scheduler: forward.Scheduler(f.Scheduler),
		Persistence: of.Persistence, Sticky: stickyOf(of.Sticky),
		EstablishedTimeout: of.IdleTimeout, IdleTimeout: of.IdleTimeout, RequestTimeout: of.RequestTimeout,
		Drain:     forward.Drain{On: of.Drain > 0, Timeout: of.Drain},
		Bandwidth: f.Bandwidth, Gzip: of.Gzip, HTTP2: of.HTTP2, Redirect: forward.Redirect(of.Redirect),
		ClientAddress: of.ClientAddress,
		ProxyProtocol: forward.ProxyProtocol{On: of.ProxyProtocol.Enabled, VPCID: of.ProxyProtocol.VPCID, EndpointID: of.ProxyProtocol.EndpointID},
		Forwarded:     r.headers(),
	}
	if g, ok := f.Group(); ok {
		plan.Group = r.group(&g, f)
		if g.Scheduler != "" {
			plan.Scheduler = forward.Scheduler(g.Scheduler)
		}
		if g.Drains {
			plan.Drain = forward.Drain{On: true, Timeout: g.Drain}
		}
		plan.ClientAddress = plan.ClientAddress || g.ClientAddress
	}
	if lb.Type == "internet" { // a member comes by its own public address (CLB-0631)
		plan.ClientAddress = false
	}
	zones := zonesOf(lb)
	if lb.ZonesApart && p.binder.keepsPorts() {
		plan.Zones = zones
	}
	for rule := range f.Rules {
		plan.Rules = append(plan.Rules, r.rule(&rule))
	}
	if f.TLS.Load != nil {
		keys, err := f.TLS.Load()
		if err == nil {
			plan.TLS, err = p.keys.load(&keys, of.ALPN)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return &planned{plan, f.FirstPort, r.admissions(), zones, lb.Standby}, r.checks, nil
}

// zonesOf returns the zones of a load balancer's addresses.
func zonesOf(lb *topology.LoadBalancer) map[netip.Addr]string {
	zones := make(map[netip.Addr]string)
	for _, address := range lb.Addresses {
		for _, ip := range ipsOf(&address) {
			zones[ip] = address.Zone
		}
	}
	return zones
}

// admissions reads who may connect to each port at which the listener answers.
func (r *planner) admissions() (list []topology.Admission) {
	last := r.f.FirstPort
	if r.binder.keepsPorts() {
		last = min(max(last, r.f.LastPort), last+maxSockets-1)
	}
	for port := r.f.FirstPort; port <= last; port++ {
		list = append(list, r.f.Admission(port))
	}
	return list
}

func stickyOf(s topology.Sticky) forward.Sticky {
	return forward.Sticky{Mode: forward.StickyMode(s.Type), Timeout: s.Timeout, Cookie: s.Cookie}
}

func (r *planner) headers() forward.Forwarded {
	h := r.f.Forwarding.Headers
	out := forward.Forwarded{For: h.For, Proto: h.Proto, ClientPort: h.ClientPort}
	if h.Port {
		out.Port = r.f.FirstPort
	}
	if h.ID {
		out.ID = r.lb.ID
	}
	if h.IP && len(r.lb.Addresses) > 0 {
		out.IP, out.LocalIP = r.lb.Addresses[0].IP, r.binder.keepsPorts()
	}
	return out
}

func (r *planner) rule(rule *topology.Rule) forward.Rule {
	out := forward.Rule{ID: rule.ID, Domain: rule.Domain, Path: rule.URL}
	if rule.Own != nil {
		sticky := stickyOf(rule.Own.Sticky)
		out.Scheduler, out.Sticky = forward.Scheduler(rule.Own.Scheduler), &sticky
	}
	if g, ok := rule.Group(); ok {
		out.Group = r.group(&g, r.f.By(rule))
	}
	return out
}

// group reads a group; the frontend is as its requests find it.
func (r *planner) group(g *topology.Group, f *topology.Frontend) forward.Group {
	out := forward.Group{ID: g.ID}
	masterServes := false
	for i := range g.Members {
		m := r.member(f, g, &g.Members[i])
		masterServes = masterServes || !g.Members[i].Slave && !m.Down && m.Addr.IsValid()
		out.Members = append(out.Members, m)
	}
	for i := range out.Members {
		if g.Members[i].Slave && masterServes {
			out.Members[i].Down, out.Members[i].Reason = true, "the slave waits while the master serves"
		}
	}
	if g.BestEffort && !slices.ContainsFunc(out.Members, func(m forward.Member) bool { return m.Weight > 0 && !m.Down }) {
		for i := range out.Members {
			out.Members[i].Down = false
		}
	}
	return out
}

func (r *planner) member(f *topology.Frontend, g *topology.Group, m *topology.Member) forward.Member {
	port := portOf(f, m)
	out := forward.Member{Key: fmt.Sprintf("%s:%d", nameOf(m), port), Weight: m.Weight, Zone: m.Zone}
	at, err := r.memberAddr(m, port)
	if err != nil {
		out.Reason = err.Error()
		return out
	}
	out.Addr = at
	if f.PortOf(m) == 0 && m.ReachAt.Port() == 0 && r.binder.keepsPorts() {
		out.Addr = netip.AddrPortFrom(at.Addr(), 0) // the port that the client connects to
	}
	if check := topology.CheckOf(f, g); check.Enabled {
		r.checks = append(r.checks, newCheckKey(check, m, at))
	}
	if r.health.Of(r.v, f, g, m) == topology.Abnormal {
		out.Down, out.Reason = true, "its health check fails"
	}
	return out
}

// nameOf names a member in counters and conditions: by its address where it has no id.
func nameOf(m *topology.Member) string { return cmp.Or(m.ServerID, m.Address) }

// portOf returns the port of a member; one that takes all ports gets the frontend's first.
func portOf(f *topology.Frontend, m *topology.Member) int {
	if port := f.PortOf(m); port != 0 {
		return port
	}
	return f.FirstPort
}

// errGone is the reason of a server without an address.
var errGone = errors.New("the server does not exist any more")

// memberAddr finds the address at which this machine reaches a member.
func (p *Plane) memberAddr(m *topology.Member, port int) (netip.AddrPort, error) {
	if m.ReachAt.IsValid() {
		if m.ReachAt.Port() != 0 {
			return m.ReachAt, nil
		}
		return netip.AddrPortFrom(m.ReachAt.Addr(), uint16(port)), nil
	}
	address, err := netip.ParseAddr(m.Address)
	switch {
	case err != nil:
		return netip.AddrPort{}, errGone
	case p.direct(address):
		return netip.AddrPortFrom(address, uint16(port)), nil
	}
	return netip.AddrPort{}, fmt.Errorf("no way to %s from here: clbemu world set instance.%s.reachAt=127.0.0.1:%d", m.Address, nameOf(m), port)
}

// direct reports whether a block has the address. Addresses of this machine and of its link are
// reached by a block of such addresses alone: in 0.0.0.0/0 an operator does not mean them, and
// clients of the cloud's API choose what addresses members have.
func (p *Plane) direct(address netip.Addr) bool {
	address = address.Unmap()
	return slices.ContainsFunc(p.cfg.Direct, func(block netip.Prefix) bool {
		return block.Contains(address) && (!near(address) || near(block.Addr()) && block.Bits() >= 8)
	})
}

// near reports whether packets to an address stay on this machine or its link.
func near(a netip.Addr) bool {
	return a.IsUnspecified() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsMulticast() || a == netip.AddrFrom4([4]byte{255, 255, 255, 255})
}
