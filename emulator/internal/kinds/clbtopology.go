package kinds

import (
	"iter"

	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

// CLB's kinds as a topology.
var (
	_ = LoadBalancers.With(state.Shows(showLoadBalancer), state.Shows(showDefaultGroup))
	_ = Listeners.With(state.Shows(func(v *state.View, l *Listener) (topology.Frontend, bool) {
		lb, ok := LoadBalancers.Find(v, l.LoadBalancerID)
		if !ok {
			return topology.Frontend{}, false
		}
		return showListener(v, lb, l), true
	}))
	_ = Rules.With(state.Shows(func(v *state.View, r *Rule) (topology.Rule, bool) { return showRule(v, r), true }))
	_ = VServerGroups.With(state.Shows(func(v *state.View, g *VServerGroup) (topology.Group, bool) {
		return showVServerGroup(v, g), true
	}))
	_ = MasterSlaveServerGroups.With(state.Shows(func(v *state.View, g *MasterSlaveServerGroup) (topology.Group, bool) {
		return showMasterSlaveServerGroup(v, g), true
	}))
)

func showLoadBalancer(v *state.View, lb *LoadBalancer) (topology.LoadBalancer, bool) {
	shown := topology.LoadBalancer{
		Owner: lb.Owner, Product: ProductCLB, ID: lb.ID, Name: lb.Name, Status: string(lb.Status), Active: lb.Status == LoadBalancerActive,
		Type: string(lb.AddressType), VPCID: lb.VPCID, Spec: lb.Spec, CreateTime: lb.CreateTime, TagsOf: TagLoadBalancer,
		Addresses: []topology.Address{{IP: lb.Address, Type: string(lb.AddressType), Zone: lb.MasterZoneID}},
	}
	if lb.SlaveZoneID != lb.MasterZoneID {
		shown.Standby = lb.SlaveZoneID
	}
	if lb.VSwitchID != "" {
		shown.VSwitches = []string{lb.VSwitchID}
	}
	for _, zone := range []string{lb.MasterZoneID, lb.SlaveZoneID} {
		if zone != "" {
			shown.Zones = append(shown.Zones, zone)
		}
	}
	for eip := range EIPsByInstance.List(v, lb.ID) {
		shown.Addresses = append(shown.Addresses, topology.Address{IP: eip.IPAddress, Type: string(AddressTypeInternet), EIP: eip.ID})
	}
	shown.Frontends = func(yield func(topology.Frontend) bool) {
		for l := range ListenersByLoadBalancer.List(v, lb.ID) {
			if !yield(showListener(v, lb, l)) {
				return
			}
		}
	}
	shown.Groups = groupsOf(v, lb)
	return shown, true
}

func groupsOf(v *state.View, lb *LoadBalancer) iter.Seq[topology.Group] {
	return func(yield func(topology.Group) bool) {
		if g, ok := showDefaultGroup(v, lb); ok && !yield(g) {
			return
		}
		for g := range VServerGroupsByLoadBalancer.List(v, lb.ID) {
			if !yield(showVServerGroup(v, g)) {
				return
			}
		}
		for g := range MasterSlaveServerGroupsByLoadBalancer.List(v, lb.ID) {
			if !yield(showMasterSlaveServerGroup(v, g)) {
				return
			}
		}
	}
}

func showListener(v *state.View, lb *LoadBalancer, l *Listener) topology.Frontend {
	f := topology.Frontend{
		Owner: l.Owner, Product: ProductCLB, ID: l.ID(), Name: l.Description, LoadBalancerID: l.LoadBalancerID,
		Protocol: string(l.Protocol), FirstPort: l.Port, LastPort: l.Port, Status: string(l.Status), Running: l.forwards(v),
		Scheduler: l.Scheduler, Bandwidth: max(l.Bandwidth, 0), Check: l.HealthCheck.check(l.Protocol), Forwarding: l.forwarding(),
		GroupID: l.groupID(), MemberPort: l.BackendServerPort,
	}
	if l.ServerCertificateID != "" {
		f.TLS = topology.TLS{Certificates: []string{l.ServerCertificateID}, Policy: l.TLSCipherPolicy,
			Load: func() (topology.Keys, error) { return l.keys(v) }}
	}
	if l.CACertificateID != "" {
		f.TLS.CACertificates = []string{l.CACertificateID}
	}
	if l.AclStatus == On {
		f.Access = topology.AccessControl{Type: l.AclType, Lists: l.AclIDs}
	}
	f.Admission = func(int) topology.Admission { return l.admission(v) }
	f.Group = func() (topology.Group, bool) {
		if f.GroupID == defaultGroupID(lb.ID) {
			return showDefaultGroup(v, lb)
		}
		return state.FindShown[topology.Group](v, f.GroupID)
	}
	f.Rules = func(yield func(topology.Rule) bool) {
		for r := range RulesByListener.List(v, l.ID()) {
			if !yield(showRule(v, r)) {
				return
			}
		}
	}
	return f
}

// groupID returns the id of the group that a listener forwards to.
func (l *Listener) groupID() string {
	switch {
	case l.VServerGroupID != "":
		return l.VServerGroupID
	case l.MasterSlaveServerGroupID != "":
		return l.MasterSlaveServerGroupID
	}
	return defaultGroupID(l.LoadBalancerID)
}

// defaultGroupID names the default group, which has no id in the cloud.
func defaultGroupID(loadBalancerID string) string { return loadBalancerID + "/default" }

func showRule(v *state.View, r *Rule) topology.Rule {
	return topology.Rule{Owner: r.Owner, Product: ProductCLB, ID: r.ID, Name: r.Name, LoadBalancerID: r.LoadBalancerID, FrontendID: r.ListenerID,
		Domain: r.Domain, URL: r.URL, GroupID: r.VServerGroupID, CreateTime: r.CreateTime, Own: r.own(),
		Group: func() (topology.Group, bool) { return state.FindShown[topology.Group](v, r.VServerGroupID) }}
}

// showDefaultGroup shows a default group that has servers.
func showDefaultGroup(v *state.View, lb *LoadBalancer) (topology.Group, bool) {
	g := topology.Group{Owner: lb.Owner, Product: ProductCLB, ID: defaultGroupID(lb.ID), Type: "default", Status: lb.Activity,
		LoadBalancerID: lb.ID, VPCID: lb.VPCID, Members: members(v, lb.BackendServers)}
	g.Frontends = frontendsOf(v, lb.ID, func(l *Listener) bool { return l.groupID() == g.ID })
	return g, len(lb.BackendServers) > 0
}

func showVServerGroup(v *state.View, g *VServerGroup) topology.Group {
	return topology.Group{Owner: g.Owner, Product: ProductCLB, ID: g.ID, Name: g.Name, Type: "vserver", Status: g.Activity,
		LoadBalancerID: g.LoadBalancerID, Members: members(v, g.BackendServers),
		Frontends: frontendsOf(v, g.LoadBalancerID, func(l *Listener) bool { return l.VServerGroupID == g.ID || ruleForwards(v, l, g.ID) })}
}

func ruleForwards(v *state.View, l *Listener, groupID string) bool {
	for r := range RulesByVServerGroup.List(v, groupID) {
		if r.ListenerID == l.ID() {
			return true
		}
	}
	return false
}

func showMasterSlaveServerGroup(v *state.View, g *MasterSlaveServerGroup) topology.Group {
	shown := topology.Group{Owner: g.Owner, Product: ProductCLB, ID: g.ID, Name: g.Name, Type: "masterslave",
		LoadBalancerID: g.LoadBalancerID, Members: members(v, g.Members()),
		Frontends: frontendsOf(v, g.LoadBalancerID, func(l *Listener) bool { return l.MasterSlaveServerGroupID == g.ID })}
	for i := range shown.Members {
		shown.Members[i].Slave = g.BackendServers[i].ServerType == ServerSlave
	}
	return shown
}

func frontendsOf(v *state.View, loadBalancerID string, forwards func(*Listener) bool) iter.Seq[topology.Frontend] {
	return func(yield func(topology.Frontend) bool) {
		lb, ok := LoadBalancers.Find(v, loadBalancerID)
		if !ok {
			return
		}
		for l := range ListenersByLoadBalancer.List(v, loadBalancerID) {
			if forwards(l) && !yield(showListener(v, lb, l)) {
				return
			}
		}
	}
}

func members(v *state.View, servers []BackendServer) []topology.Member {
	list := make([]topology.Member, len(servers))
	for i, s := range servers {
		list[i] = topology.Member{ServerID: s.ServerID, Type: string(s.Type), Address: s.Address(v), Port: s.Port, Weight: s.Weight,
			Description: s.Description, Presence: presence(v, s.Type == BackendServerECS, s.ServerID), ReachAt: reachAt(v, s.ServerID, s.ServerIP)}
	}
	return list
}

// presence reports whether an instance, or else a network interface, can serve.
func presence(v *state.View, instance bool, id string) topology.Presence {
	if instance && instanceRuns(v, id) || !instance && interfaceIsUsed(v, id) {
		return topology.Present
	}
	return topology.Absent
}
