package nlb

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/nlb/changes"
	"github.com/clbemu/clbemu/state"
)

var tagActions = []gateway.Action{
	changes.AtOnce(changing, "TagResources", tagResources),
	changes.AtOnce(changing, "UntagResources", untagResources),
	gateway.Read("ListTagResources", listTagResources),
	changes.Answered(changing, "MoveResourceGroup", moveResourceGroup, movedResource),
}

// The refusals of this file.
var (
	errTagKeyIllegal = refusals.New("TagKeyIllegal", 400, "IllegalParam.TagKey",
		"The param of TagKey %s is illegal.", "CLB-0203")
	errTagValueIllegal = refusals.New("TagValueIllegal", 400, "IllegalParam.TagValue",
		"The param of TagValue %s is illegal.", "CLB-0203")
	errTagKeyTwice = refusals.New("TagKeyTwice", 400, "DuplicatedParam.TagKey",
		"The param of TagKey is duplicated.", "CLB-0203")
	errTaggedUnknown = refusals.New("TaggedUnknown", 404, "ResourceNotFound.ResourceId",
		"The specified resource of %s is not found.", "CLB-0203")
	errTagMissing        = missing("Tag")
	errTagKeyMissing     = missing("TagKey")
	errResourceIDMissing = missing("ResourceId")
)

// tagged is the part of a request that sets tags.
type tagged struct {
	Tags []tagging.Tag `rpc:"Tag,max=20,invalid=Illegal"`
}

var tagRefusals = tagging.Refusals{Key: errTagKeyIllegal, Value: errTagValueIllegal, Twice: errTagKeyTwice}

func (r *tagged) check() error { return tagRefusals.Check(r.Tags) }

func (r *tagged) set(tx *state.Tx, kind state.TagResourceType, id string) {
	tagging.Set(tx, kind, id, r.Tags)
}

// anyTag reports whether a resource has one of the tags, if there are any.
func anyTag(v *state.View, kind state.TagResourceType, id string, tags []tagging.Tag) bool {
	return len(tags) == 0 || slices.ContainsFunc(tagging.Filters(tags), func(f state.TagFilter) bool {
		return state.HasTags(v, kind, id, []state.TagFilter{f})
	})
}

// taggedWithAny lists the resources that have one of the tags, each once.
func taggedWithAny(v *state.View, kind state.TagResourceType, tags []tagging.Tag) (ids []string) {
	for _, f := range tagging.Filters(tags) {
		ids = append(ids, state.ResourcesTagged(v, kind, []state.TagFilter{f})...)
	}
	return listing.Unique(ids)
}

// taggable are the resources that the API tags.
var taggable = tagging.NewTypes(kinds.Schema, kinds.ProductNLB, errTaggedUnknown.Of)

// taggedType is the API's word for a kind of resource that it tags.
type taggedType string

// Words returns the kinds' own words.
func (taggedType) Words() []string { return taggable.Words() }

type tagResourcesRequest struct {
	changes.Order
	tagged
	ResourceType taggedType `rpc:"ResourceType,required,invalid=Illegal"`
	ResourceIDs  []string   `rpc:"ResourceId,required,max=50,invalid=Illegal"`
}

// Validate enforces the rules of shape.
func (req *tagResourcesRequest) Validate() error {
	if len(req.Tags) == 0 {
		return errTagMissing
	}
	return req.check()
}

func tagResources(tx *state.Tx, req *tagResourcesRequest) (*changes.Work, error) {
	if err := checkTaggable(tx.View, string(req.ResourceType), req.ResourceIDs); err != nil {
		return nil, err
	}
	return &changes.Work{Do: func() error { return taggable.Tag(tx, string(req.ResourceType), req.ResourceIDs, req.Tags) }}, nil
}

// checkTaggable refuses what does not exist, locked load balancers and their listeners. Tags
// are the one change that a busy load balancer takes.
func checkTaggable(v *state.View, resourceType string, ids []string) error {
	for _, id := range ids {
		if l, found := kinds.NLBListeners.Find(v, id); found {
			id = l.LoadBalancerID
		}
		if lb, found := kinds.NLBLoadBalancers.Find(v, id); found {
			if err := checkLock(lb); err != nil {
				return err
			}
		}
	}
	return taggable.Check(v, resourceType, ids)
}

type untagResourcesRequest struct {
	changes.Order
	ResourceType taggedType `rpc:"ResourceType,required,invalid=Illegal"`
	ResourceIDs  []string   `rpc:"ResourceId,required,max=50,invalid=Illegal"`
	TagKeys      []string   `rpc:"TagKey,max=20,invalid=Illegal"`
	All          bool       `rpc:"All"`
}

// Validate enforces the rules of shape.
func (req *untagResourcesRequest) Validate() error {
	if len(req.TagKeys) == 0 && !req.All {
		return errTagKeyMissing
	}
	return tagRefusals.CheckKeys(req.TagKeys)
}

func untagResources(tx *state.Tx, req *untagResourcesRequest) (*changes.Work, error) {
	if err := checkTaggable(tx.View, string(req.ResourceType), req.ResourceIDs); err != nil {
		return nil, err
	}
	return &changes.Work{Do: func() error {
		return taggable.Untag(tx, string(req.ResourceType), tagging.Removal{ResourceIDs: req.ResourceIDs, TagKeys: req.TagKeys, All: req.All})
	}}, nil
}

type listTagResourcesRequest struct {
	gateway.Region
	MaxResults   int           `rpc:"MaxResults,min=1,max=50,default=50"`
	NextToken    string        `rpc:"NextToken"`
	ResourceType taggedType    `rpc:"ResourceType,required,invalid=Illegal"`
	ResourceIDs  []string      `rpc:"ResourceId,max=50,invalid=Illegal"`
	Tags         []tagging.Tag `rpc:"Tag,max=20,invalid=Illegal"`
}

// Validate enforces the rules of shape.
func (req *listTagResourcesRequest) Validate() error {
	if len(req.ResourceIDs) == 0 && len(req.Tags) == 0 {
		return errResourceIDMissing
	}
	return nil
}

type listTagResourcesResponse struct {
	TagResources []tagResource `rpc:"TagResources"`
	listing.Paging
}

// tagResource is a tag as NLB lists it.
type tagResource struct {
	tagging.Resource
	RegionNo string `rpc:"RegionNo"`
	AliUID   int    `rpc:"AliUid"`
	Scope    string `rpc:"Scope"`
	Category string `rpc:"Category"`
}

func listTagResources(v *state.View, req *listTagResourcesRequest) (*listTagResourcesResponse, error) {
	part, page, err := taggable.ListPart(v, string(req.ResourceType), req.ResourceIDs, req.Tags, listing.ByToken{MaxResults: req.MaxResults, NextToken: req.NextToken})
	account, _ := strconv.Atoi(v.Scope().AccountID) // a world's accounts are numbers
	return &listTagResourcesResponse{listing.Views(v, part, func(v *state.View, r tagging.Resource) tagResource {
		category := "Custom"
		if kinds.IsSystemTag(r.TagKey) {
			category = "System"
		}
		return tagResource{r, v.Scope().RegionID, account, "public", category}
	}), page}, err
}

// movedType is the API's word for a kind of resource that it moves.
type movedType string

// Words returns the kinds' own words.
func (movedType) Words() []string { return kinds.MovedTypes(kinds.ProductNLB) }

type moveResourceGroupRequest struct {
	changes.Order
	ResourceType       movedType `rpc:"ResourceType,required,invalid=Illegal"`
	ResourceID         string    `rpc:"ResourceId,required"`
	NewResourceGroupID string    `rpc:"NewResourceGroupId,required"`
}

type moveResourceGroupResponse struct {
	Data struct {
		ResourceID string `rpc:"ResourceId"`
	} `rpc:"Data"`
	HTTPStatusCode int  `rpc:"HttpStatusCode"`
	Success        bool `rpc:"Success"`
}

func movedResource(req *moveResourceGroupRequest) *moveResourceGroupResponse {
	resp := &moveResourceGroupResponse{HTTPStatusCode: http.StatusOK, Success: true}
	resp.Data.ResourceID = req.ResourceID
	return resp
}

func moveResourceGroup(tx *state.Tx, req *moveResourceGroupRequest) (*changes.Work, error) {
	group, err := kinds.ResourceGroupOf(tx.View, req.NewResourceGroupID)
	if err != nil {
		return nil, err
	}
	if err := taggable.Check(tx.View, string(req.ResourceType), []string{req.ResourceID}); err != nil {
		return nil, err
	}
	if req.ResourceType == "loadbalancer" {
		if err := changing.Enter(tx, req.ResourceID); err != nil {
			return nil, err
		}
	}
	return &changes.Work{Do: func() error {
		return kinds.MoveToGroup(tx, kinds.ProductNLB, string(req.ResourceType), req.ResourceID, group)
	}}, nil
}
