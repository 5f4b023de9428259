package state

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// TagResourceType is the kind of thing that carries a tag. The values of the
// Slb kinds are the wire's; the other products' carry the product's name.
type TagResourceType string

// Tag is a key with a value on a resource. ResourceID is the resource's table
// id, for listeners ListenerID.
type Tag struct {
	Owner
	ResourceType TagResourceType
	ResourceID   string
	Key          string
	Value        string `json:",omitempty"`
}

// TagID returns the id of a Tag.
func TagID(t TagResourceType, resourceID, key string) string {
	return string(t) + "/" + resourceID + "/" + key
}

// Tags by TagID.
var Tags = NewTable(kernel, "Tag", func(t *Tag) string { return TagID(t.ResourceType, t.ResourceID, t.Key) },
	Checks(func(c *Checker, t *Tag) {
		owner, ok := taggedOwner(c.v, t.ResourceType, t.ResourceID)
		switch {
		case !ok:
			c.Fail("Tag %s of %s is on something that does not exist", t.Key, t.ResourceID)
		case owner != t.Owner:
			c.Fail("Tag %s of %s belongs to another account or region than what it is on", t.Key, t.ResourceID)
		}
	}))

// tagsByResource finds tags by resource type, resource, key.
var tagsByResource = Tags.Index("resource", func(t *Tag) [][]string {
	return Key(t.ResourceID, string(t.ResourceType), t.Key)
})

// tagsByKey finds tags by resource type, account, region, key, value.
var tagsByKey = Tags.Index("key", func(t *Tag) [][]string {
	return Key(string(t.ResourceType), t.AccountID, t.RegionID, t.Key, t.Value)
})

// SetTag adds a tag to a resource of the scope, replacing one with the same key.
func SetTag(tx *Tx, t TagResourceType, resourceID, key, value string) {
	Tags.Put(tx, &Tag{Owner: tx.Scope(), ResourceType: t, ResourceID: resourceID, Key: key, Value: value})
}

// TagsOf yields the tags of a resource in order of key.
func TagsOf(v *View, t TagResourceType, resourceID string) iter.Seq[*Tag] {
	return tagsByResource.List(v, resourceID, string(t))
}

// DeleteTagsOf removes all tags of a resource.
func DeleteTagsOf(tx *Tx, t TagResourceType, resourceID string) {
	for tag := range TagsOf(tx.View, t, resourceID) {
		Tags.Delete(tx, TagID(t, resourceID, tag.Key))
	}
}

// TagFilter asks for a key, with a value or, where Value is nil, with any.
type TagFilter struct {
	Key   string
	Value *string
}

// ResourcesTagged returns the ids of the scope's resources that carry all the
// tags, sorted. Filters must not be empty.
func ResourcesTagged(v *View, t TagResourceType, filters []TagFilter) []string {
	scope := v.Scope()
	var ids []string
	for i, f := range filters {
		values := []string{string(t), scope.AccountID, scope.RegionID, f.Key}
		if f.Value != nil {
			values = append(values, *f.Value)
		}
		if i > 0 {
			ids = slices.DeleteFunc(ids, func(id string) bool { return !HasTags(v, t, id, filters[i:i+1]) })
			continue
		}
		for tag := range tagsByKey.List(v, values...) {
			ids = append(ids, tag.ResourceID)
		}
	}
	slices.SortFunc(ids, cmp.Compare[string])
	return slices.Compact(ids)
}

// HasTags reports whether a resource carries all the tags.
func HasTags(v *View, t TagResourceType, resourceID string, filters []TagFilter) bool {
	for _, f := range filters {
		tag, ok := Tags.Find(v, TagID(t, resourceID, f.Key))
		if !ok || f.Value != nil && tag.Value != *f.Value {
			return false
		}
	}
	return true
}

// TagTypes returns the resource types that a product's tag actions know, by their word
// for them. A word may stand for several, which are in order.
func (s *Schema) TagTypes(product string) map[string][]TagResourceType {
	types := make(map[string][]TagResourceType)
	for _, t := range slices.Sorted(maps.Keys(s.tagged)) {
		if k := s.tagged[t]; k.tagProduct == product && k.tagWord != "" {
			types[k.tagWord] = append(types[k.tagWord], t)
		}
	}
	return types
}

// Taggable reports whether the scope has such a resource to put tags on.
func Taggable(v *View, t TagResourceType, resourceID string) bool {
	_, ok := taggedOwner(v, t, resourceID)
	return ok
}

// taggedOwner returns the owner of the resource.
func taggedOwner(v *View, t TagResourceType, resourceID string) (Owner, bool) {
	k, ok := v.schema.tagged[t]
	if !ok {
		return Owner{}, false
	}
	r, ok := k.table.find(v, resourceID)
	if !ok {
		return Owner{}, false
	}
	return ownerOf(r), true
}

// ownerOf returns the owner of a resource, the zero Owner for one that belongs to all.
func ownerOf(r any) Owner {
	if o, ok := r.(owned); ok {
		return o.Belonging()
	}
	return Owner{}
}
