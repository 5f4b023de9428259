package vpc

import (
	"cmp"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var natGatewayActions = []gateway.Action{
	gateway.Write("CreateNatGateway", createNATGateway),
	gateway.Write("DeleteNatGateway", deleteNATGateway),
	gateway.Write("ModifyNatGatewayAttribute", modifyNATGatewayAttribute),
	gateway.Read("DescribeNatGateways", describeNATGateways),
}

// The refusals of this file.
var (
	errNATVSwitchOutsideVPC = refusals.New("NATVSwitchOutsideVPC", 400, "InvalidVSwitchId.VpcMismatch",
		"The vSwitch %s is not in the VPC.", "CLB-0561")
	errNATGatewayBusy = refusals.New("NATGatewayBusy", 400, "IncorrectStatus.NatGateway",
		"The NAT gateway %s is being changed.", "CLB-0561").
		In(400, "IncorrectStatus.NATGW", "The NAT gateway %s is being changed.", "CLB-0561", "ModifyNatGatewayAttribute")
	errNATGatewayHasEIP = refusals.New("NATGatewayHasEIP", 400, "DependencyViolation.EIPS",
		"The EIP %s is associated with the NAT gateway.", "CLB-0561")
)

// What a NAT gateway translates to.
const (
	natToInternet = "internet"
	natToIntranet = "intranet"
)

type createNATGatewayRequest struct {
	tagged
	gatewayText
	RegionID           string `rpc:"RegionId,required"`
	VPCID              string `rpc:"VpcId,required"`
	VSwitchID          string `rpc:"VSwitchId,required"`
	NetworkType        string `rpc:"NetworkType,default=internet,enum=internet|intranet"`
	Spec               string `rpc:"Spec,enum=Small|Middle|Large|XLarge.1"`
	InternetChargeType string `rpc:"InternetChargeType,default=PayByLcu,enum=PayByLcu|PayBySpec"`
	EIPBindMode        string `rpc:"EipBindMode,default=MULTI_BINDED,enum=MULTI_BINDED|NAT"`
	ICMPReplyEnabled   bool   `rpc:"IcmpReplyEnabled,default=true"`
	ClientToken        string `rpc:"ClientToken"`
}

// Validate implements the gateway's check of shape.
func (r *createNATGatewayRequest) Validate() error {
	return cmp.Or(r.gatewayText.check(), r.tagged.check())
}

type createNATGatewayResponse struct {
	ID                  string   `rpc:"NatGatewayId"`
	ForwardTableIDs     []string `rpc:"ForwardTableIds>ForwardTableId"`
	SNATTableIDs        []string `rpc:"SnatTableIds>SnatTableId"`
	FullNATTableIDs     []string `rpc:"FullNatTableIds>FullNatTableId"`
	BandwidthPackageIDs []string `rpc:"BandwidthPackageIds>BandwidthPackageId"`
}

func createNATGateway(tx *state.Tx, req *createNATGatewayRequest) (*createNATGatewayResponse, error) {
	g, err := state.OnceMade(tx, "CreateNatGateway", req.ClientToken, req, kinds.NATGateways, func() (string, error) {
		return putNATGateway(tx, req)
	})
	if err != nil {
		return nil, err
	}
	return &createNATGatewayResponse{ID: g.ID, ForwardTableIDs: []string{g.TableID("ftb-")}, SNATTableIDs: []string{g.TableID("stb-")}}, nil
}

func putNATGateway(tx *state.Tx, req *createNATGatewayRequest) (string, error) {
	vpc, err := kinds.VPCs.Get(tx.View, req.VPCID)
	if err != nil {
		return "", err
	}
	s, err := kinds.VSwitches.Get(tx.View, req.VSwitchID)
	if err != nil {
		return "", err
	}
	if s.VPCID != vpc.ID {
		return "", errNATVSwitchOutsideVPC.Of(s.ID)
	}
	if err := changingVPCs(tx.View).check(vpc.ID); err != nil {
		return "", err
	}
	if err := tx.Use(kinds.QuotaNATGateways, vpc.ID, 1); err != nil {
		return "", err
	}
	g := &kinds.NATGateway{Owner: vpc.Owner, ID: tx.NewID(kinds.NATGateways.Kind()), VPCID: vpc.ID, VSwitchID: s.ID, Name: req.Name,
		Description: req.Description, NetworkType: req.NetworkType, Spec: req.Spec, InternetChargeType: req.InternetChargeType,
		EIPBindMode: req.EIPBindMode, ICMPReplyDisabled: !req.ICMPReplyEnabled, ResourceGroupID: vpc.ResourceGroupID, CreateTime: tx.Now()}
	g.PrivateIPAddress, err = kinds.AllocateAddress(tx, s.ID, s.CIDRBlock, "", kinds.NATGateways.Kind(), g.ID)
	if err != nil {
		return "", err
	}
	kinds.NATGateways.Put(tx, g)
	req.set(tx, kinds.TagNATGateway, g.ID)
	state.Enter(tx, kinds.StageNATGatewayCreating, g.ID)
	if g.NetworkType == natToInternet {
		addDefaultRoute(tx, g)
	}
	return g.ID, nil
}

// addDefaultRoute makes the gateway the default route of its VPC's own table, unless
// that has one: CLB-0561.
func addDefaultRoute(tx *state.Tx, g *kinds.NATGateway) {
	table := systemRouteTable(tx.View, g.VPCID)
	if _, taken := kinds.RouteEntriesByTable.First(tx.View, table, anywhere); taken {
		return
	}
	kinds.RouteEntries.Put(tx, &kinds.RouteEntry{Owner: g.Owner, ID: tx.NewID(kinds.RouteEntries.Kind()), RouteTableID: table, VPCID: g.VPCID,
		DestinationCIDRBlock: anywhere, Type: kinds.RouteTableCustom, Status: kinds.RouteEntryAvailable,
		NextHopType: nextHopNATGateway, NextHopID: g.ID, CreateTime: tx.Now()})
}

type deleteNATGatewayRequest struct {
	RegionID string `rpc:"RegionId,required"`
	ID       string `rpc:"NatGatewayId,required"`
	Force    bool   `rpc:"Force"`
}

// deleteNATGateway deletes a gateway with the default route that came with it. By
// force its EIPs go free, and other routes to it go too: CLB-0561.
func deleteNATGateway(tx *state.Tx, req *deleteNATGatewayRequest) (*gateway.Empty, error) {
	g, err := kinds.NATGateways.Get(tx.View, req.ID)
	switch {
	case err != nil:
		return nil, err
	case g.Status != kinds.GatewayAvailable:
		return nil, errNATGatewayBusy.Of(g.ID)
	case g.DeletionProtection:
		return nil, errDeletionProtected
	}
	for eip := range kinds.EIPsByInstance.List(tx.View, g.ID) {
		if !req.Force {
			return nil, errNATGatewayHasEIP.Of(eip.ID)
		}
		free := *eip
		free.Free()
		kinds.EIPs.Put(tx, &free)
	}
	table := systemRouteTable(tx.View, g.VPCID)
	for e := range kinds.RouteEntriesByNextHop.List(tx.View, g.ID) {
		if !req.Force && (e.RouteTableID != table || e.DestinationCIDRBlock != anywhere) {
			return nil, errGatewayHasRoute.Of(e.ID)
		}
		kinds.RouteEntries.Remove(tx, e.ID)
	}
	state.Enter(tx, kinds.StageNATGatewayDeleting, g.ID)
	return &gateway.Empty{}, nil
}

type modifyNATGatewayAttributeRequest struct {
	gatewayText
	RegionID         string `rpc:"RegionId,required"`
	ID               string `rpc:"NatGatewayId,required"`
	EIPBindMode      string `rpc:"EipBindMode,enum=MULTI_BINDED|NAT"`
	ICMPReplyEnabled *bool  `rpc:"IcmpReplyEnabled"`
}

// Validate implements the gateway's check of shape.
func (r *modifyNATGatewayAttributeRequest) Validate() error { return r.gatewayText.check() }

func modifyNATGatewayAttribute(tx *state.Tx, req *modifyNATGatewayAttributeRequest) (*gateway.Empty, error) {
	return &gateway.Empty{}, kinds.NATGateways.Edit(tx, req.ID, func(g *kinds.NATGateway) error {
		if g.Status != kinds.GatewayAvailable {
			return errNATGatewayBusy.Of(g.ID)
		}
		g.Name, g.Description = cmp.Or(req.Name, g.Name), cmp.Or(req.Description, g.Description)
		g.EIPBindMode = cmp.Or(req.EIPBindMode, g.EIPBindMode)
		if req.ICMPReplyEnabled != nil {
			g.ICMPReplyDisabled = !*req.ICMPReplyEnabled
		}
		return nil
	})
}
