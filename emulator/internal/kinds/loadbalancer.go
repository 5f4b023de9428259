package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// AddressType is internet or intranet, where the clients of a load balancer are.
type AddressType string

// The address types.
const (
	AddressTypeInternet AddressType = "internet"
	AddressTypeIntranet AddressType = "intranet"
)

// InstanceChargeType is the billing method of a load balancer.
type InstanceChargeType string

// The instance charge types.
const (
	PayBySpec InstanceChargeType = "PayBySpec"
	PayByCLCU InstanceChargeType = "PayByCLCU"
)

// InternetChargeType is the billing method of its traffic.
type InternetChargeType string

// The internet charge types.
const (
	PayByBandwidth InternetChargeType = "paybybandwidth"
	PayByTraffic   InternetChargeType = "paybytraffic"
)

// LoadBalancerStatus says whether a load balancer forwards.
type LoadBalancerStatus string

// The states of a load balancer.
const (
	LoadBalancerActive   LoadBalancerStatus = "active"
	LoadBalancerInactive LoadBalancerStatus = "inactive"
	LoadBalancerLocked   LoadBalancerStatus = "locked"
)

// LoadBalancer is a CLB instance with its default server group.
type LoadBalancer struct {
	state.Owner
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
	ServiceManaged               bool `json:",omitempty"`
	ModificationProtectionStatus string
	ModificationProtectionReason string              `json:",omitempty"`
	BackendServers               []BackendServer     `json:",omitempty"`
	Ineffective                  *InternetSpecChange `json:",omitempty"`
	// Activity is Busy while a change of the default group takes effect.
	Activity string `json:",omitempty"`
	// LockedFrom is the status that a locked load balancer had before.
	LockedFrom LoadBalancerStatus `json:",omitempty"`
	// Idle is true for an inactive one whose last listener went. It takes changes.
	Idle bool `json:",omitempty"`
	// AccessLog names the log store of its access log. It is kept and shown; no log is
	// written.
	AccessLog *AccessLog `json:",omitempty"`
	// OrderID and EndTime belong to a subscription (PrePay).
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

// AccessLog is a store of the log service.
type AccessLog struct {
	LogProject string
	LogStore   string
}

// TagLoadBalancer is the type of the tags of LoadBalancers.
const TagLoadBalancer state.TagResourceType = "instance"

// LoadBalancers by id.
var LoadBalancers = state.NewTable(Schema, "LoadBalancer", func(lb *LoadBalancer) string { return lb.ID },
	state.IDForm("lb-", 18), state.Tagged(TagLoadBalancer, ProductCLB, "instance"),
	state.Belongs(Accounts, func(lb *LoadBalancer) string { return lb.AccountID }),
	state.Refers(VPCs, func(lb *LoadBalancer) string { return lb.VPCID }),
	state.Refers(VSwitches, func(lb *LoadBalancer) string { return lb.VSwitchID }),
	state.Life(func(lb *LoadBalancer) *string { return &lb.Activity }),
	state.Checks(func(c *state.Checker, lb *LoadBalancer) {
		checkBackendServers(c, "LoadBalancer", lb.ID, lb.BackendServers)
	}))

var _ = moved(ProductCLB, "loadbalancer", LoadBalancers, func(l *LoadBalancer) *string { return &l.ResourceGroupID })

// LoadBalancersByRegion finds load balancers by account and region.
var LoadBalancersByRegion = LoadBalancers.Index("region", func(lb *LoadBalancer) [][]string {
	return state.Key(lb.AccountID, lb.RegionID)
})

// LoadBalancersInOrder finds load balancers by account, region and, of the fields of a list's
// filter, the name and value of one or of none, the oldest first.
var LoadBalancersInOrder = LoadBalancers.Index("order", func(lb *LoadBalancer) [][]string {
	return inOrder(lb.AccountID, lb.RegionID, oldest(lb.CreateTime), "VpcId", lb.VPCID, "AddressType", string(lb.AddressType), "LoadBalancerStatus", string(lb.Status))
})

// LoadBalancersByName finds load balancers by account, region, name.
var LoadBalancersByName = LoadBalancers.Index("name", func(lb *LoadBalancer) [][]string {
	return state.Key(lb.AccountID, lb.RegionID, lb.Name)
})

// LoadBalancersByVSwitch finds load balancers by vSwitch.
var LoadBalancersByVSwitch = LoadBalancers.Index("vswitch", func(lb *LoadBalancer) [][]string {
	return state.Key(lb.VSwitchID)
})

// LoadBalancersByServer finds load balancers by a server in their default group.
var LoadBalancersByServer = LoadBalancers.Index("server", func(lb *LoadBalancer) [][]string {
	return serverKeys(lb.BackendServers)
})

var _ = LoadBalancers.With(
	hasAddresses(LoadBalancers, func(lb *LoadBalancer) []string { return []string{lb.Address} }),
	state.On(fromOrdered, applyInternetSpec),
	state.Removed(func(tx *state.Tx, lb *LoadBalancer) { freeEIPsOf(tx, lb.ID) }))

// freeEIPsOf releases the EIPs of a load balancer, and keeps them.
func freeEIPsOf(tx *state.Tx, id string) {
	for eip := range EIPsByInstance.List(tx.View, id) {
		freed := *eip
		freed.Free()
		EIPs.Put(tx, &freed)
	}
}

// StageLoadBalancerConfiguring is while a change of the default group takes effect.
var StageLoadBalancerConfiguring = LoadBalancers.Stage("loadbalancer.configuring", state.Busy, state.Idle, 500*time.Millisecond)

// The sites of accounts. An international one has fewer load balancers, says the page CLB
// quotas (2025-06-27).
const (
	SiteMainland      = "mainland"
	SiteInternational = "international"

	LoadBalancersInternational = 30
)

// QuotaLoadBalancers limits an account.
var QuotaLoadBalancers = state.NewQuota(Schema, "slb_quota_instances_num", 60,
	state.Of(LoadBalancers, func(lb *LoadBalancer, add func(string, int)) { add(lb.AccountID, 1) }))
