// Package tagging checks tags, adds them to new resources and filters by them, for all
// products. It must not know how a product spells tags, or its errors about them.
package tagging

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// Tag is a tag of a request. In a filter one without a value asks for its key alone.
type Tag struct {
	Key   string `rpc:"Key"`
	Value string `rpc:"Value"`
}

// maxLength limits the characters of a key or a value.
const maxLength = 128

// Refusals are a product's words for tags that it refuses.
type Refusals struct {
	Key, Value refusal
	// Twice refuses a repeated key. If nil, the last value wins.
	Twice refusal
}

type refusal interface{ Of(subject ...string) error }

// Check refuses tags that no resource can have.
func (r Refusals) Check(tags []Tag) error {
	seen := make(map[string]bool, len(tags))
	for _, t := range tags {
		switch {
		case !validKey(t.Key):
			return r.Key.Of(t.Key)
		case !validValue(t.Value):
			return r.Value.Of(t.Value)
		case r.Twice != nil && seen[t.Key]:
			return r.Twice.Of(t.Key)
		}
		seen[t.Key] = true
	}
	return nil
}

// CheckKeys refuses keys that clients can't remove, as those of the cloud's own tags.
func (r Refusals) CheckKeys(keys []string) error {
	for _, key := range keys {
		if !validKey(key) {
			return r.Key.Of(key)
		}
	}
	return nil
}

// validKey reports whether a resource can have the key: CLB-0525.
func validKey(key string) bool {
	lower := strings.ToLower(key)
	return key != "" && utf8.RuneCountInString(key) <= maxLength && !HasAddress(lower) &&
		!strings.HasPrefix(lower, "aliyun") && !kinds.IsSystemTag(lower)
}

// validValue reports whether a resource can have the value: CLB-0525.
func validValue(value string) bool {
	return utf8.RuneCountInString(value) <= maxLength && !HasAddress(value) && !kinds.IsSystemTag(value)
}

// HasAddress reports whether a text contains the beginning of a web address, which
// names and tags do not take.
func HasAddress(text string) bool {
	return strings.Contains(text, "http://") || strings.Contains(text, "https://")
}

// Set adds tags to a resource.
func Set(tx *state.Tx, kind state.TagResourceType, id string, tags []Tag) {
	for _, t := range tags {
		state.SetTag(tx, kind, id, t.Key, t.Value)
	}
}

// Remove takes tags off a resource by their keys, and all but the cloud's own if keys has
// none. A tag that is not there is no error.
func Remove(tx *state.Tx, kind state.TagResourceType, id string, keys []string) {
	if len(keys) == 0 {
		for _, t := range Of(tx.View, kind, id) {
			keys = append(keys, t.Key)
		}
	}
	for _, key := range keys {
		if !kinds.IsSystemTag(key) {
			state.Tags.Delete(tx, state.TagID(kind, id, key))
		}
	}
}

// Resource is a tag and the resource that carries it, as ListTagResources answers them.
type Resource struct {
	ResourceType string `rpc:"ResourceType"`
	ResourceID   string `rpc:"ResourceId"`
	TagKey       string `rpc:"TagKey"`
	TagValue     string `rpc:"TagValue"`
}

// Place returns the tag's place in a list.
func (r Resource) Place() string { return r.ResourceID + "/" + r.TagKey }

// Of returns the tags of a resource as Key and Value.
func Of(v *state.View, kind state.TagResourceType, id string) (tags []Tag) {
	for t := range state.TagsOf(v, kind, id) {
		tags = append(tags, Tag{t.Key, t.Value})
	}
	return tags
}

// Shown is a tag as answers show it that spell its parts TagKey and TagValue.
type Shown struct {
	Key   string `rpc:"TagKey"`
	Value string `rpc:"TagValue"`
}

// ShownOf returns the tags of a resource as TagKey and TagValue.
func ShownOf(v *state.View, kind state.TagResourceType, id string) (tags []Shown) {
	for t := range state.TagsOf(v, kind, id) {
		tags = append(tags, Shown{t.Key, t.Value})
	}
	return tags
}

// find returns the named resources that carry all the tags, each once, in order; all that
// carry them if ids has none.
func find(v *state.View, kind state.TagResourceType, ids []string, filters []state.TagFilter) []string {
	if len(ids) == 0 {
		return state.ResourcesTagged(v, kind, filters)
	}
	found := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !state.HasTags(v, kind, id, filters) })
	slices.Sort(found)
	return slices.Compact(found)
}

// Filters returns tags as filters: one without a value asks for its key alone.
func Filters(tags []Tag) []state.TagFilter {
	filters := make([]state.TagFilter, len(tags))
	for i, t := range tags {
		filters[i].Key = t.Key
		if t.Value != "" {
			filters[i].Value = &t.Value
		}
	}
	return filters
}

// Filter returns a function that reports whether a resource carries all the tags;
// without tags all do.
func Filter(v *state.View, kind state.TagResourceType, tags []Tag) func(id string) bool {
	if len(tags) == 0 {
		return func(string) bool { return true }
	}
	ids := state.ResourcesTagged(v, kind, Filters(tags))
	return func(id string) bool {
		_, found := slices.BinarySearch(ids, id)
		return found
	}
}
