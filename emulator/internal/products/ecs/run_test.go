package ecs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/ecs"
	"github.com/clbemu/clbemu/state"
)

const imageID = "ubuntu_22_04_x64_20G_alibase_20250722.vhd"

var (
	newNode   = params{"InstanceType": "ecs.g7.large", "ImageId": imageID, "VSwitchId": vSwitchID, "SecurityGroupId": groupID}
	newEgress = params{"SecurityGroupId": groupID, "IpProtocol": "tcp", "PortRange": "443/443", "DestCidrIp": "10.0.0.0/8"}
	tagNode   = params{"ResourceType": "instance", "ResourceId.1": instanceID, "Tag.1.Key": "app", "Tag.1.Value": "web"}
	newENI    = params{"VSwitchId": vSwitchID, "SecurityGroupId": groupID}
	podsENI   = params{"NetworkInterfaceId": "eni-pods"}
	freeENI   = params{"NetworkInterfaceId": "eni-free", "InstanceId": instanceID}
)

// plantFree adds an interface that is on no instance, in a vSwitch of its own choice.
func plantFree(vpc, vSwitch, zone, block string) func(*state.Tx) error {
	return inOwner(func(tx *state.Tx) error {
		ip, err := kinds.AllocateAddress(tx, vSwitch, block, "", kinds.NetworkInterfaces.Kind(), "eni-free")
		if err != nil {
			return err
		}
		kinds.NetworkInterfaces.Put(tx, &kinds.NetworkInterface{Owner: owner, ID: "eni-free", Type: kinds.NetworkInterfaceSecondary,
			Status: kinds.NetworkInterfaceAvailable, VPCID: vpc, VSwitchID: vSwitch, ZoneID: zone, PrivateIPAddresses: []string{ip}})
		return nil
	})
}

var plantFreeHere = plantFree(vpcID, vSwitchID, "cn-hangzhou-h", "192.168.0.0/24")

// plantIPv6 gives the first vSwitch IPv6.
func plantIPv6(tx *state.Tx) error {
	return kinds.VSwitches.Edit(tx, vSwitchID, func(s *kinds.VSwitch) error {
		s.IPv6CIDRBlock = "2001:db8:8000:1::/64"
		return nil
	})
}

func plantFull(tx *state.Tx) error {
	sw, err := kinds.VSwitches.Get(tx.In(owner).View, vSwitchID)
	if err != nil {
		return err
	}
	return kinds.SetFreeAddresses(tx.In(owner), sw, 0)
}

func setStatus(status string) func(*state.Tx) error {
	return editInstance(func(i *kinds.Instance) { i.Status = status })
}

var runErrorCases = []gatewaytest.ErrorCase{
	{Name: "Generation", Action: "DescribeInstanceTypeFamilies", Params: params{"Generation": "ecs-9"}, Status: 400, Code: "InvalidParameter.Generation"},
	{Name: "Token", Action: "DescribeInstanceTypes", Params: params{"NextToken": "!"}, Status: 400, Code: "InValidParameter.NextToken"},
	{Name: "Owner", Action: "DescribeImages", Params: params{"ImageOwnerAlias": "moon"}, Status: 404, Code: "InvalidImageOwnerAlias.ValueNotSupported"},
	{Name: "Destination", Action: "DescribeAvailableResource", Params: params{"DestinationResource": "Moon"}, Status: 404, Code: "InvalidDestinationResource"},
	{Name: "Zone", Action: "DescribeAvailableResource", Params: params{"DestinationResource": "Zone", "ZoneId": "cn-hangzhou-x"}, Status: 404, Code: "InvalidZoneId.NotFound"},
	{Name: "NoType", Action: "RunInstances", Params: with(newNode, params{"InstanceType": ""}), Status: 400, Code: "MissingParameter"},
	{Name: "Type", Action: "RunInstances", Params: with(newNode, params{"InstanceType": "large"}), Status: 400, Code: "InvalidInstanceType.ValueNotSupported"},
	{Name: "NoImage", Action: "RunInstances", Params: with(newNode, params{"ImageId": ""}), Status: 400, Code: "MissingParameter"},
	{Name: "Image", Action: "RunInstances", Params: with(newNode, params{"ImageId": "m-none"}), Status: 404, Code: "InvalidImageId.NotFound"},
	{Name: "KeyPair", Action: "RunInstances", Params: with(newNode, params{"KeyPairName": "k"}), Status: 404, Code: "InvalidKeyPairName.NotFound"},
	{Name: "Template", Action: "RunInstances", Params: with(newNode, params{"LaunchTemplateId": "lt-1"}), Status: 404, Code: "InvalidLaunchTemplate.NotFound"},
	{Name: "Amount", Action: "RunInstances", Params: with(newNode, params{"Amount": "101"}), Status: 400, Code: "InvalidAmount.NotSupported"},
	{Name: "UserData", Action: "RunInstances", Params: with(newNode, params{"UserData": "#!"}), Status: 400, Code: "InvalidUserData.Base64FormatInvalid"},
	{Name: "Category", Action: "RunInstances", Params: with(newNode, params{"SystemDisk.Category": "floppy"}), Status: 400, Code: "InvalidSystemDiskCategory.ValueNotSupported"},
	{Name: "Size", Action: "RunInstances", Params: with(newNode, params{"SystemDisk.Size": "19"}), Status: 400, Code: "InvalidSystemDiskSize.ValueNotSupported"},
	{Name: "NoVSwitch", Action: "RunInstances", Params: with(newNode, params{"VSwitchId": ""}), Status: 400, Code: "MissingParameter"},
	{Name: "VSwitch", Action: "RunInstances", Params: with(newNode, params{"VSwitchId": "vsw-none"}), Status: 404, Code: "InvalidVSwitchId.NotFound"},
	{Name: "NoGroup", Action: "RunInstances", Params: with(newNode, params{"SecurityGroupId": ""}), Status: 400, Code: "MissingParameter"},
	{Name: "GroupOutside", Action: "RunInstances", Params: with(newNode, params{"SecurityGroupId": "sg-other"}), Status: 403, Code: "InvalidOperation.VpcMismatch"},
	{Name: "ResourceGroup", Action: "RunInstances", Params: with(newNode, params{"ResourceGroupId": "rg-none"}), Status: 404, Code: "InvalidResourceGroup.NotFound"},
	{Name: "Full", Action: "RunInstances", Params: newNode, Status: 403, Code: "InvalidVSwitchId.IpNotEnough", Plant: plantFull},
	{Name: "AddressOutside", Action: "RunInstances", Params: with(newNode, params{"PrivateIpAddress": "10.9.9.9"}), Status: 400, Code: "InvalidPrivateIpAddress.Malformed"},
	{Name: "AddressTaken", Action: "RunInstances", Params: with(newNode, params{"PrivateIpAddress": "192.168.0.11"}), Status: 403, Code: "InvalidPrivateIpAddress.Duplicated"},
	{Name: "DryRun", Action: "RunInstances", Params: with(newNode, params{"DryRun": "true"}), Status: 400, Code: "DryRunOperation"},
	{Name: "Running", Action: "StartInstance", Params: params{"InstanceId": instanceID}, Status: 403, Code: "IncorrectInstanceStatus"},
	{Name: "Stopped", Action: "StopInstance", Params: params{"InstanceId": instanceID}, Status: 403, Code: "IncorrectInstanceStatus", Plant: setStatus(kinds.InstanceStopped)},
	{Name: "Stopped", Action: "RebootInstance", Params: params{"InstanceId": instanceID}, Status: 403, Code: "IncorrectInstanceStatus", Plant: setStatus(kinds.InstanceStopped)},
	{Name: "OneRunning", Action: "StartInstances", Params: params{"InstanceId.1": instanceID, "InstanceId.2": secondID}, Status: 403, Code: "IncorrectInstanceStatus", Plant: setStatus(kinds.InstanceStopped)},
	{Name: "OneRunning", Action: "DeleteInstances", Params: params{"InstanceId.1": instanceID, "InstanceId.2": secondID}, Status: 403, Code: "IncorrectInstanceStatus", Plant: setStatus(kinds.InstanceStopped)},
	{Name: "UserDataRunning", Action: "ModifyInstanceAttribute", Params: params{"InstanceId": instanceID, "UserData": "eA=="}, Status: 403, Code: "IncorrectInstanceStatus"},
	{Name: "NoIds", Action: "DescribeInstanceRamRole", Params: params{}, Status: 400, Code: "MissingParameter"},
	{Name: "NoGroup", Action: "CreateNetworkInterface", Params: params{"VSwitchId": vSwitchID}, Status: 400, Code: "MissingParameter"},
	{Name: "InUse", Action: "AttachNetworkInterface", Params: with(podsENI, params{"InstanceId": secondID}), Status: 403, Code: "InvalidOperation.InvalidEniState"},
	{Name: "Starting", Action: "AttachNetworkInterface", Params: freeENI, Status: 403, Code: "InvalidOperation.InvalidEcsState",
		Plant: inOwner(plantFreeHere, setStatus(kinds.InstanceStarting))},
	{Name: "OtherZone", Action: "AttachNetworkInterface", Params: freeENI, Status: 403, Code: "InvalidOperation.AvailabilityZoneMismatch",
		Plant: plantFree(vpcID, "vsw-bp1clbemu000000000002", "cn-hangzhou-i", "192.168.1.0/24")},
	{Name: "OtherVPC", Action: "AttachNetworkInterface", Params: freeENI, Status: 403, Code: "InvalidOperation.VpcMismatch",
		Plant: plantFree(otherVPCID, "vsw-bp1clbemu000000000003", "cn-hangzhou-h", "10.0.0.0/24")},
	{Name: "TooMany", Action: "AttachNetworkInterface", Params: freeENI, Status: 403, Code: "EniPerInstanceLimitExceeded", Plant: inOwner(plantFreeHere, func(tx *state.Tx) error {
		kinds.NetworkInterfaces.Put(tx, &kinds.NetworkInterface{Owner: owner, ID: "eni-third", Type: kinds.NetworkInterfaceSecondary,
			Status: kinds.NetworkInterfaceInUse, InstanceID: instanceID, VPCID: vpcID, VSwitchID: vSwitchID})
		return nil
	})},
	{Name: "Primary", Action: "DetachNetworkInterface", Params: params{"NetworkInterfaceId": eniID, "InstanceId": instanceID}, Status: 403, Code: "InvalidOperation.InvalidEniType"},
	{Name: "OtherInstance", Action: "DetachNetworkInterface", Params: with(podsENI, params{"InstanceId": secondID}), Status: 403, Code: "InvalidOperation.InvalidEniState"},
	{Name: "InUse", Action: "DeleteNetworkInterface", Params: podsENI, Status: 403, Code: "InvalidOperation.InvalidEniState"},
	{Name: "None", Action: "AssignIpv6Addresses", Params: podsENI, Status: 400, Code: "MissingParameter"},
	{Name: "NoIPv6", Action: "AssignIpv6Addresses", Params: with(podsENI, params{"Ipv6AddressCount": "1"}), Status: 400, Code: "InvalidVSwitch.Ipv6NotTurnOn"},
	{Name: "TooMany", Action: "AssignIpv6Addresses", Params: with(podsENI, params{"Ipv6AddressCount": "7"}), Plant: plantIPv6, Status: 403, Code: "InvalidOperation.Ipv6CountExceeded"},
	{Name: "Outside", Action: "AssignIpv6Addresses", Params: with(podsENI, params{"Ipv6Address.1": "2001:db8:9::9"}), Plant: plantIPv6, Status: 400, Code: "InvalidPrivateIpAddress.Malformed"},
	{Name: "Twice", Action: "AssignIpv6Addresses", Params: with(podsENI, params{"Ipv6Address.1": "2001:db8:8000:1::9", "Ipv6Address.2": "2001:db8:8000:1:0::9"}), Plant: plantIPv6, Status: 403, Code: "InvalidPrivateIpAddress.Duplicated"},
	{Name: "Unknown", Action: "AssignIpv6Addresses", Params: params{"NetworkInterfaceId": "eni-none", "Ipv6AddressCount": "1"}, Status: 404, Code: "InvalidEniId.NotFound"},
	{Name: "None", Action: "UnassignIpv6Addresses", Params: podsENI, Status: 400, Code: "MissingParameter"},
	{Name: "NotAssigned", Action: "UnassignIpv6Addresses", Params: with(podsENI, params{"Ipv6Address.1": "2001:db8:8000:1::9"}), Status: 403, Code: "InvalidIp.IpUnassigned"},
	{Name: "Unknown", Action: "DescribeNetworkInterfaceAttribute", Params: params{"NetworkInterfaceId": "eni-none"}, Status: 404, Code: "InvalidEniId.NotFound"},
	{Name: "Unknown", Action: "DescribeImageSupportInstanceTypes", Params: params{"ImageId": "m-none"}, Status: 404, Code: "InvalidImageId.NotFound"},
	{Name: "None", Action: "AssignPrivateIpAddresses", Params: podsENI, Status: 400, Code: "MissingParameter"},
	{Name: "TooMany", Action: "AssignPrivateIpAddresses", Params: with(podsENI, params{"SecondaryPrivateIpAddressCount": "5"}), Status: 403, Code: "InvalidOperation.Ipv4CountExceeded"},
	{Name: "NoDest", Action: "AuthorizeSecurityGroupEgress", Params: with(newRule, params{}), Status: 400, Code: "MissingParameter.Dest"},
	{Name: "PrefixList", Action: "AuthorizeSecurityGroupEgress", Params: with(newEgress, params{"DestPrefixListId": "pl-1"}), Status: 404, Code: "InvalidPrefixListId.NotFound"},
	{Name: "Dest", Action: "AuthorizeSecurityGroupEgress", Params: with(newEgress, params{"DestCidrIp": "x"}), Status: 400, Code: "InvalidParam.DestCidrIp"},
	{Name: "Group", Action: "AuthorizeSecurityGroupEgress", Params: with(newEgress, params{"DestCidrIp": "", "DestGroupId": "sg-none"}), Status: 404, Code: "InvalidSourceGroupId.NotFound"},
	{Name: "ID", Action: "RevokeSecurityGroupEgress", Params: params{"SecurityGroupId": groupID, "SecurityGroupRuleId.1": "sgr-none"}, Status: 404, Code: "InvalidSecurityGroupRuleId.NotFound"},
	{Name: "Policy", Action: "ModifySecurityGroupPolicy", Params: with(group, params{"InnerAccessPolicy": "maybe"}), Status: 400, Code: "InvalidPolicy.Malformed"},
	{Name: "Enterprise", Action: "ModifySecurityGroupPolicy", Params: params{"SecurityGroupId": "sg-enterprise", "InnerAccessPolicy": "Drop"}, Status: 400, Code: "InvalidGroupParameter.OperationDenied"},
	{Name: "Type", Action: "TagResources", Params: with(tagNode, params{"ResourceType": "moon"}), Status: 404, Code: "InvalidResourceType.NotFound"},
	{Name: "Unknown", Action: "TagResources", Params: with(tagNode, params{"ResourceId.1": "i-none"}), Status: 404, Code: "InvalidResourceId.NotFound"},
	{Name: "NoTags", Action: "TagResources", Params: with(tagNode, params{"Tag.1.Key": "", "Tag.1.Value": ""}), Status: 400, Code: "MissingParameter.TagKey"},
	{Name: "TooMany", Action: "TagResources", Params: with(tagNode, tags(20)), Status: 400, Code: "QuotaExceeded.TagNumPerResource"},
	{Name: "Nothing", Action: "ListTagResources", Params: params{"ResourceType": "instance"}, Status: 400, Code: "MissingParameter.TagOwner"},
	{Name: "Token", Action: "ListTagResources", Params: params{"ResourceType": "instance", "ResourceId.1": instanceID, "NextToken": "!"}, Status: 400, Code: "InValidParameter.NextToken"},
	{Name: "None", Action: "UnassignPrivateIpAddresses", Params: podsENI, Status: 400, Code: "MissingParameter"},
	{Name: "NotAssigned", Action: "UnassignPrivateIpAddresses", Params: with(podsENI, params{"PrivateIpAddress.1": "192.168.0.77"}), Status: 403, Code: "InvalidIp.IpUnassigned"},
	{Name: "Primary", Action: "UnassignPrivateIpAddresses", Params: with(podsENI, params{"PrivateIpAddress.1": "192.168.0.100"}), Status: 403, Code: "InvalidOperation.PrimaryIp"},
}

// clocked returns a client with the clock of its store, in which stages take their time.
func clocked(t *testing.T) (*gatewaytest.Client, *state.ManualClock) {
	t.Helper()
	clock := state.NewManualClock(gatewaytest.Start)
	store := gatewaytest.StoreAt(t, clock, plantWorld, func(tx *state.Tx) error {
		state.LifeCycles.Put(tx, &state.LifeCycle{ID: state.LifeCycleID, Profile: state.LifeRealistic})
		return nil
	})
	return gatewaytest.NewClient(t, store, ecs.Product(gateway.Deps{})), clock
}

// An instance begins with its interfaces, disks, address and tags, runs after a
// while, takes a stop, changes and a start, and goes with all its own resources.
func TestInstanceLife(t *testing.T) {
	c, clock := clocked(t)
	made := c.Do("RunInstances", with(newNode, params{"Amount": "2", "InstanceName": "web", "UniqueSuffix": "true", "ClientToken": "t",
		"InternetMaxBandwidthOut": "5", "UserData": "eA==", "RamRoleName": "node", "Tag.1.Key": "app", "Tag.1.Value": "web",
		"DataDisk.1.Size": "100", "NetworkInterface.1.VSwitchId": vSwitchID, "NetworkInterface.1.SecurityGroupId": groupID}))
	if made.Len("InstanceIdSets.InstanceIdSet") != 2 {
		t.Fatalf("RunInstances = %v, want two instances", made.Body)
	}
	id := made.Text("InstanceIdSets.InstanceIdSet.0")
	one := params{"InstanceIds": `["` + id + `"]`}
	status := func(want string) {
		t.Helper()
		if got := c.Do("DescribeInstanceStatus", params{"InstanceId.1": id}).Text("InstanceStatuses.InstanceStatus.0.Status"); got != want {
			t.Errorf("the instance is %q, want %q", got, want)
		}
	}
	status(kinds.InstancePending)
	clock.Advance(time.Minute)
	gatewaytest.Expect(t, c.Do("DescribeInstances", one), map[string]string{
		"Instances.Instance.0.Status": kinds.InstanceRunning, "Instances.Instance.0.Cpu": "2", "Instances.Instance.0.Memory": "8192",
		"Instances.Instance.0.OSNameEn": "Ubuntu  22.04 64 bit", "Instances.Instance.0.Tags.Tag.0.TagKey": "app",
		"Instances.Instance.0.SecurityGroupIds.SecurityGroupId.0": groupID, "Instances.Instance.0.InternetMaxBandwidthOut": "5",
	})
	if got := c.Do("DescribeInstances", one); got.Len("Instances.Instance.0.NetworkInterfaces.NetworkInterface") != 2 || got.Len("Instances.Instance.0.PublicIpAddress.IpAddress") != 1 {
		t.Errorf("the instance is %v, want two interfaces and a public address", got.Body)
	}
	if got := c.Do("DescribeDisks", params{"InstanceId": id}); got.Len("Disks.Disk") != 2 {
		t.Errorf("the disks are %v", got.Body)
	}
	gatewaytest.Expect(t, c.Do("DescribeDisks", params{"InstanceId": id, "DiskType": "system"}), map[string]string{
		"TotalCount": "1", "Disks.Disk.0.Size": "40", "Disks.Disk.0.PerformanceLevel": "PL1", "Disks.Disk.0.ImageId": imageID})
	c.Do("StopInstance", params{"InstanceId": id, "StoppedMode": "StopCharging"})
	status(kinds.InstanceStopping)
	clock.Advance(time.Minute)
	status(kinds.InstanceStopped)
	c.Do("ModifyInstanceAttribute", params{"InstanceId": id, "InstanceName": "api", "UserData": "eQ==", "DeletionProtection": "true", "SecurityGroupIds.1": "sg-second"})
	gatewaytest.Expect(t, c.Do("DescribeInstanceAttribute", params{"InstanceId": id}), map[string]string{"InstanceName": "api", "StoppedMode": "StopCharging",
		"SecurityGroupIds.SecurityGroupId.0": "sg-second", "Cpu": "2", "ImageId": imageID})
	if got := c.Do("DescribeUserData", params{"InstanceId": id}).Text("UserData"); got != "eQ==" {
		t.Errorf("the user data are %q", got)
	}
	if got := c.Call("DeleteInstance", params{"InstanceId": id, "Force": "true"}).Code; got != "InvalidOperation.DeletionProtection" {
		t.Errorf("deletion of a protected instance = %q", got)
	}
	c.Do("ModifyInstanceAttribute", params{"InstanceId": id, "DeletionProtection": "false"})
	c.Do("StartInstance", params{"InstanceId": id})
	status(kinds.InstanceStarting)
	clock.Advance(time.Minute)
	c.Do("RebootInstance", params{"InstanceId": id})
	status(kinds.InstanceStarting)
	c.Do("DeleteInstances", params{"InstanceId.1": id, "Force": "true"})
	if got := c.Do("DescribeInstances", one); got.Len("Instances.Instance") != 0 {
		t.Errorf("the instance is still there: %v", got.Body)
	}
}

// A repeated token makes no more instances, and answers the ones of the first call.
func TestRunInstancesToken(t *testing.T) {
	c := newClient(t)
	p := with(newNode, params{"Amount": "3", "ClientToken": "t"})
	first, again := c.Do("RunInstances", p), c.Do("RunInstances", p)
	if fmt.Sprint(first.Get("InstanceIdSets")) != fmt.Sprint(again.Get("InstanceIdSets")) || first.Len("InstanceIdSets.InstanceIdSet") != 3 {
		t.Errorf("RunInstances = %v, then %v", first.Body, again.Body)
	}
}

// Several instances stop together, and all of them or none.
func TestStopInstances(t *testing.T) {
	c, clock := clocked(t)
	both := params{"InstanceId.1": instanceID, "InstanceId.2": secondID}
	if got := c.Do("StopInstances", both); got.Len("InstanceResponses.InstanceResponse") != 2 || got.Text("InstanceResponses.InstanceResponse.0.CurrentStatus") != kinds.InstanceStopping {
		t.Errorf("StopInstances = %v", got.Body)
	}
	clock.Advance(time.Minute)
	c.Do("StartInstance", params{"InstanceId": secondID})
	clock.Advance(time.Minute)
	if got := c.Call("StartInstances", both).Code; got != "IncorrectInstanceStatus" {
		t.Errorf("StartInstances with one that runs = %q", got)
	}
	if got := c.Do("DescribeInstanceStatus", params{"InstanceId.1": instanceID}).Text("InstanceStatuses.InstanceStatus.0.Status"); got != kinds.InstanceStopped {
		t.Errorf("the other is %q, want it stopped", got)
	}
}

// Clients make, attach and address an interface, and delete a detached one.
func TestNetworkInterfaceLife(t *testing.T) {
	c := newClient(t)
	made := c.Do("CreateNetworkInterface", with(newENI, params{"PrimaryIpAddress": "192.168.0.60", "SecondaryPrivateIpAddressCount": "1",
		"NetworkInterfaceName": "pods-2", "Tag.1.Key": "app"}))
	id := made.Text("NetworkInterfaceId")
	gatewaytest.Expect(t, made, map[string]string{"PrivateIpAddress": "192.168.0.60", "Status": "Available", "SourceDestCheck": "false", "Tags.Tag.0.TagKey": "app"})
	c.Do("AttachNetworkInterface", params{"NetworkInterfaceId": id, "InstanceId": secondID})
	got := c.Do("AssignPrivateIpAddresses", params{"NetworkInterfaceId": id, "PrivateIpAddress.1": "192.168.0.61", "SecondaryPrivateIpAddressCount": "1"})
	if got.Len("AssignedPrivateIpAddressesSet.PrivateIpSet.PrivateIpAddress") != 2 {
		t.Errorf("AssignPrivateIpAddresses = %v", got.Body)
	}
	c.Do("UnassignPrivateIpAddresses", params{"NetworkInterfaceId": id, "PrivateIpAddress.1": "192.168.0.61"})
	c.Do("AssignPrivateIpAddresses", params{"NetworkInterfaceId": id, "PrivateIpAddress.1": "192.168.0.61"}) // it is free again
	shown := c.Do("DescribeNetworkInterfaces", params{"NetworkInterfaceId.1": id})
	gatewaytest.Expect(t, shown, map[string]string{"NetworkInterfaceSets.NetworkInterfaceSet.0.InstanceId": secondID, "NetworkInterfaceSets.NetworkInterfaceSet.0.Status": "InUse"})
	if n := shown.Len("NetworkInterfaceSets.NetworkInterfaceSet.0.PrivateIpSets.PrivateIpSet"); n != 4 {
		t.Errorf("the interface has %d addresses, want 4: %v", n, shown.Body)
	}
	c.Do("DetachNetworkInterface", params{"NetworkInterfaceId": id, "InstanceId": secondID})
	c.Do("DeleteNetworkInterface", params{"NetworkInterfaceId": id})
	c.Do("RunInstances", with(newNode, params{"PrivateIpAddress": "192.168.0.60"})) // it is free again
}

// Every filter lists what is on sale.
func TestCatalogues(t *testing.T) {
	c := newClient(t)
	for _, f := range []struct {
		action string
		params params
		list   string
		want   int
	}{
		{"DescribeRegions", params{}, "Regions.Region", 16},
		{"DescribeZones", params{}, "Zones.Zone", 5},
		{"DescribeInstanceTypes", params{}, "InstanceTypes.InstanceType", 210},
		{"DescribeInstanceTypes", params{"InstanceTypes.1": "ecs.g7.large"}, "InstanceTypes.InstanceType", 1},
		{"DescribeInstanceTypes", params{"InstanceTypeFamily": "ecs.c7"}, "InstanceTypes.InstanceType", 7},
		{"DescribeInstanceTypes", params{"MinimumCpuCoreCount": "16", "MaximumCpuCoreCount": "16"}, "InstanceTypes.InstanceType", 27},
		{"DescribeInstanceTypes", params{"CpuArchitecture": "ARM"}, "InstanceTypes.InstanceType", 35},
		{"DescribeInstanceTypes", params{"MaxResults": "7"}, "InstanceTypes.InstanceType", 7},
		{"DescribeInstanceTypeFamilies", params{"Generation": "ecs-5"}, "InstanceTypeFamilies.InstanceTypeFamily", 22},
		{"DescribeInstanceTypeFamilies", params{"Generation": "ecs-1"}, "InstanceTypeFamilies.InstanceTypeFamily", 0},
		{"DescribeImages", params{}, "Images.Image", 4},
		{"DescribeImages", params{"ImageOwnerAlias": "system", "OSType": "linux", "ImageName": "ubuntu*"}, "Images.Image", 1},
		{"DescribeImages", params{"ImageOwnerAlias": "self"}, "Images.Image", 0},
		{"DescribeImages", params{"ImageId": imageID + ",m-none"}, "Images.Image", 1},
		{"DescribeAvailableResource", params{"DestinationResource": "InstanceType"}, "AvailableZones.AvailableZone", 5},
		{"DescribeAvailableResource", params{"DestinationResource": "InstanceType", "Cores": "4", "ZoneId": "cn-hangzhou-h"},
			"AvailableZones.AvailableZone.0.AvailableResources.AvailableResource.0.SupportedResources.SupportedResource", 33},
		{"DescribeAvailableResource", params{"DestinationResource": "SystemDisk", "InstanceType": "ecs.g7.large"},
			"AvailableZones.AvailableZone.0.AvailableResources.AvailableResource.0.SupportedResources.SupportedResource", 4},
		{"DescribeAvailableResource", params{"DestinationResource": "InstanceType", "InstanceType": "ecs.x1.huge"}, "AvailableZones.AvailableZone", 0},
		{"DescribeAvailableResource", params{"DestinationResource": "Network", "NetworkCategory": "classic"}, "AvailableZones.AvailableZone", 0},
		{"DescribeInstanceRamRole", params{"RamRoleName": "clbemu-node"}, "InstanceRamRoleSets.InstanceRamRoleSet", 3},
		{"DescribeInstanceMaintenanceAttributes", params{"InstanceId.1": instanceID}, "MaintenanceAttributes.MaintenanceAttribute", 1},
		{"DescribeInstanceAttachmentAttributes", params{"InstanceIds": `["` + instanceID + `"]`}, "Instances.Instance", 1},
		{"DescribeDisks", params{}, "Disks.Disk", 4},
		{"DescribeDisks", params{"InstanceId": instanceID, "DiskType": "system"}, "Disks.Disk", 1},
		{"DescribeDisks", params{"InstanceId": instanceID, "DiskType": "data"}, "Disks.Disk", 0},
	} {
		if got := c.Do(f.action, f.params).Len(f.list); got != f.want {
			t.Errorf("%s(%v) = %d of %s, want %d", f.action, f.params, got, f.list, f.want)
		}
	}
	page := c.Do("DescribeInstanceTypes", params{"MaxResults": "200"})
	rest := c.Do("DescribeInstanceTypes", params{"MaxResults": "200", "NextToken": page.Text("NextToken")})
	if rest.Len("InstanceTypes.InstanceType") != 10 || strings.Contains(fmt.Sprint(rest.Body), page.Text("InstanceTypes.InstanceType.0.InstanceTypeId")+" ") {
		t.Errorf("the rest of the types is %v", rest.Body)
	}
}

// Rules for what goes out stand next to those for what comes in, and go by what they
// do or by id.
func TestEgress(t *testing.T) {
	c := newClient(t)
	c.Do("AuthorizeSecurityGroup", newRule)
	c.Do("AuthorizeSecurityGroupEgress", newEgress)
	c.Do("AuthorizeSecurityGroupEgress", newEgress) // again is no error
	c.Do("AuthorizeSecurityGroupEgress", with(newEgress, params{"DestCidrIp": "", "DestGroupId": "sg-second", "Policy": "drop"}))
	out := func() gatewaytest.Reply {
		return c.Do("DescribeSecurityGroupAttribute", with(group, params{"Direction": "egress"}))
	}
	if got := out(); got.Len("Permissions.Permission") != 2 {
		t.Fatalf("the rules are %v, want two", got.Body)
	}
	c.Do("RevokeSecurityGroupEgress", newEgress)
	got := out()
	gatewaytest.Expect(t, got, map[string]string{"Permissions.Permission.0.DestGroupId": "sg-second", "Permissions.Permission.0.DestGroupName": "sg-second",
		"Permissions.Permission.0.Direction": "egress", "Permissions.Permission.0.Policy": "Drop", "Permissions.Permission.0.SourceCidrIp": ""})
	id := got.Text("Permissions.Permission.0.SecurityGroupRuleId")
	if code := c.Call("ModifySecurityGroupRule", params{"SecurityGroupId": groupID, "SecurityGroupRuleId": id, "Description": "x"}).Code; code != "InvalidSecurityGroupRuleId.NotFound" {
		t.Errorf("ModifySecurityGroupRule of a rule for what goes out = %q", code)
	}
	c.Do("ModifySecurityGroupEgressRule", with(group, params{"SecurityGroupRuleId": id, "Description": "by id", "DestCidrIp": "10.0.0.0/8"}))
	gatewaytest.Expect(t, out(), map[string]string{"Permissions.Permission.0.Description": "by id", "Permissions.Permission.0.DestCidrIp": "10.0.0.0/8",
		"Permissions.Permission.0.DestGroupId": "", "Permissions.Permission.0.Policy": "Drop", "Permissions.Permission.0.SecurityGroupRuleId": id})
	c.Do("ModifySecurityGroupEgressRule", with(newEgress, params{"DestCidrIp": "10.0.0.0/8", "Policy": "drop", "Description": "by what it does"}))
	gatewaytest.Expect(t, out(), map[string]string{"Permissions.Permission.0.Description": "by what it does", "Permissions.Permission.0.SecurityGroupRuleId": id})
	for want, p := range map[string]params{
		"InvalidSecurityGroupRuleId.NotFound": {"SecurityGroupRuleId": "sgr-none", "Description": "x"}, "MissingParameter.Dest": {"IpProtocol": "TCP"},
		"InvalidParam.InvalidModifyRuleRequest": {"SecurityGroupRuleId": id}, "SecurityGroupRule.NotFound": with(newEgress, params{"PortRange": "1/1"}),
		"InvalidSourceGroupId.NotFound": {"SecurityGroupRuleId": id, "DestGroupId": "sg-none"},
	} {
		if code := c.Call("ModifySecurityGroupEgressRule", with(group, p)).Code; code != want {
			t.Errorf("ModifySecurityGroupEgressRule(%v) = %q, want %s", p, code, want)
		}
	}
	c.Do("RevokeSecurityGroupEgress", with(group, params{"SecurityGroupRuleId.1": id}))
	if got := c.Do("DescribeSecurityGroupAttribute", group); got.Len("Permissions.Permission") != 1 {
		t.Errorf("the rules are %v, want the one for what comes in", got.Body)
	}
	c.Do("ModifySecurityGroupPolicy", with(group, params{"InnerAccessPolicy": "drop"}))
	gatewaytest.Expect(t, c.Do("DescribeSecurityGroupAttribute", group), map[string]string{"InnerAccessPolicy": "Drop"})
}

// The tags of instances, interfaces and groups are those of their creation, and
// more.
func TestTagResources(t *testing.T) {
	c := newClient(t)
	for kind, id := range map[string]string{"instance": instanceID, "eni": eniID, "securitygroup": groupID} {
		p := params{"ResourceType": kind, "ResourceId.1": id}
		c.Do("TagResources", with(p, params{"Tag.1.Key": "app", "Tag.1.Value": "web", "Tag.2.Key": "tier"}))
		list := func(more params) int { return c.Do("ListTagResources", with(p, more)).Len("TagResources.TagResource") }
		had := list(params{}) - 2
		if had != map[string]int{"instance": 1}[kind] {
			t.Errorf("%s had %d tags", id, had)
		}
		if got := list(params{"ResourceId.1": "", "Tag.1.Key": "app", "Tag.1.Value": "web"}); got != 2+had {
			t.Errorf("%s is not found by a tag: %d", id, got)
		}
		c.Do("UntagResources", with(p, params{"TagKey.1": "app"}))
		if got := list(params{}); got != 1+had {
			t.Errorf("%s has %d tags, want %d", id, got, 1+had)
		}
		c.Do("UntagResources", with(p, params{"All": "true"}))
		if got := list(params{}); got != 0 {
			t.Errorf("%s has %d tags, want none", id, got)
		}
	}
}

// The types that examples name are on sale, with the cores and memory that they have.
func TestInstanceTypes(t *testing.T) {
	c := newClient(t)
	for id, want := range map[string][2]string{
		"ecs.sn1ne.large": {"2", "4"}, "ecs.n4.large": {"2", "4"}, "ecs.t5-lc1m1.small": {"1", "1"}, "ecs.t6-c1m2.large": {"2", "4"},
		"ecs.s6-c1m2.small": {"1", "2"}, "ecs.c5.xlarge": {"4", "8"}, "ecs.g5.large": {"2", "8"}, "ecs.c6.large": {"2", "4"},
		"ecs.r6.large": {"2", "16"}, "ecs.g7.xlarge": {"4", "16"}, "ecs.r8i.large": {"2", "16"}, "ecs.c8y.large": {"2", "4"},
	} {
		got := c.Do("DescribeInstanceTypes", params{"InstanceTypes.1": id})
		if has := [2]string{got.Text("InstanceTypes.InstanceType.0.CpuCoreCount"), got.Text("InstanceTypes.InstanceType.0.MemorySize")}; has != want {
			t.Errorf("%s has cores and memory %q, want %q", id, has, want)
		}
	}
}

// Interfaces have IPv6 addresses from the start or later, and share none.
func TestIPv6Addresses(t *testing.T) {
	c := newClient(t, plantIPv6)
	const named = "2001:db8:8000:1::60"
	id := c.Do("CreateNetworkInterface", with(newENI, params{"Ipv6Address.1": named, "Ipv6AddressCount": "1"})).Text("NetworkInterfaceId")
	of := params{"NetworkInterfaceId": id}
	if taken := c.Call("AssignIpv6Addresses", with(podsENI, params{"Ipv6Address.1": named})); taken.Code != "InvalidPrivateIpAddress.Duplicated" {
		t.Errorf("AssignIpv6Addresses of another's = %d %s", taken.Status, taken.Code)
	}
	added := with(of, params{"Ipv6AddressCount": "2", "ClientToken": "once"})
	if got := c.Do("AssignIpv6Addresses", added); got.Len("Ipv6Sets.Ipv6Address") != 2 || got.Text("NetworkInterfaceId") != id {
		t.Errorf("AssignIpv6Addresses = %v, want two addresses", got.Body)
	}
	c.Do("AssignIpv6Addresses", added)
	shown := c.Do("DescribeNetworkInterfaceAttribute", of)
	gatewaytest.Expect(t, shown, map[string]string{"NetworkInterfaceId": id, "Ipv6Sets.Ipv6Set.0.Ipv6Address": named, "Type": "Secondary", "Status": "Available"})
	if n := shown.Len("Ipv6Sets.Ipv6Set"); n != 4 {
		t.Errorf("the interface has %d IPv6 addresses, want 4: %v", n, shown.Body)
	}
	c.Do("UnassignIpv6Addresses", with(of, params{"Ipv6Address.1": named}))
	c.Do("AssignIpv6Addresses", with(podsENI, params{"Ipv6Address.1": named}))
	node := c.Do("RunInstances", with(newNode, params{"Ipv6AddressCount": "1"})).Text("InstanceIdSets.InstanceIdSet.0")
	if got := c.Do("DescribeInstances", params{"InstanceIds": `["` + node + `"]`}); got.Len("Instances.Instance.0.NetworkInterfaces.NetworkInterface.0.Ipv6Sets.Ipv6Set") != 1 {
		t.Errorf("DescribeInstances = %v, want an IPv6 address", got.Body)
	}
}

// An image's types have its architecture.
func TestImageSupportInstanceTypes(t *testing.T) {
	got := newClient(t).Do("DescribeImageSupportInstanceTypes", params{"ImageId": imageID})
	gatewaytest.Expect(t, got, map[string]string{"ImageId": imageID, "RegionId": "cn-hangzhou"})
	if n := got.Len("InstanceTypes.InstanceType"); n != 210-35 {
		t.Errorf("%d types are for the image, want all that are not ARM", n)
	}
}
