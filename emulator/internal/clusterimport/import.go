package clusterimport

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/resources"
	"github.com/clbemu/clbemu/state"
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
	owner, err := resources.Owner(tx.View, state.Owner(where))
	if err != nil {
		return controlapi.Imported{}, err
	}
	i := &importer{tx: tx.In(state.Owner{}), account: owner.AccountID, nodes: make(map[string]string)}
	for instance := range kinds.Instances.All(tx.View) {
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
	i.done.VPCs, i.done.VSwitches = i.made.VPCs, i.made.VSwitches
	return i.done, i.err()
}

// maxProblems limits the lines of an error.
const maxProblems = 100

// hopeless reports whether so much is wrong that it is no use to look for more.
func (i *importer) hopeless() bool { return len(i.problems) >= maxProblems }

// err returns an error with all problems, a line each with the object and the field, or nil.
func (i *importer) err() error {
	if i.hopeless() {
		i.problems = append(i.problems, errors.New("there may be more"))
	}
	return errors.Join(i.problems...)
}

func (i *importer) fail(at string, format string, args ...any) {
	i.problems = append(i.problems, fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...)))
}

// importer brings a cluster into a state that holds something already.
type importer struct {
	tx       *state.Tx
	account  string
	problems []error
	// nodes are the ids of instances by the name of their node, which is their host
	// name.
	nodes map[string]string
	done  controlapi.Imported
	made  resources.Made
}

// field names a field of the object for people.
func (o *object) field(path string) string {
	name := strings.ToLower(o.Kind) + " " + o.Metadata.Name
	if o.Metadata.Namespace != "" {
		name = strings.ToLower(o.Kind) + " " + o.Metadata.Namespace + "/" + o.Metadata.Name
	}
	return name + ": " + path
}

// move is an instance whose address is another than the node's.
type move struct {
	node *object
	to   string
	n    *kinds.NetworkInterface
	sw   *kinds.VSwitch
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
		if !ok || address == "" {
			continue
		}
		if seen[instanceID] {
			i.fail(o.field("spec.providerID"), "another node is on instance %s", instanceID)
			continue
		}
		if seen[o.Metadata.Name] {
			i.fail(o.field("metadata.name"), "another node has this name")
			continue
		}
		seen[instanceID], seen[o.Metadata.Name] = true, true
		owner := state.Owner{AccountID: i.account, RegionID: regionID}
		instance, exists := kinds.Instances.Find(i.tx.View, instanceID)
		switch {
		case !exists:
			fresh = append(fresh, func() { i.newInstance(owner, o, instanceID, address) })
		case instance.Owner != owner:
			i.fail(o.field("spec.providerID"), "instance %s belongs to account %s in %s", instanceID, instance.AccountID, instance.RegionID)
		default:
			m, moved := i.moved(instance, o, address)
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
		kinds.ReleaseAddresses(i.tx, kinds.NetworkInterfaces.Kind(), m.n.ID)
	}
	for _, m := range moves {
		n := *m.n
		n.PrivateIPAddresses = nil
		for at, address := range m.n.PrivateIPAddresses {
			if at == 0 {
				address = m.to
			}
			n.PrivateIPAddresses = append(n.PrivateIPAddresses, i.allocate(m.sw, &n, m.node.field("status.addresses"), address))
		}
		kinds.NetworkInterfaces.Put(i.tx, &n)
	}
	for _, create := range fresh {
		create()
	}
}

// providerID reads <region>.<instance id>, which may have alicloud:// before it.
func (i *importer) providerID(o *object) (regionID, instanceID string, ok bool) {
	at := o.field("spec.providerID")
	if o.Spec.ProviderID == "" {
		i.fail(at, "it is missing: start the kubelet with --provider-id=<region>.<instance id>")
		return "", "", false
	}
	regionID, instanceID, ok = strings.Cut(strings.TrimPrefix(o.Spec.ProviderID, "alicloud://"), ".")
	if !ok || !instanceForm().MatchString(instanceID) {
		i.fail(at, "%q is not of the form <region>.<instance id>, such as cn-hangzhou.i-bp1node1", o.Spec.ProviderID)
		return "", "", false
	}
	if _, ok = kinds.Regions.Find(i.tx.View, regionID); !ok {
		i.fail(at, "there is no %s %s", kinds.Regions.Kind(), regionID)
	}
	return regionID, instanceID, ok
}

var instanceForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^i-[0-9a-z][0-9a-z-]{0,63}$`) })

// internalIP returns the node's address, or "" if none of its addresses can be an instance's.
func (i *importer) internalIP(o *object) string {
	for _, a := range o.Status.Addresses {
		if addr, err := netip.ParseAddr(a.Address); a.Type == "InternalIP" && err == nil && addr.Is4() {
			return a.Address
		}
	}
	i.fail(o.field("status.addresses"), "there is no InternalIP of IPv4")
	return ""
}

// allocate takes an address of a vSwitch for an interface.
func (i *importer) allocate(sw *kinds.VSwitch, n *kinds.NetworkInterface, at, ip string) string {
	got, err := resources.Allocate(i.tx, sw.ID, sw.CIDRBlock, ip, kinds.NetworkInterfaces.Kind(), n.ID)
	if err != nil {
		i.fail(at, "%s", err)
	}
	return got
}

func (i *importer) newInstance(owner state.Owner, o *object, id, address string) {
	at := o.field("status.addresses")
	sw, err := resources.VSwitchAround(i.tx, owner, "", i.zone(owner, o), address, &i.made)
	if err != nil {
		i.fail(at, "%s", err)
		return
	}
	i.takeName(o.Metadata.Name)
	i.nodes[o.Metadata.Name] = id
	n := &kinds.NetworkInterface{ID: i.tx.In(owner).NewID(kinds.NetworkInterfaces.Kind()), Type: kinds.NetworkInterfacePrimary}
	instance := &kinds.Instance{ID: id, Name: o.Metadata.Name, HostName: o.Metadata.Name, InstanceType: o.Metadata.Labels.InstanceType}
	resources.AddInstance(i.tx, sw, instance)
	n.PrivateIPAddresses = []string{i.allocate(sw, n, at, address)}
	resources.AddNetworkInterface(i.tx, sw, instance, n)
	i.done.Instances.Created++
}

// rename gives an instance the name of its node, and reports whether it had another.
func (i *importer) rename(instance *kinds.Instance, node string) bool {
	if instance.HostName == node {
		return false
	}
	i.takeName(node)
	i.setHostName(instance.ID, node)
	i.nodes[node] = instance.ID
	return true
}

// takeName takes a node's name from the other instance that has it.
func (i *importer) takeName(node string) {
	if other, taken := i.nodes[node]; taken && node != "" {
		i.setHostName(other, "")
	}
}

func (i *importer) setHostName(instanceID, name string) {
	if instance, ok := kinds.Instances.Find(i.tx.View, instanceID); ok {
		renamed := *instance
		renamed.HostName = name
		kinds.Instances.Put(i.tx, &renamed)
	}
}

// moved reports whether the instance has another address than the node's.
func (i *importer) moved(instance *kinds.Instance, o *object, address string) (move, bool) {
	n, _ := kinds.NetworkInterfacesByInstance.First(i.tx.View, instance.ID, kinds.NetworkInterfacePrimary)
	if n.PrivateIPAddresses[0] == address {
		return move{}, false
	}
	sw, _ := kinds.VSwitches.Find(i.tx.View, n.VSwitchID)
	if !kinds.Contains(sw.CIDRBlock, address) {
		i.fail(o.field("status.addresses"), "%s is outside vSwitch %s (%s), where instance %s is: instances do not move between vSwitches",
			address, sw.ID, sw.CIDRBlock, instance.ID)
		return move{}, false
	}
	return move{o, address, n, sw}, true
}

// zone returns the node's zone by its label, or else the region's first.
func (i *importer) zone(owner state.Owner, o *object) string {
	region, _ := kinds.Regions.Find(i.tx.View, owner.RegionID)
	label := o.Metadata.Labels.Zone
	if slices.ContainsFunc(region.Zones, func(z kinds.Zone) bool { return z.ID == label }) {
		return label
	}
	if len(region.ZonePairs) == 0 {
		return ""
	}
	return region.ZonePairs[0].Master
}

func (i *importer) importPod(o *object) {
	at, address := o.field("status.podIP"), o.Status.PodIP
	instance, ok := kinds.Instances.Find(i.tx.View, i.nodes[o.Spec.NodeName])
	if !ok || o.Spec.NodeName == "" {
		i.fail(o.field("spec.nodeName"), "there is no instance of node %s: import the nodes first", o.Spec.NodeName)
		return
	}
	description := "pod " + o.Metadata.Namespace + "/" + o.Metadata.Name
	if n, taken := kinds.NetworkInterfacesByAddress.First(i.tx.View, instance.VPCID, address); taken {
		i.keepPod(n, instance, description, at, address)
		return
	}
	sw, err := resources.VSwitchAround(i.tx, instance.Owner, instance.VPCID, instance.ZoneID, address, &i.made)
	if err != nil {
		i.fail(at, "%s", err)
		return
	}
	if instance.ZoneID != sw.ZoneID {
		i.fail(at, "instance %s is in zone %s, vSwitch %s in %s", instance.ID, instance.ZoneID, sw.ID, sw.ZoneID)
		return
	}
	n := &kinds.NetworkInterface{ID: i.tx.In(instance.Owner).NewID(kinds.NetworkInterfaces.Kind()), Description: description}
	n.PrivateIPAddresses = []string{i.allocate(sw, n, at, address)}
	resources.AddNetworkInterface(i.tx, sw, instance, n)
	i.done.NetworkInterfaces.Created++
}

// keepPod gives the interface that has a pod's address to the pod.
func (i *importer) keepPod(n *kinds.NetworkInterface, instance *kinds.Instance, description, at, address string) {
	switch {
	case n.Type == kinds.NetworkInterfacePrimary:
		i.fail(at, "%s is the address of instance %s itself", address, n.InstanceID)
	case n.ZoneID != instance.ZoneID:
		i.fail(at, "%s is in zone %s by vSwitch %s, its node's instance %s in %s",
			address, n.ZoneID, n.VSwitchID, instance.ID, instance.ZoneID)
	case n.InstanceID == instance.ID && n.Description == description:
		i.done.NetworkInterfaces.Unchanged++
	default:
		given := *n
		given.InstanceID, given.Status, given.Description = instance.ID, kinds.NetworkInterfaceInUse, description
		kinds.NetworkInterfaces.Put(i.tx, &given)
		i.done.NetworkInterfaces.Changed++
	}
}
