package vpc

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var modifyActions = []gateway.Action{
	gateway.Write("ModifyVpcAttribute", modifyVPCAttribute),
	gateway.Write("ModifyVSwitchAttribute", modifyVSwitchAttribute).Refusing(errIPv6SubnetInvalid),
	gateway.Write("ModifyRouteTableAttributes", modifyRouteTableAttributes),
	gateway.Write("ModifyEipAddressAttribute", modifyEIPAddressAttribute).Refusing(errBandwidthMalformed),
	gateway.Write("AssociateRouteTable", associateRouteTable),
	gateway.Write("UnassociateRouteTable", unassociateRouteTable),
}

// The refusals of this file.
var (
	errVPCBlockInUse = refusals.New("VPCBlockInUse", 400, "DependencyViolation.VSwitch.CidrBlock",
		"The vSwitch %s of the VPC is outside the new CIDR block.", "CLB-0390")
	errVPCIPv6Kept = refusals.New("VPCIPv6Kept", 400, "OperationDenied.Ipv6CidrBlockModified",
		"The IPv6 CIDR block of the VPC can't be changed.", "CLB-0521")
	errVPCIPv6InUse = refusals.New("VPCIPv6InUse", 400, "DependencyViolation.VSwitchIpv6",
		"IPv6 is enabled for the vSwitch %s of the VPC.", "CLB-0521")
	errVSwitchIPv6Kept = refusals.New("VSwitchIPv6Kept", 400, "OperationDenied.Ipv6CidrBlockModified",
		"The IPv6 CIDR block of the vSwitch can't be changed.", "CLB-0521")
	errVSwitchIPv6InUse = refusals.New("VSwitchIPv6InUse", 400, "DependencyViolation.Ipv6Address",
		"The IPv6 address %s of the vSwitch is in use.", "CLB-0521")
	errVSwitchIPv6Disabled = refusals.New("VSwitchIPv6Disabled", 400, "IllegalParam.EnableIPv6",
		"An Ipv6CidrBlock is not for a vSwitch without IPv6.", "CLB-0521")
	errRouteTableOutsideVPC = refusals.New("RouteTableOutsideVPC", 400, "InvalidVSwitchId.VpcMismatch",
		"The vSwitch %s is in another VPC than the route table.", "CLB-0390")
	errRouteTableNotCustom = refusals.New("RouteTableNotCustom", 400, "IncorrectRouteTableType.NotCustom",
		"The route table %s is not a custom one.", "CLB-0390")
	errVSwitchAssociated = refusals.New("VSwitchAssociated", 400, "IncorrectVSwitchStatus.Associated",
		"The vSwitch %s is associated with another custom route table.", "CLB-0390")
	errVSwitchNotAssociated = refusals.New("VSwitchNotAssociated", 400, "IncorrectVSwitchStatus.NotAssociated",
		"The vSwitch %s is not associated with the route table.", "CLB-0390")
)

type modifyVPCAttributeRequest struct {
	VPCID             string `rpc:"VpcId,required"`
	Name              string `rpc:"VpcName,len=1..128,invalid=VPCNameMalformed"`
	Description       string `rpc:"Description,len=1..256,invalid=VPCDescriptionMalformed"`
	CIDRBlock         string `rpc:"CidrBlock"`
	EnableIPv6        *bool  `rpc:"EnableIPv6"`
	IPv6CIDRBlock     string `rpc:"Ipv6CidrBlock"`
	EnableDNSHostname *bool  `rpc:"EnableDnsHostname"`
}

// Validate implements the gateway's check of shape.
func (r *modifyVPCAttributeRequest) Validate() error {
	if err := plainText(r.Name, errVPCNameMalformed); err != nil {
		return err
	}
	if err := plainText(r.Description, errVPCDescriptionMalformed); err != nil {
		return err
	}
	if r.CIDRBlock == "" {
		return nil
	}
	return checkVPCBlock(r.CIDRBlock)
}

// modifyVPCAttribute changes what the request has. A new block must hold the vSwitches.
// Evidence CLB-0390.
func modifyVPCAttribute(tx *state.Tx, req *modifyVPCAttributeRequest) (*gateway.Empty, error) {
	return &gateway.Empty{}, kinds.VPCs.Edit(tx, req.VPCID, func(vpc *kinds.VPC) error {
		vpc.Name, vpc.Description = cmp.Or(req.Name, vpc.Name), cmp.Or(req.Description, vpc.Description)
		if err := req.switchIPv6(tx.View, vpc); err != nil {
			return err
		}
		if req.EnableDNSHostname != nil {
			vpc.DNSHostnames = *req.EnableDNSHostname
		}
		if req.CIDRBlock == "" {
			return nil
		}
		vpc.CIDRBlock = req.CIDRBlock
		return holdsVSwitches(tx.View, vpc)
	})
}

// switchIPv6 gives the VPC an IPv6 block or takes it away; a block never changes:
// CLB-0521.
func (r *modifyVPCAttributeRequest) switchIPv6(v *state.View, vpc *kinds.VPC) error {
	switch on := r.EnableIPv6; {
	case on != nil && !*on:
		for s := range kinds.VSwitchesByVPC.List(v, vpc.ID) {
			if s.IPv6CIDRBlock != "" {
				return errVPCIPv6InUse.Of(s.ID)
			}
		}
		vpc.IPv6CIDRBlock = ""
	case vpc.IPv6CIDRBlock != "" && !listing.Matches(r.IPv6CIDRBlock, vpc.IPv6CIDRBlock):
		return errVPCIPv6Kept
	case vpc.IPv6CIDRBlock == "" && r.IPv6CIDRBlock != "":
		return errIPv6BlockNotReserved.Of(r.IPv6CIDRBlock)
	case on != nil:
		vpc.IPv6CIDRBlock = cmp.Or(vpc.IPv6CIDRBlock, ipv6Block(vpc.ID))
	}
	return nil
}

// holdsVSwitches wants each vSwitch of the VPC to be in one of its blocks.
func holdsVSwitches(v *state.View, vpc *kinds.VPC) error {
	blocks := slices.Concat([]string{vpc.CIDRBlock}, vpc.SecondaryCIDRBlocks)
	for s := range kinds.VSwitchesByVPC.List(v, vpc.ID) {
		inner, ok := parseCIDR(s.CIDRBlock)
		inside := slices.ContainsFunc(blocks, func(block string) bool {
			outer, valid := parseCIDR(block)
			return valid && within(inner, outer)
		})
		if ok && !inside {
			return errVPCBlockInUse.Of(s.ID)
		}
	}
	return nil
}

type modifyVSwitchAttributeRequest struct {
	VSwitchID   string `rpc:"VSwitchId,required"`
	Name        string `rpc:"VSwitchName,len=1..128,invalid=VSwitchNameMalformed"`
	Description string `rpc:"Description,len=1..256,invalid=VSwitchDescriptionMalformed"`
	EnableIPv6  *bool  `rpc:"EnableIPv6"`
	ipv6Subnet
}

// Validate implements the gateway's check of shape.
func (r *modifyVSwitchAttributeRequest) Validate() error {
	if err := plainText(r.Name, errVSwitchNameMalformed); err != nil {
		return err
	}
	return plainText(r.Description, errVSwitchDescriptionMalformed)
}

func modifyVSwitchAttribute(tx *state.Tx, req *modifyVSwitchAttributeRequest) (*gateway.Empty, error) {
	return &gateway.Empty{}, kinds.VSwitches.Edit(tx, req.VSwitchID, func(s *kinds.VSwitch) error {
		s.Name, s.Description = cmp.Or(req.Name, s.Name), cmp.Or(req.Description, s.Description)
		vpc, err := kinds.VPCs.Get(tx.View, s.VPCID)
		if err != nil {
			return err
		}
		return req.switchIPv6(tx.View, vpc, s)
	})
}

// switchIPv6 gives the vSwitch an IPv6 block or takes it away; a block never changes:
// CLB-0521.
func (r *modifyVSwitchAttributeRequest) switchIPv6(v *state.View, vpc *kinds.VPC, s *kinds.VSwitch) error {
	off := r.EnableIPv6 != nil && !*r.EnableIPv6
	switch {
	case off && r.IPv6CIDRBlock != nil:
		return errVSwitchIPv6Disabled
	case off:
		return dropIPv6(v, s)
	case r.IPv6CIDRBlock == nil && r.EnableIPv6 != nil && s.IPv6CIDRBlock == "":
		return gateway.Missing("Ipv6CidrBlock")
	case r.IPv6CIDRBlock == nil:
		return nil
	}
	if s.IPv6CIDRBlock == "" {
		block, err := r.of(v, vpc)
		s.IPv6CIDRBlock = block
		return err
	}
	if own, ok := subnet(vpc.IPv6CIDRBlock, *r.IPv6CIDRBlock); !ok || own != s.IPv6CIDRBlock {
		return errVSwitchIPv6Kept
	}
	return nil
}

// dropIPv6 takes the IPv6 block away, unless an address of it is in use.
func dropIPv6(v *state.View, s *kinds.VSwitch) error {
	if s.IPv6CIDRBlock == "" {
		return nil
	}
	for a := range kinds.AddressesByPool.List(v, s.ID) {
		if strings.Contains(a.IP, ":") {
			return errVSwitchIPv6InUse.Of(a.IP)
		}
	}
	for n := range kinds.NetworkInterfacesByVSwitch.List(v, s.ID) {
		if len(n.IPv6Addresses) > 0 {
			return errVSwitchIPv6InUse.Of(n.IPv6Addresses[0])
		}
	}
	s.IPv6CIDRBlock = ""
	return nil
}

type modifyRouteTableAttributesRequest struct {
	RegionID     string `rpc:"RegionId,required"`
	RouteTableID string `rpc:"RouteTableId,required"`
	Name         string `rpc:"RouteTableName,len=1..128,invalid=RouteTableNameMalformed"`
	Description  string `rpc:"Description,len=1..256,invalid=RouteTableDescriptionMalformed"`
	Propagation  *bool  `rpc:"RoutePropagationEnable"`
}

// Validate implements the gateway's check of shape.
func (r *modifyRouteTableAttributesRequest) Validate() error {
	if err := plainText(r.Name, errRouteTableNameMalformed); err != nil {
		return err
	}
	return plainText(r.Description, errRouteTableDescriptionMalformed)
}

// modifyRouteTableAttributes also turns propagation on and off: CLB-0520.
func modifyRouteTableAttributes(tx *state.Tx, req *modifyRouteTableAttributesRequest) (*gateway.Empty, error) {
	return &gateway.Empty{}, kinds.RouteTables.Edit(tx, req.RouteTableID, func(t *kinds.RouteTable) error {
		t.Name, t.Description = cmp.Or(req.Name, t.Name), cmp.Or(req.Description, t.Description)
		if req.Propagation != nil {
			t.PropagationDisabled = !*req.Propagation
		}
		return nil
	})
}

type modifyEIPAddressAttributeRequest struct {
	AllocationID string `rpc:"AllocationId,required"`
	Bandwidth    *int   `rpc:"Bandwidth,min=1,max=500,invalid=BandwidthMalformed"`
	Name         string `rpc:"Name,len=1..128"`
	Description  string `rpc:"Description,len=2..256"`
}

func modifyEIPAddressAttribute(tx *state.Tx, req *modifyEIPAddressAttributeRequest) (*gateway.Empty, error) {
	return &gateway.Empty{}, kinds.EIPs.Edit(tx, req.AllocationID, func(e *kinds.EIP) error {
		e.Name, e.Description = cmp.Or(req.Name, e.Name), cmp.Or(req.Description, e.Description)
		if req.Bandwidth == nil {
			return nil
		}
		if e.InternetChargeType == payByTraffic && *req.Bandwidth > maxTrafficBandwidth {
			return errBandwidthIllegal
		}
		e.Bandwidth = strconv.Itoa(*req.Bandwidth)
		return nil
	})
}

type vSwitchTableRequest struct {
	RegionID     string `rpc:"RegionId,required"`
	RouteTableID string `rpc:"RouteTableId,required"`
	VSwitchID    string `rpc:"VSwitchId,required"`
	ClientToken  string `rpc:"ClientToken"`
}

// edit changes a vSwitch once, with the table that the request names.
func (req *vSwitchTableRequest) edit(tx *state.Tx, action string, change func(*kinds.RouteTable, *kinds.VSwitch) error) (*gateway.Empty, error) {
	_, err := state.Once(tx, action, req.ClientToken, req, kinds.VSwitches, func() (string, error) {
		t, err := kinds.RouteTables.Get(tx.View, req.RouteTableID)
		if err != nil {
			return "", err
		}
		return req.VSwitchID, kinds.VSwitches.Edit(tx, req.VSwitchID, func(s *kinds.VSwitch) error { return change(t, s) })
	})
	return &gateway.Empty{}, err
}

// associateRouteTable puts a vSwitch under a custom table, at once. Its own system
// table must have had it: CLB-0390.
func associateRouteTable(tx *state.Tx, req *vSwitchTableRequest) (*gateway.Empty, error) {
	return req.edit(tx, "AssociateRouteTable", func(t *kinds.RouteTable, s *kinds.VSwitch) error {
		switch {
		case t.VPCID != s.VPCID:
			return errRouteTableOutsideVPC.Of(s.ID)
		case t.Type != kinds.RouteTableCustom:
			return errRouteTableNotCustom.Of(t.ID)
		case s.RouteTableID != systemRouteTable(tx.View, s.VPCID):
			return errVSwitchAssociated.Of(s.ID)
		}
		s.RouteTableID = t.ID
		return nil
	})
}

// unassociateRouteTable puts the vSwitch back under the system table of its VPC.
func unassociateRouteTable(tx *state.Tx, req *vSwitchTableRequest) (*gateway.Empty, error) {
	return req.edit(tx, "UnassociateRouteTable", func(t *kinds.RouteTable, s *kinds.VSwitch) error {
		if t.Type != kinds.RouteTableCustom || s.RouteTableID != t.ID {
			return errVSwitchNotAssociated.Of(s.ID)
		}
		s.RouteTableID = systemRouteTable(tx.View, s.VPCID)
		return nil
	})
}
