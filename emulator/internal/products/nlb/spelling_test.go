package nlb_test

import "testing"

// TestSpelling proves that requests may have words in any case, and answers have one.
func TestSpelling(t *testing.T) {
	c, _, _ := newClient(t)
	for _, spelt := range []struct{ version, kind, scheduler string }{{"ipv4", "network", "rr"}, {"Ipv4", "Network", "Rr"}, {"IPV4", "NETWORK", "RR"}} {
		lb := c.Do("CreateLoadBalancer", with(create, "AddressIpVersion", spelt.version, "LoadBalancerType", spelt.kind)).Text("LoadbalancerId")
		expect(t, c, "GetLoadBalancerAttribute", params("LoadBalancerId", lb), "AddressIpVersion", "Ipv4", "LoadBalancerType", "Network")
		id := c.Do("CreateServerGroup", with(group, "AddressIPVersion", spelt.version, "Scheduler", spelt.scheduler)).Text("ServerGroupId")
		expect(t, c, "ListServerGroups", params("ServerGroupIds.1", id), "ServerGroups.0.AddressIPVersion", "Ipv4", "ServerGroups.0.Scheduler", "Rr")
	}
	expectRefusal(t, c, "CreateLoadBalancer", with(create, "LoadBalancerType", "Gateway"), "IllegalParam")
}
