package ecs

import (
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var securityGroupActions = []gateway.Action{
	gateway.Write("CreateSecurityGroup", createSecurityGroup).Refusing(errGroupTypeInvalid, errTooManyTags),
	gateway.Write("DeleteSecurityGroup", deleteSecurityGroup).Refusing(errRegionIDMissing),
	gateway.Write("ModifySecurityGroupAttribute", modifySecurityGroupAttribute),
	gateway.Read("DescribeSecurityGroups", describeSecurityGroups).Refusing(errGroupTypeUnknown, errRegionIDMissing, errTooManyTags),
	gateway.Read("DescribeSecurityGroupAttribute", describeSecurityGroupAttribute).Refusing(errRegionIDMissing),
}

// The refusals of this file.
var (
	errGroupNameMalformed = refusals.New("GroupNameMalformed", 400, "InvalidSecurityGroupName.Malformed",
		"Specified security group name is not valid.", "CLB-0300")
	errGroupDescriptionMalformed = refusals.New("GroupDescriptionMalformed", 400, "InvalidSecurityGroupDiscription.Malformed",
		"Specified security group description is not valid.", "CLB-0300")
	errGroupTypeInvalid = refusals.New("GroupTypeInvalid", 400, "InvalidParams.GroupType",
		"The specified security group type is not valid.", "CLB-0300")
	errGroupWithoutVPC = refusals.New("GroupWithoutVPC", 403, "InvalidVpcId.NotFound",
		"The VpcId must not empty when only support vpc vm.", "CLB-0300")
	errGroupQuotaExceeded = refusals.New("GroupQuotaExceeded", 403, "QuotaExceed.SecurityGroup",
		"The maximum number of security groups is reached.", "CLB-0300")
	errGroupInUse = refusals.New("GroupInUse", 403, "DependencyViolation",
		"There is still instance(s) in the specified security group.", "CLB-0300")
)

// groupEnterprise is the type of group whose rules name no other groups.
const groupEnterprise = "enterprise"

type createSecurityGroupRequest struct {
	tagged
	RegionID        string `rpc:"RegionId,required"`
	Description     string `rpc:"Description,len=2..256,invalid=GroupDescriptionMalformed"`
	ClientToken     string `rpc:"ClientToken"`
	Name            string `rpc:"SecurityGroupName,len=2..128,invalid=GroupNameMalformed"`
	VPCID           string `rpc:"VpcId"`
	Type            string `rpc:"SecurityGroupType,default=normal,enum=normal|enterprise,invalid=GroupTypeInvalid"`
	ResourceGroupID string `rpc:"ResourceGroupId"`
}

// Validate implements the gateway's check of shape.
func (r *createSecurityGroupRequest) Validate() error {
	switch {
	case tagging.HasAddress(r.Name):
		return errGroupNameMalformed
	case tagging.HasAddress(r.Description):
		return errGroupDescriptionMalformed
	case r.VPCID == "":
		return errGroupWithoutVPC
	}
	return r.checkNew()
}

type createSecurityGroupResponse struct {
	SecurityGroupID string `rpc:"SecurityGroupId"`
}

func createSecurityGroup(tx *state.Tx, req *createSecurityGroupRequest) (*createSecurityGroupResponse, error) {
	id, err := state.Once(tx, "CreateSecurityGroup", req.ClientToken, req, kinds.SecurityGroups, func() (string, error) { return putSecurityGroup(tx, req) })
	if err != nil {
		return nil, err
	}
	return &createSecurityGroupResponse{SecurityGroupID: id}, nil
}

// maxGroups limits the security groups of an account in a region.
const maxGroups = 100

func putSecurityGroup(tx *state.Tx, req *createSecurityGroupRequest) (string, error) {
	vpc, err := kinds.VPCs.Get(tx.View, req.VPCID)
	if err != nil {
		return "", err
	}
	if req.ResourceGroupID != "" { // else it is in none: CLB-0337
		if _, err := kinds.ResourceGroups.Get(tx.View, req.ResourceGroupID); err != nil {
			return "", err
		}
	}
	if kinds.SecurityGroupsByRegion.Count(tx.View, vpc.AccountID, vpc.RegionID) >= maxGroups {
		return "", errGroupQuotaExceeded
	}
	g := &kinds.SecurityGroup{
		Owner:           vpc.Owner,
		ID:              tx.NewID(kinds.SecurityGroups.Kind()),
		Name:            req.Name,
		Description:     req.Description,
		Type:            req.Type,
		VPCID:           vpc.ID,
		InnerAccess:     innerAccess(req.Type),
		ResourceGroupID: req.ResourceGroupID,
		CreateTime:      tx.Now(),
	}
	kinds.SecurityGroups.Put(tx, g)
	for _, t := range req.Tags {
		state.SetTag(tx, kinds.TagSecurityGroup, g.ID, t.key(), t.value())
	}
	return g.ID, nil
}

// innerAccess returns whether the members of a new group reach each other.
func innerAccess(groupType string) string {
	if groupType == groupEnterprise {
		return "Drop"
	}
	return "Accept"
}

type deleteSecurityGroupRequest struct {
	RegionID        string `rpc:"RegionId,required,missing=RegionIDMissing"`
	SecurityGroupID string `rpc:"SecurityGroupId,required"`
}

// deleteSecurityGroup refuses a group that has members or a Network Load Balancer,
// or that the rules of another name.
func deleteSecurityGroup(tx *state.Tx, req *deleteSecurityGroupRequest) (*gateway.Empty, error) {
	g, err := kinds.SecurityGroups.Get(tx.View, req.SecurityGroupID)
	if err != nil {
		return nil, err
	}
	_, joined := kinds.NLBLoadBalancersBySecurityGroup.First(tx.View, g.ID)
	if joined || len(membersOf(tx.View, g)) > 0 || isNamed(tx.View, g) {
		return nil, errGroupInUse
	}
	kinds.SecurityGroups.Remove(tx, g.ID)
	return &gateway.Empty{}, nil
}

func membersOf(v *state.View, g *kinds.SecurityGroup) []*kinds.NetworkInterface {
	var members []*kinds.NetworkInterface
	for n := range kinds.NetworkInterfacesByRegion.List(v, g.AccountID, g.RegionID) {
		if slices.Contains(n.SecurityGroupIDs, g.ID) {
			members = append(members, n)
		}
	}
	return members
}

func isNamed(v *state.View, g *kinds.SecurityGroup) bool {
	for other := range kinds.SecurityGroupsByRegion.List(v, g.AccountID, g.RegionID) {
		if slices.ContainsFunc(other.Permissions, func(p kinds.SecurityGroupPermission) bool { return p.SourceGroup == g.ID }) {
			return true
		}
	}
	return false
}

type modifySecurityGroupAttributeRequest struct {
	SecurityGroupID string `rpc:"SecurityGroupId,required"`
	Description     string `rpc:"Description,len=2..256,invalid=GroupDescriptionMalformed"`
	Name            string `rpc:"SecurityGroupName,len=2..128,invalid=GroupNameMalformed"`
	RegionID        string `rpc:"RegionId,required"`
}

func modifySecurityGroupAttribute(tx *state.Tx, req *modifySecurityGroupAttributeRequest) (*gateway.Empty, error) {
	err := kinds.SecurityGroups.Edit(tx, req.SecurityGroupID, func(g *kinds.SecurityGroup) error {
		if req.Name != "" {
			g.Name = req.Name
		}
		if req.Description != "" {
			g.Description = req.Description
		}
		return nil
	})
	return &gateway.Empty{}, err
}
