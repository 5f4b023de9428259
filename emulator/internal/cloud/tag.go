package cloud

import "github.com/clbemu/clbemu/state"

// QuotaTags limits a resource.
var QuotaTags = state.NewQuota(Schema, "slb_quota_tags_num", 20,
	state.Of(state.Tags, func(t *state.Tag, add func(string, int)) { add(t.ResourceID, 1) }))

// QuotaLegacyTags limits what AddTags adds to a load balancer.
var QuotaLegacyTags = state.NewQuota(Schema, "slb_quota_add_tags_num", 10,
	state.Of(state.Tags, func(t *state.Tag, add func(string, int)) {
		if t.ResourceType == TagLoadBalancer {
			add(t.ResourceID, 1)
		}
	}))
