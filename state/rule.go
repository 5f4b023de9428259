package state

import "time"

// Rule sends the requests of an HTTP or HTTPS listener for a domain, a URL or
// both to a server group.
type Rule struct {
	Owner
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
var Rules = newTable("Rule", func(r *Rule) string { return r.ID })

// RulesByListener finds rules by ListenerID, domain, URL.
var RulesByListener = Rules.index("listener", func(r *Rule) [][]string {
	return one(r.ListenerID, r.Domain, r.URL)
})

// RulesByVServerGroup finds the rules that forward to a group.
var RulesByVServerGroup = Rules.index("vservergroup", func(r *Rule) [][]string { return one(r.VServerGroupID) })
