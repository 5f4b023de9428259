package kinds

import (
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

// NLB's kinds as a topology.
var (
	_ = NLBLoadBalancers.With(state.Shows(showNLBLoadBalancer))
	_ = NLBListeners.With(state.Shows(func(v *state.View, l *NLBListener) (topology.Frontend, bool) { return showNLBListener(v, l), true }))
	_ = NLBServerGroups.With(state.Shows(func(v *state.View, g *NLBServerGroup) (topology.Group, bool) { return showNLBServerGroup(v, g), true }))
)

func showNLBLoadBalancer(v *state.View, lb *NLBLoadBalancer) (topology.LoadBalancer, bool) {
	shown := topology.LoadBalancer{
		Owner: lb.Owner, Product: ProductNLB, ID: lb.ID, Name: lb.Name, Status: lb.ShownStatus(), Active: lb.Status != NLBProvisioning && lb.LockedBy() == "",
		Type: strings.ToLower(lb.AddressType), DNSName: lb.DNSName(), Reachable: lb.Reachable(v), VPCID: lb.VPCID, SecurityGroups: lb.SecurityGroupIDs,
		CreateTime: lb.CreateTime, TagsOf: TagNLBLoadBalancer, ZonesApart: !lb.CrossZoneEnabled,
	}
	for _, z := range lb.ZoneMappings {
		shown.Zones, shown.VSwitches = append(shown.Zones, z.ZoneID), append(shown.VSwitches, z.VSwitchID)
		a := topology.Address{IP: z.PrivateIPv4Address, IPv6: z.IPv6Address, Type: shown.Type, Zone: z.ZoneID}
		if z.PublicIPv4Address != "" {
			a.IP = z.PublicIPv4Address
			if !z.OwnEIP {
				a.EIP = z.AllocationID
			}
		}
		shown.Addresses = append(shown.Addresses, a)
	}
	shown.Frontends = func(yield func(topology.Frontend) bool) {
		for l := range NLBListenersByLoadBalancer.List(v, lb.ID) {
			if !yield(showNLBListener(v, l)) {
				return
			}
		}
	}
	shown.Groups = func(func(topology.Group) bool) {} // groups belong to no load balancer
	return shown, true
}

func showNLBListener(v *state.View, l *NLBListener) topology.Frontend {
	first, last := l.Ports()
	f := topology.Frontend{
		Owner: l.Owner, Product: ProductNLB, ID: l.ID, Name: l.Description, LoadBalancerID: l.LoadBalancerID,
		Protocol: strings.ToLower(l.Protocol), FirstPort: first, LastPort: last, Status: l.Status, Running: l.forwards(v),
		TLS:        topology.TLS{Certificates: l.CertificateIDs, CACertificates: l.CACertificateIDs, Policy: l.SecurityPolicyID},
		GroupID:    l.ServerGroupID,
		Rules:      func(func(topology.Rule) bool) {},
		Forwarding: l.forwarding(v),
	}
	if l.Protocol == NLBTCPSSL {
		f.TLS.Load = func() (topology.Keys, error) { return l.keys(v) }
	}
	f.Admission = func(port int) topology.Admission {
		lb, ok := NLBLoadBalancers.Find(v, l.LoadBalancerID)
		if !ok {
			return topology.Admission{}
		}
		return lb.admission(v, l.transport(), port)
	}
	f.Group = func() (topology.Group, bool) { return state.FindShown[topology.Group](v, l.ServerGroupID) }
	return f
}

func showNLBServerGroup(v *state.View, g *NLBServerGroup) topology.Group {
	shown := topology.Group{Owner: g.Owner, Product: ProductNLB, ID: g.ID, Name: g.Name, Type: strings.ToLower(g.Type), Status: g.Status,
		VPCID: g.VPCID, Protocol: strings.ToLower(g.Protocol), Check: g.check(), Scheduler: strings.ToLower(g.Scheduler),
		Members: make([]topology.Member, len(g.Servers))}
	shown.Drains, shown.Drain = g.ConnectionDrainEnabled, seconds(g.ConnectionDrainTimeout)
	shown.ClientAddress = g.PreserveClientIPEnabled
	shown.BestEffort = true // NLB-0043
	for i := range g.Servers {
		s := &g.Servers[i]
		m := topology.Member{ServerID: s.ID, Type: strings.ToLower(s.Type), Address: s.Address(v), Port: s.Port, Weight: s.Weight, Description: s.Description, Zone: s.ZoneID}
		m.ReachAt = reachAt(v, m.ServerID, m.Address)
		if s.Type != NLBServerIP { // whether an address that is no server's answers is not known here
			m.Presence = presence(v, s.Type == NLBServerECS, s.ID)
		}
		shown.Members[i] = m
	}
	shown.Frontends = func(yield func(topology.Frontend) bool) {
		for l := range NLBListenersByServerGroup.List(v, g.ID) {
			if !yield(showNLBListener(v, l)) {
				return
			}
		}
	}
	return shown
}

// transport returns the protocol of the listener's packets.
func (l *NLBListener) transport() string {
	if l.Protocol == NLBUDP {
		return NLBUDP
	}
	return NLBTCP
}
