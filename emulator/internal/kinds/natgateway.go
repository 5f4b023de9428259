package kinds

import (
	"strings"
	"time"

	"github.com/clbemu/clbemu/state"
)

// NATGateway translates the addresses of what leaves a VPC.
type NATGateway struct {
	state.Owner
	ID               string
	VPCID            string
	VSwitchID        string
	PrivateIPAddress string
	Name             string `json:",omitempty"`
	Description      string `json:",omitempty"`
	Status           GatewayStatus
	// NetworkType is internet, or intranet for one between VPCs.
	NetworkType        string
	InternetChargeType string
	Spec               string `json:",omitempty"`
	EIPBindMode        string
	ICMPReplyDisabled  bool `json:",omitempty"`
	DeletionProtection bool `json:",omitempty"`
	ResourceGroupID    string
	CreateTime         time.Time
}

// TableID returns the id of the gateway's table of the kind that has the prefix.
func (g *NATGateway) TableID(prefix string) string { return prefix + strings.TrimPrefix(g.ID, "ngw-") }

// TagNATGateway is the type of the tags of NATGateways.
const TagNATGateway state.TagResourceType = "vpc:natgateway"

// NATGateways by id.
var NATGateways = state.NewTable(Schema, "NATGateway", func(g *NATGateway) string { return g.ID },
	state.IDForm("ngw-", 18), state.Tagged(TagNATGateway, ProductVPC, "NATGATEWAY"),
	state.Belongs(VPCs, func(g *NATGateway) string { return g.VPCID }),
	state.Belongs(VSwitches, func(g *NATGateway) string { return g.VSwitchID }),
	state.Life(func(g *NATGateway) *GatewayStatus { return &g.Status }))

// NATGatewaysByVPC finds NAT gateways by VPC.
var NATGatewaysByVPC = NATGateways.Index("vpc", func(g *NATGateway) [][]string { return state.Key(g.VPCID) })

// NATGatewaysByRegion finds NAT gateways by account and region.
var NATGatewaysByRegion = NATGateways.Index("region", func(g *NATGateway) [][]string { return state.Key(g.AccountID, g.RegionID) })

var _ = NATGateways.With(
	hasAddresses(NATGateways, func(g *NATGateway) []string { return []string{g.PrivateIPAddress} }),
	goneAfter(NATGateways, GatewayDeleting, func(g *NATGateway) GatewayStatus { return g.Status }))

// The stages of a NAT gateway.
var (
	StageNATGatewayCreating = NATGateways.Stage("natgateway.creating", string(GatewayCreating), string(GatewayAvailable), time.Minute)
	StageNATGatewayDeleting = NATGateways.Stage("natgateway.deleting", string(GatewayDeleting), "", 10*time.Second)
)

// QuotaNATGateways limits a VPC: CLB-0561.
var QuotaNATGateways = state.NewQuota(Schema, "natgw_quota_natgws_num", 5,
	state.Of(NATGateways, func(g *NATGateway, add func(string, int)) { add(g.VPCID, 1) }))
