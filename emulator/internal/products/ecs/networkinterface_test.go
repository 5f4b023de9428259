package ecs_test

import (
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/ecs"
	"github.com/clbemu/clbemu/state"
)

// Each filter of DescribeNetworkInterfaces selects.
func TestDescribeNetworkInterfaces(t *testing.T) {
	c := newClient(t, inOwner(func(tx *state.Tx) error {
		state.SetTag(tx, kinds.TagNetworkInterface, "eni-pods", "team", "net")
		return nil
	}))
	for _, f := range []struct {
		name   string
		params params
		want   int
	}{
		{"All", params{}, 5},
		{"PodsOfCCM", params{"VpcId": vpcID, "Status": "InUse", "PrivateIpAddress.1": "192.168.0.101", "PrivateIpAddress.2": "192.168.0.100", "MaxResults": "100"}, 1},
		{"OtherVPC", params{"VpcId": otherVPCID, "PrivateIpAddress.1": "192.168.0.101"}, 0},
		{"AddressAlone", params{"PrivateIpAddress.1": "192.168.0.101", "PrivateIpAddress.2": "10.0.0.11"}, 2},
		{"IPv6", params{"VpcId": vpcID, "Ipv6Address.1": "2001:db8::100"}, 1},
		{"IDs", params{"NetworkInterfaceId.1": eniID, "NetworkInterfaceId.2": "eni-none"}, 1},
		{"Instance", params{"InstanceId": instanceID}, 2},
		{"Primary", params{"InstanceId": instanceID, "Type": "Primary"}, 1},
		{"VSwitch", params{"VSwitchId": vSwitchID}, 3},
		{"PrimaryAddress", params{"PrimaryIpAddress": "192.168.0.101"}, 0},
		{"Name", params{"NetworkInterfaceName": "pods"}, 1},
		{"Group", params{"SecurityGroupId": groupID}, 4},
		{"Available", params{"Status": "Available"}, 0},
		{"NoTag", params{"Tag.1.Key": "x"}, 0},
		{"Tag", params{"Tag.1.Key": "team"}, 1},
		{"TagValue", params{"Tag.1.Key": "team", "Tag.1.Value": "net", "InstanceId": instanceID}, 1},
		{"OtherTagValue", params{"Tag.1.Key": "team", "Tag.1.Value": "ops"}, 0},
		{"ServiceManaged", params{"ServiceManaged": "true"}, 0},
		{"OtherRegion", params{"RegionId": "cn-shanghai"}, 0},
	} {
		c.Lists(t, f.name, "DescribeNetworkInterfaces", f.params, "NetworkInterfaceSets.NetworkInterfaceSet", f.want)
	}
}

// An interface that one address finds shows them all.
func TestNetworkInterfaceAddresses(t *testing.T) {
	c := newClient(t)
	const set = "NetworkInterfaceSets.NetworkInterfaceSet.0."
	gatewaytest.Expect(t, c.Do("DescribeNetworkInterfaces", params{"VpcId": vpcID, "PrivateIpAddress.1": "192.168.0.101"}), map[string]string{
		set + "NetworkInterfaceId": "eni-pods", set + "PrivateIpAddress": "192.168.0.100", set + "SourceDestCheck": "true",
		set + "PrivateIpSets.PrivateIpSet.0.PrivateIpAddress": "192.168.0.100", set + "PrivateIpSets.PrivateIpSet.0.Primary": "true",
		set + "PrivateIpSets.PrivateIpSet.1.PrivateIpAddress": "192.168.0.101", set + "PrivateIpSets.PrivateIpSet.1.Primary": "false",
		set + "Ipv6Sets.Ipv6Set.0.Ipv6Address": "2001:db8::100",
	})
	gatewaytest.Expect(t, c.Do("DescribeNetworkInterfaces", params{"NetworkInterfaceId.1": eniID}), map[string]string{
		set + "AssociatedPublicIp.PublicIpAddress":                              "198.18.0.9",
		set + "PrivateIpSets.PrivateIpSet.0.AssociatedPublicIp.PublicIpAddress": "198.18.0.9",
	})
}

// A modification changes what it names and nothing else.
func TestModifyNetworkInterface(t *testing.T) {
	c := newClient(t)
	pods := params{"NetworkInterfaceId": "eni-pods"}
	const set = "NetworkInterfaceSets.NetworkInterfaceSet.0."
	show := func() gatewaytest.Reply {
		return c.Do("DescribeNetworkInterfaces", params{"NetworkInterfaceId.1": "eni-pods"})
	}
	c.Do("ModifyNetworkInterfaceAttribute", with(pods, params{"SourceDestCheck": "false"}))
	gatewaytest.Expect(t, show(), map[string]string{set + "SourceDestCheck": "false", set + "NetworkInterfaceName": "pods"})
	c.Do("ModifyNetworkInterfaceAttribute", with(pods, params{"NetworkInterfaceName": "new", "Description": "for pods", "SecurityGroupId.1": "sg-second"}))
	gatewaytest.Expect(t, show(), map[string]string{
		set + "SourceDestCheck": "false", set + "NetworkInterfaceName": "new", set + "Description": "for pods",
		set + "SecurityGroupIds.SecurityGroupId.0": "sg-second",
	})
}

// In the realistic profile an interface takes one change at a time, and shows it at
// once; another interface is not kept waiting.
func TestModifyNetworkInterfaceTwice(t *testing.T) {
	clock := state.NewManualClock(gatewaytest.Start)
	store := gatewaytest.StoreAt(t, clock, plantWorld, func(tx *state.Tx) error {
		state.LifeCycles.Put(tx, &state.LifeCycle{ID: state.LifeCycleID, Profile: state.LifeRealistic})
		return nil
	})
	c := gatewaytest.NewClient(t, store, ecs.Product(gateway.Deps{}))
	off := with(eni, params{"SourceDestCheck": "false"})
	c.Do("ModifyNetworkInterfaceAttribute", off)
	gatewaytest.Expect(t, c.Do("DescribeNetworkInterfaces", params{"NetworkInterfaceId.1": eniID}), map[string]string{
		"NetworkInterfaceSets.NetworkInterfaceSet.0.SourceDestCheck": "false"})
	if got := c.Call("ModifyNetworkInterfaceAttribute", off); got.Code != "InvalidOperation.Conflict" {
		t.Errorf("a change during another = %s, want InvalidOperation.Conflict", got.Code)
	}
	c.Do("ModifyNetworkInterfaceAttribute", with(off, params{"NetworkInterfaceId": "eni-pods"}))
	clock.Advance(time.Second)
	c.Do("ModifyNetworkInterfaceAttribute", off)
}
