package inventory

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

func listBackends(v *state.View, add func(controlapi.Resource)) {
	each := func(servers []controlapi.Resource) {
		for _, s := range servers {
			s.Kind = "backend"
			add(s)
		}
	}
	for lb := range cloud.LoadBalancers.All(v) {
		each(servers(v, defaultGroup(lb), lb.BackendServers, firstListener(v, lb, defaultGroupID(lb))))
	}
	for g := range cloud.VServerGroups.All(v) {
		each(servers(v, vServerGroup(v, g), g.BackendServers, listenerOf(v, g.LoadBalancerID, g.ID)))
	}
	for g := range cloud.MasterSlaveServerGroups.All(v) {
		each(servers(v, masterSlaveServerGroup(g), g.Members(), listenerOf(v, g.LoadBalancerID, g.ID)))
	}
	for g := range cloud.NLBServerGroups.All(v) {
		l, _ := cloud.NLBListenersByServerGroup.First(v, g.ID)
		each(nlbServers(v, g, l))
	}
}

// listenerOf is a listener that forwards to a group, nil if there is none.
func listenerOf(v *state.View, loadBalancerID, groupID string) *cloud.Listener {
	lb, ok := cloud.LoadBalancers.Find(v, loadBalancerID)
	if !ok {
		return nil
	}
	return firstListener(v, lb, groupID)
}

func firstListener(v *state.View, lb *cloud.LoadBalancer, groupID string) *cloud.Listener {
	for l := range cloud.ListenersByLoadBalancer.List(v, lb.ID) {
		if groupOf(lb, l) == groupID {
			return l
		}
	}
	return nil
}

// servers are those of a group, as a listener finds them that forwards to it.
func servers(v *state.View, group controlapi.Resource, members []cloud.BackendServer, l *cloud.Listener) []controlapi.Resource {
	list := make([]controlapi.Resource, len(members))
	for i, m := range members {
		port, health := m.Port, cloud.HealthUnavailable
		if l != nil {
			health = cloud.Health(v, l, m)
			if port == 0 {
				port = l.BackendServerPort
			}
		}
		list[i] = server(group, m.ServerID, m.Address(v), port, m.Weight, health, string(m.Type), m.Description)
	}
	return list
}

func nlbServers(v *state.View, g *cloud.NLBServerGroup, l *cloud.NLBListener) []controlapi.Resource {
	group := nlbServerGroup(v, g)
	if l != nil {
		group.LoadBalancer = l.LoadBalancerID
	}
	list := make([]controlapi.Resource, len(g.Servers))
	for i := range g.Servers {
		s, health := &g.Servers[i], cloud.HealthUnavailable
		if l != nil {
			health = cloud.NLBHealth(v, l, g, s)
		}
		list[i] = server(group, s.ID, s.Address(v), s.Port, s.Weight, health, strings.ToLower(s.Type), s.Description)
	}
	return list
}

func server(group controlapi.Resource, id, address string, port, weight int, health, sort, description string) controlapi.Resource {
	shown := strconv.Itoa(port)
	if port == 0 {
		shown = ""
	}
	owner := state.Owner{AccountID: group.Account, RegionID: group.Region}
	unique := fmt.Sprintf("%s/%s/%s:%d", group.ID, id, address, port)
	r := of(owner, group.Product, unique, "", "", "group", group.ID, "server", id, "address", address, "port", shown,
		"weight", strconv.Itoa(weight), "health", health, "type", sort, "description", description)
	r.Kind = "backend"
	return within(group.LoadBalancer, r)
}
