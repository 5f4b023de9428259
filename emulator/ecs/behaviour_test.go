package ecs_test

import (
	"fmt"
	"testing"

	"github.com/clbemu/clbemu/emulator/ecs"
	"github.com/clbemu/clbemu/emulator/rpc/rpctest"
	"github.com/clbemu/clbemu/state"
)

func newClient(t *testing.T, plants ...func(*state.Tx) error) *rpctest.Client {
	t.Helper()
	store := rpctest.Store(t, append([]func(*state.Tx) error{plantWorld}, plants...)...)
	return rpctest.NewClient(t, store, ecs.Product())
}

// expect compares what a reply has at each path.
func expect(t *testing.T, reply rpctest.Reply, want map[string]string) {
	t.Helper()
	for path, value := range want {
		if got := reply.Text(path); got != value {
			t.Errorf("%s = %q, want %q in %v", path, got, value, reply.Body)
		}
	}
}

// Each filter of DescribeInstances selects.
func TestDescribeInstances(t *testing.T) {
	c := newClient(t)
	for _, f := range []struct {
		name   string
		params params
		want   int
	}{
		{"All", params{}, 4},
		{"IDs", params{"InstanceIds": `["` + secondID + `","` + instanceID + `","i-none"]`}, 2},
		{"SameIDTwice", params{"InstanceIds": `["` + secondID + `","` + secondID + `"]`}, 1},
		{"VPC", params{"VpcId": vpcID}, 3},
		{"VSwitch", params{"VSwitchId": vSwitchID}, 2},
		{"Zone", params{"ZoneId": "cn-hangzhou-i"}, 1},
		{"Classic", params{"InstanceNetworkType": "classic"}, 0},
		{"OneOfCCM", params{"InstanceNetworkType": "vpc", "PrivateIpAddresses": `["192.168.0.11"]`, "VpcId": vpcID, "Tag.1.Key": "ack.aliyun.com"}, 1},
		{"AddressOfAnotherVPC", params{"PrivateIpAddresses": `["192.168.0.11"]`, "VpcId": otherVPCID}, 0},
		{"AddressOfPods", params{"PrivateIpAddresses": `["192.168.0.101"]`, "VpcId": vpcID}, 0},
		{"AddressAlone", params{"PrivateIpAddresses": `["192.168.0.11","10.0.0.11"]`}, 2},
		{"Tag", params{"Tag.1.key": "ack.aliyun.com", "Tag.1.value": "c1"}, 1},
		{"OtherTagValue", params{"Tag.1.Key": "ack.aliyun.com", "Tag.1.Value": "c2"}, 0},
		{"Name", params{"InstanceName": "node-1"}, 1},
		{"Names", params{"InstanceName": "node-*"}, 3},
		{"NamesEnd", params{"InstanceName": "*-1"}, 2},
		{"NamesMiddle", params{"InstanceName": "n*d*1"}, 1},
		{"Running", params{"Status": "Running"}, 4},
		{"Stopped", params{"Status": "Stopped"}, 0},
		{"Group", params{"SecurityGroupId": groupID}, 3},
		{"EIP", params{"EipAddresses": `["198.18.0.9"]`}, 1},
		{"InternetChargeType", params{"InternetChargeType": "PayByBandwidth"}, 1},
		{"PublicAddress", params{"PublicIpAddresses": `["198.18.0.9"]`}, 0},
		{"ChargeType", params{"InstanceChargeType": "PrePaid"}, 0},
		{"Type", params{"InstanceType": "ecs.g7.large"}, 4},
		{"Family", params{"InstanceTypeFamily": "ecs.g7"}, 4},
		{"Created", params{"Filter.1.Key": "CreationStartTime", "Filter.1.Value": "2026-01-02T00:00Z", "Filter.2.Key": "CreationEndTime", "Filter.2.Value": "2026-01-03T00:00Z"}, 4},
		{"CreatedLater", params{"Filter.3.Key": "CreationStartTime", "Filter.3.Value": "2026-02-02T00:00Z"}, 0},
		{"Expiring", params{"Filter.1.Key": "ExpiredStartTime", "Filter.1.Value": "2026-01-02T00:00Z"}, 0},
		{"Locked", params{"LockReason": "financial"}, 0},
		{"NotOptimized", params{"IoOptimized": "false"}, 0},
		{"KeyPair", params{"KeyPairName": "k"}, 0},
		{"OtherRegion", params{"RegionId": "cn-shanghai"}, 0},
	} {
		t.Run(f.name, func(t *testing.T) {
			got := c.Do("DescribeInstances", f.params)
			if got.Len("Instances.Instance") != f.want || got.Text("TotalCount") != fmt.Sprint(f.want) {
				t.Errorf("DescribeInstances(%v) = %d instances of %s, want %d", f.params, got.Len("Instances.Instance"), got.Text("TotalCount"), f.want)
			}
		})
	}
}

// What a CCM reads of an instance is there.
func TestInstanceFields(t *testing.T) {
	c := newClient(t)
	expect(t, c.Do("DescribeInstances", params{"InstanceIds": `["` + instanceID + `"]`}), map[string]string{
		"Instances.Instance.0.InstanceId":                                                          instanceID,
		"Instances.Instance.0.InstanceType":                                                        "ecs.g7.large",
		"Instances.Instance.0.ZoneId":                                                              "cn-hangzhou-h",
		"Instances.Instance.0.RegionId":                                                            "cn-hangzhou",
		"Instances.Instance.0.InstanceChargeType":                                                  "PostPaid",
		"Instances.Instance.0.SpotStrategy":                                                        "NoSpot",
		"Instances.Instance.0.CreationTime":                                                        "2026-01-02T03:04Z",
		"Instances.Instance.0.Tags.Tag.0.TagKey":                                                   "ack.aliyun.com",
		"Instances.Instance.0.Tags.Tag.0.TagValue":                                                 "c1",
		"Instances.Instance.0.EipAddress.IpAddress":                                                "198.18.0.9",
		"Instances.Instance.0.EipAddress.Bandwidth":                                                "5",
		"Instances.Instance.0.VpcAttributes.PrivateIpAddress.IpAddress.0":                          "192.168.0.11",
		"Instances.Instance.0.NetworkInterfaces.NetworkInterface.0.Type":                           "Primary",
		"Instances.Instance.0.NetworkInterfaces.NetworkInterface.0.NetworkInterfaceId":             eniID,
		"Instances.Instance.0.NetworkInterfaces.NetworkInterface.0.PrimaryIpAddress":               "192.168.0.11",
		"Instances.Instance.0.NetworkInterfaces.NetworkInterface.1.Type":                           "Secondary",
		"Instances.Instance.0.NetworkInterfaces.NetworkInterface.1.Ipv6Sets.Ipv6Set.0.Ipv6Address": "2001:db8::100",
	})
}

// Pages by token say that they are full until the last, and show each instance
// once; pages by number show the same.
func TestInstancePages(t *testing.T) {
	c := newClient(t, inOwner(plantNodes))
	seen, token, calls := map[string]bool{}, "", 0
	for calls == 0 || token != "" {
		got := c.Do("DescribeInstances", params{"MaxResults": "100", "NextToken": token})
		if got.Text("PageSize") != "100" {
			t.Errorf("PageSize = %s, want 100", got.Text("PageSize"))
		}
		for i := range got.Len("Instances.Instance") {
			seen[got.Text(fmt.Sprintf("Instances.Instance.%d.InstanceId", i))] = true
		}
		token = got.Text("NextToken")
		calls++
	}
	if len(seen) != 254 || calls != 3 {
		t.Errorf("%d calls show %d instances, want 3 and 254", calls, len(seen))
	}
	last := c.Do("DescribeInstances", params{"PageNumber": "26", "PageSize": "10"})
	expect(t, last, map[string]string{"TotalCount": "254", "PageNumber": "26", "PageSize": "10", "NextToken": ""})
	if last.Len("Instances.Instance") != 4 {
		t.Errorf("page 26 by 10 of 254 has %d, want 4", last.Len("Instances.Instance"))
	}
	if far := c.Do("DescribeInstances", params{"PageNumber": "9223372036854775807"}); far.Len("Instances.Instance") != 0 {
		t.Errorf("a page beyond the end has %d, want none", far.Len("Instances.Instance"))
	}
}

// Each filter of DescribeNetworkInterfaces selects.
func TestDescribeNetworkInterfaces(t *testing.T) {
	c := newClient(t)
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
		{"Tag", params{"Tag.1.Key": "x"}, 0},
		{"ServiceManaged", params{"ServiceManaged": "true"}, 0},
		{"OtherRegion", params{"RegionId": "cn-shanghai"}, 0},
	} {
		t.Run(f.name, func(t *testing.T) {
			if got := c.Do("DescribeNetworkInterfaces", f.params); got.Len("NetworkInterfaceSets.NetworkInterfaceSet") != f.want {
				t.Errorf("DescribeNetworkInterfaces(%v) = %v, want %d", f.params, got.Body, f.want)
			}
		})
	}
}

// An interface that one address finds shows them all.
func TestNetworkInterfaceAddresses(t *testing.T) {
	c := newClient(t)
	const set = "NetworkInterfaceSets.NetworkInterfaceSet.0."
	expect(t, c.Do("DescribeNetworkInterfaces", params{"VpcId": vpcID, "PrivateIpAddress.1": "192.168.0.101"}), map[string]string{
		set + "NetworkInterfaceId": "eni-pods", set + "PrivateIpAddress": "192.168.0.100", set + "SourceDestCheck": "true",
		set + "PrivateIpSets.PrivateIpSet.0.PrivateIpAddress": "192.168.0.100", set + "PrivateIpSets.PrivateIpSet.0.Primary": "true",
		set + "PrivateIpSets.PrivateIpSet.1.PrivateIpAddress": "192.168.0.101", set + "PrivateIpSets.PrivateIpSet.1.Primary": "false",
		set + "Ipv6Sets.Ipv6Set.0.Ipv6Address": "2001:db8::100",
	})
	expect(t, c.Do("DescribeNetworkInterfaces", params{"NetworkInterfaceId.1": eniID}), map[string]string{
		set + "AssociatedPublicIp.PublicIpAddress":                              "198.18.0.9",
		set + "PrivateIpSets.PrivateIpSet.0.AssociatedPublicIp.PublicIpAddress": "198.18.0.9",
	})
}

// A modification changes what it names and nothing else.
func TestModifyNetworkInterface(t *testing.T) {
	c := newClient(t)
	pods := params{"NetworkInterfaceId": "eni-pods"}
	const set = "NetworkInterfaceSets.NetworkInterfaceSet.0."
	show := func() rpctest.Reply {
		return c.Do("DescribeNetworkInterfaces", params{"NetworkInterfaceId.1": "eni-pods"})
	}
	c.Do("ModifyNetworkInterfaceAttribute", with(pods, params{"SourceDestCheck": "false"}))
	expect(t, show(), map[string]string{set + "SourceDestCheck": "false", set + "NetworkInterfaceName": "pods"})
	c.Do("ModifyNetworkInterfaceAttribute", with(pods, params{"NetworkInterfaceName": "new", "Description": "for pods", "SecurityGroupId.1": "sg-second"}))
	expect(t, show(), map[string]string{
		set + "SourceDestCheck": "false", set + "NetworkInterfaceName": "new", set + "Description": "for pods",
		set + "SecurityGroupIds.SecurityGroupId.0": "sg-second",
	})
}

// A released instance leaves server groups, its addresses and its EIP behind.
func TestDeleteInstance(t *testing.T) {
	store := rpctest.Store(t, plantWorld, inOwner(plantServers))
	c := rpctest.NewClient(t, store, ecs.Product())
	c.Do("DeleteInstance", params{"InstanceId": instanceID, "Force": "true"})
	if got := c.Do("DescribeInstances", params{"InstanceIds": `["` + instanceID + `"]`}); got.Len("Instances.Instance") != 0 {
		t.Errorf("the instance is still there: %v", got.Body)
	}
	if got := c.Do("DescribeNetworkInterfaces", params{"InstanceId": instanceID}); got.Len("NetworkInterfaceSets.NetworkInterfaceSet") != 0 {
		t.Errorf("its interfaces are still there: %v", got.Body)
	}
	err := store.View(owner, func(v *state.View) error {
		g, _ := state.VServerGroups.Find(v, "rsp-1")
		lb, _ := state.LoadBalancers.Find(v, "lb-1")
		for _, servers := range [][]state.BackendServer{g.BackendServers, lb.BackendServers} {
			if len(servers) != 1 || servers[0].ServerID != secondID {
				t.Errorf("servers = %v, want the second instance alone", servers)
			}
		}
		if eip, _ := state.EIPs.Find(v, "eip-1"); eip.Status != state.EIPAvailable {
			t.Errorf("the EIP is %s, want Available", eip.Status)
		}
		if _, taken := state.Addresses.Find(v, state.AddressID(vSwitchID, "192.168.0.11")); taken {
			t.Error("the address of the instance is still allocated")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Routes to a released instance stay.
func TestDeleteInstanceKeepsRoutes(t *testing.T) {
	store := rpctest.Store(t, plantWorld, inOwner(func(tx *state.Tx) error {
		state.RouteEntries.Put(tx, &state.RouteEntry{Owner: owner, ID: "rte-1", RouteTableID: "vtb-bp1clbemu000000000001", VPCID: vpcID,
			DestinationCIDRBlock: "172.20.0.0/24", Type: state.RouteTableCustom, Status: "Available", NextHopType: "Instance", NextHopID: instanceID})
		return nil
	}))
	rpctest.NewClient(t, store, ecs.Product()).Do("DeleteInstance", params{"InstanceId": instanceID, "Force": "true"})
	err := store.View(owner, func(v *state.View) error {
		_, err := state.RouteEntries.Get(v, "rte-1")
		return err
	})
	if err != nil {
		t.Errorf("the route to the instance: %v", err)
	}
}

// A stopped or a forced instance can be deleted, a subscribed one when its
// subscription ends with it.
func TestDeleteInstanceConditions(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*state.Instance)
		params params
	}{
		"Stopped":    {func(i *state.Instance) { i.Status = state.InstanceStopped }, params{}},
		"Forced":     {func(*state.Instance) {}, params{"Force": "true"}},
		"Subscribed": {func(i *state.Instance) { i.InstanceChargeType = "PrePaid" }, params{"Force": "true", "TerminateSubscription": "true"}},
	} {
		t.Run(name, func(t *testing.T) {
			newClient(t, editInstance(c.change)).Do("DeleteInstance", with(params{"InstanceId": instanceID}, c.params))
		})
	}
}

// A group lives through its actions, with its tags and counts.
func TestSecurityGroupLife(t *testing.T) {
	c := newClient(t)
	request := with(newGroup, params{"Description": "for nodes", "Tag.1.Key": "team", "Tag.1.Value": "a", "ClientToken": "once"})
	id := c.Do("CreateSecurityGroup", request).Text("SecurityGroupId")
	if again := c.Do("CreateSecurityGroup", request).Text("SecurityGroupId"); again != id {
		t.Errorf("one token made %s and %s", id, again)
	}
	const first = "SecurityGroups.SecurityGroup.0."
	expect(t, c.Do("DescribeSecurityGroups", params{"Tag.1.Key": "team"}), map[string]string{
		first + "SecurityGroupId": id, first + "SecurityGroupName": "new", first + "SecurityGroupType": "normal",
		first + "Tags.Tag.0.TagKey": "team", first + "EcsCount": "0", "RegionId": "cn-hangzhou",
	})
	c.Do("ModifySecurityGroupAttribute", params{"SecurityGroupId": id, "SecurityGroupName": "renamed"})
	expect(t, c.Do("DescribeSecurityGroupAttribute", params{"SecurityGroupId": id}), map[string]string{
		"SecurityGroupName": "renamed", "Description": "for nodes", "InnerAccessPolicy": "Accept", "VpcId": vpcID,
	})
	c.Do("DeleteSecurityGroup", params{"SecurityGroupId": id})
	if left := c.Do("DescribeSecurityGroups", params{"SecurityGroupId": id}); left.Text("TotalCount") != "0" {
		t.Errorf("the group is still there: %v", left.Body)
	}
}

// Each filter of DescribeSecurityGroups selects, and its pages follow each other.
func TestDescribeSecurityGroups(t *testing.T) {
	c := newClient(t)
	for _, f := range []struct {
		name   string
		params params
		want   int
	}{
		{"All", params{}, 4},
		{"IDs", params{"SecurityGroupIds": `["sg-other","sg-none"]`}, 1},
		{"ID", params{"SecurityGroupId": groupID}, 1},
		{"VPC", params{"VpcId": otherVPCID}, 1},
		{"Type", params{"SecurityGroupType": "enterprise"}, 1},
		{"Classic", params{"NetworkType": "classic"}, 0},
		{"Name", params{"SecurityGroupName": "sg-other"}, 1},
		{"ExactName", params{"SecurityGroupName": "sg-*"}, 0},
		{"FuzzyName", params{"SecurityGroupName": "sg-*", "FuzzyQuery": "true"}, 3},
		{"Tag", params{"Tag.1.Key": "none"}, 0},
		{"ServiceManaged", params{"ServiceManaged": "true"}, 0},
		{"SecondPage", params{"PageNumber": "2", "PageSize": "3"}, 1},
	} {
		t.Run(f.name, func(t *testing.T) {
			if got := c.Do("DescribeSecurityGroups", f.params); got.Len("SecurityGroups.SecurityGroup") != f.want {
				t.Errorf("DescribeSecurityGroups(%v) = %v, want %d", f.params, got.Body, f.want)
			}
		})
	}
	page := c.Do("DescribeSecurityGroups", params{"MaxResults": "3"})
	rest := c.Do("DescribeSecurityGroups", params{"MaxResults": "3", "NextToken": page.Text("NextToken")})
	if page.Text("NextToken") == "" || rest.Len("SecurityGroups.SecurityGroup") != 1 || rest.Text("NextToken") != "" {
		t.Errorf("4 groups by 3 = %v, then %v", page.Body, rest.Body)
	}
	counted := c.Do("DescribeSecurityGroups", params{"SecurityGroupId": groupID, "IsQueryEcsCount": "true"})
	expect(t, counted, map[string]string{"SecurityGroups.SecurityGroup.0.EcsCount": "3"})
}

// Rules are added once, changed, shown and taken away, by id and by what they do.
func TestRules(t *testing.T) {
	c := newClient(t)
	show := func() rpctest.Reply { return c.Do("DescribeSecurityGroupAttribute", group) }
	both := params{"SecurityGroupId": groupID, "ClientToken": "once",
		"Permissions.1.IpProtocol": "tcp", "Permissions.1.PortRange": "80/443", "Permissions.1.SourceCidrIp": "10.0.0.0/8", "Permissions.1.Priority": "7",
		"Permissions.2.IpProtocol": "all", "Permissions.2.PortRange": "-1/-1", "Permissions.2.SourceGroupId": "sg-second", "Permissions.2.Policy": "DROP"}
	c.Do("AuthorizeSecurityGroup", both)
	c.Do("AuthorizeSecurityGroup", both)
	c.Do("AuthorizeSecurityGroup", with(newRule, params{"NicType": "internet"}))
	c.Do("AuthorizeSecurityGroup", newRule)
	got := show()
	if got.Len("Permissions.Permission") != 3 {
		t.Fatalf("rules = %v, want 3", got.Body)
	}
	ids := map[string]string{} // by port range
	for i := range 3 {
		at := fmt.Sprintf("Permissions.Permission.%d.", i)
		ids[got.Text(at+"PortRange")] = got.Text(at + "SecurityGroupRuleId")
		expect(t, got, map[string]string{at + "NicType": "intranet", at + "Direction": "ingress", at + "CreateTime": "2026-01-02T03:04:05Z"})
	}
	if egress := c.Do("DescribeSecurityGroupAttribute", with(group, params{"Direction": "egress"})); egress.Len("Permissions.Permission") != 0 {
		t.Errorf("egress rules = %v, want none", egress.Body)
	}

	c.Do("ModifySecurityGroupRule", params{"SecurityGroupId": groupID, "SecurityGroupRuleId": ids["80/443"], "PortRange": "8080/8080", "SourceCidrIp": "172.16.0.0/12"})
	c.Do("ModifySecurityGroupRule", with(newRule, params{"Description": "web"}))
	c.Do("RevokeSecurityGroup", with(group, params{"SecurityGroupRuleId.1": ids["-1/-1"]}))
	got = show()
	want := map[string]map[string]string{
		"8080/8080": {"SourceCidrIp": "172.16.0.0/12", "Priority": "7", "IpProtocol": "TCP", "Policy": "Accept"},
		"80/80":     {"SourceCidrIp": "10.0.0.0/8", "Priority": "1", "Description": "web"},
	}
	for i := range got.Len("Permissions.Permission") {
		at := fmt.Sprintf("Permissions.Permission.%d.", i)
		for field, value := range want[got.Text(at+"PortRange")] {
			expect(t, got, map[string]string{at + field: value})
		}
	}

	c.Do("RevokeSecurityGroup", newRule)
	c.Do("RevokeSecurityGroup", newRule)
	if left := show(); left.Len("Permissions.Permission") != 1 {
		t.Errorf("rules = %v, want one", left.Body)
	}
}

// A group with many rules is shown in pages.
func TestRulePages(t *testing.T) {
	c := newClient(t, inOwner(plantRules))
	page := c.Do("DescribeSecurityGroupAttribute", with(group, params{"MaxResults": "150"}))
	rest := c.Do("DescribeSecurityGroupAttribute", with(group, params{"MaxResults": "150", "NextToken": page.Text("NextToken")}))
	if page.Len("Permissions.Permission") != 150 || rest.Len("Permissions.Permission") != 50 || rest.Text("NextToken") != "" {
		t.Errorf("200 rules by 150 = %d, then %d and the token %q", page.Len("Permissions.Permission"), rest.Len("Permissions.Permission"), rest.Text("NextToken"))
	}
}
