package inventory

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

// The products of what stands around load balancers.
const (
	vpc = "Vpc"
	ecs = "Ecs"
)

// source is a view with what is known of health in it.
type source struct {
	*state.View
	health  topology.Health
	packets Packets
}

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

// within declares a resource a part of a load balancer.
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

func listLoadBalancers(from source, add func(controlapi.Resource)) {
	for lb := range topology.LoadBalancers(from.View) {
		add(loadBalancer(&lb))
	}
}

func loadBalancer(lb *topology.LoadBalancer) controlapi.Resource {
	var addresses []string
	for _, a := range lb.Addresses {
		addresses = append(addresses, a.IP)
	}
	listeners, servers := 0, 0
	counted := make(map[string]bool)
	count := func(g *topology.Group) {
		if !counted[g.ID] {
			counted[g.ID] = true
			servers += len(g.Members)
		}
	}
	for g := range lb.Groups {
		count(&g)
	}
	for f := range lb.Frontends {
		listeners++
		if counted[f.GroupID] {
			continue
		}
		if g, ok := f.Group(); ok {
			count(&g)
		}
	}
	return of(lb.Owner, lb.Product, lb.ID, lb.Name, lb.Status, "type", lb.Type, "address", joined(addresses...),
		"listeners", strconv.Itoa(listeners), "servers", strconv.Itoa(servers), "vpc", lb.VPCID, "vswitch", joined(lb.VSwitches...),
		"zones", joined(lb.Zones...), "spec", lb.Spec, "dnsName", lb.DNSName, "created", timeOf(lb.CreateTime))
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

func listListeners(from source, add func(controlapi.Resource)) {
	for f := range topology.Frontends(from.View) {
		add(from.listener(&f))
	}
}

func (from source) listener(f *topology.Frontend) controlapi.Resource {
	g, _ := f.Group()
	port := strconv.Itoa(f.FirstPort)
	if f.LastPort != f.FirstPort {
		port += "-" + strconv.Itoa(f.LastPort)
	}
	answers, problem := "", ""
	if from.packets != nil {
		answers, problem = from.packets.Reached(f.ID)
	}
	return within(f.LoadBalancerID, of(f.Owner, f.Product, f.ID, f.Name, f.Status, "protocol", f.Protocol, "port", port, "answersAt", answers, "problem", problem,
		"group", f.GroupID, "health", from.healthOf(f, &g), "scheduler", f.Scheduler, "healthCheck", onOff(f.Check.Enabled || g.Check.Enabled),
		"acl", strings.TrimSpace(f.Access.Type+" "+joined(f.Access.Lists...)), "certificate", joined(f.TLS.Certificates...), "bandwidth", bandwidthOf(f.Bandwidth)))
}

// healthOf says how many members of a group a listener finds healthy, if it checks them.
func (from source) healthOf(f *topology.Frontend, g *topology.Group) string {
	if len(g.Members) > 0 && !topology.Checked(f, g) {
		return string(topology.Unchecked)
	}
	healthy := 0
	for i := range g.Members {
		if from.health.Of(from.View, f, g, &g.Members[i]) == topology.Normal {
			healthy++
		}
	}
	return fmt.Sprintf("%d/%d", healthy, len(g.Members))
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// bandwidthOf is a limit in Mbit/s, "" where there is none.
func bandwidthOf(limit int) string {
	if limit == 0 {
		return ""
	}
	return fmt.Sprint(limit, " Mbit/s")
}

func listRules(from source, add func(controlapi.Resource)) {
	for r := range topology.Rules(from.View) {
		add(within(r.LoadBalancerID, of(r.Owner, r.Product, r.ID, r.Name, "", "listener", r.FrontendID, "domain", r.Domain, "url", r.URL,
			"group", r.GroupID, "created", timeOf(r.CreateTime))))
	}
}

func listJobs(from source, add func(controlapi.Resource)) {
	for j := range topology.Jobs(from.View) {
		add(of(j.Owner, j.Product, j.ID, "", j.Status, "action", j.Action, "resource", j.ResourceID, "resourceType", j.ResourceType, "created", timeOf(j.CreateTime)))
	}
}

func listGroups(from source, add func(controlapi.Resource)) {
	for g := range topology.Groups(from.View) {
		add(group(&g))
	}
}

func group(g *topology.Group) controlapi.Resource {
	var users []string
	for f := range g.Frontends {
		if f.GroupID == g.ID {
			users = append(users, f.ID)
		}
	}
	return within(g.LoadBalancerID, of(g.Owner, g.Product, g.ID, g.Name, g.Status, "type", g.Type, "servers", strconv.Itoa(len(g.Members)),
		"vpc", g.VPCID, "protocol", g.Protocol, "usedBy", joined(users...)))
}

func listAccessControlLists(from source, add func(controlapi.Resource)) {
	v := from.View
	for a := range cloud.AccessControlLists.All(v) {
		var entries []string
		for _, e := range a.Entries {
			entries = append(entries, e.Entry)
		}
		add(of(a.Owner, cloud.ProductCLB, a.ID, a.Name, "", "entries", strconv.Itoa(len(entries)), "listeners", strconv.Itoa(cloud.ListenersByAccessControlList.Count(v, a.ID)),
			"addresses", joined(entries...), "created", timeOf(a.CreateTime)))
	}
}

func listCertificates(from source, add func(controlapi.Resource)) {
	v := from.View
	one := func(owner state.Owner, id, name, sort string, c *cloud.CertificateContent) {
		add(of(owner, cloud.ProductCLB, id, name, "", "type", sort, "commonName", c.CommonName, "expires", timeOf(c.NotAfter),
			"listeners", strconv.Itoa(cloud.ListenersByCertificate.Count(v, id)), "names", joined(c.SANs...), "fingerprint", c.Fingerprint))
	}
	for c := range cloud.ServerCertificates.All(v) {
		one(c.Owner, c.ID, c.Name, "server", &c.CertificateContent)
	}
	for c := range cloud.CACertificates.All(v) {
		one(c.Owner, c.ID, c.Name, "ca", &c.CertificateContent)
	}
}

func listVSwitches(from source, add func(controlapi.Resource)) {
	v := from.View
	for s := range cloud.VSwitches.All(v) {
		add(of(s.Owner, vpc, s.ID, s.Name, "", "zone", s.ZoneID, "cidr", s.CIDRBlock, "free", strconv.Itoa(cloud.AvailableAddresses(v, s)),
			"vpc", s.VPCID, "created", timeOf(s.CreateTime)))
	}
}

func listVPCs(from source, add func(controlapi.Resource)) {
	v := from.View
	for p := range cloud.VPCs.All(v) {
		add(of(p.Owner, vpc, p.ID, p.Name, "", "cidr", joined(append([]string{p.CIDRBlock}, p.SecondaryCIDRBlocks...)...),
			"vswitches", strconv.Itoa(cloud.VSwitchesByVPC.Count(v, p.ID)), "created", timeOf(p.CreateTime)))
	}
}

func listSecurityGroups(from source, add func(controlapi.Resource)) {
	v := from.View
	for g := range cloud.SecurityGroups.All(v) {
		add(of(g.Owner, ecs, g.ID, g.Name, "", "type", g.Type, "rules", strconv.Itoa(len(g.Permissions)), "vpc", g.VPCID, "created", timeOf(g.CreateTime)))
	}
}

func listNetworkInterfaces(from source, add func(controlapi.Resource)) {
	v := from.View
	for i := range cloud.NetworkInterfaces.All(v) {
		add(of(i.Owner, ecs, i.ID, i.Name, i.Status, "address", joined(i.PrivateIPAddresses...), "instance", i.InstanceID,
			"vswitch", i.VSwitchID, "zone", i.ZoneID, "type", i.Type, "created", timeOf(i.CreateTime)))
	}
}

// listZones lists what zones sell: available, or soldout with the kinds that are sold
// out.
func listZones(from source, add func(controlapi.Resource)) {
	v := from.View
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

func listEIPs(from source, add func(controlapi.Resource)) {
	v := from.View
	for e := range cloud.EIPs.All(v) {
		add(of(e.Owner, vpc, e.ID, e.Name, string(e.Status), "address", e.IPAddress, "instance", e.InstanceID,
			"bandwidth", e.Bandwidth, "instanceType", e.InstanceType, "created", timeOf(e.CreateTime)))
	}
}

func listBandwidthPackages(from source, add func(controlapi.Resource)) {
	v := from.View
	for p := range cloud.CommonBandwidthPackages.All(v) {
		add(of(p.Owner, vpc, p.ID, p.Name, "", "bandwidth", strconv.Itoa(p.Bandwidth), "addresses", strconv.Itoa(len(p.Addresses(v))),
			"isp", p.ISP, "chargeType", p.InternetChargeType, "created", timeOf(p.CreateTime)))
	}
}

func listInstances(from source, add func(controlapi.Resource)) {
	v := from.View
	for i := range cloud.Instances.All(v) {
		server := cloud.BackendServer{ServerID: i.ID, Type: cloud.BackendServerECS}
		groups := cloud.VServerGroupsByServer.Count(v, i.ID) + cloud.MasterSlaveServerGroupsByServer.Count(v, i.ID) + cloud.LoadBalancersByServer.Count(v, i.ID)
		add(of(i.Owner, ecs, i.ID, i.Name, i.Status, "zone", i.ZoneID, "address", server.Address(v), "vswitch", i.VSwitchID,
			"groups", strconv.Itoa(groups), "instanceType", i.InstanceType, "created", timeOf(i.CreateTime)))
	}
}
