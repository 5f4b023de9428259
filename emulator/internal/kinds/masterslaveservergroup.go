package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// MasterSlaveServerGroup is a pair of servers of one load balancer: the slave
// serves while the master is unwell. It never changes.
type MasterSlaveServerGroup struct {
	state.Owner
	ID             string
	Name           string
	LoadBalancerID string
	BackendServers []MasterSlaveBackendServer `json:",omitempty"`
	CreateTime     time.Time
}

// ServerType is the part that a server has in a master/slave group.
type ServerType string

// The parts.
const (
	ServerMaster ServerType = "Master"
	ServerSlave  ServerType = "Slave"
)

// MasterSlaveBackendServer is a member of a master/slave group.
type MasterSlaveBackendServer struct {
	BackendServer
	ServerType ServerType
}

// Members returns the group's servers without their roles.
func (g *MasterSlaveServerGroup) Members() []BackendServer {
	members := make([]BackendServer, len(g.BackendServers))
	for i, s := range g.BackendServers {
		members[i] = s.BackendServer
	}
	return members
}

// TagMasterSlaveServerGroup is the type of the tags of MasterSlaveServerGroups.
const TagMasterSlaveServerGroup state.TagResourceType = "masterslaveservergroup"

// MasterSlaveServerGroups by id.
var MasterSlaveServerGroups = state.NewTable(Schema, "MasterSlaveServerGroup", func(g *MasterSlaveServerGroup) string { return g.ID },
	state.IDForm("rsp-", 10), state.Tagged(TagMasterSlaveServerGroup, ProductCLB, "masterslaveservergroup"))

var _ = MasterSlaveServerGroups.With(state.Checks(checkMasterSlave))

// checkMasterSlave checks that no part has two servers. A part may be empty: its
// server went.
func checkMasterSlave(c *state.Checker, g *MasterSlaveServerGroup) {
	checkBackendServers(c, MasterSlaveServerGroups.Kind(), g.ID, g.Members())
	seen := make(map[ServerType]bool, len(g.BackendServers))
	for _, s := range g.BackendServers {
		state.Among(c, MasterSlaveServerGroups, g, "server type", s.ServerType, ServerMaster, ServerSlave)
		if seen[s.ServerType] {
			c.Fail("MasterSlaveServerGroup %s has two servers of type %s", g.ID, s.ServerType)
		}
		seen[s.ServerType] = true
	}
}

// MasterSlaveServerGroupsByLoadBalancer finds groups by load balancer.
var MasterSlaveServerGroupsByLoadBalancer = MasterSlaveServerGroups.Index("loadbalancer", func(g *MasterSlaveServerGroup) [][]string {
	return state.Key(g.LoadBalancerID)
})

// MasterSlaveServerGroupsByServer finds groups by a server in them.
var MasterSlaveServerGroupsByServer = MasterSlaveServerGroups.Index("server", func(g *MasterSlaveServerGroup) [][]string {
	return serverKeys(g.Members())
})

var _ = LoadBalancers.With(state.OwnedBy(MasterSlaveServerGroupsByLoadBalancer, LoadBalancers))
