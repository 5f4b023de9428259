package resources_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/resources"
	"github.com/clbemu/clbemu/state"
)

var owner = state.Owner{AccountID: "1234567890123456", RegionID: "cn-hangzhou"}

// inNetwork runs fn in a transaction that sees a VPC with one vSwitch.
func inNetwork(t *testing.T, fn func(tx *state.Tx, vpc *kinds.VPC, sw *kinds.VSwitch)) {
	t.Helper()
	gatewaytest.Store(t, func(tx *state.Tx) error {
		kinds.Accounts.Put(tx, &kinds.Account{ID: owner.AccountID, DefaultRegionID: owner.RegionID})
		vpc := &kinds.VPC{Owner: owner, ID: "vpc-1", CIDRBlock: "10.0.0.0/16", SecondaryCIDRBlocks: []string{"172.16.0.0/24"}}
		resources.AddVPC(tx, vpc)
		resources.AddRouteTable(tx, vpc, &kinds.RouteTable{ID: "vtb-1", Type: kinds.RouteTableSystem})
		sw := &kinds.VSwitch{ID: "vsw-1", CIDRBlock: "10.0.0.0/24", ZoneID: "cn-hangzhou-h"}
		resources.AddVSwitch(tx, vpc, sw)
		fn(tx, vpc, sw)
		return nil
	})
}

// TestVSwitchAround proves that an address is put into the vSwitch that holds it, and
// otherwise into the largest new one apart from the others, in the VPC around it, which is
// made or grows where there is none.
func TestVSwitchAround(t *testing.T) {
	for _, c := range []struct {
		name, vpcID, address string
		vSwitch              string // its id, or its block when it is made
		vpcs, vSwitches      int
		problem              string
	}{
		{name: "held", address: "10.0.0.7", vSwitch: "vsw-1"},
		{name: "held by the VPC", vpcID: "vpc-1", address: "10.0.0.7", vSwitch: "vsw-1"},
		{name: "largest block", address: "10.0.99.1", vSwitch: "10.0.96.0/20", vSwitches: 1},
		{name: "beside another", address: "10.0.1.1", vSwitch: "10.0.1.0/24", vSwitches: 1},
		{name: "in a small secondary block", address: "172.16.0.9", vSwitch: "172.16.0.0/24", vSwitches: 1},
		{name: "VPC is made", address: "10.9.3.1", vSwitch: "10.9.0.0/20", vpcs: 1, vSwitches: 1},
		{name: "VPC grows", vpcID: "vpc-1", address: "10.9.3.1", vSwitch: "10.9.0.0/20", vSwitches: 1},
		{name: "VPC can't grow", vpcID: "vpc-1", address: "172.16.9.1", problem: "172.16.9.1 is outside VPC vpc-1, and 172.16.0.0/16 overlaps its blocks"},
		{name: "no address", address: "pod", problem: `"pod" is not an IP address`},
	} {
		t.Run(c.name, func(t *testing.T) {
			inNetwork(t, func(tx *state.Tx, _ *kinds.VPC, _ *kinds.VSwitch) {
				var made resources.Made
				sw, err := resources.VSwitchAround(tx, owner, c.vpcID, "cn-hangzhou-i", c.address, &made)
				if c.problem != "" {
					if err == nil || err.Error() != c.problem || made != (resources.Made{}) {
						t.Errorf("VSwitchAround = %v, %v with %+v made, want %q", sw, err, made, c.problem)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if sw.ID != c.vSwitch && sw.CIDRBlock != c.vSwitch || made != (resources.Made{VPCs: c.vpcs, VSwitches: c.vSwitches}) {
					t.Errorf("%s is in %s (%s) with %+v made, want %s, %d VPCs and %d vSwitches", c.address, sw.ID, sw.CIDRBlock, made, c.vSwitch, c.vpcs, c.vSwitches)
				}
				vpc, err := kinds.VPCs.Get(tx.View, sw.VPCID)
				if err != nil || !resources.Within(netip.MustParsePrefix(sw.CIDRBlock), slices.Concat([]string{vpc.CIDRBlock}, vpc.SecondaryCIDRBlocks)...) {
					t.Errorf("the vSwitch %s is outside its VPC %+v, %v", sw.CIDRBlock, vpc, err)
				}
				if _, err := kinds.RouteTables.Get(tx.View, sw.RouteTableID); err != nil {
					t.Errorf("the vSwitch has no route table: %v", err)
				}
				// What was made is found again.
				if again, err := resources.VSwitchAround(tx, owner, c.vpcID, "cn-hangzhou-i", c.address, &made); err != nil || again.ID != sw.ID {
					t.Errorf("%s is in %s, and then in %v, %v", c.address, sw.ID, again, err)
				}
			})
		})
	}
}

// TestNoRoomForAVSwitch proves that a VPC without room says so.
func TestNoRoomForAVSwitch(t *testing.T) {
	inNetwork(t, func(tx *state.Tx, vpc *kinds.VPC, _ *kinds.VSwitch) {
		// Blocks that no vSwitch around 10.0.1.1 can be apart from.
		resources.AddVSwitch(tx, vpc, &kinds.VSwitch{ID: "vsw-2", CIDRBlock: "10.0.1.8/29"})
		if sw, err := resources.VSwitchAround(tx, owner, "vpc-1", "cn-hangzhou-i", "10.0.1.1", &resources.Made{}); err == nil ||
			!strings.Contains(err.Error(), "VPC vpc-1 has no room for a vSwitch around 10.0.1.1") {
			t.Errorf("VSwitchAround = %+v, %v, want that there is no room", sw, err)
		}
	})
}

// TestCanHold proves which addresses can be given out.
func TestCanHold(t *testing.T) {
	inNetwork(t, func(tx *state.Tx, _ *kinds.VPC, sw *kinds.VSwitch) {
		if _, err := resources.Allocate(tx, sw.ID, sw.CIDRBlock, "10.0.0.9", "Reservation", sw.ID); err != nil {
			t.Fatal(err)
		}
		for ip, want := range map[string]bool{
			"10.0.0.7": true, "10.0.0.9": false, "10.0.0.0": false, "10.0.0.255": false, "10.0.0.253": false, "10.0.0.252": true,
			"10.0.99.1": true, "10.0.96.0": false, "pod": false, "": false,
		} {
			if got := resources.CanHold(tx.View, "vpc-1", ip); got != want {
				t.Errorf("CanHold(%q) = %t, want %t", ip, got, want)
			}
		}
	})
}

// TestAllocate proves that each reason why an address can't be allocated is reported.
func TestAllocate(t *testing.T) {
	inNetwork(t, func(tx *state.Tx, _ *kinds.VPC, sw *kinds.VSwitch) {
		allocate := func(block, ip string) string {
			got, err := resources.Allocate(tx, sw.ID, block, ip, "Reservation", sw.ID)
			if err != nil {
				return err.Error()
			}
			return got
		}
		for _, c := range []struct{ block, ip, want string }{
			{"10.0.0.0/30", "", "10.0.0.0/30) has no free address left"},
			{sw.CIDRBlock, "10.0.0.9", "10.0.0.9"},
			{sw.CIDRBlock, "10.0.0.9", "10.0.0.9 is taken by Reservation vsw-1"},
			{sw.CIDRBlock, "10.0.0.255", "10.0.0.255 is not a usable address of vsw-1 (10.0.0.0/24)"},
			{sw.CIDRBlock, "10.0.7.1", "10.0.7.1 is not a usable address of vsw-1 (10.0.0.0/24)"},
		} {
			if got := allocate(c.block, c.ip); !strings.Contains(got, c.want) {
				t.Errorf("Allocate(%s, %q) = %q, want %q", c.block, c.ip, got, c.want)
			}
		}
		if got := allocate("", "10.0.0.8"); got != "" {
			t.Errorf("of a block that is none %q is taken, want nothing", got)
		}
	})
}
