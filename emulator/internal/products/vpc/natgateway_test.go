package vpc_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var (
	newNATGateway = params{"VpcId": vpcID, "VSwitchId": vSwitchID}
	aNATGateway   = params{"NatGatewayId": "ngw-1"}
	noNATGateway  = params{"NatGatewayId": "ngw-none"}
	toNATGateway  = params{"RouteTableId": routeTableID, "DestinationCidrBlock": "8.8.8.0/24", "NextHopType": "NatGateway", "NextHopId": "ngw-1"}
	natEIP        = params{"AllocationId": "eip-free", "InstanceId": "ngw-1", "InstanceType": "Nat"}
)

// natGateway plants a gateway of the first VPC.
func natGateway(id string, changes ...func(*kinds.NATGateway)) func(*state.Tx) error {
	return inOwner(func(tx *state.Tx) error {
		g := &kinds.NATGateway{Owner: owner, ID: id, VPCID: vpcID, VSwitchID: vSwitchID, Status: kinds.GatewayAvailable, NetworkType: "internet"}
		for _, change := range changes {
			change(g)
		}
		ip, err := kinds.AllocateAddress(tx, vSwitchID, "192.168.0.0/24", "", kinds.NATGateways.Kind(), id)
		g.PrivateIPAddress = ip
		kinds.NATGateways.Put(tx, g)
		return err
	})
}

func creatingNAT(g *kinds.NATGateway)  { g.Status = kinds.GatewayCreating }
func protectedNAT(g *kinds.NATGateway) { g.DeletionProtection = true }

var natGatewayErrorCases = []gatewaytest.ErrorCase{
	{Name: "NoVPC", Action: "CreateNatGateway", Params: with(newNATGateway, params{"VpcId": "vpc-none"}), Status: 404, Code: "InvalidVpcId.NotFound"},
	{Name: "NoVSwitch", Action: "CreateNatGateway", Params: with(newNATGateway, params{"VSwitchId": "vsw-none"}), Status: 404, Code: "InvalidVSwitchId.NotFound"},
	{Name: "OtherVPC", Action: "CreateNatGateway", Params: with(newNATGateway, params{"VpcId": otherVPCID}), Status: 400, Code: "InvalidVSwitchId.VpcMismatch"},
	{Name: "PrivateLink", Action: "CreateNatGateway", Params: with(newNATGateway, params{"PrivateLinkEnabled": "true"}), Status: 400, Code: "InvalidAction.NotEmulated"},
	{Name: "FullVSwitch", Action: "CreateNatGateway", Params: newNATGateway, Status: 400, Code: "InvalidVSwitchId.IpNotEnough", Plant: inOwner(func(tx *state.Tx) error {
		s, err := kinds.VSwitches.Get(tx.View, vSwitchID)
		if err != nil {
			return err
		}
		return kinds.SetFreeAddresses(tx, s, 0)
	})},
	{Name: "Name", Action: "CreateNatGateway", Params: with(newNATGateway, params{"Name": "http://x"}), Status: 400, Code: "IllegalParam.Name"},
	{Name: "TagKey", Action: "CreateNatGateway", Params: with(newNATGateway, params{"Tag.1.Key": "acs:x"}), Status: 400, Code: "InvalidTagKey"},
	{Name: "Quota", Action: "CreateNatGateway", Params: newNATGateway, Status: 400, Code: "QuotaExceeded.Natgateway",
		Plant: times(5, func(i int) func(*state.Tx) error { return natGateway(fmt.Sprintf("ngw-%d", i)) })},
	{Name: "RoutesInTransit", Action: "CreateNatGateway", Params: newNATGateway, Plant: transitEntry("172.20.0.0/24", "Pending"), Status: 400, Code: "TaskConflict"},
	{Name: "Unknown", Action: "DeleteNatGateway", Params: noNATGateway, Status: 404, Code: "InvalidNatGatewayId.NotFound"},
	{Name: "Busy", Action: "DeleteNatGateway", Params: aNATGateway, Plant: natGateway("ngw-1", creatingNAT), Status: 400, Code: "IncorrectStatus.NatGateway"},
	{Name: "Protected", Action: "DeleteNatGateway", Params: aNATGateway, Plant: natGateway("ngw-1", protectedNAT), Status: 400, Code: "InvalidOperation.DeletionProtection"},
	{Name: "HasEIP", Action: "DeleteNatGateway", Params: aNATGateway, Plant: both(natGateway("ngw-1"), useEIP("Nat", "ngw-1")), Status: 400, Code: "DependencyViolation.EIPS"},
	{Name: "HasRoute", Action: "DeleteNatGateway", Params: aNATGateway, Plant: both(natGateway("ngw-1"), leads("NatGateway", "ngw-1")), Status: 400, Code: "DependencyViolation.RouteEntry"},
	{Name: "Unknown", Action: "ModifyNatGatewayAttribute", Params: noNATGateway, Status: 404, Code: "InvalidNatGatewayId.NotFound"},
	{Name: "Busy", Action: "ModifyNatGatewayAttribute", Params: aNATGateway, Plant: natGateway("ngw-1", creatingNAT), Status: 400, Code: "IncorrectStatus.NATGW"},
	{Name: "Name", Action: "ModifyNatGatewayAttribute", Params: with(aNATGateway, params{"Name": "http://x"}), Status: 400, Code: "IllegalParam.Name"},
	{Name: "DryRun", Action: "DescribeNatGateways", Params: params{"DryRun": "true"}, Status: 400, Code: "DryRunOperation"},
	{Name: "NoNATGateway", Action: "AssociateEipAddress", Params: natEIP, Status: 404, Code: "InvalidInstanId.NotFound"},
	{Name: "OfNATGateway", Action: "DeleteVSwitch", Params: params{"VSwitchId": vSwitchID}, Plant: natGateway("ngw-1"), Status: 400, Code: "DependencyViolation"},
}

// A NAT gateway is the default route of its VPC's own table, takes EIPs and more
// routes, and goes after them.
func TestNATGateway(t *testing.T) {
	c, clock := newRealisticClient(t, plantEIP("eip-second", chargePostPaid))
	id := c.Do("CreateNatGateway", with(newNATGateway, params{"Name": "out", "Tag.1.Key": "app"})).Text("NatGatewayId")
	one := params{"NatGatewayId": id}
	const at = "NatGateways.NatGateway.0."
	gatewaytest.Expect(t, c.Do("DescribeNatGateways", one), map[string]string{at + "Status": "Creating"})
	wantCode(t, c, "DeleteNatGateway", one, "IncorrectStatus.NatGateway")
	clock.Advance(time.Minute)
	gatewaytest.Expect(t, c.Do("DescribeRouteEntryList", params{"RouteTableId": routeTableID, "NextHopType": "NatGateway"}), map[string]string{
		"RouteEntrys.RouteEntry.0.DestinationCidrBlock": "0.0.0.0/0", "RouteEntrys.RouteEntry.0.NextHops.NextHop.0.NextHopId": id})
	gatewaytest.Expect(t, c.Do("DescribeVpcs", params{"VpcId": vpcID}), map[string]string{"Vpcs.Vpc.0.NatGatewayIds.NatGatewayIds.0": id})
	c.Do("ModifyNatGatewayAttribute", with(one, params{"Description": "of all", "IcmpReplyEnabled": "false"}))
	for _, eip := range []string{"eip-free", "eip-second"} {
		c.Do("AssociateEipAddress", params{"AllocationId": eip, "InstanceId": id, "InstanceType": "Nat"})
	}
	clock.Advance(3 * time.Second)
	onIt := c.Do("DescribeEipAddresses", params{"AllocationId": "eip-free"})
	gatewaytest.Expect(t, onIt, map[string]string{"EipAddresses.EipAddress.0.InstanceType": "Nat", "EipAddresses.EipAddress.0.PrivateIpAddress": "", "EipAddresses.EipAddress.0.VpcId": ""})
	shown := c.Do("DescribeNatGateways", params{"VpcId": vpcID, "Tag.1.Key": "app", "NatGatewayIds.1": id})
	gatewaytest.Expect(t, shown, map[string]string{"TotalCount": "1", at + "Status": "Available", at + "Description": "of all", at + "IcmpReplyEnabled": "false",
		at + "NatGatewayPrivateInfo.VswitchId": vSwitchID, at + "NatGatewayPrivateInfo.IzNo": "cn-hangzhou-h"})
	if n := shown.Len(at + "IpLists.IpList"); n != 2 {
		t.Errorf("the gateway shows %d addresses, want both", n)
	}
	route := c.Do("CreateRouteEntry", with(toNATGateway, params{"NextHopId": id})).Text("RouteEntryId")
	clock.Advance(3 * time.Second)
	wantCode(t, c, "DeleteNatGateway", one, "DependencyViolation.EIPS")
	for _, eip := range []string{"eip-free", "eip-second"} {
		c.Do("UnassociateEipAddress", params{"AllocationId": eip, "InstanceId": id, "InstanceType": "Nat"})
	}
	clock.Advance(3 * time.Second)
	wantCode(t, c, "DeleteNatGateway", one, "DependencyViolation.RouteEntry")
	c.Do("DeleteRouteEntry", params{"RouteEntryId": route})
	clock.Advance(3 * time.Second)
	c.Do("DeleteNatGateway", one)
	gatewaytest.Expect(t, c.Do("DescribeNatGateways", one), map[string]string{at + "Status": "Deleting"})
	clock.Advance(10 * time.Second)
	if left := c.Do("DescribeRouteEntryList", params{"RouteTableId": routeTableID, "RouteEntryType": "Custom"}).Len("RouteEntrys.RouteEntry"); left != 0 {
		t.Errorf("%d routes are left of the gateway", left)
	}
}

// A gateway leaves a default route that is there already, and one between VPCs adds
// none. By force it goes with its routes, and its EIPs are free: CLB-0561.
func TestNATGatewayRoutes(t *testing.T) {
	c := newClient(t, customEntry(routeTableID, "0.0.0.0/0", instanceID))
	first := c.Do("CreateNatGateway", newNATGateway).Text("NatGatewayId")
	c.Do("CreateNatGateway", params{"VpcId": otherVPCID, "VSwitchId": "vsw-bp1clbemu000000000003", "NetworkType": "intranet"})
	for _, table := range []string{routeTableID, "vtb-bp1clbemu000000000002"} {
		if n := c.Do("DescribeRouteEntryList", params{"RouteTableId": table, "NextHopType": "NatGateway"}).Len("RouteEntrys.RouteEntry"); n != 0 {
			t.Errorf("%s has %d routes to a NAT gateway, want none", table, n)
		}
	}
	c.Do("CreateRouteEntry", with(toNATGateway, params{"NextHopId": first}))
	c.Do("AssociateEipAddress", with(natEIP, params{"InstanceId": first}))
	c.Do("DeleteNatGateway", params{"NatGatewayId": first, "Force": "true"})
	gatewaytest.Expect(t, c.Do("DescribeEipAddresses", params{"AllocationId": "eip-free"}), map[string]string{"EipAddresses.EipAddress.0.Status": "Available"})
}
