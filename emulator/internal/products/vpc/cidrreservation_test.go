package vpc_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/state"
)

var (
	newReservation = params{"VSwitchId": vSwitchID, "VSwitchCidrReservationCidr": "192.168.0.128/26"}
	aReservation   = params{"VSwitchCidrReservationId": "vcr-1"}
	noReservation  = params{"VSwitchCidrReservationId": "vcr-none"}
)

// reserved plants a reservation in the first vSwitch.
func reserved(id, block, status string) func(*state.Tx) error {
	return inOwner(func(tx *state.Tx) error {
		cloud.CIDRReservations.Put(tx, &cloud.CIDRReservation{Owner: owner, ID: id, VPCID: vpcID, VSwitchID: vSwitchID, CIDRBlock: block, Status: status})
		return nil
	})
}

func masked(mask string) params {
	return params{"VSwitchId": vSwitchID, "VSwitchCidrReservationMask": mask}
}

func blocked(block string) params {
	return with(newReservation, params{"VSwitchCidrReservationCidr": block})
}

var cidrReservationErrorCases = []gatewaytest.ErrorCase{
	{Name: "Neither", Action: "CreateVSwitchCidrReservation", Params: params{"VSwitchId": vSwitchID}, Status: 400, Code: "MissingParam.CidrOrMask"},
	{Name: "Both", Action: "CreateVSwitchCidrReservation", Params: with(newReservation, params{"VSwitchCidrReservationMask": "28"}), Status: 400, Code: "MissingParam.CidrOrMask"},
	{Name: "NoVSwitch", Action: "CreateVSwitchCidrReservation", Params: with(newReservation, params{"VSwitchId": "vsw-none"}), Status: 404, Code: "InvalidVSwitchId.NotFound"},
	{Name: "Name", Action: "CreateVSwitchCidrReservation", Params: with(newReservation, params{"VSwitchCidrReservationName": "http://x"}), Status: 400, Code: "IllegalParam.Name"},
	{Name: "TagKey", Action: "CreateVSwitchCidrReservation", Params: with(newReservation, params{"Tag.1.Key": "acs:x"}), Status: 400, Code: "InvalidTagKey"},
	{Name: "NoNumber", Action: "CreateVSwitchCidrReservation", Params: masked("x"), Status: 400, Code: "IllegalParam.VSwitchCidrReservationMask"},
	{Name: "TooLarge", Action: "CreateVSwitchCidrReservation", Params: masked("24"), Status: 400, Code: "IllegalParam.VSwitchCidrReservationMask"},
	{Name: "TooSmall", Action: "CreateVSwitchCidrReservation", Params: masked("29"), Status: 400, Code: "IllegalParam.VSwitchCidrReservationMask"},
	{Name: "NoIPv6", Action: "CreateVSwitchCidrReservation", Params: with(masked("80"), params{"IpVersion": "IPv6"}), Status: 400, Code: "IllegalParam.VSwitchCidrReservationMask"},
	{Name: "Full", Action: "CreateVSwitchCidrReservation", Params: masked("25"), Status: 400, Code: "OperationFailed.CidrConflict"},
	{Name: "Malformed", Action: "CreateVSwitchCidrReservation", Params: blocked("192.168.0.129/26"), Status: 400, Code: "IllegalParam.VSwitchCidrReservationCidr"},
	{Name: "Outside", Action: "CreateVSwitchCidrReservation", Params: blocked("192.168.9.0/28"), Status: 400, Code: "IllegalParam.VSwitchCidrReservationCidr"},
	{Name: "First", Action: "CreateVSwitchCidrReservation", Params: blocked("192.168.0.0/28"), Status: 400, Code: "IllegalParam.VSwitchCidrReservationCidr"},
	{Name: "Last", Action: "CreateVSwitchCidrReservation", Params: blocked("192.168.0.240/28"), Status: 400, Code: "IllegalParam.VSwitchCidrReservationCidr"},
	{Name: "InUse", Action: "CreateVSwitchCidrReservation", Params: blocked("192.168.0.96/28"), Status: 400, Code: "OperationFailed.CidrConflict"},
	{Name: "Overlaps", Action: "CreateVSwitchCidrReservation", Params: newReservation, Plant: reserved("vcr-1", "192.168.0.144/28", "Assigned"), Status: 400, Code: "OperationFailed.CidrConflict"},
	{Name: "Quota", Action: "CreateVSwitchCidrReservation", Params: newReservation, Status: 400, Code: "QuotaExceeded.VSwitchCidrReservation",
		Plant: times(100, func(i int) func(*state.Tx) error {
			return reserved(fmt.Sprintf("vcr-%d", i), "10.0.0.0/28", "Assigned")
		})},
	{Name: "DryRun", Action: "CreateVSwitchCidrReservation", Params: with(newReservation, params{"DryRun": "true"}), Status: 400, Code: "DryRunOperation", Plant: roomFor},
	{Name: "Unknown", Action: "DeleteVSwitchCidrReservation", Params: noReservation, Status: 400, Code: "ResourceNotFound.VSwitchCidrReservation"},
	{Name: "Busy", Action: "DeleteVSwitchCidrReservation", Params: aReservation, Plant: reserved("vcr-1", "192.168.0.128/26", "Assigning"), Status: 400, Code: "IncorrectStatus"},
	{Name: "Unknown", Action: "ModifyVSwitchCidrReservationAttribute", Params: noReservation, Status: 400, Code: "ResourceNotFound.VSwitchCidrReservation"},
	{Name: "Token", Action: "ListVSwitchCidrReservations", Params: params{"NextToken": "x"}, Status: 400, Code: "IllegalParam.NextToken"},
	{Name: "Taken", Action: "CreateHaVip", Params: params{"VSwitchId": vSwitchID, "IpAddress": "192.168.0.130"}, Plant: reserved("vcr-1", "192.168.0.128/26", "Assigned"), Status: 400, Code: "InvalidIpAddress.AlreadyUsed"},
}

// roomFor takes the load balancer away whose address chance may have put into the block.
func roomFor(tx *state.Tx) error {
	cloud.LoadBalancers.Remove(tx.In(owner), "lb-intranet")
	return nil
}

// A reserved block has no free addresses, counts as used, and keeps its vSwitch:
// CLB-0563.
func TestCIDRReservation(t *testing.T) {
	c, clock := newRealisticClient(t, roomFor)
	free := func() int {
		n := 0
		_, _ = fmt.Sscan(c.Do("DescribeVSwitches", params{"VSwitchId": vSwitchID}).Text("VSwitches.VSwitch.0.AvailableIpAddressCount"), &n)
		return n
	}
	before := free()
	id := c.Do("CreateVSwitchCidrReservation", with(newReservation, params{"VSwitchCidrReservationName": "pods", "Tag.1.Key": "app"})).Text("VSwitchCidrReservationId")
	second := c.Do("CreateVSwitchCidrReservation", masked("/28")).Text("VSwitchCidrReservationId")
	const at = "VSwitchCidrReservations.0."
	named := func(id string) params { return params{"VSwitchId": vSwitchID, "VSwitchCidrReservationIds.1": id} }
	gatewaytest.Expect(t, c.Do("ListVSwitchCidrReservations", named(id)), map[string]string{"TotalCount": "1", at + "Status": "Assigning", at + "AvailableCidrCount": "4"})
	clock.Advance(3 * time.Second)
	if got := free(); got != before-64-16 {
		t.Errorf("%d addresses are free, want %d", got, before-64-16)
	}
	got := c.Do("ListVSwitchCidrReservations", named(second))
	gatewaytest.Expect(t, got, map[string]string{at + "Status": "Assigned", at + "VSwitchCidrReservationCidr": "192.168.0.16/28"})
	gatewaytest.Expect(t, c.Do("CheckCanAllocateVpcPrivateIpAddress", params{"VSwitchId": vSwitchID, "PrivateIpAddress": "192.168.0.130"}), map[string]string{"CanAllocate": "false"})
	for range 40 {
		ip := c.Do("CreateHaVip", params{"VSwitchId": vSwitchID}).Text("IpAddress")
		last := 0
		if _, err := fmt.Sscanf(ip, "192.168.0.%d", &last); err != nil || last >= 128 && last < 192 || last >= 16 && last < 32 {
			t.Errorf("the reserved address %s is given out", ip)
		}
	}
	c.Do("ModifyVSwitchCidrReservationAttribute", params{"VSwitchCidrReservationId": id, "VSwitchCidrReservationDescription": "of pods"})
	gatewaytest.Expect(t, c.Do("ListVSwitchCidrReservations", params{"Tags.1.Key": "app"}), map[string]string{at + "VSwitchCidrReservationDescription": "of pods"})
	c.Do("DeleteVSwitchCidrReservation", params{"VSwitchCidrReservationId": id})
	gatewaytest.Expect(t, c.Do("ListVSwitchCidrReservations", named(id)), map[string]string{at + "Status": "Releasing"})
	clock.Advance(3 * time.Second)
	gatewaytest.Expect(t, c.Do("ListVSwitchCidrReservations", named(id)), map[string]string{"TotalCount": "0"})
}

// Reservations work for IPv6 too, and a vSwitch with a reservation stays.
func TestIPv6Reservation(t *testing.T) {
	c := newClient(t)
	v := c.Do("CreateVSwitch", params{"VpcId": otherVPCID, "ZoneId": "cn-hangzhou-i", "CidrBlock": "10.0.99.0/24", "Ipv6CidrBlock": "7"}).Text("VSwitchId")
	id := c.Do("CreateVSwitchCidrReservation", params{"VSwitchId": v, "IpVersion": "IPv6", "VSwitchCidrReservationMask": "80"}).Text("VSwitchCidrReservationId")
	gatewaytest.Expect(t, c.Do("ListVSwitchCidrReservations", params{"IpVersion": "IPv6"}), map[string]string{
		"VSwitchCidrReservations.0.VSwitchCidrReservationCidr": "2001:db8:8000:7:1::/80", "VSwitchCidrReservations.0.AvailableCidrCount": "1"})
	wantCode(t, c, "DeleteVSwitch", params{"VSwitchId": v}, "DependencyViolation")
	c.Do("DeleteVSwitchCidrReservation", params{"VSwitchCidrReservationId": id})
	c.Do("DeleteVSwitch", params{"VSwitchId": v})
}
