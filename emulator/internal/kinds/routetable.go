package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// RouteTableType distinguishes the table that comes with a VPC from later ones.
type RouteTableType string

// The route table types; route entries use the same words.
const (
	RouteTableSystem RouteTableType = "System"
	RouteTableCustom RouteTableType = "Custom"
)

// RouteTable is a route table of a VPC.
type RouteTable struct {
	state.Owner
	ID          string
	VPCID       string
	VRouterID   string
	Name        string `json:",omitempty"`
	Description string `json:",omitempty"`
	Type        RouteTableType
	// AssociateType comes from older states, whose tables of IPv4 gateways are dropped.
	AssociateType string `json:",omitempty"`
	// PropagationDisabled keeps dynamic routes out of the table.
	PropagationDisabled bool `json:",omitempty"`
	ResourceGroupID     string
	CreateTime          time.Time
}

// TagRouteTable is the type of the tags of RouteTables.
const TagRouteTable state.TagResourceType = "vpc:routetable"

// RouteTables by id.
var RouteTables = state.NewTable(Schema, "RouteTable", func(t *RouteTable) string { return t.ID },
	state.IDForm("vtb-", 18), state.Tagged(TagRouteTable, ProductVPC, "ROUTETABLE"))

// RouteTablesByRegion finds route tables by account and region.
var RouteTablesByRegion = RouteTables.Index("region", func(t *RouteTable) [][]string { return state.Key(t.AccountID, t.RegionID) })

// RouteTablesByVPC finds route tables by VPC.
var RouteTablesByVPC = RouteTables.Index("vpc", func(t *RouteTable) [][]string { return state.Key(t.VPCID) })

// QuotaRouteTables limits the custom tables of a VPC. It is not published with
// certainty: CLB-0170.
var QuotaRouteTables = state.NewQuota(Schema, "vpc_quota_route_tables_num", 9,
	state.Of(RouteTables, func(t *RouteTable, add func(string, int)) {
		if t.Type == RouteTableCustom {
			add(t.VPCID, 1)
		}
	}))

var _ = VPCs.With(state.OwnedBy(RouteTablesByVPC, VPCs))

// moveRouteTables moves the route tables of a VPC to its new group: CLB-0402.
func moveRouteTables(tx *state.Tx, vpc, group string) {
	for t := range RouteTablesByVPC.List(tx.View, vpc) {
		moved := *t
		moved.ResourceGroupID = group
		RouteTables.Put(tx, &moved)
	}
}
