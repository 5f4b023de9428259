// Package quotas owns the part of the Quota Center's API (quotas, 2020-05-10) with
// which accounts look at their quotas and ask for higher ones. It shows the limits that the
// handlers of all products enforce, and their counts. It must not know HTTP, signatures,
// formats or faults: a handler gets a transaction and a request, and returns a response
// or a fact.
package quotas

import (
	_ "embed"
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// actionNames lists all actions of the API: CLB-0415.
//
//go:embed actions.txt
var actionNames string

// refusals are the reasons of this product, declared next to the code that refuses. Their codes are
// of the Quota Center's list of errors, as far as published: CLB-0415.
var refusals gateway.Refusals

var errorTable = refusals.Table([]gateway.ErrorRow{
	{Fact: state.NotFound, Kind: kinds.QuotaApplications.Kind(), Status: 400, Code: "APPLICATION.NOT.FOUND",
		Message: "The application does not exist.", Evidence: "CLB-0415"},
	{Fact: listing.BadToken, Status: 400, Code: "PARAMETER.ILLEGALL",
		Message: "The specified parameter is invalid.", Evidence: "CLB-0415"},
})

// Product returns the Quota Center's API.
func Product(gateway.Deps) *gateway.Product {
	return &gateway.Product{
		Name:     "quotas", // the cloud's spelling
		Version:  "2020-05-10",
		Title:    "Quota Center",
		Endpoint: "QUOTAS",
		HostID:   "quotas.aliyuncs.com",
		Actions:  gateway.Completed(actionNames, slices.Concat(quotaActions, applicationActions)),
		Errors:   errorTable(),
		Denial: gateway.ErrorRow{Status: 400, Code: "RAM.PERMISSION.DENIED",
			Message: "You do not have access.", Evidence: "CLB-0415"},
		Resources: []gateway.Resource{
			{Parameter: "ApplicationId", Type: "quotaapplication", Kind: kinds.QuotaApplications.Kind()},
		},
		Idle: idle,
	}
}
