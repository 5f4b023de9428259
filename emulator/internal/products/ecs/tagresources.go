package ecs

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var tagActions = []gateway.Action{
	gateway.Write("TagResources", tagResources).Refusing(errTagTypeUnknown, errTooManyTags),
	gateway.Write("UntagResources", untagResources).Refusing(errTagTypeUnknown),
	gateway.Read("ListTagResources", listTagResources).Refusing(errTagTypeUnknown, errTooManyTags),
	gateway.Read("DescribeTags", describeTags).Refusing(errTooManyTags),
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

// tagErrors are about the number of a resource's tags.
var tagErrors = []gateway.ErrorRow{{Fact: state.QuotaExceeded, Kind: state.Kind(kinds.QuotaTags), Status: 400,
	Code: "QuotaExceeded.TagNumPerResource", Message: "The number of tags of the resource exceeds the quota.", Evidence: "CLB-0342"}}

// taggable are the resources tagged here.
var taggable = tagging.NewTypes(kinds.Schema, kinds.ProductECS, errTaggedUnknown.Of)

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
	ResourceIDs []string      `rpc:"ResourceId,required,max=50"`
	Tags        []tagging.Tag `rpc:"Tag,max=20,invalid=TooManyTags"`
}

func tagResources(tx *state.Tx, req *tagResourcesRequest) (*gateway.Empty, error) {
	if len(req.Tags) == 0 {
		return nil, errTagsMissing
	}
	if err := tagRefusals.Check(req.Tags); err != nil {
		return nil, err
	}
	return &gateway.Empty{}, taggable.Tag(tx, string(req.ResourceType), req.ResourceIDs, req.Tags)
}

type untagResourcesRequest struct {
	taggedResources
	tagging.Removal
}

// untagResources takes the named tags off, and all of them if the call names none
// and sets All.
func untagResources(tx *state.Tx, req *untagResourcesRequest) (*gateway.Empty, error) {
	return &gateway.Empty{}, taggable.Untag(tx, string(req.ResourceType), req.Removal)
}

type listTagResourcesRequest struct {
	taggedResources
	ResourceIDs []string      `rpc:"ResourceId,max=50"`
	Tags        []tagging.Tag `rpc:"Tag,max=20,invalid=TooManyTags"`
	NextToken   string        `rpc:"NextToken"`
}

// tagsOfPage is the number of tags on a page, which no parameter changes: CLB-0342.
const tagsOfPage = 50

type listTagResourcesResponse struct {
	NextToken    string             `rpc:"NextToken"`
	TagResources []tagging.Resource `rpc:"TagResources>TagResource"`
}

// listTagResources lists every tag of the named resources that carry all the requested
// tags.
func listTagResources(v *state.View, req *listTagResourcesRequest) (*listTagResourcesResponse, error) {
	if len(req.ResourceIDs) == 0 && len(req.Tags) == 0 {
		return nil, errTagsOrIDsMissing
	}
	part, next, err := taggable.List(v, string(req.ResourceType), req.ResourceIDs, tagging.Filters(req.Tags), req.NextToken, tagsOfPage)
	return &listTagResourcesResponse{NextToken: next, TagResources: part}, err
}

type describeTagsRequest struct {
	RegionID     string        `rpc:"RegionId,required"`
	ResourceType string        `rpc:"ResourceType"`
	ResourceID   string        `rpc:"ResourceId"`
	Tags         []tagging.Tag `rpc:"Tag,max=20,invalid=TooManyTags"`
	PageNumber   int           `rpc:"PageNumber,min=1,default=1"`
	PageSize     int           `rpc:"PageSize,min=1,max=100,default=50"`
}

type describeTagsResponse struct {
	listing.Numbered
	Tags []*countedTag `rpc:"Tags>Tag"`
}

// countedTag is a tag with the resources that carry it.
type countedTag struct {
	TagKey            string            `rpc:"TagKey"`
	TagValue          string            `rpc:"TagValue"`
	ResourceTypeCount resourceTypeCount `rpc:"ResourceTypeCount"`
}

type resourceTypeCount struct {
	Instance      int `rpc:"Instance"`
	ENI           int `rpc:"Eni"`
	SecurityGroup int `rpc:"Securitygroup"`
}

// describeTags lists the tags of a region's resources, each once, with their number by kind.
// Terraform calls it in each plan. A kind that is not tagged here has none.
func describeTags(v *state.View, req *describeTagsRequest) (*describeTagsResponse, error) {
	tags := make(map[tagging.Tag]*countedTag)
	words, filters := make(map[state.TagResourceType]string), tagging.Filters(req.Tags)
	for word, kinds := range kinds.Schema.TagTypes(kinds.ProductECS) {
		if req.ResourceType == "" || strings.EqualFold(req.ResourceType, word) {
			words[kinds[0]] = word
		}
	}
	for t := range state.Tags.All(v) {
		word, asked := words[t.ResourceType]
		if asked && t.Owner == v.Scope() && (req.ResourceID == "" || req.ResourceID == t.ResourceID) && state.HasTags(v, t.ResourceType, t.ResourceID, filters) {
			countTag(tags, t, word)
		}
	}
	sorted := slices.SortedFunc(maps.Values(tags), func(a, b *countedTag) int {
		return cmp.Or(strings.Compare(a.TagKey, b.TagKey), strings.Compare(a.TagValue, b.TagValue))
	})
	part, page := listing.Number(sorted, req.PageNumber, req.PageSize)
	return &describeTagsResponse{page, part}, nil
}

// countTag counts a tag of a resource of the kind that the API calls by the word.
func countTag(tags map[tagging.Tag]*countedTag, t *state.Tag, word string) {
	tag := tagging.Tag{Key: t.Key, Value: t.Value}
	if tags[tag] == nil {
		tags[tag] = &countedTag{TagKey: t.Key, TagValue: t.Value}
	}
	switch n := &tags[tag].ResourceTypeCount; word {
	case "instance":
		n.Instance++
	case "eni":
		n.ENI++
	default:
		n.SecurityGroup++
	}
}
