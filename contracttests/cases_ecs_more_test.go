package contracttests

const image1 = "ubuntu_22_04_x64_20G_alibase_20250722.vhd"

var (
	newInstance = params{"InstanceType": "ecs.g7.large", "ImageId": image1, "VSwitchId": vsw1, "SecurityGroupId": group1, "InstanceName": "new",
		"Description": "new instance", "UserData": "eA==", "RamRoleName": "clbemu-node", "InternetMaxBandwidthIn": "10", "InternetMaxBandwidthOut": "5",
		"ResourceGroupId": "rg-clbemu0second", "SystemDisk.DiskName": "root", "SystemDisk.Description": "root disk", "SystemDisk.Encrypted": "true",
		"DataDisk.1.Size": "100", "Tag.1.Key": "app", "Tag.1.Value": "web"}
	run         = step{"Ecs", "RunInstances", newInstance, saveAs("instance", "InstanceIdSets.InstanceIdSet.0")}
	stop        = step{"Ecs", "StopInstance", params{"InstanceId": node3}, nil}
	freeENI     = "eni-bp1clbemu000000012"
	attachedENI = "eni-bp1clbemu000000011"
	goneNode    = params{"InstanceId": "i-gone"}
	withEIP     = step{"Vpc", "AssociateEipAddress", params{"AllocationId": "{eip}", "InstanceId": node2}, nil}
)

var ecsInstanceCases = []apiCase{
	succeeds("DescribeRegions", "all", params{}),
	refused("DescribeRegions", "unknown-region", "InvalidRegionId.NotFound", params{"RegionId": "mars"}),
	succeeds("DescribeZones", "all", params{}),
	refused("DescribeZones", "unknown-region", "InvalidRegionId.NotFound", params{"RegionId": "mars"}),
	succeeds("DescribeAvailableResource", "disks", params{"DestinationResource": "SystemDisk", "ZoneId": "cn-hangzhou-h"}),
	refused("DescribeAvailableResource", "unknown-zone", "InvalidZoneId.NotFound", params{"DestinationResource": "Zone", "ZoneId": "cn-hangzhou-x"}),
	succeeds("DescribeInstanceTypes", "one", params{"InstanceTypes.1": "ecs.g7.large"}),
	succeeds("DescribeInstanceTypes", "first", params{"MaxResults": "1"}),
	refused("DescribeInstanceTypes", "bad-token", "InValidParameter.NextToken", params{"NextToken": "!"}),
	succeeds("DescribeInstanceTypeFamilies", "all", params{}),
	refused("DescribeInstanceTypeFamilies", "unknown", "InvalidParameter.Generation", params{"Generation": "ecs-9"}),
	succeeds("DescribeImages", "all", params{}),
	refused("DescribeImages", "unknown-owner", "InvalidImageOwnerAlias.ValueNotSupported", params{"ImageOwnerAlias": "moon"}),
	succeeds("RunInstances", "new", newInstance),
	refused("RunInstances", "unknown-image", "InvalidImageId.NotFound", more(newInstance, "ImageId", "m-gone")),
	succeeds("DescribeInstances", "new", params{"InstanceIds": `["{instance}"]`}, run),
	succeeds("DescribeInstances", "stopped", params{"InstanceIds": `["` + node3 + `"]`}, stop),
	succeeds("StartInstance", "stopped", params{"InstanceId": node3}, stop),
	refused("StartInstance", "unknown", "InvalidInstanceId.NotFound", goneNode),
	succeeds("StartInstances", "stopped", params{"InstanceId.1": node3}, stop),
	refused("StartInstances", "running", "IncorrectInstanceStatus", params{"InstanceId.1": node3}),
	succeeds("StopInstance", "running", params{"InstanceId": node3}),
	refused("StopInstance", "unknown", "InvalidInstanceId.NotFound", goneNode),
	succeeds("StopInstances", "running", params{"InstanceId.1": node2, "InstanceId.2": node3}),
	refused("StopInstances", "stopped", "IncorrectInstanceStatus", params{"InstanceId.1": node2, "InstanceId.2": node3}, stop),
	succeeds("RebootInstance", "running", params{"InstanceId": node3}),
	refused("RebootInstance", "unknown", "InvalidInstanceId.NotFound", goneNode),
	succeeds("DeleteInstances", "running", params{"InstanceId.1": node3, "Force": "true"}),
	refused("DeleteInstances", "running-not-forced", "IncorrectInstanceStatus", params{"InstanceId.1": node3}),
	succeeds("DescribeInstanceStatus", "all", params{}),
	refused("DescribeInstanceStatus", "bad-page", "InvalidPageSize", params{"PageSize": "0"}),
	succeeds("DescribeInstanceAttribute", "first", params{"InstanceId": node1}),
	succeeds("DescribeInstanceAttribute", "with-eip", params{"InstanceId": node2}, withEIP),
	succeeds("DescribeInstanceAttribute", "new", params{"InstanceId": "{instance}"}, run),
	refused("DescribeInstanceAttribute", "unknown", "InvalidInstanceId.NotFound", goneNode),
	succeeds("ModifyInstanceAttribute", "name", params{"InstanceId": node3, "InstanceName": "renamed", "SecurityGroupIds.1": "{sg}"}),
	refused("ModifyInstanceAttribute", "user-data-of-running", "IncorrectInstanceStatus", params{"InstanceId": node3, "UserData": "eA=="}),
	succeeds("DescribeDisks", "new", params{"InstanceId": "{instance}"}, run),
	succeeds("DescribeDisks", "first", params{"InstanceId": "{instance}", "MaxResults": "1"}, run),
	refused("DescribeDisks", "no-json", "InvalidDiskIds", params{"DiskIds": "d-1"}),
	succeeds("DescribeUserData", "new", params{"InstanceId": "{instance}"}, run),
	refused("DescribeUserData", "unknown", "InvalidInstanceId.NotFound", goneNode),
	succeeds("DescribeInstanceRamRole", "one", params{"InstanceIds": `["` + node1 + `"]`}),
	refused("DescribeInstanceRamRole", "nobody", "MissingParameter", params{}),
	succeeds("DescribeInstanceMaintenanceAttributes", "one", params{"InstanceId.1": node1}),
	refused("DescribeInstanceMaintenanceAttributes", "bad-page", "InvalidPageSize", params{"PageSize": "0"}),
	succeeds("DescribeInstanceAttachmentAttributes", "one", params{"InstanceIds": `["` + node1 + `"]`}),
	refused("DescribeInstanceAttachmentAttributes", "no-json", "InvalidInstanceIds", params{"InstanceIds": node1}),

	succeeds("CreateNetworkInterface", "new", params{"VSwitchId": vsw1, "SecurityGroupId": group1, "NetworkInterfaceName": "new", "Description": "new interface",
		"ResourceGroupId": "rg-clbemu0second", "SourceDestCheck": "true", "SecondaryPrivateIpAddressCount": "1", "Tag.1.Key": "app", "Tag.1.Value": "web"}),
	refused("CreateNetworkInterface", "unknown-vswitch", "InvalidVSwitchId.NotFound", params{"VSwitchId": "vsw-gone", "SecurityGroupId": group1}),
	succeeds("AttachNetworkInterface", "available", params{"NetworkInterfaceId": freeENI, "InstanceId": node1}),
	refused("AttachNetworkInterface", "in-use", "InvalidOperation.InvalidEniState", params{"NetworkInterfaceId": attachedENI, "InstanceId": node1}),
	succeeds("DetachNetworkInterface", "in-use", params{"NetworkInterfaceId": attachedENI, "InstanceId": node1}),
	refused("DetachNetworkInterface", "primary", "InvalidOperation.InvalidEniType", params{"NetworkInterfaceId": eni1, "InstanceId": node1}),
	succeeds("DeleteNetworkInterface", "available", params{"NetworkInterfaceId": freeENI}),
	refused("DeleteNetworkInterface", "in-use", "InvalidOperation.InvalidEniState", params{"NetworkInterfaceId": attachedENI}),
	succeeds("AssignIpv6Addresses", "two", params{"NetworkInterfaceId": attachedENI, "Ipv6Address.1": "2001:db8:100:1::160", "Ipv6AddressCount": "1"}),
	refused("AssignIpv6Addresses", "taken", "InvalidPrivateIpAddress.Duplicated", params{"NetworkInterfaceId": attachedENI, "Ipv6Address.1": "2001:db8:100:1::11"}),
	succeeds("UnassignIpv6Addresses", "one", params{"NetworkInterfaceId": attachedENI, "Ipv6Address.1": "2001:db8:100:1::101"}),
	refused("UnassignIpv6Addresses", "not-assigned", "InvalidIp.IpUnassigned", params{"NetworkInterfaceId": attachedENI, "Ipv6Address.1": "2001:db8:100:1::9"}),
	succeeds("DescribeNetworkInterfaceAttribute", "all", params{"NetworkInterfaceId": attachedENI}),
	refused("DescribeNetworkInterfaceAttribute", "unknown", "InvalidEniId.NotFound", params{"NetworkInterfaceId": "eni-gone"}),
	succeeds("DescribeImageSupportInstanceTypes", "public", params{"ImageId": "ubuntu_22_04_x64_20G_alibase_20250722.vhd"}),
	refused("DescribeImageSupportInstanceTypes", "unknown", "InvalidImageId.NotFound", params{"ImageId": "m-gone"}),
	succeeds("AssignPrivateIpAddresses", "two", params{"NetworkInterfaceId": attachedENI, "PrivateIpAddress.1": "192.168.0.120", "SecondaryPrivateIpAddressCount": "1"}),
	refused("AssignPrivateIpAddresses", "taken", "InvalidPrivateIpAddress.Duplicated", params{"NetworkInterfaceId": attachedENI, "PrivateIpAddress.1": "192.168.0.12"}),
	succeeds("UnassignPrivateIpAddresses", "secondary", params{"NetworkInterfaceId": attachedENI, "PrivateIpAddress.1": "192.168.0.102"}),
	refused("UnassignPrivateIpAddresses", "primary", "InvalidOperation.PrimaryIp", params{"NetworkInterfaceId": attachedENI, "PrivateIpAddress.1": "192.168.0.101"}),
}

var (
	egressRule   = params{"SecurityGroupId": "{sg}", "Permissions.1.IpProtocol": "TCP", "Permissions.1.PortRange": "443/443", "Permissions.1.DestCidrIp": "10.0.0.0/8"}
	egressChange = params{"SecurityGroupId": "{sg}", "IpProtocol": "TCP", "PortRange": "443/443", "DestCidrIp": "10.0.0.0/8", "Description": "changed"}
	egressStep   = step{"Ecs", "AuthorizeSecurityGroupEgress", params{"SecurityGroupId": "{sg}", "Permissions.1.IpProtocol": "TCP",
		"Permissions.1.PortRange": "443/443", "Permissions.1.DestGroupId": group1}, nil}
	tagNode1 = params{"ResourceType": "instance", "ResourceId.1": node1, "Tag.1.Key": "app", "Tag.1.Value": "web"}
)

var ecsGroupCases = []apiCase{
	succeeds("AuthorizeSecurityGroupEgress", "one-rule", egressRule),
	refused("AuthorizeSecurityGroupEgress", "no-destination", "MissingParameter.Dest", more(egressRule, "Permissions.1.DestCidrIp", "")),
	succeeds("DescribeSecurityGroupAttribute", "egress", params{"SecurityGroupId": "{sg}", "Direction": "egress"}, egressStep),
	succeeds("ModifySecurityGroupEgressRule", "description", egressChange, step{"Ecs", "AuthorizeSecurityGroupEgress", egressRule, nil}),
	refused("ModifySecurityGroupEgressRule", "unknown", "InvalidSecurityGroupId.NotFound", more(egressChange, "SecurityGroupId", "sg-gone")),
	succeeds("RevokeSecurityGroupEgress", "one-rule", egressRule, step{"Ecs", "AuthorizeSecurityGroupEgress", egressRule, nil}),
	refused("RevokeSecurityGroupEgress", "unknown", "InvalidSecurityGroupId.NotFound", more(egressRule, "SecurityGroupId", "sg-gone")),
	succeeds("ModifySecurityGroupPolicy", "drop", params{"SecurityGroupId": "{sg}", "InnerAccessPolicy": "Drop"}),
	refused("ModifySecurityGroupPolicy", "unknown-policy", "InvalidPolicy.Malformed", params{"SecurityGroupId": "{sg}", "InnerAccessPolicy": "maybe"}),
	succeeds("TagResources", "instance", tagNode1),
	refused("TagResources", "unknown", "InvalidResourceId.NotFound", more(tagNode1, "ResourceId.1", "i-gone")),
	succeeds("UntagResources", "instance", params{"ResourceType": "instance", "ResourceId.1": node1, "TagKey.1": "ack.aliyun.com"}),
	refused("UntagResources", "unknown", "InvalidResourceId.NotFound", params{"ResourceType": "instance", "ResourceId.1": "i-gone", "All": "true"}),
	succeeds("ListTagResources", "group", params{"ResourceType": "securitygroup", "ResourceId.1": "{sg}"}),
	succeeds("DescribeTags", "all", params{}),
	succeeds("DescribeTags", "of-a-group", params{"ResourceType": "securitygroup", "ResourceId": "{sg}"}),
	refused("DescribeTags", "unknown-region", "InvalidRegionId.NotFound", params{"RegionId": "mars"}),
	refused("ListTagResources", "nothing", "MissingParameter.TagOwner", params{"ResourceType": "instance"}),
}

var underCustom = params{"RouteTableId": "{vtb}", "VSwitchId": vsw1}

var vpcModifyCases = []apiCase{
	succeeds("ModifyVpcAttribute", "name", params{"VpcId": "{vpc}", "VpcName": "renamed", "Description": "described"}),
	refused("ModifyVpcAttribute", "unknown", "InvalidVpcId.NotFound", params{"VpcId": "vpc-gone", "VpcName": "renamed"}),
	succeeds("ModifyVSwitchAttribute", "name", params{"VSwitchId": "{vsw}", "VSwitchName": "renamed"}),
	refused("ModifyVSwitchAttribute", "unknown", "InvalidVSwitchId.NotFound", params{"VSwitchId": "vsw-gone", "VSwitchName": "renamed"}),
	succeeds("ModifyRouteTableAttributes", "name", params{"RouteTableId": "{vtb}", "RouteTableName": "renamed"}),
	refused("ModifyRouteTableAttributes", "unknown", "InvalidRouteTableId.NotFound", params{"RouteTableId": "vtb-gone", "RouteTableName": "renamed"}),
	succeeds("ModifyEipAddressAttribute", "bandwidth", params{"AllocationId": "{eip}", "Bandwidth": "20", "Name": "renamed"}),
	refused("ModifyEipAddressAttribute", "unknown", "InvalidAllocationId.NotFound", params{"AllocationId": "eip-gone", "Name": "renamed"}),
	succeeds("DescribeRouteTables", "with-entries", params{"RouteTableId": vtb1}),
	refused("DescribeRouteTables", "bad-page", "InvalidPageSize", params{"PageSize": "0"}),
	succeeds("AssociateRouteTable", "custom", underCustom),
	refused("AssociateRouteTable", "system", "IncorrectRouteTableType.NotCustom", params{"RouteTableId": vtb1, "VSwitchId": vsw1}),
	succeeds("UnassociateRouteTable", "custom", underCustom, step{"Vpc", "AssociateRouteTable", underCustom, nil}),
	refused("UnassociateRouteTable", "not-associated", "IncorrectVSwitchStatus.NotAssociated", underCustom),
}
