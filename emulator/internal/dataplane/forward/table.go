package forward

import (
	"crypto/tls"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// A table is a plan made ready for use.
type table struct {
	Plan
	pool    *pool
	zones   map[string]*pool // where addresses have a zone's members alone
	routes  []route
	tls     *tls.Config
	limit   *limit
	hosts   map[string]*record // of HTTP members, by address
	cookies map[string]string  // from the values of sticky cookies to members' keys
}

// A pool is a group with its scheduler.
type pool struct {
	Group
	kind    Scheduler
	targets []*target
	scheduler
}

// compile returns the plan's table. Pools of the same members and scheduler carry
// over from the previous table, so that a change elsewhere does not disturb their turn.
func (s *Server) compile(p Plan, previous *table) (*table, error) {
	p = p.withDefaults()
	if err := p.check(); err != nil {
		return nil, err
	}
	t := &table{Plan: p, limit: newLimit(p.Bandwidth)}
	if previous != nil && previous.Bandwidth == p.Bandwidth {
		t.limit = previous.limit
	}
	t.pool = s.newPool(p.Group, p.Scheduler, previous)
	t.zones = s.newZones(&t.Plan, previous)
	t.routes = s.newRoutes(&t.Plan, previous)
	t.cookies = stickyValues(t.pools())
	t.hosts = hosts(t.pools())
	if p.Protocol == TCPSSL || p.Protocol == HTTPS {
		t.tls = p.tlsConfig()
	}
	return t, nil
}

func (s *Server) newPool(g Group, kind Scheduler, previous *table) *pool {
	if previous != nil {
		for _, p := range previous.pools() {
			if p.ID == g.ID && p.kind == kind && slices.Equal(p.Members, g.Members) {
				return p
			}
		}
	}
	p := &pool{Group: g, kind: kind}
	for _, m := range g.Members {
		r := s.record(m.Key)
		if m.available() {
			p.targets = append(p.targets, &target{Member: m, record: r, host: m.Addr.String(), hash: hashBytes([]byte(m.Key))})
		}
	}
	p.scheduler = newScheduler(kind, p.targets)
	return p
}

// newZones creates a pool for each zone that has addresses.
func (s *Server) newZones(p *Plan, previous *table) map[string]*pool {
	zones := make(map[string]*pool)
	for _, zone := range p.Zones {
		if zones[zone] != nil {
			continue
		}
		g := Group{ID: p.Group.ID + " in zone " + zone}
		for _, m := range p.Group.Members {
			if m.Zone == "" || m.Zone == zone {
				g.Members = append(g.Members, m)
			}
		}
		zones[zone] = s.newPool(g, p.Scheduler, previous)
	}
	return zones
}

// at returns the pool for clients that connected to a local address.
func (t *table) at(local netip.Addr) *pool {
	if zone, ok := t.Zones[local]; ok {
		return t.zones[zone]
	}
	return t.pool
}

// loops reports whether a client is the member itself, which would then answer itself
// instead of the load balancer. The usual address of this machine does not identify a
// client on it.
func (t *table) loops(m *target, client netip.Addr) bool {
	usual := client == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || client == netip.IPv6Loopback()
	return t.ClientAddress && !usual && m.Addr.Addr() == client
}

// hosts returns the records of the pools' members by address.
func hosts(pools []*pool) map[string]*record {
	records := make(map[string]*record)
	for _, p := range pools {
		for _, t := range p.targets {
			records[t.host] = t.record
		}
	}
	return records
}

// pools returns the table's pools: first the listener's, then the pools of zones and rules.
func (t *table) pools() []*pool {
	pools := []*pool{t.pool}
	for _, p := range t.zones {
		pools = append(pools, p)
	}
	for _, r := range t.routes {
		pools = append(pools, r.pool)
	}
	return pools
}

// members returns the plan's members by key. A member of several groups is in service where it is
// in one of them.
func (t *table) members() map[string]*Member {
	members := make(map[string]*Member)
	for _, p := range t.pools() {
		for i := range p.Members {
			m := &p.Members[i]
			if known := members[m.Key]; known == nil || !known.available() {
				members[m.Key] = m
			}
		}
	}
	return members
}

// target returns the available target with the key, or nil.
func (p *pool) target(key string) *target {
	for _, t := range p.targets {
		if t.Key == key {
			return t
		}
	}
	return nil
}

// whyEmpty says why the pool has no available member.
func (p *pool) whyEmpty() string {
	name := "the server group"
	if p.ID != "" {
		name += " " + p.ID
	}
	if len(p.Members) == 0 {
		return name + " has no backend server"
	}
	reasons := make([]string, 0, len(p.Members))
	for _, m := range p.Members[:min(len(p.Members), 5)] {
		reasons = append(reasons, m.Key+" "+m.whyUnavailable())
	}
	return fmt.Sprintf("%s has no available backend server: %s", name, strings.Join(reasons, ", "))
}

// whyUnavailable says why the member is not available.
func (m *Member) whyUnavailable() string {
	text := "has weight 0"
	switch {
	case m.Down:
		text = "is unhealthy"
	case !m.Addr.IsValid():
		text = "can't be reached"
	}
	if m.Reason != "" {
		text += " (" + m.Reason + ")"
	}
	return text
}

func (p *Plan) isWeb() bool { return p.Protocol == HTTP || p.Protocol == HTTPS }

// check reports what the plan can't mean.
func (p *Plan) check() error {
	if !slices.Contains([]Protocol{TCP, UDP, TCPSSL, HTTP, HTTPS}, p.Protocol) {
		return fmt.Errorf("forward: a listener can't speak %q", p.Protocol)
	}
	if err := p.checkGroup(p.Group, p.Scheduler); err != nil {
		return err
	}
	for _, r := range p.Rules {
		if err := p.checkGroup(r.Group, r.Scheduler); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plan) checkGroup(g Group, kind Scheduler) error {
	known := []Scheduler{"", WeightedRoundRobin, RoundRobin, WeightedLeastConnection, SourceHash, TupleHash, QUICHash}
	if !slices.Contains(known, kind) {
		return fmt.Errorf("forward: group %q has no scheduler %q", g.ID, kind)
	}
	for _, m := range g.Members {
		if m.Weight < 0 || m.Weight > 100 {
			return fmt.Errorf("forward: member %q of group %q has weight %d, not 0 to 100", m.Key, g.ID, m.Weight)
		}
		if p.isWeb() && m.Addr.IsValid() && m.Addr.Port() == 0 {
			return fmt.Errorf("forward: member %q of group %q has no port, which HTTP needs", m.Key, g.ID)
		}
	}
	return nil
}
