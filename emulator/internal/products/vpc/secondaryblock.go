package vpc

import (
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/state"
)

var secondaryBlockActions = []gateway.Action{
	gateway.Write("AssociateVpcCidrBlock", associateVPCCIDRBlock),
	gateway.Write("UnassociateVpcCidrBlock", unassociateVPCCIDRBlock),
}

// The refusals of this file.
var (
	errSecondaryBlockOverlaps = refusals.New("SecondaryBlockOverlaps", 400, "InvalidCidrBlock.Overlapped",
		"The CIDR block %s overlaps another of the VPC.", "CLB-0534")
	errTooManySecondaryBlocks = refusals.New("TooManySecondaryBlocks", 400, "QuotaExceeded.SecondaryCidrBlock",
		"The VPC %s has as many secondary CIDR blocks as it can have.", "CLB-0534")
	errSecondaryBlockUnknown = refusals.New("SecondaryBlockUnknown", 400, "InvalidCidrBlock.NotFound",
		"The CIDR block %s is not one of the VPC's secondary blocks.", "CLB-0534")
	errSecondaryBlockInUse = refusals.New("SecondaryBlockInUse", 400, "OperationFailed.CidrInUse",
		"The vSwitch %s is in the CIDR block.", "CLB-0534")
)

// maxSecondaryBlocks limits the secondary blocks of a VPC: CLB-0534.
const maxSecondaryBlocks = 5

type secondaryBlockRequest struct {
	RegionID  string `rpc:"RegionId,required"`
	VPCID     string `rpc:"VpcId,required"`
	CIDRBlock string `rpc:"SecondaryCidrBlock"`
}

// Validate implements the gateway's check of shape.
func (r *secondaryBlockRequest) Validate() error {
	if r.CIDRBlock == "" {
		return gateway.Missing("SecondaryCidrBlock")
	}
	return checkVPCBlock(r.CIDRBlock)
}

// associateVPCCIDRBlock adds an IPv4 block to a VPC, at once.
func associateVPCCIDRBlock(tx *state.Tx, req *secondaryBlockRequest) (*gateway.Empty, error) {
	return &gateway.Empty{}, cloud.VPCs.Edit(tx, req.VPCID, func(vpc *cloud.VPC) error {
		added, _ := parseCIDR(req.CIDRBlock)
		for _, block := range slices.Concat([]string{vpc.CIDRBlock}, vpc.SecondaryCIDRBlocks) {
			if other, ok := parseCIDR(block); ok && other.Overlaps(added) {
				return errSecondaryBlockOverlaps.Of(req.CIDRBlock)
			}
		}
		if len(vpc.SecondaryCIDRBlocks) >= maxSecondaryBlocks {
			return errTooManySecondaryBlocks.Of(vpc.ID)
		}
		vpc.SecondaryCIDRBlocks = append(slices.Clone(vpc.SecondaryCIDRBlocks), req.CIDRBlock)
		return nil
	})
}

// unassociateVPCCIDRBlock takes a block away that no vSwitch is in.
func unassociateVPCCIDRBlock(tx *state.Tx, req *secondaryBlockRequest) (*gateway.Empty, error) {
	return &gateway.Empty{}, cloud.VPCs.Edit(tx, req.VPCID, func(vpc *cloud.VPC) error {
		at := slices.Index(vpc.SecondaryCIDRBlocks, req.CIDRBlock)
		if at < 0 {
			return errSecondaryBlockUnknown.Of(req.CIDRBlock)
		}
		outer, _ := parseCIDR(req.CIDRBlock)
		for s := range cloud.VSwitchesByVPC.List(tx.View, vpc.ID) {
			if inner, ok := parseCIDR(s.CIDRBlock); ok && within(inner, outer) {
				return errSecondaryBlockInUse.Of(s.ID)
			}
		}
		vpc.SecondaryCIDRBlocks = slices.Delete(slices.Clone(vpc.SecondaryCIDRBlocks), at, at+1)
		return nil
	})
}
