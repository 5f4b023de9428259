package pull

import (
	"strconv"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
)

func each(params ...string) map[string]string {
	all := make(map[string]string)
	for i := 0; i < len(params); i += 2 {
		all[params[i]] = params[i+1]
	}
	return all
}

// networkKinds returns the kinds of the networks of load balancers.
func networkKinds() []*kind {
	return []*kind{
		of(kinds.ResourceGroups, kind{
			lists: []read{{product: "ResourceManager", action: "ListResourceGroups", params: each("IncludeTags", "true"), list: "ResourceGroups.ResourceGroup", pages: numbered.of(100)}},
			id:    "Id", tags: "Tags.Tag", tag: kinds.TagResourceGroup,
		}, nil),
		of(kinds.VPCs, kind{
			lists: []read{{product: "Vpc", action: "DescribeVpcs", list: "Vpcs.Vpc", pages: numbered}},
			id:    "VpcId", tags: "Tags.Tag", tag: kinds.TagVPC, chosen: (*Puller).inVPC,
		}, nil),
		of(kinds.RouteTables, kind{
			lists: []read{{product: "Vpc", action: "DescribeRouteTableList", list: "RouterTableList.RouterTableListType", pages: numbered}},
			id:    "RouteTableId", tags: "Tags.Tag", tag: kinds.TagRouteTable, chosen: (*Puller).inVPC,
			foreign: func(r row) string {
				if r.text("AssociateType") == "Gateway" {
					return "clbemu has no route tables of gateways"
				}
				if r.text("VpcId") == "" {
					return "clbemu has no route tables outside VPCs"
				}
				return ""
			},
		}, nil),
		routeEntries(),
		of(kinds.VSwitches, kind{
			lists: []read{{product: "Vpc", action: "DescribeVSwitches", list: "VSwitches.VSwitch", pages: numbered}},
			id:    "VSwitchId", tags: "Tags.Tag", tag: kinds.TagVSwitch, chosen: (*Puller).inVPC,
		}, nil),
		of(kinds.SecurityGroups, kind{
			lists: []read{{product: "Ecs", action: "DescribeSecurityGroups", list: "SecurityGroups.SecurityGroup", pages: byToken}},
			id:    "SecurityGroupId", tags: "Tags.Tag", tag: kinds.TagSecurityGroup, chosen: (*Puller).inVPC,
			details: []detail{{read: read{product: "Ecs", action: "DescribeSecurityGroupAttribute", params: each("SecurityGroupId", "=SecurityGroupId"),
				list: "Permissions.Permission", pages: byToken}, as: "Permissions", also: "InnerAccessPolicy"}},
		}, nil),
		of(kinds.CommonBandwidthPackages, kind{
			lists: []read{{product: "Vpc", action: "DescribeCommonBandwidthPackages", list: "CommonBandwidthPackages.CommonBandwidthPackage", pages: numbered}},
			id:    "BandwidthPackageId", tags: "Tags.Tag", tag: kinds.TagCommonBandwidthPackage,
		}, nil),
		eips(),
		of(kinds.IPv6Gateways, kind{
			lists: []read{{product: "Vpc", action: "DescribeIpv6Gateways", list: "Ipv6Gateways.Ipv6Gateway", pages: numbered}},
			id:    "Ipv6GatewayId", tags: "Tags.Tag", tag: kinds.TagIPv6Gateway, chosen: (*Puller).inVPC,
		}, nil),
		of(kinds.NATGateways, kind{
			lists: []read{{product: "Vpc", action: "DescribeNatGateways", list: "NatGateways.NatGateway", pages: numbered}},
			id:    "NatGatewayId", tags: "Tags.Tag", tag: kinds.TagNATGateway, chosen: (*Puller).inVPC,
		}, nil),
	}
}

func routeEntries() *kind {
	return of(kinds.RouteEntries, kind{
		of: kinds.RouteTables.Kind(),
		lists: []read{{product: "Vpc", action: "DescribeRouteEntryList", params: each("RouteTableId", "=RouteTableId"), list: "RouteEntrys.RouteEntry",
			pages: pages{token: "NextToken", size: "MaxResult", most: 100}}},
		id: "RouteEntryId",
		foreign: func(r row) string {
			if kind := r.text("Type"); kind != string(kinds.RouteTableSystem) && kind != string(kinds.RouteTableCustom) {
				return "clbemu has no routes of the type " + kind
			}
			return ""
		},
	}, func(_ *builder, e *kinds.RouteEntry, _ row) error {
		if e.Type == kinds.RouteTableSystem {
			e.NextHopType, e.NextHopID = "", ""
		}
		return nil
	})
}

func eips() *kind {
	return of(kinds.EIPs, kind{
		lists: []read{{product: "Vpc", action: "DescribeEipAddresses", list: "EipAddresses.EipAddress", pages: numbered}},
		id:    "AllocationId", tags: "Tags.Tag", tag: kinds.TagEIP,
	}, func(b *builder, e *kinds.EIP, from row) error {
		for _, lb := range b.rows[kinds.NLBLoadBalancers.Kind()] {
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
