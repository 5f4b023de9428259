package ecs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var securityGroupEgressActions = []gateway.Action{
	gateway.Write("AuthorizeSecurityGroupEgress", authorizeSecurityGroupEgress),
	gateway.Write("RevokeSecurityGroupEgress", revokeSecurityGroupEgress),
	gateway.Write("ModifySecurityGroupEgressRule", modifySecurityGroupEgressRule),
	gateway.Write("ModifySecurityGroupPolicy", modifySecurityGroupPolicy).Refusing(errRegionIDMissing),
}

// The refusals of this file.
var (
	errDestMissing = refusals.New("DestMissing", 400, "MissingParameter.Dest",
		"One of the parameters DestCidrIp, Ipv6DestCidrIp, DestGroupId or DestPrefixListId in %s must be specified.", "CLB-0388")
)

// egress is a rule for what goes out, as requests write it.
type egress struct {
	Policy                string `rpc:"Policy"`
	Priority              string `rpc:"Priority"`
	IPProtocol            string `rpc:"IpProtocol"`
	DestCIDRIP            string `rpc:"DestCidrIp"`
	IPv6DestCIDRIP        string `rpc:"Ipv6DestCidrIp"`
	DestGroupID           string `rpc:"DestGroupId"`
	DestPrefixListID      string `rpc:"DestPrefixListId"`
	DestGroupOwnerAccount string `rpc:"DestGroupOwnerAccount"`
	DestGroupOwnerID      int64  `rpc:"DestGroupOwnerId"`
	PortRange             string `rpc:"PortRange"`
	SourceCIDRIP          string `rpc:"SourceCidrIp"`
	IPv6SourceCIDRIP      string `rpc:"Ipv6SourceCidrIp"`
	SourcePortRange       string `rpc:"SourcePortRange"`
	NicType               string `rpc:"NicType"`
	Description           string `rpc:"Description"`
}

// rule checks the permission and returns it as stored. What a rule for what comes
// in says of its source, this one says of its destination.
func (e egress) rule() (kinds.SecurityGroupPermission, error) {
	out := permission{
		Policy: e.Policy, Priority: e.Priority, IPProtocol: e.IPProtocol, PortRange: e.PortRange, SourcePortRange: e.SourcePortRange,
		SourceCIDRIP: e.SourceCIDRIP, IPv6SourceCIDRIP: e.IPv6SourceCIDRIP, DestCIDRIP: e.DestCIDRIP, IPv6DestCIDRIP: e.IPv6DestCIDRIP,
		NicType: e.NicType, Description: e.Description,
	}
	switch {
	case e.DestCIDRIP == "" && e.IPv6DestCIDRIP == "" && e.DestGroupID == "" && e.DestPrefixListID == "":
		return kinds.SecurityGroupPermission{}, errDestMissing.Of("Permissions")
	case e.DestPrefixListID != "":
		return kinds.SecurityGroupPermission{}, errPrefixListNotFound.Of(e.DestPrefixListID)
	}
	rule, err := out.kept()
	rule.Direction, rule.DestGroup = directionEgress, e.DestGroupID
	return rule, err
}

// egressRules names a group and rules, in both ways of rulesRequest.
type egressRules struct {
	egress
	RegionID        string   `rpc:"RegionId,required"`
	ClientToken     string   `rpc:"ClientToken"`
	SecurityGroupID string   `rpc:"SecurityGroupId,required"`
	Permissions     []egress `rpc:"Permissions,max=100"`
}

func (r *egressRules) rules() ([]kinds.SecurityGroupPermission, error) {
	return rulesOf(r.egress, r.Permissions)
}

type authorizeSecurityGroupEgressRequest struct{ egressRules }

// authorizeSecurityGroupEgress adds the rules that the group does not have yet, as
// AuthorizeSecurityGroup does. Evidence CLB-0388.
func authorizeSecurityGroupEgress(tx *state.Tx, req *authorizeSecurityGroupEgressRequest) (*gateway.Empty, error) {
	rules, err := req.rules()
	if err != nil {
		return nil, err
	}
	return &gateway.Empty{}, state.EditOnce(tx, "AuthorizeSecurityGroupEgress", req.ClientToken, req, kinds.SecurityGroups, req.SecurityGroupID, func(g *kinds.SecurityGroup) error {
		return addRules(tx, g, rules)
	})
}

type revokeSecurityGroupEgressRequest struct {
	egressRules
	RuleIDs []string `rpc:"SecurityGroupRuleId,max=100"`
}

func revokeSecurityGroupEgress(tx *state.Tx, req *revokeSecurityGroupEgressRequest) (*gateway.Empty, error) {
	remove, err := removal(req.RuleIDs, req.egress, req.Permissions)
	if err != nil {
		return nil, err
	}
	return &gateway.Empty{}, state.EditOnce(tx, "RevokeSecurityGroupEgress", req.ClientToken, req, kinds.SecurityGroups, req.SecurityGroupID, remove)
}

type modifySecurityGroupEgressRuleRequest struct {
	egress
	ruleToModify
}

// modifySecurityGroupEgressRule changes the rule with an id, or the description of the
// rule that does what the request says, as ModifySecurityGroupRule does.
func modifySecurityGroupEgressRule(tx *state.Tx, req *modifySecurityGroupEgressRuleRequest) (*gateway.Empty, error) {
	if req.egress == (egress{}) {
		return nil, errNothingToModify
	}
	return &gateway.Empty{}, state.EditOnce(tx, "ModifySecurityGroupEgressRule", req.ClientToken, req, kinds.SecurityGroups, req.SecurityGroupID, func(g *kinds.SecurityGroup) error {
		g.Permissions = slices.Clone(g.Permissions)
		return req.modify(tx.View, g)
	})
}

func (r *modifySecurityGroupEgressRuleRequest) modify(v *state.View, g *kinds.SecurityGroup) error {
	if r.RuleID == "" {
		return describeRule(g, r.egress, r.Description)
	}
	n := ruleByID(g.Permissions, r.RuleID)
	if n < 0 || g.Permissions[n].Direction != directionEgress {
		return errRuleNotFound.Of(r.RuleID)
	}
	rule, err := r.over(g.Permissions[n]).rule()
	if err != nil {
		return err
	}
	return replaceAt(v, g, n, rule)
}

// over returns the request, completed from the rule. A new destination replaces the old one, of
// whatever kind that was.
func (e egress) over(old kinds.SecurityGroupPermission) egress {
	e.Policy, e.Priority = cmp.Or(e.Policy, old.Policy), cmp.Or(e.Priority, old.Priority)
	e.IPProtocol, e.PortRange = cmp.Or(e.IPProtocol, old.IPProtocol), cmp.Or(e.PortRange, old.PortRange)
	e.SourcePortRange, e.Description = cmp.Or(e.SourcePortRange, old.SourcePort), cmp.Or(e.Description, old.Description)
	if e.DestCIDRIP == "" && e.IPv6DestCIDRIP == "" && e.DestGroupID == "" && e.DestPrefixListID == "" {
		e.DestCIDRIP, e.IPv6DestCIDRIP, e.DestGroupID = old.DestCIDR, old.IPv6Dest, old.DestGroup
	}
	if e.SourceCIDRIP == "" && e.IPv6SourceCIDRIP == "" {
		e.SourceCIDRIP, e.IPv6SourceCIDRIP = old.SourceCIDR, old.IPv6Source
	}
	return e
}

type modifySecurityGroupPolicyRequest struct {
	RegionID          string `rpc:"RegionId,required,missing=RegionIDMissing"`
	SecurityGroupID   string `rpc:"SecurityGroupId,required"`
	InnerAccessPolicy string `rpc:"InnerAccessPolicy,required"`
	ClientToken       string `rpc:"ClientToken"`
}

// modifySecurityGroupPolicy sets whether the members of a group reach each other; those
// of an enterprise group never do by the group alone.
func modifySecurityGroupPolicy(tx *state.Tx, req *modifySecurityGroupPolicyRequest) (*gateway.Empty, error) {
	policies := []string{policyAccept, policyDrop}
	n := slices.IndexFunc(policies, func(p string) bool { return strings.EqualFold(p, req.InnerAccessPolicy) })
	if n < 0 {
		return nil, errPolicyMalformed
	}
	return &gateway.Empty{}, state.EditOnce(tx, "ModifySecurityGroupPolicy", req.ClientToken, req, kinds.SecurityGroups, req.SecurityGroupID, func(g *kinds.SecurityGroup) error {
		if g.Type == groupEnterprise {
			return errEnterpriseGroup
		}
		g.InnerAccess = policies[n]
		return nil
	})
}
