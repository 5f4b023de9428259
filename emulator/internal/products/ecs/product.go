// Package ecs owns the parts of the Ecs API, 2014-05-26, that a cloud controller and
// the tools around it call: instances, network interfaces and security groups. It must
// not know HTTP, signatures, formats or faults: a handler gets a transaction and a
// request, and returns a response or a fact.
//
// An instance has addresses and no machine behind it.
package ecs

import (
	_ "embed"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
)

// actionNames lists all actions of the API.
//
//go:embed actions.txt
var actionNames string

// Product returns the Ecs API.
func Product(deps gateway.Deps) *gateway.Product {
	return &gateway.Product{
		Name:     kinds.ProductECS,
		Version:  "2014-05-26",
		Title:    "ECS",
		Endpoint: "ECS",
		HostID:   "ecs.aliyuncs.com",
		Actions: gateway.Completed(actionNames,
			regionActions,
			instanceTypeActions,
			imageActions,
			instanceActions,
			instanceRunActions,
			instancePowerActions,
			instanceAttributeActions,
			diskActions,
			networkInterfaceActions(deps),
			networkInterfaceChangeActions,
			securityGroupActions,
			securityGroupRuleActions,
			securityGroupEgressActions,
			tagActions,
		),
		Errors: errorTable(),
		Denial: gateway.ErrorRow{Status: 403, Code: "Forbidden.RAM",
			Message: "User not authorized to operate on the specified resource, or this API doesn't support RAM.", Evidence: "CLB-0176"},
		Idle:    idle,
		Guesses: guesses,
		Resources: []gateway.Resource{
			{Parameter: "InstanceId", Type: "instance", Kind: kinds.Instances.Kind()},
			{Parameter: "SecurityGroupId", Type: "securitygroup", Kind: kinds.SecurityGroups.Kind()},
			{Parameter: "NetworkInterfaceId", Type: "eni", Kind: kinds.NetworkInterfaces.Kind()},
		},
	}
}
