package vpc_test

import (
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/state"
)

var (
	newIPv4Gateway = params{"VpcId": vpcID}
	anIPv4Gateway  = params{"Ipv4GatewayId": "ipv4gw-1"}
	noIPv4Gateway  = params{"Ipv4GatewayId": "ipv4gw-none"}
	gatewayTable   = params{"GatewayId": "ipv4gw-1", "RouteTableId": "vtb-gateway"}
)

// ipv4Gateway plants a gateway of the first VPC, and a table for it.
func ipv4Gateway(changes ...func(*cloud.IPv4Gateway)) func(*state.Tx) error {
	return inOwner(func(tx *state.Tx) error {
		cloud.RouteTables.Put(tx, &cloud.RouteTable{Owner: owner, ID: "vtb-gateway", VPCID: vpcID, Type: cloud.RouteTableCustom, AssociateType: "Gateway"})
		g := &cloud.IPv4Gateway{Owner: owner, ID: "ipv4gw-1", VPCID: vpcID, Status: cloud.GatewayCreated}
		for _, change := range changes {
			change(g)
		}
		cloud.IPv4Gateways.Put(tx, g)
		return nil
	})
}

func enabled(g *cloud.IPv4Gateway)    { g.Enabled = true }
func creating(g *cloud.IPv4Gateway)   { g.Status = cloud.GatewayCreating }
func associated(g *cloud.IPv4Gateway) { g.Enabled, g.RouteTableID = true, "vtb-gateway" }
func ofEmptyVPC(g *cloud.IPv4Gateway) { g.VPCID = "vpc-empty" }

// leads plants a route of the first VPC that leads to a gateway.
func leads(kind, id string) func(*state.Tx) error {
	return inOwner(func(tx *state.Tx) error {
		cloud.RouteEntries.Put(tx, &cloud.RouteEntry{Owner: owner, ID: "rte-leads", RouteTableID: routeTableID, VPCID: vpcID, DestinationCIDRBlock: "8.8.8.0/24",
			Type: cloud.RouteTableCustom, Status: cloud.RouteEntryAvailable, NextHopType: kind, NextHopID: id})
		return nil
	})
}

var ipv4GatewayErrorCases = []gatewaytest.ErrorCase{
	{Name: "NoVPC", Action: "CreateIpv4Gateway", Params: params{"VpcId": "vpc-none"}, Status: 404, Code: "InvalidVpcId.NotFound"},
	{Name: "Name", Action: "CreateIpv4Gateway", Params: with(newIPv4Gateway, params{"Ipv4GatewayName": "http://x"}), Status: 400, Code: "IllegalParam.Name"},
	{Name: "Description", Action: "CreateIpv4Gateway", Params: with(newIPv4Gateway, params{"Ipv4GatewayDescription": strings.Repeat("x", 257)}), Status: 400, Code: "IllegalParam.Description"},
	{Name: "TagKey", Action: "CreateIpv4Gateway", Params: with(newIPv4Gateway, params{"Tag.1.Key": "acs:x"}), Status: 400, Code: "InvalidTagKey"},
	{Name: "ResourceGroup", Action: "CreateIpv4Gateway", Params: with(newIPv4Gateway, params{"ResourceGroupId": "rg-none"}), Status: 400, Code: "InvalidResourceGroupId"},
	{Name: "Second", Action: "CreateIpv4Gateway", Params: newIPv4Gateway, Plant: ipv4Gateway(), Status: 400, Code: "ResourceAlreadyExist.Ipv4Gateway"},
	{Name: "DryRun", Action: "CreateIpv4Gateway", Params: with(newIPv4Gateway, params{"DryRun": "true"}), Status: 400, Code: "DryRunOperation"},
	{Name: "Unknown", Action: "DeleteIpv4Gateway", Params: noIPv4Gateway, Status: 400, Code: "ResourceNotFound.Ipv4Gateway"},
	{Name: "Busy", Action: "DeleteIpv4Gateway", Params: anIPv4Gateway, Plant: ipv4Gateway(creating), Status: 400, Code: "IncorrectStatus.Ipv4Gateway"},
	{Name: "HasTable", Action: "DeleteIpv4Gateway", Params: anIPv4Gateway, Plant: ipv4Gateway(associated), Status: 400, Code: "DependencyViolation.RouteTable"},
	{Name: "HasRoute", Action: "DeleteIpv4Gateway", Params: anIPv4Gateway, Plant: both(ipv4Gateway(), leads("Ipv4Gateway", "ipv4gw-1")), Status: 400, Code: "DependencyViolation.RouteEntry"},
	{Name: "DryRun", Action: "DeleteIpv4Gateway", Params: with(anIPv4Gateway, params{"DryRun": "true"}), Plant: ipv4Gateway(), Status: 400, Code: "DryRunOperation"},
	{Name: "Unknown", Action: "GetIpv4GatewayAttribute", Params: noIPv4Gateway, Status: 400, Code: "ResourceNotFound.Ipv4Gateway"},
	{Name: "Token", Action: "ListIpv4Gateways", Params: params{"NextToken": "x"}, Status: 400, Code: "IllegalParam.NextToken"},
	{Name: "Busy", Action: "EnableVpcIpv4Gateway", Params: anIPv4Gateway, Plant: ipv4Gateway(creating), Status: 400, Code: "IncorrectStatus.Ipv4Gateway"},
	{Name: "NoTable", Action: "EnableVpcIpv4Gateway", Params: with(anIPv4Gateway, params{"RouteTableList.1": "vtb-none"}), Plant: ipv4Gateway(), Status: 404, Code: "InvalidRouteTableId.NotFound"},
	{Name: "Name", Action: "UpdateIpv4GatewayAttribute", Params: with(anIPv4Gateway, params{"Ipv4GatewayName": "http://x"}), Plant: ipv4Gateway(), Status: 400, Code: "IllegalParam.Name"},
	{Name: "Unknown", Action: "UpdateIpv4GatewayAttribute", Params: noIPv4Gateway, Status: 400, Code: "ResourceNotFound.Ipv4Gateway"},
	{Name: "NotActive", Action: "AssociateRouteTableWithGateway", Params: gatewayTable, Plant: ipv4Gateway(), Status: 400, Code: "OperationDenied.Ipv4GatewayNotActive"},
	{Name: "NoTable", Action: "AssociateRouteTableWithGateway", Params: with(gatewayTable, params{"RouteTableId": "vtb-none"}), Plant: ipv4Gateway(enabled), Status: 404, Code: "InvalidRouteTableId.NotFound"},
	{Name: "TableOfVSwitches", Action: "AssociateRouteTableWithGateway", Params: with(gatewayTable, params{"RouteTableId": routeTableID}), Plant: ipv4Gateway(enabled), Status: 400, Code: "OperationDenied.RouteTableType"},
	{Name: "Again", Action: "AssociateRouteTableWithGateway", Params: gatewayTable, Plant: ipv4Gateway(associated), Status: 400, Code: "DependencyViolation.RouteTable"},
	{Name: "NotAssociated", Action: "DissociateRouteTableFromGateway", Params: gatewayTable, Plant: ipv4Gateway(enabled), Status: 400, Code: "OperationDenied.NotAssociated"},
	{Name: "OfGateway", Action: "DeleteRouteTable", Params: params{"RouteTableId": "vtb-gateway"}, Plant: ipv4Gateway(associated), Status: 404, Code: "IncorrectRouteTableStatus"},
	{Name: "HasGateway", Action: "DeleteVpc", Params: params{"VpcId": "vpc-empty"}, Plant: both(emptyVPC, ipv4Gateway(ofEmptyVPC)), Status: 400, Code: "DependencyViolation.Gateway"},
	{Name: "OtherVPC", Action: "CreateRouteEntry", Params: with(newEntry, params{"NextHopType": "Ipv4Gateway", "NextHopId": "ipv4gw-1"}), Plant: both(emptyVPC, ipv4Gateway(ofEmptyVPC)), Status: 404, Code: "OperationFailed.InstanceDismatchCurrentVpc"},
}

// An IPv4 gateway is created, enabled with default routes, has a table for what comes
// in, and is deleted when nothing leads to it any more; each takes its time.
func TestIPv4Gateway(t *testing.T) {
	c, clock := newRealisticClient(t)
	settle := func() { clock.Advance(3 * time.Second) }
	id := c.Do("CreateIpv4Gateway", with(newIPv4Gateway, params{"Ipv4GatewayName": "way-out", "Tag.1.Key": "app", "Tag.1.Value": "web"})).Text("Ipv4GatewayId")
	one := params{"Ipv4GatewayId": id}
	status := func(want string) {
		t.Helper()
		gatewaytest.Expect(t, c.Do("GetIpv4GatewayAttribute", one), map[string]string{"Status": want})
	}
	status("Creating")
	wantCode(t, c, "EnableVpcIpv4Gateway", one, "IncorrectStatus.Ipv4Gateway")
	settle()
	c.Do("EnableVpcIpv4Gateway", with(one, params{"RouteTableList.1": routeTableID}))
	status("Activating")
	settle()
	gatewaytest.Expect(t, c.Do("GetIpv4GatewayAttribute", one), map[string]string{"Status": "Created", "Enabled": "true", "Tags.0.Key": "app", "Ipv4GatewayName": "way-out"})
	c.Do("UpdateIpv4GatewayAttribute", with(one, params{"Ipv4GatewayDescription": "of all"}))
	gatewaytest.Expect(t, c.Do("ListIpv4Gateways", params{"VpcId": vpcID, "Tags.1.Key": "app"}), map[string]string{"TotalCount": "1", "Ipv4GatewayModels.0.Ipv4GatewayDescription": "of all"})
	gatewaytest.Expect(t, c.Do("DescribeVpcAttribute", params{"VpcId": vpcID}), map[string]string{"Ipv4GatewayId": id})

	table := c.Do("CreateRouteTable", params{"VpcId": vpcID, "AssociateType": "Gateway"}).Text("RouteTableId")
	pair := params{"GatewayId": id, "RouteTableId": table}
	c.Do("AssociateRouteTableWithGateway", pair)
	gatewaytest.Expect(t, c.Do("DescribeRouteTableList", params{"RouteTableId": table}), map[string]string{"RouterTableList.RouterTableListType.0.GatewayIds.GatewayIds.0": id})
	wantCode(t, c, "DeleteIpv4Gateway", one, "DependencyViolation.RouteTable")
	c.Do("DissociateRouteTableFromGateway", pair)

	wantCode(t, c, "DeleteIpv4Gateway", one, "DependencyViolation.RouteEntry")
	c.Do("DeleteRouteEntry", params{"RouteTableId": routeTableID, "DestinationCidrBlock": "0.0.0.0/0", "NextHopId": id})
	settle()
	c.Do("DeleteIpv4Gateway", one)
	status("Deleting")
	settle()
	wantCode(t, c, "GetIpv4GatewayAttribute", one, "ResourceNotFound.Ipv4Gateway")
}

// By force a VPC goes with its IPv4 gateway and the routes to it: CLB-0530.
func TestForceDeleteWithGateway(t *testing.T) {
	c := newClient(t, both(emptyVPC, ipv4Gateway(ofEmptyVPC)))
	c.Do("EnableVpcIpv4Gateway", with(anIPv4Gateway, params{"RouteTableList.1": "vtb-empty"}))
	wantCode(t, c, "DeleteVpc", params{"VpcId": "vpc-empty"}, "DependencyViolation.Gateway")
	c.Do("DeleteVpc", params{"VpcId": "vpc-empty", "ForceDelete": "true"})
	wantCode(t, c, "GetIpv4GatewayAttribute", anIPv4Gateway, "ResourceNotFound.Ipv4Gateway")
}
