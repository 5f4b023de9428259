package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// The states of a route entry.
const (
	RouteEntryPending   = "Pending"
	RouteEntryAvailable = "Available"
	RouteEntryDeleting  = "Deleting"
)

// RouteEntry is a route. System entries have no next hop.
type RouteEntry struct {
	state.Owner
	ID                   string
	RouteTableID         string
	VPCID                string
	DestinationCIDRBlock string
	Type                 RouteTableType
	Status               string
	NextHopType          string `json:",omitempty"`
	NextHopID            string `json:",omitempty"`
	Name                 string `json:",omitempty"`
	Description          string `json:",omitempty"`
	CreateTime           time.Time
}

// ServiceBlock is the CIDR block of the cloud's own services: every route table has a
// route there, and no other route may lead there. Evidence CLB-0450.
const ServiceBlock = "100.64.0.0/10"

// AddSystemRoute puts a route of the system into a table, which leads to a block of
// the VPC itself or of the cloud.
func AddSystemRoute(tx *state.Tx, t *RouteTable, block string) {
	RouteEntries.Put(tx, &RouteEntry{
		Owner: t.Owner, ID: tx.In(t.Owner).NewID(RouteEntries.Kind()), RouteTableID: t.ID, VPCID: t.VPCID,
		DestinationCIDRBlock: block, Type: RouteTableSystem, Status: RouteEntryAvailable, CreateTime: tx.Now(),
	})
}

// RouteEntries by id.
var RouteEntries = state.NewTable(Schema, "RouteEntry", func(e *RouteEntry) string { return e.ID },
	state.IDForm("rte-", 18), state.Life(func(e *RouteEntry) *string { return &e.Status }))

// RouteEntriesByTable finds entries by route table, destination.
var RouteEntriesByTable = RouteEntries.Index("table", func(e *RouteEntry) [][]string {
	return state.Key(e.RouteTableID, e.DestinationCIDRBlock)
})

// RouteEntriesInTransit finds the entries that are Pending or Deleting by VPC.
var RouteEntriesInTransit = RouteEntries.Index("transit", func(e *RouteEntry) [][]string {
	if e.Status != RouteEntryPending && e.Status != RouteEntryDeleting {
		return nil
	}
	return state.Key(e.VPCID)
})

// RouteEntriesByNextHop finds entries by the instance or interface they lead to.
var RouteEntriesByNextHop = RouteEntries.Index("nexthop", func(e *RouteEntry) [][]string { return state.Key(e.NextHopID) })

var _ = RouteTables.With(state.OwnedBy(RouteEntriesByTable, RouteTables))

var _ = RouteEntries.With(goneAfter(RouteEntries, RouteEntryDeleting, func(e *RouteEntry) string { return e.Status }))

// The stages of a route entry.
var (
	StageRouteEntryPending  = RouteEntries.Stage("routeentry.pending", RouteEntryPending, RouteEntryAvailable, 3*time.Second)
	StageRouteEntryDeleting = RouteEntries.Stage("routeentry.deleting", RouteEntryDeleting, "", 3*time.Second)
)

// QuotaRouteEntries limits the custom entries of a route table.
var QuotaRouteEntries = state.NewQuota(Schema, "vpc_quota_route_entrys_num", 200,
	state.Of(RouteEntries, func(e *RouteEntry, add func(string, int)) {
		if e.Type == RouteTableCustom {
			add(e.RouteTableID, 1)
		}
	}))
