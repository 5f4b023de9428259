package names

import (
	"slices"
	"testing"
)

// An action answers its own errors, the common ones and its parameters' errors,
// and no others.
func TestFindError(t *testing.T) {
	for _, c := range []struct {
		product, action, code string
		status                int // 0: unknown
	}{
		{"Slb", "CreateLoadBalancer", "VSwitchAvailableIpNotExist", 400},
		{"Slb", "CreateLoadBalancer", "ServiceUnavailable", 503},
		{"Slb", "CreateLoadBalancer", "Throttling.User", 400},
		{"Slb", "DescribeLoadBalancers", "VSwitchAvailableIpNotExist", 0},
		{"Slb", "CreateLoadBalancer", "MissingVSwitchId", 400},
		{"Slb", "CreateLoadBalancer", "InvalidBandwidth", 400},
		{"Slb", "CreateLoadBalancer", "InvalidBandwith", 0},
		{"Slb", "CreateLoadBalancer", "MissingListenerPort", 0},
		{"Slb", "CreateLoadBalancer", "NoSuchCode", 0},
		{"Vpc", "CreateRouteEntry", "InvalidCIDRBlock.Duplicate", 400},
		{"Slb", "DescribeRegions", "InternalError", 500},
	} {
		e, ok := findError(c.product, c.action, []string{"VSwitchId", "Bandwidth"}, c.code)
		if ok != (c.status != 0) || ok && (e.Status != c.status || e.Code != c.code || e.Message == "") {
			t.Errorf("findError(%s, %s, %s) = %+v, %v, want status %d", c.product, c.action, c.code, e, ok, c.status)
		}
	}
}

// The codes of an action are listed once each.
func TestErrorCodes(t *testing.T) {
	codes := errorCodes("Slb", "DeleteVServerGroup")
	if !slices.Contains(codes, "RspoolVipExist") || !slices.Contains(codes, "Throttling") || !slices.IsSorted(codes) ||
		len(slices.Compact(slices.Clone(codes))) != len(codes) {
		t.Errorf("codes of DeleteVServerGroup = %q", codes)
	}
}
