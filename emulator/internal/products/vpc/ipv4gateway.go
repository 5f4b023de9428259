package vpc

import (
	"cmp"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/state"
)

var ipv4GatewayActions = []gateway.Action{
	gateway.Write("CreateIpv4Gateway", createIPv4Gateway),
	gateway.Write("DeleteIpv4Gateway", deleteIPv4Gateway),
	gateway.Read("GetIpv4GatewayAttribute", getIPv4GatewayAttribute),
	gateway.Read("ListIpv4Gateways", listIPv4Gateways),
	gateway.Write("EnableVpcIpv4Gateway", enableVPCIPv4Gateway),
	gateway.Write("UpdateIpv4GatewayAttribute", updateIPv4GatewayAttribute),
	gateway.Write("AssociateRouteTableWithGateway", associateRouteTableWithGateway),
	gateway.Write("DissociateRouteTableFromGateway", dissociateRouteTableFromGateway),
}

// The refusals of this file.
var (
	errNameIllegal = refusals.New("NameIllegal", 400, "IllegalParam.Name",
		"The name %s is too long, or begins like an address.", "CLB-0560")
	errDescriptionIllegal = refusals.New("DescriptionIllegal", 400, "IllegalParam.Description",
		"The description is too long, or begins like an address.", "CLB-0560")
	errVPCHasIPv4Gateway = refusals.New("VPCHasIPv4Gateway", 400, "ResourceAlreadyExist.Ipv4Gateway",
		"The VPC %s has an IPv4 gateway already.", "CLB-0560")
	errIPv4GatewayBusy = refusals.New("IPv4GatewayBusy", 400, "IncorrectStatus.Ipv4Gateway",
		"The IPv4 gateway %s is being changed.", "CLB-0560")
	errIPv4GatewayNotActive = refusals.New("IPv4GatewayNotActive", 400, "OperationDenied.Ipv4GatewayNotActive",
		"The IPv4 gateway %s is not activated.", "CLB-0560")
	errGatewayHasRoute = refusals.New("GatewayHasRoute", 400, "DependencyViolation.RouteEntry",
		"The route entry %s leads to the gateway.", "CLB-0560")
	errGatewayHasRouteTable = refusals.New("GatewayHasRouteTable", 400, "DependencyViolation.RouteTable",
		"The route table %s is associated with the gateway.", "CLB-0560")
	errRouteTableNotForGateway = refusals.New("RouteTableNotForGateway", 400, "OperationDenied.RouteTableType",
		"The route table %s is not one for gateways of the VPC.", "CLB-0560")
	errGatewayNotAssociated = refusals.New("GatewayNotAssociated", 400, "OperationDenied.NotAssociated",
		"The route table %s is not associated with the gateway.", "CLB-0560")
)

// checkText refuses names and descriptions that begin like an address.
func checkText(name, description string) error {
	return cmp.Or(plainText(name, errNameIllegal), plainText(description, errDescriptionIllegal))
}

// ipv4GatewayText holds an IPv4 gateway's name and description in a request.
type ipv4GatewayText struct {
	Name        string `rpc:"Ipv4GatewayName,len=1..128,invalid=NameIllegal"`
	Description string `rpc:"Ipv4GatewayDescription,len=1..256,invalid=DescriptionIllegal"`
}

type createIPv4GatewayRequest struct {
	tagged
	ipv4GatewayText
	RegionID        string `rpc:"RegionId,required"`
	VPCID           string `rpc:"VpcId,required"`
	ResourceGroupID string `rpc:"ResourceGroupId"`
	ClientToken     string `rpc:"ClientToken"`
	gateway.Trial
}

// Validate implements the gateway's check of shape.
func (r *createIPv4GatewayRequest) Validate() error {
	return cmp.Or(checkText(r.Name, r.Description), r.check())
}

type createIPv4GatewayResponse struct {
	ID              string `rpc:"Ipv4GatewayId"`
	ResourceGroupID string `rpc:"ResourceGroupId"`
}

func createIPv4Gateway(tx *state.Tx, req *createIPv4GatewayRequest) (*createIPv4GatewayResponse, error) {
	g, err := state.OnceMade(tx, "CreateIpv4Gateway", req.ClientToken, req, cloud.IPv4Gateways, func() (string, error) {
		return putIPv4Gateway(tx, req)
	})
	if err != nil {
		return nil, err
	}
	return &createIPv4GatewayResponse{g.ID, g.ResourceGroupID}, nil
}

func putIPv4Gateway(tx *state.Tx, req *createIPv4GatewayRequest) (string, error) {
	vpc, err := cloud.VPCs.Get(tx.View, req.VPCID)
	if err != nil {
		return "", err
	}
	group, err := cloud.ResourceGroupOf(tx.View, req.ResourceGroupID)
	if err != nil {
		return "", err
	}
	if _, exists := cloud.IPv4GatewaysByVPC.First(tx.View, vpc.ID); exists {
		return "", errVPCHasIPv4Gateway.Of(vpc.ID)
	}
	g := &cloud.IPv4Gateway{Owner: vpc.Owner, ID: tx.NewID(cloud.IPv4Gateways.Kind()), VPCID: vpc.ID, Name: req.Name,
		Description: req.Description, ResourceGroupID: group, CreateTime: tx.Now()}
	cloud.IPv4Gateways.Put(tx, g)
	req.set(tx, cloud.TagIPv4Gateway, g.ID)
	state.Enter(tx, cloud.StageIPv4GatewayCreating, g.ID)
	return g.ID, nil
}

// settledIPv4Gateway finds a gateway that takes changes.
func settledIPv4Gateway(v *state.View, id string) (*cloud.IPv4Gateway, error) {
	g, err := cloud.IPv4Gateways.Get(v, id)
	if err == nil && g.Status != cloud.GatewayCreated {
		return nil, errIPv4GatewayBusy.Of(id)
	}
	return g, err
}

// leadsNowhere refuses a next hop that routes lead to.
func leadsNowhere(v *state.View, id string) error {
	if e, ok := cloud.RouteEntriesByNextHop.First(v, id); ok {
		return errGatewayHasRoute.Of(e.ID)
	}
	return nil
}

type deleteIPv4GatewayRequest struct {
	RegionID    string `rpc:"RegionId,required"`
	ID          string `rpc:"Ipv4GatewayId,required"`
	ClientToken string `rpc:"ClientToken"`
	gateway.Trial
}

// deleteIPv4Gateway needs no memory of its token: a gateway goes only once.
func deleteIPv4Gateway(tx *state.Tx, req *deleteIPv4GatewayRequest) (*gateway.Empty, error) {
	g, err := settledIPv4Gateway(tx.View, req.ID)
	if err != nil {
		return nil, err
	}
	if g.RouteTableID != "" {
		return nil, errGatewayHasRouteTable.Of(g.RouteTableID)
	}
	if err := leadsNowhere(tx.View, g.ID); err != nil {
		return nil, err
	}
	state.Enter(tx, cloud.StageIPv4GatewayDeleting, g.ID)
	return &gateway.Empty{}, nil
}

// ipv4GatewayFields holds what both reads answer about a gateway.
type ipv4GatewayFields struct {
	ID              string              `rpc:"Ipv4GatewayId"`
	VPCID           string              `rpc:"VpcId"`
	Name            string              `rpc:"Ipv4GatewayName"`
	Description     string              `rpc:"Ipv4GatewayDescription"`
	Status          cloud.GatewayStatus `rpc:"Status"`
	Enabled         bool                `rpc:"Enabled"`
	RouteTableID    string              `rpc:"Ipv4GatewayRouteTableId"`
	ResourceGroupID string              `rpc:"ResourceGroupId"`
	Tags            []tagging.Tag       `rpc:"Tags"`
}

func viewIPv4Gateway(v *state.View, g *cloud.IPv4Gateway) ipv4GatewayFields {
	return ipv4GatewayFields{ID: g.ID, VPCID: g.VPCID, Name: g.Name, Description: g.Description, Status: g.Status, Enabled: g.Enabled,
		RouteTableID: g.RouteTableID, ResourceGroupID: g.ResourceGroupID, Tags: tagging.Of(v, cloud.TagIPv4Gateway, g.ID)}
}

type getIPv4GatewayAttributeRequest struct {
	RegionID string `rpc:"RegionId,required"`
	ID       string `rpc:"Ipv4GatewayId,required"`
}

type getIPv4GatewayAttributeResponse struct {
	ipv4GatewayFields
	CreateTime string `rpc:"CreateTime"`
}

func getIPv4GatewayAttribute(v *state.View, req *getIPv4GatewayAttributeRequest) (*getIPv4GatewayAttributeResponse, error) {
	g, err := cloud.IPv4Gateways.Get(v, req.ID)
	if err != nil {
		return nil, err
	}
	return &getIPv4GatewayAttributeResponse{viewIPv4Gateway(v, g), gateway.Second(g.CreateTime)}, nil
}

// tokenPage is the paging of lists that go on by a token.
type tokenPage struct {
	NextToken  string `rpc:"NextToken"`
	MaxResults int    `rpc:"MaxResults,default=10,min=1,max=100"`
}

// listTagged is tagged for lists, whose parameter has another name.
type listTagged struct {
	Tags []tagging.Tag `rpc:"Tags,max=20,invalid=TagKeyInvalid"`
}

func (r *listTagged) filter(v *state.View, kind state.TagResourceType) func(id string) bool {
	return tagging.Filter(v, kind, r.Tags)
}

type listIPv4GatewaysRequest struct {
	tokenPage
	listTagged
	RegionID        string `rpc:"RegionId,required"`
	ID              string `rpc:"Ipv4GatewayId"`
	Name            string `rpc:"Ipv4GatewayName"`
	VPCID           string `rpc:"VpcId"`
	ResourceGroupID string `rpc:"ResourceGroupId"`
}

type listIPv4GatewaysResponse struct {
	NextToken  string            `rpc:"NextToken"`
	TotalCount int               `rpc:"TotalCount"`
	Gateways   []ipv4GatewayItem `rpc:"Ipv4GatewayModels"`
}

type ipv4GatewayItem struct {
	ipv4GatewayFields
	CreateTime string `rpc:"GmtCreate"`
}

func listIPv4Gateways(v *state.View, req *listIPv4GatewaysRequest) (*listIPv4GatewaysResponse, error) {
	hasTags := req.filter(v, cloud.TagIPv4Gateway)
	var found []*cloud.IPv4Gateway
	for g := range cloud.IPv4GatewaysByRegion.InScope(v) {
		if listing.Matches(req.ID, g.ID) && listing.Matches(req.Name, g.Name) && listing.Matches(req.VPCID, g.VPCID) &&
			listing.Matches(req.ResourceGroupID, g.ResourceGroupID) && hasTags(g.ID) {
			found = append(found, g)
		}
	}
	part, next, err := listing.After(found, req.NextToken, req.MaxResults, cloud.IPv4Gateways.ID)
	if err != nil {
		return nil, err
	}
	resp := &listIPv4GatewaysResponse{NextToken: next, TotalCount: len(found)}
	for _, g := range part {
		resp.Gateways = append(resp.Gateways, ipv4GatewayItem{viewIPv4Gateway(v, g), gateway.Second(g.CreateTime)})
	}
	return resp, nil
}

type enableVPCIPv4GatewayRequest struct {
	RegionID      string   `rpc:"RegionId,required"`
	ID            string   `rpc:"Ipv4GatewayId,required"`
	RouteTableIDs []string `rpc:"RouteTableList,max=10"`
	ClientToken   string   `rpc:"ClientToken"`
	gateway.Trial
}

// anywhere is the destination of a default route.
const anywhere = "0.0.0.0/0"

// enableVPCIPv4Gateway makes a gateway the VPC's way to the internet, and the default
// route of the named tables: CLB-0560.
func enableVPCIPv4Gateway(tx *state.Tx, req *enableVPCIPv4GatewayRequest) (*gateway.Empty, error) {
	_, err := state.Once(tx, "EnableVpcIpv4Gateway", req.ClientToken, req, cloud.IPv4Gateways, func() (string, error) {
		g, err := settledIPv4Gateway(tx.View, req.ID)
		if err != nil {
			return "", err
		}
		others := changingVPCs(tx.View)
		for _, id := range req.RouteTableIDs {
			e := &cloud.RouteEntry{RouteTableID: id, DestinationCIDRBlock: anywhere, NextHopType: nextHopIPv4Gateway, NextHopID: g.ID}
			if _, err := putCustomEntry(tx, others, e); err != nil {
				return "", err
			}
		}
		enabled := *g
		enabled.Enabled = true
		cloud.IPv4Gateways.Put(tx, &enabled)
		state.Enter(tx, cloud.StageIPv4GatewayActivating, g.ID)
		return g.ID, nil
	})
	return &gateway.Empty{}, err
}

type updateIPv4GatewayAttributeRequest struct {
	ipv4GatewayText
	RegionID    string `rpc:"RegionId,required"`
	ID          string `rpc:"Ipv4GatewayId,required"`
	ClientToken string `rpc:"ClientToken"`
	gateway.Trial
}

// Validate implements the gateway's check of shape.
func (r *updateIPv4GatewayAttributeRequest) Validate() error { return checkText(r.Name, r.Description) }

func updateIPv4GatewayAttribute(tx *state.Tx, req *updateIPv4GatewayAttributeRequest) (*gateway.Empty, error) {
	return &gateway.Empty{}, state.EditOnce(tx, "UpdateIpv4GatewayAttribute", req.ClientToken, req, cloud.IPv4Gateways, req.ID, func(g *cloud.IPv4Gateway) error {
		g.Name, g.Description = cmp.Or(req.Name, g.Name), cmp.Or(req.Description, g.Description)
		return nil
	})
}

type gatewayRouteTableRequest struct {
	RegionID     string `rpc:"RegionId,required"`
	RouteTableID string `rpc:"RouteTableId,required"`
	GatewayID    string `rpc:"GatewayId,required"`
	GatewayType  string `rpc:"GatewayType,default=Ipv4Gateway,enum=Ipv4Gateway"`
	ClientToken  string `rpc:"ClientToken"`
	gateway.Trial
}

// associateRouteTableWithGateway puts what comes in through an active gateway under a
// table of its VPC made for gateways: CLB-0560.
func associateRouteTableWithGateway(tx *state.Tx, req *gatewayRouteTableRequest) (*gateway.Empty, error) {
	return req.change(tx, "AssociateRouteTableWithGateway", func(g *cloud.IPv4Gateway, t *cloud.RouteTable) error {
		switch _, taken := cloud.IPv4GatewaysByRouteTable.First(tx.View, t.ID); {
		case !g.Enabled:
			return errIPv4GatewayNotActive.Of(g.ID)
		case t.VPCID != g.VPCID || t.AssociateType != associateGateway:
			return errRouteTableNotForGateway.Of(t.ID)
		case taken || g.RouteTableID != "":
			return errGatewayHasRouteTable.Of(cmp.Or(g.RouteTableID, t.ID))
		}
		g.RouteTableID = t.ID
		return nil
	})
}

func dissociateRouteTableFromGateway(tx *state.Tx, req *gatewayRouteTableRequest) (*gateway.Empty, error) {
	return req.change(tx, "DissociateRouteTableFromGateway", func(g *cloud.IPv4Gateway, t *cloud.RouteTable) error {
		if g.RouteTableID != t.ID {
			return errGatewayNotAssociated.Of(t.ID)
		}
		g.RouteTableID = ""
		return nil
	})
}

func (r *gatewayRouteTableRequest) change(tx *state.Tx, action string, change func(*cloud.IPv4Gateway, *cloud.RouteTable) error) (*gateway.Empty, error) {
	_, err := state.Once(tx, action, r.ClientToken, r, cloud.IPv4Gateways, func() (string, error) {
		t, err := cloud.RouteTables.Get(tx.View, r.RouteTableID)
		if err != nil {
			return "", err
		}
		if _, err := settledIPv4Gateway(tx.View, r.GatewayID); err != nil {
			return "", err
		}
		return r.GatewayID, cloud.IPv4Gateways.Edit(tx, r.GatewayID, func(g *cloud.IPv4Gateway) error { return change(g, t) })
	})
	return &gateway.Empty{}, err
}
