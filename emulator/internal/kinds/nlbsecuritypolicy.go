package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// NLBSecurityPolicy is a TLS policy of the user's own.
type NLBSecurityPolicy struct {
	state.Owner
	// CreateTime orders lists; rows of older states have none.
	CreateTime      time.Time `json:",omitzero"`
	ID              string
	Name            string
	TLSVersions     []string
	Ciphers         []string
	ResourceGroupID string
}

// TagNLBSecurityPolicy is the type of the tags of NLBSecurityPolicies.
const TagNLBSecurityPolicy state.TagResourceType = "nlb:securitypolicy"

// NLBSecurityPolicies by id.
var NLBSecurityPolicies = state.NewTable(Schema, "NLBSecurityPolicy", func(p *NLBSecurityPolicy) string { return p.ID },
	state.IDForm("tls-", 15), state.Tagged(TagNLBSecurityPolicy, ProductNLB, "securitypolicy"))

var _ = moved(ProductNLB, "securitypolicy", NLBSecurityPolicies, func(n *NLBSecurityPolicy) *string { return &n.ResourceGroupID })

// NLBSecurityPoliciesByRegion finds policies by account and region.
var NLBSecurityPoliciesByRegion = NLBSecurityPolicies.Index("region", func(p *NLBSecurityPolicy) [][]string {
	return state.Key(p.AccountID, p.RegionID)
})

// QuotaNLBSecurityPolicies limits a region: NLB-0011.
var QuotaNLBSecurityPolicies = state.NewQuota(Schema, "nlb_quota_securitypolicies_num", 50, state.InRegion(NLBSecurityPolicies))
