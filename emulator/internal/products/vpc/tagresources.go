package vpc

import (
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var tagActions = []gateway.Action{
	gateway.Write("TagResources", tagResources).Refusing(errTagTypeUnknown),
	gateway.Write("UnTagResources", unTagResources).Refusing(errTagTypeUnknown), // the cloud's spelling
	gateway.Read("ListTagResources", listTagResources).Refusing(errTagTypeUnknown),
}

// The refusals of this file.
var (
	errTagTypeUnknown = refusals.New("TagTypeUnknown", 404, "InvalidResourceType.NotFound",
		"The ResourceType provided does not exist in our records.", "CLB-0342")
	errTaggedUnknown = refusals.New("TaggedUnknown", 404, "InvalidResourceId.NotFound",
		"The specified ResourceIds are not found in our records.", "CLB-0342")
	errTagsMissing = refusals.New("TagsMissing", 400, "MissingParameter.TagKey",
		"You must specify Tag.N.", "CLB-0342")
	errTagsOrIDsMissing = refusals.New("TagsOrIDsMissing", 400, "MissingParameter.TagOwner",
		"You must specify ResourceId.N or Tag.N.", "CLB-0342")
)

// taggable are the resources that the API tags.
var taggable = tagging.NewTypes(kinds.Schema, kinds.ProductVPC, errTaggedUnknown.Of)

// taggedType is the API's word for a kind of resource that it tags.
type taggedType string

// Words returns the kinds' own words.
func (taggedType) Words() []string { return taggable.Words() }

// taggedResources holds the parameters that the three requests share.
type taggedResources struct {
	RegionID     string     `rpc:"RegionId,required"`
	ResourceType taggedType `rpc:"ResourceType,required,invalid=TagTypeUnknown"`
}

type tagResourcesRequest struct {
	taggedResources
	tagged
	ResourceIDs []string `rpc:"ResourceId,required,max=50"`
}

// Validate implements the gateway's check of shape.
func (r *tagResourcesRequest) Validate() error {
	if len(r.Tags) == 0 {
		return errTagsMissing
	}
	return r.check()
}

func tagResources(tx *state.Tx, req *tagResourcesRequest) (*gateway.Empty, error) {
	return &gateway.Empty{}, taggable.Tag(tx, string(req.ResourceType), req.ResourceIDs, req.Tags)
}

type unTagResourcesRequest struct {
	taggedResources
	tagging.Removal
}

// unTagResources takes the named tags off, and all of them if the call names none
// and sets All.
func unTagResources(tx *state.Tx, req *unTagResourcesRequest) (*gateway.Empty, error) {
	return &gateway.Empty{}, taggable.Untag(tx, string(req.ResourceType), req.Removal)
}

type listTagResourcesRequest struct {
	taggedResources
	ResourceIDs []string      `rpc:"ResourceId,max=50"`
	Tags        []tagging.Tag `rpc:"Tag,max=20,invalid=TagKeyInvalid"`
	NextToken   string        `rpc:"NextToken"`
	MaxResults  int           `rpc:"MaxResults,default=50,min=1,max=50"`
}

// Validate implements the gateway's check of shape.
func (r *listTagResourcesRequest) Validate() error {
	if len(r.ResourceIDs) == 0 && len(r.Tags) == 0 {
		return errTagsOrIDsMissing
	}
	return nil
}

type listTagResourcesResponse struct {
	NextToken    string             `rpc:"NextToken"`
	TagResources []tagging.Resource `rpc:"TagResources>TagResource"`
}

// listTagResources lists every tag of the named resources that carry all the requested
// tags.
func listTagResources(v *state.View, req *listTagResourcesRequest) (*listTagResourcesResponse, error) {
	part, next, err := taggable.List(v, string(req.ResourceType), req.ResourceIDs, tagging.Filters(req.Tags), req.NextToken, req.MaxResults)
	return &listTagResourcesResponse{NextToken: next, TagResources: part}, err
}
