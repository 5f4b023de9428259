package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// Rule sends the requests of an HTTP or HTTPS listener for a domain, a URL or
// both to a server group.
type Rule struct {
	state.Owner
	ID             string
	Name           string
	LoadBalancerID string
	ListenerID     string
	Domain         string `json:",omitempty"`
	URL            string `json:",omitempty"`
	VServerGroupID string
	// ListenerSync on takes scheduler, stickiness and health check from the
	// listener.
	ListenerSync      string
	Scheduler         string `json:",omitempty"`
	StickySession     string `json:",omitempty"`
	StickySessionType string `json:",omitempty"`
	CookieTimeout     int    `json:",omitempty"`
	Cookie            string `json:",omitempty"`
	HealthCheck       HealthCheck
	CreateTime        time.Time
}

// Rules by id.
var Rules = state.NewTable(Schema, "Rule", func(r *Rule) string { return r.ID },
	state.IDForm("rule-", 10),
	state.Belongs(VServerGroups, func(r *Rule) string { return r.VServerGroupID }),
	state.Checks(func(c *state.Checker, r *Rule) {
		if l, ok := Listeners.Find(c.View(), r.ListenerID); ok && l.LoadBalancerID != r.LoadBalancerID {
			c.Fail("Rule %s belongs to LoadBalancer %s, and its listener to %s", r.ID, r.LoadBalancerID, l.LoadBalancerID)
		}
		checkGroup(c, "Rule", r.ID, r.LoadBalancerID, r.VServerGroupID)
	}))

// RulesByListener finds rules by ListenerID, domain, URL.
var RulesByListener = Rules.Index("listener", func(r *Rule) [][]string {
	return state.Key(r.ListenerID, r.Domain, r.URL)
})

// RulesByVServerGroup finds the rules that forward to a group.
var RulesByVServerGroup = Rules.Index("vservergroup", func(r *Rule) [][]string { return state.Key(r.VServerGroupID) })

var _ = Listeners.With(state.OwnedBy(RulesByListener, Listeners))

// QuotaRules limits a listener.
var QuotaRules = state.NewQuota(Schema, "slb_quota_rules_num", 40,
	state.Of(Rules, func(r *Rule, add func(string, int)) { add(r.ListenerID, 1) }))
