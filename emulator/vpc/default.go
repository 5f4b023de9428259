package vpc

import (
	"fmt"

	"github.com/clbemu/clbemu/emulator/gateway"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

var defaultActions = []gateway.Action{
	gateway.Write("CreateDefaultVpc", createDefaultVPC),
	gateway.Write("CreateDefaultVSwitch", createDefaultVSwitch),
}

// What is refused here.
var (
	errDefaultVPCExists = refusals.New("DefaultVPCExists", 400, "OperationFailed.DefaultVpcExist",
		"The default VPC %s already exists.", "CLB-0391")
	errDefaultVPCMissing = refusals.New("DefaultVPCMissing", 400, "OperationFailed.DefaultVpcNotExist",
		"The region has no default VPC.", "CLB-0391")
	errDefaultVSwitchExists = refusals.New("DefaultVSwitchExists", 400, "OperationFailed.DefaultVSwitchExist",
		"The default vSwitch %s of the zone already exists.", "CLB-0391")
)

// defaultBlock is the block of the default VPC: CLB-0391.
const defaultBlock = "172.31.0.0/16"

// defaultVPC is the account's default VPC in the region, nil if it has none.
func defaultVPC(v *state.View) *cloud.VPC {
	for vpc := range cloud.VPCsByRegion.List(v, v.Scope().AccountID, v.Scope().RegionID) {
		if vpc.IsDefault {
			return vpc
		}
	}
	return nil
}

type createDefaultVPCRequest struct {
	RegionID        string `rpc:"RegionId,required"`
	EnableIPv6      bool   `rpc:"EnableIpv6"`
	ResourceGroupID string `rpc:"ResourceGroupId"`
	ClientToken     string `rpc:"ClientToken"`
}

type createDefaultVPCResponse struct {
	VPCID        string `rpc:"VpcId"`
	VRouterID    string `rpc:"VRouterId"`
	RouteTableID string `rpc:"RouteTableId"`
}

func createDefaultVPC(tx *state.Tx, req *createDefaultVPCRequest) (*createDefaultVPCResponse, error) {
	id, err := state.Once(tx, "CreateDefaultVpc", req.ClientToken, req, cloud.VPCs, func() (string, error) {
		if vpc := defaultVPC(tx.View); vpc != nil {
			return "", errDefaultVPCExists.Of(vpc.ID)
		}
		id, err := putVPC(tx, &createVPCRequest{CIDRBlock: defaultBlock, EnableIPv6: req.EnableIPv6, ResourceGroupID: req.ResourceGroupID})
		if err != nil {
			return "", err
		}
		return id, cloud.VPCs.Edit(tx, id, func(vpc *cloud.VPC) error {
			vpc.IsDefault = true
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	vpc, err := cloud.VPCs.Get(tx.View, id)
	if err != nil {
		return nil, err
	}
	return &createDefaultVPCResponse{VPCID: id, VRouterID: vpc.VRouterID, RouteTableID: systemRouteTable(tx.View, id)}, nil
}

type createDefaultVSwitchRequest struct {
	RegionID    string `rpc:"RegionId,required"`
	ZoneID      string `rpc:"ZoneId,required"`
	ClientToken string `rpc:"ClientToken"`
}

func createDefaultVSwitch(tx *state.Tx, req *createDefaultVSwitchRequest) (*createVSwitchResponse, error) {
	id, err := state.Once(tx, "CreateDefaultVSwitch", req.ClientToken, req, cloud.VSwitches, func() (string, error) {
		vpc := defaultVPC(tx.View)
		if vpc == nil {
			return "", errDefaultVPCMissing
		}
		for s := range cloud.VSwitchesByVPC.List(tx.View, vpc.ID) {
			if s.IsDefault && s.ZoneID == req.ZoneID {
				return "", errDefaultVSwitchExists.Of(s.ID)
			}
		}
		id, err := putDefaultVSwitch(tx, vpc, req.ZoneID)
		if err != nil {
			return "", err
		}
		return id, cloud.VSwitches.Edit(tx, id, func(s *cloud.VSwitch) error {
			s.IsDefault = true
			return nil
		})
	})
	return &createVSwitchResponse{VSwitchID: id}, err
}

// putDefaultVSwitch makes a vSwitch of 20 bits in the first part of the VPC that is free.
func putDefaultVSwitch(tx *state.Tx, vpc *cloud.VPC, zoneID string) (string, error) {
	for n := range 16 {
		block := fmt.Sprintf("172.31.%d.0/20", n*16)
		if checkVSwitchBlock(tx.View, vpc, block) == nil {
			return putVSwitch(tx, &createVSwitchRequest{VPCID: vpc.ID, ZoneID: zoneID, CIDRBlock: block})
		}
	}
	return "", errBlockOverlaps.Of(defaultBlock)
}
