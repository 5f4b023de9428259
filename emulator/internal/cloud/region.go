package cloud

import (
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
