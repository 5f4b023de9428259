package ecs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var securityGroupRuleActions = []gateway.Action{
	gateway.Write("AuthorizeSecurityGroup", authorizeSecurityGroup),
	gateway.Write("RevokeSecurityGroup", revokeSecurityGroup),
	gateway.Write("ModifySecurityGroupRule", modifySecurityGroupRule),
}

// The refusals of this file.
var (
	errPermissionsAndOthers = refusals.New("PermissionsAndOthers", 400, "InvalidParam.Permissions",
		"The specified parameter Permissions cannot coexist with other parameters.", "CLB-0300")
	errPermissionTwice = refusals.New("PermissionTwice", 400, "InvalidParam.DuplicatePermissions",
		"There are duplicate permissions in the specified parameter Permissions.", "CLB-0300")
	errNicTypeFixed = refusals.New("NicTypeFixed", 400, "InvalidOperation.ModifyNicType",
		"NicType is not allowed to modify.", "CLB-0300")
	errRuleQuotaExceeded = refusals.New("RuleQuotaExceeded", 403, "AuthorizationLimitExceed",
		"The limit of authorization records in the security group reaches.", "CLB-0300")
	errSourceGroupIsItself = refusals.New("SourceGroupIsItself", 403, "InvalidParamter.Conflict",
		"The specified SecurityGroupId should be different from the SourceGroupId.", "CLB-0300")
	errEnterpriseGroup = refusals.New("EnterpriseGroup", 400, "InvalidGroupParameter.OperationDenied",
		"The attributes Policy, SourceGroupId, DestGroupId of enterprise level security groups are not allowed to be set or modified.", "CLB-0300")
	errEnterpriseSourceGroup = refusals.New("EnterpriseSourceGroup", 400, "InvalidGroupAuthParameter.OperationDenied",
		"The security group can not authorize to enterprise level security group.", "CLB-0300")
	errSourceGroupNotFound = refusals.New("SourceGroupNotFound", 404, "InvalidSourceGroupId.NotFound",
		"The SourceGroupId provided does not exist in our records.", "CLB-0300")
	errSourceGroupOutsideVPC = refusals.New("SourceGroupOutsideVPC", 400, "InvalidSourceGroupId.Mismatch",
		"Specified security group and source group are not in the same VPC.", "CLB-0300")
	errSourceKindFixed = refusals.New("SourceKindFixed", 400, "InvalidOperation.ModifySgRuleEntityType",
		"The source or destination type of the rules cannot be modified.", "CLB-0300")
	errRuleIDTwice = refusals.New("RuleIDTwice", 400, "InvalidParam.SecurityGroupRuleIdRepeated",
		"The specified parameter SecurityGroupRuleId is repeated.", "CLB-0300")
	errRuleNotFound = refusals.New("RuleNotFound", 404, "InvalidSecurityGroupRuleId.NotFound",
		"The specified SecurityGroupRuleId is not exists.", "CLB-0300")
	errNoSuchRule = refusals.New("NoSuchRule", 404, "SecurityGroupRule.NotFound",
		"The target security group rule not exist.", "CLB-0300")
	errNothingToModify = refusals.New("NothingToModify", 400, "InvalidParam.InvalidModifyRuleRequest",
		"The request parameters are illegal.", "CLB-0300")
)

// rulesRequest names a group and rules: a list of them, or, as older clients do,
// one in the parameters of the call itself.
type rulesRequest struct {
	permission
	RegionID        string       `rpc:"RegionId,required"`
	ClientToken     string       `rpc:"ClientToken"`
	SecurityGroupID string       `rpc:"SecurityGroupId,required"`
	Permissions     []permission `rpc:"Permissions,max=100"`
}

// rules returns the rules as stored.
func (r *rulesRequest) rules() ([]kinds.SecurityGroupPermission, error) {
	return rulesOf(r.permission, r.Permissions)
}

// writtenRule is a rule of either direction as requests write it.
type writtenRule interface {
	comparable
	rule() (kinds.SecurityGroupPermission, error)
}

// rulesOf returns the rules of a list, or the one that the call has in its own parameters.
func rulesOf[R writtenRule](one R, wanted []R) ([]kinds.SecurityGroupPermission, error) {
	var none R
	if one != none {
		if len(wanted) > 0 {
			return nil, errPermissionsAndOthers
		}
		wanted = []R{one}
	}
	if len(wanted) == 0 {
		return nil, errParameterMissing.Of("Permissions")
	}
	var rules []kinds.SecurityGroupPermission
	for _, p := range wanted {
		rule, err := p.rule()
		if err != nil {
			return nil, err
		}
		if findRule(rules, rule) >= 0 {
			return nil, errPermissionTwice
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// findRule returns the place of the rule that does the same; its description does
// not matter.
func findRule(rules []kinds.SecurityGroupPermission, rule kinds.SecurityGroupPermission) int {
	return slices.IndexFunc(rules, func(other kinds.SecurityGroupPermission) bool {
		other.RuleID, other.CreateTime, other.Description = rule.RuleID, rule.CreateTime, rule.Description
		return other == rule
	})
}

type authorizeSecurityGroupRequest struct{ rulesRequest }

// maxRules limits the rules of a group.
const maxRules = 200

// authorizeSecurityGroup adds the rules that the group does not have yet: one
// that it has is no error; evidence CLB-0336.
func authorizeSecurityGroup(tx *state.Tx, req *authorizeSecurityGroupRequest) (*gateway.Empty, error) {
	rules, err := req.rules()
	if err != nil {
		return nil, err
	}
	return &gateway.Empty{}, state.EditOnce(tx, "AuthorizeSecurityGroup", req.ClientToken, req, kinds.SecurityGroups, req.SecurityGroupID, func(g *kinds.SecurityGroup) error {
		return addRules(tx, g, rules)
	})
}

func addRules(tx *state.Tx, g *kinds.SecurityGroup, rules []kinds.SecurityGroupPermission) error {
	kept := slices.Clone(g.Permissions)
	for _, rule := range rules {
		if err := checkSourceGroup(tx.View, g, rule); err != nil {
			return err
		}
		if findRule(kept, rule) >= 0 {
			continue
		}
		rule.RuleID = newRuleID(tx)
		rule.CreateTime = tx.Now()
		kept = append(kept, rule)
	}
	if len(kept) > maxRules {
		return errRuleQuotaExceeded
	}
	g.Permissions = kept
	return nil
}

// newRuleID mints the id of a rule, which is part of its group here.
func newRuleID(tx *state.Tx) string {
	return "sgr-" + strings.TrimPrefix(tx.NewID(kinds.SecurityGroups.Kind()), "sg-")
}

// checkSourceGroup looks at the group on the other side: a rule may name another group of the same VPC, and no group
// of the enterprise type is on either side.
func checkSourceGroup(v *state.View, g *kinds.SecurityGroup, rule kinds.SecurityGroupPermission) error {
	other := cmp.Or(rule.SourceGroup, rule.DestGroup)
	switch other {
	case "":
		return nil
	case g.ID:
		return errSourceGroupIsItself
	}
	if g.Type == groupEnterprise {
		return errEnterpriseGroup
	}
	source, ok := kinds.SecurityGroups.Find(v, other)
	switch {
	case !ok:
		return errSourceGroupNotFound.Of(other)
	case source.VPCID != g.VPCID:
		return errSourceGroupOutsideVPC.Of(other)
	case source.Type == groupEnterprise:
		return errEnterpriseSourceGroup
	}
	return nil
}

type revokeSecurityGroupRequest struct {
	rulesRequest
	RuleIDs []string `rpc:"SecurityGroupRuleId,max=100"`
}

// revokeSecurityGroup takes rules away, by id or by what they do. A rule that matches none is no
// error; evidence CLB-0336.
func revokeSecurityGroup(tx *state.Tx, req *revokeSecurityGroupRequest) (*gateway.Empty, error) {
	remove, err := removal(req.RuleIDs, req.permission, req.Permissions)
	if err != nil {
		return nil, err
	}
	return &gateway.Empty{}, state.EditOnce(tx, "RevokeSecurityGroup", req.ClientToken, req, kinds.SecurityGroups, req.SecurityGroupID, remove)
}

// removal returns what takes the rules of a request out of a group.
func removal[R writtenRule](ruleIDs []string, one R, list []R) (func(*kinds.SecurityGroup) error, error) {
	var none R
	if len(ruleIDs) == 0 {
		rules, err := rulesOf(one, list)
		return func(g *kinds.SecurityGroup) error {
			g.Permissions = slices.DeleteFunc(slices.Clone(g.Permissions), func(p kinds.SecurityGroupPermission) bool {
				return findRule(rules, p) >= 0
			})
			return nil
		}, err
	}
	if len(list) > 0 || one != none {
		return nil, errPermissionsAndOthers
	}
	ids := slices.Sorted(slices.Values(ruleIDs))
	if len(slices.Compact(ids)) != len(ruleIDs) {
		return nil, errRuleIDTwice
	}
	return func(g *kinds.SecurityGroup) error { return removeByID(g, ruleIDs) }, nil
}

func removeByID(g *kinds.SecurityGroup, ids []string) error {
	kept := slices.Clone(g.Permissions)
	for _, id := range ids {
		n := ruleByID(kept, id)
		if n < 0 {
			return errRuleNotFound.Of(id)
		}
		kept = slices.Delete(kept, n, n+1)
	}
	g.Permissions = kept
	return nil
}

func ruleByID(rules []kinds.SecurityGroupPermission, id string) int {
	return slices.IndexFunc(rules, func(p kinds.SecurityGroupPermission) bool { return p.RuleID == id })
}

// ruleToModify names a rule of a group by its id, or the group alone.
type ruleToModify struct {
	RegionID        string `rpc:"RegionId,required"`
	ClientToken     string `rpc:"ClientToken"`
	SecurityGroupID string `rpc:"SecurityGroupId,required"`
	RuleID          string `rpc:"SecurityGroupRuleId"`
}

type modifySecurityGroupRuleRequest struct {
	permission
	ruleToModify
}

// modifySecurityGroupRule changes the rule with an id, or the description of the
// rule that does what the request says.
func modifySecurityGroupRule(tx *state.Tx, req *modifySecurityGroupRuleRequest) (*gateway.Empty, error) {
	if req.permission == (permission{}) {
		return nil, errNothingToModify
	}
	return &gateway.Empty{}, state.EditOnce(tx, "ModifySecurityGroupRule", req.ClientToken, req, kinds.SecurityGroups, req.SecurityGroupID, func(g *kinds.SecurityGroup) error {
		g.Permissions = slices.Clone(g.Permissions)
		if req.RuleID == "" {
			return describeRule(g, req.permission, req.Description)
		}
		return replaceRule(tx.View, g, req)
	})
}

// describeRule changes the description of the rule that does what a request says.
func describeRule[R writtenRule](g *kinds.SecurityGroup, p R, description string) error {
	rule, err := p.rule()
	if err != nil {
		return err
	}
	n := findRule(g.Permissions, rule)
	if n < 0 {
		return errNoSuchRule
	}
	g.Permissions[n].Description = description
	return nil
}

// replaceRule overlays the rule with what the request has. Its kind of source,
// a block of addresses or a group, stays.
func replaceRule(v *state.View, g *kinds.SecurityGroup, req *modifySecurityGroupRuleRequest) error {
	n := ruleByID(g.Permissions, req.RuleID)
	if n < 0 {
		return errRuleNotFound.Of(req.RuleID)
	}
	old := g.Permissions[n]
	if old.Direction != directionIngress { // ModifySecurityGroupEgressRule is for those
		return errRuleNotFound.Of(req.RuleID)
	}
	if req.NicType != "" && req.NicType != old.NicType {
		return errNicTypeFixed
	}
	if (req.SourceGroupID != "") != (old.SourceGroup != "") && req.namesSource() {
		return errSourceKindFixed
	}
	rule, err := req.over(old).rule()
	if err != nil {
		return err
	}
	return replaceAt(v, g, n, rule)
}

// replaceAt replaces a rule of a group, whose id, time and direction stay.
func replaceAt(v *state.View, g *kinds.SecurityGroup, n int, rule kinds.SecurityGroupPermission) error {
	if err := checkSourceGroup(v, g, rule); err != nil {
		return err
	}
	old := g.Permissions[n]
	rule.RuleID, rule.CreateTime, rule.Direction = old.RuleID, old.CreateTime, old.Direction
	g.Permissions[n] = rule
	return nil
}

func (r *modifySecurityGroupRuleRequest) namesSource() bool {
	return r.SourceCIDRIP != "" || r.IPv6SourceCIDRIP != "" || r.SourceGroupID != "" || r.SourcePrefixListID != ""
}

// over returns the request, completed from the rule. A new source or destination replaces the old
// one, of whichever family that was.
func (r *modifySecurityGroupRuleRequest) over(old kinds.SecurityGroupPermission) permission {
	p := r.permission
	p.Policy = cmp.Or(p.Policy, old.Policy)
	p.Priority = cmp.Or(p.Priority, old.Priority)
	p.IPProtocol = cmp.Or(p.IPProtocol, old.IPProtocol)
	p.PortRange = cmp.Or(p.PortRange, old.PortRange)
	p.SourcePortRange = cmp.Or(p.SourcePortRange, old.SourcePort)
	p.Description = cmp.Or(p.Description, old.Description)
	if !r.namesSource() {
		p.SourceCIDRIP, p.IPv6SourceCIDRIP, p.SourceGroupID = old.SourceCIDR, old.IPv6Source, old.SourceGroup
	}
	if p.DestCIDRIP == "" && p.IPv6DestCIDRIP == "" {
		p.DestCIDRIP, p.IPv6DestCIDRIP = old.DestCIDR, old.IPv6Dest
	}
	return p
}
