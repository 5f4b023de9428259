package vpc

import (
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var resourceGroupActions = []gateway.Action{
	gateway.Write("MoveResourceGroup", moveResourceGroup).Refusing(errMovedTypeUnknown),
}

// The refusals of this file. A struct tag names it.
var errMovedTypeUnknown = refusals.New("MovedTypeUnknown", 400, "InvalidResourceType.NotSupport",
	"The specified ResourceType is not supported.", "CLB-0402")

// movedType is the API's word for a kind of resource that it moves.
type movedType string

// Words returns the kinds' own words.
func (movedType) Words() []string { return kinds.MovedTypes(kinds.ProductVPC) }

type moveResourceGroupRequest struct {
	RegionID           string    `rpc:"RegionId,required"`
	ResourceID         string    `rpc:"ResourceId,required"`
	ResourceType       movedType `rpc:"ResourceType,required,words,invalid=MovedTypeUnknown"`
	NewResourceGroupID string    `rpc:"NewResourceGroupId,required"`
}

func moveResourceGroup(tx *state.Tx, req *moveResourceGroupRequest) (*gateway.Empty, error) {
	group, err := kinds.ResourceGroups.Get(tx.View, req.NewResourceGroupID)
	if err != nil {
		return nil, err
	}
	return &gateway.Empty{}, kinds.MoveToGroup(tx, kinds.ProductVPC, string(req.ResourceType), req.ResourceID, group.ID)
}
