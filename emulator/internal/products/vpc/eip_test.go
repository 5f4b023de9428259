package vpc_test

import (
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
)

// An EIP goes on each kind of thing that takes one, shows there, and comes off.
func TestEIPLife(t *testing.T) {
	for _, on := range []struct{ kind, id, vpc, privateIP string }{
		{"EcsInstance", instanceID, "", ""},
		{"NetworkInterface", "eni-pods", "", ""},
		{"SlbInstance", "lb-intranet", "", ""},
	} {
		t.Run(on.kind, func(t *testing.T) {
			c := newClient(t)
			made := c.Do("AllocateEipAddress", params{"Bandwidth": "10", "InternetChargeType": "PayByTraffic", "Name": "new"})
			id := made.Text("AllocationId")
			name := params{"AllocationId": id, "InstanceType": on.kind, "InstanceId": on.id}
			c.Do("AssociateEipAddress", name)
			got := c.Do("DescribeEipAddresses", params{"AssociatedInstanceType": on.kind, "AssociatedInstanceId": on.id, "PageSize": "10"})
			gatewaytest.Expect(t, got, map[string]string{
				"EipAddresses.EipAddress.0.IpAddress": made.Text("EipAddress"), "EipAddresses.EipAddress.0.Status": "InUse",
				"EipAddresses.EipAddress.0.Bandwidth": "10", "EipAddresses.EipAddress.0.VpcId": on.vpc,
				"TotalCount": "1", "PageNumber": "1", "PageSize": "10", "EipAddresses.EipAddress.0.AvailableRegions.AvailableRegion.0": region,
			})
			if _, listed := got.Get("EipAddresses.EipAddress.0.OperationLocks.LockReason").([]any); !listed {
				t.Errorf("DescribeEipAddresses = %v, want a list of locks", got.Body) // CLB-0523
			}
			if ip := got.Text("EipAddresses.EipAddress.0.PrivateIpAddress"); on.kind != "SlbInstance" && ip != on.privateIP {
				t.Errorf("PrivateIpAddress = %s, want %s", ip, on.privateIP)
			}
			c.Do("UnassociateEipAddress", name)
			c.Do("ReleaseEipAddress", params{"AllocationId": id})
			c.Do("AllocateEipAddress", params{"IpAddress": made.Text("EipAddress")})
		})
	}
}

// Each address of an interface takes an EIP of its own, which shows the address that
// its association named.
func TestEIPsOfInterface(t *testing.T) {
	c := newClient(t)
	eip := func(id string) gatewaytest.Reply { return c.Do("DescribeEipAddresses", params{"AllocationId": id}) }
	associate := params{"InstanceType": "NetworkInterface", "InstanceId": "eni-pods"}
	second := c.Do("AllocateEipAddress", nil).Text("AllocationId")
	named := with(associate, params{"AllocationId": second, "PrivateIpAddress": "192.168.0.101"})
	c.Do("AssociateEipAddress", with(named, params{"Mode": "NAT"}))
	gatewaytest.Expect(t, eip(second), map[string]string{"EipAddresses.EipAddress.0.PrivateIpAddress": "192.168.0.101", "EipAddresses.EipAddress.0.VpcId": ""})
	if again := c.Call("AssociateEipAddress", with(named, params{"AllocationId": "eip-free"})); again.Code != "InvalidAssociation.Duplicated" {
		t.Errorf("a second EIP on the address = %d %s", again.Status, again.Code)
	}
	c.Do("AssociateEipAddress", with(associate, params{"AllocationId": "eip-free"}))
	gatewaytest.Expect(t, eip("eip-free"), map[string]string{"EipAddresses.EipAddress.0.PrivateIpAddress": "", "EipAddresses.EipAddress.0.VpcId": ""})
	if other := c.Call("UnassociateEipAddress", with(named, params{"PrivateIpAddress": "192.168.0.100"})); other.Code != "InvalidBindInstance.NotFound" {
		t.Errorf("UnassociateEipAddress of another address = %d %s", other.Status, other.Code)
	}
	c.Do("UnassociateEipAddress", named)
	c.Do("AssociateEipAddress", with(named, params{"PrivateIpAddress": ""}).With(params{"InstanceType": "EcsInstance", "InstanceId": otherID}))
	gatewaytest.Expect(t, eip(second), map[string]string{"EipAddresses.EipAddress.0.PrivateIpAddress": ""})
}

// An EIP comes off whatever it is on when the request names only the EIP.
func TestUnassociateUnnamed(t *testing.T) {
	c := newClient(t, useEIP("SlbInstance", "lb-intranet"))
	c.Do("UnassociateEipAddress", params{"AllocationId": "eip-free"})
	gatewaytest.Expect(t, c.Do("DescribeEipAddresses", params{"AllocationId": "eip-free"}), map[string]string{
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
		c.Lists(t, f.name, "DescribeEipAddresses", f.params, "EipAddresses.EipAddress", f.want)
	}
}
