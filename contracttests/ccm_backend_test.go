package contracttests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aliyun/alibaba-cloud-sdk-go/sdk/requests"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/ecs"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/vpc"
)

func (c *ccm) removeRequest(groupID string, list ...backend) *slb.RemoveVServerGroupBackendServersRequest {
	r := slb.CreateRemoveVServerGroupBackendServersRequest()
	r.VServerGroupId = groupID
	r.BackendServers = backends(c.t, list...)
	return r
}

// 5. Backend servers are added, removed and changed in the words of a CCM, and
// read back unchanged.
func TestCCMBackends(t *testing.T) {
	c := newCCM(t)
	id := c.create()
	group := c.createGroup(id, description(30080))
	pod := backend{ServerID: eni1, ServerIP: "192.168.0.11", Port: 8080, Weight: 100, Type: "eni", Description: description(8080)}
	call(t, c.SLB.AddVServerGroupBackendServers, c.addRequest(group, node(node1, 30080, 100), node(node2, 30080, 100), pod))
	call(t, c.SLB.RemoveVServerGroupBackendServers, c.removeRequest(group, node(node2, 30080, 100), node(node3, 30080, 100)))
	set := slb.CreateSetVServerGroupAttributeRequest()
	set.VServerGroupId, set.BackendServers = group, backends(t, node(node1, 30080, 50))
	call(t, c.SLB.SetVServerGroupAttribute, set)

	got := make(map[string]slb.BackendServerInDescribeVServerGroupAttribute)
	for _, s := range c.group(group) {
		got[s.ServerId] = s
	}
	if len(got) != 2 || got[node1].Weight != 50 || got[node1].Description != description(30080) || got[node1].Port != 30080 || got[node1].Type != "ecs" {
		t.Errorf("the node: %+v of %v", got[node1], got)
	}
	if s := got[eni1]; s.ServerIp != "192.168.0.11" || s.Type != "eni" || s.Port != 8080 || s.Weight != 100 {
		t.Errorf("the pod: %+v", s)
	}
}

// With the group full, an add fails with the code that a CCM knows; it removes
// first then, and adds again.
func TestCCMBackendQuota(t *testing.T) {
	c := newCCM(t)
	id := c.create()
	group := c.createGroup(id, description(30080))
	var full []backend
	for port := range 200 {
		full = append(full, node([]string{node1, node2, node3, eni1}[port%4], 1000+port, 100))
		if last := &full[port]; last.ServerID == eni1 {
			last.Type, last.ServerIP = "eni", "192.168.0.11"
		}
	}
	const batch = 40
	for at := 0; at < len(full); at += batch {
		call(t, c.SLB.AddVServerGroupBackendServers, c.addRequest(group, full[at:at+batch]...))
	}
	more := c.addRequest(group, node(node1, 3000, 100))
	refuse(t, c.SLB.AddVServerGroupBackendServers, more, "InstanceBackendServerNumberOverLimit")
	call(t, c.SLB.RemoveVServerGroupBackendServers, c.removeRequest(group, full[:batch]...))
	call(t, c.SLB.AddVServerGroupBackendServers, more)
	if n := len(c.group(group)); n != 161 {
		t.Errorf("%d backend servers, want 161", n)
	}
}

// 9. The interfaces of pods are found by their addresses, all pages of them, each
// with all its addresses.
func TestCCMNetworkInterfaces(t *testing.T) {
	c := newCCM(t)
	r := ecs.CreateDescribeNetworkInterfacesRequest()
	r.VpcId, r.Status, r.MaxResults = vpc1, "InUse", integer(100)
	r.PrivateIpAddress = &[]string{"192.168.0.102", "192.168.0.12", "192.168.0.110", "172.29.0.1"}
	found := make(map[string]string) // interface by address
	list := call(t, c.ECS.DescribeNetworkInterfaces, r)
	for _, n := range list.NetworkInterfaceSets.NetworkInterfaceSet {
		for _, ip := range n.PrivateIpSets.PrivateIpSet {
			found[ip.PrivateIpAddress] = n.NetworkInterfaceId
		}
	}
	if found["192.168.0.102"] != "eni-bp1clbemu000000011" || found["192.168.0.101"] != "eni-bp1clbemu000000011" || found["192.168.0.12"] == "" {
		t.Errorf("by IPv4: %v", found)
	}
	if found["192.168.0.110"] != "" {
		t.Error("an interface that is not in use is found")
	}
	v6 := ecs.CreateDescribeNetworkInterfacesRequest()
	v6.VpcId, v6.Status, v6.MaxResults, v6.Ipv6Address = vpc1, "InUse", integer(100), &[]string{"2001:db8:100:1::102"}
	pods := call(t, c.ECS.DescribeNetworkInterfaces, v6).NetworkInterfaceSets.NetworkInterfaceSet
	if len(pods) != 1 || len(pods[0].Ipv6Sets.Ipv6Set) != 2 {
		t.Errorf("by IPv6: %+v", pods)
	}

	// An address that is found nowhere: is it inside of the VPC?
	describe := vpc.CreateDescribeVpcAttributeRequest()
	describe.VpcId = vpc1
	network := call(t, c.VPC.DescribeVpcAttribute, describe)
	if network.CidrBlock != "192.168.0.0/16" || len(network.SecondaryCidrBlocks.SecondaryCidrBlock) != 1 || network.Ipv6CidrBlock == "" {
		t.Errorf("the VPC: %+v", network)
	}
}

// 10. Nodes are found by address when they are new, and by id later.
func TestCCMNodes(t *testing.T) {
	c := newCCM(t)
	find := ecs.CreateDescribeInstancesRequest()
	find.InstanceNetworkType, find.VpcId, find.PrivateIpAddresses = "vpc", vpc1, `["192.168.0.11"]`
	find.Tag = &[]ecs.DescribeInstancesTag{{Key: "ack.aliyun.com"}}
	if found := call(t, c.ECS.DescribeInstances, find).Instances.Instance; len(found) != 1 || found[0].InstanceId != node1 {
		t.Fatalf("by address: %+v", found)
	}
	sync := ecs.CreateDescribeInstancesRequest()
	sync.InstanceIds = fmt.Sprintf("[%q,%q,%q]", node1, node2, "i-gone")
	sync.MaxResults, sync.AdditionalAttributes = integer(100), &[]string{"NETWORK_PRIMARY_ENI_IP"}
	page := call(t, c.ECS.DescribeInstances, sync)
	if len(page.Instances.Instance) != 2 || page.NextToken != "" {
		t.Fatalf("by id: %d instances, token %q", len(page.Instances.Instance), page.NextToken)
	}
	for _, i := range page.Instances.Instance {
		if i.InstanceType == "" || i.ZoneId != "cn-hangzhou-h" || i.RegionId != region || i.InstanceChargeType != "PostPaid" ||
			len(i.VpcAttributes.PrivateIpAddress.IpAddress) != 1 || len(i.NetworkInterfaces.NetworkInterface) == 0 {
			t.Errorf("an instance: %+v", i)
		}
	}
	c.turnOffSourceDestCheck(eni1)
}

// turnOffSourceDestCheck does what a CCM does on new nodes.
func (c *ccm) turnOffSourceDestCheck(id string) {
	c.t.Helper()
	check := func() bool {
		r := ecs.CreateDescribeNetworkInterfacesRequest()
		r.NetworkInterfaceId = &[]string{id}
		list := call(c.t, c.ECS.DescribeNetworkInterfaces, r).NetworkInterfaceSets.NetworkInterfaceSet
		if len(list) != 1 || list[0].Status != "InUse" || list[0].PrivateIpAddress == "" {
			c.t.Fatalf("the interface: %+v", list)
		}
		return list[0].SourceDestCheck
	}
	if !check() {
		c.t.Error("SourceDestCheck of a new node is false, so that a CCM would leave it alone")
	}
	r := ecs.CreateModifyNetworkInterfaceAttributeRequest()
	r.NetworkInterfaceId, r.SourceDestCheck = id, requests.NewBoolean(false)
	call(c.t, c.ECS.ModifyNetworkInterfaceAttribute, r)
	if check() {
		c.t.Error("SourceDestCheck is still true")
	}
}

// routes lists the custom routes of a table, all pages, by destination.
func (c *ccm) routes(table string) map[string]string {
	c.t.Helper()
	r := vpc.CreateDescribeRouteEntryListRequest()
	r.RouteTableId, r.RouteEntryType, r.NextHopType, r.MaxResult = table, "Custom", "Instance", integer(500)
	routes := make(map[string]string)
	for {
		page := call(c.t, c.VPC.DescribeRouteEntryList, r)
		for _, e := range page.RouteEntrys.RouteEntry {
			if e.Type != "Custom" || len(e.NextHops.NextHop) != 1 || e.NextHops.NextHop[0].NextHopType != "Instance" {
				c.t.Errorf("a route: %+v", e)
				continue
			}
			routes[e.DestinationCidrBlock] = e.NextHops.NextHop[0].NextHopId
		}
		if r.NextToken = page.NextToken; r.NextToken == "" {
			return routes
		}
	}
}

// 11. Routes of many nodes are made and deleted at once; those that fail are
// named one by one in an answer of success.
func TestCCMRoutesInBatches(t *testing.T) {
	c := newCCM(t)
	tables := vpc.CreateDescribeRouteTableListRequest()
	tables.VpcId = vpc1
	list := call(t, c.VPC.DescribeRouteTableList, tables).RouterTableList.RouterTableListType
	if len(list) != 1 {
		t.Fatalf("tables: %+v", list)
	}
	table := list[0].RouteTableId

	create := vpc.CreateCreateRouteEntriesRequest()
	create.RouteEntries = &[]vpc.CreateRouteEntriesRouteEntries{
		{RouteTableId: table, DstCidrBlock: "172.20.0.0/24", NextHop: node1, NextHopType: "Instance"},
		{RouteTableId: table, DstCidrBlock: "172.20.1.0/24", NextHop: node2, NextHopType: "Instance"},
	}
	if made := call(t, c.VPC.CreateRouteEntries, create); len(made.RouteEntryIds) != 2 || len(made.FailedRouteEntries) != 0 {
		t.Errorf("CreateRouteEntries = %+v", made)
	}
	again := call(t, c.VPC.CreateRouteEntries, create).FailedRouteEntries
	if len(again) != 2 || again[0].FailedCode != "VPC_ROUTE_ENTRY_CIDR_BLOCK_DUPLICATE" || again[0].NextHop == "" {
		t.Errorf("created again: %+v", again)
	}
	if routes := c.routes(table); len(routes) != 2 || routes["172.20.1.0/24"] != node2 {
		t.Errorf("routes: %v", routes)
	}

	remove := vpc.CreateDeleteRouteEntriesRequest()
	remove.RouteEntries = &[]vpc.DeleteRouteEntriesRouteEntries{
		{RouteTableId: table, DstCidrBlock: "172.20.0.0/24", NextHop: node1},
		{RouteTableId: table, DstCidrBlock: "172.20.9.0/24", NextHop: node1},
	}
	failed := call(t, c.VPC.DeleteRouteEntries, remove).FailedRouteEntries
	if len(failed) != 1 || failed[0].FailedCode != "VPC_ROUTER_ENTRY_NOT_EXIST" {
		t.Errorf("deleted: %+v", failed)
	}
	if routes := c.routes(table); len(routes) != 1 {
		t.Errorf("routes: %v", routes)
	}
}

// The periodic pass makes and deletes routes one by one, and knows the codes for
// those that are there, or gone, already.
func TestCCMRoutesOneByOne(t *testing.T) {
	c := newCCM(t)
	create := vpc.CreateCreateRouteEntryRequest()
	create.RouteTableId, create.DestinationCidrBlock, create.NextHopType, create.NextHopId = vtb1, "172.20.0.0/24", "Instance", node1
	call(t, c.VPC.CreateRouteEntry, create)
	refuse(t, c.VPC.CreateRouteEntry, create, "InvalidCIDRBlock.Duplicate")
	same := vpc.CreateDescribeRouteEntryListRequest()
	same.RouteTableId, same.DestinationCidrBlock, same.NextHopType, same.NextHopId = vtb1, "172.20.0.0/24", "Instance", node1
	if found := call(t, c.VPC.DescribeRouteEntryList, same).RouteEntrys.RouteEntry; len(found) != 1 {
		t.Errorf("the route: %+v", found)
	}
	remove := vpc.CreateDeleteRouteEntryRequest()
	remove.RouteTableId, remove.DestinationCidrBlock, remove.NextHopId = vtb1, "172.20.0.0/24", node1
	call(t, c.VPC.DeleteRouteEntry, remove)
	refuse(t, c.VPC.DeleteRouteEntry, remove, "InvalidRouteEntry.NotFound")
}

// What a CCM writes into names and descriptions comes back as it was: it
// recognises its own things by them.
func TestCCMRecognisesItsOwn(t *testing.T) {
	c := newCCM(t)
	id := c.create()
	for _, name := range []string{description(80), "k8s/80/" + strings.Repeat("s", 50) + "/kube-system/" + strings.Repeat("c", 33)} {
		group := c.createGroup(id, name)
		r := slb.CreateDescribeVServerGroupAttributeRequest()
		r.VServerGroupId = group
		if got := call(t, c.SLB.DescribeVServerGroupAttribute, r).VServerGroupName; got != name {
			t.Errorf("group name %q, want %q", got, name)
		}
	}
}
