// Package cas owns the part of the certificate service's API (cas, 2020-04-07) with
// which clients upload the certificates that listeners name by id. It must not know
// HTTP, signatures, formats or faults: a handler gets a transaction and a request, and
// returns a response or a fact.
package cas

import (
	_ "embed"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// actionNames lists all actions of the API: CLB-0412.
//
//go:embed actions.txt
var actionNames string

// refusals are the reasons of this product, declared next to the code that refuses. No list of
// the API's codes is public: CLB-0412.
var refusals gateway.Refusals

var errorTable = refusals.Table([]gateway.ErrorRow{
	{Fact: state.NotFound, Kind: kinds.UserCertificates.Kind(), Status: 404, Code: "NotFound",
		Message: "The certificate is not found.", Evidence: "CLB-0412"},
	{Fact: state.NotFound, Kind: kinds.ResourceGroups.Kind(), Status: 404, Code: "NotFound.ResourceGroup",
		Message: "The resource group is not found.", Evidence: "CLB-0412"},
})

// Product returns the certificate service's API.
func Product(gateway.Deps) *gateway.Product {
	return &gateway.Product{
		Name:     kinds.ProductCAS,
		Version:  "2020-04-07",
		Title:    "CAS",
		Endpoint: "CAS",
		HostID:   "cas.aliyuncs.com",
		RAMName:  "yundun-cert",
		Actions:  gateway.Completed(actionNames, certificateActions),
		Errors:   errorTable(),
		Denial: gateway.ErrorRow{Status: 403, Code: "NoPermission",
			Message: "You are not authorized to perform this action.", Evidence: "CLB-0412"},
		Resources: []gateway.Resource{
			{Parameter: "CertId", Type: "certificate", Kind: kinds.UserCertificates.Kind()},
		},
	}
}
