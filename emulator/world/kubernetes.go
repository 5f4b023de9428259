package world

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/world/resources"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

// Import puts the cluster into the world, of the account that where names. A node
// becomes the instance that its providerID names, with its InternalIP; a pod
// becomes a network interface with its address, on the instance of its node, which
// it finds by the host name: that becomes the node's name, and another instance's
// of that name is taken away. VPCs
// and vSwitches are made for the addresses that none holds. The error has a line
// for everything that is wrong, up to a hundred, and then nothing may be kept of tx. A cluster that
// is imported again changes nothing.
func (c *Cluster) Import(tx *state.Tx, where controlapi.Where) (controlapi.Imported, error) {
	owner, err := resources.Owner(tx.View, where)
	if err != nil {
		return controlapi.Imported{}, err
	}
	i := &importer{
		planter: planter{tx: tx.In(state.Owner{}), accounts: []string{owner.AccountID}},
		nodes:   make(map[string]string),
	}
	for instance := range cloud.Instances.All(tx.View) {
		if instance.AccountID == owner.AccountID {
			i.nodes[instance.HostName] = instance.ID
		}
	}
	i.done.SkippedPods = c.skippedPods
	i.importNodes(&c.nodes)
	for o := range c.pods.all {
		if i.importPod(o); i.hopeless() {
			break
		}
	}
	return i.done, i.problems.byName()
}

// maxProblems is how many lines an error has at most.
const maxProblems = 100

// hopeless tells that so much is wrong that it is no use to look for more.
func (i *importer) hopeless() bool { return len(i.problems) >= maxProblems }

// byName returns the problems as one error, a line each, for an input that people
// know by its objects rather than by its lines.
func (ps problems) byName() error {
	lines := make([]error, len(ps))
	for i, p := range ps {
		lines[i] = fmt.Errorf("%s: %s", p.path, p.reason)
	}
	if len(ps) >= maxProblems {
		lines = append(lines, errors.New("there may be more"))
	}
	return errors.Join(lines...)
}

// importer brings a cluster into a state that holds something already.
type importer struct {
	planter
	// nodes are the ids of instances by the name of their node, which is their host
	// name.
	nodes map[string]string
	done  controlapi.Imported
}

// field is a value with the object and field that it comes from.
func (o *object) field(path, text string) scalar {
	name := strings.ToLower(o.Kind) + " " + o.Metadata.Name
	if o.Metadata.Namespace != "" {
		name = strings.ToLower(o.Kind) + " " + o.Metadata.Namespace + "/" + o.Metadata.Name
	}
	return scalar{place: place{path: name + ": " + path}, text: text}
}

// move is an instance whose address is another than the node's.
type move struct {
	at scalar
	n  *cloud.NetworkInterface
	sw *cloud.VSwitch
}

func (i *importer) importNodes(nodes *objects) {
	var moves []move
	var fresh []func()
	seen := make(map[string]bool) // names and instances
	for o := range nodes.all {
		if i.hopeless() {
			break
		}
		regionID, instanceID, ok := i.providerID(o)
		address := i.internalIP(o)
		if !ok || address.text == "" {
			continue
		}
		if seen[instanceID] {
			i.fail(o.field("spec.providerID", ""), "another node is on instance %s", instanceID)
			continue
		}
		if seen[o.Metadata.Name] {
			i.fail(o.field("metadata.name", ""), "another node has this name")
			continue
		}
		seen[instanceID], seen[o.Metadata.Name] = true, true
		owner := state.Owner{AccountID: i.accounts[0], RegionID: regionID}
		instance, exists := cloud.Instances.Find(i.tx.View, instanceID)
		switch {
		case !exists:
			fresh = append(fresh, func() { i.newInstance(owner, o, instanceID, address) })
		case instance.Owner != owner:
			i.fail(o.field("spec.providerID", ""), "instance %s belongs to account %s in %s", instanceID, instance.AccountID, instance.RegionID)
		default:
			m, moved := i.moved(instance, address)
			if moved {
				moves = append(moves, m)
			}
			if renamed := i.rename(instance, o.Metadata.Name); moved || renamed {
				i.done.Instances.Changed++
			} else {
				i.done.Instances.Unchanged++
			}
		}
	}
	// All leave before one arrives, as nodes may have swapped their addresses.
	for _, m := range moves {
		cloud.ReleaseAddresses(i.tx, cloud.NetworkInterfaces.Kind(), m.n.ID)
	}
	for _, m := range moves {
		n := *m.n
		n.PrivateIPAddresses = nil
		for at, held := range m.n.PrivateIPAddresses {
			address := scalar{m.at.place, held}
			if at == 0 {
				address = m.at
			}
			n.PrivateIPAddresses = append(n.PrivateIPAddresses, i.privateAddress(m.sw, &n, address))
		}
		cloud.NetworkInterfaces.Put(i.tx, &n)
	}
	for _, create := range fresh {
		create()
	}
}

// providerID reads <region>.<instance id>, which may have alicloud:// before it.
func (i *importer) providerID(o *object) (regionID, instanceID string, ok bool) {
	at := o.field("spec.providerID", o.Spec.ProviderID)
	if at.text == "" {
		i.fail(at, "it is missing: start the kubelet with --provider-id=<region>.<instance id>")
		return "", "", false
	}
	regionID, instanceID, ok = strings.Cut(strings.TrimPrefix(at.text, "alicloud://"), ".")
	if !ok || !resourceForm.MatchString(instanceID) || !strings.HasPrefix(instanceID, "i-") {
		i.fail(at, "%q is not of the form <region>.<instance id>, such as cn-hangzhou.i-bp1node1", at.text)
		return "", "", false
	}
	_, ok = refer(&i.planter, cloud.Regions, scalar{at.place, regionID})
	return regionID, instanceID, ok
}

// internalIP is the node's address, which is empty when it has none that an
// instance could have.
func (i *importer) internalIP(o *object) scalar {
	for _, a := range o.Status.Addresses {
		if addr, err := netip.ParseAddr(a.Address); a.Type == "InternalIP" && err == nil && addr.Is4() {
			return o.field("status.addresses", a.Address)
		}
	}
	at := o.field("status.addresses", "")
	i.fail(at, "there is no InternalIP of IPv4")
	return at
}

func (i *importer) newInstance(owner state.Owner, o *object, id string, address scalar) {
	sw, ok := i.vSwitch(owner, "", i.zone(owner, o), address)
	if !ok {
		return
	}
	at := address.place
	i.takeName(o.Metadata.Name)
	i.nodes[o.Metadata.Name] = id
	i.instance(&instanceSpec{
		ID: scalar{at, id}, VSwitch: scalar{at, sw.ID}, PrivateIPAddress: address,
		NetworkInterface: scalar{at, i.tx.In(owner).NewID(cloud.NetworkInterfaces.Kind())},
		Name:             scalar{at, o.Metadata.Name}, HostName: scalar{at, o.Metadata.Name},
		InstanceType: scalar{at, o.Metadata.Labels.InstanceType},
	})
	i.done.Instances.Created++
}

// rename gives an instance the name of its node, and tells whether it had another.
func (i *importer) rename(instance *cloud.Instance, node string) bool {
	if instance.HostName == node {
		return false
	}
	i.takeName(node)
	i.setHostName(instance.ID, node)
	i.nodes[node] = instance.ID
	return true
}

// takeName takes a node's name from the instance that has it, which is another.
func (i *importer) takeName(node string) {
	if other, taken := i.nodes[node]; taken && node != "" {
		i.setHostName(other, "")
	}
}

func (i *importer) setHostName(instanceID, name string) {
	if instance, ok := cloud.Instances.Find(i.tx.View, instanceID); ok {
		renamed := *instance
		renamed.HostName = name
		cloud.Instances.Put(i.tx, &renamed)
	}
}

// moved tells whether the instance has another address than the node's.
func (i *importer) moved(instance *cloud.Instance, address scalar) (move, bool) {
	n, _ := cloud.NetworkInterfacesByInstance.First(i.tx.View, instance.ID, cloud.NetworkInterfacePrimary)
	if n.PrivateIPAddresses[0] == address.text {
		return move{}, false
	}
	sw, _ := cloud.VSwitches.Find(i.tx.View, n.VSwitchID)
	if !cloud.Contains(sw.CIDRBlock, address.text) {
		i.fail(address, "%s is outside vSwitch %s (%s), where instance %s is: instances do not move between vSwitches",
			address.text, sw.ID, sw.CIDRBlock, instance.ID)
		return move{}, false
	}
	return move{address, n, sw}, true
}

// zone is the node's by its label, or else the region's first.
func (i *importer) zone(owner state.Owner, o *object) string {
	region, _ := cloud.Regions.Find(i.tx.View, owner.RegionID)
	label := o.Metadata.Labels.Zone
	if slices.ContainsFunc(region.Zones, func(z cloud.Zone) bool { return z.ID == label }) {
		return label
	}
	if len(region.ZonePairs) == 0 {
		return ""
	}
	return region.ZonePairs[0].Master
}

// Sizes of the blocks that are made around addresses, as lengths of prefixes.
const vpcBits = 16

// vSwitchBits are tried from the largest block down to one that is beside the
// VPC's other vSwitches.
var vSwitchBits = []int{20, 22, 24, 26, 28}

// vSwitch finds where an address belongs, in the VPC or, when that is empty, in
// any of the owner's; it makes what is missing.
func (i *importer) vSwitch(owner state.Owner, vpcID, zone string, address scalar) (*cloud.VSwitch, bool) {
	ip, err := netip.ParseAddr(address.text)
	if err != nil {
		i.fail(address, "%q is not an IP address", address.text)
		return nil, false
	}
	for sw := range cloud.VSwitchesByRegion.List(i.tx.View, owner.AccountID, owner.RegionID) {
		if (vpcID == "" || sw.VPCID == vpcID) && cloud.Contains(sw.CIDRBlock, address.text) {
			return sw, true
		}
	}
	vpc, ok := i.vpcFor(owner, vpcID, ip, address.place)
	if !ok {
		return nil, false
	}
	for _, bits := range vSwitchBits {
		block := netip.PrefixFrom(ip, bits).Masked()
		if i.free(vpc, block) {
			id := i.tx.In(owner).NewID(cloud.VSwitches.Kind())
			i.planter.vSwitch(&vSwitchSpec{
				ID: scalar{address.place, id}, VPC: scalar{address.place, vpc.ID},
				Zone: scalar{address.place, zone}, CIDRBlock: scalar{address.place, block.String()},
			})
			i.done.VSwitches++
			return cloud.VSwitches.Find(i.tx.View, id)
		}
	}
	i.fail(address, "VPC %s has no room for a vSwitch around %s", vpc.ID, ip)
	return nil, false
}

// free tells whether block lies in the VPC and beside its vSwitches.
func (i *importer) free(vpc *cloud.VPC, block netip.Prefix) bool {
	for sw := range cloud.VSwitchesByVPC.List(i.tx.View, vpc.ID) {
		if overlaps(block, sw.CIDRBlock) {
			return false
		}
	}
	return within(block, blocksOf(vpc)...)
}

func blocksOf(vpc *cloud.VPC) []string {
	return slices.Concat([]string{vpc.CIDRBlock}, vpc.SecondaryCIDRBlocks)
}

// vpcFor finds the VPC around an address or makes it. A VPC that is given gets
// another block when it has none there.
func (i *importer) vpcFor(owner state.Owner, vpcID string, ip netip.Addr, at place) (*cloud.VPC, bool) {
	single, around := netip.PrefixFrom(ip, 32), netip.PrefixFrom(ip, vpcBits).Masked()
	for vpc := range cloud.VPCsByRegion.List(i.tx.View, owner.AccountID, owner.RegionID) {
		blocks := blocksOf(vpc)
		switch {
		case vpcID != "" && vpc.ID != vpcID:
		case within(single, blocks...):
			return vpc, true
		case vpcID == "":
		case slices.ContainsFunc(blocks, func(block string) bool { return overlaps(around, block) }):
			i.fail(scalar{place: at}, "%s is outside VPC %s, and %s overlaps its blocks", ip, vpcID, around)
			return nil, false
		default:
			grown := *vpc
			grown.SecondaryCIDRBlocks = append(slices.Clone(vpc.SecondaryCIDRBlocks), around.String())
			cloud.VPCs.Put(i.tx, &grown)
			return &grown, true
		}
	}
	tx := i.tx.In(owner)
	id := tx.NewID(cloud.VPCs.Kind())
	i.vpc(&vpcSpec{
		ID: scalar{at, id}, Account: scalar{at, owner.AccountID}, Region: scalar{at, owner.RegionID},
		CIDRBlock: scalar{at, around.String()}, SystemRouteTable: scalar{at, tx.NewID(cloud.RouteTables.Kind())},
	})
	i.done.VPCs++
	return cloud.VPCs.Find(i.tx.View, id)
}

func (i *importer) importPod(o *object) {
	address := o.field("status.podIP", o.Status.PodIP)
	instance, ok := cloud.Instances.Find(i.tx.View, i.nodes[o.Spec.NodeName])
	if !ok || o.Spec.NodeName == "" {
		i.fail(o.field("spec.nodeName", ""), "there is no instance of node %s: import the nodes first", o.Spec.NodeName)
		return
	}
	description := "pod " + o.Metadata.Namespace + "/" + o.Metadata.Name
	if n, taken := cloud.NetworkInterfacesByAddress.First(i.tx.View, instance.VPCID, address.text); taken {
		i.keepPod(n, instance, description, address)
		return
	}
	sw, ok := i.vSwitch(instance.Owner, instance.VPCID, instance.ZoneID, address)
	if !ok {
		return
	}
	at := address.place
	i.networkInterface(&networkInterfaceSpec{
		ID:      scalar{at, i.tx.In(instance.Owner).NewID(cloud.NetworkInterfaces.Kind())},
		VSwitch: scalar{at, sw.ID}, Instance: scalar{at, instance.ID},
		PrivateIPAddresses: []scalar{address}, Description: scalar{at, description},
	})
	i.done.NetworkInterfaces.Created++
}

// keepPod gives the interface that has a pod's address to the pod.
func (i *importer) keepPod(n *cloud.NetworkInterface, instance *cloud.Instance, description string, address scalar) {
	switch {
	case n.Type == cloud.NetworkInterfacePrimary:
		i.fail(address, "%s is the address of instance %s itself", address.text, n.InstanceID)
	case n.ZoneID != instance.ZoneID:
		i.fail(address, "%s is in zone %s by vSwitch %s, its node's instance %s in %s",
			address.text, n.ZoneID, n.VSwitchID, instance.ID, instance.ZoneID)
	case n.InstanceID == instance.ID && n.Description == description:
		i.done.NetworkInterfaces.Unchanged++
	default:
		given := *n
		given.InstanceID, given.Status, given.Description = instance.ID, cloud.NetworkInterfaceInUse, description
		cloud.NetworkInterfaces.Put(i.tx, &given)
		i.done.NetworkInterfaces.Changed++
	}
}

// hasPlace tells whether a vSwitch of the VPC can give an address out: the one
// around it, or the largest that would be made.
func hasPlace(v *state.View, vpcID, ip string) bool {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return false
	}
	for sw := range cloud.VSwitchesByVPC.List(v, vpcID) {
		if block, err := netip.ParsePrefix(sw.CIDRBlock); err == nil && block.Contains(addr) {
			return cloud.IsFree(v, sw.ID, sw.CIDRBlock, ip)
		}
	}
	return cloud.Contains(netip.PrefixFrom(addr, vSwitchBits[0]).Masked().String(), ip)
}

// AddNetworkInterface gives an address of a VPC a network interface, as that of a
// pod, on a running instance; a vSwitch is made for it if none holds it. It does
// nothing when the scope has no such VPC or that no running instance, and when the
// cloud keeps the address for itself or another has it.
func AddNetworkInterface(tx *state.Tx, vpcID, ip string) error {
	vpc, ok := cloud.VPCs.Find(tx.View, vpcID)
	if !ok || vpc.Owner != tx.Scope() || !hasPlace(tx.View, vpcID, ip) {
		return nil
	}
	zones := make(map[string]*cloud.Instance) // the first running instance in each
	var first *cloud.Instance
	for instance := range cloud.InstancesByRegion.List(tx.View, vpc.AccountID, vpc.RegionID) {
		if instance.VPCID != vpcID || instance.Status != cloud.InstanceRunning {
			continue
		}
		first = cmp.Or(first, instance)
		zones[instance.ZoneID] = cmp.Or(zones[instance.ZoneID], instance)
	}
	if first == nil {
		return nil
	}
	i := &importer{planter: planter{tx: tx.In(state.Owner{}), accounts: []string{vpc.AccountID}}}
	address := scalar{place{path: "auto-eni"}, ip}
	if sw, ok := i.vSwitch(vpc.Owner, vpcID, first.ZoneID, address); ok {
		s := &networkInterfaceSpec{
			ID:      scalar{address.place, i.tx.In(vpc.Owner).NewID(cloud.NetworkInterfaces.Kind())},
			VSwitch: scalar{address.place, sw.ID}, PrivateIPAddresses: []scalar{address},
		}
		if instance := zones[sw.ZoneID]; instance != nil {
			s.Instance = scalar{address.place, instance.ID}
		}
		i.networkInterface(s)
	}
	return i.problems.byName()
}
