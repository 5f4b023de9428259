package vpc_test

import (
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
)

// A vSwitch has a route in every table of its VPC, and counts its free addresses
// without the four that the cloud keeps.
func TestVSwitchLife(t *testing.T) {
	c := newClient(t, inOwner(customTable))
	id := c.Do("CreateVSwitch", params{"VpcId": otherVPCID, "ZoneId": "cn-hangzhou-j", "CidrBlock": "10.9.0.0/28", "Ipv6CidrBlock": "255", "VSwitchName": "new"}).Text("VSwitchId")
	gatewaytest.Expect(t, c.Do("DescribeVSwitchAttributes", params{"VSwitchId": id}), map[string]string{
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

// A vSwitch that is not there answers, and has no id.
func TestVSwitchGone(t *testing.T) {
	gone := newClient(t).Do("DescribeVSwitchAttributes", params{"VSwitchId": "vsw-none"})
	if gone.Status != 200 || gone.Body["VSwitchId"] != "" || gone.Body["Status"] != "" {
		t.Errorf("DescribeVSwitchAttributes of an unknown id = %d %v, want 200 and an empty id", gone.Status, gone.Body)
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
		c.Lists(t, f.name, "DescribeVSwitches", f.params, "VSwitches.VSwitch", f.want)
	}
	// 252 usable addresses, less two instances, a load balancer and two of pods.
	got := c.Do("DescribeVSwitches", params{"VSwitchId": vSwitchID})
	gatewaytest.Expect(t, got, map[string]string{"VSwitches.VSwitch.0.AvailableIpAddressCount": "247", "PageNumber": "1", "PageSize": "10", "TotalCount": "1"})
}

// A reserved or taken address can't go to a resource.
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
