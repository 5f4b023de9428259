package clb

import (
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var tagActions = []gateway.Action{
	gateway.Write("TagResources", tagResources).Refusing(errTagResourceTypeInvalid, errTaggedMissing),
	gateway.Write("UntagResources", untagResources).Refusing(errTagResourceTypeInvalid, errTaggedMissing),
	gateway.Read("ListTagResources", listTagResources).Refusing(errTagResourceTypeInvalid),
}

// The refusals of this file.
var (
	errTagKeyMissing = refusals.New("TagKeyMissing", 400, "MissingParam.TagKey",
		"The param MissingParam.TagKey is missing.", "CLB-0200").
		In(400, "MissingParam.TagKey", "The parameter TagKey is required.", "CLB-0200",
			"TagResources", "UntagResources", "ListTagResources").
		In(400, "MissingParam.TagKey", "The param of TagKey is missing.", "CLB-0200",
			"DescribeLoadBalancerListeners", "DescribeVServerGroups", "DescribeMasterSlaveServerGroups")
	errTagKeyInvalid = refusals.New("TagKeyInvalid", 400, "InvalidParam.TagKey",
		"The tag key %s is invalid.", "CLB-0200").
		In(400, "InvalidParam.TagKey", "The specified TagKey is invalid.", "CLB-0200",
			"TagResources", "UntagResources", "ListTagResources")
	errTagValueInvalid = refusals.New("TagValueInvalid", 400, "InvalidParam.TagValue",
		"The tag value %s is invalid.", "CLB-0200").
		In(400, "InvalidParam.TagValue", "The specified TagValue is invalid.", "CLB-0200",
			"TagResources", "UntagResources", "ListTagResources")
	errTagKeyTwice = refusals.New("TagKeyTwice", 400, "Duplicate.TagKey",
		"The param TagKey has duplicate value.", "CLB-0200")
	errTooManyTags = refusals.New("TooManyTags", 400, "SizeLimitExceeded.Tag",
		"The maximum size of Tag is exceeded.", "CLB-0200")
	errTooManyTagKeys = refusals.New("TooManyTagKeys", 400, "SizeLimitExceeded.TagKey",
		"The maximum size of TagKey is exceeded.", "CLB-0200")
	errTooManyTagged = refusals.New("TooManyTagged", 400, "SizeLimitExceeded.ResourceId",
		"The maximum size of ResourceId is exceeded.", "CLB-0200")
	errTaggedMissing = refusals.New("TaggedMissing", 400, "MissingParam.ResourceId",
		"The parameter ResourceId is required.", "CLB-0200")
	errTaggedUnknown = refusals.New("TaggedUnknown", 400, "ResourceNotExist",
		"The specified resource %s does not exist.", "CLB-0200")
	errTagOrResourceMissing = refusals.New("TagOrResourceMissing", 400, "MissingParam.TagOrResourceId",
		"The parameter Tag or ResourceId is required at least one.", "CLB-0200")
	errTagResourceTypeInvalid = refusals.New("TagResourceTypeInvalid", 400, "InvalidParam.ResourceType",
		"The specified ResourceType is invalid.", "CLB-0200")
)

// taggable are the resources that the API tags: server and CA certificates are both
// certificates.
var taggable = tagging.NewTypes(kinds.Schema, kinds.ProductCLB, errTaggedUnknown.Of)

// taggedType is the API's word for a kind of resource that it tags.
type taggedType string

// Words returns the kinds' own words.
func (taggedType) Words() []string { return taggable.Words() }

const (
	maxTagsPerCall      = 20
	maxTaggedPerCall    = 50
	tagResourcesPerPage = 50
)

// tagFilterParam is an element of Tag.N where it filters: a key alone asks for
// any value.
type tagFilterParam struct {
	Key   string  `rpc:"Key,required,missing=TagKeyMissing"`
	Value *string `rpc:"Value"`
}

// jsonTag is an element of the older JSON text Tags, in either case of its keys.
type jsonTag struct {
	TagKey   string
	TagValue string
}

func (t jsonTag) filter() state.TagFilter {
	if t.TagValue == "" {
		return state.TagFilter{Key: t.TagKey}
	}
	return state.TagFilter{Key: t.TagKey, Value: &t.TagValue}
}

func tagFilters(params []tagFilterParam) []state.TagFilter {
	filters := make([]state.TagFilter, len(params))
	for i, p := range params {
		filters[i] = state.TagFilter(p)
	}
	return filters
}

var tagRefusals = tagging.Refusals{Key: errTagKeyInvalid, Value: errTagValueInvalid, Twice: errTagKeyTwice}

// checkTags holds the rules for the tags that a call sets.
func checkTags(tags []tagging.Tag) error {
	switch {
	case len(tags) > maxTagsPerCall:
		return errTooManyTags
	case slices.ContainsFunc(tags, func(t tagging.Tag) bool { return t.Key == "" }):
		return errTagKeyMissing
	}
	return tagRefusals.Check(tags)
}

type tagResourcesRequest struct {
	RegionID     string        `rpc:"RegionId,required"`
	ResourceType taggedType    `rpc:"ResourceType,required,invalid=TagResourceTypeInvalid"`
	ResourceIDs  []string      `rpc:"ResourceId,required,missing=TaggedMissing"`
	Tags         []tagging.Tag `rpc:"Tag"`
}

// Validate enforces the rules of shape.
func (req *tagResourcesRequest) Validate() error {
	if len(req.ResourceIDs) > maxTaggedPerCall {
		return errTooManyTagged
	}
	if len(req.Tags) == 0 {
		return errTagKeyMissing
	}
	return checkTags(req.Tags)
}

func tagResources(tx *state.Tx, req *tagResourcesRequest) (*gateway.Empty, error) {
	if err := checkTaggable(tx.View, req.ResourceIDs); err != nil {
		return nil, err
	}
	return &gateway.Empty{}, taggable.Tag(tx, string(req.ResourceType), req.ResourceIDs, req.Tags)
}

// checkTaggable refuses locked load balancers, and what belongs to them.
func checkTaggable(v *state.View, ids []string) error {
	for _, id := range ids {
		if l, found := kinds.Listeners.Find(v, id); found {
			id = l.LoadBalancerID
		} else if g, found := kinds.VServerGroups.Find(v, id); found {
			id = g.LoadBalancerID
		} else if g, found := kinds.MasterSlaveServerGroups.Find(v, id); found {
			id = g.LoadBalancerID
		}
		if lb, found := kinds.LoadBalancers.Find(v, id); found && lb.Status == kinds.LoadBalancerLocked {
			return errLoadBalancerLocked
		}
	}
	return nil
}

type untagResourcesRequest struct {
	RegionID     string     `rpc:"RegionId,required"`
	ResourceType taggedType `rpc:"ResourceType,required,invalid=TagResourceTypeInvalid"`
	ResourceIDs  []string   `rpc:"ResourceId,required,missing=TaggedMissing"`
	TagKeys      []string   `rpc:"TagKey"`
	All          bool       `rpc:"All"`
}

// Validate enforces the rules of shape.
func (req *untagResourcesRequest) Validate() error {
	switch {
	case len(req.ResourceIDs) > maxTaggedPerCall:
		return errTooManyTagged
	case len(req.TagKeys) > maxTagsPerCall:
		return errTooManyTagKeys
	case len(slices.Compact(slices.Sorted(slices.Values(req.TagKeys)))) < len(req.TagKeys):
		return errTagKeyTwice
	}
	return tagRefusals.CheckKeys(req.TagKeys)
}

// untagResources takes the named tags off. Without names it takes all off, also
// where All is not said: CLB-0130. A tag that is not there is no error.
func untagResources(tx *state.Tx, req *untagResourcesRequest) (*gateway.Empty, error) {
	if err := checkTaggable(tx.View, req.ResourceIDs); err != nil {
		return nil, err
	}
	return &gateway.Empty{}, taggable.Untag(tx, string(req.ResourceType), tagging.Removal{ResourceIDs: req.ResourceIDs, TagKeys: req.TagKeys, All: true})
}

type listTagResourcesRequest struct {
	RegionID     string           `rpc:"RegionId,required"`
	ResourceType taggedType       `rpc:"ResourceType,required,invalid=TagResourceTypeInvalid"`
	NextToken    string           `rpc:"NextToken"`
	ResourceIDs  []string         `rpc:"ResourceId"`
	Tags         []tagFilterParam `rpc:"Tag"`
}

// Validate enforces the rules of shape.
func (req *listTagResourcesRequest) Validate() error {
	switch {
	case len(req.ResourceIDs) == 0 && len(req.Tags) == 0:
		return errTagOrResourceMissing
	case len(req.ResourceIDs) > maxTaggedPerCall:
		return errTooManyTagged
	case len(req.Tags) > maxTagsPerCall:
		return errTooManyTags
	}
	return nil
}

type listTagResourcesResponse struct {
	NextToken    string             `rpc:"NextToken,omitempty"`
	TagResources []tagging.Resource `rpc:"TagResources>TagResource"`
}

// listTagResources lists every tag of the named resources that carry all the requested
// tags.
func listTagResources(v *state.View, req *listTagResourcesRequest) (*listTagResourcesResponse, error) {
	part, next, err := taggable.List(v, string(req.ResourceType), req.ResourceIDs, tagFilters(req.Tags), req.NextToken, tagResourcesPerPage)
	return &listTagResourcesResponse{NextToken: next, TagResources: part}, err
}
