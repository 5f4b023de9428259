package vpc

import (
	"cmp"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var ipv6GatewayActions = []gateway.Action{
	gateway.Write("CreateIpv6Gateway", createIPv6Gateway),
	gateway.Write("DeleteIpv6Gateway", deleteIPv6Gateway),
	gateway.Write("ModifyIpv6GatewayAttribute", modifyIPv6GatewayAttribute),
	gateway.Read("DescribeIpv6GatewayAttribute", describeIPv6GatewayAttribute),
	gateway.Read("DescribeIpv6Gateways", describeIPv6Gateways),
}

// The refusals of this file.
var (
	errVPCHasIPv6Gateway = refusals.New("VPCHasIPv6Gateway", 400, "ResourceAlreadyExist.Ipv6Gateway",
		"The VPC %s has an IPv6 gateway already.", "CLB-0560")
	errIPv6GatewayBusy = refusals.New("IPv6GatewayBusy", 400, "IncorrectStatus",
		"The IPv6 gateway %s is being changed.", "CLB-0560")
)

// gatewayText holds a gateway's name and description in a request.
type gatewayText struct {
	Name        string `rpc:"Name,len=1..128,invalid=NameIllegal"`
	Description string `rpc:"Description,len=1..256,invalid=DescriptionIllegal"`
}

func (t gatewayText) check() error { return checkText(t.Name, t.Description) }

type createIPv6GatewayRequest struct {
	tagged
	gatewayText
	RegionID        string `rpc:"RegionId,required"`
	VPCID           string `rpc:"VpcId,required"`
	ResourceGroupID string `rpc:"ResourceGroupId"`
	ClientToken     string `rpc:"ClientToken"`
}

// Validate implements the gateway's check of shape.
func (r *createIPv6GatewayRequest) Validate() error {
	return cmp.Or(r.gatewayText.check(), r.tagged.check())
}

type createIPv6GatewayResponse struct {
	ID              string `rpc:"Ipv6GatewayId"`
	ResourceGroupID string `rpc:"ResourceGroupId"`
}

func createIPv6Gateway(tx *state.Tx, req *createIPv6GatewayRequest) (*createIPv6GatewayResponse, error) {
	g, err := state.OnceMade(tx, "CreateIpv6Gateway", req.ClientToken, req, kinds.IPv6Gateways, func() (string, error) {
		return putIPv6Gateway(tx, req)
	})
	if err != nil {
		return nil, err
	}
	return &createIPv6GatewayResponse{g.ID, g.ResourceGroupID}, nil
}

// putIPv6Gateway wants the VPC to have IPv6, and no gateway for it yet: CLB-0560.
func putIPv6Gateway(tx *state.Tx, req *createIPv6GatewayRequest) (string, error) {
	vpc, err := kinds.VPCs.Get(tx.View, req.VPCID)
	if err != nil {
		return "", err
	}
	if vpc.IPv6CIDRBlock == "" {
		return "", errIPv6NotEnabled
	}
	group, err := kinds.ResourceGroupOf(tx.View, req.ResourceGroupID)
	if err != nil {
		return "", err
	}
	if _, exists := kinds.IPv6GatewaysByVPC.First(tx.View, vpc.ID); exists {
		return "", errVPCHasIPv6Gateway.Of(vpc.ID)
	}
	g := &kinds.IPv6Gateway{Owner: vpc.Owner, ID: tx.NewID(kinds.IPv6Gateways.Kind()), VPCID: vpc.ID, Name: req.Name,
		Description: req.Description, ResourceGroupID: group, CreateTime: tx.Now()}
	kinds.IPv6Gateways.Put(tx, g)
	req.set(tx, kinds.TagIPv6Gateway, g.ID)
	state.Enter(tx, kinds.StageIPv6GatewayPending, g.ID)
	return g.ID, nil
}

type deleteIPv6GatewayRequest struct {
	RegionID    string `rpc:"RegionId,required"`
	ID          string `rpc:"Ipv6GatewayId,required"`
	ClientToken string `rpc:"ClientToken"`
	gateway.Trial
}

// deleteIPv6Gateway needs no memory of its token: a gateway goes only once.
func deleteIPv6Gateway(tx *state.Tx, req *deleteIPv6GatewayRequest) (*gateway.Empty, error) {
	g, err := kinds.IPv6Gateways.Get(tx.View, req.ID)
	if err != nil {
		return nil, err
	}
	if g.Status != kinds.GatewayAvailable {
		return nil, errIPv6GatewayBusy.Of(g.ID)
	}
	if err := leadsNowhere(tx.View, g.ID); err != nil {
		return nil, err
	}
	state.Enter(tx, kinds.StageIPv6GatewayDeleting, g.ID)
	return &gateway.Empty{}, nil
}

type modifyIPv6GatewayAttributeRequest struct {
	gatewayText
	RegionID    string `rpc:"RegionId,required"`
	ID          string `rpc:"Ipv6GatewayId,required"`
	ClientToken string `rpc:"ClientToken"`
	gateway.Trial
}

// Validate implements the gateway's check of shape.
func (r *modifyIPv6GatewayAttributeRequest) Validate() error { return r.gatewayText.check() }

func modifyIPv6GatewayAttribute(tx *state.Tx, req *modifyIPv6GatewayAttributeRequest) (*gateway.Empty, error) {
	return &gateway.Empty{}, state.EditOnce(tx, "ModifyIpv6GatewayAttribute", req.ClientToken, req, kinds.IPv6Gateways, req.ID, func(g *kinds.IPv6Gateway) error {
		g.Name, g.Description = cmp.Or(req.Name, g.Name), cmp.Or(req.Description, g.Description)
		return nil
	})
}

type ipv6GatewayView struct {
	ID                 string              `rpc:"Ipv6GatewayId"`
	VPCID              string              `rpc:"VpcId"`
	RegionID           string              `rpc:"RegionId"`
	Name               string              `rpc:"Name"`
	Description        string              `rpc:"Description"`
	Status             kinds.GatewayStatus `rpc:"Status"`
	BusinessStatus     string              `rpc:"BusinessStatus"`
	InstanceChargeType string              `rpc:"InstanceChargeType"`
	ExpiredTime        string              `rpc:"ExpiredTime"`
	Spec               string              `rpc:"Spec"`
	ResourceGroupID    string              `rpc:"ResourceGroupId"`
	CreationTime       string              `rpc:"CreationTime"`
	Tags               []tagging.Tag       `rpc:"Tags>Tag"`
}

func viewIPv6Gateway(v *state.View, g *kinds.IPv6Gateway) ipv6GatewayView {
	return ipv6GatewayView{ID: g.ID, VPCID: g.VPCID, RegionID: g.RegionID, Name: g.Name, Description: g.Description, Status: g.Status,
		BusinessStatus: "Normal", InstanceChargeType: "PostPaid", ResourceGroupID: g.ResourceGroupID,
		CreationTime: gateway.Second(g.CreateTime), Tags: tagging.Of(v, kinds.TagIPv6Gateway, g.ID)}
}

type describeIPv6GatewayAttributeRequest struct {
	RegionID string `rpc:"RegionId,required"`
	ID       string `rpc:"Ipv6GatewayId,required"`
}

// describeIPv6GatewayAttribute answers an empty gateway for an id that names none:
// CLB-0562.
func describeIPv6GatewayAttribute(v *state.View, req *describeIPv6GatewayAttributeRequest) (*ipv6GatewayView, error) {
	g, ok := kinds.IPv6Gateways.Find(v, req.ID)
	if !ok {
		return &ipv6GatewayView{}, nil
	}
	view := viewIPv6Gateway(v, g)
	return &view, nil
}

type describeIPv6GatewaysRequest struct {
	listing.ByNumber
	listTagged
	RegionID        string `rpc:"RegionId,required"`
	ID              string `rpc:"Ipv6GatewayId"`
	Name            string `rpc:"Name"`
	VPCID           string `rpc:"VpcId"`
	ResourceGroupID string `rpc:"ResourceGroupId"`
}

type describeIPv6GatewaysResponse struct {
	listing.Numbered
	Gateways []ipv6GatewayView `rpc:"Ipv6Gateways>Ipv6Gateway"`
}

func describeIPv6Gateways(v *state.View, req *describeIPv6GatewaysRequest) (*describeIPv6GatewaysResponse, error) {
	hasTags := req.filter(v, kinds.TagIPv6Gateway)
	var found []ipv6GatewayView
	for g := range kinds.IPv6GatewaysByRegion.InScope(v) {
		if listing.Matches(req.ID, g.ID) && listing.Matches(req.Name, g.Name) && listing.Matches(req.VPCID, g.VPCID) &&
			listing.Matches(req.ResourceGroupID, g.ResourceGroupID) && hasTags(g.ID) {
			found = append(found, viewIPv6Gateway(v, g))
		}
	}
	gateways, page := listing.Number(found, req.PageNumber, req.PageSize)
	return &describeIPv6GatewaysResponse{page, gateways}, nil
}
