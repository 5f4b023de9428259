package kinds

import (
	"slices"
	"time"

	"github.com/clbemu/clbemu/state"
)

// The types of a server group.
const (
	NLBGroupOfInstances = "Instance"
	NLBGroupOfIPs       = "Ip"
)

// The types of a server.
const (
	NLBServerECS = "Ecs"
	NLBServerENI = "Eni"
	NLBServerECI = "Eci"
	NLBServerIP  = "Ip"
)

// The states of a server group.
const (
	NLBGroupCreating    = "Creating"
	NLBGroupAvailable   = "Available"
	NLBGroupConfiguring = "Configuring"
)

// NLBServerGroup is a group of servers that listeners of Network Load Balancers of
// its VPC may forward to. Names need not be unique.
type NLBServerGroup struct {
	state.Owner
	// CreateTime orders lists; rows of older states have none.
	CreateTime              time.Time `json:",omitzero"`
	ID                      string
	Name                    string
	Type                    string
	Protocol                string
	VPCID                   string
	Status                  string
	AddressIPVersion        string
	IPVersionAffinityMode   string `json:",omitempty"`
	Scheduler               string
	AnyPortEnabled          bool `json:",omitempty"`
	PreserveClientIPEnabled bool
	ConnectionDrainEnabled  bool `json:",omitempty"`
	ConnectionDrainTimeout  int  `json:",omitempty"`
	HealthCheck             NLBHealthCheck
	ResourceGroupID         string
	Servers                 []NLBServer `json:",omitempty"`
}

// NLBHealthCheck configures a group's health checks. Times are in seconds; ConnectPort
// 0 is the server's own port.
type NLBHealthCheck struct {
	Enabled            bool
	Type               string   `json:",omitempty"`
	ConnectPort        int      `json:",omitempty"`
	HealthyThreshold   int      `json:",omitempty"`
	UnhealthyThreshold int      `json:",omitempty"`
	ConnectTimeout     int      `json:",omitempty"`
	Interval           int      `json:",omitempty"`
	Domain             string   `json:",omitempty"`
	URL                string   `json:",omitempty"`
	HTTPVersion        string   `json:",omitempty"`
	HTTPMethod         string   `json:",omitempty"`
	HTTPCodes          []string `json:",omitempty"`
	Request            string   `json:",omitempty"`
	Response           string   `json:",omitempty"`
}

// NLBServer is a member of a server group. Port is 0 where the listener says it.
type NLBServer struct {
	Type        string
	ID          string
	IP          string `json:",omitempty"`
	ZoneID      string `json:",omitempty"`
	Port        int    `json:",omitempty"`
	Weight      int
	Description string `json:",omitempty"`
	// Changing is its status while a change of it is under way: Adding or Configuring.
	Changing string `json:",omitempty"`
}

// Is reports whether both are the same server of a group.
func (s *NLBServer) Is(other *NLBServer) bool {
	return s.ID == other.ID && s.IP == other.IP && s.Port == other.Port
}

// TagNLBServerGroup is the type of the tags of NLBServerGroups.
const TagNLBServerGroup state.TagResourceType = "nlb:servergroup"

// NLBServerGroups by id.
var NLBServerGroups = state.NewTable(Schema, "NLBServerGroup", func(g *NLBServerGroup) string { return g.ID },
	state.IDForm("sgp-", 15), state.Tagged(TagNLBServerGroup, ProductNLB, "servergroup"),
	state.Belongs(VPCs, func(g *NLBServerGroup) string { return g.VPCID }),
	state.Life(func(g *NLBServerGroup) *string { return &g.Status }))

var _ = moved(ProductNLB, "servergroup", NLBServerGroups, func(n *NLBServerGroup) *string { return &n.ResourceGroupID })

var _ = NLBServerGroups.With(state.Checks(checkNLBServerGroup), state.On(NLBGroupConfiguring, endNLBServerChanges))

// endNLBServerChanges ends a change of a group and of its servers.
func endNLBServerChanges(tx *state.Tx, t *state.Transition) {
	// A deleted group has nothing to end.
	_ = NLBServerGroups.Edit(tx, t.ResourceID, func(g *NLBServerGroup) error {
		if g.Status != t.From {
			return nil
		}
		g.Status, g.Servers = t.To, slices.Clone(g.Servers)
		for i := range g.Servers {
			g.Servers[i].Changing = ""
		}
		return nil
	})
}

func checkNLBServerGroup(c *state.Checker, g *NLBServerGroup) {
	state.Among(c, NLBServerGroups, g, "status", g.Status, NLBGroupCreating, NLBGroupAvailable, NLBGroupConfiguring)
	for i := range g.Servers {
		s := &g.Servers[i]
		state.Between(c, NLBServerGroups, g, "weight of "+s.ID, s.Weight, 0, 100)
		for j := range i {
			if s.Is(&g.Servers[j]) {
				c.Fail("NLBServerGroup %s has %s twice on port %d", g.ID, s.ID, s.Port)
			}
		}
	}
}

// NLBServerGroupsByRegion finds groups by account and region.
var NLBServerGroupsByRegion = NLBServerGroups.Index("region", func(g *NLBServerGroup) [][]string {
	return state.Key(g.AccountID, g.RegionID)
})

// NLBServerGroupsInOrder finds groups by account, region and, of the fields of a list's filter,
// the name and value of one or of none, the newest first.
var NLBServerGroupsInOrder = NLBServerGroups.Index("order", func(g *NLBServerGroup) [][]string {
	return inOrder(g.AccountID, g.RegionID, Newest(g.CreateTime), "VpcId", g.VPCID, "ServerGroupType", g.Type)
})

// The stages of a server group: CLB-0500.
var (
	StageNLBGroupCreating    = NLBServerGroups.Stage("nlb.servergroup.creating", NLBGroupCreating, NLBGroupAvailable, time.Second)
	StageNLBGroupConfiguring = NLBServerGroups.Stage("nlb.servergroup.configuring", NLBGroupConfiguring, NLBGroupAvailable, time.Second)
)

// The quotas of a region and of a group: NLB-0011.
var (
	QuotaNLBServerGroups = state.NewQuota(Schema, "nlb_quota_servergroups_num", 3000, state.InRegion(NLBServerGroups))
	QuotaNLBServers      = state.Renamed(Schema, "nlb_quota_servergroup_servers_num", state.NewQuota(Schema, "nlb_quota_servergroup_noeci_servers_num", 400,
		state.Within(NLBServerGroups, func(g *NLBServerGroup) int { return len(g.Servers) - g.ECIs() })))
	QuotaNLBECIs = state.NewQuota(Schema, "nlb_quota_servergroup_eci_servers_num", 1600,
		state.Within(NLBServerGroups, func(g *NLBServerGroup) int { return g.ECIs() }))
	QuotaNLBServerAdded = state.NewQuota(Schema, "nlb_quota_server_added_num", 200,
		state.Of(NLBServerGroups, func(g *NLBServerGroup, add func(string, int)) {
			for id := range g.serverIDs() {
				add(id, 1)
			}
		}))
)

// The quotas of a load balancer, for the servers in the groups that its listeners forward
// to: NLB-0011. A server counts once, in however many groups and at however many ports.
var (
	QuotaNLBServersBehind = state.NewQuota(Schema, "nlb_quota_loadbalancer_noeci_servers_num", 400,
		NLBLoadBalancers.Summed(func(v *state.View, lb *NLBLoadBalancer) int { return NLBGroupsBehind(v, lb.ID, "").others() }))
	QuotaNLBECIsBehind = state.NewQuota(Schema, "nlb_quota_loadbalancer_eci_servers_num", 1600,
		NLBLoadBalancers.Summed(func(v *state.View, lb *NLBLoadBalancer) int { return NLBGroupsBehind(v, lb.ID, "").ecis() }))
)

// nlbGroups are server groups by id.
type nlbGroups map[string]*NLBServerGroup

// NLBGroupsBehind returns the groups to which the listeners of a load balancer forward, except one
// listener.
func NLBGroupsBehind(v *state.View, loadBalancerID, without string) nlbGroups {
	groups := make(nlbGroups)
	for l := range NLBListenersByLoadBalancer.List(v, loadBalancerID) {
		if g, ok := NLBServerGroups.Find(v, l.ServerGroupID); ok && l.ID != without {
			groups[g.ID] = g
		}
	}
	return groups
}

// count returns how many servers there are, each once, that are ECIs or not.
func (groups nlbGroups) count(ecis bool) int {
	ids := make(map[string]bool)
	for _, g := range groups {
		for i := range g.Servers {
			if s := &g.Servers[i]; (s.Type == NLBServerECI) == ecis {
				ids[s.ID] = true
			}
		}
	}
	return len(ids)
}

func (groups nlbGroups) ecis() int   { return groups.count(true) }
func (groups nlbGroups) others() int { return groups.count(false) }

// Fit refuses more servers behind a load balancer than it can have, with the groups that it
// will have.
func (groups nlbGroups) Fit(v *state.View, loadBalancerID string) error {
	now := NLBGroupsBehind(v, loadBalancerID, "")
	for _, q := range []struct {
		name state.QuotaName
		more int
	}{{QuotaNLBServersBehind, groups.others() - now.others()}, {QuotaNLBECIsBehind, groups.ecis() - now.ecis()}} {
		if q.more <= 0 {
			continue
		}
		if err := v.Use(q.name, loadBalancerID, q.more); err != nil {
			return err
		}
	}
	return nil
}

// ECIs returns how many servers are elastic container instances.
func (g *NLBServerGroup) ECIs() (n int) {
	for i := range g.Servers {
		if g.Servers[i].Type == NLBServerECI {
			n++
		}
	}
	return n
}

// serverIDs returns the ids of the group's servers, each once.
func (g *NLBServerGroup) serverIDs() map[string]bool {
	ids := make(map[string]bool, len(g.Servers))
	for i := range g.Servers {
		ids[g.Servers[i].ID] = true
	}
	return ids
}
