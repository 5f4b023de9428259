package clb_test

import (
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// lacking makes the region, or a zone of it, lack something.
func lacking(zone, what string) func(*state.Tx) error {
	return editRegion(func(r *kinds.Region) { r.Lacks = map[string][]string{zone: {what}} })
}

// What a place lacks is refused where a call uses it there, and nowhere else.
func TestLacks(t *testing.T) {
	lb := params("LoadBalancerId", lbInternet)
	for _, c := range []struct {
		zone, what, action string
		params             map[string]string
		code               string
	}{
		{"", "CreateAccessControlList", "CreateAccessControlList", params("AclName", "a"), "InvalidAction.RegionNotSupport"},
		{"", "CreateAccessControlList", "AddTags", legacyTags("k", "v"), ""},
		{"", "Bandwidth", "CreateLoadBalancer", with(createInternet, "Bandwidth", "5"), "RegionNotSupportParameter"},
		{"", "Bandwidth", "CreateLoadBalancer", createInternet, ""},
		{"", "Scheduler=tch", "CreateLoadBalancerTCPListener", with(createTCP, "Scheduler", "tch"), "InvalidParameterValue.RegionNotSupport"},
		{"", "Scheduler=tch", "CreateLoadBalancerTCPListener", with(createTCP, "Scheduler", "rr"), ""},
		{"", "Tag", "CreateLoadBalancerTCPListener", with(createTCP, "Tag.1.Key", "k"), "InvalidParameter.RegionNotSupport"},
		{"cn-hangzhou-h", "Scheduler", "CreateLoadBalancerTCPListener", with(createTCP, "Scheduler", "rr"), "InvalidParameter.ZoneNotSupport"},
		{"cn-hangzhou-h", "Scheduler=rr", "CreateLoadBalancerTCPListener", with(createTCP, "Scheduler", "rr"), "InvalidParameterValue.ZoneNotSupport"},
		{"cn-hangzhou-i", "Scheduler", "CreateLoadBalancerTCPListener", with(createTCP, "Scheduler", "rr"), ""},
		{"cn-hangzhou-h", "Type", "AddVServerGroupBackendServers", params("VServerGroupId", "rsp-free", "BackendServers", server(instance1, `,"Type":"ecs"`)), "InvalidParameter.ZoneNotSupport"},
		{"cn-hangzhou-h", "Type", "AddVServerGroupBackendServers", params("VServerGroupId", "rsp-free", "BackendServers", server(instance1, "")), ""},
		{"cn-hangzhou-h", "Type=ecs", "AddVServerGroupBackendServers", params("VServerGroupId", "rsp-free", "BackendServers", " "+server(instance1, `,"Type":"ecs"`)), "InvalidParameterValue.ZoneNotSupport"},
		{"cn-hangzhou-h", "Type", "AddVServerGroupBackendServers", params("VServerGroupId", "rsp-free", "BackendServers", server(instance1, `,"Description":"Type"`)), ""},
		{"cn-hangzhou-h", "ServerCertificateId", "SetDomainExtensionAttribute", params("DomainExtensionId", "de-used", "ServerCertificateId", "cert-free"), "InvalidParameter.ZoneNotSupport"},
		{"cn-hangzhou-h", "SetLoadBalancerStatus", "SetLoadBalancerStatus", with(lb, "LoadBalancerStatus", "inactive"), "OperationUnsupported.SetLoadBalancerStatus"},
		{"cn-hangzhou-h", "Bandwidth", "CreateLoadBalancer", with(createInternet, "Bandwidth", "5"), ""},
	} {
		client, _, _ := newTimedClient(t, lacking(c.zone, c.what))
		if got := client.Call(c.action, c.params); got.Code != c.code {
			t.Errorf("%s, where %q lacks %s: %q (%s), want %q", c.action, c.zone, c.what, got.Code, got.Message, c.code)
		}
	}
}
