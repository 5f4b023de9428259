// Package sts owns the parts of the Sts API, 2015-04-01, with which clients ask who
// they are and take a RAM role: the gateway accepts the temporary keys that it
// returns until they expire. It must not know HTTP, signatures, formats or
// faults: a handler gets a transaction and a request, and returns a response or a
// fact.
package sts

import (
	_ "embed"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
)

// actionNames lists all actions of the API.
//
//go:embed actions.txt
var actionNames string

// refusals are the reasons of this product, declared next to the code that refuses.
var refusals gateway.Refusals

var errorTable = refusals.Table()

// Product returns the Sts API.
func Product(gateway.Deps) *gateway.Product {
	return &gateway.Product{
		Name:     "Sts",
		Version:  "2015-04-01",
		Title:    "STS",
		Endpoint: "STS",
		HostID:   "sts.aliyuncs.com",
		Actions:  gateway.Completed(actionNames, identityActions),
		Errors:   errorTable(),
		Idle:     idle,
		Denial: gateway.ErrorRow{Status: 403, Code: "NoPermission",
			Message: "You are not authorized to do this action. You should be authorized by RAM.", Evidence: "CLB-0370"},
	}
}
