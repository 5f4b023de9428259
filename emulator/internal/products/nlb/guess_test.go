package nlb_test

import (
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
)

// TestGuesses proves of each guess that the journal names it for the successful calls that
// meet it, and for no others.
func TestGuesses(t *testing.T) {
	for _, test := range []struct {
		name, action string
		params       gatewaytest.Params
		want         string
	}{
		{"public addresses", "CreateLoadBalancer", create, "NLB-0021"},
		{"intranet", "CreateLoadBalancer", with(create, "AddressType", "Intranet"), ""},
		{"one's own EIPs", "CreateLoadBalancer", with(create, "ZoneMappings.1.AllocationId", eip1), ""},
		{"in a package", "CreateLoadBalancer", with(create, "ZoneMappings.1.AllocationId", eip1, "BandwidthPackageId", package2), "NLB-0024"},
		{"joins a package", "AttachCommonBandwidthPackageToLoadBalancer", params("LoadBalancerId", lb1, "BandwidthPackageId", package2), "NLB-0024"},
		{"certificate", "CreateListener", listenTLS, "NLB-0012"},
		{"no certificate", "CreateListener", listen, ""},
		{"drains for a default time", "CreateServerGroup", with(group, "ConnectionDrainEnabled", "true"), "NLB-0033"},
		{"drains", "CreateServerGroup", with(group, "ConnectionDrainEnabled", "true", "ConnectionDrainTimeout", "20"), ""},
		{"of addresses", "CreateServerGroup", with(group, "ServerGroupType", "Ip"), "NLB-0036"},
		{"several", "ListServerGroups", params(), "NLB-0039"},
		{"one", "ListServerGroups", params("ServerGroupIds.1", sgpTCP), ""},
		{"a refusal", "CreateServerGroup", with(group, "ServerGroupType", "Ip", "VpcId", "vpc-none"), "NLB-0001"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, _, _ := newClient(t)
			if got := c.Call(test.action, test.params); got.Evidence != test.want {
				t.Errorf("%s answers %d %s %s and names %q, want %q", test.action, got.Status, got.Code, got.Message, got.Evidence, test.want)
			}
		})
	}
}
