// Package clb implements the Classic Load Balancer API, Slb 2014-05-15: its actions,
// their handlers and its error table. Handlers work on a transaction and know no
// HTTP, no clock and no fault; each resource has its own file, which starts with its
// actions.
package clb

import (
	_ "embed"
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
)

//go:embed ratelimits.tsv
var rateLimits string

// Product is the API as the gateway serves it.
func Product(deps gateway.Deps) *gateway.Product {
	return &gateway.Product{
		Name:       cloud.ProductCLB,
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
			{Parameter: "LoadBalancerId", Type: "loadbalancer", Kind: cloud.LoadBalancers.Kind()},
			{Parameter: "VServerGroupId", Type: "vservergroup", Kind: cloud.VServerGroups.Kind()},
			{Parameter: "MasterSlaveServerGroupId", Type: "masterslaveservergroup", Kind: cloud.MasterSlaveServerGroups.Kind()},
			{Parameter: "AclId", Type: "acl", Kind: cloud.AccessControlLists.Kind()},
			{Parameter: "ServerCertificateId", Type: "certificate", Kind: cloud.ServerCertificates.Kind()},
			{Parameter: "CACertificateId", Type: "certificate", Kind: cloud.CACertificates.Kind()},
			{Parameter: "TLSCipherPolicyId", Type: "tlscipherpolicy", Kind: cloud.TLSCipherPolicies.Kind()},
		},
	}
}
