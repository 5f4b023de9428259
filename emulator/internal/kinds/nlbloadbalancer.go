package kinds

import (
	"cmp"
	"net/netip"
	"strings"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

// The states of a Network Load Balancer.
const (
	NLBProvisioning = "Provisioning"
	NLBActive       = "Active"
	nlbInactive     = "Inactive"
	NLBConfiguring  = "Configuring"
)

// The address types of a Network Load Balancer.
const (
	NLBInternet = "Internet"
	NLBIntranet = "Intranet"
)

// The states of a zone of a Network Load Balancer.
const (
	NLBZoneActive  = "Active"
	NLBZoneShifted = "Shifted"
)

// NLBLoadBalancer is a Network Load Balancer (NLB).
type NLBLoadBalancer struct {
	state.Owner
	ID                 string
	Name               string
	Status             string
	AddressType        string
	AddressIPVersion   string
	IPv6AddressType    string `json:",omitempty"`
	VPCID              string
	ZoneMappings       []NLBZoneMapping
	SecurityGroupIDs   []string `json:",omitempty"`
	BandwidthPackageID string   `json:",omitempty"`
	CrossZoneEnabled   bool
	// Cps limits the new connections a second; 0 sets no limit.
	Cps                int `json:",omitempty"`
	ResourceGroupID    string
	OrderID            int64
	DeletionProtection NLBProtection
	// ModificationProtection keeps changes out of the console alone.
	ModificationProtection NLBProtection
	// FinancialLocked is while the account's bill is unpaid after its days of grace.
	FinancialLocked bool `json:",omitempty"`
	// OtherLock is the lock for another reason, or "" if there is none.
	OtherLock  NLBLock `json:",omitempty"`
	CreateTime time.Time
}

// NLBLock is the type of a lock, as answers have it.
type NLBLock string

// The locks of load balancers: by the unpaid bill, by that of an EIP or a bandwidth package,
// by its release, and by the cloud's security. Page "NLB instances", 2026-03-06; NLB-0041.
const (
	NLBFinancialLocked NLBLock = "FinancialLocked"
	NLBRelatedLocked   NLBLock = "RelatedResourceLocked"
	NLBResidualLocked  NLBLock = "ResidualLocked"
	NLBSecurityLocked  NLBLock = "SecurityLocked"
)

// LockedBy returns the lock of a load balancer, or "" if it has none.
func (lb *NLBLoadBalancer) LockedBy() NLBLock {
	if lb.FinancialLocked {
		return NLBFinancialLocked
	}
	return lb.OtherLock
}

// ShownStatus returns the status that answers show: a locked load balancer is inactive. Page "NLB
// instances", 2026-03-06.
func (lb *NLBLoadBalancer) ShownStatus() string {
	if lb.LockedBy() != "" {
		return nlbInactive
	}
	return lb.Status
}

// NLBProtection is an active protection, and why.
type NLBProtection struct {
	Enabled     bool      `json:",omitempty"`
	Reason      string    `json:",omitempty"`
	EnabledTime time.Time `json:",omitzero"`
}

// NLBZoneMapping is a zone with the addresses that answer in it.
type NLBZoneMapping struct {
	ZoneID             string
	VSwitchID          string
	Status             string
	ENIID              string
	PrivateIPv4Address string
	IPv6Address        string `json:",omitempty"`
	// AllocationID is the EIP's, of the user's own or, without an EIP of that id,
	// of the load balancer's own.
	AllocationID      string `json:",omitempty"`
	PublicIPv4Address string `json:",omitempty"`
	OwnEIP            bool   `json:",omitempty"`
	// The addresses from which it would reach servers, as they were given.
	IPv4Local []string `json:",omitempty"`
	IPv6Local []string `json:",omitempty"`
}

// addresses lists the addresses allocated for the zone.
func (z *NLBZoneMapping) addresses() []string {
	list := []string{z.PrivateIPv4Address}
	if z.IPv6Address != "" {
		list = append(list, z.IPv6Address)
	}
	if z.OwnEIP {
		list = append(list, z.PublicIPv4Address)
	}
	return list
}

// DNSName returns the name under which clients find the load balancer.
func (lb *NLBLoadBalancer) DNSName() string { return lb.ID + "." + lb.RegionID + "." + NLBApex }

// Reachable returns the addresses under the name, the public ones for a public load balancer. It
// leaves out the address of a zone that was shifted away, and one that does not answer while
// another does: NLB-0044.
func (lb *NLBLoadBalancer) Reachable(v *state.View) []netip.Addr {
	var all, healthy []netip.Addr
	for i := range lb.ZoneMappings {
		z := &lb.ZoneMappings[i]
		if z.Status != NLBZoneActive {
			continue
		}
		for _, text := range []string{cmp.Or(z.PublicIPv4Address, z.PrivateIPv4Address), z.IPv6Address} {
			ip, err := netip.ParseAddr(text)
			if err != nil {
				continue
			}
			all = append(all, ip)
			if topology.Answers(v, lb.ID, z.ZoneID, text) {
				healthy = append(healthy, ip)
			}
		}
	}
	if len(healthy) == 0 {
		return all
	}
	return healthy
}

// TagNLBLoadBalancer is the type of the tags of NLBLoadBalancers.
const TagNLBLoadBalancer state.TagResourceType = "nlb:loadbalancer"

// NLBLoadBalancers by id.
var NLBLoadBalancers = state.NewTable(Schema, "NLBLoadBalancer", func(lb *NLBLoadBalancer) string { return lb.ID },
	state.IDForm("nlb-", 15), state.Tagged(TagNLBLoadBalancer, ProductNLB, "loadbalancer"),
	state.Belongs(Accounts, func(lb *NLBLoadBalancer) string { return lb.AccountID }),
	state.Belongs(VPCs, func(lb *NLBLoadBalancer) string { return lb.VPCID }),
	state.RefersAll(VSwitches, func(lb *NLBLoadBalancer) []string { return lb.vSwitchIDs() }),
	state.RefersAll(SecurityGroups, func(lb *NLBLoadBalancer) []string { return lb.SecurityGroupIDs }),
	state.Life(func(lb *NLBLoadBalancer) *string { return &lb.Status }))

var _ = moved(ProductNLB, "loadbalancer", NLBLoadBalancers, func(n *NLBLoadBalancer) *string { return &n.ResourceGroupID })

func (lb *NLBLoadBalancer) vSwitchIDs() []string {
	ids := make([]string, len(lb.ZoneMappings))
	for i, z := range lb.ZoneMappings {
		ids[i] = z.VSwitchID
	}
	return ids
}

// NLBLoadBalancersByRegion finds Network Load Balancers by account and region.
var NLBLoadBalancersByRegion = NLBLoadBalancers.Index("region", func(lb *NLBLoadBalancer) [][]string {
	return state.Key(lb.AccountID, lb.RegionID)
})

// NLBLoadBalancersInOrder finds Network Load Balancers by account, region and, of the fields of
// a list's filter, the name and value of one or of none, the newest first.
var NLBLoadBalancersInOrder = NLBLoadBalancers.Index("order", func(lb *NLBLoadBalancer) [][]string {
	return inOrder(lb.AccountID, lb.RegionID, Newest(lb.CreateTime), "VpcIds", lb.VPCID, "AddressType", strings.ToLower(lb.AddressType), "LoadBalancerStatus", lb.ShownStatus())
})

// NLBLoadBalancersByName finds Network Load Balancers by account, region, name.
var NLBLoadBalancersByName = NLBLoadBalancers.Index("name", func(lb *NLBLoadBalancer) [][]string {
	return state.Key(lb.AccountID, lb.RegionID, lb.Name)
})

// NLBLoadBalancersBySecurityGroup finds Network Load Balancers by a security group
// that they are in.
var NLBLoadBalancersBySecurityGroup = NLBLoadBalancers.Index("securitygroup", func(lb *NLBLoadBalancer) [][]string {
	return keysOf(lb.SecurityGroupIDs)
})

// keysOf returns the keys of an index of single values.
func keysOf(values []string) [][]string {
	keys := make([][]string, len(values))
	for i, value := range values {
		keys[i] = []string{value}
	}
	return keys
}

var _ = NLBLoadBalancers.With(
	hasAddresses(NLBLoadBalancers, func(lb *NLBLoadBalancer) (list []string) {
		for i := range lb.ZoneMappings {
			list = append(list, lb.ZoneMappings[i].addresses()...)
		}
		return list
	}),
	state.Checks(checkNLBLoadBalancer),
	state.Removed(func(tx *state.Tx, lb *NLBLoadBalancer) { freeEIPsOf(tx, lb.ID) }))

func checkNLBLoadBalancer(c *state.Checker, lb *NLBLoadBalancer) {
	state.Among(c, NLBLoadBalancers, lb, "status", lb.Status, NLBProvisioning, NLBActive, NLBConfiguring)
	state.Among(c, NLBLoadBalancers, lb, "address type", lb.AddressType, NLBInternet, NLBIntranet)
	state.Between(c, NLBLoadBalancers, lb, "number of zones", len(lb.ZoneMappings), 1, 10)
	zones := make(map[string]bool)
	for i := range lb.ZoneMappings {
		z := &lb.ZoneMappings[i]
		if zones[z.ZoneID] {
			c.Fail("NLBLoadBalancer %s has the zone %s twice", lb.ID, z.ZoneID)
		}
		zones[z.ZoneID] = true
		if (z.PublicIPv4Address != "") != (lb.AddressType == NLBInternet) {
			c.Fail("NLBLoadBalancer %s is %s and has the public address %q in %s", lb.ID, lb.AddressType, z.PublicIPv4Address, z.ZoneID)
		}
		if s, ok := VSwitches.Find(c.View(), z.VSwitchID); ok && (s.ZoneID != z.ZoneID || s.VPCID != lb.VPCID) {
			c.Fail("NLBLoadBalancer %s has a vSwitch of another zone or VPC in %s", lb.ID, z.ZoneID)
		}
		if eip, ok := EIPs.Find(c.View(), z.AllocationID); !z.OwnEIP && z.AllocationID != "" && (!ok || eip.InstanceID != lb.ID) {
			c.Fail("NLBLoadBalancer %s uses EIP %s, which is not on it", lb.ID, z.AllocationID)
		}
	}
}

// The stages of a Network Load Balancer. How long they take is not published:
// CLB-0500.
var (
	StageNLBProvisioning = NLBLoadBalancers.Stage("nlb.loadbalancer.provisioning", NLBProvisioning, NLBActive, 3*time.Second)
	StageNLBConfiguring  = NLBLoadBalancers.Stage("nlb.loadbalancer.configuring", NLBConfiguring, NLBActive, time.Second)
)

// The quotas of a region and of a load balancer: NLB-0011.
var (
	QuotaNLBLoadBalancers = state.NewQuota(Schema, "nlb_quota_loadbalancers_num", 60, state.InRegion(NLBLoadBalancers))
	QuotaNLBGroups        = state.NewQuota(Schema, "nlb_quota_loadbalancer_securitygroups_num", 4,
		state.Within(NLBLoadBalancers, func(lb *NLBLoadBalancer) int { return len(lb.SecurityGroupIDs) }))
)
