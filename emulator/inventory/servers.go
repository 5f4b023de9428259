package inventory

import (
	"fmt"
	"strconv"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

// listBackends lists the members of all groups, as the first listener that checks the group
// finds them, or else the first that forwards to it.
func listBackends(from source, add func(controlapi.Resource)) {
	for g := range topology.Groups(from.View) {
		for _, s := range from.servers(&g, checking(&g)) {
			add(s)
		}
	}
}

// checking returns the first listener that checks a group, or else the first that forwards to it.
func checking(g *topology.Group) (first *topology.Frontend) {
	for f := range g.Frontends {
		checks := topology.Checked(f.For(g), g)
		if first == nil || checks {
			first = &f
		}
		if checks {
			break
		}
	}
	return first
}

// servers returns the members of a group as a listener finds them. A nil f stands for no listener.
func (from source) servers(g *topology.Group, f *topology.Frontend) []controlapi.Resource {
	if f != nil {
		f = f.For(g)
	}
	list := make([]controlapi.Resource, len(g.Members))
	for i := range g.Members {
		m := &g.Members[i]
		port, health, problem := m.Port, topology.Shown(from.health, from.View, f, g, m), ""
		loadBalancerID := g.LoadBalancerID
		if f != nil {
			port, loadBalancerID = f.PortOf(m), f.LoadBalancerID
		}
		if f != nil && from.packets != nil {
			problem = from.packets.Trouble(from.View, f, g, m)
		}
		list[i] = server(g, loadBalancerID, m, port, health, problem)
	}
	return list
}

func server(g *topology.Group, loadBalancerID string, m *topology.Member, port int, health topology.Status, problem string) controlapi.Resource {
	shown := strconv.Itoa(port)
	if port == 0 {
		shown = ""
	}
	unique := fmt.Sprintf("%s/%s/%s:%d", g.ID, m.ServerID, m.Address, port)
	owner := state.Owner{AccountID: g.AccountID, RegionID: g.RegionID}
	r := of(owner, g.Product, unique, "", "", colGroup.is(g.ID), colServer.is(m.ServerID), colAddress.is(m.Address), colPort.is(shown),
		colWeight.count(m.Weight), colHealth.is(string(health)), colProblem.is(problem), colType.is(m.Type), colDescription.is(m.Description))
	r.Kind = "backend"
	return within(loadBalancerID, r)
}
