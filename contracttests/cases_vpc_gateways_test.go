package contracttests

var (
	newIPv6Gateway = step{"Vpc", "CreateIpv6Gateway", params{"VpcId": "{vpc}", "Name": "way-out", "Description": "of the VPC",
		"Tag.1.Key": "app", "Tag.1.Value": "web"}, saveAs("ipv6gw", "Ipv6GatewayId")}
	anIPv6Gateway = params{"Ipv6GatewayId": "{ipv6gw}"}

	newNATGateway = step{"Vpc", "CreateNatGateway", params{"VpcId": "{vpc}", "VSwitchId": "{vsw}", "Name": "nat", "Description": "of the VPC",
		"Spec": "Small", "Tag.1.Key": "app", "Tag.1.Value": "web"}, saveAs("ngw", "NatGatewayId")}
	aNATGateway    = params{"NatGatewayId": "{ngw}"}
	eipOnNAT       = step{"Vpc", "AssociateEipAddress", params{"AllocationId": "{eip}", "InstanceId": "{ngw}", "InstanceType": "Nat"}, nil}
	keepNATGateway = step{"Vpc", "DeletionProtection", params{"InstanceId": "{ngw}", "Type": "NATGW", "ProtectionEnable": "true"}, nil}
)

var vpcGatewayCases = []apiCase{
	succeeds("CreateIpv6Gateway", "new", newIPv6Gateway.params),
	refused("CreateIpv6Gateway", "second", "ResourceAlreadyExist.Ipv6Gateway", newIPv6Gateway.params, newIPv6Gateway),
	succeeds("DeleteIpv6Gateway", "one", anIPv6Gateway, newIPv6Gateway),
	refused("DeleteIpv6Gateway", "unknown", "InvalidIpv6GatewayId.NotFound", params{"Ipv6GatewayId": "ipv6gw-gone"}),
	succeeds("ModifyIpv6GatewayAttribute", "name", more(anIPv6Gateway, "Name", "renamed"), newIPv6Gateway),
	refused("ModifyIpv6GatewayAttribute", "unknown", "InvalidIpv6GatewayId.NotFound", params{"Ipv6GatewayId": "ipv6gw-gone", "Name": "renamed"}),
	succeeds("DescribeIpv6GatewayAttribute", "one", anIPv6Gateway, newIPv6Gateway),
	succeeds("DescribeIpv6GatewayAttribute", "unknown", params{"Ipv6GatewayId": "ipv6gw-gone"}),
	refused("DescribeIpv6GatewayAttribute", "no-id", "MissingIpv6GatewayId", params{}),
	succeeds("DescribeIpv6Gateways", "of-a-vpc", params{"VpcId": "{vpc}"}, newIPv6Gateway),
	refused("DescribeIpv6Gateways", "bad-page", "InvalidPageSize", params{"PageSize": "0"}),

	succeeds("CreateNatGateway", "new", newNATGateway.params),
	refused("CreateNatGateway", "other-vpc", "InvalidVSwitchId.VpcMismatch", params{"VpcId": "{vpc}", "VSwitchId": vsw1}),
	succeeds("DeleteNatGateway", "one", aNATGateway, newNATGateway),
	succeeds("DeleteNatGateway", "forced", more(aNATGateway, "Force", "true"), newNATGateway, eipOnNAT),
	refused("DeleteNatGateway", "has-eip", "DependencyViolation.EIPS", aNATGateway, newNATGateway, eipOnNAT),
	refused("DeleteNatGateway", "protected", "InvalidOperation.DeletionProtection", aNATGateway, newNATGateway, keepNATGateway),
	succeeds("ModifyNatGatewayAttribute", "name", more(aNATGateway, "Name", "renamed"), newNATGateway),
	refused("ModifyNatGatewayAttribute", "unknown", "InvalidNatGatewayId.NotFound", params{"NatGatewayId": "ngw-gone", "Name": "renamed"}),
	succeeds("DescribeNatGateways", "with-eip", params{"VpcId": "{vpc}"}, newNATGateway, eipOnNAT, keepNATGateway),
	refused("DescribeNatGateways", "bad-page", "InvalidPageSize", params{"PageSize": "0"}),
	succeeds("DescribeEipAddresses", "of-an-address", params{"AllocationId": "{eip}"}, step{"Vpc", "AssociateEipAddress",
		params{"AllocationId": "{eip}", "InstanceId": attachedENI, "InstanceType": "NetworkInterface", "PrivateIpAddress": "192.168.0.101"}, nil}),
	succeeds("DescribeVpcs", "with-nat-gateway", params{"VpcId": "{vpc}"}, newNATGateway),
	succeeds("DescribeRouteEntryList", "of-a-nat-gateway", params{"RouteTableId": "{vtbMain}", "NextHopType": "NatGateway"},
		step{"Vpc", "DescribeRouteTableList", params{"VpcId": "{vpc}", "RouteTableType": "System"}, saveAs("vtbMain", "RouterTableList.RouterTableListType.0.RouteTableId")},
		newNATGateway),
}
