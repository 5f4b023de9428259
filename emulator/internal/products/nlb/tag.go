package nlb

import (
	"net/http"
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/changes"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
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
var taggable = tagging.Types{Unknown: errTaggedUnknown.Of, Kinds: map[string][]state.TagResourceType{
	"loadbalancer": {cloud.TagNLBLoadBalancer}, "listener": {cloud.TagNLBListener},
	"servergroup": {cloud.TagNLBServerGroup}, "securitypolicy": {cloud.TagNLBSecurityPolicy},
}}

type tagResourcesRequest struct {
	changes.Order
	tagged
	ResourceType string   `rpc:"ResourceType,required,enum=loadbalancer|listener|servergroup|securitypolicy,invalid=Illegal"`
	ResourceIDs  []string `rpc:"ResourceId,required,max=50,invalid=Illegal"`
}

// Validate enforces the rules of shape.
func (req *tagResourcesRequest) Validate() error {
	if len(req.Tags) == 0 {
		return errMissing.Of("Tag")
	}
	return req.check()
}

func tagResources(tx *state.Tx, req *tagResourcesRequest) (*changes.Work, error) {
	if err := taggable.Check(tx.View, req.ResourceType, req.ResourceIDs); err != nil {
		return nil, err
	}
	return &changes.Work{Do: func() error { return taggable.Tag(tx, req.ResourceType, req.ResourceIDs, req.Tags) }}, nil
}

type untagResourcesRequest struct {
	changes.Order
	ResourceType string   `rpc:"ResourceType,required,enum=loadbalancer|listener|servergroup|securitypolicy,invalid=Illegal"`
	ResourceIDs  []string `rpc:"ResourceId,required,max=50,invalid=Illegal"`
	TagKeys      []string `rpc:"TagKey,max=20,invalid=Illegal"`
	All          bool     `rpc:"All"`
}

// Validate enforces the rules of shape.
func (req *untagResourcesRequest) Validate() error {
	if len(req.TagKeys) == 0 && !req.All {
		return errMissing.Of("TagKey")
	}
	return nil
}

func untagResources(tx *state.Tx, req *untagResourcesRequest) (*changes.Work, error) {
	if err := taggable.Check(tx.View, req.ResourceType, req.ResourceIDs); err != nil {
		return nil, err
	}
	return &changes.Work{Do: func() error {
		return taggable.Untag(tx, req.ResourceType, tagging.Removal{ResourceIDs: req.ResourceIDs, TagKeys: req.TagKeys, All: req.All})
	}}, nil
}

type listTagResourcesRequest struct {
	gateway.Region
	listing.FewByToken
	ResourceType string        `rpc:"ResourceType,required,enum=loadbalancer|listener|servergroup|securitypolicy,invalid=Illegal"`
	ResourceIDs  []string      `rpc:"ResourceId,max=50,invalid=Illegal"`
	Tags         []tagging.Tag `rpc:"Tag,max=20,invalid=Illegal"`
}

// Validate enforces the rules of shape.
func (req *listTagResourcesRequest) Validate() error {
	if len(req.ResourceIDs) == 0 && len(req.Tags) == 0 {
		return errMissing.Of("ResourceId")
	}
	return nil
}

type listTagResourcesResponse struct {
	TagResources []tagging.Resource `rpc:"TagResources"`
	listing.Part
}

func listTagResources(v *state.View, req *listTagResourcesRequest) (*listTagResourcesResponse, error) {
	part, page, err := taggable.ListPart(v, req.ResourceType, req.ResourceIDs, req.Tags, listing.ByToken(req.FewByToken))
	return &listTagResourcesResponse{part, page}, err
}

type moveResourceGroupRequest struct {
	changes.Order
	ResourceType       string `rpc:"ResourceType,required,enum=loadbalancer|servergroup|securitypolicy,invalid=Illegal"`
	ResourceID         string `rpc:"ResourceId,required"`
	NewResourceGroupID string `rpc:"NewResourceGroupId,required"`
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
	group, err := cloud.ResourceGroupOf(tx.View, req.NewResourceGroupID)
	if err != nil {
		return nil, err
	}
	if err := taggable.Check(tx.View, req.ResourceType, []string{req.ResourceID}); err != nil {
		return nil, err
	}
	if req.ResourceType == "loadbalancer" {
		if err := changing.Enter(tx, req.ResourceID); err != nil {
			return nil, err
		}
	}
	return &changes.Work{Do: func() error {
		switch req.ResourceType {
		case "loadbalancer":
			return move(tx, cloud.NLBLoadBalancers, req.ResourceID, func(lb *cloud.NLBLoadBalancer) *string { return &lb.ResourceGroupID }, group)
		case "servergroup":
			return move(tx, cloud.NLBServerGroups, req.ResourceID, func(g *cloud.NLBServerGroup) *string { return &g.ResourceGroupID }, group)
		default:
			return move(tx, cloud.NLBSecurityPolicies, req.ResourceID, func(p *cloud.NLBSecurityPolicy) *string { return &p.ResourceGroupID }, group)
		}
	}}, nil
}

func move[T any](tx *state.Tx, table *state.Table[T], id string, group func(*T) *string, to string) error {
	return table.Edit(tx, id, func(r *T) error {
		*group(r) = to
		return nil
	})
}
