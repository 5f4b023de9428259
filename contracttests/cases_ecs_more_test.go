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
		"ResourceGroupId": "rg-clbemu0second", "SecondaryPrivateIpAddressCount": "1", "Tag.1.Key": "app", "Tag.1.Value": "web"}),
	refused("CreateNetworkInterface", "unknown-vswitch", "InvalidVSwitchId.NotFound", params{"VSwitchId": "vsw-gone", "SecurityGroupId": group1}),
	succeeds("AttachNetworkInterface", "available", params{"NetworkInterfaceId": freeENI, "InstanceId": node1}),
	refused("AttachNetworkInterface", "in-use", "InvalidOperation.InvalidEniState", params{"NetworkInterfaceId": attachedENI, "InstanceId": node1}),
	succeeds("DetachNetworkInterface", "in-use", params{"NetworkInterfaceId": attachedENI, "InstanceId": node1}),
	refused("DetachNetworkInterface", "primary", "InvalidOperation.InvalidEniType", params{"NetworkInterfaceId": eni1, "InstanceId": node1}),
	succeeds("DeleteNetworkInterface", "available", params{"NetworkInterfaceId": freeENI}),
	refused("DeleteNetworkInterface", "in-use", "InvalidOperation.InvalidEniState", params{"NetworkInterfaceId": attachedENI}),
	succeeds("AssignPrivateIpAddresses", "two", params{"NetworkInterfaceId": attachedENI, "PrivateIpAddress.1": "192.168.0.120", "SecondaryPrivateIpAddressCount": "1"}),
	refused("AssignPrivateIpAddresses", "taken", "InvalidPrivateIpAddress.Duplicated", params{"NetworkInterfaceId": attachedENI, "PrivateIpAddress.1": "192.168.0.12"}),
	succeeds("UnassignPrivateIpAddresses", "secondary", params{"NetworkInterfaceId": attachedENI, "PrivateIpAddress.1": "192.168.0.102"}),
	refused("UnassignPrivateIpAddresses", "primary", "InvalidOperation.PrimaryIp", params{"NetworkInterfaceId": attachedENI, "PrivateIpAddress.1": "192.168.0.101"}),
}
