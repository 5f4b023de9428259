package state

import "time"

// AddressType is where a load balancer is reached from.
type AddressType string

// The address types.
const (
	AddressTypeInternet AddressType = "internet"
	AddressTypeIntranet AddressType = "intranet"
)

// InstanceChargeType is what a load balancer is charged by.
type InstanceChargeType string

// The instance charge types.
const (
	PayBySpec InstanceChargeType = "PayBySpec"
	PayByCLCU InstanceChargeType = "PayByCLCU"
)

// InternetChargeType is what its traffic is charged by.
type InternetChargeType string

// The internet charge types.
const (
	PayByBandwidth InternetChargeType = "paybybandwidth"
	PayByTraffic   InternetChargeType = "paybytraffic"
)

// LoadBalancerStatus is whether a load balancer forwards.
type LoadBalancerStatus string

// The states of a load balancer.
const (
	LoadBalancerActive   LoadBalancerStatus = "active"
	LoadBalancerInactive LoadBalancerStatus = "inactive"
	LoadBalancerLocked   LoadBalancerStatus = "locked"
)

// On and Off are the wire's and the state's word for switches.
const (
	On  = "on"
	Off = "off"
)

// LoadBalancer is a CLB instance with its default server group.
type LoadBalancer struct {
	Owner
	ID                           string
	Name                         string
	Status                       LoadBalancerStatus
	Address                      string
	AddressType                  AddressType
	AddressIPVersion             string
	NetworkType                  string
	VPCID                        string `json:",omitempty"`
	VSwitchID                    string `json:",omitempty"`
	MasterZoneID                 string
	SlaveZoneID                  string
	Spec                         string `json:",omitempty"`
	InstanceChargeType           InstanceChargeType
	InternetChargeType           InternetChargeType
	Bandwidth                    int
	PayType                      string
	ResourceGroupID              string
	DeleteProtection             string
	ModificationProtectionStatus string
	ModificationProtectionReason string              `json:",omitempty"`
	BackendServers               []BackendServer     `json:",omitempty"`
	Ineffective                  *InternetSpecChange `json:",omitempty"`
	// Activity is Busy while a change of the default group is being applied.
	Activity string `json:",omitempty"`
	// LockedFrom is the status that a locked load balancer had before.
	LockedFrom LoadBalancerStatus `json:",omitempty"`
	// OrderID and EndTime are those of a subscription (PrePay).
	OrderID    int64     `json:",omitempty"`
	EndTime    time.Time `json:",omitzero"`
	CreateTime time.Time
}

// InternetSpecChange is an order that takes effect later: a change of the
// internet charge type waits for the next day.
type InternetSpecChange struct {
	InternetChargeType InternetChargeType
	Bandwidth          int
	EffectiveAt        time.Time
}

// LoadBalancers by id.
var LoadBalancers = newTable("LoadBalancer", func(lb *LoadBalancer) string { return lb.ID })

// LoadBalancersByRegion finds load balancers by account and region.
var LoadBalancersByRegion = LoadBalancers.index("region", func(lb *LoadBalancer) [][]string {
	return one(lb.AccountID, lb.RegionID)
})

// LoadBalancersByName finds load balancers by account, region, name.
var LoadBalancersByName = LoadBalancers.index("name", func(lb *LoadBalancer) [][]string {
	return one(lb.AccountID, lb.RegionID, lb.Name)
})

// LoadBalancersByVSwitch finds load balancers by vSwitch.
var LoadBalancersByVSwitch = LoadBalancers.index("vswitch", func(lb *LoadBalancer) [][]string {
	return one(lb.VSwitchID)
})

// LoadBalancersByServer finds load balancers by a server in their default group.
var LoadBalancersByServer = LoadBalancers.index("server", func(lb *LoadBalancer) [][]string {
	return serverKeys(lb.BackendServers)
})

// BackendServerType is what a backend server is.
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

// VServerGroup is a server group of one load balancer.
type VServerGroup struct {
	Owner
	ID             string
	Name           string
	LoadBalancerID string
	BackendServers []BackendServer `json:",omitempty"`
	// Activity is Busy while a change is being applied.
	Activity   string `json:",omitempty"`
	CreateTime time.Time
}

// VServerGroups by id.
var VServerGroups = newTable("VServerGroup", func(g *VServerGroup) string { return g.ID })

// VServerGroupsByLoadBalancer finds groups by load balancer.
var VServerGroupsByLoadBalancer = VServerGroups.index("loadbalancer", func(g *VServerGroup) [][]string {
	return one(g.LoadBalancerID)
})

// VServerGroupsByServer finds groups by a server in them.
var VServerGroupsByServer = VServerGroups.index("server", func(g *VServerGroup) [][]string {
	return serverKeys(g.BackendServers)
})
