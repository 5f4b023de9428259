package ecs_test

import (
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
)

// What clients other than a CCM send and expect back.

// A group is in a resource group only when the call gives one, as everything is that the
// world puts there.
func TestNoResourceGroup(t *testing.T) {
	c := newClient(t)
	id := c.Do("CreateSecurityGroup", newGroup).Text("SecurityGroupId")
	gatewaytest.Expect(t, c.Do("DescribeSecurityGroups", params{"SecurityGroupId": id}), map[string]string{"SecurityGroups.SecurityGroup.0.ResourceGroupId": ""})
	gatewaytest.Expect(t, c.Do("DescribeInstances", params{}), map[string]string{"Instances.Instance.0.ResourceGroupId": ""})
	gatewaytest.Expect(t, c.Do("DescribeNetworkInterfaces", params{}), map[string]string{"NetworkInterfaceSets.NetworkInterfaceSet.0.ResourceGroupId": ""})
	given := c.Do("CreateSecurityGroup", with(newGroup, params{"ResourceGroupId": "rg-clbemu0second"})).Text("SecurityGroupId")
	gatewaytest.Expect(t, c.Do("DescribeSecurityGroups", params{"SecurityGroupId": given}),
		map[string]string{"SecurityGroups.SecurityGroup.0.ResourceGroupId": "rg-clbemu0second"})
}

// The NicType of a client that has none passes.
func TestNicTypeOfNobody(t *testing.T) {
	c := newClient(t)
	id := c.Do("CreateSecurityGroup", newGroup).Text("SecurityGroupId")
	c.Do("AuthorizeSecurityGroup", with(newRule, params{"SecurityGroupId": id}))
	if n := c.Do("DescribeSecurityGroupAttribute", params{"SecurityGroupId": id, "NicType": "<nil>"}).Len("Permissions.Permission"); n != 1 {
		t.Errorf("%d rules, want the one", n)
	}
}

// A block of IPv6 comes back in its shortest form, and any form finds it.
func TestIPv6BlocksAreCompressed(t *testing.T) {
	c := newClient(t)
	id := c.Do("CreateSecurityGroup", newGroup).Text("SecurityGroupId")
	rule := with(newRule, params{"SecurityGroupId": id, "SourceCidrIp": "", "Ipv6SourceCidrIp": "2001:0db8:0000:0000:0000:0000:0000:0000/32"})
	c.Do("AuthorizeSecurityGroup", rule)
	describe := params{"SecurityGroupId": id}
	gatewaytest.Expect(t, c.Do("DescribeSecurityGroupAttribute", describe), map[string]string{"Permissions.Permission.0.Ipv6SourceCidrIp": "2001:db8::/32"})
	c.Do("RevokeSecurityGroup", with(rule, params{"Ipv6SourceCidrIp": "2001:db8:0::/32"}))
	if n := c.Do("DescribeSecurityGroupAttribute", describe).Len("Permissions.Permission"); n != 0 {
		t.Errorf("%d rules are left, want none", n)
	}
}

// The lists of prefixes are there though no interface has any.
func TestPrefixSets(t *testing.T) {
	got := newClient(t).Do("DescribeNetworkInterfaces", params{})
	for _, path := range []string{"Ipv4PrefixSets.Ipv4PrefixSet", "Ipv6PrefixSets.Ipv6PrefixSet"} {
		if list, ok := got.Get("NetworkInterfaceSets.NetworkInterfaceSet.0." + path).([]any); !ok || len(list) != 0 {
			t.Errorf("%s = %v, want an empty list", path, got.Get("NetworkInterfaceSets.NetworkInterfaceSet.0."+path))
		}
	}
}
