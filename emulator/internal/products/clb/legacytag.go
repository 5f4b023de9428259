package clb

import (
	"cmp"
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// legacyTagActions are the older form of TagResources, for load balancers alone.
// The tags are the same ones.
var legacyTagActions = []gateway.Action{
	change("AddTags", addTags).Refusing(errLegacyTagsMissing),
	change("RemoveTags", removeTags).Refusing(errLegacyTagsMissing),
	gateway.Read("DescribeTags", describeTags),
}

// The refusals of this file.
var (
	errLegacyTagsMissing = refusals.New("LegacyTagsMissing", 400, "MissingParameter.Tags",
		"The parameter Tags should not be null.", "CLB-0200")
	errLegacyTagKeyTwice = refusals.New("LegacyTagKeyTwice", 400, "Duplicate.TagKey",
		"The Tag.N.Key contain duplicate key.", "CLB-0200")
	errTooManyLegacyTags = refusals.New("TooManyLegacyTags", 400, "QuotaExceeded.Tag",
		"The number of Tag exceeds the limit.", "CLB-0200")
	errLegacyTagKeyInvalid = refusals.New("LegacyTagKeyInvalid", 400, "InvalidParameter.TagKey",
		"The specified tag key is invalid.", "CLB-0200")
	errLegacyTagValueInvalid = refusals.New("LegacyTagValueInvalid", 400, "InvalidParameter.TagValue",
		"The specified tag value is illegal.", "CLB-0200")
)

const (
	maxLegacyTagsPerCall   = 5
	maxLegacyTagsPerFilter = 10
)

type legacyTagsRequest struct {
	ofLoadBalancer
	Tags []jsonTag `rpc:"Tags,json,required,missing=LegacyTagsMissing,invalid=TagsMalformed"`
}

// Validate enforces the rules of shape.
func (req *legacyTagsRequest) Validate() error {
	if len(req.Tags) == 0 || len(req.Tags) > maxLegacyTagsPerCall {
		return errTooManyLegacyTags
	}
	return legacyTagRefusals.Check(req.tags())
}

func (req *legacyTagsRequest) tags() []tagging.Tag {
	tags := make([]tagging.Tag, len(req.Tags))
	for i, t := range req.Tags {
		tags[i] = tagging.Tag{Key: t.TagKey, Value: t.TagValue}
	}
	return tags
}

var legacyTagRefusals = tagging.Refusals{Key: errLegacyTagKeyInvalid, Value: errLegacyTagValueInvalid, Twice: errLegacyTagKeyTwice}

func addTags(tx *state.Tx, req *legacyTagsRequest) (*gateway.Empty, error) {
	tagging.Set(tx, kinds.TagLoadBalancer, req.LoadBalancerID, req.tags())
	return &gateway.Empty{}, tx.Use(kinds.QuotaLegacyTags, req.LoadBalancerID, 0)
}

// removeTags takes off the tags that have the key and, if the call has one, the
// value. One that is not there is no error.
func removeTags(tx *state.Tx, req *legacyTagsRequest) (*gateway.Empty, error) {
	for _, t := range req.Tags {
		if !kinds.IsSystemTag(t.TagKey) && state.HasTags(tx.View, kinds.TagLoadBalancer, req.LoadBalancerID, []state.TagFilter{t.filter()}) {
			state.Tags.Delete(tx, state.TagID(kinds.TagLoadBalancer, req.LoadBalancerID, t.TagKey))
		}
	}
	return &gateway.Empty{}, nil
}

type describeTagsRequest struct {
	RegionID       string    `rpc:"RegionId,required"`
	LoadBalancerID string    `rpc:"LoadBalancerId"`
	Tags           []jsonTag `rpc:"Tags,json,invalid=TagsMalformed"`
	DistinctKey    bool      `rpc:"DistinctKey"`
	PageSize       int       `rpc:"PageSize,min=1,max=100,default=50"`
	PageNumber     int       `rpc:"PageNumber,min=1,default=1"`
}

// Validate bounds the filter.
func (req *describeTagsRequest) Validate() error {
	if len(req.Tags) > maxLegacyTagsPerFilter {
		return errTooManyLegacyTags
	}
	return nil
}

type describeTagsResponse struct {
	PageNumber int      `rpc:"PageNumber"`
	PageSize   int      `rpc:"PageSize"`
	TotalCount int      `rpc:"TotalCount"`
	TagSets    []tagSet `rpc:"TagSets>TagSet"`
}

// tagSet is a tag, and how many load balancers carry it.
type tagSet struct {
	TagKey        string `rpc:"TagKey"`
	TagValue      string `rpc:"TagValue"`
	InstanceCount int    `rpc:"InstanceCount"`
}

// describeTags lists the tags of the load balancers that carry all the call asks
// for, each with the number of its carriers; distinct keys come without values.
func describeTags(v *state.View, req *describeTagsRequest) (*describeTagsResponse, error) {
	filters := make([]state.TagFilter, len(req.Tags))
	for i, t := range req.Tags {
		filters[i] = t.filter()
	}
	counts := make(map[tagging.Shown]int)
	for lb := range kinds.LoadBalancersByRegion.InScope(v) {
		if req.LoadBalancerID != "" && lb.ID != req.LoadBalancerID || !state.HasTags(v, kinds.TagLoadBalancer, lb.ID, filters) {
			continue
		}
		for _, t := range tagging.ShownOf(v, kinds.TagLoadBalancer, lb.ID) {
			if req.DistinctKey {
				t.Value = ""
			}
			counts[t]++
		}
	}
	list := make([]tagSet, 0, len(counts))
	for t, n := range counts {
		list = append(list, tagSet{t.Key, t.Value, n})
	}
	slices.SortFunc(list, func(a, b tagSet) int {
		return cmp.Or(cmp.Compare(a.TagKey, b.TagKey), cmp.Compare(a.TagValue, b.TagValue))
	})
	return &describeTagsResponse{req.PageNumber, req.PageSize, len(list), listing.Page(list, req.PageNumber, req.PageSize)}, nil
}
