package pull

import (
	"strconv"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
)

// The reasons of fields that several kinds have.
const (
	whyBrief   = "no answer says that a change is at work, which takes seconds"
	whyOlder   = "it is of states of older versions"
	whyUnasked = "no load balancer depends on it"
)

func each(params ...string) map[string]string {
	all := make(map[string]string)
	for i := 0; i < len(params); i += 2 {
		all[params[i]] = params[i+1]
	}
	return all
}

// networkKinds are what load balancers stand in.
func networkKinds() []*kind {
	return []*kind{resourceGroups(), vpcs(), routeTables(), routeEntries(), vSwitches(), securityGroups(), bandwidthPackages(), eips(), ipv6Gateways(), natGateways()}
}

func resourceGroups() *kind {
	return of(cloud.ResourceGroups, kind{
		lists: []read{{product: "ResourceManager", action: "ListResourceGroups", params: each("IncludeTags", "true"), list: "ResourceGroups.ResourceGroup", pages: numbered.of(100)}},
		id:    "Id", tags: "Tags.Tag", tag: cloud.TagResourceGroup,
		fields: `
			CreateTime CreateDate`,
	}, nil)
}

func vpcs() *kind {
	return of(cloud.VPCs, kind{
		lists: []read{{product: "Vpc", action: "DescribeVpcs", list: "Vpcs.Vpc", pages: numbered}},
		id:    "VpcId", tags: "Tags.Tag", tag: cloud.TagVPC, chosen: (*Puller).inVPC,
		fields: `
			SecondaryCIDRBlocks SecondaryCidrBlocks.SecondaryCidrBlock
			UserCIDRs           UserCidrs.UserCidr
			DNSHostnames        DnsHostnameStatus =ENABLED`,
	}, nil)
}

func routeTables() *kind {
	return of(cloud.RouteTables, kind{
		lists: []read{{product: "Vpc", action: "DescribeRouteTableList", list: "RouterTableList.RouterTableListType", pages: numbered}},
		id:    "RouteTableId", tags: "Tags.Tag", tag: cloud.TagRouteTable, chosen: (*Puller).inVPC,
		foreign: func(r row) string {
			if r.text("AssociateType") == "Gateway" {
				return "clbemu has no route tables of gateways"
			}
			if r.text("VpcId") == "" {
				return "clbemu has no route tables outside VPCs"
			}
			return ""
		},
		fields: `
			VRouterID           RouterId
			PropagationDisabled RoutePropagationEnable !true`,
		unread: map[string]string{"AssociateType": whyOlder},
	}, nil)
}

func routeEntries() *kind {
	return of(cloud.RouteEntries, kind{
		of: cloud.RouteTables.Kind(),
		lists: []read{{product: "Vpc", action: "DescribeRouteEntryList", params: each("RouteTableId", "=RouteTableId"), list: "RouteEntrys.RouteEntry",
			pages: pages{token: "NextToken", size: "MaxResult", most: 100}}},
		id: "RouteEntryId",
		foreign: func(r row) string {
			if kind := r.text("Type"); kind != string(cloud.RouteTableSystem) && kind != string(cloud.RouteTableCustom) {
				return "clbemu has no routes of the type " + kind
			}
			return ""
		},
		fields: `
			VPCID       ^.VpcId
			NextHopType NextHops.NextHop.0.NextHopType
			NextHopID   NextHops.NextHop.0.NextHopId
			CreateTime  GmtModified`,
	}, func(_ *builder, e *cloud.RouteEntry, _ row) error {
		if e.Type == cloud.RouteTableSystem {
			e.NextHopType, e.NextHopID = "", ""
		}
		return nil
	})
}

func vSwitches() *kind {
	return of(cloud.VSwitches, kind{
		lists: []read{{product: "Vpc", action: "DescribeVSwitches", list: "VSwitches.VSwitch", pages: numbered}},
		id:    "VSwitchId", tags: "Tags.Tag", tag: cloud.TagVSwitch, chosen: (*Puller).inVPC,
		fields: `
			RouteTableID RouteTable.RouteTableId`,
	}, nil)
}

func securityGroups() *kind {
	return of(cloud.SecurityGroups, kind{
		lists: []read{{product: "Ecs", action: "DescribeSecurityGroups", list: "SecurityGroups.SecurityGroup", pages: byToken}},
		id:    "SecurityGroupId", tags: "Tags.Tag", tag: cloud.TagSecurityGroup, chosen: (*Puller).inVPC,
		details: []detail{{read: read{product: "Ecs", action: "DescribeSecurityGroupAttribute", params: each("SecurityGroupId", "=SecurityGroupId"),
			list: "Permissions.Permission", pages: byToken}, as: "Permissions", also: "InnerAccessPolicy"}},
		fields: `
			InnerAccess                InnerAccessPolicy
			Permissions[].RuleID       SecurityGroupRuleId
			Permissions[].SourceCIDR   SourceCidrIp
			Permissions[].DestCIDR     DestCidrIp
			Permissions[].IPv6Source   Ipv6SourceCidrIp
			Permissions[].IPv6Dest     Ipv6DestCidrIp
			Permissions[].SourceGroup  SourceGroupId
			Permissions[].DestGroup    DestGroupId
			Permissions[].SourcePort   SourcePortRange
			Permissions[].PrefixListID SourcePrefixListId`,
	}, nil)
}

func bandwidthPackages() *kind {
	return of(cloud.CommonBandwidthPackages, kind{
		lists: []read{{product: "Vpc", action: "DescribeCommonBandwidthPackages", list: "CommonBandwidthPackages.CommonBandwidthPackage", pages: numbered}},
		id:    "BandwidthPackageId", tags: "Tags.Tag", tag: cloud.TagCommonBandwidthPackage,
	}, nil)
}

func eips() *kind {
	return of(cloud.EIPs, kind{
		lists: []read{{product: "Vpc", action: "DescribeEipAddresses", list: "EipAddresses.EipAddress", pages: numbered}},
		id:    "AllocationId", tags: "Tags.Tag", tag: cloud.TagEIP,
		fields: `
			Description      Description|Descritpion
			Bandwidth        EipBandwidth|Bandwidth
			PackageBandwidth -
			CreateTime       AllocationTime`,
		unread: map[string]string{"SegmentID": whyOlder},
	}, func(b *builder, e *cloud.EIP, from row) error {
		for _, lb := range b.rows[cloud.NLBLoadBalancers.Kind()] {
			if lb.text("LoadBalancerId") == e.InstanceID && lb.text("BandwidthPackageId") != "" {
				e.BandwidthPackageID = "" // it is the load balancer's
				return nil
			}
		}
		if own := from.text("Bandwidth"); e.BandwidthPackageID != "" && own != from.text("BandwidthPackageBandwidth") {
			n, err := strconv.Atoi(own)
			e.PackageBandwidth = n
			return err
		}
		return nil
	})
}

func ipv6Gateways() *kind {
	return of(cloud.IPv6Gateways, kind{
		lists: []read{{product: "Vpc", action: "DescribeIpv6Gateways", list: "Ipv6Gateways.Ipv6Gateway", pages: numbered}},
		id:    "Ipv6GatewayId", tags: "Tags.Tag", tag: cloud.TagIPv6Gateway, chosen: (*Puller).inVPC,
	}, nil)
}

func natGateways() *kind {
	return of(cloud.NATGateways, kind{
		lists: []read{{product: "Vpc", action: "DescribeNatGateways", list: "NatGateways.NatGateway", pages: numbered}},
		id:    "NatGatewayId", tags: "Tags.Tag", tag: cloud.TagNATGateway, chosen: (*Puller).inVPC,
		fields: `
			VSwitchID         NatGatewayPrivateInfo.VswitchId
			PrivateIPAddress  NatGatewayPrivateInfo.PrivateIpAddress
			ICMPReplyDisabled IcmpReplyEnabled !true`,
	}, nil)
}
