package vpc

import (
	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/state"
)

var resourceGroupActions = []gateway.Action{
	gateway.Write("MoveResourceGroup", moveResourceGroup).Refusing(errMovedTypeUnknown),
}

// The refusals of this file. A struct tag names it.
var errMovedTypeUnknown = refusals.New("MovedTypeUnknown", 400, "InvalidResourceType.NotSupport",
	"The specified ResourceType is not supported.", "CLB-0402")

type moveResourceGroupRequest struct {
	RegionID           string `rpc:"RegionId,required"`
	ResourceID         string `rpc:"ResourceId,required"`
	ResourceType       string `rpc:"ResourceType,required,words=vpc|eip|bandwidthpackage|ipv4gateway|ipv6gateway|havip,invalid=MovedTypeUnknown"`
	NewResourceGroupID string `rpc:"NewResourceGroupId,required"`
}

func moveResourceGroup(tx *state.Tx, req *moveResourceGroupRequest) (*gateway.Empty, error) {
	group, err := cloud.ResourceGroups.Get(tx.View, req.NewResourceGroupID)
	if err != nil {
		return nil, err
	}
	switch req.ResourceType {
	case "vpc":
		err = moveVPC(tx, req.ResourceID, group.ID)
	case "eip":
		err = cloud.EIPs.Edit(tx, req.ResourceID, func(e *cloud.EIP) error { e.ResourceGroupID = group.ID; return nil })
	case "ipv4gateway":
		err = cloud.IPv4Gateways.Edit(tx, req.ResourceID, func(g *cloud.IPv4Gateway) error { g.ResourceGroupID = group.ID; return nil })
	case "ipv6gateway":
		err = cloud.IPv6Gateways.Edit(tx, req.ResourceID, func(g *cloud.IPv6Gateway) error { g.ResourceGroupID = group.ID; return nil })
	case "havip":
		err = cloud.HAVIPs.Edit(tx, req.ResourceID, func(h *cloud.HAVIP) error { h.ResourceGroupID = group.ID; return nil })
	default:
		err = cloud.CommonBandwidthPackages.Edit(tx, req.ResourceID, func(p *cloud.CommonBandwidthPackage) error {
			p.ResourceGroupID = group.ID
			return nil
		})
	}
	return &gateway.Empty{}, err
}

// moveVPC takes the VPC's route tables along: CLB-0402.
func moveVPC(tx *state.Tx, id, group string) error {
	for t := range cloud.RouteTablesByVPC.List(tx.View, id) {
		moved := *t
		moved.ResourceGroupID = group
		cloud.RouteTables.Put(tx, &moved)
	}
	return cloud.VPCs.Edit(tx, id, func(v *cloud.VPC) error { v.ResourceGroupID = group; return nil })
}
