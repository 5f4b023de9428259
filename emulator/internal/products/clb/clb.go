// Package clb implements the Classic Load Balancer API, Slb 2014-05-15: its actions,
// their handlers and its error table. Handlers work on a transaction and know no
// HTTP, no clock and no fault; each resource has its own file, which starts with its
// actions.
package clb

import (
	_ "embed"
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
)

//go:embed ratelimits.tsv
var rateLimits string

// Product returns the product that the gateway serves.
func Product(deps gateway.Deps) *gateway.Product {
	return &gateway.Product{
		Name:       kinds.ProductCLB,
		Version:    "2014-05-15",
		Title:      "CLB",
		ShortNames: []string{"clb", "slb"},
		Endpoint:   "SLB",
		HostID:     "slb.aliyuncs.com",
		Actions: slices.Concat(
			regionActions,
			loadBalancerActions,
			loadBalancerChangeActions,
			serviceManagedActions,
			listenerActions,
			listenerReadActions,
			ruleActions,
			vServerGroupActions,
			masterSlaveServerGroupActions,
			backendServerActions,
			healthActions,
			aclActions,
			certificateActions,
			domainExtensionActions,
			tlsCipherPolicyActions,
			whiteListActions,
			accessLogActions,
			resourceGroupActions,
			tagActions,
			legacyTagActions,
		),
		Errors:     errorTable(),
		RateLimits: gateway.ReadRateLimits(rateLimits),
		Denial: gateway.ErrorRow{Status: 403, Code: "Forbidden",
			Message: "User not authorized to operate on the specified resource.", Evidence: "CLB-0201"},
		Idle:   idle,
		Offers: checkOffered,
		Resources: []gateway.Resource{
			{Parameter: "LoadBalancerId", Type: "loadbalancer", Kind: kinds.LoadBalancers.Kind()},
			{Parameter: "VServerGroupId", Type: "vservergroup", Kind: kinds.VServerGroups.Kind()},
			{Parameter: "MasterSlaveServerGroupId", Type: "masterslaveservergroup", Kind: kinds.MasterSlaveServerGroups.Kind()},
			{Parameter: "AclId", Type: "acl", Kind: kinds.AccessControlLists.Kind()},
			{Parameter: "ServerCertificateId", Type: "certificate", Kind: kinds.ServerCertificates.Kind()},
			{Parameter: "CACertificateId", Type: "certificate", Kind: kinds.CACertificates.Kind()},
			{Parameter: "TLSCipherPolicyId", Type: "tlscipherpolicy", Kind: kinds.TLSCipherPolicies.Kind()},
		},
	}
}
