package nlb

import (
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
)

var guesses = []gateway.Guess{
	{Evidence: "NLB-0021", Actions: []string{"CreateLoadBalancer"}, When: func(p gateway.Params, _ any) bool {
		return strings.EqualFold(p.Get("AddressType"), "Internet") && p.Get("ZoneMappings.1.AllocationId") == ""
	}},
	{Evidence: "NLB-0024", Actions: []string{"CreateLoadBalancer"}, When: sent("BandwidthPackageId")},
	{Evidence: "NLB-0024", Actions: []string{"AttachCommonBandwidthPackageToLoadBalancer"}},
	{Evidence: "NLB-0012", Actions: []string{"CreateListener", "UpdateListenerAttribute"}, When: sent("CertificateIds.1")},
	{Evidence: "NLB-0033", Actions: []string{"CreateServerGroup", "UpdateServerGroupAttribute"}, When: func(p gateway.Params, _ any) bool {
		return p.Get("ConnectionDrainEnabled") == "true" && p.Get("ConnectionDrainTimeout") == ""
	}},
	{Evidence: "NLB-0036", Actions: []string{"CreateServerGroup"}, When: func(p gateway.Params, _ any) bool {
		return strings.EqualFold(p.Get("ServerGroupType"), "Ip")
	}},
	{Evidence: "NLB-0039", Actions: []string{"ListLoadBalancers", "ListListeners", "ListServerGroups", "ListSecurityPolicy"},
		When: func(_ gateway.Params, response any) bool {
			list, ok := response.(interface{ Total() int })
			return ok && list.Total() > 1
		}},
}

func sent(parameter string) func(gateway.Params, any) bool {
	return func(p gateway.Params, _ any) bool { return p.Get(parameter) != "" }
}
