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
			ID          Id
			Name        Name
			DisplayName DisplayName
			CreateTime  CreateDate`,
	}, nil)
}

func vpcs() *kind {
	return of(cloud.VPCs, kind{
		lists: []read{{product: "Vpc", action: "DescribeVpcs", list: "Vpcs.Vpc", pages: numbered}},
		id:    "VpcId", tags: "Tags.Tag", tag: cloud.TagVPC, chosen: (*Puller).inVPC,
		fields: `
			ID                  VpcId
			Name                VpcName
			Description         Description
			CIDRBlock           CidrBlock
			SecondaryCIDRBlocks SecondaryCidrBlocks.SecondaryCidrBlock
			UserCIDRs           UserCidrs.UserCidr
			IPv6CIDRBlock       Ipv6CidrBlock
			DNSHostnames        DnsHostnameStatus =ENABLED
			VRouterID           VRouterId
			ResourceGroupID     ResourceGroupId
			IsDefault           IsDefault
			CreateTime          CreationTime`,
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
			ID                  RouteTableId
			VPCID               VpcId
			VRouterID           RouterId
			Name                RouteTableName
			Description         Description
			Type                RouteTableType
			PropagationDisabled RoutePropagationEnable !true
			ResourceGroupID     ResourceGroupId
			CreateTime          CreationTime`,
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
			ID                   RouteEntryId
			RouteTableID         RouteTableId
			VPCID                ^.VpcId
			DestinationCIDRBlock DestinationCidrBlock
			Type                 Type
			Status               Status
			NextHopType          NextHops.NextHop.0.NextHopType
			NextHopID            NextHops.NextHop.0.NextHopId
			Name                 RouteEntryName
			Description          Description
			CreateTime           GmtModified`,
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
			ID              VSwitchId
			VPCID           VpcId
			ZoneID          ZoneId
			CIDRBlock       CidrBlock
			IPv6CIDRBlock   Ipv6CidrBlock
			Name            VSwitchName
			Description     Description
			RouteTableID    RouteTable.RouteTableId
			ResourceGroupID ResourceGroupId
			IsDefault       IsDefault
			CreateTime      CreationTime`,
	}, nil)
}

func securityGroups() *kind {
	return of(cloud.SecurityGroups, kind{
		lists: []read{{product: "Ecs", action: "DescribeSecurityGroups", list: "SecurityGroups.SecurityGroup", pages: byToken}},
		id:    "SecurityGroupId", tags: "Tags.Tag", tag: cloud.TagSecurityGroup, chosen: (*Puller).inVPC,
		details: []detail{{read: read{product: "Ecs", action: "DescribeSecurityGroupAttribute", params: each("SecurityGroupId", "=SecurityGroupId"),
			list: "Permissions.Permission", pages: byToken}, as: "Permissions", also: "InnerAccessPolicy"}},
		fields: `
			ID                         SecurityGroupId
			Name                       SecurityGroupName
			Description                Description
			Type                       SecurityGroupType
			VPCID                      VpcId
			InnerAccess                InnerAccessPolicy
			ResourceGroupID            ResourceGroupId
			CreateTime                 CreationTime
			Permissions[]              Permissions
			Permissions[].RuleID       SecurityGroupRuleId
			Permissions[].Direction    Direction
			Permissions[].IPProtocol   IpProtocol
			Permissions[].PortRange    PortRange
			Permissions[].SourceCIDR   SourceCidrIp
			Permissions[].DestCIDR     DestCidrIp
			Permissions[].IPv6Source   Ipv6SourceCidrIp
			Permissions[].IPv6Dest     Ipv6DestCidrIp
			Permissions[].SourceGroup  SourceGroupId
			Permissions[].DestGroup    DestGroupId
			Permissions[].SourcePort   SourcePortRange
			Permissions[].Policy       Policy
			Permissions[].Priority     Priority
			Permissions[].NicType      NicType
			Permissions[].PrefixListID SourcePrefixListId
			Permissions[].Description  Description
			Permissions[].CreateTime   CreateTime`,
	}, nil)
}

func bandwidthPackages() *kind {
	return of(cloud.CommonBandwidthPackages, kind{
		lists: []read{{product: "Vpc", action: "DescribeCommonBandwidthPackages", list: "CommonBandwidthPackages.CommonBandwidthPackage", pages: numbered}},
		id:    "BandwidthPackageId", tags: "Tags.Tag", tag: cloud.TagCommonBandwidthPackage,
		fields: `
			ID                 BandwidthPackageId
			Name               Name
			Description        Description
			Bandwidth          Bandwidth
			ISP                ISP
			InternetChargeType InternetChargeType
			Ratio              Ratio
			DeletionProtection DeletionProtection
			ResourceGroupID    ResourceGroupId
			CreateTime         CreationTime`,
	}, nil)
}

func eips() *kind {
	return of(cloud.EIPs, kind{
		lists: []read{{product: "Vpc", action: "DescribeEipAddresses", list: "EipAddresses.EipAddress", pages: numbered}},
		id:    "AllocationId", tags: "Tags.Tag", tag: cloud.TagEIP,
		fields: `
			ID                 AllocationId
			IPAddress          IpAddress
			Name               Name
			Description        Description|Descritpion
			Status             Status
			Bandwidth          EipBandwidth|Bandwidth
			ISP                ISP
			InternetChargeType InternetChargeType
			ChargeType         ChargeType
			InstanceType       InstanceType
			InstanceID         InstanceId
			PrivateIPAddress   PrivateIpAddress
			BandwidthPackageID BandwidthPackageId
			DeletionProtection DeletionProtection
			ResourceGroupID    ResourceGroupId
			PackageBandwidth   -
			CreateTime         AllocationTime`,
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
		fields: `
			ID              Ipv6GatewayId
			VPCID           VpcId
			Name            Name
			Description     Description
			Status          Status
			ResourceGroupID ResourceGroupId
			CreateTime      CreationTime`,
	}, nil)
}

func natGateways() *kind {
	return of(cloud.NATGateways, kind{
		lists: []read{{product: "Vpc", action: "DescribeNatGateways", list: "NatGateways.NatGateway", pages: numbered}},
		id:    "NatGatewayId", tags: "Tags.Tag", tag: cloud.TagNATGateway, chosen: (*Puller).inVPC,
		fields: `
			ID                 NatGatewayId
			VPCID              VpcId
			VSwitchID          NatGatewayPrivateInfo.VswitchId
			PrivateIPAddress   NatGatewayPrivateInfo.PrivateIpAddress
			Name               Name
			Description        Description
			Status             Status
			NetworkType        NetworkType
			InternetChargeType InternetChargeType
			Spec               Spec
			EIPBindMode        EipBindMode
			ICMPReplyDisabled  IcmpReplyEnabled !true
			DeletionProtection DeletionProtection
			ResourceGroupID    ResourceGroupId
			CreateTime         CreationTime`,
	}, nil)
}
