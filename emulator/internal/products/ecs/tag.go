package ecs

import (
	"cmp"

	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/state"
)

// The refusals of this file.
var (
	errTagMismatch = refusals.New("TagMismatch", 400, "InvalidTag.Mismatch",
		"The specified Tag.n.Key and Tag.n.Value are not match.", "CLB-0300")
	errTagKeyTwice = refusals.New("TagKeyTwice", 400, "Duplicate.TagKey",
		"The Tag.N.Key contain duplicate key.", "CLB-0300")
	errTagKeyMalformed = refusals.New("TagKeyMalformed", 400, "InvalidTagKey.Malformed",
		"Specified tag key is not valid.", "CLB-0300")
	errTagValueMalformed = refusals.New("TagValueMalformed", 400, "InvalidTagValue.Malformed",
		"Specified tag value is not valid.", "CLB-0300")
)

// tagParam is a tag as clients send it: older ones write its parts in lower case.
type tagParam struct {
	Key        string `rpc:"Key"`
	Value      string `rpc:"Value"`
	LowerKey   string `rpc:"key"`
	LowerValue string `rpc:"value"`
}

func (t tagParam) key() string { return cmp.Or(t.Key, t.LowerKey) }

func (t tagParam) value() string { return cmp.Or(t.Value, t.LowerValue) }

// tagged is the part of a request that sets tags or filters by them.
type tagged struct {
	Tags []tagParam `rpc:"Tag,max=20,invalid=TooManyTags"`
}

// checkFilter refuses a value without its key.
func (r *tagged) checkFilter() error {
	for _, t := range r.Tags {
		if t.key() == "" {
			return errTagMismatch
		}
	}
	return nil
}

// checkNew refuses tags that no resource can have.
func (r *tagged) checkNew() error { return tagRefusals.Check(r.tags()) }

var tagRefusals = tagging.Refusals{Key: errTagKeyMalformed, Value: errTagValueMalformed, Twice: errTagKeyTwice}

func (r *tagged) tags() []tagging.Tag {
	tags := make([]tagging.Tag, len(r.Tags))
	for i, t := range r.Tags {
		tags[i] = tagging.Tag{Key: t.key(), Value: t.value()}
	}
	return tags
}

// filter returns a function that reports whether a resource carries all the tags.
func (r *tagged) filter(v *state.View, kind state.TagResourceType) func(id string) bool {
	return tagging.Filter(v, kind, r.tags())
}
