package vpc_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/clbemu/clbemu/emulator/rpc/rpctest"
	"github.com/clbemu/clbemu/emulator/vpc"
	"github.com/clbemu/clbemu/state"
)

func newClient(t *testing.T, plants ...func(*state.Tx) error) *rpctest.Client {
	t.Helper()
	store := rpctest.Store(t, append([]func(*state.Tx) error{plantWorld}, plants...)...)
	return rpctest.NewClient(t, store, vpc.Product())
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

// A VPC comes with a router and a system route table, lives through the Describes
// and is deleted with all that came with it.
func TestVPCLife(t *testing.T) {
	c := newClient(t)
	made := c.Do("CreateVpc", params{"VpcName": "new", "EnableIpv6": "true", "Tag.1.Key": "team", "Tag.1.Value": "a"})
	id, table := made.Text("VpcId"), made.Text("RouteTableId")
	if !strings.HasPrefix(made.Text("VRouterId"), "vrt-bp1") || made.Text("ResourceGroupId") != "rg-clbemu0default" {
		t.Errorf("CreateVpc = %v, want a router's id and the default resource group", made.Body)
	}
	described := c.Do("DescribeVpcAttribute", params{"VpcId": id})
	expect(t, described, map[string]string{
		"VpcName": "new", "CidrBlock": "172.16.0.0/12", "Status": "Available", "OwnerId": accountID, "EnabledIpv6": "true",
		"CreationTime": "2026-01-02T03:04:05Z", "Tags.Tag.0.Key": "team", "Tags.Tag.0.Value": "a",
		"Ipv6CidrBlocks.Ipv6CidrBlock.0.Ipv6CidrBlock": described.Text("Ipv6CidrBlock"),
	})
	entries := c.Do("DescribeRouteEntryList", params{"RouteTableId": table})
	expect(t, entries, map[string]string{
		"RouteEntrys.RouteEntry.0.DestinationCidrBlock": "100.64.0.0/10", "RouteEntrys.RouteEntry.0.Type": "System",
		"RouteEntrys.RouteEntry.0.NextHops.NextHop.0.NextHopType": "local",
	})
	c.Do("DeleteVpc", params{"VpcId": id})
	if left := c.Do("DescribeVpcs", params{"VpcId": id}); left.Text("TotalCount") != "0" {
		t.Errorf("DescribeVpcs of a deleted VPC = %v, want none", left.Body)
	}
	if tables := c.Do("DescribeRouteTableList", params{"RouteTableId": table}); tables.Text("TotalCount") != "0" {
		t.Errorf("the system route table outlives its VPC: %v", tables.Body)
	}
}

// Each filter of DescribeVpcs selects, and the page that was asked for is echoed.
func TestDescribeVPCs(t *testing.T) {
	c := newClient(t)
	c.Do("CreateVpc", params{"VpcName": "tagged", "Tag.1.Key": "team", "Tag.1.Value": "a"})
	for _, f := range []struct {
		name   string
		params params
		want   int
	}{
		{"All", params{}, 3},
		{"IDs", params{"VpcId": vpcID + "," + otherVPCID}, 2},
		{"Name", params{"VpcName": "kubernetes"}, 1},
		{"Tag", params{"Tag.1.Key": "team", "Tag.1.Value": "a"}, 1},
		{"TagKey", params{"Tag.1.Key": "team"}, 1},
		{"OtherTagValue", params{"Tag.1.Key": "team", "Tag.1.Value": "b"}, 0},
		{"IPv6", params{"EnableIpv6": "true"}, 1},
		{"Default", params{"IsDefault": "true"}, 0},
		{"Owner", params{"VpcOwnerId": accountID}, 3},
		{"OtherOwner", params{"VpcOwnerId": "1"}, 0},
		{"DHCPOptionsSet", params{"DhcpOptionsSetId": "dopt-1"}, 0},
		{"OtherRegion", params{"RegionId": "cn-shanghai"}, 0},
		{"ResourceGroup", params{"ResourceGroupId": "rg-clbemu0second"}, 0},
	} {
		t.Run(f.name, func(t *testing.T) {
			got := c.Do("DescribeVpcs", f.params)
			if got.Len("Vpcs.Vpc") != f.want || got.Text("TotalCount") != fmt.Sprint(f.want) {
				t.Errorf("DescribeVpcs(%v) = %v, want %d", f.params, got.Body, f.want)
			}
		})
	}
	second := c.Do("DescribeVpcs", params{"PageNumber": "2", "PageSize": "2"})
	expect(t, second, map[string]string{"PageNumber": "2", "PageSize": "2", "TotalCount": "3"})
	if second.Len("Vpcs.Vpc") != 1 {
		t.Errorf("page 2 of 3 VPCs by 2 = %v, want one", second.Body)
	}
	far := c.Do("DescribeVpcs", params{"PageNumber": "9223372036854775807", "PageSize": "50"})
	if far.Len("Vpcs.Vpc") != 0 {
		t.Errorf("a page beyond the end = %v, want none", far.Body)
	}
}

// The same token makes one VPC, and another once that is gone.
func TestClientToken(t *testing.T) {
	c := newClient(t)
	request := params{"ClientToken": "once", "VpcName": "new"}
	first, again := c.Do("CreateVpc", request), c.Do("CreateVpc", request)
	if first.Text("VpcId") != again.Text("VpcId") {
		t.Errorf("one token made %s and %s", first.Text("VpcId"), again.Text("VpcId"))
	}
	c.Do("DeleteVpc", params{"VpcId": first.Text("VpcId")})
	if third := c.Do("CreateVpc", request); third.Text("VpcId") == first.Text("VpcId") {
		t.Errorf("the token answers the deleted %s", third.Text("VpcId"))
	}
}

// A dry run changes nothing and spends no token.
func TestDryRun(t *testing.T) {
	c := newClient(t)
	before := c.Do("DescribeVpcs", nil).Text("TotalCount")
	c.Call("CreateVpc", params{"DryRun": "true", "ClientToken": "t"})
	if after := c.Do("DescribeVpcs", nil).Text("TotalCount"); after != before {
		t.Errorf("a dry run changed the number of VPCs from %s to %s", before, after)
	}
	c.Do("CreateVpc", params{"VpcName": "other", "ClientToken": "t"})
}

// A vSwitch has a route in every table of its VPC, and counts its free addresses
// without the four that the cloud keeps.
func TestVSwitchLife(t *testing.T) {
	c := newClient(t, inOwner(customTable))
	id := c.Do("CreateVSwitch", params{"VpcId": otherVPCID, "ZoneId": "cn-hangzhou-j", "CidrBlock": "10.9.0.0/28", "Ipv6CidrBlock": "255", "VSwitchName": "new"}).Text("VSwitchId")
	expect(t, c.Do("DescribeVSwitchAttributes", params{"VSwitchId": id}), map[string]string{
		"VSwitchName": "new", "AvailableIpAddressCount": "12", "RouteTable.RouteTableType": "System",
		"RouteTable.RouteTableId": "vtb-bp1clbemu000000000002", "Ipv6CidrBlock": "2001:db8:8000:ff::/64",
	})
	for _, table := range []string{"vtb-bp1clbemu000000000002", "vtb-custom"} {
		routes := c.Do("DescribeRouteEntryList", params{"RouteTableId": table, "DestinationCidrBlock": "10.9.0.0/28"})
		if routes.Text("RouteEntrys.RouteEntry.0.Type") != "System" {
			t.Errorf("routes of %s to the vSwitch = %v, want one of the system", table, routes.Body)
		}
	}
	c.Do("DeleteVSwitch", params{"VSwitchId": id})
	if routes := c.Do("DescribeRouteEntryList", params{"RouteTableId": "vtb-custom"}); routes.Len("RouteEntrys.RouteEntry") != 0 {
		t.Errorf("routes to a deleted vSwitch = %v, want none", routes.Body)
	}
}

// Each filter of DescribeVSwitches selects; an unknown id is no error.
func TestDescribeVSwitches(t *testing.T) {
	c := newClient(t)
	for _, f := range []struct {
		name   string
		params params
		want   int
	}{
		{"All", params{}, 3},
		{"Unknown", params{"VSwitchId": "vsw-none"}, 0},
		{"ID", params{"VSwitchId": vSwitchID}, 1},
		{"VPC", params{"VpcId": vpcID}, 2},
		{"Zone", params{"ZoneId": "cn-hangzhou-i"}, 1},
		{"Name", params{"VSwitchName": "other-h"}, 1},
		{"RouteTable", params{"RouteTableId": routeTableID}, 2},
		{"IPv6", params{"EnableIpv6": "true"}, 0},
		{"Default", params{"IsDefault": "false"}, 3},
		{"Owner", params{"VSwitchOwnerId": "1"}, 0},
		{"Tag", params{"Tag.1.Key": "none"}, 0},
	} {
		t.Run(f.name, func(t *testing.T) {
			if got := c.Do("DescribeVSwitches", f.params); got.Len("VSwitches.VSwitch") != f.want {
				t.Errorf("DescribeVSwitches(%v) = %v, want %d", f.params, got.Body, f.want)
			}
		})
	}
	// 252 usable addresses, less two instances, a load balancer and two of pods.
	got := c.Do("DescribeVSwitches", params{"VSwitchId": vSwitchID})
	expect(t, got, map[string]string{"VSwitches.VSwitch.0.AvailableIpAddressCount": "247", "PageNumber": "1", "PageSize": "10", "TotalCount": "1"})
}

// What is reserved or taken can't be allocated.
func TestCheckCanAllocate(t *testing.T) {
	c := newClient(t)
	for ip, want := range map[string]string{
		"192.168.0.0": "false", "192.168.0.1": "true", "192.168.0.11": "false", "192.168.0.101": "false",
		"192.168.0.252": "true", "192.168.0.253": "false", "192.168.0.255": "false",
	} {
		got := c.Do("CheckCanAllocateVpcPrivateIpAddress", with(probe, params{"PrivateIpAddress": ip}))
		if got.Text("CanAllocate") != want {
			t.Errorf("CanAllocate of %s = %s, want %s", ip, got.Text("CanAllocate"), want)
		}
	}
}

// A custom table shows beside the system one, with the vSwitches that use each.
func TestRouteTables(t *testing.T) {
	c := newClient(t)
	id := c.Do("CreateRouteTable", params{"VpcId": vpcID, "RouteTableName": "pods"}).Text("RouteTableId")
	for _, f := range []struct {
		params params
		want   int
	}{
		{params{"VpcId": vpcID}, 2},
		{params{"RouteTableType": "System"}, 2},
		{params{"RouteTableName": "pods"}, 1},
		{params{"RouteTableId": routeTableID}, 1},
		{params{"RouterType": "VBR"}, 0},
		{params{"RouterId": "vrt-none"}, 0},
		{params{"Tag.1.Key": "none"}, 0},
	} {
		if got := c.Do("DescribeRouteTableList", f.params); got.Text("TotalCount") != fmt.Sprint(f.want) {
			t.Errorf("DescribeRouteTableList(%v) = %v, want %d", f.params, got.Body, f.want)
		}
	}
	system := c.Do("DescribeRouteTableList", params{"RouteTableId": routeTableID})
	if system.Len("RouterTableList.RouterTableListType.0.VSwitchIds.VSwitchId") != 2 {
		t.Errorf("the system table = %v, want two vSwitches", system.Body)
	}
	c.Do("DeleteRouteTable", params{"RouteTableId": id})
	if got := c.Do("DescribeRouteTableList", params{"VpcId": vpcID}); got.Text("TotalCount") != "1" {
		t.Errorf("route tables after the deletion = %v, want the system's", got.Body)
	}
}

// One entry is made, found by every filter, and deleted by name or by id.
func TestRouteEntry(t *testing.T) {
	c := newClient(t)
	id := c.Do("CreateRouteEntry", with(newEntry, params{"RouteEntryName": "pods"})).Text("RouteEntryId")
	for _, f := range []struct {
		params params
		want   int
	}{
		{params{"RouteEntryType": "Custom"}, 1},
		{params{"RouteEntryType": "System"}, 3},
		{params{"RouteEntryType": "BGP"}, 0},
		{params{"NextHopId": instanceID, "NextHopType": "Instance"}, 1},
		{params{"RouteEntryId": id}, 1},
		{params{"RouteEntryName": "pods"}, 1},
		{params{"DestinationCidrBlock": "172.20.0.0/24"}, 1},
		{params{"DestCidrBlockList.1": "172.20.0.0/24", "DestCidrBlockList.2": "100.64.0.0/10"}, 2},
		{params{"IpVersion": "IPv6"}, 0},
		{params{"ServiceType": "TR"}, 0},
		{params{}, 4},
	} {
		if got := c.Do("DescribeRouteEntryList", with(list, f.params)); got.Len("RouteEntrys.RouteEntry") != f.want {
			t.Errorf("DescribeRouteEntryList(%v) = %v, want %d", f.params, got.Body, f.want)
		}
	}
	got := c.Do("DescribeRouteEntryList", with(list, params{"RouteEntryId": id}))
	expect(t, got, map[string]string{
		"RouteEntrys.RouteEntry.0.Status":                             "Available",
		"RouteEntrys.RouteEntry.0.NextHops.NextHop.0.NextHopId":       instanceID,
		"RouteEntrys.RouteEntry.0.NextHops.NextHop.0.NextHopRegionId": region,
	})
	c.Do("DeleteRouteEntry", oldEntry)
	id = c.Do("CreateRouteEntry", with(newEntry, params{"NextHopType": "NetworkInterface", "NextHopId": eniID})).Text("RouteEntryId")
	c.Do("DeleteRouteEntry", params{"RouteEntryId": id})
}

// Pages of entries follow each other without loss, also when entries go between.
func TestRouteEntryPages(t *testing.T) {
	const n = 120
	c := newClient(t, times(n, func(i int) func(*state.Tx) error {
		return customEntry(routeTableID, fmt.Sprintf("172.21.%d.0/24", i), instanceID)
	}))
	seen, token := map[string]bool{}, ""
	for page := 0; page == 0 || token != ""; page++ {
		got := c.Do("DescribeRouteEntryList", with(list, params{"RouteEntryType": "Custom", "MaxResult": "50", "NextToken": token}))
		for i := range got.Len("RouteEntrys.RouteEntry") {
			block := got.Text(fmt.Sprintf("RouteEntrys.RouteEntry.%d.DestinationCidrBlock", i))
			if seen[block] {
				t.Errorf("%s is on two pages", block)
			}
			seen[block] = true
		}
		if page == 0 {
			c.Do("DeleteRouteEntry", params{"RouteTableId": routeTableID, "NextHopId": instanceID,
				"DestinationCidrBlock": got.Text("RouteEntrys.RouteEntry.49.DestinationCidrBlock")})
		}
		token = got.Text("NextToken")
	}
	if len(seen) != n {
		t.Errorf("the pages show %d entries, want %d", len(seen), n)
	}
	whole := c.Do("DescribeRouteEntryList", with(list, params{"MaxResult": "500"}))
	if whole.Text("NextToken") != "" || whole.Len("RouteEntrys.RouteEntry") != n+2 {
		t.Errorf("a page of 500 shows %d entries and the token %q, want all %d", whole.Len("RouteEntrys.RouteEntry"), whole.Text("NextToken"), n+2)
	}
}

// Entries of a batch fail one by one, within an answer of success.
func TestRouteEntriesBatch(t *testing.T) {
	c := newClient(t, customEntry(routeTableID, "172.20.1.0/24", instanceID))
	batch := params{}
	for i, hop := range []string{instanceID, instanceID, otherID, "i-none"} {
		at := fmt.Sprintf("RouteEntries.%d.", i+1)
		batch[at+"RouteTableId"], batch[at+"NextHopType"], batch[at+"NextHop"] = routeTableID, "Instance", hop
		batch[at+"DstCidrBlock"] = fmt.Sprintf("172.20.%d.0/24", i)
	}
	batch["RouteEntries.4.IpVersion"] = "6"
	made := c.Do("CreateRouteEntries", batch)
	expect(t, made, map[string]string{
		"SuccessCount": "1", "FailedCount": "3",
		"FailedRouteEntries.0.FailedCode": "VPC_ROUTE_ENTRY_CIDR_BLOCK_DUPLICATE", "FailedRouteEntries.0.DstCidrBlock": "172.20.1.0/24",
		"FailedRouteEntries.0.NextHop": instanceID, "FailedRouteEntries.1.FailedCode": "OperationFailed.InstanceDismatchCurrentVpc",
		"FailedRouteEntries.2.FailedCode": "InvalidCidrBlock.Malformed",
	})
	if made.Len("RouteEntryIds") != 1 {
		t.Errorf("RouteEntryIds = %v, want the one that was made", made.Body)
	}
	deleted := c.Do("DeleteRouteEntries", params{
		"RouteEntries.1.RouteTableId": routeTableID, "RouteEntries.1.DstCidrBlock": "172.20.0.0/24", "RouteEntries.1.NextHop": instanceID,
		"RouteEntries.2.RouteTableId": routeTableID, "RouteEntries.2.DstCidrBlock": "172.20.9.0/24", "RouteEntries.2.NextHop": instanceID,
		"RouteEntries.3.RouteTableId": "vtb-none", "RouteEntries.3.DstCidrBlock": "172.20.0.0/24", "RouteEntries.3.NextHop": instanceID,
		"RouteEntries.4.RouteTableId": routeTableID, "RouteEntries.4.RouteEntryId": "rte-none",
	})
	expect(t, deleted, map[string]string{
		"SuccessCount": "1", "FailedCount": "3",
		"FailedRouteEntries.0.FailedCode": "VPC_ROUTER_ENTRY_NOT_EXIST",
		"FailedRouteEntries.1.FailedCode": "InvalidRouteTableId.NotFound",
		"FailedRouteEntries.2.FailedCode": "VPC_ROUTER_ENTRY_NOT_EXIST",
	})
	if c.Call("CreateRouteEntries", with(batch, params{"DryRun": "true"})).Code != "DryRunOperation" {
		t.Error("a dry run of CreateRouteEntries does not answer DryRunOperation")
	}
}

// An EIP goes on each kind of thing that takes one, shows there, and comes off.
func TestEIPLife(t *testing.T) {
	for _, on := range []struct{ kind, id, privateIP string }{
		{"EcsInstance", instanceID, "192.168.0.11"},
		{"NetworkInterface", "eni-pods", "192.168.0.100"},
		{"SlbInstance", "lb-intranet", ""},
	} {
		t.Run(on.kind, func(t *testing.T) {
			c := newClient(t)
			made := c.Do("AllocateEipAddress", params{"Bandwidth": "10", "InternetChargeType": "PayByTraffic", "Name": "new"})
			id := made.Text("AllocationId")
			name := params{"AllocationId": id, "InstanceType": on.kind, "InstanceId": on.id}
			c.Do("AssociateEipAddress", name)
			got := c.Do("DescribeEipAddresses", params{"AssociatedInstanceType": on.kind, "AssociatedInstanceId": on.id, "PageSize": "10"})
			expect(t, got, map[string]string{
				"EipAddresses.EipAddress.0.IpAddress": made.Text("EipAddress"), "EipAddresses.EipAddress.0.Status": "InUse",
				"EipAddresses.EipAddress.0.Bandwidth": "10", "EipAddresses.EipAddress.0.VpcId": vpcID,
				"TotalCount": "1", "PageNumber": "1", "PageSize": "10",
			})
			if ip := got.Text("EipAddresses.EipAddress.0.PrivateIpAddress"); on.privateIP != "" && ip != on.privateIP {
				t.Errorf("PrivateIpAddress = %s, want %s", ip, on.privateIP)
			}
			c.Do("UnassociateEipAddress", name)
			c.Do("ReleaseEipAddress", params{"AllocationId": id})
			c.Do("AllocateEipAddress", params{"IpAddress": made.Text("EipAddress")})
		})
	}
}

// An EIP comes off whatever it is on when the request names only the EIP.
func TestUnassociateUnnamed(t *testing.T) {
	c := newClient(t, useEIP("SlbInstance", "lb-intranet"))
	c.Do("UnassociateEipAddress", params{"AllocationId": "eip-free"})
	expect(t, c.Do("DescribeEipAddresses", params{"AllocationId": "eip-free"}), map[string]string{
		"EipAddresses.EipAddress.0.Status": "Available", "EipAddresses.EipAddress.0.InstanceId": "", "EipAddresses.EipAddress.0.VpcId": "",
	})
}

// Each filter of DescribeEipAddresses selects.
func TestDescribeEIPs(t *testing.T) {
	c := newClient(t, useEIP("EcsInstance", instanceID))
	named := c.Do("AllocateEipAddress", params{"Name": "named", "ISP": "BGP_PRO", "Tag.1.Key": "team"})
	for _, f := range []struct {
		name   string
		params params
		want   int
	}{
		{"All", params{}, 3},
		{"Status", params{"Status": "InUse"}, 1},
		{"Address", params{"EipAddress": named.Text("EipAddress")}, 1},
		{"IDs", params{"AllocationId": "eip-free,eip-prepaid,eip-none"}, 2},
		{"Name", params{"EipName": "named"}, 1},
		{"ISP", params{"ISP": "BGP_PRO"}, 1},
		{"ChargeType", params{"ChargeType": "PrePaid"}, 1},
		{"Tag", params{"Tag.1.Key": "team"}, 1},
		{"Instance", params{"AssociatedInstanceId": instanceID}, 1},
		{"OtherType", params{"AssociatedInstanceId": instanceID, "AssociatedInstanceType": "SlbInstance"}, 0},
		{"Type", params{"AssociatedInstanceType": "EcsInstance"}, 1},
		{"Created", params{"Filter.1.Key": "CreationStartTime", "Filter.1.Value": "2026-01-02T00:00Z", "Filter.2.Key": "CreationEndTime", "Filter.2.Value": "2026-01-03T00:00Z"}, 3},
		{"CreatedLater", params{"Filter.1.Key": "CreationStartTime", "Filter.1.Value": "2026-01-03T00:00Z"}, 0},
		{"CreatedBefore", params{"Filter.2.Key": "CreationEndTime", "Filter.2.Value": "2026-01-01T00:00Z"}, 0},
		{"Locked", params{"LockReason": "financial"}, 0},
		{"OtherRegion", params{"RegionId": "cn-shanghai"}, 0},
		{"ResourceGroup", params{"ResourceGroupId": "rg-clbemu0second"}, 0},
	} {
		t.Run(f.name, func(t *testing.T) {
			if got := c.Do("DescribeEipAddresses", f.params); got.Len("EipAddresses.EipAddress") != f.want {
				t.Errorf("DescribeEipAddresses(%v) = %v, want %d", f.params, got.Body, f.want)
			}
		})
	}
}

// Calls at the same time get different addresses, and no more than there are.
func TestLastAddresses(t *testing.T) {
	const callers, block = 16, "198.51.100.0/28" // 12 usable addresses
	store := rpctest.Store(t, plantWorld, func(tx *state.Tx) error {
		state.Regions.Put(tx, &state.Region{ID: "cn-small", PublicCIDRBlock: block})
		return nil
	})
	var refused atomic.Int32
	var taken sync.Map
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			got := rpctest.NewClient(t, store, vpc.Product()).Call("AllocateEipAddress", params{"RegionId": "cn-small"})
			switch {
			case got.Code == "OperationFailed.InsufficientEIP":
				refused.Add(1)
			case got.Code != "":
				t.Errorf("AllocateEipAddress = %s", got.Code)
			default:
				if _, twice := taken.LoadOrStore(got.Text("EipAddress"), true); twice {
					t.Errorf("%s was given out twice", got.Text("EipAddress"))
				}
			}
		})
	}
	wg.Wait()
	if refused.Load() != callers-12 {
		t.Errorf("%d of %d callers were refused, want %d", refused.Load(), callers, callers-12)
	}
}

// A vSwitch gives out its last address once, whoever asks at the same time, and
// then says that it has none.
func TestLastAddressesOfVSwitch(t *testing.T) {
	store := rpctest.Store(t, plantWorld)
	c := rpctest.NewClient(t, store, vpc.Product())
	id := c.Do("CreateVSwitch", with(newVSwitch, params{"CidrBlock": "192.168.9.0/29"})).Text("VSwitchId")
	var wg sync.WaitGroup
	var got atomic.Int32
	for i := range 16 {
		wg.Go(func() {
			err := store.Update(owner, func(tx *state.Tx) error {
				n := &state.NetworkInterface{Owner: owner, ID: fmt.Sprintf("eni-%d", i), VPCID: vpcID, VSwitchID: id}
				ip, err := state.AllocateAddress(tx, id, "192.168.9.0/29", "", state.NetworkInterfaces.Kind(), n.ID)
				if err != nil {
					return err
				}
				n.PrivateIPAddresses = []string{ip}
				state.NetworkInterfaces.Put(tx, n)
				return nil
			})
			if err == nil {
				got.Add(1)
			}
		})
	}
	wg.Wait()
	if got.Load() != 4 {
		t.Errorf("%d of 16 got an address of a /29, want 4", got.Load())
	}
	expect(t, c.Do("DescribeVSwitches", params{"VSwitchId": id}), map[string]string{"VSwitches.VSwitch.0.AvailableIpAddressCount": "0"})
	if reply := c.Call("DeleteVSwitch", params{"VSwitchId": id}); reply.Code != "DependencyViolation" {
		t.Errorf("DeleteVSwitch with interfaces = %s, want DependencyViolation", reply.Code)
	}
}
