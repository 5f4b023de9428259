package kinds

import (
	"github.com/clbemu/clbemu/state"
)

// BackendServerType is the type of a backend server.
type BackendServerType string

// The backend server types.
const (
	BackendServerECS BackendServerType = "ecs"
	BackendServerENI BackendServerType = "eni"
	BackendServerECI BackendServerType = "eci"
)

// BackendServer is a member of a server group. Port is 0 in a default group,
// where the listener says it.
type BackendServer struct {
	ServerID    string
	ServerIP    string `json:",omitempty"`
	Type        BackendServerType
	Port        int `json:",omitempty"`
	Weight      int
	Description string `json:",omitempty"`
}

func serverKeys(servers []BackendServer) [][]string {
	keys := make([][]string, len(servers))
	for i, s := range servers {
		keys[i] = []string{s.ServerID}
	}
	return keys
}

// checkBackendServers checks the members of a group.
func checkBackendServers(c *state.Checker, kind state.Kind, id string, servers []BackendServer) {
	type member struct {
		id, ip string
		port   int
	}
	seen := make(map[member]bool, len(servers))
	for _, s := range servers {
		m := member{s.ServerID, s.ServerIP, s.Port}
		if seen[m] {
			c.Fail("%s %s has %s twice on port %d", kind, id, s.ServerID, s.Port)
		}
		seen[m] = true
		if s.Weight < 0 || s.Weight > 100 {
			c.Fail("%s %s has %s with weight %d", kind, id, s.ServerID, s.Weight)
		}
	}
}

// QuotaBackendServers limits a load balancer: a server counts once in the default
// group, and once for each group and port.
var QuotaBackendServers = state.NewQuota(Schema, "slb_quota_backendservers_num", 200,
	state.Within(LoadBalancers, func(lb *LoadBalancer) int { return len(lb.BackendServers) }),
	state.Of(VServerGroups, func(g *VServerGroup, add func(string, int)) { add(g.LoadBalancerID, len(g.BackendServers)) }),
	state.Of(MasterSlaveServerGroups, func(g *MasterSlaveServerGroup, add func(string, int)) { add(g.LoadBalancerID, len(g.BackendServers)) }))

// QuotaServerAttached limits how many groups a server is in.
var QuotaServerAttached = state.NewQuota(Schema, "slb_quota_backendserver_attached_num", 50,
	state.Of(LoadBalancers, func(lb *LoadBalancer, add func(string, int)) { eachServer(lb.BackendServers, add) }),
	state.Of(VServerGroups, func(g *VServerGroup, add func(string, int)) { eachServer(g.BackendServers, add) }),
	state.Of(MasterSlaveServerGroups, func(g *MasterSlaveServerGroup, add func(string, int)) { eachServer(g.Members(), add) }))

func eachServer(servers []BackendServer, add func(string, int)) {
	for _, s := range servers {
		add(s.ServerID, 1)
	}
}
