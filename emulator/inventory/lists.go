package inventory

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

// The products of what is listed.
const (
	slb = "Slb"
	nlb = "Nlb"
	vpc = "Vpc"
	ecs = "Ecs"
)

// of is a resource of an owner, with fields by name and value in turn; an empty value
// is none.
func of(owner state.Owner, product, id, name, status string, fields ...string) controlapi.Resource {
	r := controlapi.Resource{ID: id, Name: name, Product: product, Account: owner.AccountID, Region: owner.RegionID, Status: status, Fields: make(map[string]string)}
	for i := 0; i < len(fields); i += 2 {
		if fields[i+1] != "" {
			r.Fields[fields[i]] = fields[i+1]
		}
	}
	return r
}

// within makes a resource a part of a load balancer.
func within(loadBalancerID string, r controlapi.Resource) controlapi.Resource {
	r.LoadBalancer = loadBalancerID
	return r
}

func timeOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func listLoadBalancers(v *state.View, add func(controlapi.Resource)) {
	for lb := range cloud.LoadBalancers.All(v) {
		add(loadBalancer(v, lb))
	}
	for lb := range cloud.NLBLoadBalancers.All(v) {
		add(nlbLoadBalancer(v, lb))
	}
}

func loadBalancer(v *state.View, lb *cloud.LoadBalancer) controlapi.Resource {
	servers := len(lb.BackendServers)
	for g := range cloud.VServerGroupsByLoadBalancer.List(v, lb.ID) {
		servers += len(g.BackendServers)
	}
	for g := range cloud.MasterSlaveServerGroupsByLoadBalancer.List(v, lb.ID) {
		servers += len(g.BackendServers)
	}
	return of(lb.Owner, slb, lb.ID, lb.Name, string(lb.Status), "type", string(lb.AddressType), "address", lb.Address,
		"listeners", strconv.Itoa(cloud.ListenersByLoadBalancer.Count(v, lb.ID)), "servers", strconv.Itoa(servers),
		"vpc", lb.VPCID, "vswitch", lb.VSwitchID, "zones", joined(lb.MasterZoneID, lb.SlaveZoneID), "spec", lb.Spec, "created", timeOf(lb.CreateTime))
}

func nlbLoadBalancer(v *state.View, lb *cloud.NLBLoadBalancer) controlapi.Resource {
	var zones, addresses, vSwitches []string
	for _, a := range nlbAddresses(lb) {
		addresses = append(addresses, a.Address)
	}
	for _, z := range lb.ZoneMappings {
		zones, vSwitches = append(zones, z.ZoneID), append(vSwitches, z.VSwitchID)
	}
	listeners, servers := 0, 0
	seen := make(map[string]bool)
	for l := range cloud.NLBListenersByLoadBalancer.List(v, lb.ID) {
		listeners++
		if g, ok := cloud.NLBServerGroups.Find(v, l.ServerGroupID); ok && !seen[g.ID] {
			seen[g.ID] = true
			servers += len(g.Servers)
		}
	}
	return of(lb.Owner, nlb, lb.ID, lb.Name, lb.Status, "type", strings.ToLower(lb.AddressType), "address", joined(addresses...),
		"listeners", strconv.Itoa(listeners), "servers", strconv.Itoa(servers),
		"vpc", lb.VPCID, "vswitch", joined(vSwitches...), "zones", joined(zones...), "dnsName", lb.DNSName(), "created", timeOf(lb.CreateTime))
}

// joined are several values in a field.
func joined(values ...string) string {
	var there []string
	for _, value := range values {
		if value != "" {
			there = append(there, value)
		}
	}
	return strings.Join(there, ",")
}

func listListeners(v *state.View, add func(controlapi.Resource)) {
	for l := range cloud.Listeners.All(v) {
		if lb, ok := cloud.LoadBalancers.Find(v, l.LoadBalancerID); ok {
			add(listener(v, lb, l))
		}
	}
	for l := range cloud.NLBListeners.All(v) {
		add(nlbListener(v, l))
	}
}

func listener(v *state.View, lb *cloud.LoadBalancer, l *cloud.Listener) controlapi.Resource {
	servers := l.BackendServers(v, lb)
	healthy := 0
	for _, s := range servers {
		if cloud.Health(v, l, s) == cloud.HealthNormal {
			healthy++
		}
	}
	return within(lb.ID, of(l.Owner, slb, l.ID(), l.Description, string(l.Status), "protocol", string(l.Protocol), "port", strconv.Itoa(l.Port),
		"group", groupOf(lb, l), "health", healthOf(healthy, len(servers)), "scheduler", l.Scheduler, "healthCheck", l.HealthCheck.Switch,
		"acl", aclOf(l), "certificate", l.ServerCertificateID, "bandwidth", bandwidthOf(l.Bandwidth)))
}

// bandwidthOf is a limit in Mbit/s, "" where there is none.
func bandwidthOf(limit int) string {
	if limit <= 0 {
		return ""
	}
	return fmt.Sprint(limit, " Mbit/s")
}

func healthOf(healthy, all int) string { return fmt.Sprintf("%d/%d", healthy, all) }

func aclOf(l *cloud.Listener) string {
	if l.AclStatus != cloud.On {
		return ""
	}
	return strings.TrimSpace(l.AclType + " " + joined(l.AclIDs...))
}

// groupOf is the id of the group that a listener forwards to.
func groupOf(lb *cloud.LoadBalancer, l *cloud.Listener) string {
	switch {
	case l.VServerGroupID != "":
		return l.VServerGroupID
	case l.MasterSlaveServerGroupID != "":
		return l.MasterSlaveServerGroupID
	}
	return defaultGroupID(lb)
}

// defaultGroupID names the default group, which has no id of its own.
func defaultGroupID(lb *cloud.LoadBalancer) string { return lb.ID + "/default" }

func nlbListener(v *state.View, l *cloud.NLBListener) controlapi.Resource {
	healthy, all := 0, 0
	if g, ok := cloud.NLBServerGroups.Find(v, l.ServerGroupID); ok {
		all = len(g.Servers)
		for i := range g.Servers {
			if cloud.NLBHealth(v, l, g, &g.Servers[i]) == cloud.HealthNormal {
				healthy++
			}
		}
	}
	first, last := l.Ports()
	port := strconv.Itoa(first)
	if last != first {
		port += "-" + strconv.Itoa(last)
	}
	return within(l.LoadBalancerID, of(l.Owner, nlb, l.ID, l.Description, l.Status, "protocol", strings.ToLower(l.Protocol), "port", port,
		"group", l.ServerGroupID, "health", healthOf(healthy, all), "certificate", joined(l.CertificateIDs...)))
}

func listRules(v *state.View, add func(controlapi.Resource)) {
	for r := range cloud.Rules.All(v) {
		add(within(r.LoadBalancerID, of(r.Owner, slb, r.ID, r.Name, "", "listener", r.ListenerID, "domain", r.Domain, "url", r.URL,
			"group", r.VServerGroupID, "created", timeOf(r.CreateTime))))
	}
}

func listGroups(v *state.View, add func(controlapi.Resource)) {
	for lb := range cloud.LoadBalancers.All(v) {
		if len(lb.BackendServers) > 0 {
			add(defaultGroup(lb))
		}
	}
	for g := range cloud.VServerGroups.All(v) {
		add(vServerGroup(v, g))
	}
	for g := range cloud.MasterSlaveServerGroups.All(v) {
		add(masterSlaveServerGroup(g))
	}
	for g := range cloud.NLBServerGroups.All(v) {
		add(nlbServerGroup(v, g))
	}
}

func defaultGroup(lb *cloud.LoadBalancer) controlapi.Resource {
	return within(lb.ID, of(lb.Owner, slb, defaultGroupID(lb), "", lb.Activity, "type", "default", "servers", strconv.Itoa(len(lb.BackendServers)), "vpc", lb.VPCID))
}

func vServerGroup(v *state.View, g *cloud.VServerGroup) controlapi.Resource {
	var users []string
	for l := range cloud.ListenersByVServerGroup.List(v, g.ID) {
		users = append(users, l.ID())
	}
	return within(g.LoadBalancerID, of(g.Owner, slb, g.ID, g.Name, g.Activity, "type", "vserver", "servers", strconv.Itoa(len(g.BackendServers)), "usedBy", joined(users...)))
}

func masterSlaveServerGroup(g *cloud.MasterSlaveServerGroup) controlapi.Resource {
	return within(g.LoadBalancerID, of(g.Owner, slb, g.ID, g.Name, "", "type", "masterslave", "servers", strconv.Itoa(len(g.BackendServers))))
}

func nlbServerGroup(v *state.View, g *cloud.NLBServerGroup) controlapi.Resource {
	var users []string
	for l := range cloud.NLBListenersByServerGroup.List(v, g.ID) {
		users = append(users, l.ID)
	}
	return of(g.Owner, nlb, g.ID, g.Name, g.Status, "type", strings.ToLower(g.Type), "servers", strconv.Itoa(len(g.Servers)),
		"vpc", g.VPCID, "protocol", strings.ToLower(g.Protocol), "usedBy", joined(users...))
}

func listAccessControlLists(v *state.View, add func(controlapi.Resource)) {
	for a := range cloud.AccessControlLists.All(v) {
		var entries []string
		for _, e := range a.Entries {
			entries = append(entries, e.Entry)
		}
		add(of(a.Owner, slb, a.ID, a.Name, "", "entries", strconv.Itoa(len(entries)), "listeners", strconv.Itoa(cloud.ListenersByAccessControlList.Count(v, a.ID)),
			"addresses", joined(entries...), "created", timeOf(a.CreateTime)))
	}
}

func listCertificates(v *state.View, add func(controlapi.Resource)) {
	one := func(owner state.Owner, id, name, sort string, c *cloud.CertificateContent) {
		add(of(owner, slb, id, name, "", "type", sort, "commonName", c.CommonName, "expires", timeOf(c.NotAfter),
			"listeners", strconv.Itoa(cloud.ListenersByCertificate.Count(v, id)), "names", joined(c.SANs...), "fingerprint", c.Fingerprint))
	}
	for c := range cloud.ServerCertificates.All(v) {
		one(c.Owner, c.ID, c.Name, "server", &c.CertificateContent)
	}
	for c := range cloud.CACertificates.All(v) {
		one(c.Owner, c.ID, c.Name, "ca", &c.CertificateContent)
	}
}

func listVSwitches(v *state.View, add func(controlapi.Resource)) {
	for s := range cloud.VSwitches.All(v) {
		add(of(s.Owner, vpc, s.ID, s.Name, "", "zone", s.ZoneID, "cidr", s.CIDRBlock, "free", strconv.Itoa(cloud.AvailableAddresses(v, s)),
			"vpc", s.VPCID, "created", timeOf(s.CreateTime)))
	}
}

func listVPCs(v *state.View, add func(controlapi.Resource)) {
	for p := range cloud.VPCs.All(v) {
		add(of(p.Owner, vpc, p.ID, p.Name, "", "cidr", joined(append([]string{p.CIDRBlock}, p.SecondaryCIDRBlocks...)...),
			"vswitches", strconv.Itoa(cloud.VSwitchesByVPC.Count(v, p.ID)), "created", timeOf(p.CreateTime)))
	}
}

func listSecurityGroups(v *state.View, add func(controlapi.Resource)) {
	for g := range cloud.SecurityGroups.All(v) {
		add(of(g.Owner, ecs, g.ID, g.Name, "", "type", g.Type, "rules", strconv.Itoa(len(g.Permissions)), "vpc", g.VPCID, "created", timeOf(g.CreateTime)))
	}
}

func listNetworkInterfaces(v *state.View, add func(controlapi.Resource)) {
	for i := range cloud.NetworkInterfaces.All(v) {
		add(of(i.Owner, ecs, i.ID, i.Name, i.Status, "address", joined(i.PrivateIPAddresses...), "instance", i.InstanceID,
			"vswitch", i.VSwitchID, "zone", i.ZoneID, "type", i.Type, "created", timeOf(i.CreateTime)))
	}
}

// listZones tells what zones sell: available, or soldout with the kinds of which there
// are no more.
func listZones(v *state.View, add func(controlapi.Resource)) {
	for r := range cloud.Regions.All(v) {
		if seen := v.Scope().RegionID; seen != "" && seen != r.ID {
			continue
		}
		for _, z := range r.Zones {
			var out []string
			for _, t := range []cloud.AddressType{cloud.AddressTypeInternet, cloud.AddressTypeIntranet} {
				if !r.InStock(z.ID, t) {
					out = append(out, string(t))
				}
			}
			status := "available"
			if len(out) > 0 {
				status = "soldout"
			}
			add(of(state.Owner{RegionID: r.ID}, ecs, z.ID, z.LocalName, status, "soldOut", joined(out...)))
		}
	}
}

func listEIPs(v *state.View, add func(controlapi.Resource)) {
	for e := range cloud.EIPs.All(v) {
		add(of(e.Owner, vpc, e.ID, e.Name, string(e.Status), "address", e.IPAddress, "instance", e.InstanceID,
			"bandwidth", e.Bandwidth, "instanceType", e.InstanceType, "created", timeOf(e.CreateTime)))
	}
}

func listBandwidthPackages(v *state.View, add func(controlapi.Resource)) {
	for p := range cloud.CommonBandwidthPackages.All(v) {
		add(of(p.Owner, vpc, p.ID, p.Name, "", "bandwidth", strconv.Itoa(p.Bandwidth), "addresses", strconv.Itoa(len(p.Addresses(v))),
			"isp", p.ISP, "chargeType", p.InternetChargeType, "created", timeOf(p.CreateTime)))
	}
}

func listInstances(v *state.View, add func(controlapi.Resource)) {
	for i := range cloud.Instances.All(v) {
		server := cloud.BackendServer{ServerID: i.ID, Type: cloud.BackendServerECS}
		groups := cloud.VServerGroupsByServer.Count(v, i.ID) + cloud.MasterSlaveServerGroupsByServer.Count(v, i.ID) + cloud.LoadBalancersByServer.Count(v, i.ID)
		add(of(i.Owner, ecs, i.ID, i.Name, i.Status, "zone", i.ZoneID, "address", server.Address(v), "vswitch", i.VSwitchID,
			"groups", strconv.Itoa(groups), "instanceType", i.InstanceType, "created", timeOf(i.CreateTime)))
	}
}
