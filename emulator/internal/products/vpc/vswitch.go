package vpc

import (
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var vSwitchActions = []gateway.Action{
	gateway.Write("CreateVSwitch", createVSwitch).Refusing(errIPv6SubnetInvalid),
	gateway.Write("DeleteVSwitch", deleteVSwitch),
	gateway.Read("DescribeVSwitches", describeVSwitches).Refusing(errVSwitchOwnerInvalid),
	gateway.Read("DescribeVSwitchAttributes", describeVSwitchAttributes),
	gateway.Read("CheckCanAllocateVpcPrivateIpAddress", checkCanAllocateVPCPrivateIPAddress).Refusing(errIPVersionIllegal),
}

// The refusals of this file.
var (
	errVSwitchNameMalformed = refusals.New("VSwitchNameMalformed", 400, "InvalidVSwitchName.Malformed",
		"Specified virtual switch name is not valid.", "CLB-0300")
	errVSwitchDescriptionMalformed = refusals.New("VSwitchDescriptionMalformed", 400, "InvalidVSwitchDiscription.Malformed",
		"Specified  virtual switch description is not valid.", "CLB-0300")
	errZoneNotFound = refusals.New("ZoneNotFound", 404, "InvalidZoneId.NotFound",
		"Specified zone does not exist.", "CLB-0300")
	errMaskLengthInvalid = refusals.New("MaskLengthInvalid", 400, "InvalidCirdrBlock.MaskLength",
		"Specified CIDR block is not valid .", "CLB-0300")
	errBlockOutsideVPC = refusals.New("BlockOutsideVPC", 400, "InvalidParameter",
		"Specified CIDR block is not valid in VPC.", "CLB-0300")
	errBlockOverlaps = refusals.New("BlockOverlaps", 400, "InvalidCidrBlock.Overlapped",
		"Specified CIDR block overlapped with other subnets.", "CLB-0300")
	errIPv6SubnetInvalid = refusals.New("IPv6SubnetInvalid", 400, "IllegalParam.Ipv6CidrBlock",
		"The specified Ipv6CidrBlock is not between 0 and 255.", "CLB-0203")
	errIPv6SubnetTaken = refusals.New("IPv6SubnetTaken", 400, "OperationFailed.Ipv6CidrBlockExisted",
		"The IPv6 CIDR block %s exists already.", "CLB-0203")
	errVPCIPv6Disabled = refusals.New("VPCIPv6Disabled", 400, "OperationFailed.VpcIpv6Disabled",
		"IPv6 is not enabled for the VPC.", "CLB-0203")
	errVPCIPv6BlockInvalid = refusals.New("VPCIPv6BlockInvalid", 400, "IllegalParam.VpcIpv6CidrBlock",
		"The specified VpcIpv6CidrBlock %s is not the VPC's.", "CLB-0203")
	errVSwitchInUse = refusals.New("VSwitchInUse", 400, "DependencyViolation",
		"Resources deployed in the vSwitch have not been deleted.", "CLB-0300")
	errVSwitchHasRouteTable = refusals.New("VSwitchHasRouteTable", 400, "DependencyViolation.RouteTable",
		"VSwitch cannot be deleted when associated with route table", "CLB-0300")
)

type createVSwitchRequest struct {
	tagged
	ZoneID      string `rpc:"ZoneId,required"`
	CIDRBlock   string `rpc:"CidrBlock,required"`
	VPCID       string `rpc:"VpcId,required"`
	Name        string `rpc:"VSwitchName,len=1..128,invalid=VSwitchNameMalformed"`
	Description string `rpc:"Description,len=1..256,invalid=VSwitchDescriptionMalformed"`
	ClientToken string `rpc:"ClientToken"`
	ipv6Subnet
}

// ipv6Subnet is the part of a request that asks for an IPv6 block by its number in the
// VPC's.
type ipv6Subnet struct {
	IPv6CIDRBlock    *int   `rpc:"Ipv6CidrBlock,min=0,max=255,invalid=IPv6SubnetInvalid"`
	VPCIPv6CIDRBlock string `rpc:"VpcIpv6CidrBlock"`
}

// The sizes of a vSwitch's block.
const (
	minVSwitchBits = 16
	maxVSwitchBits = 29
)

// Validate implements the gateway's check of shape.
func (r *createVSwitchRequest) Validate() error {
	if err := plainText(r.Name, errVSwitchNameMalformed); err != nil {
		return err
	}
	if err := plainText(r.Description, errVSwitchDescriptionMalformed); err != nil {
		return err
	}
	prefix, ok := parseCIDR(r.CIDRBlock)
	switch {
	case !ok || !prefix.Addr().Is4():
		return errCIDRMalformed.Of(r.CIDRBlock)
	case prefix.Bits() < minVSwitchBits || prefix.Bits() > maxVSwitchBits:
		return errMaskLengthInvalid.Of(r.CIDRBlock)
	}
	return r.check()
}

type createVSwitchResponse struct {
	VSwitchID string `rpc:"VSwitchId"`
}

func createVSwitch(tx *state.Tx, req *createVSwitchRequest) (*createVSwitchResponse, error) {
	id, err := state.Once(tx, "CreateVSwitch", req.ClientToken, req, kinds.VSwitches, func() (string, error) { return putVSwitch(tx, req) })
	if err != nil {
		return nil, err
	}
	return &createVSwitchResponse{VSwitchID: id}, nil
}

func putVSwitch(tx *state.Tx, req *createVSwitchRequest) (string, error) {
	vpc, err := kinds.VPCs.Get(tx.View, req.VPCID)
	if err != nil {
		return "", err
	}
	ipv6, err := checkNewVSwitch(tx.View, vpc, req)
	if err != nil {
		return "", err
	}
	s := &kinds.VSwitch{
		Owner:           vpc.Owner,
		ID:              tx.NewID(kinds.VSwitches.Kind()),
		VPCID:           vpc.ID,
		ZoneID:          req.ZoneID,
		CIDRBlock:       req.CIDRBlock,
		IPv6CIDRBlock:   ipv6,
		Name:            req.Name,
		Description:     req.Description,
		RouteTableID:    systemRouteTable(tx.View, vpc.ID),
		ResourceGroupID: vpc.ResourceGroupID,
		CreateTime:      tx.Now(),
	}
	kinds.VSwitches.Put(tx, s)
	req.set(tx, kinds.TagVSwitch, s.ID)
	for t := range kinds.RouteTablesByVPC.List(tx.View, vpc.ID) {
		kinds.AddSystemRoute(tx, t, s.CIDRBlock)
	}
	return s.ID, nil
}

// checkNewVSwitch checks what a new vSwitch asks of its VPC, and returns its IPv6
// block.
func checkNewVSwitch(v *state.View, vpc *kinds.VPC, req *createVSwitchRequest) (string, error) {
	if err := checkZone(v, req.ZoneID); err != nil {
		return "", err
	}
	if err := checkVSwitchBlock(v, vpc, req.CIDRBlock); err != nil {
		return "", err
	}
	ipv6, err := req.of(v, vpc)
	if err != nil {
		return "", err
	}
	if err := changingVPCs(v).check(vpc.ID); err != nil {
		return "", err
	}
	return ipv6, v.Use(kinds.QuotaVSwitches, vpc.ID, 1)
}

func checkZone(v *state.View, id string) error {
	region, err := kinds.Regions.Get(v, v.Scope().RegionID)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(region.Zones, func(z kinds.Zone) bool { return z.ID == id }) {
		return errZoneNotFound.Of(id)
	}
	return nil
}

// checkVSwitchBlock refuses a block that is not the VPC's, or that another
// vSwitch or a route of the VPC has already.
func checkVSwitchBlock(v *state.View, vpc *kinds.VPC, text string) error {
	block, _ := parseCIDR(text)
	inVPC := slices.ContainsFunc(append([]string{vpc.CIDRBlock}, vpc.SecondaryCIDRBlocks...), func(outer string) bool {
		prefix, ok := parseCIDR(outer)
		return ok && within(block, prefix)
	})
	if !inVPC {
		return errBlockOutsideVPC.Of(text)
	}
	for s := range kinds.VSwitchesByVPC.List(v, vpc.ID) {
		if other, ok := parseCIDR(s.CIDRBlock); ok && other.Overlaps(block) {
			return errBlockOverlaps.Of(text)
		}
	}
	for t := range kinds.RouteTablesByVPC.List(v, vpc.ID) {
		if _, taken := kinds.RouteEntriesByTable.First(v, t.ID, text); taken {
			return errRouteConflicts.Of(text)
		}
	}
	return nil
}

// of returns the block of the VPC that no other vSwitch has, or "" if the call asks for none.
func (r *ipv6Subnet) of(v *state.View, vpc *kinds.VPC) (string, error) {
	if r.IPv6CIDRBlock == nil {
		return "", nil
	}
	block, ok := subnet(vpc.IPv6CIDRBlock, *r.IPv6CIDRBlock)
	switch {
	case !ok:
		return "", errVPCIPv6Disabled
	case !listing.Matches(r.VPCIPv6CIDRBlock, vpc.IPv6CIDRBlock):
		return "", errVPCIPv6BlockInvalid.Of(r.VPCIPv6CIDRBlock)
	}
	for s := range kinds.VSwitchesByVPC.List(v, vpc.ID) {
		if s.IPv6CIDRBlock == block {
			return "", errIPv6SubnetTaken.Of(block)
		}
	}
	return block, nil
}

type deleteVSwitchRequest struct {
	VSwitchID string `rpc:"VSwitchId,required"`
	gateway.Trial
}

// deleteVSwitch asks the addresses whether the vSwitch is empty: everything in it
// has one. Those that the world withholds hold nothing.
func deleteVSwitch(tx *state.Tx, req *deleteVSwitchRequest) (*gateway.Empty, error) {
	s, err := kinds.VSwitches.Get(tx.View, req.VSwitchID)
	if err != nil {
		return nil, err
	}
	kinds.FreeAllAddresses(tx, s)
	if _, used := kinds.AddressesByPool.First(tx.View, s.ID); used {
		return nil, errVSwitchInUse
	}
	if s.RouteTableID != systemRouteTable(tx.View, s.VPCID) {
		return nil, errVSwitchHasRouteTable
	}
	if err := changingVPCs(tx.View).check(s.VPCID); err != nil {
		return nil, err
	}
	for t := range kinds.RouteTablesByVPC.List(tx.View, s.VPCID) {
		for e := range kinds.RouteEntriesByTable.List(tx.View, t.ID, s.CIDRBlock) {
			kinds.RouteEntries.Remove(tx, e.ID)
		}
	}
	kinds.VSwitches.Remove(tx, s.ID)
	return &gateway.Empty{}, nil
}
