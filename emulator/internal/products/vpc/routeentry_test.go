package vpc_test

import (
	"fmt"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// Every filter finds an entry, and a name or an id deletes it.
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
	gatewaytest.Expect(t, got, map[string]string{
		"RouteEntrys.RouteEntry.0.Status":                             "Available",
		"RouteEntrys.RouteEntry.0.NextHops.NextHop.0.NextHopId":       instanceID,
		"RouteEntrys.RouteEntry.0.NextHops.NextHop.0.NextHopRegionId": region,
	})
	c.Do("DeleteRouteEntry", oldEntry)
	id = c.Do("CreateRouteEntry", with(newEntry, params{"NextHopType": "NetworkInterface", "NextHopId": eniID})).Text("RouteEntryId")
	c.Do("DeleteRouteEntry", params{"RouteEntryId": id})
}

// An IPv6 block leads to an interface with an IPv6 address, alone and in a batch.
func TestIPv6RouteEntry(t *testing.T) {
	c := newClient(t, inOwner(func(tx *state.Tx) error {
		if err := kinds.VPCs.Edit(tx, vpcID, func(v *kinds.VPC) error {
			v.IPv6CIDRBlock = "2001:db8:8001::/56"
			return nil
		}); err != nil {
			return err
		}
		return kinds.NetworkInterfaces.Edit(tx, eniID, func(n *kinds.NetworkInterface) error {
			n.IPv6Addresses = []string{"2001:db8:8001::11"}
			return nil
		})
	}))
	c.Do("CreateRouteEntry", with(newEntry, params{"DestinationCidrBlock": "2001:db8:9::/64"}))
	made := c.Do("CreateRouteEntries", params{"RouteEntries.1.RouteTableId": routeTableID, "RouteEntries.1.DstCidrBlock": "2001:db8:a::/64",
		"RouteEntries.1.NextHopType": "NetworkInterface", "RouteEntries.1.NextHop": eniID, "RouteEntries.1.IpVersion": "6"})
	gatewaytest.Expect(t, made, map[string]string{"SuccessCount": "1", "FailedCount": "0"})
	got := c.Do("DescribeRouteEntryList", with(list, params{"IpVersion": "IPv6"}))
	gatewaytest.Expect(t, got, map[string]string{"RouteEntrys.RouteEntry.0.IpVersion": "IPv6"})
	if got.Len("RouteEntrys.RouteEntry") != 2 {
		t.Errorf("IPv6 entries = %v, want two", got.Body)
	}
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
	gatewaytest.Expect(t, made, map[string]string{
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
	gatewaytest.Expect(t, deleted, map[string]string{
		"SuccessCount": "1", "FailedCount": "3",
		"FailedRouteEntries.0.FailedCode": "VPC_ROUTER_ENTRY_NOT_EXIST",
		"FailedRouteEntries.1.FailedCode": "InvalidRouteTableId.NotFound",
		"FailedRouteEntries.2.FailedCode": "VPC_ROUTER_ENTRY_NOT_EXIST",
	})
	if c.Call("CreateRouteEntries", with(batch, params{"DryRun": "true"})).Code != "DryRunOperation" {
		t.Error("a dry run of CreateRouteEntries does not answer DryRunOperation")
	}
}
