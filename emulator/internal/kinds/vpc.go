package kinds

import (
	"net/netip"
	"slices"
	"time"

	"github.com/clbemu/clbemu/state"
)

// VPC is a virtual network.
type VPC struct {
	state.Owner
	ID                  string
	Name                string `json:",omitempty"`
	Description         string `json:",omitempty"`
	CIDRBlock           string
	SecondaryCIDRBlocks []string `json:",omitempty"`
	UserCIDRs           []string `json:",omitempty"`
	IPv6CIDRBlock       string   `json:",omitempty"`
	DNSHostnames        bool     `json:",omitempty"`
	VRouterID           string
	ResourceGroupID     string
	IsDefault           bool `json:",omitempty"`
	CreateTime          time.Time
}

// Holds reports whether an address lies in one of the VPC's blocks.
func (v *VPC) Holds(ip netip.Addr) bool {
	blocks := slices.Concat([]string{v.CIDRBlock, v.IPv6CIDRBlock}, v.SecondaryCIDRBlocks, v.UserCIDRs)
	return slices.ContainsFunc(blocks, func(text string) bool {
		block, err := netip.ParsePrefix(text)
		return err == nil && block.Contains(ip)
	})
}

// TagVPC is the type of the tags of VPCs.
const TagVPC state.TagResourceType = "vpc:vpc"

// VPCs by id.
var VPCs = state.NewTable(Schema, "VPC", func(v *VPC) string { return v.ID }, state.IDForm("vpc-", 18), state.Tagged(TagVPC, ProductVPC, "VPC"))

var _ = moved(ProductVPC, "vpc", VPCs, func(v *VPC) *string { return &v.ResourceGroupID }, moveRouteTables)

// VPCsByRegion finds VPCs by account and region.
var VPCsByRegion = VPCs.Index("region", func(v *VPC) [][]string { return state.Key(v.AccountID, v.RegionID) })
