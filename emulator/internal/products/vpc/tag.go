package vpc

import (
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/state"
)

// The refusals of this file.
var (
	errTagKeyInvalid = refusals.New("TagKeyInvalid", 400, "InvalidTagKey",
		"The tag keys are not valid.", "CLB-0300")
	errTagValueInvalid = refusals.New("TagValueInvalid", 400, "InvalidTagValue",
		"The tag values are not valid.", "CLB-0300")
)

// tagged is the part of a request that sets tags or filters by them.
type tagged struct {
	Tags []tagging.Tag `rpc:"Tag,max=20,invalid=TagKeyInvalid"`
}

var tagRefusals = tagging.Refusals{Key: errTagKeyInvalid, Value: errTagValueInvalid}

func (r *tagged) check() error { return tagRefusals.Check(r.Tags) }

// set puts the tags on a new resource.
func (r *tagged) set(tx *state.Tx, kind state.TagResourceType, id string) {
	tagging.Set(tx, kind, id, r.Tags)
}

// filter returns a function that reports whether a resource carries all the tags.
func (r *tagged) filter(v *state.View, kind state.TagResourceType) func(id string) bool {
	return tagging.Filter(v, kind, r.Tags)
}
