package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// VServerGroup is a server group of one load balancer.
type VServerGroup struct {
	state.Owner
	ID             string
	Name           string
	LoadBalancerID string
	BackendServers []BackendServer `json:",omitempty"`
	// Activity is Busy while a change takes effect.
	Activity   string `json:",omitempty"`
	CreateTime time.Time
}

// TagVServerGroup is the type of the tags of VServerGroups.
const TagVServerGroup state.TagResourceType = "vservergroup"

// VServerGroups by id.
var VServerGroups = state.NewTable(Schema, "VServerGroup", func(g *VServerGroup) string { return g.ID },
	state.IDForm("rsp-", 10), state.Tagged(TagVServerGroup, ProductCLB, "vservergroup"),
	state.Life(func(g *VServerGroup) *string { return &g.Activity }),
	state.Checks(func(c *state.Checker, g *VServerGroup) {
		checkBackendServers(c, "VServerGroup", g.ID, g.BackendServers)
	}))

// VServerGroupsByLoadBalancer finds groups by load balancer.
var VServerGroupsByLoadBalancer = VServerGroups.Index("loadbalancer", func(g *VServerGroup) [][]string {
	return state.Key(g.LoadBalancerID)
})

// VServerGroupsByServer finds groups by a server in them.
var VServerGroupsByServer = VServerGroups.Index("server", func(g *VServerGroup) [][]string {
	return serverKeys(g.BackendServers)
})

var _ = LoadBalancers.With(state.OwnedBy(VServerGroupsByLoadBalancer, LoadBalancers))

// StageVServerGroupProcessing is while a change of the group takes effect.
var StageVServerGroupProcessing = VServerGroups.Stage("vservergroup.processing", state.Busy, state.Idle, 500*time.Millisecond)
