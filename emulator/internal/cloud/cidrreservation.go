package cloud

import (
	"net/netip"
	"strings"
	"time"

	"github.com/clbemu/clbemu/state"
)

// The states of a reservation.
const (
	CIDRReservationAssigning = "Assigning"
	CIDRReservationAssigned  = "Assigned"
	CIDRReservationReleasing = "Releasing"
)

// CIDRReservation keeps a block of a vSwitch from being given out address by address.
type CIDRReservation struct {
	state.Owner
	ID          string
	VPCID       string
	VSwitchID   string
	CIDRBlock   string
	Name        string `json:",omitempty"`
	Description string `json:",omitempty"`
	Status      string
	CreateTime  time.Time
}

// IPVersion is IPv4 or IPv6.
func (r *CIDRReservation) IPVersion() string {
	if strings.Contains(r.CIDRBlock, ":") {
		return "IPv6"
	}
	return "IPv4"
}

// TagCIDRReservation is the type of the tags of CIDRReservations.
const TagCIDRReservation state.TagResourceType = "vpc:cidrreservation"

// CIDRReservations by id.
var CIDRReservations = state.NewTable(Schema, "CIDRReservation", func(r *CIDRReservation) string { return r.ID },
	state.IDForm("vcr-", 18), state.Tagged(TagCIDRReservation, ProductVPC, "VSWITCHCIDRRESERVATION"),
	state.Belongs(VSwitches, func(r *CIDRReservation) string { return r.VSwitchID }),
	state.Life(func(r *CIDRReservation) *string { return &r.Status }))

// CIDRReservationsByVSwitch finds the reservations of a vSwitch.
var CIDRReservationsByVSwitch = CIDRReservations.Index("vswitch", func(r *CIDRReservation) [][]string { return state.Key(r.VSwitchID) })

// CIDRReservationsByVPC finds the reservations of a VPC's vSwitches.
var CIDRReservationsByVPC = CIDRReservations.Index("vpc", func(r *CIDRReservation) [][]string { return state.Key(r.VPCID) })

var _ = CIDRReservations.With(
	goneAfter(CIDRReservations, CIDRReservationReleasing, func(r *CIDRReservation) string { return r.Status }),
	state.Checks(func(c *state.Checker, r *CIDRReservation) {
		if _, err := netip.ParsePrefix(r.CIDRBlock); err != nil {
			c.Fail("CIDRReservation %s has %q, which is no CIDR block", r.ID, r.CIDRBlock)
		}
	}))

// The stages of a reservation.
var (
	StageCIDRReservationAssigning = CIDRReservations.Stage("cidrreservation.assigning", CIDRReservationAssigning, CIDRReservationAssigned, 3*time.Second)
	StageCIDRReservationReleasing = CIDRReservations.Stage("cidrreservation.releasing", CIDRReservationReleasing, "", 3*time.Second)
)

// reservedBlocks are the blocks of a pool that are not given out address by address.
func reservedBlocks(v *state.View, pool string) (blocks []netip.Prefix) {
	for r := range CIDRReservationsByVSwitch.List(v, pool) {
		if block, err := netip.ParsePrefix(r.CIDRBlock); err == nil {
			blocks = append(blocks, block)
		}
	}
	return blocks
}

func inAny(blocks []netip.Prefix, addr netip.Addr) bool {
	for _, b := range blocks {
		if b.Contains(addr) {
			return true
		}
	}
	return false
}
