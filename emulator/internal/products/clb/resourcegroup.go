package clb

import (
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var resourceGroupActions = []gateway.Action{
	change("MoveResourceGroup", moveResourceGroup),
}

// movedType is the API's word for a kind of resource that it moves.
type movedType string

// Words returns the kinds' own words.
func (movedType) Words() []string { return kinds.MovedTypes(kinds.ProductCLB) }

type moveResourceGroupRequest struct {
	RegionID           string    `rpc:"RegionId,required"`
	ResourceID         string    `rpc:"ResourceId,required"`
	ResourceType       movedType `rpc:"ResourceType,required"`
	NewResourceGroupID string    `rpc:"NewResourceGroupId,required"`
	ResourceGroupID    string    `rpc:"ResourceGroupId"` // where it was, which is not looked at
}

func (req *moveResourceGroupRequest) LoadBalancerOf(*state.View) (string, error) {
	if req.ResourceType != "loadbalancer" {
		return noLoadBalancer, nil
	}
	return req.ResourceID, nil
}

func moveResourceGroup(tx *state.Tx, req *moveResourceGroupRequest) (*gateway.Empty, error) {
	group, err := kinds.ResourceGroups.Get(tx.View, req.NewResourceGroupID)
	if err != nil {
		return nil, err
	}
	return &gateway.Empty{}, kinds.MoveToGroup(tx, kinds.ProductCLB, string(req.ResourceType), req.ResourceID, group.ID)
}
