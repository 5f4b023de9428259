package vpc_test

import (
	"fmt"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
)

// A custom table shows next to the system one, with the vSwitches that use each.
func TestRouteTables(t *testing.T) {
	c := newClient(t)
	id := c.Do("CreateRouteTable", params{"VpcId": vpcID, "RouteTableName": "pods", "Tag.1.Key": "team", "Tag.1.Value": "net"}).Text("RouteTableId")
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
		{params{"Tag.1.Key": "team", "Tag.1.Value": "net"}, 1},
	} {
		if got := c.Do("DescribeRouteTableList", f.params); got.Text("TotalCount") != fmt.Sprint(f.want) {
			t.Errorf("DescribeRouteTableList(%v) = %v, want %d", f.params, got.Body, f.want)
		}
	}
	gatewaytest.Expect(t, c.Do("DescribeRouteTableList", params{"RouteTableId": id}), map[string]string{
		"Code": "200", // CLB-0315
		"RouterTableList.RouterTableListType.0.Tags.Tag.0.Key": "team", "RouterTableList.RouterTableListType.0.Tags.Tag.0.Value": "net",
	})
	system := c.Do("DescribeRouteTableList", params{"RouteTableId": routeTableID})
	if system.Len("RouterTableList.RouterTableListType.0.VSwitchIds.VSwitchId") != 2 {
		t.Errorf("the system table = %v, want two vSwitches", system.Body)
	}
	c.Do("DeleteRouteTable", params{"RouteTableId": id})
	if got := c.Do("DescribeRouteTableList", params{"VpcId": vpcID}); got.Text("TotalCount") != "1" {
		t.Errorf("route tables after the deletion = %v, want the system's", got.Body)
	}
}

// The older list of tables has their entries, each with its next hop next to the list
// of them.
func TestDescribeRouteTables(t *testing.T) {
	c := newClient(t, customEntry(routeTableID, "172.20.0.0/24", instanceID))
	got := c.Do("DescribeRouteTables", params{"RouteTableId": routeTableID})
	found := false
	for i := range got.Len("RouteTables.RouteTable.0.RouteEntrys.RouteEntry") {
		at := fmt.Sprintf("RouteTables.RouteTable.0.RouteEntrys.RouteEntry.%d.", i)
		if got.Text(at+"DestinationCidrBlock") == "172.20.0.0/24" {
			found = got.Text(at+"InstanceId") == instanceID && got.Text(at+"NextHopType") == "Instance"
		}
	}
	if got.Text("TotalCount") != "1" || !found {
		t.Errorf("DescribeRouteTables = %v, want the table with its entry", got.Body)
	}
	for _, f := range []params{{"RouteTableId": "vtb-none"}, {"VRouterId": "vrt-none"}, {"RouterType": "VBR"}, {"RouteTableName": "x"}, {"Type": "Custom"}, {"ResourceGroupId": "rg-x"}} {
		if n := c.Do("DescribeRouteTables", f).Text("TotalCount"); n != "0" {
			t.Errorf("DescribeRouteTables(%v) found %s, want none", f, n)
		}
	}
}
