package kinds

import (
	"strings"

	"github.com/clbemu/clbemu/state"
)

// CreatedByTag is the key of the system tag that says who made a resource: CLB-0571.
const CreatedByTag = "acs:tag:createdby"

// IsSystemTag reports whether a key is one of the cloud's own, which clients neither set nor remove.
func IsSystemTag(key string) bool { return strings.HasPrefix(strings.ToLower(key), "acs:") }

// TagCreator tags a new resource with its creator, if the account has enabled that.
func TagCreator(tx *state.Tx, kind state.TagResourceType, id string) {
	if a, known := Accounts.Find(tx.View, tx.Scope().AccountID); known && a.TagsCreators {
		state.SetTag(tx, kind, id, CreatedByTag, "root")
	}
}

// QuotaTags limits a resource.
var QuotaTags = state.NewQuota(Schema, "slb_quota_tags_num", 20,
	state.Of(state.Tags, func(t *state.Tag, add func(string, int)) {
		if !IsSystemTag(t.Key) {
			add(t.ResourceID, 1)
		}
	}))

// QuotaLegacyTags limits what AddTags adds to a load balancer.
var QuotaLegacyTags = state.NewQuota(Schema, "slb_quota_add_tags_num", 10,
	state.Of(state.Tags, func(t *state.Tag, add func(string, int)) {
		if t.ResourceType == TagLoadBalancer && !IsSystemTag(t.Key) {
			add(t.ResourceID, 1)
		}
	}))
