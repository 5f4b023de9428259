package state

import "time"

// Account is a cloud account, the owner of resources.
type Account struct {
	ID                     string
	Name                   string `json:",omitempty"`
	DefaultResourceGroupID string `json:",omitempty"`
	// DefaultRegionID is the region of calls that name none.
	DefaultRegionID string `json:",omitempty"`
	// Balance is in CNY; a purchase needs MinimumBalance of it.
	Balance int
	// ArrearsSince is when the account went into arrears, zero when it is not.
	ArrearsSince time.Time `json:",omitzero"`
	// GraceDays after that its load balancers are locked, and ReleaseDays later
	// they are released.
	GraceDays   int
	ReleaseDays int
	// LCUToSpec is the whitelist for changing PayByCLCU to PayBySpec.
	LCUToSpec bool `json:",omitempty"`
}

// Accounts by id (the cloud's uid).
var Accounts = newTable("Account", func(a *Account) string { return a.ID })

// AccessKeyStatus is whether a key may be used.
type AccessKeyStatus string

// The states of a key.
const (
	AccessKeyActive   AccessKeyStatus = "Active"
	AccessKeyInactive AccessKeyStatus = "Inactive"
)

// AccessKey is a pair of id and secret. One with a SecurityToken is temporary
// (STS): the token must come along with it until it expires.
type AccessKey struct {
	ID            string
	Secret        string
	AccountID     string
	Status        AccessKeyStatus
	SecurityToken string    `json:",omitempty"`
	Expiration    time.Time `json:",omitzero"`
	RoleName      string    `json:",omitempty"`
}

// AccessKeys by id.
var AccessKeys = newTable("AccessKey", func(k *AccessKey) string { return k.ID })

// AccessKeysByRole finds the temporary keys of a RAM role: account, role.
var AccessKeysByRole = AccessKeys.index("role", func(k *AccessKey) [][]string {
	if k.RoleName == "" {
		return nil
	}
	return one(k.AccountID, k.RoleName)
})

// Region is a region with its zones.
type Region struct {
	ID        string
	LocalName string
	Zones     []Zone
	// ZonePairs are the zones in which a load balancer can have its master and
	// slave, in the order of preference.
	ZonePairs []ZonePair
	// PublicCIDRBlock and PublicIPv6CIDRBlock are where internet load balancers
	// and EIPs get their addresses.
	PublicCIDRBlock     string
	PublicIPv6CIDRBlock string `json:",omitempty"`
	// SharedInstancesSold lets instances without a spec be bought, which the
	// cloud has stopped.
	SharedInstancesSold bool `json:",omitempty"`
	// IPv6Halted stops the sale of IPv6 instances.
	IPv6Halted bool `json:",omitempty"`
	// SoldOut lists what zones have no more of.
	SoldOut []ZoneStock `json:",omitempty"`
}

// ZoneStock is a kind of load balancer in a zone. An empty AddressType is any.
type ZoneStock struct {
	ZoneID      string
	AddressType AddressType `json:",omitempty"`
}

// SellsIPv6 tells whether the region sells IPv6 load balancers.
func (r *Region) SellsIPv6() bool { return r.PublicIPv6CIDRBlock != "" && !r.IPv6Halted }

// InStock tells whether a zone still has load balancers of the type.
func (r *Region) InStock(zoneID string, t AddressType) bool {
	for _, s := range r.SoldOut {
		if s.ZoneID == zoneID && (s.AddressType == "" || s.AddressType == t) {
			return false
		}
	}
	return true
}

// Zone is an availability zone.
type Zone struct {
	ID        string
	LocalName string
}

// ZonePair is a master zone with a slave zone that can stand in for it.
type ZonePair struct {
	Master string
	Slave  string
}

// Regions by id.
var Regions = newTable("Region", func(r *Region) string { return r.ID })

// ResourceGroup groups the resources of an account.
type ResourceGroup struct {
	AccountID string
	ID        string
	Name      string
}

func (g *ResourceGroup) owner() Owner { return Owner{AccountID: g.AccountID} }

// ResourceGroups by id.
var ResourceGroups = newTable("ResourceGroup", func(g *ResourceGroup) string { return g.ID })
