package vpc

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clbemu/clbemu/state"
)

// What is refused here.
var (
	errTagKeyInvalid = refusals.New("TagKeyInvalid", 400, "InvalidTagKey",
		"The tag keys are not valid.", "CLB-0300")
	errTagValueInvalid = refusals.New("TagValueInvalid", 400, "InvalidTagValue",
		"The tag values are not valid.", "CLB-0300")
)

type tag struct {
	Key   string `rpc:"Key"`
	Value string `rpc:"Value"`
}

// tagged is the part of a request that sets tags or filters by them.
type tagged struct {
	Tags []tag `rpc:"Tag,max=20,invalid=TagKeyInvalid"`
}

// The longest key and value of a tag.
const maxTagLength = 128

func (r *tagged) check() error {
	for _, t := range r.Tags {
		lower := strings.ToLower(t.Key)
		switch {
		case t.Key == "", utf8.RuneCountInString(t.Key) > maxTagLength,
			strings.HasPrefix(lower, "aliyun"), strings.HasPrefix(lower, "acs:"), strings.Contains(lower, "http://"), strings.Contains(lower, "https://"):
			return errTagKeyInvalid.Of(t.Key)
		case utf8.RuneCountInString(t.Value) > maxTagLength, strings.Contains(t.Value, "http://"), strings.Contains(t.Value, "https://"):
			return errTagValueInvalid.Of(t.Value)
		}
	}
	return nil
}

// set puts the tags on a new resource.
func (r *tagged) set(tx *state.Tx, kind state.TagResourceType, id string) {
	for _, t := range r.Tags {
		state.SetTag(tx, kind, id, t.Key, t.Value)
	}
}

// filter returns what tells the resources that carry all the tags; a tag without
// a value asks for its key alone.
func (r *tagged) filter(v *state.View, kind state.TagResourceType) func(id string) bool {
	if len(r.Tags) == 0 {
		return func(string) bool { return true }
	}
	filters := make([]state.TagFilter, len(r.Tags))
	for i, t := range r.Tags {
		filters[i].Key = t.Key
		if t.Value != "" {
			filters[i].Value = &t.Value
		}
	}
	ids := state.ResourcesTagged(v, kind, filters)
	return func(id string) bool {
		_, found := slices.BinarySearch(ids, id)
		return found
	}
}

func tagsOf(v *state.View, kind state.TagResourceType, id string) []tag {
	var tags []tag
	for _, t := range state.TagsOf(v, kind, id) {
		tags = append(tags, tag{Key: t.Key, Value: t.Value})
	}
	return tags
}
