// Package autoeni creates the network interfaces of pods when a client looks them up,
// for clusters that only give the address blocks of their pods. It must not know who
// looks.
package autoeni

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/resources"
	"github.com/clbemu/clbemu/state"
)

// Blocks returns the address blocks of pods.
type Blocks []netip.Prefix

// MakeNetworkInterface creates the network interface of an address in the blocks.
func (b Blocks) MakeNetworkInterface(tx *state.Tx, vpcID, ip string) error {
	addr, err := netip.ParseAddr(ip)
	if err != nil || !slices.ContainsFunc(b, func(block netip.Prefix) bool { return block.Contains(addr) }) {
		return nil
	}
	return add(tx, vpcID, ip)
}

// add gives an address of a VPC a network interface, like a pod's, on a running
// instance; a vSwitch is made for it if none holds it. It does nothing when the scope
// has no such VPC or that no running instance, and when the cloud keeps the address
// for itself or another has it.
func add(tx *state.Tx, vpcID, ip string) error {
	vpc, ok := cloud.VPCs.Find(tx.View, vpcID)
	if !ok || vpc.Owner != tx.Scope() || !resources.CanHold(tx.View, vpcID, ip) {
		return nil
	}
	first, zones := running(tx.View, vpc)
	if first == nil {
		return nil
	}
	everything := tx.In(state.Owner{})
	sw, err := resources.VSwitchAround(everything, vpc.Owner, vpcID, first.ZoneID, ip, &resources.Made{})
	if err != nil {
		return fmt.Errorf("auto-eni: %w", err)
	}
	n := &cloud.NetworkInterface{ID: tx.NewID(cloud.NetworkInterfaces.Kind())}
	address, err := resources.Allocate(everything, sw.ID, sw.CIDRBlock, ip, cloud.NetworkInterfaces.Kind(), n.ID)
	if err != nil {
		return fmt.Errorf("auto-eni: %w", err)
	}
	n.PrivateIPAddresses = []string{address}
	resources.AddNetworkInterface(everything, sw, zones[sw.ZoneID], n)
	return nil
}

// running finds the first running instance of a VPC, and the first in each zone.
func running(v *state.View, vpc *cloud.VPC) (first *cloud.Instance, zones map[string]*cloud.Instance) {
	zones = make(map[string]*cloud.Instance)
	for instance := range cloud.InstancesByRegion.List(v, vpc.AccountID, vpc.RegionID) {
		if instance.VPCID == vpc.ID && instance.Status == cloud.InstanceRunning {
			first = cmp.Or(first, instance)
			zones[instance.ZoneID] = cmp.Or(zones[instance.ZoneID], instance)
		}
	}
	return first, zones
}
