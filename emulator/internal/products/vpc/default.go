package vpc

import (
	"fmt"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/state"
)

var defaultActions = []gateway.Action{
	gateway.Write("CreateDefaultVpc", createDefaultVPC),
	gateway.Write("CreateDefaultVSwitch", createDefaultVSwitch).Refusing(errIPv6SubnetInvalid),
}

// The refusals of this file.
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
	for vpc := range cloud.VPCsByRegion.InScope(v) {
		if vpc.IsDefault {
			return vpc
		}
	}
	return nil
}

type createDefaultVPCRequest struct {
	RegionID        string   `rpc:"RegionId,required"`
	EnableIPv6      bool     `rpc:"EnableIpv6"`
	IPv6CIDRBlock   string   `rpc:"Ipv6CidrBlock"`
	EnableVSwitch   bool     `rpc:"EnableDefaultVSwitch"`
	ZoneIDs         []string `rpc:"ZoneId,max=20"`
	ResourceGroupID string   `rpc:"ResourceGroupId"`
	ClientToken     string   `rpc:"ClientToken"`
}

// Validate implements the gateway's check of shape.
func (r *createDefaultVPCRequest) Validate() error {
	if r.IPv6CIDRBlock != "" {
		return errIPv6BlockNotReserved.Of(r.IPv6CIDRBlock)
	}
	return nil
}

type createDefaultVPCResponse struct {
	VPCID        string           `rpc:"VpcId"`
	VRouterID    string           `rpc:"VRouterId"`
	RouteTableID string           `rpc:"RouteTableId"`
	VSwitches    []defaultVSwitch `rpc:"DefaultVSwitchs"` // the cloud's spelling
}

type defaultVSwitch struct {
	VSwitchID string `rpc:"VSwitchId"`
	ZoneID    string `rpc:"ZoneId"`
}

// createDefaultVPC also creates default vSwitches where the call asks for them, in the
// named zones or in the first one: CLB-0391.
func createDefaultVPC(tx *state.Tx, req *createDefaultVPCRequest) (*createDefaultVPCResponse, error) {
	vpc, err := state.OnceMade(tx, "CreateDefaultVpc", req.ClientToken, req, cloud.VPCs, func() (string, error) {
		if vpc := defaultVPC(tx.View); vpc != nil {
			return "", errDefaultVPCExists.Of(vpc.ID)
		}
		id, err := putVPC(tx, &createVPCRequest{CIDRBlock: defaultBlock, EnableIPv6: req.EnableIPv6, ResourceGroupID: req.ResourceGroupID})
		if err != nil {
			return "", err
		}
		if err := cloud.VPCs.Edit(tx, id, func(vpc *cloud.VPC) error {
			vpc.IsDefault = true
			return nil
		}); err != nil {
			return "", err
		}
		return id, req.putVSwitches(tx)
	})
	if err != nil {
		return nil, err
	}
	resp := &createDefaultVPCResponse{VPCID: vpc.ID, VRouterID: vpc.VRouterID, RouteTableID: systemRouteTable(tx.View, vpc.ID)}
	for s := range cloud.VSwitchesByVPC.List(tx.View, vpc.ID) {
		if s.IsDefault {
			resp.VSwitches = append(resp.VSwitches, defaultVSwitch{s.ID, s.ZoneID})
		}
	}
	return resp, nil
}

func (r *createDefaultVPCRequest) putVSwitches(tx *state.Tx) error {
	if !r.EnableVSwitch {
		return nil
	}
	zones := r.ZoneIDs
	if len(zones) == 0 {
		region, err := cloud.Regions.Get(tx.View, tx.Scope().RegionID)
		if err != nil {
			return err
		}
		for _, z := range region.Zones[:min(1, len(region.Zones))] {
			zones = append(zones, z.ID)
		}
	}
	for _, zone := range zones {
		if _, err := putDefaultVSwitch(tx, &createDefaultVSwitchRequest{ZoneID: zone}); err != nil {
			return err
		}
	}
	return nil
}

type createDefaultVSwitchRequest struct {
	RegionID      string `rpc:"RegionId,required"`
	ZoneID        string `rpc:"ZoneId,required"`
	IPv6CIDRBlock *int   `rpc:"Ipv6CidrBlock,min=0,max=255,invalid=IPv6SubnetInvalid"`
	ClientToken   string `rpc:"ClientToken"`
}

func createDefaultVSwitch(tx *state.Tx, req *createDefaultVSwitchRequest) (*createVSwitchResponse, error) {
	id, err := state.Once(tx, "CreateDefaultVSwitch", req.ClientToken, req, cloud.VSwitches, func() (string, error) {
		return putDefaultVSwitch(tx, req)
	})
	return &createVSwitchResponse{VSwitchID: id}, err
}

// putDefaultVSwitch creates the default vSwitch of a zone, of 20 bits, in the first
// free part of the default VPC.
func putDefaultVSwitch(tx *state.Tx, req *createDefaultVSwitchRequest) (string, error) {
	vpc := defaultVPC(tx.View)
	if vpc == nil {
		return "", errDefaultVPCMissing
	}
	for s := range cloud.VSwitchesByVPC.List(tx.View, vpc.ID) {
		if s.IsDefault && s.ZoneID == req.ZoneID {
			return "", errDefaultVSwitchExists.Of(s.ID)
		}
	}
	for n := range 16 {
		block := fmt.Sprintf("172.31.%d.0/20", n*16)
		if checkVSwitchBlock(tx.View, vpc, block) != nil {
			continue
		}
		id, err := putVSwitch(tx, &createVSwitchRequest{VPCID: vpc.ID, ZoneID: req.ZoneID, CIDRBlock: block, ipv6Subnet: ipv6Subnet{IPv6CIDRBlock: req.IPv6CIDRBlock}})
		if err != nil {
			return "", err
		}
		return id, cloud.VSwitches.Edit(tx, id, func(s *cloud.VSwitch) error {
			s.IsDefault = true
			return nil
		})
	}
	return "", errBlockOverlaps.Of(defaultBlock)
}
