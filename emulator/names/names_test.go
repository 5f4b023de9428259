package names_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/emulator/products"
)

var known = names.Of(kinds.Schema, products.All())

// must wants an error that says so, or none.
func must(t *testing.T, what string, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("%s: %v, want it known", what, err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("%s: %v, want %q", what, err, want)
	}
}

// TestConditions proves which names and beginnings of names of conditions there
// are.
func TestConditions(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"account.arrears", "true", ""}, {"policy.key.any", "", ""}, {"vswitch.{{saved}}.freeAddresses", "0", ""}, {"stock.any-zone.internet", "soldout", ""},
		{"quota.slb_quota_listeners_num", "1", ""}, {"life.listener.starting", "1s", ""}, {"throttle.action.CreateVpc", "1", ""},
		{"region.lacks", "CreateAccessControlList,Scheduler=qch,BackendServers,Weight,Tag", ""}, {"zone.any.lacks", "none", ""},
		{"region.lacks", "CreateRules=foo", "CreateRules is an action, which has no value"},
		{"region.lacks", "Scheduler,EnableHtp2", "no action or parameter of Slb is called EnableHtp2: do you mean EnableHttp2?"},
		{"zone.any.lacks", "Schedular=qch", "do you mean Scheduler?"}, {"region.lacks", "CreateVpc", "no action or parameter of Slb is called CreateVpc"},
		{"account.arears", "true", "do you mean account.arrears?"}, {"quota.slb_quota_listener_num", "1", "do you mean quota.slb_quota_listeners_num?"},
		{"life.listener.start", "1s", "do you mean life.listener.starting?"}, {"throttle.action.{{saved}}", "1", "there is no condition"},
		{"policy.key.any", "{}", "the policy has no Statement"}, {"policy.role.any", `{"Version":"1","Statement":[{"Effect":"Deny","Action":"slb:Crate*","Resource":"*"}]}`, "no call is slb:Crate*"},
	} {
		must(t, c.name, known.CheckCondition(c.name, c.value), c.want)
	}
	for prefix, want := range map[string]string{
		"": "", "account": "", "account.arr": "", "vswitch.vsw-1": "", "quota": "", "stock.cn-hangzhou-g": "",
		"nonsense": "no condition begins with nonsense", "acount": "do you mean account?", "quota.slb_quota_listners": "do you mean quota.slb_quota_listeners_num?",
	} {
		must(t, prefix, known.CheckPrefix(prefix), want)
	}
}

// TestActions proves what is known of an action out of the tables.
func TestActions(t *testing.T) {
	list := known.Actions()
	find := func(name string) names.Action {
		i := slices.IndexFunc(list, func(a names.Action) bool { return a.Name == name })
		if i < 0 {
			t.Fatalf("there is no action %s", name)
		}
		return list[i]
	}
	add := find("AddVServerGroupBackendServers")
	for _, parameter := range []string{"VServerGroupId", "BackendServers", "RegionId"} {
		if !add.Reads(parameter) {
			t.Errorf("%s does not read %s", add.Name, parameter)
		}
	}
	if add.Reads("BackendServer") || !find("CreateLoadBalancer").Reads("Tag.7.Key") || !find("TagResources").Reads("ResourceId") {
		t.Error("a parameter is read that there is not, or an element of a list is not")
	}
	if !slices.Contains(add.ParameterNames(), "BackendServers[].Port") {
		t.Errorf("%s reads %q, want the fields of its JSON text too", add.Name, add.ParameterNames())
	}
	if codes := add.Codes(); !slices.Contains(codes, "InstanceBackendServerNumberOverLimit") || !slices.Contains(codes, "Throttling") || !slices.Contains(codes, "MissingVServerGroupId") || slices.Contains(codes, "ServiceUnavailable") {
		t.Errorf("%s can be refused with %q", add.Name, codes)
	}
	if codes := find("CreateVpnGateway").Codes(); !slices.Contains(codes, "InvalidAction.NotEmulated") || slices.Contains(codes, "VSwitchNotExist") {
		t.Errorf("what is not emulated can be refused with %q", codes)
	}
	if fields := find("DeleteVSwitch").ResourceFields(); !slices.Contains(fields, "ZoneID") || slices.Contains(fields, "VRouterID") {
		t.Errorf("DeleteVSwitch is about %q", fields)
	}
}

// TestDidYouMean proves that a glob is meant to be one of a verb.
func TestDidYouMean(t *testing.T) {
	list := []string{"CreateVpc", "DeleteVpc"}
	for name, want := range map[string]string{"CreateVpd": ": do you mean CreateVpc?", "Crate*": ": do you mean Create*?", "Nonsense": ": look"} {
		if got := names.DidYouMean(name, list, "look"); got != want {
			t.Errorf("DidYouMean(%s) = %q, want %q", name, got, want)
		}
	}
}
