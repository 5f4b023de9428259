package world

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// reserveAddress keeps the address that a load balancer names from everything that may
// have any.
func (p *planter) reserveAddress(s *loadBalancerSpec) {
	sw, ok := refer(p, kinds.VSwitches, s.VSwitch)
	switch {
	case s.Address.text == "", s.VSwitch.text != "" && !ok:
	case s.VSwitch.text == "":
		p.fail(s.Address, "only a load balancer in a vSwitch has an address of its choice: name the vSwitch")
	case p.ip(s.Address, ipv4) != "":
		p.allocate(sw.ID, sw.CIDRBlock, s.Address, kinds.LoadBalancers.Kind(), s.ID.text)
	}
}

// loadBalancer plants a CLB with its groups and listeners.
func (p *planter) loadBalancer(s *loadBalancerSpec) {
	kinds.ReleaseAddresses(p.tx, kinds.LoadBalancers.Kind(), s.ID.text)
	if !isFree(p, kinds.LoadBalancers, s.ID, resourceForm, "lb-") {
		return
	}
	owner, ok := p.homeOf(s)
	if !ok {
		return
	}
	tx := p.tx.In(owner)
	c := p.call(kinds.ProductCLB, tx.Giving(s.ID.text), "CreateLoadBalancer").
		with("LoadBalancerName", s.Name.text).
		with("AddressType", p.word(s.AddressType, "", string(kinds.AddressTypeInternet), string(kinds.AddressTypeIntranet))).
		with("VSwitchId", s.VSwitch.text).
		with("Address", s.Address.text).
		with("LoadBalancerSpec", s.Spec.text).
		with("InstanceChargeType", p.word(s.InstanceChargeType, "", string(kinds.PayBySpec), string(kinds.PayByCLCU))).
		with("ResourceGroupId", s.ResourceGroup.text)
	if !p.settings(c, s.Settings) {
		return
	}
	if _, ok := p.perform(s.ID, c); !ok {
		return
	}
	p.tag(owner, kinds.TagLoadBalancer, s.ID.text, s.Tags)
	for i := range s.BackendServers {
		p.backendServer(tx, "AddBackendServers", "LoadBalancerId", s.ID.text, &s.BackendServers[i])
	}
	for i := range s.VServerGroups {
		p.vServerGroup(tx, s.ID.text, &s.VServerGroups[i])
	}
	for i := range s.Listeners {
		p.listener(tx, s.ID.text, &s.Listeners[i])
	}
}

// homeOf returns the owner of a load balancer: its vSwitch's owner, or the one that its fields
// choose.
func (p *planter) homeOf(s *loadBalancerSpec) (state.Owner, bool) {
	sw, ok := kinds.VSwitches.Find(p.tx.View, s.VSwitch.text)
	if !ok {
		return p.home(s.Account, s.Region)
	}
	return sw.Owner, p.ofOwner(s.Account, sw.ID, sw.AccountID) && p.ofOwner(s.Region, sw.ID, sw.RegionID)
}

// ofOwner wants an account or a region to match what the resource is in.
func (p *planter) ofOwner(s scalar, in, owner string) bool {
	if s.text == "" || s.text == owner {
		return true
	}
	p.fail(s, "%s belongs to %s: leave it out, or name another one", in, owner)
	return false
}

func (p *planter) vServerGroup(tx *state.Tx, loadBalancer string, s *vServerGroupSpec) {
	if !isFree(p, kinds.VServerGroups, s.ID, resourceForm, "rsp-") {
		return
	}
	c := p.call(kinds.ProductCLB, tx.Giving(s.ID.text), "CreateVServerGroup").
		with("LoadBalancerId", loadBalancer).
		with("VServerGroupName", s.Name.text)
	if _, ok := p.perform(s.ID, c); !ok {
		return
	}
	p.tag(tx.Scope(), kinds.TagVServerGroup, s.ID.text, s.Tags)
	for i := range s.Servers {
		p.backendServer(tx, "AddVServerGroupBackendServers", "VServerGroupId", s.ID.text, &s.Servers[i])
	}
}

// backendServer adds one server to a group, so that a refusal is about its line.
func (p *planter) backendServer(tx *state.Tx, action, group, id string, s *serverSpec) {
	if !p.isServer(s) {
		return
	}
	server := map[string]string{
		"ServerId": s.Server.text, "ServerIp": s.Address.text, "Type": string(kinds.BackendServerECS), "Description": s.Description.text,
		"Port": s.Port.text, "Weight": strconv.Itoa(p.number(s.Weight, 100, 0, 100)),
	}
	if strings.HasPrefix(s.Server.text, interfacePrefix) {
		server["Type"] = string(kinds.BackendServerENI)
	}
	if action == "AddBackendServers" && s.Port.text != "" {
		p.fail(s.Port, "the default group's servers have no ports: a listener's backendServerPort is for all")
		return
	}
	list, err := json.Marshal([]map[string]string{withoutEmpty(server)})
	if err != nil {
		p.fail(s.Server, "%v", err)
		return
	}
	p.perform(s.Server, p.call(kinds.ProductCLB, tx, action).with(group, id).with("BackendServers", string(list)))
}

func withoutEmpty(values map[string]string) map[string]string {
	for name, value := range values {
		if value == "" {
			delete(values, name)
		}
	}
	return values
}

// interfacePrefix begins the ids of network interfaces.
const interfacePrefix = "eni-"

// isServer wants a server to be an instance or a network interface of the world.
func (p *planter) isServer(s *serverSpec) (ok bool) {
	if strings.HasPrefix(s.Server.text, interfacePrefix) {
		_, ok = refer(p, kinds.NetworkInterfaces, s.Server)
	} else {
		_, ok = refer(p, kinds.Instances, s.Server)
	}
	return ok
}

func (p *planter) listener(tx *state.Tx, loadBalancer string, s *listenerSpec) {
	before := len(p.problems)
	protocol := p.word(s.Protocol, "", string(kinds.TCP), string(kinds.UDP), string(kinds.HTTP), string(kinds.HTTPS))
	port := strconv.Itoa(p.number(s.Port, 0, 1, 65535))
	status := p.word(s.Status, string(kinds.ListenerRunning), string(kinds.ListenerStopped))
	refer(p, kinds.VServerGroups, s.VServerGroup)
	c := p.call(kinds.ProductCLB, tx, "CreateLoadBalancer"+strings.ToUpper(protocol)+"Listener").
		with("LoadBalancerId", loadBalancer).
		with("ListenerPort", port).
		with("VServerGroupId", s.VServerGroup.text).
		with("BackendServerPort", s.BackendServerPort.text).
		with("Description", s.Description.text)
	if !p.settings(c, s.Settings) || len(p.problems) > before || protocol == "" {
		return
	}
	for _, d := range listenerDefaults(kinds.Protocol(protocol)) {
		if !c.has(d.key) {
			c.with(d.key, d.value.text)
		}
	}
	if _, ok := p.perform(s.Port, c); !ok {
		return
	}
	p.tag(tx.Scope(), kinds.TagListener, kinds.ListenerID(loadBalancer, kinds.Protocol(protocol), p.number(s.Port, 0, 1, 65535)), s.Tags)
	if status == string(kinds.ListenerRunning) {
		p.perform(s.Port, p.call(kinds.ProductCLB, tx, "StartLoadBalancerListener").
			with("LoadBalancerId", loadBalancer).with("ListenerPort", port).with("ListenerProtocol", protocol))
	}
}

// listenerDefaults returns values for parameters that the API requires and a file may leave out.
func listenerDefaults(protocol kinds.Protocol) pairs {
	defaults := pairs{{"Bandwidth", scalar{text: "-1"}}}
	if protocol == kinds.HTTP || protocol == kinds.HTTPS {
		defaults = append(defaults, pair{"StickySession", scalar{text: kinds.Off}}, pair{"HealthCheck", scalar{text: kinds.Off}})
	}
	return defaults
}
