package resourcemanager

import (
	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/state"
)

var tagActions = []gateway.Action{
	gateway.Write("TagResources", tagResources),
	gateway.Write("UntagResources", untagResources).Also("UnTagResources"), // as Terraform spells it
	gateway.Read("ListTagResources", listTagResources),
}

// What is refused here. Those without a name of their own are asked for by tags.
var (
	errTagKeyInvalid = refusals.New("TagKeyInvalid", 400, "InvalidParameter.TagKey",
		"The specified parameter TagKey is not valid.", "CLB-0527")
	errTagValueInvalid = refusals.New("TagValueInvalid", 400, "InvalidParameter.TagValue",
		"The specified parameter TagValue is not valid.", "CLB-0527")
	_ = refusals.New("TagTypeUnknown", 400, "InvalidParameter.ResourceType",
		"The specified parameter ResourceType is not valid.", "CLB-0527")
	errTagTokenInvalid = refusals.New("TagTokenInvalid", 400, "InvalidParameter.NextToken",
		"The specified parameter NextToken is not valid.", "CLB-0527")
)

var tagRefusals = tagging.Refusals{Key: errTagKeyInvalid, Value: errTagValueInvalid}

// taggedGroups is what the requests share: groups are the one type that is tagged here.
type taggedGroups struct {
	ResourceType string `rpc:"ResourceType,required,words=ResourceGroup,invalid=TagTypeUnknown"`
}

type tagResourcesRequest struct {
	taggedGroups
	ResourceIDs []string      `rpc:"ResourceId,required,max=50"`
	Tags        []tagging.Tag `rpc:"Tag,required,max=20,invalid=TagKeyInvalid"`
}

// Validate implements the gateway's check of shape.
func (r *tagResourcesRequest) Validate() error { return tagRefusals.Check(r.Tags) }

func tagResources(tx *state.Tx, req *tagResourcesRequest) (*gateway.Empty, error) {
	return &gateway.Empty{}, each(tx, req.ResourceIDs, func(tx *state.Tx, id string) error {
		tagging.Set(tx, cloud.TagResourceGroup, id, req.Tags)
		return tx.Use(cloud.QuotaTags, id, 0)
	})
}

// everywhere is the account's state as it is without a region, as groups have none.
func everywhere(v *state.View) *state.View { return v.In(state.Owner{AccountID: v.Scope().AccountID}) }

// each does something to all the groups, which must be there.
func each(tx *state.Tx, ids []string, do func(tx *state.Tx, id string) error) error {
	for _, id := range ids {
		g, err := cloud.ResourceGroups.Get(tx.View, id)
		if err != nil {
			return err
		}
		if err := do(tx.In(g.Belonging()), id); err != nil {
			return err
		}
	}
	return nil
}

type untagResourcesRequest struct {
	taggedGroups
	ResourceIDs []string `rpc:"ResourceId,required,max=50"`
	TagKeys     []string `rpc:"TagKey,max=20"`
	All         bool     `rpc:"All"`
}

// untagResources takes the named tags off, and all of them where none is named and All
// is said.
func untagResources(tx *state.Tx, req *untagResourcesRequest) (*gateway.Empty, error) {
	return &gateway.Empty{}, each(tx, req.ResourceIDs, func(tx *state.Tx, id string) error {
		if len(req.TagKeys) > 0 || req.All {
			tagging.Remove(tx, cloud.TagResourceGroup, id, req.TagKeys)
		}
		return nil
	})
}

type listTagResourcesRequest struct {
	taggedGroups
	ResourceIDs []string      `rpc:"ResourceId,max=50"`
	Tags        []tagging.Tag `rpc:"Tag,max=20,invalid=TagKeyInvalid"`
	NextToken   string        `rpc:"NextToken"`
	MaxResults  int           `rpc:"MaxResults,default=50,min=1,max=100"`
}

// listTagResourcesResponse has no NextToken on its last page: clients go on while it is
// there.
type listTagResourcesResponse struct {
	NextToken    string             `rpc:"NextToken,omitempty"`
	TagResources []tagging.Resource `rpc:"TagResources"`
}

func listTagResources(v *state.View, req *listTagResourcesRequest) (*listTagResourcesResponse, error) {
	list := tagging.Resources(everywhere(v), cloud.TagResourceGroup, "ResourceGroup", req.ResourceIDs, req.Tags)
	part, next, err := listing.After(list, req.NextToken, req.MaxResults, tagging.Resource.Place)
	if err != nil {
		return nil, errTagTokenInvalid
	}
	return &listTagResourcesResponse{NextToken: next, TagResources: part}, nil
}
