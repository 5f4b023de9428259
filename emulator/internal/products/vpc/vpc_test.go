package vpc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
)

// A VPC comes with a router and a system route table, lives through the Describes
// and goes with all that came with it.
func TestVPCLife(t *testing.T) {
	c := newClient(t)
	made := c.Do("CreateVpc", params{"VpcName": "new", "EnableIpv6": "true", "Tag.1.Key": "team", "Tag.1.Value": "a"})
	id, table := made.Text("VpcId"), made.Text("RouteTableId")
	if !strings.HasPrefix(made.Text("VRouterId"), "vrt-bp1") || made.Text("ResourceGroupId") != "rg-clbemu0default" {
		t.Errorf("CreateVpc = %v, want a router's id and the default resource group", made.Body)
	}
	described := c.Do("DescribeVpcAttribute", params{"VpcId": id})
	gatewaytest.Expect(t, described, map[string]string{
		"VpcName": "new", "CidrBlock": "172.16.0.0/12", "Status": "Available", "OwnerId": accountID, "EnabledIpv6": "true",
		"CreationTime": "2026-01-02T03:04:05Z", "Tags.Tag.0.Key": "team", "Tags.Tag.0.Value": "a",
		"Ipv6CidrBlocks.Ipv6CidrBlock.0.Ipv6CidrBlock": described.Text("Ipv6CidrBlock"),
	})
	entries := c.Do("DescribeRouteEntryList", params{"RouteTableId": table})
	gatewaytest.Expect(t, entries, map[string]string{
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

// Each filter of DescribeVpcs selects, and the page asked for is echoed.
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
	gatewaytest.Expect(t, second, map[string]string{"PageNumber": "2", "PageSize": "2", "TotalCount": "3"})
	if second.Len("Vpcs.Vpc") != 1 {
		t.Errorf("page 2 of 3 VPCs by 2 = %v, want one", second.Body)
	}
	far := c.Do("DescribeVpcs", params{"PageNumber": "2147483647", "PageSize": "50"})
	if far.Len("Vpcs.Vpc") != 0 {
		t.Errorf("a page beyond the end = %v, want none", far.Body)
	}
}

// The same token makes one VPC, and another after its deletion.
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

// User CIDR blocks and DNS host names stay as requested.
func TestVPCOptions(t *testing.T) {
	c := newClient(t)
	id := c.Do("CreateVpc", params{"UserCidr": "100.100.0.0/16,101.0.0.0/8", "EnableDnsHostname": "true"}).Text("VpcId")
	for _, got := range []struct{ action, prefix string }{{"DescribeVpcs", "Vpcs.Vpc.0."}, {"DescribeVpcAttribute", ""}} {
		gatewaytest.Expect(t, c.Do(got.action, params{"VpcId": id}), map[string]string{
			got.prefix + "UserCidrs.UserCidr.1": "101.0.0.0/8", got.prefix + "DnsHostnameStatus": "ENABLED",
		})
	}
	gatewaytest.Expect(t, c.Do("DescribeVpcs", params{"VpcId": vpcID}), map[string]string{"Vpcs.Vpc.0.DnsHostnameStatus": "DISABLED"})
}

// Clients tag what the API tags, list by resource and by tag, and untag.
func TestTagResources(t *testing.T) {
	c := newClient(t)
	eip := c.Do("AllocateEipAddress", params{"Bandwidth": "5"}).Text("AllocationId")
	table := c.Do("CreateRouteTable", params{"VpcId": vpcID}).Text("RouteTableId")
	for kind, id := range map[string]string{"VPC": vpcID, "VSWITCH": vSwitchID, "ROUTETABLE": table, "EIP": eip} {
		named := params{"ResourceType": kind, "ResourceId.1": id}
		c.Do("TagResources", with(named, params{"Tag.1.Key": "own", "Tag.1.Value": "1", "Tag.2.Key": "more"}))
		const first = "TagResources.TagResource.0."
		listed := c.Do("ListTagResources", with(named, params{"Tag.1.Key": "own", "Tag.1.Value": "1", "MaxResults": "1"}))
		gatewaytest.Expect(t, listed, map[string]string{first + "ResourceId": id, first + "ResourceType": kind, first + "TagKey": "more"})
		rest := c.Do("ListTagResources", with(named, params{"NextToken": listed.Text("NextToken")}))
		gatewaytest.Expect(t, rest, map[string]string{first + "TagKey": "own", first + "TagValue": "1", "NextToken": ""})
		c.Do("UnTagResources", named)
		if n := c.Do("ListTagResources", params{"ResourceType": kind, "Tag.1.Key": "own"}).Len("TagResources.TagResource"); n != 2 {
			t.Errorf("%s has %d tags after none was taken off, want 2", kind, n)
		}
		c.Do("UnTagResources", with(named, params{"TagKey.1": "own"}))
		c.Do("UnTagResources", with(named, params{"All": "true"}))
		if n := c.Do("ListTagResources", named).Len("TagResources.TagResource"); n != 0 {
			t.Errorf("%s has %d tags left, want none", kind, n)
		}
	}
}
