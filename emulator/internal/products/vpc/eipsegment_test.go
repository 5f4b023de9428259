package vpc_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/state"
)

var (
	newSegment = params{"EipMask": "28"}
	aSegment   = params{"SegmentInstanceId": "eipsg-1"}
)

// segment plants a segment with one of its EIPs.
func segment(status string, changes ...func(*cloud.EIP)) func(*state.Tx) error {
	return both(plantEIP("eip-of-segment", chargePostPaid), func(tx *state.Tx) error {
		cloud.EIPSegments.Put(tx, &cloud.EIPSegment{Owner: owner, ID: "eipsg-1", CIDRBlock: "198.18.1.0/28", Status: status})
		return cloud.EIPs.Edit(tx, "eip-of-segment", func(e *cloud.EIP) error {
			e.SegmentID = "eipsg-1"
			for _, change := range changes {
				change(e)
			}
			return nil
		})
	})
}

var eipSegmentErrorCases = []gatewaytest.ErrorCase{
	{Name: "NoMask", Action: "AllocateEipSegmentAddress", Status: 400, Code: "MissingEipMask"},
	{Name: "Mask", Action: "AllocateEipSegmentAddress", Params: params{"EipMask": "29"}, Status: 400, Code: "IllegalParam.EipMask"},
	{Name: "Bandwidth", Action: "AllocateEipSegmentAddress", Params: with(newSegment, params{"Bandwidth": "501"}), Status: 400, Code: "InvalidBandwidth.Malformed"},
	{Name: "TrafficBandwidth", Action: "AllocateEipSegmentAddress", Params: with(newSegment, params{"Bandwidth": "201", "InternetChargeType": "PayByTraffic"}), Status: 400, Code: "IllegalParam.Bandwidth"},
	{Name: "ISP", Action: "AllocateEipSegmentAddress", Params: with(newSegment, params{"Isp": "Moon"}), Status: 400, Code: "IllegalParam.Isp"},
	{Name: "Zone", Action: "AllocateEipSegmentAddress", Params: with(newSegment, params{"Zone": "ap-southeast-1-lzdvn-cb"}), Status: 400, Code: "UnsupportedFeature.AllocateEipAddressWithZone"},
	{Name: "ResourceGroup", Action: "AllocateEipSegmentAddress", Params: with(newSegment, params{"ResourceGroupId": "rg-none"}), Status: 400, Code: "InvalidResourceGroupId"},
	{Name: "Arrears", Action: "AllocateEipSegmentAddress", Params: newSegment, Status: 400, Code: "SYSTEM.SALE_VALIDATE_UNEXPECTED_ERROR",
		Plant: func(tx *state.Tx) error { return cloud.SetArrears(tx, accountID, true) }},
	{Name: "Full", Action: "AllocateEipSegmentAddress", Params: newSegment, Status: 400, Code: "OperationFailed.InsufficientEIP",
		Plant: func(tx *state.Tx) error {
			return cloud.Regions.Edit(tx, region, func(r *cloud.Region) error { r.PublicCIDRBlock = "198.18.0.0/28"; return nil })
		}},
	{Name: "Unknown", Action: "ReleaseEipSegmentAddress", Params: params{"SegmentInstanceId": "eipsg-none"}, Status: 400, Code: "InvalidSegmentInstanceId.NotFound"},
	{Name: "Busy", Action: "ReleaseEipSegmentAddress", Params: aSegment, Plant: segment("Allocating"), Status: 400, Code: "IncorrectEipStatus"},
	{Name: "InUse", Action: "ReleaseEipSegmentAddress", Params: aSegment, Status: 400, Code: "IncorrectEipStatus",
		Plant: segment("Allocated", func(e *cloud.EIP) { e.Status, e.InstanceType, e.InstanceID = cloud.EIPInUse, "EcsInstance", instanceID })},
	{Name: "Protected", Action: "ReleaseEipSegmentAddress", Params: aSegment, Status: 400, Code: "InvalidOperation.DeletionProtection",
		Plant: segment("Allocated", func(e *cloud.EIP) { e.DeletionProtection = true })},
	{Name: "OfSegment", Action: "ReleaseEipAddress", Params: params{"AllocationId": "eip-of-segment"}, Plant: segment("Allocated"), Status: 400, Code: "OperationDenied.EipInSegment"},
}

// A segment has EIPs in a row, which work as any other and go together. They
// take nothing of the quota for EIPs: CLB-0564.
func TestEIPSegment(t *testing.T) {
	c, clock := newRealisticClient(t)
	id := c.Do("AllocateEipSegmentAddress", params{"EipMask": "26", "Bandwidth": "20", "InternetChargeType": "PayByTraffic"}).Text("EipSegmentInstanceId")
	one := params{"SegmentInstanceId": id}
	const at = "EipSegments.EipSegment.0."
	gatewaytest.Expect(t, c.Do("DescribeEipSegment", one), map[string]string{at + "Status": "Allocating", at + "IpCount": "64"})
	clock.Advance(3 * time.Second)
	block, err := netip.ParsePrefix(c.Do("DescribeEipSegment", one).Text(at + "Segment"))
	if err != nil || block != block.Masked() {
		t.Errorf("the segment is %s, want a block", block)
	}
	eips := c.Do("DescribeEipAddresses", with(one, params{"PageSize": "100"}))
	gatewaytest.Expect(t, eips, map[string]string{"TotalCount": "64", "EipAddresses.EipAddress.0.SegmentInstanceId": id, "EipAddresses.EipAddress.63.Bandwidth": "20"})
	for i := range eips.Len("EipAddresses.EipAddress") {
		if ip := eips.Text(fmt.Sprintf("EipAddresses.EipAddress.%d.IpAddress", i)); !block.Contains(netip.MustParseAddr(ip)) {
			t.Errorf("%s is not in the segment %s", ip, block)
		}
	}
	c.Do("AllocateEipAddress", params{})
	first := params{"AllocationId": eips.Text("EipAddresses.EipAddress.0.AllocationId"), "InstanceId": instanceID}
	c.Do("AssociateEipAddress", first)
	clock.Advance(3 * time.Second)
	wantCode(t, c, "ReleaseEipSegmentAddress", one, "IncorrectEipStatus")
	c.Do("UnassociateEipAddress", first)
	clock.Advance(3 * time.Second)
	c.Do("ReleaseEipSegmentAddress", one)
	gatewaytest.Expect(t, c.Do("DescribeEipSegment", one), map[string]string{at + "Status": "Releasing"})
	clock.Advance(3 * time.Second)
	gatewaytest.Expect(t, c.Do("DescribeEipSegment", one), map[string]string{"TotalCount": "0"})
	gatewaytest.Expect(t, c.Do("DescribeEipAddresses", one), map[string]string{"TotalCount": "0"})
}
