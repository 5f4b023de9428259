// Package inventory lists the resources of the emulated cloud for people: load
// balancers of all products, their parts, the resources that they use, and the tree of
// a load balancer. It owns the columns of each kind; it must not know who asks, or
// change anything.
package inventory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/glob"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/emulator/spelling"
	"github.com/clbemu/clbemu/state"
)

// kind is a kind with what lists it.
type kind struct {
	controlapi.ResourceKind
	list func(from source, add func(controlapi.Resource))
	// aside is for kinds that are listed where they are named alone: there may be many,
	// and no client created them for their own sake.
	aside bool
}

// loadBalancers is the kind that products share.
const loadBalancers = "lb"

// allKinds lists all kinds in the order in which they are shown.
var allKinds = []kind{
	{named(loadBalancers, "Load balancers", "loadbalancer", "loadbalancers", "lbs").
		shows(colID, colName, colStatus, colAddress, colListeners, colServers, colProduct, colType).wide(colRegion, colVPC, colVSwitch, colZones, colSpec, colDNSName, colCreated), listLoadBalancers, false},
	{named("listener", "Listeners", "listeners").
		shows(colLoadBalancer, colProtocol, colPort, colStatus, colGroup, colHealth).wide(colID, colName, colProduct, colScheduler, colHealthCheck, colACL, colCertificate, colBandwidthLimit), listListeners, false},
	{named("rule", "Forwarding rules", "rules").
		shows(colLoadBalancer, colListener, colID, colDomain, colURL, colGroup).wide(colName, colRegion, colCreated), listRules, false},
	{named("group", "Server groups", "groups", "servergroup", "servergroups", "vservergroup", "vservergroups").
		shows(colID, colName, colServers, colLoadBalancer, colType, colStatus, colProduct).wide(colRegion, colVPC, colProtocol, colUsedBy), listGroups, false},
	{named("backend", "Backend servers", "backends", "server", "servers").
		shows(colGroup, colServer, colAddress, colPort, colWeight, colHealth).wide(colID, colLoadBalancer, colType, colDescription), listBackends, false},
	{named("acl", "Access control lists", "acls", "accesscontrollist", "accesscontrollists").
		shows(colID, colName, colEntries, colListeners).wide(colRegion, colAddresses, colCreated), listAccessControlLists, false},
	{named("cert", "Certificates", "certs", "certificate", "certificates").
		shows(colID, colName, colType, colCommonName, colExpires, colListeners).wide(colRegion, colNames, colFingerprint), listCertificates, false},
	{named("vswitch", "vSwitches", "vswitches", "vsw").
		shows(colID, colName, colZone, colCIDR, colFree).wide(colRegion, colVPC, colCreated), listVSwitches, false},
	{named("vpc", "VPCs", "vpcs").
		shows(colID, colName, colCIDR, colVSwitches).wide(colRegion, colCreated), listVPCs, false},
	{named("sg", "Security groups", "sgs", "securitygroup", "securitygroups").
		shows(colID, colName, colType, colRules, colVPC).wide(colRegion, colCreated), listSecurityGroups, false},
	{named("eni", "Network interfaces", "enis", "networkinterface", "networkinterfaces").
		shows(colID, colName, colStatus, colAddress, colInstance, colVSwitch).wide(colRegion, colZone, colType, colCreated), listNetworkInterfaces, false},
	{named("eip", "Elastic IP addresses", "eips").
		shows(colID, colName, colStatus, colAddress, colInstance).wide(colRegion, colBandwidthLimit, colInstanceType, colCreated), listEIPs, false},
	{named("bandwidthpackage", "Common bandwidth packages", "bandwidthpackages", "cbwp").
		shows(colID, colName, colBandwidth, colAddressCount).wide(colRegion, colISP, colChargeType, colCreated), listBandwidthPackages, false},
	{named("zone", "Zones", "zones").
		shows(colID, colStatus, colSoldOut, colRegion).wide(colName), listZones, false},
	{named("instance", "Instances", "instances", "ecs").
		shows(colID, colName, colStatus, colZone, colAddress, colVSwitch, colGroups).wide(colRegion, colInstanceType, colCreated), listInstances, false},
	{named("job", "Jobs", "jobs").
		shows(colID, colStatus, colAction, colResource, colProduct, colCreated).wide(colRegion, colResourceType), listJobs, true},
}

// declared lets a kind be declared on a line.
type declared controlapi.ResourceKind

func named(name, title string, aliases ...string) declared {
	return declared{Name: name, Title: title, Aliases: aliases}
}

func (d declared) shows(columns ...column) declared {
	for _, c := range columns {
		d.Columns = append(d.Columns, c.shown(false))
	}
	return d
}

func (d declared) wide(columns ...column) controlapi.ResourceKind {
	for _, c := range columns {
		d.Columns = append(d.Columns, c.shown(true))
	}
	return controlapi.ResourceKind(d)
}

// All stands for all kinds.
const All = "all"

// Kinds lists the kinds.
func Kinds() (list []controlapi.ResourceKind) {
	for _, k := range allKinds {
		list = append(list, k.ResourceKind)
	}
	return list
}

// find finds the kinds that names with commas between them mean, in the order in which
// they are shown; none are all.
func (i Inventory) find(names string) ([]kind, error) {
	if names == "" || names == All {
		return slices.DeleteFunc(slices.Clone(allKinds), func(k kind) bool { return k.aside }), nil
	}
	wanted := make(map[string]bool)
	var only []string // the products whose load balancers are wanted
	for name := range strings.SplitSeq(names, ",") {
		if product := i.productOf(name); product != "" {
			only = append(only, product)
			continue
		}
		k, err := i.findOne(name)
		if err != nil {
			return nil, err
		}
		wanted[k.Name] = true
	}
	var chosen []kind
	for _, k := range allKinds {
		switch {
		case wanted[k.Name]:
			chosen = append(chosen, k)
		case k.Name == loadBalancers && only != nil:
			chosen = append(chosen, k.of(only))
		}
	}
	return chosen, nil
}

// of returns the kind with the resources of some products alone.
func (k kind) of(products []string) kind {
	all := k.list
	k.list = func(from source, add func(controlapi.Resource)) {
		all(from, func(r controlapi.Resource) {
			if slices.Contains(products, r.Product) {
				add(r)
			}
		})
	}
	return k
}

// title returns a product's name for people, or "" if it has none.
func (i Inventory) title(product string) string {
	for _, p := range i.Products {
		if p.Name == product {
			return p.Title
		}
	}
	return ""
}

// productOf returns the name of the product with a short name, or "" if none has it.
func (i Inventory) productOf(short string) string {
	for _, p := range i.Products {
		if slices.Contains(p.ShortNames, short) {
			return p.Name
		}
	}
	return ""
}

func (i Inventory) findOne(name string) (*kind, error) {
	known, short := []string{All}, []string{All}
	for _, p := range i.Products {
		known = append(known, p.ShortNames...)
	}
	for i, k := range allKinds {
		if k.Name == name || slices.Contains(k.Aliases, name) {
			return &allKinds[i], nil
		}
		known, short = append(append(known, k.Name), k.Aliases...), append(short, k.Name)
	}
	return nil, fmt.Errorf("there is no kind of resource %s%s", name, spelling.DidYouMean(name, known, "there are "+strings.Join(short, ", ")))
}

// Inventory lists resources.
type Inventory struct {
	// Packets knows where listeners answer. It is nil if none does.
	Packets Packets
	// Products lists the products whose short names choose load balancers.
	Products []*gateway.Product
}

// Packets knows what a data plane does.
type Packets interface {
	// Reached returns where the listener of a frontend answers, and why it does not answer, or not
	// everywhere.
	Reached(frontendID string) (address, problem string)
	// Trouble returns what is wrong with a member, or "".
	Trouble(v *state.View, f *topology.Frontend, g *topology.Group, m *topology.Member) string
	// Settled waits until listeners do what the state holds and health checks have found.
	Settled(ctx context.Context) error
	// Traffic returns what went through the listeners that it knows, in order of id.
	Traffic() []controlapi.ListenerTraffic
}

func (i Inventory) source(v *state.View) source { return source{v, kinds.AttachedHealth, i.Packets} }

// Wanted selects the resources to list.
type Wanted struct {
	// Kind is a kind, several by commas, or All, which "" is too.
	Kind string
	// Name is an id, a name, or a glob of either, of the resource or of what it is a
	// part of; "" is every one.
	Name string
}

// List returns the wanted resources that the scope sees. A name that no resource has is
// an *Unknown.
func (i Inventory) List(v *state.View, wanted Wanted) (found controlapi.Resources, err error) {
	chosen, err := i.find(wanted.Kind)
	if err != nil {
		return found, err
	}
	for _, k := range chosen {
		found.Kinds = append(found.Kinds, k.ResourceKind)
	}
	found.Resources = []controlapi.Resource{}
	err = i.Each(v, wanted, func(r controlapi.Resource) { found.Resources = append(found.Resources, r) })
	return found, err
}

// Check returns the error of List that no resource can mend: an unknown kind, or a
// name that is not a pattern.
func (i Inventory) Check(wanted Wanted) error {
	_, _, err := i.parse(wanted)
	return err
}

func (i Inventory) parse(wanted Wanted) (chosen []kind, pattern glob.List, err error) {
	if chosen, err = i.find(wanted.Kind); err != nil {
		return nil, nil, err
	}
	pattern = glob.Split(wanted.Name)
	if bad, is := pattern.Bad(); is {
		return nil, nil, fmt.Errorf("%q is not a pattern", bad)
	}
	return chosen, pattern, nil
}

// Each calls add for each resource that List returns.
func (i Inventory) Each(v *state.View, wanted Wanted, add func(controlapi.Resource)) error {
	chosen, pattern, err := i.parse(wanted)
	if err != nil {
		return err
	}
	matched := wanted.Name == ""
	if parts, ok := i.source(v).named(strings.Split(wanted.Name, ",")); ok && !slices.ContainsFunc(chosen, func(k kind) bool { return !slices.Contains(partKinds, k.Name) }) {
		for _, k := range chosen {
			for _, r := range parts {
				if r.ProductTitle = i.title(r.Product); r.Kind == k.Name {
					matched = true
					add(r)
				}
			}
		}
		if matched {
			return nil
		}
	}
	var others []string
	for _, k := range chosen {
		k.list(i.source(v), func(r controlapi.Resource) {
			r.Kind, r.ProductTitle = k.Name, i.title(r.Product)
			if wanted.Name != "" {
				called := names(&r)
				if !pattern.Match(called...) {
					others = append(others, called...)
					return
				}
				matched = true
			}
			add(r)
		})
	}
	if !matched {
		return unknown(wanted, others)
	}
	return nil
}

// names lists the names that users can ask for a resource by.
func names(r *controlapi.Resource) []string {
	return slices.DeleteFunc([]string{r.ID, r.Name, r.LoadBalancer, r.Fields["group"], r.Fields["server"], r.Fields["address"]},
		func(name string) bool { return name == "" })
}

// Unknown is the error for an unknown kind or resource.
type Unknown struct{ reason string }

// Error names the unknown kind or resource, and suggests a known one.
func (e *Unknown) Error() string { return e.reason }

func unknown(wanted Wanted, others []string) error {
	what := wanted.Kind
	if what == "" || what == All {
		what = "resource"
	}
	return &Unknown{fmt.Sprintf("there is no %s %s%s", what, wanted.Name, spelling.DidYouMean(wanted.Name, others, "list them with `clbemu get "+what+"`"))}
}
