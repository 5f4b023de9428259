// Package resourcemanager owns the part of the ResourceManager API, 2020-03-31, for the
// resource groups of an account. It must not know HTTP, signatures, formats or faults: a
// handler gets a transaction and a request, and returns a response or a fact.
package resourcemanager

import (
	_ "embed"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// actionNames lists all actions of the API.
//
//go:embed actions.txt
var actionNames string

// refusals are the reasons of this product, declared next to the code that refuses.
var refusals gateway.Refusals

var errorTable = refusals.Table([]gateway.ErrorRow{
	{Fact: state.QuotaExceeded, Kind: state.Kind(kinds.QuotaTags), Status: 409, Code: "LimitExceeded.Tag",
		Message: "The number of tags exceeds the limit.", Evidence: "CLB-0527"},
	{Fact: listing.BadToken, Status: 400, Code: "InvalidParameter.NextToken",
		Message: "The specified parameter NextToken is not valid.", Evidence: "CLB-0527"},
	{Fact: state.NotFound, Kind: kinds.ResourceGroups.Kind(), Status: 404, Code: "EntityNotExists.ResourceGroup",
		Message: "The specified resource group does not exist.", Evidence: "CLB-0373"},
})

// Product returns the ResourceManager API.
func Product(gateway.Deps) *gateway.Product {
	return &gateway.Product{
		Name:     kinds.ProductResourceManager,
		Version:  "2020-03-31",
		Title:    "ResourceManager",
		Endpoint: "RESOURCEMANAGER",
		HostID:   "resourcemanager.aliyuncs.com",
		Actions:  gateway.Completed(actionNames, resourceGroupActions, tagActions),
		Errors:   errorTable(),
		Denial: gateway.ErrorRow{Status: 403, Code: "NoPermission",
			Message: "You are not authorized to perform this action.", Evidence: "CLB-0373"},
		Resources: []gateway.Resource{
			{Parameter: "ResourceGroupId", Type: "resourcegroup", Kind: kinds.ResourceGroups.Kind()},
		},
	}
}
