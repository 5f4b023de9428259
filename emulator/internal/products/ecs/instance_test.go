package ecs_test

import (
	"fmt"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/ecs"
	"github.com/clbemu/clbemu/state"
)

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
	gatewaytest.Expect(t, c.Do("DescribeInstances", params{"InstanceIds": `["` + instanceID + `"]`}), map[string]string{
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
	gatewaytest.Expect(t, last, map[string]string{"TotalCount": "254", "PageNumber": "26", "PageSize": "10", "NextToken": ""})
	if last.Len("Instances.Instance") != 4 {
		t.Errorf("page 26 by 10 of 254 has %d, want 4", last.Len("Instances.Instance"))
	}
	if far := c.Do("DescribeInstances", params{"PageNumber": "2147483647"}); far.Len("Instances.Instance") != 0 {
		t.Errorf("a page beyond the end has %d, want none", far.Len("Instances.Instance"))
	}
}

// A released instance leaves server groups, its addresses and its EIP behind.
func TestDeleteInstance(t *testing.T) {
	store := gatewaytest.Store(t, plantWorld, inOwner(plantServers))
	c := gatewaytest.NewClient(t, store, ecs.Product(gateway.Deps{}))
	c.Do("DeleteInstance", params{"InstanceId": instanceID, "Force": "true"})
	if got := c.Do("DescribeInstances", params{"InstanceIds": `["` + instanceID + `"]`}); got.Len("Instances.Instance") != 0 {
		t.Errorf("the instance is still there: %v", got.Body)
	}
	if got := c.Do("DescribeNetworkInterfaces", params{"InstanceId": instanceID}); got.Len("NetworkInterfaceSets.NetworkInterfaceSet") != 0 {
		t.Errorf("its interfaces are still there: %v", got.Body)
	}
	v := store.View(owner)
	g, _ := kinds.VServerGroups.Find(v, "rsp-1")
	lb, _ := kinds.LoadBalancers.Find(v, "lb-1")
	for _, servers := range [][]kinds.BackendServer{g.BackendServers, lb.BackendServers} {
		if len(servers) != 1 || servers[0].ServerID != secondID {
			t.Errorf("servers = %v, want the second instance alone", servers)
		}
	}
	if eip, _ := kinds.EIPs.Find(v, "eip-1"); eip.Status != kinds.EIPAvailable {
		t.Errorf("the EIP is %s, want Available", eip.Status)
	}
	if _, taken := kinds.Addresses.Find(v, kinds.AddressID(vSwitchID, "192.168.0.11")); taken {
		t.Error("the address of the instance is still allocated")
	}
}

// Routes to a released instance stay.
func TestDeleteInstanceKeepsRoutes(t *testing.T) {
	store := gatewaytest.Store(t, plantWorld, inOwner(func(tx *state.Tx) error {
		kinds.RouteEntries.Put(tx, &kinds.RouteEntry{Owner: owner, ID: "rte-1", RouteTableID: "vtb-bp1clbemu000000000001", VPCID: vpcID,
			DestinationCIDRBlock: "172.20.0.0/24", Type: kinds.RouteTableCustom, Status: "Available", NextHopType: "Instance", NextHopID: instanceID})
		return nil
	}))
	gatewaytest.NewClient(t, store, ecs.Product(gateway.Deps{})).Do("DeleteInstance", params{"InstanceId": instanceID, "Force": "true"})
	v := store.View(owner)
	_, err := kinds.RouteEntries.Get(v, "rte-1")
	if err != nil {
		t.Errorf("the route to the instance: %v", err)
	}
}

// A stopped or a forced instance goes at a call, a subscribed one when its
// subscription ends with it.
func TestDeleteInstanceConditions(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*kinds.Instance)
		params params
	}{
		"Stopped":    {func(i *kinds.Instance) { i.Status = kinds.InstanceStopped }, params{}},
		"Forced":     {func(*kinds.Instance) {}, params{"Force": "true"}},
		"Subscribed": {func(i *kinds.Instance) { i.InstanceChargeType = "PrePaid" }, params{"Force": "true", "TerminateSubscription": "true"}},
	} {
		t.Run(name, func(t *testing.T) {
			newClient(t, editInstance(c.change)).Do("DeleteInstance", with(params{"InstanceId": instanceID}, c.params))
		})
	}
}
