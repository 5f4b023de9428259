package ecs_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/products/ecs"
)

// because gives the exceptions with a common beginning one reason.
func because(reason, begin string, ends ...string) map[string]string {
	exceptions := make(map[string]string, len(ends))
	for _, end := range ends {
		exceptions[begin+end] = reason
	}
	return exceptions
}

var exceptions = []map[string]string{
	because("the SDK's Tag serves all products: this one answers TagKey and TagValue",
		"DescribeInstances->Instances.Instance[].Tags.Tag[].", "Key", "Value", "ResourceTypeCount"),
	because("the SDK's Tag serves all products: this one answers TagKey and TagValue",
		"DescribeSecurityGroups->SecurityGroups.SecurityGroup[].Tags.Tag[].", "Key", "Value", "ResourceTypeCount"),
	because("the SDK's Tag serves all products: this one answers TagKey and TagValue",
		"DescribeNetworkInterfaces->NetworkInterfaceSets.NetworkInterfaceSet[].Tags.Tag[].", "Key", "Value", "ResourceTypeCount"),
	because("what it asks for is always answered", "DescribeInstances.", "AdditionalAttributes.N", "NeedSaleCycle"),
	because("the API takes it and does nothing with it", "DescribeInstances.",
		"DeviceAvailable", "HttpEndpoint", "HttpPutResponseHopLimit", "HttpTokens"),
	because("the SDK's Instance serves all actions: this one does not answer it", "DescribeInstances->Instances.Instance[].",
		"ActivationId", "AgentVersion", "CPU", "Connected", "CreditSpecification", "ImageOptions", "InternetIp", "IntranetIp",
		"InvocationCount", "IsSpot", "LastInvokedTime", "MachineId", "NetworkType", "OsType", "OsVersion", "PrivateDnsNameOptions",
		"PrivatePoolOptionsId", "PrivatePoolOptionsMatchCriteria", "RegistrationTime", "SocketId", "InstanceOwnerId"),
	because("instance types are listed by cores and memory alone", "DescribeInstances->Instances.Instance[].",
		"CpuOptions", "GPUAmount", "GPUSpec", "LocalStorageAmount", "LocalStorageCapacity"),
	because("no instance has one", "DescribeInstances->Instances.Instance[].",
		"AdditionalInfo", "AutoReleaseTime", "ClusterId", "DedicatedHostAttribute", "DedicatedInstanceAttribute", "DeploymentSetGroupNo",
		"DeploymentSetId", "EcsCapacityReservationAttr", "HibernationOptions", "HpcClusterId", "ISP", "KeyPairName", "RdmaIpAddress",
		"Recyclable", "SaleCycle", "SpotDuration", "SpotInterruptionBehavior", "SpotPriceLimit", "VlanId",
		"MetadataOptions.HttpPutResponseHopLimit"),
	because("DescribeNetworkInterfaces answers it", "DescribeInstances->Instances.Instance[].NetworkInterfaces.NetworkInterface[].",
		"DeleteOnRelease", "Description", "InstanceType", "NetworkInterfaceName", "NetworkInterfaceTrafficMode", "SecurityGroupId",
		"SecurityGroupIds", "VSwitchId"),
	because("the state keeps no prefixes and no DNS names", "DescribeInstances->Instances.Instance[].NetworkInterfaces.NetworkInterface[].",
		"Ipv4PrefixSets", "Ipv6PrefixSets", "PrivateIpSets.PrivateIpSet[].PrivateDnsName"),
	because("the state keeps no DNS names", "DescribeNetworkInterfaces->NetworkInterfaceSets.NetworkInterfaceSet[].",
		"PrivateIpSets.PrivateIpSet[].PrivateDnsName"),
	because("the state keeps where an interface is attached, not how", "DescribeNetworkInterfaces->NetworkInterfaceSets.NetworkInterfaceSet[].",
		"Attachment.AccessToken", "Attachment.AttachedTime", "Attachment.Device", "Attachment.DeviceIndex", "Attachment.Identifier",
		"Attachment.MemberNetworkInterfaceIds", "Attachment.NetworkCardIndex", "Attachment.Nguid", "Attachment.NsId",
		"Attachment.TargetDevice", "Attachment.TrunkNetworkInterfaceId", "QueueNumber", "QueuePairNumber", "ServiceID"),
	because("of a cloud product's groups, or of limits that the world does not have",
		"DescribeSecurityGroups->SecurityGroups.SecurityGroup[].", "AvailableInstanceAmount", "ServiceID"),
	because("it asks for what is answered anyway, or for lists that the world does not have", "DescribeSecurityGroupAttribute.", "Attribute"),
	because("there are no prefix lists and no groups of other accounts", "DescribeSecurityGroupAttribute->",
		"Permissions.Permission[].DestGroupOwnerAccount", "Permissions.Permission[].DestPrefixListId",
		"Permissions.Permission[].DestPrefixListName", "Permissions.Permission[].SourceGroupOwnerAccount",
		"Permissions.Permission[].SourcePrefixListName", "ReferencedInfo"),
}

// The action tables match the API's metadata, with known exceptions.
func TestActions(t *testing.T) {
	all := make(map[string]string)
	for _, group := range slices.Concat(exceptions, moreExceptions) {
		maps.Copy(all, group)
	}
	gatewaytest.MatchActions(t, ecs.Product(gateway.Deps{}), "testdata/actions.json", all)
}

// No fact of the package leaves as an InternalError.
func TestTagsNameRefusals(t *testing.T) { gatewaytest.MatchTags(t, ecs.Product(gateway.Deps{})) }
