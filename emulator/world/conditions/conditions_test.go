package conditions_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/emulator/world/conditions"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

const vSwitch1 = "vsw-bp1clbemu000000000001"

func set(store *state.Store, name, value string) error {
	return store.Update(state.Owner{}, func(tx *state.Tx) error {
		return conditions.Set(tx, state.Owner{}, []conditions.Setting{{Name: name, Value: value}})
	})
}

func inForce(t *testing.T, store *state.Store) map[string]string {
	t.Helper()
	values := make(map[string]string)
	v := store.View(state.Owner{})
	list, err := conditions.Get(v, state.Owner{})
	for _, s := range list {
		values[s.Name] = s.Value
	}
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// Every condition takes a value, shows it, and takes it back again.
func TestSetConditions(t *testing.T) {
	document := `{"Version":"1","Statement":[{"Effect":"Allow","Action":["slb:*"],"Resource":["*"]}]}`
	covered := make(map[string]bool)
	for _, c := range []struct{ row, name, value, shown, back, shownBack string }{
		{"account.balance", "account.balance", "50", "50", "10000", "10000"},
		{"account.balance", "account.balance", "99.99", "99.99", "-1000000000", "-1000000000"},
		{"account.arrears", "account.arrears", "true", "true", "false", "false"},
		{"account.graceDays", "account.graceDays", "3", "3", "15", "15"},
		{"account.nlbGraceDays", "account.nlbGraceDays", "3", "3", "1", "1"},
		{"account.nlbReleaseDays", "account.nlbReleaseDays", "3", "3", "15", "15"},
		{"account.releaseDays", "account.releaseDays", "4", "4", "15", "15"},
		{"account.lcuToSpec", "account.lcuToSpec", "true", "true", "false", "false"},
		{"account.incomplete", "account.incomplete", "true", "true", "false", "false"},
		{"account.unpayable", "account.unpayable", "true", "true", "false", "false"},
		{"account.createdByTags", "account.createdByTags", "true", "true", "false", "false"},
		{"account.refuseExpiredCertificates", "account.refuseExpiredCertificates", "true", "true", "false", "false"},
		{"account.refuseAttachedBackends", "account.refuseAttachedBackends", "true", "true", "false", "false"},
		{"account.refuseQuotaApplications", "account.refuseQuotaApplications", "true", "true", "false", "false"},
		{"quota.<name>", "quota.slb_quota_listeners_num", "3", "3", "default", ""},
		{"account.site", "account.site", "international", "international", "mainland", "mainland"},
		{"cloud.year", "cloud.year", "2021", "2021", "today", "today"},
		{"stock.shared", "stock.shared", "true", "true", "false", "false"},
		{"stock.payBySpec", "stock.payBySpec", "true", "true", "false", "false"},
		{"stock.subscriptions", "stock.subscriptions", "true", "true", "false", "false"},
		{"stock.ipv6", "stock.ipv6", "false", "false", "true", "true"},
		{"stock.publicAddresses", "stock.publicAddresses", "false", "false", "true", "true"},
		{"stock.<zone>", "stock.cn-hangzhou-h.http", "soldout", "soldout", "available", ""},
		{"stock.<zone>", "stock.cn-hangzhou-h.internet", "soldout", "soldout", "available", ""},
		{"region.lacks", "region.lacks", "EnableHttp2,Scheduler=qch", "EnableHttp2,Scheduler=qch", "none", ""},
		{"zone.<zone>.lacks", "zone.cn-hangzhou-h.lacks", "ProxyProtocolV2Enabled", "ProxyProtocolV2Enabled", "none", ""},
		{"vswitch.<id>.freeAddresses", "vswitch." + vSwitch1 + ".freeAddresses", "2", "2", "all", "250"},
		{"server.<id>.health", "server.i-bp1clbemu0000000001.health", "abnormal", "abnormal", "default", ""},
		{"instance.<id>.reachAt", "instance.i-bp1clbemu0000000001.reachAt", "127.0.0.1:8080", "127.0.0.1:8080", "default", ""},
		{"throttle.profile", "throttle.profile", "realistic", "realistic", "off", "off"},
		{"throttle.account", "throttle.account", "10/20", "10/20", "default", ""},
		{"throttle.key", "throttle.key", "2.5", "2.5/2", "default", ""},
		{"throttle.action.<action>", "throttle.action.CreateLoadBalancer", "1", "1/1", "default", ""},
		{"key.<id>.status", "key.testid.status", "inactive", "inactive", "active", "active"},
		{"policy.key.<id>", "policy.key.testid", document, document, "none", ""},
		{"policy.role.<name>", "policy.role.clbemu-node", document, document, "none", ""},
		{"linkedRole.<name>", "linkedRole.AliyunServiceRoleForSlbEipAccess", "absent", "absent", "present", ""},
		{"life.profile", "life.profile", "realistic", "realistic", "instant", "instant"},
		{"life.<stage>", "life.listener.starting", "3s", "3s", "default", "0s"},
	} {
		t.Run(c.row, func(t *testing.T) {
			covered[c.row] = true
			store := gatewaytest.Store(t, world.Default().Plant)
			before := inForce(t, store)
			for _, step := range []struct{ value, shown string }{{c.value, c.shown}, {c.back, c.shownBack}} {
				if err := set(store, c.name, step.value); err != nil {
					t.Fatalf("set %s=%s: %v", c.name, step.value, err)
				}
				if got := inForce(t, store)[c.name]; got != step.shown {
					t.Errorf("after %s=%s it is %q, want %q", c.name, step.value, got, step.shown)
				}
			}
			if after := inForce(t, store); len(after) != len(before) {
				t.Errorf("conditions = %v, want those at first, %v", after, before)
			}
		})
	}
	t.Run("key.<id>.secret", func(t *testing.T) {
		covered["key.<id>.secret"] = true
		store := gatewaytest.Store(t, world.Default().Plant)
		for _, s := range []conditions.Setting{{Name: "key.testid.status", Value: "deleted"}, {Name: "key.testid.secret", Value: "new"}} {
			if err := set(store, s.Name, s.Value); err != nil {
				t.Fatal(err)
			}
		}
		if got := inForce(t, store)["key.testid.status"]; got != "active" {
			t.Errorf("a key that was made again is %q, want active", got)
		}
	})
	t.Run("nlb.<id>.lock", func(t *testing.T) {
		covered["nlb.<id>.lock"] = true
		owner := state.Owner{AccountID: "1234567890123456", RegionID: "cn-hangzhou"}
		store := gatewaytest.Store(t, world.Default().Plant, func(tx *state.Tx) error {
			kinds.NLBLoadBalancers.Put(tx.In(owner), &kinds.NLBLoadBalancer{Owner: owner, ID: "nlb-1", VPCID: "vpc-bp1clbemu000000000001", Status: kinds.NLBActive, AddressType: kinds.NLBIntranet,
				ZoneMappings: []kinds.NLBZoneMapping{{ZoneID: "cn-hangzhou-h", VSwitchID: "vsw-bp1clbemu000000000001", PrivateIPv4Address: "192.168.0.200"}}})
			kinds.Addresses.Put(tx, &kinds.Address{Pool: "vsw-bp1clbemu000000000001", IP: "192.168.0.200", Holder: kinds.NLBLoadBalancers.Kind(), HolderID: "nlb-1"})
			return nil
		})
		for _, step := range [][2]string{{"ResidualLocked", "ResidualLocked"}, {"SecurityLocked", "SecurityLocked"}, {"none", ""}} {
			if err := set(store, "nlb.nlb-1.lock", step[0]); err != nil {
				t.Fatal(err)
			}
			if got := inForce(t, store)["nlb.nlb-1.lock"]; got != step[1] {
				t.Errorf("after %s it is %q, want %q", step[0], got, step[1])
			}
		}
	})
	for _, d := range conditions.All() {
		if !covered[d.Name] && len(covered) > 1 {
			t.Errorf("no case for %s", d.Name)
		}
	}
}

// What a condition does not know is refused with the reason, and nothing of the
// call is done.
func TestSetRefused(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"account.mood", "good", "no condition"},
		{"quota.", "1", "no condition"},
		{"account.balance", "much", "want an amount in CNY"},
		{"account.balance", "99.999", "want an amount in CNY"},
		{"account.balance", "1e3", "want an amount in CNY"},
		{"account.balance", "NaN", "want an amount in CNY"},
		{"account.balance", "1000000000.01", "want an amount in CNY"},
		{"account.graceDays", "-1", "want a whole number from 0"},
		{"account.arrears", "maybe", "true or false"},
		{"account.lcuToSpec", "maybe", "true or false"},
		{"quota.slb_quota_moons", "1", "no such quota"},
		{"quota.slb_quota_listeners_num", "-1", "not negative"},
		{"nlb.nlb-none.lock", "SecurityLocked", "no Network Load Balancer nlb-none"},
		{"nlb.nlb-none.lock", "closed", "RelatedResourceLocked"},
		{"account.site", "lunar", "mainland or international"},
		{"cloud.year", "2020", "2021, 2024 or today"},
		{"stock.shared", "some", "true or false"},
		{"stock.payBySpec", "some", "true or false"},
		{"stock.subscriptions", "some", "true or false"},
		{"stock.ipv6", "some", "true or false"},
		{"stock.mars-1a", "soldout", "no zone"},
		{"stock.cn-hangzhou-h", "few", "soldout or available"},
		{"stock..internet", "soldout", "no zone"},
		{"region.lacks", "EnableHttp2,none", "want actions"},
		{"region.lacks", "Scheduler=sch=wrr", "want actions"},
		{"linkedRole.Nobody", "absent", "AliyunServiceRoleForSlbEipAccess"},
		{"stock.cn-hangzhou-h.extranet", "soldout", "internet, intranet, http or https"},
		{"vswitch.vsw-none.freeAddresses", "1", "no vSwitch"},
		{"vswitch." + vSwitch1 + ".freeAddresses", "251", "fewer free addresses"},
		{"vswitch." + vSwitch1 + ".freeAddresses", "few", "or all"},
		{"throttle.profile", "slow", "off or realistic"},
		{"throttle.key", "-1", "calls a second"},
		{"throttle.key", "NaN", "calls a second"},
		{"throttle.key", "1/0", "burst"},
		{"key.none.status", "active", "no access key"},
		{"key.testid.status", "lost", "active, inactive or deleted"},
		{"key.testid.secret", "", "want a secret"},
		{"policy.key.testid", "{}", "no Statement"},
		{"policy.key.testid", `{"Statement":7}`, "not a policy document: Statement can't be of the kind number"},
		{"policy.key.testid", `{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*","Condition":{}}]}`, "unknown field"},
		{"life.profile", "slow", "instant or realistic"},
		{"life.moon.rising", "1s", "no stage"},
		{"life.listener.starting", "soon", "duration"},
	} {
		t.Run(c.name+"="+c.value, func(t *testing.T) {
			store := gatewaytest.Store(t, world.Default().Plant)
			err := store.Update(state.Owner{}, func(tx *state.Tx) error {
				return conditions.Set(tx, state.Owner{}, []conditions.Setting{{Name: "account.balance", Value: "1"}, {Name: c.name, Value: c.value}})
			})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want one that contains %q", err, c.want)
			}
			if got := inForce(t, store)["account.balance"]; got != "10000" {
				t.Errorf("a refused call changed the balance to %s", got)
			}
		})
	}
	store := gatewaytest.Store(t, world.Default().Plant)
	for _, where := range []state.Owner{{AccountID: "none"}, {RegionID: "none"}} {
		v := store.View(state.Owner{})
		_, err := conditions.Get(v, where)
		if err == nil || !strings.Contains(err.Error(), "there is no") {
			t.Errorf("conditions of %v: %v, want a refusal", where, err)
		}
	}
}

// TestYear proves that a year sets what is sold and the quotas, that each kind can be sold alone, and that
// only what a year sold is shown as one.
func TestYear(t *testing.T) {
	store := gatewaytest.Store(t, world.Default().Plant)
	for _, c := range []struct{ name, value, year, shared, bySpec, subscriptions, listenerACLs string }{
		{"cloud.year", "2021", "2021", "true", "true", "true", "1"},
		{"stock.shared", "false", "2024", "false", "true", "true", "1"},
		{"stock.subscriptions", "false", "", "false", "true", "false", "1"},
		{"cloud.year", "2024", "2024", "false", "true", "true", ""},
		{"stock.payBySpec", "false", "", "false", "false", "true", ""},
		{"quota.slb_quota_listener_acls_num", "7", "", "false", "false", "true", "7"},
		{"cloud.year", "today", "today", "false", "false", "false", ""},
	} {
		if err := set(store, c.name, c.value); err != nil {
			t.Fatal(err)
		}
		got := inForce(t, store)
		for name, want := range map[string]string{"cloud.year": c.year, "stock.shared": c.shared, "stock.payBySpec": c.bySpec, "stock.subscriptions": c.subscriptions,
			"quota.slb_quota_listener_acls_num": c.listenerACLs} {
			if got[name] != want {
				t.Errorf("after %s=%s, %s is %q, want %q", c.name, c.value, name, got[name], want)
			}
		}
	}
}

// A condition is as durable as everything else.
func TestConditionsAreDurable(t *testing.T) {
	engine := &memory.Engine{}
	open := func() *state.Store {
		t.Helper()
		store, err := state.Open(context.Background(), state.Config{Schema: kinds.Schema, Engine: engine, Clock: state.NewManualClock(gatewaytest.Start), Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		return store
	}
	first := open()
	if err := first.Update(state.Owner{}, world.Default().Plant); err != nil {
		t.Fatal(err)
	}
	for _, s := range []conditions.Setting{{Name: "account.arrears", Value: "true"}, {Name: "quota.slb_quota_rules_num", Value: "1"}, {Name: "life.profile", Value: "realistic"}} {
		if err := set(first, s.Name, s.Value); err != nil {
			t.Fatal(err)
		}
	}
	before := inForce(t, first)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if after := inForce(t, open()); !maps.Equal(after, before) {
		t.Errorf("after a restart = %v, want %v", after, before)
	}
}

// Times in conditions are read by the emulated clock.
func TestArrearsFollowTheClock(t *testing.T) {
	clock := state.NewManualClock(gatewaytest.Start)
	store := gatewaytest.StoreAt(t, clock, world.Default().Plant)
	if err := set(store, "account.graceDays", "2"); err != nil {
		t.Fatal(err)
	}
	if err := set(store, "account.arrears", "true"); err != nil {
		t.Fatal(err)
	}
	for t := range state.Transitions.All(store.View(state.Owner{})) {
		if want := gatewaytest.Start.Add(48 * time.Hour); t.Due.Equal(want) {
			return
		}
	}
	t.Error("no lock is due after the days of grace")
}

// A condition is one of what its row says: of a region, it is another elsewhere; of
// the account or of all, it is the same in every region.
func TestScopes(t *testing.T) {
	here, there := state.Owner{RegionID: "cn-hangzhou"}, state.Owner{RegionID: "cn-shanghai"}
	tested := make(map[conditions.Scope]int)
	for name, value := range map[string]string{
		"account.balance": "7", "account.arrears": "true", "quota.slb_quota_listeners_num": "3", "throttle.profile": "realistic",
		"key.testid.status": "inactive", "life.profile": "realistic", "cloud.year": "2024", "stock.shared": "true", "stock.ipv6": "false",
	} {
		store := gatewaytest.Store(t, world.Default().Plant)
		if err := store.Update(state.Owner{}, func(tx *state.Tx) error {
			if err := kinds.Regions.Edit(tx, there.RegionID, func(r *kinds.Region) error {
				r.PublicIPv6CIDRBlock = "2001:db8::/32"
				return nil
			}); err != nil {
				return err
			}
			return conditions.Set(tx, there, []conditions.Setting{{Name: name, Value: value}})
		}); err != nil {
			t.Fatal(err)
		}
		row, _, _ := conditions.Find(name)
		tested[row.Scope]++
		v := store.View(state.Owner{})
		list, err := conditions.Get(v, here)
		changed := slices.Contains(list, conditions.Setting{Name: name, Value: value})
		if changed == (row.Scope == conditions.OfRegion) {
			t.Errorf("%s has the scope %s, and a change in another region is seen: %v", name, row.Scope, changed)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range conditions.All() {
		if tested[row.Scope] == 0 {
			t.Errorf("%s has the scope %q, which no case has", row.Name, row.Scope)
		}
	}
}
