package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// VSwitch is a subnet of a VPC in one zone.
type VSwitch struct {
	state.Owner
	ID              string
	VPCID           string
	ZoneID          string
	CIDRBlock       string
	IPv6CIDRBlock   string `json:",omitempty"`
	Name            string `json:",omitempty"`
	Description     string `json:",omitempty"`
	RouteTableID    string
	ResourceGroupID string
	IsDefault       bool `json:",omitempty"`
	CreateTime      time.Time
}

// TagVSwitch is the type of the tags of VSwitches.
const TagVSwitch state.TagResourceType = "vpc:vswitch"

// VSwitches by id.
var VSwitches = state.NewTable(Schema, "VSwitch", func(s *VSwitch) string { return s.ID },
	state.IDForm("vsw-", 18), state.Tagged(TagVSwitch, ProductVPC, "VSWITCH"),
	state.Belongs(VPCs, func(s *VSwitch) string { return s.VPCID }),
	state.Refers(RouteTables, func(s *VSwitch) string { return s.RouteTableID }))

// VSwitchesByRegion finds vSwitches by account and region.
var VSwitchesByRegion = VSwitches.Index("region", func(s *VSwitch) [][]string { return state.Key(s.AccountID, s.RegionID) })

// VSwitchesByVPC finds vSwitches by VPC.
var VSwitchesByVPC = VSwitches.Index("vpc", func(s *VSwitch) [][]string { return state.Key(s.VPCID) })

// QuotaVSwitches limits a VPC.
var QuotaVSwitches = state.NewQuota(Schema, "vpc_quota_vswitches_num", 150,
	state.Of(VSwitches, func(s *VSwitch, add func(string, int)) { add(s.VPCID, 1) }))
