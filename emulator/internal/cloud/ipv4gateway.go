package cloud

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// GatewayStatus is the status of a gateway of a VPC; each kind has its own words for
// the same statuses.
type GatewayStatus string

// The states of gateways: IPv4 gateways are Created and Activating, the others are
// Available.
const (
	GatewayCreating   GatewayStatus = "Creating"
	GatewayCreated    GatewayStatus = "Created"
	GatewayActivating GatewayStatus = "Activating"
	GatewayPending    GatewayStatus = "Pending"
	GatewayAvailable  GatewayStatus = "Available"
	GatewayDeleting   GatewayStatus = "Deleting"
)

// IPv4Gateway is the way of a VPC to the IPv4 internet, once enabled.
type IPv4Gateway struct {
	state.Owner
	ID          string
	VPCID       string
	Name        string `json:",omitempty"`
	Description string `json:",omitempty"`
	Status      GatewayStatus
	Enabled     bool `json:",omitempty"`
	// RouteTableID is the table for what comes in through the gateway.
	RouteTableID    string `json:",omitempty"`
	ResourceGroupID string
	CreateTime      time.Time
}

// TagIPv4Gateway is the type of the tags of IPv4Gateways.
const TagIPv4Gateway state.TagResourceType = "vpc:ipv4gateway"

// IPv4Gateways by id.
var IPv4Gateways = state.NewTable(Schema, "IPv4Gateway", func(g *IPv4Gateway) string { return g.ID },
	state.IDForm("ipv4gw-", 18), state.Tagged(TagIPv4Gateway, ProductVPC, "IPV4GATEWAY"),
	state.Refers(RouteTables, func(g *IPv4Gateway) string { return g.RouteTableID }),
	state.Life(func(g *IPv4Gateway) *GatewayStatus { return &g.Status }))

var _ = moved(ProductVPC, "ipv4gateway", IPv4Gateways, func(i *IPv4Gateway) *string { return &i.ResourceGroupID })

// IPv4GatewaysByVPC finds the IPv4 gateway of a VPC, which has one at the most.
var IPv4GatewaysByVPC = IPv4Gateways.Index("vpc", func(g *IPv4Gateway) [][]string { return state.Key(g.VPCID) })

// IPv4GatewaysByRouteTable finds the gateway of a route table.
var IPv4GatewaysByRouteTable = IPv4Gateways.Index("routetable", func(g *IPv4Gateway) [][]string { return state.Key(g.RouteTableID) })

// IPv4GatewaysByRegion finds IPv4 gateways by account and region.
var IPv4GatewaysByRegion = IPv4Gateways.Index("region", func(g *IPv4Gateway) [][]string { return state.Key(g.AccountID, g.RegionID) })

// The stages of an IPv4 gateway.
var (
	StageIPv4GatewayCreating   = IPv4Gateways.Stage("ipv4gateway.creating", string(GatewayCreating), string(GatewayCreated), 3*time.Second)
	StageIPv4GatewayActivating = IPv4Gateways.Stage("ipv4gateway.activating", string(GatewayActivating), string(GatewayCreated), 3*time.Second)
	StageIPv4GatewayDeleting   = IPv4Gateways.Stage("ipv4gateway.deleting", string(GatewayDeleting), "", 3*time.Second)
)

var (
	_ = IPv4Gateways.With(goneAfter(IPv4Gateways, GatewayDeleting, func(g *IPv4Gateway) GatewayStatus { return g.Status }))
	_ = VPCs.With(state.OwnedBy(IPv4GatewaysByVPC, VPCs)) // by force a VPC goes with its gateways
)
