package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// SecurityGroup is a set of firewall rules.
type SecurityGroup struct {
	state.Owner
	ID              string
	Name            string `json:",omitempty"`
	Description     string `json:",omitempty"`
	Type            string
	VPCID           string `json:",omitempty"`
	InnerAccess     string
	ResourceGroupID string
	Permissions     []SecurityGroupPermission `json:",omitempty"`
	CreateTime      time.Time
}

// SecurityGroupPermission is one rule of a security group.
type SecurityGroupPermission struct {
	RuleID       string
	Direction    string // ingress or egress
	IPProtocol   string
	PortRange    string
	SourceCIDR   string `json:",omitempty"`
	DestCIDR     string `json:",omitempty"`
	IPv6Source   string `json:",omitempty"`
	IPv6Dest     string `json:",omitempty"`
	SourceGroup  string `json:",omitempty"`
	DestGroup    string `json:",omitempty"` // of an egress rule
	SourcePort   string `json:",omitempty"`
	Policy       string
	Priority     string
	NicType      string
	PrefixListID string `json:",omitempty"`
	Description  string `json:",omitempty"`
	CreateTime   time.Time
}

// TagSecurityGroup is the type of the tags of SecurityGroups.
const TagSecurityGroup state.TagResourceType = "ecs:securitygroup"

// SecurityGroups by id.
var SecurityGroups = state.NewTable(Schema, "SecurityGroup", func(g *SecurityGroup) string { return g.ID },
	state.IDForm("sg-", 17), state.Tagged(TagSecurityGroup, ProductECS, "securitygroup"),
	state.Refers(VPCs, func(g *SecurityGroup) string { return g.VPCID }))

// SecurityGroupsByRegion finds groups by account and region.
var SecurityGroupsByRegion = SecurityGroups.Index("region", func(g *SecurityGroup) [][]string {
	return state.Key(g.AccountID, g.RegionID)
})
