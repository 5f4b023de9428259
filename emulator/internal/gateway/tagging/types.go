package tagging

import (
	"maps"
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// Types are the kinds of resources that a product tags, as the kinds declare it.
type Types struct {
	kinds   map[string][]state.TagResourceType // by the API's words for them
	unknown func(id ...string) error
}

// NewTypes returns the kinds that a product tags. Unknown refuses a resource that does
// not exist.
func NewTypes(schema *state.Schema, product string, unknown func(id ...string) error) Types {
	return Types{schema.TagTypes(product), unknown}
}

// Words returns the API's words for the kinds, in order.
func (t Types) Words() []string { return slices.Sorted(maps.Keys(t.kinds)) }

// Removal is the part of a request that removes tags: the named ones, or all.
type Removal struct {
	ResourceIDs []string `rpc:"ResourceId,required,max=50"`
	TagKeys     []string `rpc:"TagKey,max=20"`
	All         bool     `rpc:"All"`
}

// Check refuses resources that do not exist.
func (t Types) Check(v *state.View, word string, ids []string) error {
	for _, id := range ids {
		if _, err := t.kind(v, word, id); err != nil {
			return err
		}
	}
	return nil
}

// each does something to each of the resources.
func (t Types) each(tx *state.Tx, word string, ids []string, do func(kind state.TagResourceType, id string) error) error {
	for _, id := range ids {
		kind, err := t.kind(tx.View, word, id)
		if err == nil {
			err = do(kind, id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// kind returns the kind of a resource that exists.
func (t Types) kind(v *state.View, word, id string) (state.TagResourceType, error) {
	for _, kind := range t.kinds[word] {
		if state.Taggable(v, kind, id) {
			return kind, nil
		}
	}
	return "", t.unknown(id)
}

// Tag adds tags to resources, up to the quota of each.
func (t Types) Tag(tx *state.Tx, word string, ids []string, tags []Tag) error {
	return t.each(tx, word, ids, func(kind state.TagResourceType, id string) error {
		Set(tx, kind, id, tags)
		return tx.Use(kinds.QuotaTags, id, 0)
	})
}

// Untag removes tags from resources by their keys; without keys it removes all, if the
// call says so.
func (t Types) Untag(tx *state.Tx, word string, r Removal) error {
	return t.each(tx, word, r.ResourceIDs, func(kind state.TagResourceType, id string) error {
		if len(r.TagKeys) > 0 || r.All {
			Remove(tx, kind, id, r.TagKeys)
		}
		return nil
	})
}

// List returns a part of every tag of the resources that Find finds, and the token for
// the rest.
func (t Types) List(v *state.View, word string, ids []string, filters []state.TagFilter, token string, size int) (part []Resource, next string, err error) {
	return listing.After(t.all(v, word, ids, filters), token, size, Resource.Place)
}

func (t Types) all(v *state.View, word string, ids []string, filters []state.TagFilter) (list []Resource) {
	for _, kind := range t.kinds[word] {
		for _, id := range find(v, kind, ids, filters) {
			for tag := range state.TagsOf(v, kind, id) {
				list = append(list, Resource{word, id, tag.Key, tag.Value})
			}
		}
	}
	return list
}

// ListPart is like List, for answers with the number of all tags.
func (t Types) ListPart(v *state.View, word string, ids []string, tags []Tag, ask listing.ByToken) ([]Resource, listing.Paging, error) {
	return listing.Cut(t.all(v, word, ids, Filters(tags)), ask, Resource.Place)
}
