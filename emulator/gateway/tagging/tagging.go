// Package tagging is what requests do with tags, for all products alike: put them
// on new resources and filter by them. It must not know how a product writes tags,
// nor what it refuses of them.
package tagging

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clbemu/clbemu/state"
)

// Tag is a tag of a request. In a filter one without a value asks for its key alone.
type Tag struct {
	Key   string `rpc:"Key"`
	Value string `rpc:"Value"`
}

// MaxLength is how many characters a key or a value has at the most.
const MaxLength = 128

// ValidKey tells whether a resource can have the key.
func ValidKey(key string) bool {
	lower := strings.ToLower(key)
	return key != "" && utf8.RuneCountInString(key) <= MaxLength && !HasAddress(lower) &&
		!strings.HasPrefix(lower, "aliyun") && !strings.HasPrefix(lower, "acs:")
}

// ValidValue tells whether a resource can have the value.
func ValidValue(value string) bool {
	return utf8.RuneCountInString(value) <= MaxLength && !HasAddress(value)
}

// HasAddress tells a text with the beginning of a web address in it, which names and
// tags do not take.
func HasAddress(text string) bool {
	return strings.Contains(text, "http://") || strings.Contains(text, "https://")
}

// Set puts tags on a resource.
func Set(tx *state.Tx, kind state.TagResourceType, id string, tags []Tag) {
	for _, t := range tags {
		state.SetTag(tx, kind, id, t.Key, t.Value)
	}
}

// Find returns those of the named resources that carry all the tags, each once, in
// order; all that carry them where none is named.
func Find(v *state.View, kind state.TagResourceType, ids []string, tags []Tag) []string {
	if len(ids) == 0 {
		return state.ResourcesTagged(v, kind, filters(tags))
	}
	found := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !state.HasTags(v, kind, id, filters(tags)) })
	slices.Sort(found)
	return slices.Compact(found)
}

func filters(tags []Tag) []state.TagFilter {
	filters := make([]state.TagFilter, len(tags))
	for i, t := range tags {
		filters[i].Key = t.Key
		if t.Value != "" {
			filters[i].Value = &t.Value
		}
	}
	return filters
}

// Filter returns what tells the resources that carry all the tags; without tags
// all do.
func Filter(v *state.View, kind state.TagResourceType, tags []Tag) func(id string) bool {
	if len(tags) == 0 {
		return func(string) bool { return true }
	}
	ids := state.ResourcesTagged(v, kind, filters(tags))
	return func(id string) bool {
		_, found := slices.BinarySearch(ids, id)
		return found
	}
}
