// Package vpc owns the parts of the Vpc API, 2016-04-28, that a cloud controller
// and the tools around it call: VPCs, vSwitches, route tables with their entries,
// elastic IP addresses and the bandwidth that they share. It must not know HTTP,
// signatures, formats or faults: a handler gets a transaction and a request, and
// returns a response or a fact.
package vpc

import (
	_ "embed"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
)

// actionNames lists all actions of the API.
//
//go:embed actions.txt
var actionNames string

// Product returns the Vpc API.
func Product(gateway.Deps) *gateway.Product {
	return &gateway.Product{
		Name:     kinds.ProductVPC,
		Version:  "2016-04-28",
		Title:    "VPC",
		Endpoint: "VPC",
		HostID:   "vpc.aliyuncs.com",
		Actions: gateway.Completed(actionNames,
			vpcActions,
			vSwitchActions,
			routeTableActions,
			routeTablesActions,
			routeEntryActions,
			routeEntriesActions,
			eipActions,
			eipAssociationActions,
			tagActions,
			modifyActions,
			bandwidthPackageActions,
			bandwidthPackageIPActions,
			resourceGroupActions,
			deletionProtectionActions,
			ipv6GatewayActions,
			natGatewayActions,
		),
		Errors: errorTable(),
		Denial: gateway.ErrorRow{Status: 403, Code: "Forbidden.RAM",
			Message: "User not authorized to operate on the specified resource, or this API doesn't support RAM.", Evidence: "CLB-0176"},
		Idle: idle,
		Resources: []gateway.Resource{
			{Parameter: "VpcId", Type: "vpc", Kind: kinds.VPCs.Kind()},
			{Parameter: "VSwitchId", Type: "vswitch", Kind: kinds.VSwitches.Kind()},
			{Parameter: "RouteTableId", Type: "routetable", Kind: kinds.RouteTables.Kind()},
			{Parameter: "BandwidthPackageId", Type: "combandwidthpackage", Kind: kinds.CommonBandwidthPackages.Kind()},
			{Parameter: "Ipv6GatewayId", Type: "ipv6gateway", Kind: kinds.IPv6Gateways.Kind()},
			{Parameter: "NatGatewayId", Type: "natgateway", Kind: kinds.NATGateways.Kind()},
			{Parameter: "AllocationId", Type: "eip", Kind: kinds.EIPs.Kind()},
		},
	}
}
