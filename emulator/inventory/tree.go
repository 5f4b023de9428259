package inventory

import (
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

// Tree is a load balancer by its id or its name, with all that belongs to it but the
// fault rules.
func Tree(v *state.View, name string) (controlapi.LoadBalancerTree, error) {
	found, err := List(v, Wanted{Kind: "lb", Name: name})
	if err != nil {
		return controlapi.LoadBalancerTree{}, err
	}
	tree := controlapi.LoadBalancerTree{
		LoadBalancer: found.Resources[0], Tags: make(map[string]string), Addresses: []controlapi.Address{},
		Listeners: []controlapi.ListenerTree{}, Groups: []controlapi.GroupTree{}, Quotas: []controlapi.QuotaShare{}, Faults: []controlapi.FaultRule{},
	}
	if lb, ok := cloud.LoadBalancers.Find(v, tree.LoadBalancer.ID); ok {
		growLoadBalancer(v, lb, &tree)
	}
	if lb, ok := cloud.NLBLoadBalancers.Find(v, tree.LoadBalancer.ID); ok {
		growNLB(v, lb, &tree)
	}
	tree.Quotas = append(tree.Quotas, shares(v, &tree)...)
	return tree, nil
}

func growLoadBalancer(v *state.View, lb *cloud.LoadBalancer, tree *controlapi.LoadBalancerTree) {
	tag(v, cloud.TagLoadBalancer, lb.ID, tree)
	tree.Addresses = append(tree.Addresses, controlapi.Address{Address: lb.Address, Type: string(lb.AddressType), Zone: lb.MasterZoneID})
	for eip := range cloud.EIPsByInstance.List(v, lb.ID) {
		tree.Addresses = append(tree.Addresses, controlapi.Address{Address: eip.IPAddress, Type: string(cloud.AddressTypeInternet), EIP: eip.ID})
	}
	used := make(map[string]bool)
	group := func(id string, l *cloud.Listener) *controlapi.GroupTree {
		g := groupTree(v, lb, id, l)
		if g != nil && l != nil {
			used[id] = true
		}
		return g
	}
	for l := range cloud.ListenersByLoadBalancer.List(v, lb.ID) {
		grown := controlapi.ListenerTree{Listener: listener(v, lb, l), Group: group(groupOf(lb, l), l), Rules: []controlapi.RuleTree{}}
		grown.Listener.Kind = "listener"
		for r := range cloud.RulesByListener.List(v, l.ID()) {
			grown.Rules = append(grown.Rules, controlapi.RuleTree{ID: r.ID, Name: r.Name, Domain: r.Domain, URL: r.URL, Group: group(r.VServerGroupID, l)})
		}
		tree.Listeners = append(tree.Listeners, grown)
	}
	ids := []string{defaultGroupID(lb)}
	for g := range cloud.VServerGroupsByLoadBalancer.List(v, lb.ID) {
		ids = append(ids, g.ID)
	}
	for g := range cloud.MasterSlaveServerGroupsByLoadBalancer.List(v, lb.ID) {
		ids = append(ids, g.ID)
	}
	for _, id := range ids {
		if g := group(id, nil); g != nil && !used[id] {
			tree.Groups = append(tree.Groups, *g)
		}
	}
}

// groupTree is a group of a CLB, nil for a default group without servers.
func groupTree(v *state.View, lb *cloud.LoadBalancer, id string, l *cloud.Listener) *controlapi.GroupTree {
	var g controlapi.Resource
	var members []cloud.BackendServer
	if found, ok := cloud.VServerGroups.Find(v, id); ok {
		g, members = vServerGroup(v, found), found.BackendServers
	} else if found, ok := cloud.MasterSlaveServerGroups.Find(v, id); ok {
		g, members = masterSlaveServerGroup(found), found.Members()
	} else if len(lb.BackendServers) > 0 {
		g, members = defaultGroup(lb), lb.BackendServers
	} else {
		return nil
	}
	g.Kind = "group"
	return &controlapi.GroupTree{Group: g, Servers: servers(v, g, members, l)}
}

func growNLB(v *state.View, lb *cloud.NLBLoadBalancer, tree *controlapi.LoadBalancerTree) {
	tag(v, cloud.TagNLBLoadBalancer, lb.ID, tree)
	tree.Addresses = append(tree.Addresses, nlbAddresses(lb)...)
	for l := range cloud.NLBListenersByLoadBalancer.List(v, lb.ID) {
		grown := controlapi.ListenerTree{Listener: nlbListener(v, l), Rules: []controlapi.RuleTree{}}
		grown.Listener.Kind = "listener"
		if g, ok := cloud.NLBServerGroups.Find(v, l.ServerGroupID); ok {
			shown := nlbServerGroup(v, g)
			shown.Kind = "group"
			grown.Group = &controlapi.GroupTree{Group: shown, Servers: nlbServers(v, g, l)}
		}
		tree.Listeners = append(tree.Listeners, grown)
	}
}

// nlbAddresses are those of the zones: the public one where there is one, else the
// private one.
func nlbAddresses(lb *cloud.NLBLoadBalancer) (list []controlapi.Address) {
	for _, z := range lb.ZoneMappings {
		a := controlapi.Address{Address: z.PrivateIPv4Address, Type: strings.ToLower(lb.AddressType), Zone: z.ZoneID}
		if z.PublicIPv4Address != "" {
			a.Address = z.PublicIPv4Address
			if !z.OwnEIP {
				a.EIP = z.AllocationID
			}
		}
		list = append(list, a)
	}
	return list
}

func tag(v *state.View, sort state.TagResourceType, id string, tree *controlapi.LoadBalancerTree) {
	for t := range state.TagsOf(v, sort, id) {
		tree.Tags[t.Key] = t.Value
	}
}

// shares are what the load balancer and its parts use of quotas.
func shares(v *state.View, tree *controlapi.LoadBalancerTree) (list []controlapi.QuotaShare) {
	parts := []string{tree.LoadBalancer.ID}
	for _, l := range tree.Listeners {
		parts = append(parts, l.Listener.ID)
		if l.Group != nil {
			parts = append(parts, l.Group.Group.ID)
		}
	}
	for _, q := range state.QuotaUses(v.In(state.Owner{AccountID: tree.LoadBalancer.Account})) {
		for _, h := range q.Holders {
			if slices.Contains(parts, h.ID) && h.Used > 0 {
				list = append(list, controlapi.QuotaShare{Name: string(q.Name), By: h.ID, Used: h.Used, Limit: q.Limit})
			}
		}
	}
	return list
}
