package vpc_test

import (
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var (
	newIPv6Gateway = params{"VpcId": otherVPCID}
	anIPv6Gateway  = params{"Ipv6GatewayId": "ipv6gw-1"}
	noIPv6Gateway  = params{"Ipv6GatewayId": "ipv6gw-none"}
	toIPv6Gateway  = params{"RouteTableId": "vtb-bp1clbemu000000000002", "DestinationCidrBlock": "::/0", "NextHopType": "IPv6Gateway", "NextHopId": "ipv6gw-1"}
)

// ipv6Gateway plants the gateway of the VPC with IPv6.
func ipv6Gateway(status kinds.GatewayStatus) func(*state.Tx) error {
	return inOwner(func(tx *state.Tx) error {
		kinds.IPv6Gateways.Put(tx, &kinds.IPv6Gateway{Owner: owner, ID: "ipv6gw-1", VPCID: otherVPCID, Status: status})
		return nil
	})
}

// gatewayOfEmptyVPC plants a gateway in the empty VPC.
var gatewayOfEmptyVPC = inOwner(func(tx *state.Tx) error {
	kinds.IPv6Gateways.Put(tx, &kinds.IPv6Gateway{Owner: owner, ID: "ipv6gw-1", VPCID: "vpc-empty", Status: kinds.GatewayAvailable})
	return nil
})

// leads plants a route of the first VPC that leads to a gateway.
func leads(kind, id string) func(*state.Tx) error {
	return inOwner(func(tx *state.Tx) error {
		kinds.RouteEntries.Put(tx, &kinds.RouteEntry{Owner: owner, ID: "rte-leads", RouteTableID: routeTableID, VPCID: vpcID, DestinationCIDRBlock: "8.8.8.0/24",
			Type: kinds.RouteTableCustom, Status: kinds.RouteEntryAvailable, NextHopType: kind, NextHopID: id})
		return nil
	})
}

var ipv6GatewayErrorCases = []gatewaytest.ErrorCase{
	{Name: "NoVPC", Action: "CreateIpv6Gateway", Params: params{"VpcId": "vpc-none"}, Status: 404, Code: "InvalidVpcId.NotFound"},
	{Name: "NoIPv6", Action: "CreateIpv6Gateway", Params: params{"VpcId": vpcID}, Status: 400, Code: "OperationDenied.VpcIpv6NotEnabled"},
	{Name: "Name", Action: "CreateIpv6Gateway", Params: with(newIPv6Gateway, params{"Name": "http://x"}), Status: 400, Code: "IllegalParam.Name"},
	{Name: "Description", Action: "CreateIpv6Gateway", Params: with(newIPv6Gateway, params{"Description": strings.Repeat("x", 257)}), Status: 400, Code: "IllegalParam.Description"},
	{Name: "TagKey", Action: "CreateIpv6Gateway", Params: with(newIPv6Gateway, params{"Tag.1.Key": "acs:x"}), Status: 400, Code: "InvalidTagKey"},
	{Name: "ResourceGroup", Action: "CreateIpv6Gateway", Params: with(newIPv6Gateway, params{"ResourceGroupId": "rg-none"}), Status: 400, Code: "InvalidResourceGroupId"},
	{Name: "Second", Action: "CreateIpv6Gateway", Params: newIPv6Gateway, Plant: ipv6Gateway(kinds.GatewayAvailable), Status: 400, Code: "ResourceAlreadyExist.Ipv6Gateway"},
	{Name: "Unknown", Action: "DeleteIpv6Gateway", Params: noIPv6Gateway, Status: 404, Code: "InvalidIpv6GatewayId.NotFound"},
	{Name: "Busy", Action: "DeleteIpv6Gateway", Params: anIPv6Gateway, Plant: ipv6Gateway(kinds.GatewayPending), Status: 400, Code: "IncorrectStatus"},
	{Name: "DryRun", Action: "DeleteIpv6Gateway", Params: with(anIPv6Gateway, params{"DryRun": "true"}), Plant: ipv6Gateway(kinds.GatewayAvailable), Status: 400, Code: "DryRunOperation"},
	{Name: "HasRoute", Action: "DeleteIpv6Gateway", Params: anIPv6Gateway, Plant: both(ipv6Gateway(kinds.GatewayAvailable), leads("IPv6Gateway", "ipv6gw-1")), Status: 400, Code: "DependencyViolation.RouteEntry"},
	{Name: "Unknown", Action: "ModifyIpv6GatewayAttribute", Params: noIPv6Gateway, Status: 404, Code: "InvalidIpv6GatewayId.NotFound"},
	{Name: "Name", Action: "ModifyIpv6GatewayAttribute", Params: with(anIPv6Gateway, params{"Name": "http://x"}), Status: 400, Code: "IllegalParam.Name"},
	{Name: "HasGateway", Action: "DeleteVpc", Params: params{"VpcId": "vpc-empty"}, Plant: both(emptyVPC, gatewayOfEmptyVPC), Status: 400, Code: "DependencyViolation.Gateway"},
	{Name: "IPv4ToIt", Action: "CreateRouteEntry", Params: with(toIPv6Gateway, params{"DestinationCidrBlock": "8.8.8.0/24"}), Plant: ipv6Gateway(kinds.GatewayAvailable), Status: 400, Code: "InvalidNextHopType"},
}

// An IPv6 gateway takes IPv6 routes, and goes when they are gone. What is not there is
// described as an empty gateway: CLB-0562.
func TestIPv6Gateway(t *testing.T) {
	c, clock := newRealisticClient(t)
	id := c.Do("CreateIpv6Gateway", with(newIPv6Gateway, params{"Name": "six", "Tag.1.Key": "app"})).Text("Ipv6GatewayId")
	one := params{"Ipv6GatewayId": id}
	gatewaytest.Expect(t, c.Do("DescribeIpv6GatewayAttribute", one), map[string]string{"Status": "Pending", "Name": "six"})
	clock.Advance(3 * time.Second)
	c.Do("ModifyIpv6GatewayAttribute", with(one, params{"Description": "of all"}))
	gatewaytest.Expect(t, c.Do("DescribeIpv6Gateways", params{"VpcId": otherVPCID, "Tags.1.Key": "app"}), map[string]string{
		"TotalCount": "1", "Ipv6Gateways.Ipv6Gateway.0.Status": "Available", "Ipv6Gateways.Ipv6Gateway.0.Description": "of all"})
	route := c.Do("CreateRouteEntry", with(toIPv6Gateway, params{"NextHopId": id})).Text("RouteEntryId")
	clock.Advance(3 * time.Second)
	wantCode(t, c, "DeleteIpv6Gateway", one, "DependencyViolation.RouteEntry")
	c.Do("DeleteRouteEntry", params{"RouteEntryId": route})
	clock.Advance(3 * time.Second)
	c.Do("DeleteIpv6Gateway", one)
	gatewaytest.Expect(t, c.Do("DescribeIpv6GatewayAttribute", one), map[string]string{"Status": "Deleting"})
	clock.Advance(3 * time.Second)
	gone := c.Do("DescribeIpv6GatewayAttribute", one)
	if status, answered := gone.Body["Status"]; !answered || status != "" || gone.Text("Ipv6GatewayId") != "" {
		t.Errorf("a gateway that is gone is described as %v, want an empty Status", gone.Body)
	}
}

// By force a VPC goes with its IPv6 gateway: CLB-0530.
func TestForceDeleteWithGateway(t *testing.T) {
	c := newClient(t, both(emptyVPC, gatewayOfEmptyVPC))
	c.Do("DeleteVpc", params{"VpcId": "vpc-empty", "ForceDelete": "true"})
	wantCode(t, c, "DeleteIpv6Gateway", anIPv6Gateway, "InvalidIpv6GatewayId.NotFound")
}
