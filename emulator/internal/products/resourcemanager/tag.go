package resourcemanager

import (
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var tagActions = []gateway.Action{
	gateway.Write("TagResources", tagResources).Refusing(errTagTypeUnknown),
	gateway.Write("UntagResources", untagResources).Refusing(errTagTypeUnknown).Also("UnTagResources"), // as Terraform spells it
	gateway.Read("ListTagResources", listTagResources).Refusing(errTagTypeUnknown),
}

// The refusals of this file.
var (
	errTagKeyInvalid = refusals.New("TagKeyInvalid", 400, "InvalidParameter.TagKey",
		"The specified parameter TagKey is not valid.", "CLB-0527")
	errTagValueInvalid = refusals.New("TagValueInvalid", 400, "InvalidParameter.TagValue",
		"The specified parameter TagValue is not valid.", "CLB-0527")
	errTagTypeUnknown = refusals.New("TagTypeUnknown", 400, "InvalidParameter.ResourceType",
		"The specified parameter ResourceType is not valid.", "CLB-0527")
)

var tagRefusals = tagging.Refusals{Key: errTagKeyInvalid, Value: errTagValueInvalid}

// taggable lists the resources tagged here: groups, which have no region.
var taggable = tagging.NewTypes(kinds.Schema, kinds.ProductResourceManager, func(id ...string) error {
	return &state.Error{Fact: state.NotFound, Kind: kinds.ResourceGroups.Kind(), ID: id[0]}
})

// taggedGroups holds the parameter that the requests share: groups are the one type
// that is tagged here.
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
	return &gateway.Empty{}, taggable.Tag(tx.In(groups(tx.View)), req.ResourceType, req.ResourceIDs, req.Tags)
}

// groups returns the owner of an account's groups, which have no region.
func groups(v *state.View) state.Owner { return state.Owner{AccountID: v.Scope().AccountID} }

type untagResourcesRequest struct {
	taggedGroups
	tagging.Removal
}

// untagResources takes the named tags off, and all of them if the call names none
// and sets All.
func untagResources(tx *state.Tx, req *untagResourcesRequest) (*gateway.Empty, error) {
	return &gateway.Empty{}, taggable.Untag(tx.In(groups(tx.View)), req.ResourceType, req.Removal)
}

type listTagResourcesRequest struct {
	taggedGroups
	ResourceIDs []string      `rpc:"ResourceId,max=50"`
	Tags        []tagging.Tag `rpc:"Tag,max=20,invalid=TagKeyInvalid"`
	NextToken   string        `rpc:"NextToken"`
	MaxResults  int           `rpc:"MaxResults,default=50,min=1,max=100"`
}

// listTagResourcesResponse has no NextToken on its last page: clients continue while it
// has one.
type listTagResourcesResponse struct {
	NextToken    string             `rpc:"NextToken,omitempty"`
	TagResources []tagging.Resource `rpc:"TagResources"`
}

func listTagResources(v *state.View, req *listTagResourcesRequest) (*listTagResourcesResponse, error) {
	part, next, err := taggable.List(v.In(groups(v)), req.ResourceType, req.ResourceIDs, tagging.Filters(req.Tags), req.NextToken, req.MaxResults)
	return &listTagResourcesResponse{NextToken: next, TagResources: part}, err
}
