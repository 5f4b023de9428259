package vpc_test

import (
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/state"
)

var secondaryBlock = params{"VpcId": vpcID, "SecondaryCidrBlock": "10.1.0.0/16"}

// plantBlocks gives the first VPC as many secondary blocks as it can have.
var plantBlocks = inOwner(func(tx *state.Tx) error {
	return cloud.VPCs.Edit(tx, vpcID, func(v *cloud.VPC) error {
		v.SecondaryCIDRBlocks = []string{"10.2.0.0/16", "10.3.0.0/16", "10.4.0.0/16", "10.5.0.0/16", "10.6.0.0/16"}
		return nil
	})
})

var secondaryBlockErrorCases = []gatewaytest.ErrorCase{
	{Name: "None", Action: "AssociateVpcCidrBlock", Params: params{"VpcId": vpcID}, Status: 400, Code: "MissingSecondaryCidrBlock"},
	{Name: "Malformed", Action: "AssociateVpcCidrBlock", Params: with(secondaryBlock, params{"SecondaryCidrBlock": "10.1.0.1/16"}), Status: 400, Code: "InvalidParameter"},
	{Name: "Unknown", Action: "AssociateVpcCidrBlock", Params: with(secondaryBlock, params{"VpcId": "vpc-none"}), Status: 404, Code: "InvalidVpcId.NotFound"},
	{Name: "Overlaps", Action: "AssociateVpcCidrBlock", Params: with(secondaryBlock, params{"SecondaryCidrBlock": "192.168.128.0/17"}), Status: 400, Code: "InvalidCidrBlock.Overlapped"},
	{Name: "OverlapsSecond", Action: "AssociateVpcCidrBlock", Params: with(secondaryBlock, params{"SecondaryCidrBlock": "10.2.128.0/17"}), Plant: plantBlocks, Status: 400, Code: "InvalidCidrBlock.Overlapped"},
	{Name: "TooMany", Action: "AssociateVpcCidrBlock", Params: secondaryBlock, Plant: plantBlocks, Status: 400, Code: "QuotaExceeded.SecondaryCidrBlock"},
	{Name: "IPv6", Action: "AssociateVpcCidrBlock", Params: with(secondaryBlock, params{"IpVersion": "IPV6"}), Status: 400, Code: "InvalidAction.NotEmulated"},
	{Name: "NotOne", Action: "UnassociateVpcCidrBlock", Params: secondaryBlock, Status: 400, Code: "InvalidCidrBlock.NotFound"},
	{Name: "InUse", Action: "UnassociateVpcCidrBlock", Params: with(secondaryBlock, params{"SecondaryCidrBlock": "192.168.0.0/16"}), Status: 400, Code: "OperationFailed.CidrInUse",
		Plant: inOwner(func(tx *state.Tx) error {
			return cloud.VPCs.Edit(tx, vpcID, func(v *cloud.VPC) error {
				v.CIDRBlock, v.SecondaryCIDRBlocks = "172.16.0.0/12", []string{"192.168.0.0/16"}
				return nil
			})
		})},
}

// A VPC gets a block, takes vSwitches in it, and gives it back after them.
func TestSecondaryBlocks(t *testing.T) {
	c := newClient(t)
	blocks := func(want string) {
		t.Helper()
		gatewaytest.Expect(t, c.Do("DescribeVpcAttribute", params{"VpcId": vpcID}), map[string]string{"SecondaryCidrBlocks.SecondaryCidrBlock.0": want})
	}
	c.Do("AssociateVpcCidrBlock", with(secondaryBlock, params{"IpVersion": "IPV4"}))
	blocks("10.1.0.0/16")
	vSwitch := params{"VSwitchId": c.Do("CreateVSwitch", params{"VpcId": vpcID, "ZoneId": "cn-hangzhou-h", "CidrBlock": "10.1.1.0/24"}).Text("VSwitchId")}
	if used := c.Call("UnassociateVpcCidrBlock", secondaryBlock); used.Code != "OperationFailed.CidrInUse" {
		t.Errorf("UnassociateVpcCidrBlock of one in use = %d %s", used.Status, used.Code)
	}
	c.Do("DeleteVSwitch", vSwitch)
	c.Do("UnassociateVpcCidrBlock", secondaryBlock)
	blocks("")
}
