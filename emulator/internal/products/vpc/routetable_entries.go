package vpc

import (
	"cmp"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var routeTablesActions = []gateway.Action{
	gateway.Read("DescribeRouteTables", describeRouteTables),
}

type describeRouteTablesRequest struct {
	listing.ByNumber
	RegionID        string `rpc:"RegionId"`
	VRouterID       string `rpc:"VRouterId"`
	RouterID        string `rpc:"RouterId"`
	RouterType      string `rpc:"RouterType"`
	RouteTableID    string `rpc:"RouteTableId"`
	Name            string `rpc:"RouteTableName"`
	Type            string `rpc:"Type"`
	ResourceGroupID string `rpc:"ResourceGroupId"`
}

type describeRouteTablesResponse struct {
	listing.Numbered
	RouteTables []routeTableWithEntries `rpc:"RouteTables>RouteTable"`
}

type routeTableWithEntries struct {
	RouteTableID    string               `rpc:"RouteTableId"`
	RouteTableType  string               `rpc:"RouteTableType"`
	VRouterID       string               `rpc:"VRouterId"`
	ResourceGroupID string               `rpc:"ResourceGroupId"`
	CreationTime    string               `rpc:"CreationTime"`
	Status          string               `rpc:"Status"`
	VSwitchIDs      []string             `rpc:"VSwitchIds>VSwitchId"`
	RouteEntries    []routeEntryWithHost `rpc:"RouteEntrys>RouteEntry"` // the cloud's spelling
}

// routeEntryWithHost has its next hop in addition to the list of them, as clients that came
// before the list read it.
type routeEntryWithHost struct {
	routeEntryView
	InstanceID  string `rpc:"InstanceId"`
	NextHopType string `rpc:"NextHopType"`
}

// describeRouteTables answers the older list, whose tables include their entries: CLB-0403.
func describeRouteTables(v *state.View, req *describeRouteTablesRequest) (*describeRouteTablesResponse, error) {
	found := listing.Pick(kinds.RouteTablesByRegion.InScope(v), func(t *kinds.RouteTable) bool {
		return req.matches(t)
	})
	tables, page := listing.Number(found, req.PageNumber, req.PageSize)
	return &describeRouteTablesResponse{Numbered: page, RouteTables: listing.Views(v, tables, withEntries)}, nil
}

func (r *describeRouteTablesRequest) matches(t *kinds.RouteTable) bool {
	return listing.Matches(r.RouteTableID, t.ID) && listing.Matches(r.VRouterID, t.VRouterID) && listing.Matches(r.RouterID, t.VRouterID) &&
		listing.Matches(r.RouterType, "VRouter") && listing.Matches(r.Name, t.Name) && listing.Matches(r.Type, string(t.Type)) &&
		listing.Matches(r.ResourceGroupID, t.ResourceGroupID)
}

func withEntries(v *state.View, t *kinds.RouteTable) routeTableWithEntries {
	shown := viewRouteTable(v, t)
	table := routeTableWithEntries{RouteTableID: t.ID, RouteTableType: shown.RouteTableType, VRouterID: t.VRouterID,
		ResourceGroupID: t.ResourceGroupID, CreationTime: shown.CreationTime, Status: shown.Status, VSwitchIDs: shown.VSwitchIDs}
	for e := range kinds.RouteEntriesByTable.List(v, t.ID) {
		table.RouteEntries = append(table.RouteEntries, routeEntryWithHost{viewRouteEntry(e), e.NextHopID, cmp.Or(e.NextHopType, nextHopLocal)})
	}
	return table
}
