package world

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// reserveZoneAddresses does what reserveAddress does, for the zones of a Network Load Balancer.
func (p *planter) reserveZoneAddresses(s *nlbSpec) {
	for i := range s.Zones {
		z := &s.Zones[i]
		if sw, ok := refer(p, kinds.VSwitches, z.VSwitch); ok && z.Address.text != "" && p.ip(z.Address, ipv4) != "" {
			p.allocate(sw.ID, sw.CIDRBlock, z.Address, kinds.NLBLoadBalancers.Kind(), s.ID.text)
		}
		refer(p, kinds.EIPs, z.EIP)
	}
}

// networkLoadBalancer plants an NLB with its listeners. Its VPC is its first zone's.
func (p *planter) networkLoadBalancer(s *nlbSpec) {
	kinds.ReleaseAddresses(p.tx, kinds.NLBLoadBalancers.Kind(), s.ID.text)
	if !isFree(p, kinds.NLBLoadBalancers, s.ID, resourceForm, "nlb-") {
		return
	}
	if len(s.Zones) == 0 {
		p.fail(s.ID, "a Network Load Balancer needs zones: name a vSwitch of each")
		return
	}
	first, ok := refer(p, kinds.VSwitches, s.Zones[0].VSwitch)
	if !ok {
		return
	}
	tx := p.tx.In(first.Owner)
	c := p.call(kinds.ProductNLB, tx.Giving(s.ID.text), "CreateLoadBalancer").
		with("LoadBalancerName", s.Name.text).
		with("AddressType", p.word(s.AddressType, kinds.NLBInternet, kinds.NLBIntranet)).
		with("VpcId", first.VPCID).
		with("ResourceGroupId", s.ResourceGroup.text)
	for i, z := range s.Zones {
		sw, ok := refer(p, kinds.VSwitches, z.VSwitch)
		if !ok {
			return
		}
		field := fmt.Sprintf("ZoneMappings.%d.", i+1)
		c.with(field+"ZoneId", sw.ZoneID).with(field+"VSwitchId", sw.ID).
			with(field+"PrivateIPv4Address", z.Address.text).with(field+"AllocationId", z.EIP.text)
	}
	if !p.settings(c, s.Settings) {
		return
	}
	if _, ok := p.perform(s.ID, c); !ok {
		return
	}
	p.tag(tx.Scope(), kinds.TagNLBLoadBalancer, s.ID.text, s.Tags)
	for i := range s.Listeners {
		p.nlbListener(tx, s.ID.text, &s.Listeners[i])
	}
}

// serverGroup plants a group of Network Load Balancers, which belongs to none of them.
func (p *planter) serverGroup(s *serverGroupSpec) {
	vpc, ok := refer(p, kinds.VPCs, s.VPC)
	if !ok || !isFree(p, kinds.NLBServerGroups, s.ID, resourceForm, "sgp-") {
		return
	}
	tx := p.tx.In(vpc.Owner)
	c := p.call(kinds.ProductNLB, tx.Giving(s.ID.text), "CreateServerGroup").
		with("ServerGroupName", s.Name.text).
		with("ServerGroupType", p.word(s.Type, kinds.NLBGroupOfInstances, kinds.NLBGroupOfIPs)).
		with("Protocol", s.Protocol.text).
		with("VpcId", vpc.ID).
		with("ResourceGroupId", s.ResourceGroup.text)
	if !p.settings(c, s.Settings) {
		return
	}
	if _, ok := p.perform(s.ID, c); !ok {
		return
	}
	p.tag(tx.Scope(), kinds.TagNLBServerGroup, s.ID.text, s.Tags)
	for i := range s.Servers {
		p.groupServer(tx, s, &s.Servers[i])
	}
}

func (p *planter) groupServer(tx *state.Tx, g *serverGroupSpec, s *serverSpec) {
	kind := kinds.NLBServerECS
	switch {
	case g.Type.text == kinds.NLBGroupOfIPs:
		kind = kinds.NLBServerIP
	case !p.isServer(s):
		return
	case strings.HasPrefix(s.Server.text, interfacePrefix):
		kind = kinds.NLBServerENI
	}
	p.perform(s.Server, p.call(kinds.ProductNLB, tx, "AddServersToServerGroup").
		with("ServerGroupId", g.ID.text).
		with("Servers.1.ServerType", kind).
		with("Servers.1.ServerId", s.Server.text).
		with("Servers.1.ServerIp", s.Address.text).
		with("Servers.1.Port", s.Port.text).
		with("Servers.1.Weight", strconv.Itoa(p.number(s.Weight, 100, 0, 100))).
		with("Servers.1.Description", s.Description.text))
}

func (p *planter) nlbListener(tx *state.Tx, loadBalancer string, s *nlbListenerSpec) {
	before := len(p.problems)
	protocol := p.word(s.Protocol, "", kinds.NLBTCP, kinds.NLBUDP, kinds.NLBTCPSSL)
	status := p.word(s.Status, kinds.NLBListenerRunning, kinds.NLBListenerStopped)
	refer(p, kinds.NLBServerGroups, s.ServerGroup)
	c := p.call(kinds.ProductNLB, tx, "CreateListener").
		with("LoadBalancerId", loadBalancer).
		with("ListenerProtocol", protocol).
		with("ListenerPort", strconv.Itoa(p.number(s.Port, 0, 0, 65535))).
		with("ServerGroupId", s.ServerGroup.text).
		with("ListenerDescription", s.Description.text)
	if !p.settings(c, s.Settings) || len(p.problems) > before || protocol == "" {
		return
	}
	answer, ok := p.perform(s.Port, c)
	if !ok {
		return
	}
	id := answer("ListenerId")
	p.tag(tx.Scope(), kinds.TagNLBListener, id, s.Tags)
	if status == kinds.NLBListenerStopped {
		p.perform(s.Port, p.call(kinds.ProductNLB, tx, "StopListener").with("ListenerId", id))
	}
}
