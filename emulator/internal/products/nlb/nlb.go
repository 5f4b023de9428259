// Package nlb implements the Network Load Balancer API, Nlb 2022-04-30: its actions,
// their handlers and its refusals. Handlers work on a transaction and know no HTTP,
// no clock and no fault; each resource has its own file, which starts with its
// actions.
//
// The words of the API, such as internet and tcp, come in any case (NLB-0020) and are
// kept in its own (NLB-0030): they are "words" in the tags of requests.
package nlb

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
		Name:       kinds.ProductNLB,
		Version:    "2022-04-30",
		Title:      "NLB",
		ShortNames: []string{"nlb"},
		Endpoint:   "NLB",
		DNSApex:    kinds.NLBApex,
		HostID:     "nlb.aliyuncs.com",
		Actions: slices.Concat(
			regionActions,
			changing.JobActions(),
			loadBalancerActions,
			loadBalancerChangeActions,
			zoneActions,
			listenerActions,
			healthActions,
			certificateActions,
			serverGroupActions,
			serverActions,
			securityPolicyActions,
			hdMonitorActions,
			tagActions,
		),
		Errors:     errorTable(),
		FlatLists:  true,
		RateLimits: gateway.ReadRateLimits(rateLimits),
		Guesses:    guesses,
		Denial: gateway.ErrorRow{Status: 403, Code: "Forbidden.NoPermission",
			Message: "Authentication is failed for NoPermission.", Evidence: "NLB-0001"},
		Resources: []gateway.Resource{
			{Parameter: "LoadBalancerId", Type: "loadbalancer", Kind: kinds.NLBLoadBalancers.Kind()},
			{Parameter: "ListenerId", Type: "listener", Kind: kinds.NLBListeners.Kind()},
			{Parameter: "ServerGroupId", Type: "servergroup", Kind: kinds.NLBServerGroups.Kind()},
			{Parameter: "SecurityPolicyId", Type: "securitypolicy", Kind: kinds.NLBSecurityPolicies.Kind()},
		},
	}
}
