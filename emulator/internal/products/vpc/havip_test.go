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
	newHAVIP  = params{"VSwitchId": vSwitchID}
	aHAVIP    = params{"HaVipId": "havip-1"}
	noHAVIP   = params{"HaVipId": "havip-none"}
	onHAVIP   = params{"HaVipId": "havip-1", "InstanceId": instanceID}
	podsHAVIP = params{"HaVipId": "havip-1", "InstanceId": "eni-pods", "InstanceType": "NetworkInterface"}
	haVIPEIP  = params{"AllocationId": "eip-free", "InstanceId": "havip-1", "InstanceType": "HaVip"}
)

// haVIP plants an HAVIP of the first vSwitch.
func haVIP(changes ...func(*cloud.HAVIP)) func(*state.Tx) error {
	return inOwner(func(tx *state.Tx) error {
		h := &cloud.HAVIP{Owner: owner, ID: "havip-1", VPCID: vpcID, VSwitchID: vSwitchID, IPAddress: "192.168.0.222", Status: cloud.HAVIPAvailable}
		for _, change := range changes {
			change(h)
		}
		_, err := cloud.AllocateAddress(tx, vSwitchID, "192.168.0.0/24", h.IPAddress, cloud.HAVIPs.Kind(), h.ID)
		cloud.HAVIPs.Put(tx, h)
		return err
	})
}

func creatingHAVIP(h *cloud.HAVIP) { h.Status = cloud.HAVIPCreating }
func usedHAVIP(h *cloud.HAVIP) {
	h.Status, h.InstanceType, h.InstanceIDs = cloud.HAVIPInUse, "EcsInstance", []string{instanceID}
}

func fullHAVIP(h *cloud.HAVIP) {
	usedHAVIP(h)
	h.InstanceIDs = nil
	for range 10 {
		h.InstanceIDs = append(h.InstanceIDs, "i-bp1clbemu0000000002")
	}
}

var haVIPErrorCases = []gatewaytest.ErrorCase{
	{Name: "NoVSwitch", Action: "CreateHaVip", Params: params{"VSwitchId": "vsw-none"}, Status: 404, Code: "InvalidVSwitchId.NotFound"},
	{Name: "Name", Action: "CreateHaVip", Params: with(newHAVIP, params{"Name": "http://x"}), Status: 400, Code: "IllegalParam.Name"},
	{Name: "TagKey", Action: "CreateHaVip", Params: with(newHAVIP, params{"Tag.1.Key": "acs:x"}), Status: 400, Code: "InvalidTagKey"},
	{Name: "ResourceGroup", Action: "CreateHaVip", Params: with(newHAVIP, params{"ResourceGroupId": "rg-none"}), Status: 400, Code: "InvalidResourceGroupId"},
	{Name: "Outside", Action: "CreateHaVip", Params: with(newHAVIP, params{"IpAddress": "10.1.1.1"}), Status: 400, Code: "InvalidIpAddress.OutOfVSwitch"},
	{Name: "Taken", Action: "CreateHaVip", Params: with(newHAVIP, params{"IpAddress": "192.168.0.222"}), Plant: haVIP(), Status: 400, Code: "InvalidIpAddress.AlreadyUsed"},
	{Name: "FullVSwitch", Action: "CreateHaVip", Params: newHAVIP, Status: 400, Code: "InvalidVSwitchId.IpNotEnough", Plant: inOwner(func(tx *state.Tx) error {
		s, _ := cloud.VSwitches.Find(tx.View, vSwitchID)
		return cloud.SetFreeAddresses(tx, s, 0)
	})},
	{Name: "Quota", Action: "CreateHaVip", Params: newHAVIP, Status: 400, Code: "QuotaExceeded.HaVip", Plant: both(roomFor, times(50, func(i int) func(*state.Tx) error {
		return haVIP(func(h *cloud.HAVIP) {
			h.ID, h.IPAddress = fmt.Sprintf("havip-%d", i), fmt.Sprintf("192.168.0.%d", 190+i)
		})
	}))},
	{Name: "Unknown", Action: "DeleteHaVip", Params: noHAVIP, Status: 404, Code: "InvalidHaVipId.NotFound"},
	{Name: "Busy", Action: "DeleteHaVip", Params: aHAVIP, Plant: haVIP(creatingHAVIP), Status: 400, Code: "IncorrectHaVipStatus"},
	{Name: "InUse", Action: "DeleteHaVip", Params: aHAVIP, Plant: haVIP(usedHAVIP), Status: 400, Code: "DependencyViolation.Instance"},
	{Name: "HasEIP", Action: "DeleteHaVip", Params: aHAVIP, Plant: both(haVIP(), useEIP("HaVip", "havip-1")), Status: 400, Code: "DependencyViolation.Instance"},
	{Name: "HasRoute", Action: "DeleteHaVip", Params: aHAVIP, Plant: both(haVIP(), leads("HaVip", "havip-1")), Status: 400, Code: "DependencyViolation.RouteEntry"},
	{Name: "Unknown", Action: "ModifyHaVipAttribute", Params: noHAVIP, Status: 404, Code: "InvalidHaVipId.NotFound"},
	{Name: "Description", Action: "ModifyHaVipAttribute", Params: with(aHAVIP, params{"Description": "https://x"}), Plant: haVIP(), Status: 400, Code: "IllegalParam.Description"},
	{Name: "Busy", Action: "AssociateHaVip", Params: onHAVIP, Plant: haVIP(creatingHAVIP), Status: 400, Code: "IncorrectHaVipStatus"},
	{Name: "NoInstance", Action: "AssociateHaVip", Params: with(onHAVIP, params{"InstanceId": "i-none"}), Plant: haVIP(), Status: 404, Code: "InvalidInstanceId.NotFound"},
	{Name: "NoInterface", Action: "AssociateHaVip", Params: with(podsHAVIP, params{"InstanceId": "eni-none"}), Plant: haVIP(), Status: 404, Code: "InvalidInstanceId.NotFound"},
	{Name: "OtherVSwitch", Action: "AssociateHaVip", Params: with(onHAVIP, params{"InstanceId": otherID}), Plant: haVIP(), Status: 400, Code: "OperationDenied.VSwitchMismatch"},
	{Name: "Again", Action: "AssociateHaVip", Params: onHAVIP, Plant: haVIP(usedHAVIP), Status: 400, Code: "InvalidInstanceId.AlreadyAssociated"},
	{Name: "Mixed", Action: "AssociateHaVip", Params: podsHAVIP, Plant: haVIP(usedHAVIP), Status: 400, Code: "InvalidInstanceType.Mismatch"},
	{Name: "Full", Action: "AssociateHaVip", Params: onHAVIP, Plant: haVIP(fullHAVIP), Status: 400, Code: "QuotaExceeded.HaVipInstance"},
	{Name: "NotAssociated", Action: "UnassociateHaVip", Params: onHAVIP, Plant: haVIP(), Status: 400, Code: "InvalidInstanceId.NotAssociated"},
	{Name: "Filter", Action: "DescribeHaVips", Params: params{"Filter.1.Key": "Colour", "Filter.1.Value.1": "red"}, Status: 400, Code: "InvalidFilterKey.ValueNotSupported"},
	{Name: "NoHAVIP", Action: "AssociateEipAddress", Params: haVIPEIP, Status: 404, Code: "InvalidInstanId.NotFound"},
}

// An HAVIP moves between two instances, takes an EIP and a route, and goes when it is
// free of all of them: CLB-0565.
func TestHAVIP(t *testing.T) {
	c, clock := newRealisticClient(t)
	settle := func() { clock.Advance(3 * time.Second) }
	made := c.Do("CreateHaVip", with(newHAVIP, params{"Name": "db", "Tag.1.Key": "app"}))
	id := made.Text("HaVipId")
	one := params{"HaVipId": id}
	const at = "HaVips.HaVip.0."
	shows := func(want map[string]string) {
		t.Helper()
		gatewaytest.Expect(t, c.Do("DescribeHaVips", params{"Filter.1.Key": "HaVipId", "Filter.1.Value.1": id, "Tags.1.Key": "app"}), want)
	}
	shows(map[string]string{at + "Status": "Creating", at + "IpAddress": made.Text("IpAddress"), at + "Name": "db"})
	settle()
	c.Do("ModifyHaVipAttribute", with(one, params{"Description": "of the database"}))
	for _, instance := range []string{instanceID, "i-bp1clbemu0000000002"} {
		c.Do("AssociateHaVip", with(one, params{"InstanceId": instance}))
		shows(map[string]string{at + "Status": "Associating"})
		settle()
	}
	shows(map[string]string{at + "Status": "InUse", at + "MasterInstanceId": instanceID, at + "AssociatedInstances.associatedInstance.1": "i-bp1clbemu0000000002",
		at + "AssociatedInstanceType": "EcsInstance", at + "Description": "of the database"})
	eip := with(haVIPEIP, params{"InstanceId": id})
	c.Do("AssociateEipAddress", eip)
	route := c.Do("CreateRouteEntry", with(newEntry, params{"NextHopType": "HaVip", "NextHopId": id})).Text("RouteEntryId")
	settle()
	if got := c.Do("DescribeHaVips", params{}); got.Len(at+"AssociatedEipAddresses.associatedEipAddresse") != 1 {
		t.Errorf("DescribeHaVips = %v, want an EIP", got.Body)
	}
	wantCode(t, c, "DeleteHaVip", one, "DependencyViolation.Instance")
	c.Do("UnassociateHaVip", with(one, params{"InstanceId": instanceID}))
	shows(map[string]string{at + "Status": "Unassociating"})
	settle()
	shows(map[string]string{at + "Status": "InUse", at + "MasterInstanceId": "i-bp1clbemu0000000002"})
	c.Do("UnassociateHaVip", with(one, params{"InstanceId": "i-bp1clbemu0000000002", "Force": "True"}))
	c.Do("UnassociateEipAddress", eip)
	c.Do("DeleteRouteEntry", params{"RouteEntryId": route})
	settle()
	shows(map[string]string{at + "Status": "Available", at + "AssociatedInstanceType": ""})
	c.Do("DeleteHaVip", one)
	shows(map[string]string{at + "Status": "Deleting"})
	settle()
	shows(map[string]string{"TotalCount": "0"})
}

// A deleted interface has no HAVIP any more.
func TestHAVIPOfTheDeleted(t *testing.T) {
	c := newClient(t, haVIP(func(h *cloud.HAVIP) {
		h.Status, h.InstanceType, h.InstanceIDs = cloud.HAVIPInUse, "NetworkInterface", []string{"eni-pods"}
	}), inOwner(func(tx *state.Tx) error {
		cloud.NetworkInterfaces.Remove(tx, "eni-pods")
		return nil
	}))
	gatewaytest.Expect(t, c.Do("DescribeHaVips", params{}), map[string]string{"HaVips.HaVip.0.Status": "Available", "HaVips.HaVip.0.MasterInstanceId": ""})
}
