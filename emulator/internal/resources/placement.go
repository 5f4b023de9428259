package resources

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// Sizes of the blocks that are made around addresses, as lengths of prefixes.
const vpcBits = 16

// vSwitchBits are tried from the largest block down to one that overlaps none of
// the VPC's other vSwitches.
var vSwitchBits = []int{20, 22, 24, 26, 28}

// Made counts what was made around addresses.
type Made struct{ VPCs, VSwitches int }

// VSwitchAround finds where an address of IPv4 belongs, in the VPC or, when that is "",
// in any of the owner's; it creates what is missing, in the zone, and counts it.
func VSwitchAround(tx *state.Tx, owner state.Owner, vpcID, zone, address string, made *Made) (*kinds.VSwitch, error) {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return nil, fmt.Errorf("%q is not an IP address", address)
	}
	for sw := range kinds.VSwitchesByRegion.List(tx.View, owner.AccountID, owner.RegionID) {
		if (vpcID == "" || sw.VPCID == vpcID) && kinds.Contains(sw.CIDRBlock, address) {
			return sw, nil
		}
	}
	vpc, err := vpcAround(tx, owner, vpcID, ip, made)
	if err != nil {
		return nil, err
	}
	for _, bits := range vSwitchBits {
		block := netip.PrefixFrom(ip, bits).Masked()
		if free(tx.View, vpc, block) {
			sw := &kinds.VSwitch{ID: tx.In(owner).NewID(kinds.VSwitches.Kind()), ZoneID: zone, CIDRBlock: block.String()}
			AddVSwitch(tx, vpc, sw)
			made.VSwitches++
			return sw, nil
		}
	}
	return nil, fmt.Errorf("VPC %s has no room for a vSwitch around %s", vpc.ID, ip)
}

// free reports whether block lies in the VPC and overlaps none of its vSwitches.
func free(v *state.View, vpc *kinds.VPC, block netip.Prefix) bool {
	for sw := range kinds.VSwitchesByVPC.List(v, vpc.ID) {
		if Overlaps(block, sw.CIDRBlock) {
			return false
		}
	}
	return Within(block, blocksOf(vpc)...)
}

// vpcAround finds the VPC around an address or creates it. A given VPC gets another
// block when it has none there.
func vpcAround(tx *state.Tx, owner state.Owner, vpcID string, ip netip.Addr, made *Made) (*kinds.VPC, error) {
	single, around := netip.PrefixFrom(ip, 32), netip.PrefixFrom(ip, vpcBits).Masked()
	for vpc := range kinds.VPCsByRegion.List(tx.View, owner.AccountID, owner.RegionID) {
		blocks := blocksOf(vpc)
		switch {
		case vpcID != "" && vpc.ID != vpcID:
		case Within(single, blocks...):
			return vpc, nil
		case vpcID == "":
		case slices.ContainsFunc(blocks, func(block string) bool { return Overlaps(around, block) }):
			return nil, fmt.Errorf("%s is outside VPC %s, and %s overlaps its blocks", ip, vpcID, around)
		default:
			grown := *vpc
			grown.SecondaryCIDRBlocks = append(slices.Clone(vpc.SecondaryCIDRBlocks), around.String())
			kinds.VPCs.Put(tx, &grown)
			return &grown, nil
		}
	}
	vpc := &kinds.VPC{Owner: owner, ID: tx.In(owner).NewID(kinds.VPCs.Kind()), CIDRBlock: around.String()}
	table := &kinds.RouteTable{ID: tx.In(owner).NewID(kinds.RouteTables.Kind()), Type: kinds.RouteTableSystem}
	AddVPC(tx, vpc)
	AddRouteTable(tx, vpc, table)
	made.VPCs++
	return vpc, nil
}

// CanHold reports whether a vSwitch of the VPC can give an address out: the one around
// it, or the largest that would be made.
func CanHold(v *state.View, vpcID, ip string) bool {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return false
	}
	for sw := range kinds.VSwitchesByVPC.List(v, vpcID) {
		if block, err := netip.ParsePrefix(sw.CIDRBlock); err == nil && block.Contains(addr) {
			return kinds.IsFree(v, sw.ID, sw.CIDRBlock, ip)
		}
	}
	return kinds.Contains(netip.PrefixFrom(addr, vSwitchBits[0]).Masked().String(), ip)
}
