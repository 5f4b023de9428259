package kinds

import (
	"slices"

	"github.com/clbemu/clbemu/state"
)

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
	// SharedInstancesSold offers instances without a spec, which the
	// cloud has stopped.
	SharedInstancesSold bool `json:",omitempty"`
	// PayBySpecSold lets instances be bought that are paid by their spec, and
	// SubscriptionsSold subscriptions. The cloud has stopped both.
	PayBySpecSold     bool `json:",omitempty"`
	SubscriptionsSold bool `json:",omitempty"`
	// IPv6Halted stops the sale of IPv6 instances.
	IPv6Halted bool `json:",omitempty"`
	// AddressesHalted stops the sale of public addresses to Classic Load Balancers.
	AddressesHalted bool `json:",omitempty"`
	// SoldOut lists what zones have no more of.
	SoldOut []ZoneStock `json:",omitempty"`
	// Lacks lists the actions, parameters and values, such as Scheduler=qch, that calls can't
	// use: by zone those of load balancers with their master in it, and by "" the region's.
	Lacks map[string][]string `json:",omitempty"`
}

// The years in which the cloud changed its offers, and Today.
const (
	Year2021 = "2021"
	Year2024 = "2024"
	Today    = "today"
)

// SetYear sells what the cloud sold in a year. CLB-0210.
func (r *Region) SetYear(year string) {
	r.SharedInstancesSold = year == Year2021
	r.PayBySpecSold = year != Today
	r.SubscriptionsSold = year != Today
}

// YearQuotas are the quotas that have changed since a year, with what they were then; an
// absent year has today's. CLB-0460.
var YearQuotas = map[string]map[state.QuotaName]int{
	Year2021: {QuotaACLs: 50, QuotaListenerACLs: 1},
}

// Year returns the year whose instances the region sells, "" if it is none.
func (r *Region) Year() string {
	for _, year := range []string{Year2021, Year2024, Today} {
		of := *r
		if of.SetYear(year); of.SharedInstancesSold == r.SharedInstancesSold && of.PayBySpecSold == r.PayBySpecSold && of.SubscriptionsSold == r.SubscriptionsSold {
			return year
		}
	}
	return ""
}

// ChargeType returns the charge type of a new instance with the spec, or without one if that is "",
// unless its buyer chooses one. CLB-0211.
func (r *Region) ChargeType(spec string) InstanceChargeType {
	if r.PayBySpecSold || spec == "" && r.SharedInstancesSold {
		return PayBySpec
	}
	return PayByCLCU
}

// ZoneStock is a kind of load balancer in a zone. An empty AddressType is any. A protocol in its
// place is the listeners of that protocol.
type ZoneStock struct {
	ZoneID      string
	AddressType AddressType `json:",omitempty"`
}

// SellsIPv6 reports whether the region sells IPv6 load balancers.
func (r *Region) SellsIPv6() bool { return r.PublicIPv6CIDRBlock != "" && !r.IPv6Halted }

// InStock reports whether a zone still has load balancers of the type.
func (r *Region) InStock(zoneID string, t AddressType) bool {
	for _, s := range r.SoldOut {
		if s.ZoneID == zoneID && (s.AddressType == "" || s.AddressType == t) {
			return false
		}
	}
	return true
}

// HasListeners reports whether a zone still has resources for listeners of a protocol.
func (r *Region) HasListeners(zoneID string, p Protocol) bool {
	return !slices.Contains(r.SoldOut, ZoneStock{zoneID, AddressType(p)})
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
var Regions = state.NewTable(Schema, "Region", func(r *Region) string { return r.ID }, state.Setting())
