package vpc_test

import (
	"fmt"
	"testing"
)

// A custom table shows beside the system one, with the vSwitches that use each.
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
	expect(t, c.Do("DescribeRouteTableList", params{"RouteTableId": id}), map[string]string{
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
