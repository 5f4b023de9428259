package contracttests

import (
	"testing"

	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/vpc"
)

// 1. Each reconcile finds the load balancer by id, by tag or by name.
func TestCCMFind(t *testing.T) {
	c := newCCM(t)
	if found := c.findByTag(); len(found) != 0 {
		t.Fatalf("found %v before there is one", found)
	}
	byName := slb.CreateDescribeLoadBalancersRequest()
	byName.LoadBalancerName = serviceName
	if found := call(t, c.SLB.DescribeLoadBalancers, byName); found.TotalCount != 0 {
		t.Fatalf("found %v before there is one", found)
	}
	id := c.create()

	found := c.findByTag()
	if len(found) != 1 || found[0].LoadBalancerId != id {
		t.Fatalf("by tag: %v, want %s", found, id)
	}
	checkFound(t, found[0])
	if found := call(t, c.SLB.DescribeLoadBalancers, byName).LoadBalancers.LoadBalancer; len(found) != 1 || found[0].LoadBalancerId != id {
		t.Errorf("by name: %v, want %s", found, id)
	}
	if a := c.attribute(id); a.LoadBalancerId != id || a.InternetChargeType != "paybytraffic" || a.InstanceChargeType != "PayByCLCU" {
		t.Errorf("by id: %+v", a)
	}
	if tags := c.tags(id); tags[lbTagKey] != serviceName || tags["ack.aliyun.com"] != clusterID {
		t.Errorf("tags: %v", tags)
	}
	gone := slb.CreateDescribeLoadBalancerAttributeRequest()
	gone.LoadBalancerId = unknownLB
	refuse(t, c.SLB.DescribeLoadBalancerAttribute, gone, "The specified LoadBalancerId does not exist")
}

// checkFound looks at what a CCM compares with the Service.
func checkFound(t *testing.T, lb slb.LoadBalancer) {
	t.Helper()
	for name, field := range map[string][2]string{
		"AddressType":             {lb.AddressType, "internet"},
		"AddressIPVersion":        {lb.AddressIPVersion, "ipv4"},
		"InternetChargeTypeAlias": {lb.InternetChargeTypeAlias, "paybytraffic"},
		"InstanceChargeType":      {lb.InstanceChargeType, "PayByCLCU"},
		"DeleteProtection":        {lb.DeleteProtection, "on"},
		"ModificationProtection":  {lb.ModificationProtectionStatus, "ConsoleProtection"},
		"LoadBalancerName":        {lb.LoadBalancerName, serviceName},
		"NetworkType":             {lb.NetworkType, "classic"},
	} {
		if field[0] != field[1] {
			t.Errorf("%s = %q, want %q", name, field[0], field[1])
		}
	}
	if lb.Address == "" || lb.MasterZoneId == "" || lb.SlaveZoneId == "" || lb.ResourceGroupId == "" {
		t.Errorf("an empty field in %+v", lb)
	}
}

// A tag filter works before the paging: a CCM sends no PageSize.
func TestCCMFindsAmongMany(t *testing.T) {
	c := newCCM(t)
	id := c.create()
	for range 12 {
		r := slb.CreateCreateLoadBalancerRequest()
		r.AddressType = "internet"
		r.InstanceChargeType = "PayByCLCU"
		call(t, c.SLB.CreateLoadBalancer, r)
	}
	if found := c.findByTag(); len(found) != 1 || found[0].LoadBalancerId != id {
		t.Errorf("by tag: %v, want %s", found, id)
	}
}

// 2. A repeated create with its token gives the same load balancer.
func TestCCMCreate(t *testing.T) {
	c := newCCM(t)
	first := call(t, c.SLB.CreateLoadBalancer, createRequest("token-1"))
	again := call(t, c.SLB.CreateLoadBalancer, createRequest("token-1"))
	if first.LoadBalancerId == "" || first.Address == "" || again.LoadBalancerId != first.LoadBalancerId || again.Address != first.Address {
		t.Errorf("created %+v and then %+v", first, again)
	}
	if other := call(t, c.SLB.CreateLoadBalancer, createRequest("token-2")); other.LoadBalancerId == first.LoadBalancerId {
		t.Error("another token gives the same load balancer")
	}
}

// When a vSwitch has no address left, a CCM asks which other has one, and creates
// there with the same token.
func TestCCMCreateFallsBackToAnotherVSwitch(t *testing.T) {
	c := newCCM(t)
	full := vpc.CreateCreateVSwitchRequest()
	full.VpcId, full.ZoneId, full.CidrBlock = vpc1, "cn-hangzhou-h", "192.168.9.0/29"
	fullID := call(t, c.VPC.CreateVSwitch, full).VSwitchId
	for range 8 - 4 {
		r := createRequest("")
		r.AddressType, r.VpcId, r.VSwitchId = "intranet", vpc1, fullID
		call(t, c.SLB.CreateLoadBalancer, r)
	}
	if n := c.availableAddresses(fullID); n != 0 {
		t.Fatalf("%d addresses are left in the full vSwitch", n)
	}
	r := createRequest("token-1")
	r.AddressType, r.VpcId, r.VSwitchId = "intranet", vpc1, fullID
	refuse(t, c.SLB.CreateLoadBalancer, r, "VSwitchAvailableIpNotExist")
	before := c.availableAddresses(vsw2)
	r.VSwitchId = vsw2
	created := call(t, c.SLB.CreateLoadBalancer, r)
	if created.VSwitchId != vsw2 || c.availableAddresses(vsw2) != before-1 {
		t.Errorf("created %+v; %d of %d addresses are left", created, c.availableAddresses(vsw2), before)
	}
}

func (c *ccm) availableAddresses(vSwitchID string) int64 {
	c.t.Helper()
	r := vpc.CreateDescribeVSwitchesRequest()
	r.VSwitchId = vSwitchID
	list := call(c.t, c.VPC.DescribeVSwitches, r).VSwitches.VSwitch
	if len(list) != 1 || list[0].VSwitchId != vSwitchID {
		c.t.Fatalf("DescribeVSwitches(%s) = %v", vSwitchID, list)
	}
	return list[0].AvailableIpAddressCount
}

// 3. Attributes of the load balancer follow the annotations.
func TestCCMUpdate(t *testing.T) {
	c := newCCM(t)
	r := createRequest("token-1")
	r.InstanceChargeType, r.LoadBalancerSpec = "PayBySpec", "slb.s1.small"
	id := call(t, c.SLB.CreateLoadBalancer, r).LoadBalancerId

	tag := slb.CreateTagResourcesRequest()
	tag.ResourceType, tag.ResourceId = "instance", &[]string{id}
	tag.Tag = &[]slb.TagResourcesTag{{Key: "team", Value: "web"}}
	call(t, c.SLB.TagResources, tag)
	untag := slb.CreateUntagResourcesRequest()
	untag.ResourceType, untag.ResourceId, untag.TagKey = "instance", &[]string{id}, &[]string{"ack.aliyun.com"}
	call(t, c.SLB.UntagResources, untag)
	if tags := c.tags(id); tags["team"] != "web" || tags["ack.aliyun.com"] != "" || tags[lbTagKey] != serviceName {
		t.Errorf("tags: %v", tags)
	}

	spec := slb.CreateModifyLoadBalancerInstanceSpecRequest()
	spec.LoadBalancerId, spec.LoadBalancerSpec = id, "slb.s2.small"
	call(t, c.SLB.ModifyLoadBalancerInstanceSpec, spec)
	bandwidth := slb.CreateModifyLoadBalancerInternetSpecRequest()
	bandwidth.LoadBalancerId, bandwidth.InternetChargeType = id, "paybytraffic"
	bandwidth.Bandwidth = integer(c.attribute(id).Bandwidth)
	call(t, c.SLB.ModifyLoadBalancerInternetSpec, bandwidth)
	protection := slb.CreateSetLoadBalancerDeleteProtectionRequest()
	protection.LoadBalancerId, protection.DeleteProtection = id, "off"
	call(t, c.SLB.SetLoadBalancerDeleteProtection, protection)
	modification := slb.CreateSetLoadBalancerModificationProtectionRequest()
	modification.LoadBalancerId, modification.ModificationProtectionStatus = id, "NonProtection"
	call(t, c.SLB.SetLoadBalancerModificationProtection, modification)
	name := slb.CreateSetLoadBalancerNameRequest()
	name.LoadBalancerId, name.LoadBalancerName = id, "renamed"
	call(t, c.SLB.SetLoadBalancerName, name)
	charge := slb.CreateModifyLoadBalancerInstanceChargeTypeRequest()
	charge.LoadBalancerId, charge.InstanceChargeType = id, "PayByCLCU"
	specBefore := c.attribute(id).LoadBalancerSpec
	call(t, c.SLB.ModifyLoadBalancerInstanceChargeType, charge)

	a := c.attribute(id)
	if specBefore != "slb.s2.small" || a.DeleteProtection != "off" || a.ModificationProtectionStatus != "NonProtection" ||
		a.LoadBalancerName != "renamed" || a.InstanceChargeType != "PayByCLCU" {
		t.Errorf("spec %s, then %+v", specBefore, a)
	}
}

// 6. A load balancer that the user made is used as it is: its listeners and
// groups that a CCM did not make stay.
func TestCCMReuse(t *testing.T) {
	c := newCCM(t)
	r := slb.CreateCreateLoadBalancerRequest()
	r.AddressType, r.InstanceChargeType, r.LoadBalancerName = "internet", "PayByCLCU", "mine"
	id := call(t, c.SLB.CreateLoadBalancer, r).LoadBalancerId
	mine := c.createGroup(id, "mine")
	call(t, c.SLB.AddVServerGroupBackendServers, c.addRequest(mine, backend{ServerID: node1, Port: 1, Weight: 100, Type: "ecs", Description: "mine"}))

	tag := slb.CreateTagResourcesRequest()
	tag.ResourceType, tag.ResourceId = "instance", &[]string{id}
	tag.Tag = &[]slb.TagResourcesTag{{Key: "kubernetes.reused.by.user", Value: "true"}}
	call(t, c.SLB.TagResources, tag)
	call(t, c.SLB.TagResources, tag)
	if tags := c.tags(id); len(tags) != 1 {
		t.Errorf("tags: %v", tags)
	}
	own := c.createGroup(id, "k8s/30080/web/default/c1")
	call(t, c.SLB.AddVServerGroupBackendServers, c.addRequest(own, node(node1, 30080, 100)))

	// The Service goes: the CCM's group, and its servers in the user's groups.
	groups := slb.CreateDescribeVServerGroupsRequest()
	groups.LoadBalancerId = id
	if list := call(t, c.SLB.DescribeVServerGroups, groups).VServerGroups.VServerGroup; len(list) != 2 {
		t.Fatalf("groups: %v", list)
	}
	remove := slb.CreateDeleteVServerGroupRequest()
	remove.VServerGroupId = own
	call(t, c.SLB.DeleteVServerGroup, remove)
	left := call(t, c.SLB.DescribeVServerGroups, groups).VServerGroups.VServerGroup
	if len(left) != 1 || left[0].VServerGroupId != mine || left[0].VServerGroupName != "mine" || len(c.group(mine)) != 1 {
		t.Errorf("left: %v", left)
	}
}

// 7. The load balancer goes with all that is on it, and a second deletion counts
// as done.
func TestCCMDelete(t *testing.T) {
	c := newCCM(t)
	id := c.create()
	group := c.createGroup(id, "k8s/30080/web/default/c1")
	call(t, c.SLB.AddVServerGroupBackendServers, c.addRequest(group, node(node1, 30080, 100)))
	c.createTCP(id, 80, group)

	remove := slb.CreateDeleteLoadBalancerRequest()
	remove.LoadBalancerId = id
	refuse(t, c.SLB.DeleteLoadBalancer, remove, "DeleteProtectionIsOn")
	protection := slb.CreateSetLoadBalancerDeleteProtectionRequest()
	protection.LoadBalancerId, protection.DeleteProtection = id, "off"
	call(t, c.SLB.SetLoadBalancerDeleteProtection, protection)
	call(t, c.SLB.DeleteLoadBalancer, remove)
	if found := c.findByTag(); len(found) != 0 {
		t.Errorf("still found: %v", found)
	}
	refuse(t, c.SLB.DeleteLoadBalancer, remove, "LoadBalancerId does not exist")
}

// 8. The EIP of an intranet load balancer is its ingress address.
func TestCCMEIP(t *testing.T) {
	c := newCCM(t)
	r := createRequest("token-1")
	r.AddressType, r.VpcId, r.VSwitchId = "intranet", vpc1, vsw1
	id := call(t, c.SLB.CreateLoadBalancer, r).LoadBalancerId

	describe := vpc.CreateDescribeEipAddressesRequest()
	describe.AssociatedInstanceType, describe.AssociatedInstanceId = "SlbInstance", id
	describe.PageNumber, describe.PageSize = integer(1), integer(10)
	if none := call(t, c.VPC.DescribeEipAddresses, describe); none.TotalCount != 0 || none.PageNumber != 1 || none.PageSize != 10 {
		t.Errorf("before the association: %+v", none)
	}
	eip := call(t, c.VPC.AllocateEipAddress, vpc.CreateAllocateEipAddressRequest())
	associate := vpc.CreateAssociateEipAddressRequest()
	associate.AllocationId, associate.InstanceId, associate.InstanceType = eip.AllocationId, id, "SlbInstance"
	call(t, c.VPC.AssociateEipAddress, associate)
	list := call(t, c.VPC.DescribeEipAddresses, describe)
	if len(list.EipAddresses.EipAddress) != 1 || list.EipAddresses.EipAddress[0].IpAddress != eip.EipAddress || list.TotalCount != 1 {
		t.Errorf("DescribeEipAddresses = %+v, want %s", list, eip.EipAddress)
	}
}
