package clb_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/clb"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

const day = 24 * time.Hour

// newTimedClient is like newClient, with a clock that the test moves.
func newTimedClient(t *testing.T, more ...func(*state.Tx) error) (*gatewaytest.Client, *state.Store, *state.ManualClock) {
	t.Helper()
	clock := state.NewManualClock(gatewaytest.Start)
	store := gatewaytest.StoreAt(t, clock, append([]func(*state.Tx) error{plant}, more...)...)
	return gatewaytest.NewClient(t, store, clb.Product(gateway.Deps{})), store, clock
}

func realistic(tx *state.Tx) error {
	state.LifeCycles.Put(tx, &state.LifeCycle{ID: state.LifeCycleID, Profile: state.LifeRealistic})
	return nil
}

// wantCode makes a call and compares its code; "" is success.
func wantCode(t *testing.T, client *gatewaytest.Client, action string, p gatewaytest.Params, want string) {
	t.Helper()
	if got := client.Call(action, p); got.Code != want {
		t.Errorf("%s(%v) = %q (%s), want %q", action, p, got.Code, got.Message, want)
	}
}

// In the realistic profile a listener is starting before it runs and configuring
// after it was set, and takes no other change meanwhile. A change of one that runs does
// not interrupt it.
func TestListenerLife(t *testing.T) {
	client, store, clock := newTimedClient(t, realistic)
	status := func(want string) {
		t.Helper()
		expect(t, client.Do("DescribeLoadBalancerHTTPListenerAttribute", setHTTP), "Status", want)
	}
	forwards := func(want bool) {
		t.Helper()
		v := store.View(state.Owner{})
		for f := range topology.Frontends(v) {
			if f.LoadBalancerID == lbInternet && f.FirstPort == 81 && f.Running != want {
				t.Errorf("the listener, which is %s, forwards: %v", f.Status, f.Running)
			}
		}
	}
	client.Do("SetLoadBalancerHTTPListenerAttribute", with(setHTTP, "Gzip", "on"))
	status("configuring")
	forwards(false)
	clock.Advance(time.Second)
	status("stopped")
	client.Do("StartLoadBalancerListener", setHTTP)
	status("starting")
	forwards(false)
	wantCode(t, client, "SetLoadBalancerHTTPListenerAttribute", with(setHTTP, "Gzip", "off"), "OperationFailed.ListenerStatusNotSupport")
	wantCode(t, client, "DeleteLoadBalancerListener", setHTTP, "ServiceIsConfiguring")
	clock.Advance(2 * time.Second)
	status("running")
	client.Do("SetLoadBalancerHTTPListenerAttribute", with(setHTTP, "Gzip", "off"))
	status("configuring")
	forwards(true)
	wantCode(t, client, "StopLoadBalancerListener", setHTTP, "ServiceIsConfiguring")
	clock.Advance(time.Second)
	status("running")
	forwards(true)
	client.Do("StopLoadBalancerListener", setHTTP)
	status("stopping")
	forwards(false)
	clock.Advance(time.Hour)
	status("stopped")
	client.Do("DeleteLoadBalancerListener", setHTTP)
}

// lasts gives a stage a time, which none has by itself.
func lasts(stage state.Stage) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		state.LifeCycles.Put(tx, &state.LifeCycle{ID: state.LifeCycleID, Profile: state.LifeRealistic, Delays: map[state.Stage]time.Duration{stage: time.Minute}})
		return nil
	}
}

// While a change of an access control list takes effect, that list alone takes no other.
func TestACLLife(t *testing.T) {
	client, _, clock := newTimedClient(t, lasts(kinds.StageACLConfiguring))
	entry := func(acl, block string) map[string]string {
		return params("AclId", acl, "AclEntrys", `[{"entry":"`+block+`"}]`)
	}
	wantCode(t, client, "AddAccessControlListEntry", entry("acl-free", "10.1.0.0/16"), "")
	wantCode(t, client, "AddAccessControlListEntry", entry("acl-free", "10.2.0.0/16"), "AclEntryProcessing")
	wantCode(t, client, "RemoveAccessControlListEntry", entry("acl-free", "10.1.0.0/16"), "AclEntryProcessing")
	wantCode(t, client, "AddAccessControlListEntry", entry("acl-used", "10.3.0.0/16"), "")
	clock.Advance(time.Minute)
	wantCode(t, client, "RemoveAccessControlListEntry", entry("acl-free", "10.1.0.0/16"), "")
	wantCode(t, client, "RemoveAccessControlListEntry", entry("acl-free", "10.2.0.0/16"), "AclEntryProcessing")
}

// While a change of a domain extension takes effect, its listener takes none of another. In the
// realistic profile it takes no time.
func TestDomainExtensionLife(t *testing.T) {
	create := func(domain string) map[string]string {
		return params("LoadBalancerId", lbInternet, "ListenerPort", "443", "Domain", domain, "ServerCertificateId", "cert-free")
	}
	client, _, clock := newTimedClient(t, lasts(kinds.StageDomainExtensionConfiguring))
	used := params("DomainExtensionId", "de-used")
	wantCode(t, client, "SetDomainExtensionAttribute", with(used, "ServerCertificateId", "cert-free"), "")
	for action, p := range map[string]map[string]string{
		"CreateDomainExtension": create("x.example.com"), "DeleteDomainExtension": used, "SetDomainExtensionAttribute": with(used, "ServerCertificateId", "cert-free"),
	} {
		wantCode(t, client, action, p, "DomainExtensionProcessing")
	}
	clock.Advance(time.Minute)
	wantCode(t, client, "CreateDomainExtension", create("x.example.com"), "")

	client, _, _ = newTimedClient(t, realistic)
	wantCode(t, client, "CreateDomainExtension", create("x.example.com"), "")
	wantCode(t, client, "CreateDomainExtension", create("y.example.com"), "")
}

// A shared instance has neither consistent hashing nor a choice of TLS policies; what a listener
// of it has it keeps.
func TestSharedListeners(t *testing.T) {
	client, _, _ := newTimedClient(t)
	tcp, https := with(createTCP, "LoadBalancerId", lbShared), with(createHTTPS, "LoadBalancerId", lbShared, "ListenerPort", "1001")
	set := params("LoadBalancerId", lbShared, "ListenerPort", "1001")
	for _, call := range []struct {
		action string
		params map[string]string
		code   string
	}{
		{"CreateLoadBalancerTCPListener", with(tcp, "Scheduler", "sch"), "InvalidParameterValue.SpecNotSupport"},
		{"CreateLoadBalancerTCPListener", with(tcp, "Scheduler", "rr"), ""},
		{"CreateLoadBalancerHTTPSListener", with(https, "TLSCipherPolicy", "tls_cipher_policy_1_2"), "InvalidParameter.SpecNotSupport"},
		{"CreateLoadBalancerHTTPSListener", https, ""},
		{"SetLoadBalancerHTTPSListenerAttribute", with(set, "TLSCipherPolicy", "tls_cipher_policy_1_2"), "InvalidParameter.SpecNotSupport"},
		{"SetLoadBalancerHTTPSListenerAttribute", with(set, "TLSCipherPolicy", "tls_cipher_policy_1_0", "Gzip", "off"), ""},
	} {
		wantCode(t, client, call.action, call.params, call.code)
	}
}

// In the realistic profile a group, the default group and a token take one call
// at a time; a delay of the world's own overrides the profile's.
func TestOneChangeAtATime(t *testing.T) {
	client, store, clock := newTimedClient(t, realistic)
	lb := params("LoadBalancerId", lbInternet, "BackendServers", server(instance2, ""))
	token := with(createInternet, "ClientToken", "t")
	for action, p := range map[string]gatewaytest.Params{"AddVServerGroupBackendServers": addServers, "AddBackendServers": lb, "CreateLoadBalancer": token} {
		client.Do(action, p)
	}
	wantCode(t, client, "RemoveVServerGroupBackendServers", addServers, "VServerGroupProcessing")
	wantCode(t, client, "RemoveBackendServers", lb, "BackendServer.configuring")
	wantCode(t, client, "CreateLoadBalancer", token, "OperationFailed.TokenIsProcessing")
	clock.Advance(2 * time.Second)
	client.Do("RemoveVServerGroupBackendServers", addServers)
	client.Do("RemoveBackendServers", lb)
	client.Do("CreateLoadBalancer", token)

	if err := store.Update(state.Owner{}, func(tx *state.Tx) error {
		state.LifeCycles.Put(tx, &state.LifeCycle{ID: state.LifeCycleID, Profile: state.LifeInstant,
			Delays: map[state.Stage]time.Duration{kinds.StageVServerGroupProcessing: time.Minute}})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Minute)
	client.Do("AddVServerGroupBackendServers", addServers)
	clock.Advance(59 * time.Second)
	wantCode(t, client, "RemoveVServerGroupBackendServers", addServers, "VServerGroupProcessing")
	clock.Advance(time.Second)
	client.Do("RemoveVServerGroupBackendServers", addServers)
	client.Do("AddBackendServers", lb)
	client.Do("RemoveBackendServers", lb)
}

// An account in arrears buys nothing; after its days of grace its load balancers
// are locked, and unlocked again when it pays; if it does not, they go.
func TestArrears(t *testing.T) {
	client, store, clock := newTimedClient(t, editAccount(func(a *kinds.Account) { a.GraceDays, a.ReleaseDays = 7, 7 }))
	owe := func(owing bool) {
		t.Helper()
		if err := store.Update(state.Owner{}, func(tx *state.Tx) error { return kinds.SetArrears(tx, account, owing) }); err != nil {
			t.Fatal(err)
		}
	}
	name := params("LoadBalancerId", lbInternet, "LoadBalancerName", "x")
	owe(true)
	wantCode(t, client, "CreateLoadBalancer", createInternet, "ORDER.ARREARAGE")
	clock.Advance(7*day - time.Second)
	client.Do("SetLoadBalancerName", name)
	clock.Advance(time.Second)
	expect(t, client.Do("DescribeLoadBalancerAttribute", params("LoadBalancerId", lbInternet)), "LoadBalancerStatus", "locked")
	expect(t, client.Do("DescribeLoadBalancerAttribute", params("LoadBalancerId", lbInternet)), "BusinessStatus", "FinancialLocked")
	wantCode(t, client, "SetLoadBalancerName", name, "ActionNotAllowed")
	wantCode(t, client, "TagResources", tagging, "ActionNotAllowed")
	wantCode(t, client, "UntagResources", params("ResourceType", "instance", "ResourceId.1", lbInternet, "TagKey.1", "k"), "ActionNotAllowed")
	wantCode(t, client, "DeleteLoadBalancer", params("LoadBalancerId", lbShared), "ActionNotAllowed")
	owe(false)
	expect(t, client.Do("DescribeLoadBalancerAttribute", params("LoadBalancerId", lbInternet)), "LoadBalancerStatus", "active")
	client.Do("SetLoadBalancerName", name)
	client.Do("CreateLoadBalancer", createInternet)
	clock.Advance(100 * day)
	client.Do("SetLoadBalancerName", name)

	owe(true)
	clock.Advance(7 * day)
	release := strconv.FormatInt(clock.Now().Add(7*day).UnixMilli(), 10)
	expect(t, client.Do("DescribeLoadBalancerAttribute", params("LoadBalancerId", lbInternet)), "AutoReleaseTime", release)
	if err := store.Update(state.Owner{}, editAccount(func(a *kinds.Account) { a.GraceDays, a.ReleaseDays = 1, 1 })); err != nil {
		t.Fatal(err)
	}
	expect(t, client.Do("DescribeLoadBalancerAttribute", params("LoadBalancerId", lbInternet)), "AutoReleaseTime", release) // as it was scheduled
	clock.Advance(7 * day)
	wantCode(t, client, "DescribeLoadBalancerAttribute", params("LoadBalancerId", lbInternet), "InvalidLoadBalancerId.NotFound")
	expect(t, client.Do("DescribeLoadBalancers", params()), "TotalCount", "0")
}

// The whitelist lets PayByCLCU go back to a spec.
func TestLCUToSpec(t *testing.T) {
	client, store := newClient(t)
	back := params("LoadBalancerId", lbIntranet, "InstanceChargeType", "PayBySpec", "LoadBalancerSpec", "slb.s2.small")
	wantCode(t, client, "ModifyLoadBalancerInstanceChargeType", back, "Forbidden.LcuToSpec")
	if err := store.Update(state.Owner{}, editAccount(func(a *kinds.Account) { a.LCUToSpec = true })); err != nil {
		t.Fatal(err)
	}
	client.Do("ModifyLoadBalancerInstanceChargeType", back)
	expect(t, client.Do("DescribeLoadBalancerAttribute", params("LoadBalancerId", lbIntranet)), "InstanceChargeType", "PayBySpec", "LoadBalancerSpec", "slb.s2.small")
}

// Rules follow their listener until ListenerSync is off, and go with it.
func TestRules(t *testing.T) {
	client, _ := newClient(t)
	made := client.Do("CreateRules", createRules)
	rule := params("RuleId", made.Text("Rules.Rule.0.RuleId"))
	expect(t, made, "Rules.Rule.0.Domain", "c.example.com", "Rules.Rule.0.Url", "/c", "Rules.Rule.0.ListenerSync", "on", "Rules.Rule.0.Scheduler", "wrr")
	client.Do("SetRule", with(rule, "Scheduler", "rr"))
	expect(t, client.Do("DescribeRuleAttribute", rule), "Scheduler", "wrr", "ListenerPort", "81", "LoadBalancerId", lbInternet)
	client.Do("SetRule", with(rule, "ListenerSync", "off", "Scheduler", "rr", "StickySession", "off", "HealthCheck", "on", "HealthCheckURI", "/up", "HealthCheckInterval", "9", "RuleName", "renamed", "VServerGroupId", "rsp-used"))
	expect(t, client.Do("DescribeRuleAttribute", rule), "Scheduler", "rr", "HealthCheck", "on", "HealthCheckInterval", "9", "RuleName", "renamed", "VServerGroupId", "rsp-used")
	client.Do("SetRule", with(rule, "HealthCheckTimeout", "4"))
	expect(t, client.Do("DescribeRuleAttribute", rule), "Scheduler", "rr", "HealthCheckInterval", "9", "HealthCheckTimeout", "4")
	if n := client.Do("DescribeRules", setHTTP).Len("Rules.Rule"); n != 2 {
		t.Errorf("rules of the listener = %d, want 2", n)
	}
	if n := client.Do("DescribeLoadBalancerHTTPListenerAttribute", setHTTP).Len("Rules.Rule"); n != 2 {
		t.Errorf("rules shown with the listener = %d, want 2", n)
	}
	groups := client.Do("DescribeVServerGroups", params("LoadBalancerId", lbInternet, "IncludeRule", "true", "Description", "rule"))
	expect(t, groups, "VServerGroups.VServerGroup.0.AssociatedObjects.Rules.Rule.0.Domain", "")
	client.Do("DeleteRules", params("RuleIds", `["`+rule["RuleId"]+`","rule-used"]`))
	client.Do("DeleteLoadBalancerListener", setHTTP)
	wantCode(t, client, "DeleteVServerGroup", group("rsp-rule"), "RspoolRuleExist")
	client.Do("DeleteLoadBalancerListener", ref(8080))
	client.Do("DeleteLoadBalancerListener", ref(443))
	client.Do("DeleteVServerGroup", group("rsp-rule"))
}

// Sold-out zones show at once, as do restocked ones; other zones still sell.
func TestStock(t *testing.T) {
	client, store := newClient(t)
	stock := func(change func(*kinds.Region)) {
		t.Helper()
		if err := store.Update(state.Owner{}, editRegion(change)); err != nil {
			t.Fatal(err)
		}
	}
	stock(func(r *kinds.Region) {
		r.SoldOut = []kinds.ZoneStock{{ZoneID: "cn-hangzhou-h", AddressType: kinds.AddressTypeIntranet}}
	})
	wantCode(t, client, "CreateLoadBalancer", with(createIntranet, "MasterZoneId", "cn-hangzhou-h"), "OperationFailed.ZoneResourceLimit")
	client.Do("CreateLoadBalancer", with(createInternet, "MasterZoneId", "cn-hangzhou-h"))
	made := client.Do("CreateLoadBalancer", createIntranet)
	got := client.Do("DescribeLoadBalancerAttribute", params("LoadBalancerId", made.Text("LoadBalancerId")))
	if zone := got.Text("MasterZoneId"); zone == "cn-hangzhou-h" || zone == "" {
		t.Errorf("MasterZoneId = %q, want another zone than the one that is sold out", zone)
	}
	stock(func(r *kinds.Region) { r.SoldOut = nil })
	client.Do("CreateLoadBalancer", with(createIntranet, "MasterZoneId", "cn-hangzhou-h"))
}

// A load balancer that a call stopped takes a start, a deletion, tags and what Terraform
// changes in the same apply, and neither listeners nor groups.
func TestStoppedLoadBalancer(t *testing.T) {
	client, _, _ := newTimedClient(t)
	own := gatewaytest.Params{"LoadBalancerId": lbIntranet}
	client.Do("SetLoadBalancerStatus", with(own, "LoadBalancerStatus", "inactive"))
	for _, c := range []struct {
		action string
		params gatewaytest.Params
		code   string
	}{
		{"CreateVServerGroup", own, "LbStatusNotSupport"},
		{"SetLoadBalancerName", with(own, "LoadBalancerName", "new"), ""},
		{"CreateLoadBalancerTCPListener", with(createTCP, "LoadBalancerId", lbIntranet), "LbStatusNotSupport"},
		{"AddTags", with(own, "Tags", `[{"TagKey":"a","TagValue":"b"}]`), ""},
		{"TagResources", gatewaytest.Params{"ResourceType": "instance", "ResourceId.1": lbIntranet, "Tag.1.Key": "a"}, ""},
		{"SetLoadBalancerDeleteProtection", with(own, "DeleteProtection", "off"), ""},
		{"SetLoadBalancerStatus", with(own, "LoadBalancerStatus", "active"), ""},
		{"CreateVServerGroup", own, ""},
		{"SetLoadBalancerStatus", with(own, "LoadBalancerStatus", "inactive"), ""},
		{"DeleteLoadBalancer", own, ""},
	} {
		wantCode(t, client, c.action, c.params, c.code)
	}
}

// A load balancer without listeners is active when it is new, and inactive when its last
// one goes. It then takes changes, and the next listener makes it active.
func TestLastListener(t *testing.T) {
	client, _, _ := newTimedClient(t)
	own := gatewaytest.Params{"LoadBalancerId": lbIntranet}
	status := func(want string) {
		t.Helper()
		expect(t, client.Do("DescribeLoadBalancerAttribute", own), "LoadBalancerStatus", want)
	}
	status("active")
	listener := gatewaytest.Params{"LoadBalancerId": lbIntranet, "ListenerPort": "80", "Bandwidth": "-1", "BackendServerPort": "80"}
	client.Do("CreateLoadBalancerTCPListener", listener)
	client.Do("CreateLoadBalancerTCPListener", with(listener, "ListenerPort", "81"))
	client.Do("DeleteLoadBalancerListener", with(own, "ListenerPort", "80"))
	status("active")
	client.Do("DeleteLoadBalancerListener", with(own, "ListenerPort", "81"))
	status("inactive")
	client.Do("CreateVServerGroup", own)
	client.Do("CreateLoadBalancerTCPListener", listener)
	status("active")
}

// A change of rules makes their listener busy, and the next one fails until then.
func TestRulesConfigure(t *testing.T) {
	client, _, clock := newTimedClient(t, realistic)
	rules := gatewaytest.Params{"LoadBalancerId": lbInternet, "ListenerPort": "81", "RuleList": `[{"RuleName":"n","Domain":"n.example.com","VServerGroupId":"rsp-rule"}]`}
	again := with(rules, "RuleList", `[{"RuleName":"m","Domain":"m.example.com","VServerGroupId":"rsp-rule"}]`)
	id := client.Do("CreateRules", rules).Text("Rules.Rule.0.RuleId")
	const busy = "OperationFailed.ListenerStatusNotSupport"
	for action, p := range map[string]gatewaytest.Params{"CreateRules": again, "SetRule": {"RuleId": id, "RuleName": "o"}, "DeleteRules": {"RuleIds": `["` + id + `"]`}} {
		wantCode(t, client, action, p, busy)
	}
	clock.Advance(time.Second)
	client.Do("SetRule", gatewaytest.Params{"RuleId": id, "RuleName": "o"})
	wantCode(t, client, "CreateRules", again, busy)
	clock.Advance(time.Second)
	client.Do("DeleteRules", gatewaytest.Params{"RuleIds": `["` + id + `"]`})
	wantCode(t, client, "CreateRules", again, busy)
	clock.Advance(time.Second)
	client.Do("CreateRules", again)
}
