package resources

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// PodBlocks are the address blocks of pods, whose network interfaces are created when a
// client looks them up: for clusters that give no more than the blocks.
type PodBlocks []netip.Prefix

// MakeNetworkInterface creates the network interface of an address in the blocks.
func (b PodBlocks) MakeNetworkInterface(tx *state.Tx, vpcID, ip string) error {
	addr, err := netip.ParseAddr(ip)
	if err != nil || !slices.ContainsFunc(b, func(block netip.Prefix) bool { return block.Contains(addr) }) {
		return nil
	}
	return addPod(tx, vpcID, ip)
}

// addPod gives an address of a VPC a network interface, like a pod's, on a running
// instance; a vSwitch is made for it if none holds it. It does nothing when the scope
// has no such VPC or that no running instance, and when the cloud keeps the address
// for itself or another has it.
func addPod(tx *state.Tx, vpcID, ip string) error {
	vpc, ok := kinds.VPCs.Find(tx.View, vpcID)
	if !ok || vpc.Owner != tx.Scope() || !CanHold(tx.View, vpcID, ip) {
		return nil
	}
	first, zones := running(tx.View, vpc)
	if first == nil {
		return nil
	}
	everything := tx.In(state.Owner{})
	sw, err := VSwitchAround(everything, vpc.Owner, vpcID, first.ZoneID, ip, &Made{})
	if err != nil {
		return fmt.Errorf("auto-eni: %w", err)
	}
	n := &kinds.NetworkInterface{ID: tx.NewID(kinds.NetworkInterfaces.Kind())}
	address, err := Allocate(everything, sw.ID, sw.CIDRBlock, ip, kinds.NetworkInterfaces.Kind(), n.ID)
	if err != nil {
		return fmt.Errorf("auto-eni: %w", err)
	}
	n.PrivateIPAddresses = []string{address}
	AddNetworkInterface(everything, sw, zones[sw.ZoneID], n)
	return nil
}

// running finds the first running instance of a VPC, and the first in each zone.
func running(v *state.View, vpc *kinds.VPC) (first *kinds.Instance, zones map[string]*kinds.Instance) {
	zones = make(map[string]*kinds.Instance)
	for instance := range kinds.InstancesByRegion.List(v, vpc.AccountID, vpc.RegionID) {
		if instance.VPCID == vpc.ID && instance.Status == kinds.InstanceRunning {
			first = cmp.Or(first, instance)
			zones[instance.ZoneID] = cmp.Or(zones[instance.ZoneID], instance)
		}
	}
	return first, zones
}
