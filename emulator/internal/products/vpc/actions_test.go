package vpc_test

import (
	"maps"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/products/vpc"
)

// because gives several exceptions one reason.
func because(reason string, keys ...string) map[string]string {
	exceptions := make(map[string]string, len(keys))
	for _, key := range keys {
		exceptions[key] = reason
	}
	return exceptions
}

// below puts a path before each of the names.
func below(path string, names ...string) []string {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = path + name
	}
	return paths
}

var exceptions = []map[string]string{
	because("only the cloud's own consoles read it", "ModifyRouteTableAttributes->Code", "ModifyRouteTableAttributes->Message", "ModifyRouteTableAttributes->Success"),
	because("the SDK's Tag serves all products: this one answers Key and Value",
		"DescribeVpcs->Vpcs.Vpc[].Tags.Tag[].TagKey", "DescribeVpcs->Vpcs.Vpc[].Tags.Tag[].TagValue",
		"DescribeVpcAttribute->Tags.Tag[].TagKey", "DescribeVpcAttribute->Tags.Tag[].TagValue",
		"DescribeVSwitches->VSwitches.VSwitch[].Tags.Tag[].TagKey", "DescribeVSwitches->VSwitches.VSwitch[].Tags.Tag[].TagValue",
		"DescribeVSwitchAttributes->Tags.Tag[].TagKey", "DescribeVSwitchAttributes->Tags.Tag[].TagValue",
		"DescribeRouteTableList->RouterTableList.RouterTableListType[].Tags.Tag[].TagKey",
		"DescribeRouteTableList->RouterTableList.RouterTableListType[].Tags.Tag[].TagValue",
		"DescribeEipAddresses->EipAddresses.EipAddress[].Tags.Tag[].TagKey",
		"DescribeEipAddresses->EipAddresses.EipAddress[].Tags.Tag[].TagValue"),
	because("the SDK's RouteTable serves all actions: these answer its id and type", below(
		"DescribeVSwitches->VSwitches.VSwitch[].RouteTable.",
		"CreationTime", "ResourceGroupId", "RouteEntrys", "Status", "VRouterId", "VSwitchIds")...),
	because("the SDK's RouteTable serves all actions: these answer its id and type", below(
		"DescribeVSwitchAttributes->RouteTable.",
		"CreationTime", "ResourceGroupId", "RouteEntrys", "Status", "VRouterId", "VSwitchIds")...),
	because("the SDK's RouteEntry serves all actions: next hops are in NextHops", below(
		"DescribeRouteEntryList->RouteEntrys.RouteEntry[].",
		"InstanceId", "NextHopType", "NextHopRegionId", "NextHopOppsiteInstanceId", "NextHopOppsiteRegionId",
		"NextHopOppsiteType", "PrivateIpAddress")...),
	because("the world has no router interfaces, no other routers and no published routes", below(
		"DescribeRouteEntryList->RouteEntrys.RouteEntry[].",
		"NextHops.NextHop[].NextHopOppsiteInstanceId", "NextHops.NextHop[].NextHopOppsiteRegionId",
		"NextHops.NextHop[].NextHopOppsiteType", "NextHops.NextHop[].NextHopRelatedInfo",
		"Origin", "RoutePublishTargets", "ServiceType")...),
	because("its value on success is not known", "DescribeRouteTableList->Message"),
	because("it selects nothing: the VPC is named by its id", "DescribeVpcAttribute.IsDefault"),
	because("of products that the world does not have", below("DescribeVpcs->Vpcs.Vpc[].",
		"AdvancedResource", "SupportAdvancedFeature", "CenStatus")...),
	because("of products that the world does not have", below("DescribeVpcAttribute->",
		"AssociatedCens", "AssociatedPropagationSources", "Ipv4GatewayId", "SupportIpv4Gateway")...),
	because("it buys nothing here", "AllocateEipAddress->OrderId"),
	because("no package has an order that waits", "DescribeCommonBandwidthPackages.IncludeReservationData"),
	because("no package has one", below("DescribeCommonBandwidthPackages->CommonBandwidthPackages.CommonBandwidthPackage[].",
		"BizType", "HasReservationData", "ReservationActiveTime", "ReservationBandwidth", "ReservationInternetChargeType", "ReservationOrderType",
		"SecurityProtectionTypes", "Zone")...),
	because("no gateway has a table for what comes in", "DescribeIpv6GatewayAttribute->GatewayRouteTableId",
		"DescribeRouteTableList->RouterTableList.RouterTableListType[].GatewayIds"),
	because("of products that the world does not have", below("DescribeNatGateways->NatGateways.NatGateway[].",
		"AccessMode", "EnableSessionLog", "PrivateLinkMode", "NatGatewayPrivateInfo.EniInstanceId", "NatGatewayPrivateInfo.EniType")...),
	because("no EIP has an order that waits", "DescribeEipAddresses.IncludeReservationData"),
	because("no EIP has one", below("DescribeEipAddresses->EipAddresses.EipAddress[].",
		"BizType",
		"ExpiredTime", "PublicIpAddressPoolId", "ReservationActiveTime", "ReservationBandwidth",
		"ReservationInternetChargeType", "ReservationOrderType", "SecurityProtectionTypes", "Zone")...),
}

// The action tables match the API's metadata, with known exceptions.
func TestActions(t *testing.T) {
	all := make(map[string]string)
	for _, group := range exceptions {
		maps.Copy(all, group)
	}
	gatewaytest.MatchActions(t, vpc.Product(gateway.Deps{}), "testdata/actions.json", all)
}
