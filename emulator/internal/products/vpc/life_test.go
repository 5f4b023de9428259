package vpc_test

import (
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/vpc"
	"github.com/clbemu/clbemu/state"
)

// newRealisticClient returns a world in which changes take their time, on a clock that the test
// moves.
func newRealisticClient(t *testing.T, plants ...func(*state.Tx) error) (*gatewaytest.Client, *state.ManualClock) {
	t.Helper()
	clock := state.NewManualClock(gatewaytest.Start)
	realistic := func(tx *state.Tx) error {
		state.LifeCycles.Put(tx, &state.LifeCycle{ID: state.LifeCycleID, Profile: state.LifeRealistic})
		return nil
	}
	store := gatewaytest.StoreAt(t, clock, append([]func(*state.Tx) error{plantWorld, realistic}, plants...)...)
	return gatewaytest.NewClient(t, store, vpc.Product(gateway.Deps{})), clock
}

// wantCode makes a call and compares its code; "" is success.
func wantCode(t *testing.T, c *gatewaytest.Client, action string, p params, want string) {
	t.Helper()
	if got := c.Call(action, p); got.Code != want {
		t.Errorf("%s(%v) = %q (%s), want %q", action, p, got.Code, got.Message, want)
	}
}

// In the realistic profile an entry is Pending before it is Available, and Deleting
// before it is gone; another VPC's routes are free to change meanwhile.
func TestRouteEntryLife(t *testing.T) {
	c, clock := newRealisticClient(t)
	wantStatus := func(want string) {
		t.Helper()
		got := c.Do("DescribeRouteEntryList", with(list, params{"DestinationCidrBlock": "172.20.0.0/24"}))
		gatewaytest.Expect(t, got, map[string]string{"RouteEntrys.RouteEntry.0.Status": want})
	}
	other := params{"RouteTableId": "vtb-bp1clbemu000000000002", "NextHopId": otherID}
	c.Do("CreateRouteEntry", newEntry)
	wantStatus("Pending")
	wantCode(t, c, "DeleteRouteEntry", oldEntry, "IncorrectRouteEntryStatus")
	wantCode(t, c, "CreateRouteEntry", with(newEntry, params{"DestinationCidrBlock": "172.21.0.0/24"}), "TaskConflict")
	c.Do("CreateRouteEntry", with(newEntry, other))
	clock.Advance(3 * time.Second)
	wantStatus("Available")
	wantCode(t, c, "CreateRouteEntry", newEntry, "InvalidCIDRBlock.Duplicate")
	c.Do("DeleteRouteEntry", oldEntry)
	wantStatus("Deleting")
	wantCode(t, c, "DeleteRouteEntry", oldEntry, "IncorrectRouteEntryStatus")
	c.Do("DeleteRouteEntry", with(oldEntry, other))
	clock.Advance(3 * time.Second)
	wantStatus("")
	wantCode(t, c, "DeleteRouteEntry", oldEntry, "InvalidRouteEntry.NotFound")
}

// The entries of a batch do not block each other, but another batch.
func TestRouteEntriesLife(t *testing.T) {
	c, clock := newRealisticClient(t)
	batch := func(first, second string) params {
		return params{
			"RouteEntries.1.RouteTableId": routeTableID, "RouteEntries.1.NextHopType": "Instance", "RouteEntries.1.NextHop": instanceID, "RouteEntries.1.DstCidrBlock": first,
			"RouteEntries.2.RouteTableId": routeTableID, "RouteEntries.2.NextHopType": "Instance", "RouteEntries.2.NextHop": instanceID, "RouteEntries.2.DstCidrBlock": second,
		}
	}
	const failed = "FailedRouteEntries.0.FailedCode"
	both := batch("172.20.0.0/24", "172.21.0.0/24")
	gatewaytest.Expect(t, c.Do("CreateRouteEntries", both), map[string]string{"SuccessCount": "2"})
	gatewaytest.Expect(t, c.Do("CreateRouteEntries", batch("172.20.0.0/24", "172.22.0.0/24")), map[string]string{
		"FailedCount": "2", failed: "VPC_ROUTE_ENTRY_STATUS_ERROR", "FailedRouteEntries.1.FailedCode": "TaskConflict"})
	gatewaytest.Expect(t, c.Do("DeleteRouteEntries", both), map[string]string{"FailedCount": "2", failed: "VPC_ROUTE_ENTRY_STATUS_ERROR"})
	clock.Advance(3 * time.Second)
	gatewaytest.Expect(t, c.Do("DeleteRouteEntries", both), map[string]string{"SuccessCount": "2"})
	gatewaytest.Expect(t, c.Do("CreateRouteEntries", both), map[string]string{"FailedCount": "2", failed: "VPC_ROUTE_ENTRY_STATUS_ERROR"})
	clock.Advance(3 * time.Second)
	twice := batch("172.20.0.0/24", "172.20.0.0/24")
	gatewaytest.Expect(t, c.Do("CreateRouteEntries", twice), map[string]string{"SuccessCount": "1", failed: "VPC_ROUTE_ENTRY_STATUS_ERROR"})
}

// In the realistic profile an EIP is Associating before it is InUse, and
// Unassociating before it is Available, on what it is on all the time.
func TestEIPStages(t *testing.T) {
	c, clock := newRealisticClient(t)
	name := params{"AllocationId": "eip-free"}
	wantStatus := func(status, instance string) {
		t.Helper()
		gatewaytest.Expect(t, c.Do("DescribeEipAddresses", name), map[string]string{
			"EipAddresses.EipAddress.0.Status": status, "EipAddresses.EipAddress.0.InstanceId": instance})
	}
	c.Do("AssociateEipAddress", associate)
	wantStatus("Associating", instanceID)
	wantCode(t, c, "AssociateEipAddress", associate, "IncorrectEipStatus")
	wantCode(t, c, "UnassociateEipAddress", name, "IncorrectEipStatus")
	clock.Advance(3 * time.Second)
	wantStatus("InUse", instanceID)
	c.Do("UnassociateEipAddress", name)
	wantStatus("Unassociating", instanceID)
	wantCode(t, c, "ReleaseEipAddress", name, "IncorrectEipStatus")
	wantCode(t, c, "AssociateEipAddress", associate, "IncorrectEipStatus")
	clock.Advance(3 * time.Second)
	wantStatus("Available", "")
	c.Do("ReleaseEipAddress", name)
}

// A quota of the account overrides the default one, and deletions make room.
func TestQuotas(t *testing.T) {
	limit := func(name state.QuotaName, n int) func(*state.Tx) error {
		return func(tx *state.Tx) error {
			state.Quotas.Put(tx, &state.Quota{AccountID: accountID, Name: name, Limit: n})
			return nil
		}
	}
	c := newClient(t, limit(kinds.QuotaVSwitches, 2), limit(kinds.QuotaRouteTables, 1), limit(kinds.QuotaRouteEntries, 1), limit(kinds.QuotaEIPs, 3))
	wantCode(t, c, "CreateVSwitch", newVSwitch, "QuotaExceeded.VSwitch")
	c.Do("CreateRouteEntry", newEntry)
	second := with(newEntry, params{"DestinationCidrBlock": "172.21.0.0/24"})
	wantCode(t, c, "CreateRouteEntry", second, "QuotaExceeded")
	c.Do("DeleteRouteEntry", oldEntry)
	c.Do("CreateRouteEntry", second)
	table := params{"VpcId": vpcID}
	id := c.Do("CreateRouteTable", table).Text("RouteTableId")
	wantCode(t, c, "CreateRouteTable", table, "QuotaExceeded.RouteTable")
	c.Do("CreateRouteTable", params{"VpcId": otherVPCID})
	c.Do("DeleteRouteTable", params{"RouteTableId": id})
	c.Do("CreateRouteTable", table)
	c.Do("AllocateEipAddress", params{})
	wantCode(t, c, "AllocateEipAddress", params{}, "QuotaExceeded.Eip")
	c.Do("AllocateEipAddress", params{"RegionId": "cn-shanghai"})
}

// Addresses that the world withholds don't keep a vSwitch alive.
func TestDeleteFullVSwitch(t *testing.T) {
	c := newClient(t, inOwner(func(tx *state.Tx) error {
		s := &kinds.VSwitch{Owner: owner, ID: "vsw-full", VPCID: vpcID, RouteTableID: routeTableID, CIDRBlock: "192.168.9.0/24"}
		kinds.VSwitches.Put(tx, s)
		return kinds.SetFreeAddresses(tx, s, 0)
	}))
	full := params{"VSwitchId": "vsw-full"}
	gatewaytest.Expect(t, c.Do("DescribeVSwitchAttributes", full), map[string]string{"AvailableIpAddressCount": "0"})
	c.Do("DeleteVSwitch", full)
}
