package vpc_test

import (
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// plantCustom adds two custom tables to the first VPC.
var plantCustom = inOwner(func(tx *state.Tx) error {
	kinds.RouteTables.Put(tx, &kinds.RouteTable{Owner: owner, ID: "vtb-custom", VPCID: vpcID, Type: kinds.RouteTableCustom})
	kinds.RouteTables.Put(tx, &kinds.RouteTable{Owner: owner, ID: "vtb-second", VPCID: vpcID, Type: kinds.RouteTableCustom})
	return nil
})

var plantAssociated = inOwner(func(tx *state.Tx) error {
	if err := plantCustom(tx); err != nil {
		return err
	}
	return kinds.VSwitches.Edit(tx, vSwitchID, func(s *kinds.VSwitch) error {
		s.RouteTableID = "vtb-second"
		return nil
	})
})

// plantIPv6VSwitch gives a vSwitch of the VPC with IPv6 a block of it.
var plantIPv6VSwitch = inOwner(func(tx *state.Tx) error {
	return kinds.VSwitches.Edit(tx, otherVSwitch, func(s *kinds.VSwitch) error {
		s.IPv6CIDRBlock = "2001:db8:8000:8::/64"
		return nil
	})
})

func plantIPv6Interface(tx *state.Tx) error {
	kinds.NetworkInterfaces.Put(tx, &kinds.NetworkInterface{Owner: owner, ID: "eni-ipv6", Type: kinds.NetworkInterfaceSecondary,
		Status: kinds.NetworkInterfaceAvailable, VPCID: otherVPCID, VSwitchID: otherVSwitch, IPv6Addresses: []string{"2001:db8:8000:8::9"}})
	return nil
}

var plantDefault = inOwner(func(tx *state.Tx) error {
	kinds.VPCs.Put(tx, &kinds.VPC{Owner: owner, ID: "vpc-default", CIDRBlock: "172.31.0.0/16", IsDefault: true})
	kinds.RouteTables.Put(tx, &kinds.RouteTable{Owner: owner, ID: "vtb-default", VPCID: "vpc-default", Type: kinds.RouteTableSystem})
	kinds.VSwitches.Put(tx, &kinds.VSwitch{Owner: owner, ID: "vsw-default", VPCID: "vpc-default", ZoneID: "cn-hangzhou-h", CIDRBlock: "172.31.0.0/20",
		RouteTableID: "vtb-default", IsDefault: true})
	return nil
})

var (
	custom       = params{"RouteTableId": "vtb-custom", "VSwitchId": vSwitchID}
	otherVSwitch = "vsw-bp1clbemu000000000003"
)

var modifyErrorCases = []gatewaytest.ErrorCase{
	{Name: "Unknown", Action: "ModifyVpcAttribute", Params: params{"VpcId": "vpc-none"}, Status: 404, Code: "InvalidVpcId.NotFound"},
	{Name: "Name", Action: "ModifyVpcAttribute", Params: params{"VpcId": vpcID, "VpcName": "http://x"}, Status: 400, Code: "InvalidVpcName.Malformed"},
	{Name: "Block", Action: "ModifyVpcAttribute", Params: params{"VpcId": vpcID, "CidrBlock": "10.0.0.0/16"}, Status: 400, Code: "DependencyViolation.VSwitch.CidrBlock"},
	{Name: "IPv6Block", Action: "ModifyVpcAttribute", Params: params{"VpcId": vpcID, "EnableIPv6": "true", "Ipv6CidrBlock": "2001:db8:1::/56"}, Status: 400, Code: "OperationFailed.IPv6CidrNotReserved"},
	{Name: "IPv6Kept", Action: "ModifyVpcAttribute", Params: params{"VpcId": otherVPCID, "Ipv6CidrBlock": "2001:db8:1::/56"}, Status: 400, Code: "OperationDenied.Ipv6CidrBlockModified"},
	{Name: "IPv6InUse", Action: "ModifyVpcAttribute", Params: params{"VpcId": otherVPCID, "EnableIPv6": "false"}, Status: 400, Code: "DependencyViolation.VSwitchIpv6", Plant: plantIPv6VSwitch},
	{Name: "IPv6Kept", Action: "ModifyVSwitchAttribute", Params: params{"VSwitchId": otherVSwitch, "Ipv6CidrBlock": "9"}, Status: 400, Code: "OperationDenied.Ipv6CidrBlockModified", Plant: plantIPv6VSwitch},
	{Name: "IPv6Unnumbered", Action: "ModifyVSwitchAttribute", Params: params{"VSwitchId": otherVSwitch, "EnableIPv6": "true"}, Status: 400, Code: "MissingIpv6CidrBlock"},
	{Name: "IPv6OffNumbered", Action: "ModifyVSwitchAttribute", Params: params{"VSwitchId": otherVSwitch, "EnableIPv6": "false", "Ipv6CidrBlock": "9"}, Status: 400, Code: "IllegalParam.EnableIPv6"},
	{Name: "IPv6OfNone", Action: "ModifyVSwitchAttribute", Params: params{"VSwitchId": vSwitchID, "Ipv6CidrBlock": "9"}, Status: 400, Code: "OperationFailed.VpcIpv6Disabled"},
	{Name: "IPv6InUse", Action: "ModifyVSwitchAttribute", Params: params{"VSwitchId": otherVSwitch, "EnableIPv6": "false"}, Status: 400, Code: "DependencyViolation.Ipv6Address",
		Plant: inOwner(plantIPv6VSwitch, plantIPv6Interface)},
	{Name: "Unknown", Action: "ModifyVSwitchAttribute", Params: params{"VSwitchId": "vsw-none"}, Status: 404, Code: "InvalidVSwitchId.NotFound"},
	{Name: "Unknown", Action: "ModifyRouteTableAttributes", Params: params{"RouteTableId": "vtb-none"}, Status: 404, Code: "InvalidRouteTableId.NotFound"},
	{Name: "Unknown", Action: "ModifyEipAddressAttribute", Params: params{"AllocationId": "eip-none"}, Status: 404, Code: "InvalidAllocationId.NotFound"},
	{Name: "Bandwidth", Action: "ModifyEipAddressAttribute", Params: params{"AllocationId": "eip-free", "Bandwidth": "201"}, Status: 400, Code: "IllegalParam.Bandwidth"},
	{Name: "OtherVPC", Action: "AssociateRouteTable", Params: with(custom, params{"VSwitchId": otherVSwitch}), Status: 400, Code: "InvalidVSwitchId.VpcMismatch", Plant: plantCustom},
	{Name: "System", Action: "AssociateRouteTable", Params: with(custom, params{"RouteTableId": routeTableID}), Status: 400, Code: "IncorrectRouteTableType.NotCustom"},
	{Name: "Associated", Action: "AssociateRouteTable", Params: custom, Status: 400, Code: "IncorrectVSwitchStatus.Associated", Plant: plantAssociated},
	{Name: "NotAssociated", Action: "UnassociateRouteTable", Params: custom, Status: 400, Code: "IncorrectVSwitchStatus.NotAssociated", Plant: plantAssociated},
}

// Changes show, and omitted values stay.
func TestModify(t *testing.T) {
	c := newClient(t)
	c.Do("ModifyVpcAttribute", params{"VpcId": vpcID, "VpcName": "renamed", "EnableIPv6": "true", "EnableDnsHostname": "true", "CidrBlock": "192.168.0.0/17"})
	c.Do("ModifyVpcAttribute", params{"VpcId": vpcID, "Description": "described"})
	gatewaytest.Expect(t, c.Do("DescribeVpcAttribute", params{"VpcId": vpcID}), map[string]string{"VpcName": "renamed", "Description": "described",
		"EnabledIpv6": "true", "DnsHostnameStatus": "ENABLED", "CidrBlock": "192.168.0.0/17"})
	c.Do("ModifyVSwitchAttribute", params{"VSwitchId": vSwitchID, "VSwitchName": "renamed", "Description": "described"})
	gatewaytest.Expect(t, c.Do("DescribeVSwitchAttributes", params{"VSwitchId": vSwitchID}), map[string]string{"VSwitchName": "renamed", "Description": "described"})
	c.Do("ModifyRouteTableAttributes", params{"RouteTableId": routeTableID, "RouteTableName": "renamed", "Description": "described"})
	gatewaytest.Expect(t, c.Do("DescribeRouteTableList", params{"RouteTableId": routeTableID}), map[string]string{
		"RouterTableList.RouterTableListType.0.RouteTableName": "renamed", "RouterTableList.RouterTableListType.0.Description": "described"})
	c.Do("ModifyEipAddressAttribute", params{"AllocationId": "eip-free", "Name": "renamed", "Bandwidth": "20"})
	gatewaytest.Expect(t, c.Do("DescribeEipAddresses", params{"AllocationId": "eip-free"}), map[string]string{
		"EipAddresses.EipAddress.0.Name": "renamed", "EipAddresses.EipAddress.0.Bandwidth": "20"})
}

// IPv6 goes on and off, of a vSwitch and of its VPC.
func TestModifyIPv6(t *testing.T) {
	c := newClient(t)
	shows := func(action string, name params, enabled, block string) {
		t.Helper()
		gatewaytest.Expect(t, c.Do(action, name), map[string]string{"EnabledIpv6": enabled, "Ipv6CidrBlock": block})
	}
	vpc, vSwitch := params{"VpcId": otherVPCID}, params{"VSwitchId": otherVSwitch}
	c.Do("ModifyVSwitchAttribute", with(vSwitch, params{"EnableIPv6": "true", "Ipv6CidrBlock": "8"}))
	shows("DescribeVSwitchAttributes", vSwitch, "true", "2001:db8:8000:8::/64")
	c.Do("ModifyVSwitchAttribute", with(vSwitch, params{"EnableIPv6": "true", "Ipv6CidrBlock": "8", "VSwitchName": "kept"}))
	c.Do("ModifyVpcAttribute", with(vpc, params{"EnableIPv6": "true"}))
	c.Do("ModifyVSwitchAttribute", with(vSwitch, params{"EnableIPv6": "false"}))
	c.Do("ModifyVSwitchAttribute", with(vSwitch, params{"EnableIPv6": "false"}))
	shows("DescribeVSwitchAttributes", vSwitch, "false", "")
	c.Do("ModifyVSwitchAttribute", with(vSwitch, params{"Ipv6CidrBlock": "9"}))
	shows("DescribeVSwitchAttributes", vSwitch, "true", "2001:db8:8000:9::/64")
	c.Do("ModifyVSwitchAttribute", with(vSwitch, params{"EnableIPv6": "false"}))
	c.Do("ModifyVpcAttribute", with(vpc, params{"EnableIPv6": "false"}))
	shows("DescribeVpcAttribute", vpc, "false", "")
}

// Tables learn routes or not, as their attribute says.
func TestRoutePropagation(t *testing.T) {
	c := newClient(t)
	custom := params{"RouteTableId": c.Do("CreateRouteTable", params{"VpcId": vpcID, "AssociateType": "VSwitch"}).Text("RouteTableId")}
	shows := func(table params, want string) {
		t.Helper()
		gatewaytest.Expect(t, c.Do("DescribeRouteTableList", table), map[string]string{"RouterTableList.RouterTableListType.0.RoutePropagationEnable": want})
	}
	shows(custom, "true")
	c.Do("ModifyRouteTableAttributes", custom.With(params{"RoutePropagationEnable": "false"}))
	c.Do("ModifyRouteTableAttributes", custom.With(params{"RouteTableName": "named"}))
	shows(custom, "false")
}

// A vSwitch goes under a custom table and back under its VPC's own.
func TestAssociateRouteTable(t *testing.T) {
	c := newClient(t, plantCustom)
	table := func() string {
		return c.Do("DescribeVSwitchAttributes", params{"VSwitchId": vSwitchID}).Text("RouteTable.RouteTableId")
	}
	c.Do("AssociateRouteTable", custom)
	if got := table(); got != "vtb-custom" {
		t.Errorf("the vSwitch is under %q", got)
	}
	c.Do("UnassociateRouteTable", custom)
	if got := table(); got != routeTableID {
		t.Errorf("the vSwitch is under %q, want the system table", got)
	}
}

// A default VPC and its vSwitches are found as such.
func TestDefaultVPC(t *testing.T) {
	c := newClient(t, plantDefault)
	gatewaytest.Expect(t, c.Do("DescribeVpcs", params{"IsDefault": "true"}), map[string]string{"TotalCount": "1", "Vpcs.Vpc.0.VpcId": "vpc-default", "Vpcs.Vpc.0.IsDefault": "true"})
	gatewaytest.Expect(t, c.Do("DescribeVSwitches", params{"IsDefault": "true"}), map[string]string{"TotalCount": "1", "VSwitches.VSwitch.0.VSwitchId": "vsw-default"})
}

// By force a VPC goes with the routes of its own table, and with nothing else.
func TestForceDelete(t *testing.T) {
	c := newClient(t, inOwner(emptyVPC), customEntry("vtb-empty", "10.1.0.0/16", instanceID))
	empty := params{"VpcId": "vpc-empty"}
	for code, p := range map[string]params{"DependencyViolation.RouteEntry": empty, "DependencyViolation.VSwitch": {"VpcId": vpcID, "ForceDelete": "true"}} {
		if reply := c.Call("DeleteVpc", p); reply.Code != code {
			t.Errorf("DeleteVpc(%v) = %d %s, want %s", p, reply.Status, reply.Code, code)
		}
	}
	c.Do("DeleteVpc", empty.With(params{"ForceDelete": "true"}))
	gatewaytest.Expect(t, c.Do("DescribeVpcs", empty), map[string]string{"TotalCount": "0"})
}
