package ecs

import (
	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/state"
)

var tagActions = []gateway.Action{
	gateway.Write("TagResources", tagResources),
	gateway.Write("UntagResources", untagResources),
	gateway.Read("ListTagResources", listTagResources),
}

// What is refused here. Those without a name of their own are asked for by tags.
var (
	_ = refusals.New("TagTypeUnknown", 404, "InvalidResourceType.NotFound",
		"The ResourceType provided does not exist in our records.", "CLB-0387")
	errTaggedUnknown = refusals.New("TaggedUnknown", 404, "InvalidResourceId.NotFound",
		"The specified ResourceIds are not found in our records.", "CLB-0387")
	errTagsMissing = refusals.New("TagsMissing", 400, "MissingParameter.TagKey",
		"You must specify Tag.N.", "CLB-0387")
	errTagsOrIDsMissing = refusals.New("TagsOrIDsMissing", 400, "MissingParameter.TagOwner",
		"You must specify ResourceId.N or Tag.N.", "CLB-0387")
)

// tagErrors are about the number of a resource's tags.
var tagErrors = []gateway.ErrorRow{{Fact: state.QuotaExceeded, Kind: state.Kind(cloud.QuotaTags), Status: 400,
	Code: "QuotaExceeded.TagNumPerResource", Message: "The number of tags of the resource exceeds the quota.", Evidence: "CLB-0387"}}

// tagKinds are the resources that are tagged here, by the API's words for them.
var tagKinds = map[string]state.TagResourceType{
	"instance": cloud.TagInstance, "eni": cloud.TagNetworkInterface, "securitygroup": cloud.TagSecurityGroup,
}

// taggedResources is what the three requests share.
type taggedResources struct {
	RegionID     string `rpc:"RegionId,required"`
	ResourceType string `rpc:"ResourceType,required,enum=instance|eni|securitygroup,invalid=TagTypeUnknown"`
}

func (r *taggedResources) kind() state.TagResourceType { return tagKinds[r.ResourceType] }

// exist wants all the resources to be there.
func (r *taggedResources) exist(v *state.View, ids []string) error {
	for _, id := range ids {
		if !state.Taggable(v, r.kind(), id) {
			return errTaggedUnknown.Of(id)
		}
	}
	return nil
}

type tagResourcesRequest struct {
	taggedResources
	ResourceIDs []string         `rpc:"ResourceId,required,max=50"`
	Tags        []tagParamStrict `rpc:"Tag,max=20,invalid=TooManyTags"`
}

func tagResources(tx *state.Tx, req *tagResourcesRequest) (*gateway.Empty, error) {
	if len(req.Tags) == 0 {
		return nil, errTagsMissing
	}
	tags := strict(req.Tags)
	if err := tags.checkNew(); err != nil {
		return nil, err
	}
	if err := req.exist(tx.View, req.ResourceIDs); err != nil {
		return nil, err
	}
	for _, id := range req.ResourceIDs {
		tagging.Set(tx, req.kind(), id, tags.tags())
		if err := tx.Use(cloud.QuotaTags, id, 0); err != nil {
			return nil, err
		}
	}
	return &gateway.Empty{}, nil
}

type untagResourcesRequest struct {
	taggedResources
	ResourceIDs []string `rpc:"ResourceId,required,max=50"`
	TagKeys     []string `rpc:"TagKey,max=20"`
	All         bool     `rpc:"All"`
}

// untagResources takes the named tags off, and all of them where none is named and All
// is said.
func untagResources(tx *state.Tx, req *untagResourcesRequest) (*gateway.Empty, error) {
	if err := req.exist(tx.View, req.ResourceIDs); err != nil {
		return nil, err
	}
	for _, id := range req.ResourceIDs {
		if len(req.TagKeys) > 0 || req.All {
			tagging.Remove(tx, req.kind(), id, req.TagKeys)
		}
	}
	return &gateway.Empty{}, nil
}

type listTagResourcesRequest struct {
	taggedResources
	ResourceIDs []string      `rpc:"ResourceId,max=50"`
	Tags        []tagging.Tag `rpc:"Tag,max=20,invalid=TooManyTags"`
	NextToken   string        `rpc:"NextToken"`
}

// tagsOfPage is how many tags a page has, which no parameter changes: CLB-0387.
const tagsOfPage = 50

type listTagResourcesResponse struct {
	NextToken    string             `rpc:"NextToken"`
	TagResources []tagging.Resource `rpc:"TagResources>TagResource"`
}

// listTagResources lists every tag of the resources that are named and carry all the
// tags that are asked for.
func listTagResources(v *state.View, req *listTagResourcesRequest) (*listTagResourcesResponse, error) {
	if len(req.ResourceIDs) == 0 && len(req.Tags) == 0 {
		return nil, errTagsOrIDsMissing
	}
	list := tagging.Resources(v, req.kind(), req.ResourceType, req.ResourceIDs, req.Tags)
	part, next, err := listing.After(list, req.NextToken, tagsOfPage, tagging.Resource.Place)
	if err != nil {
		return nil, errNextTokenInvalid.Of(req.NextToken)
	}
	return &listTagResourcesResponse{NextToken: next, TagResources: part}, nil
}
