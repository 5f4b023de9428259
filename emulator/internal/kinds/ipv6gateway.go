package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// GatewayStatus is the status of a gateway of a VPC.
type GatewayStatus string

// The states of gateways.
const (
	GatewayCreating  GatewayStatus = "Creating"
	GatewayPending   GatewayStatus = "Pending"
	GatewayAvailable GatewayStatus = "Available"
	GatewayDeleting  GatewayStatus = "Deleting"
)

// IPv6Gateway is the way of a VPC to the IPv6 internet.
type IPv6Gateway struct {
	state.Owner
	ID              string
	VPCID           string
	Name            string `json:",omitempty"`
	Description     string `json:",omitempty"`
	Status          GatewayStatus
	ResourceGroupID string
	CreateTime      time.Time
}

// TagIPv6Gateway is the type of the tags of IPv6Gateways.
const TagIPv6Gateway state.TagResourceType = "vpc:ipv6gateway"

// IPv6Gateways by id.
var IPv6Gateways = state.NewTable(Schema, "IPv6Gateway", func(g *IPv6Gateway) string { return g.ID },
	state.IDForm("ipv6gw-", 18), state.Tagged(TagIPv6Gateway, ProductVPC, "IPV6GATEWAY"),
	state.Life(func(g *IPv6Gateway) *GatewayStatus { return &g.Status }))

var _ = moved(ProductVPC, "ipv6gateway", IPv6Gateways, func(i *IPv6Gateway) *string { return &i.ResourceGroupID })

// IPv6GatewaysByVPC finds the IPv6 gateway of a VPC, which has one at the most.
var IPv6GatewaysByVPC = IPv6Gateways.Index("vpc", func(g *IPv6Gateway) [][]string { return state.Key(g.VPCID) })

// IPv6GatewaysByRegion finds IPv6 gateways by account and region.
var IPv6GatewaysByRegion = IPv6Gateways.Index("region", func(g *IPv6Gateway) [][]string { return state.Key(g.AccountID, g.RegionID) })

// The stages of an IPv6 gateway.
var (
	StageIPv6GatewayPending  = IPv6Gateways.Stage("ipv6gateway.pending", string(GatewayPending), string(GatewayAvailable), 3*time.Second)
	StageIPv6GatewayDeleting = IPv6Gateways.Stage("ipv6gateway.deleting", string(GatewayDeleting), "", 3*time.Second)
)

var (
	_ = IPv6Gateways.With(goneAfter(IPv6Gateways, GatewayDeleting, func(g *IPv6Gateway) GatewayStatus { return g.Status }))
	_ = VPCs.With(state.OwnedBy(IPv6GatewaysByVPC, VPCs))
)
