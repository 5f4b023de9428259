package inventory

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
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

// of returns a resource of an owner. It leaves out empty fields.
func of(owner state.Owner, product, id, name, status string, fields ...field) controlapi.Resource {
	r := controlapi.Resource{ID: id, Name: name, Product: product, Account: owner.AccountID, Region: owner.RegionID, Status: status, Fields: make(map[string]string)}
	for _, f := range fields {
		if f.value != "" {
			r.Fields[f.name] = f.value
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
	return of(lb.Owner, lb.Product, lb.ID, lb.Name, lb.Status, colType.is(lb.Type), colAddress.is(addresses...),
		colListeners.count(listeners), colServers.count(servers), colVPC.is(lb.VPCID), colVSwitch.is(lb.VSwitches...),
		colZones.is(lb.Zones...), colSpec.is(lb.Spec), colDNSName.is(lb.DNSName), colCreated.is(timeOf(lb.CreateTime)))
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
	return within(f.LoadBalancerID, of(f.Owner, f.Product, f.ID, f.Name, f.Status, colProtocol.is(f.Protocol), colPort.is(port), colAnswersAt.is(answers), colProblem.is(problem),
		colGroup.is(f.GroupID), colHealth.is(from.healthOf(f, &g)), colScheduler.is(f.Scheduler), colHealthCheck.is(onOff(f.Check.Enabled || g.Check.Enabled)),
		colACL.is(strings.TrimSpace(f.Access.Type+" "+strings.Join(f.Access.Lists, ","))), colCertificate.is(f.TLS.Certificates...), colBandwidthLimit.is(bandwidthOf(f.Bandwidth))))
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

// bandwidthOf returns a limit in Mbit/s, or "" for 0.
func bandwidthOf(limit int) string {
	if limit == 0 {
		return ""
	}
	return fmt.Sprint(limit, " Mbit/s")
}

func listRules(from source, add func(controlapi.Resource)) {
	for r := range topology.Rules(from.View) {
		add(rule(&r))
	}
}

func rule(r *topology.Rule) controlapi.Resource {
	return within(r.LoadBalancerID, of(r.Owner, r.Product, r.ID, r.Name, "", colListener.is(r.FrontendID), colDomain.is(r.Domain), colURL.is(r.URL),
		colGroup.is(r.GroupID), colCreated.is(timeOf(r.CreateTime))))
}

func listJobs(from source, add func(controlapi.Resource)) {
	for j := range topology.Jobs(from.View) {
		add(of(j.Owner, j.Product, j.ID, "", j.Status, colAction.is(j.Action), colResource.is(j.ResourceID), colResourceType.is(j.ResourceType), colCreated.is(timeOf(j.CreateTime))))
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
	return within(g.LoadBalancerID, of(g.Owner, g.Product, g.ID, g.Name, g.Status, colType.is(g.Type), colServers.count(len(g.Members)),
		colVPC.is(g.VPCID), colProtocol.is(g.Protocol), colUsedBy.is(users...)))
}

func listAccessControlLists(from source, add func(controlapi.Resource)) {
	v := from.View
	for a := range kinds.AccessControlLists.All(v) {
		var entries []string
		for _, e := range a.Entries {
			entries = append(entries, e.Entry)
		}
		add(of(a.Owner, kinds.ProductCLB, a.ID, a.Name, "", colEntries.count(len(entries)), colListeners.count(kinds.ListenersByAccessControlList.Count(v, a.ID)),
			colAddresses.is(entries...), colCreated.is(timeOf(a.CreateTime))))
	}
}

func listCertificates(from source, add func(controlapi.Resource)) {
	v := from.View
	one := func(owner state.Owner, id, name, sort string, c *kinds.CertificateContent) {
		add(of(owner, kinds.ProductCLB, id, name, "", colType.is(sort), colCommonName.is(c.CommonName), colExpires.is(timeOf(c.NotAfter)),
			colListeners.count(kinds.ListenersByCertificate.Count(v, id)), colNames.is(c.SANs...), colFingerprint.is(c.Fingerprint)))
	}
	for c := range kinds.ServerCertificates.All(v) {
		one(c.Owner, c.ID, c.Name, "server", &c.CertificateContent)
	}
	for c := range kinds.CACertificates.All(v) {
		one(c.Owner, c.ID, c.Name, "ca", &c.CertificateContent)
	}
}

func listVSwitches(from source, add func(controlapi.Resource)) {
	v := from.View
	for s := range kinds.VSwitches.All(v) {
		add(of(s.Owner, vpc, s.ID, s.Name, "", colZone.is(s.ZoneID), colCIDR.is(s.CIDRBlock), colFree.count(kinds.AvailableAddresses(v, s)),
			colVPC.is(s.VPCID), colCreated.is(timeOf(s.CreateTime))))
	}
}

func listVPCs(from source, add func(controlapi.Resource)) {
	v := from.View
	for p := range kinds.VPCs.All(v) {
		add(of(p.Owner, vpc, p.ID, p.Name, "", colCIDR.is(append([]string{p.CIDRBlock}, p.SecondaryCIDRBlocks...)...),
			colVSwitches.count(kinds.VSwitchesByVPC.Count(v, p.ID)), colCreated.is(timeOf(p.CreateTime))))
	}
}

func listSecurityGroups(from source, add func(controlapi.Resource)) {
	v := from.View
	for g := range kinds.SecurityGroups.All(v) {
		add(of(g.Owner, ecs, g.ID, g.Name, "", colType.is(g.Type), colRules.count(len(g.Permissions)), colVPC.is(g.VPCID), colCreated.is(timeOf(g.CreateTime))))
	}
}

func listNetworkInterfaces(from source, add func(controlapi.Resource)) {
	v := from.View
	for i := range kinds.NetworkInterfaces.All(v) {
		add(of(i.Owner, ecs, i.ID, i.Name, i.Status, colAddress.is(i.PrivateIPAddresses...), colInstance.is(i.InstanceID),
			colVSwitch.is(i.VSwitchID), colZone.is(i.ZoneID), colType.is(i.Type), colCreated.is(timeOf(i.CreateTime))))
	}
}

// listZones lists what zones sell: available, or soldout with the kinds that are sold
// out.
func listZones(from source, add func(controlapi.Resource)) {
	v := from.View
	for r := range kinds.Regions.All(v) {
		if seen := v.Scope().RegionID; seen != "" && seen != r.ID {
			continue
		}
		for _, z := range r.Zones {
			var out []string
			for _, t := range []kinds.AddressType{kinds.AddressTypeInternet, kinds.AddressTypeIntranet} {
				if !r.InStock(z.ID, t) {
					out = append(out, string(t))
				}
			}
			status := "available"
			if len(out) > 0 {
				status = "soldout"
			}
			add(of(state.Owner{RegionID: r.ID}, ecs, z.ID, z.LocalName, status, colSoldOut.is(out...)))
		}
	}
}

func listEIPs(from source, add func(controlapi.Resource)) {
	v := from.View
	for e := range kinds.EIPs.All(v) {
		add(of(e.Owner, vpc, e.ID, e.Name, string(e.Status), colAddress.is(e.IPAddress), colInstance.is(e.InstanceID),
			colBandwidthLimit.is(e.Bandwidth), colInstanceType.is(e.InstanceType), colCreated.is(timeOf(e.CreateTime))))
	}
}

func listBandwidthPackages(from source, add func(controlapi.Resource)) {
	v := from.View
	for p := range kinds.CommonBandwidthPackages.All(v) {
		add(of(p.Owner, vpc, p.ID, p.Name, "", colBandwidth.count(p.Bandwidth), colAddressCount.count(len(p.Addresses(v))),
			colISP.is(p.ISP), colChargeType.is(p.InternetChargeType), colCreated.is(timeOf(p.CreateTime))))
	}
}

func listInstances(from source, add func(controlapi.Resource)) {
	v := from.View
	for i := range kinds.Instances.All(v) {
		server := kinds.BackendServer{ServerID: i.ID, Type: kinds.BackendServerECS}
		groups := kinds.VServerGroupsByServer.Count(v, i.ID) + kinds.MasterSlaveServerGroupsByServer.Count(v, i.ID) + kinds.LoadBalancersByServer.Count(v, i.ID)
		add(of(i.Owner, ecs, i.ID, i.Name, i.Status, colZone.is(i.ZoneID), colAddress.is(server.Address(v)), colVSwitch.is(i.VSwitchID),
			colGroups.count(groups), colInstanceType.is(i.InstanceType), colCreated.is(timeOf(i.CreateTime))))
	}
}
