package clb

import (
	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/state"
)

var resourceGroupActions = []gateway.Action{
	change("MoveResourceGroup", moveResourceGroup),
}

type moveResourceGroupRequest struct {
	RegionID           string `rpc:"RegionId,required"`
	ResourceID         string `rpc:"ResourceId,required"`
	ResourceType       string `rpc:"ResourceType,required,enum=loadbalancer|certificate|acl"`
	NewResourceGroupID string `rpc:"NewResourceGroupId,required"`
	ResourceGroupID    string `rpc:"ResourceGroupId"` // where it was, which is not looked at
}

func (req *moveResourceGroupRequest) LoadBalancerOf(*state.View) (string, error) {
	if req.ResourceType != "loadbalancer" {
		return noLoadBalancer, nil
	}
	return req.ResourceID, nil
}

func moveResourceGroup(tx *state.Tx, req *moveResourceGroupRequest) (*gateway.Empty, error) {
	group, err := cloud.ResourceGroups.Get(tx.View, req.NewResourceGroupID)
	if err != nil {
		return nil, err
	}
	switch req.ResourceType {
	case "loadbalancer":
		err = cloud.LoadBalancers.Edit(tx, req.ResourceID, func(lb *cloud.LoadBalancer) error {
			lb.ResourceGroupID = group.ID
			return nil
		})
	case "acl":
		err = cloud.AccessControlLists.Edit(tx, req.ResourceID, func(acl *cloud.AccessControlList) error {
			acl.ResourceGroupID = group.ID
			return nil
		})
	default:
		err = moveCertificate(tx, req.ResourceID, group.ID)
	}
	return &gateway.Empty{}, err
}

// moveCertificate moves a server or a CA certificate: their ids have one form.
func moveCertificate(tx *state.Tx, id, group string) error {
	if _, ok := cloud.CACertificates.Find(tx.View, id); ok {
		return cloud.CACertificates.Edit(tx, id, func(c *cloud.CACertificate) error {
			c.ResourceGroupID = group
			return nil
		})
	}
	return cloud.ServerCertificates.Edit(tx, id, func(c *cloud.ServerCertificate) error {
		c.ResourceGroupID = group
		return nil
	})
}
