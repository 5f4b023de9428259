package target_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/emulatortest"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/emulator/target/private"
	"github.com/clbemu/clbemu/emulator/world/conditions"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/scenarios"
)

func newLocal(t *testing.T) *private.Emulator {
	t.Helper()
	local, err := private.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := local.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return local
}

// newRemote returns a target on a running emulator.
func newRemote(t *testing.T) (*target.Remote, *emulatortest.Server) {
	t.Helper()
	s := emulatortest.Start(t)
	return &target.Remote{Products: products.All(), API: s.URL(), Control: s.ControlURL() + "/"}, s
}

var create = scenarios.APICall{Product: "Slb", Action: "CreateLoadBalancer", UserAgent: scenarios.ClientAgent,
	Params: map[string]string{"AddressType": "internet", "InstanceChargeType": "PayByCLCU", "ClientToken": "once"}}

// TestCallsWhatItSays proves that a scenario's call is the one that its step names: no
// parameter signs it for another cloud, or makes another action of it.
func TestCallsWhatItSays(t *testing.T) {
	remote, server := newRemote(t)
	for _, name := range []string{"Action", "action", "AccessKeyId", "Version", "SignatureNonce"} {
		_, err := remote.Call(t.Context(), scenarios.APICall{Product: "Slb", Action: "DescribeRegions", Params: map[string]string{name: "CreateLoadBalancer"}})
		if err == nil || !strings.Contains(err.Error(), name+`" is a parameter of the protocol`) {
			t.Errorf("Call with %s = %v", name, err)
		}
	}
	if calls := server.Calls(t); len(calls) > 0 {
		t.Errorf("called is %+v", calls)
	}
}

// mustCall makes a call that must be answered with success.
func mustCall(t *testing.T, target scenarios.Target, call scenarios.APICall) scenarios.Answer {
	t.Helper()
	answer, err := target.Call(t.Context(), call)
	if err != nil || answer.Status != 200 {
		t.Fatalf("Call(%s) = %+v, %v, want success", call.Action, answer, err)
	}
	return answer
}

// do fails the test when something that must work does not.
func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func used(t *testing.T, target scenarios.Target) int {
	t.Helper()
	quotas, err := target.Quotas(t.Context())
	do(t, err)
	n := 0
	for _, q := range quotas {
		if q.Name == "slb_quota_instances_num" {
			for _, by := range q.Used {
				n += by
			}
		}
	}
	return n
}

// TestRestart proves that what was acknowledged survives a restart and a kill, as
// does the journal, and that an emulator that crashed serves the next call.
func TestRestart(t *testing.T) {
	local := newLocal(t)
	id := mustCall(t, local, create).Body["LoadBalancerId"]
	do(t, local.Restart(t.Context(), false))
	do(t, local.Restart(t.Context(), true))
	if again := mustCall(t, local, create).Body["LoadBalancerId"]; again != id {
		t.Errorf("after the restarts the token gives %v, want %v", again, id)
	}
	calls, err := local.Calls(t.Context(), 1)
	if err != nil || len(calls) != 1 || calls[0].Action != "CreateLoadBalancer" {
		t.Errorf("Calls(1) = %v, %v, want the second call", calls, err)
	}
	rules, err := faults.Parse([]byte("{name: f, match: {action: CreateLoadBalancer}, at: beforeCommit, effect: {crash: true}, when: {times: 1}}"))
	do(t, err)
	do(t, local.AddFault(t.Context(), rules[0]))
	create := create
	create.Params = map[string]string{"AddressType": "internet", "InstanceChargeType": "PayByCLCU"}
	if answer, err := local.Call(t.Context(), create); err != nil || answer.Lost == "" {
		t.Errorf("the call that crashes = %+v, %v, want no answer", answer, err)
	}
	if n := used(t, local); n != 1 {
		t.Errorf("%d load balancers after a crash before the commit, want 1", n)
	}
	mustCall(t, local, create)
	if n := used(t, local); n != 2 {
		t.Errorf("%d load balancers after the crash, want 2", n)
	}
}

// TestTargets proves of both stages that conditions, faults, the clock, quotas,
// addresses and the journal are the emulator's.
func TestTargets(t *testing.T) {
	remote, _ := newRemote(t)
	for name, target := range map[string]scenarios.Target{"local": newLocal(t), "remote": remote} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			mark, err := target.Mark(ctx)
			do(t, err)
			do(t, target.Set(ctx, []scenarios.Setting{{Name: "account.arrears", Value: "true"}, {Name: "vswitch.vsw-bp1clbemu000000000001.freeAddresses", Value: "3"}}))
			answer, err := target.Call(ctx, create)
			if err != nil || answer.Body["Code"] != "ORDER.ARREARAGE" {
				t.Errorf("Call = %+v, %v, want the refusal", answer, err)
			}
			if free, err := target.FreeAddresses(ctx, "vsw-bp1clbemu000000000001"); err != nil || free != 3 {
				t.Errorf("FreeAddresses = %d, %v, want 3", free, err)
			}
			if _, err := target.FreeAddresses(ctx, "none"); err == nil {
				t.Error("FreeAddresses of no vSwitch succeeds")
			}
			rules, err := faults.Parse([]byte("{name: f, match: {action: DescribeRegions}, effect: {reset: true}}"))
			do(t, err)
			do(t, target.AddFault(ctx, rules[0]))
			if lost, err := target.Call(ctx, scenarios.APICall{Product: "Slb", Action: "DescribeRegions"}); err != nil || lost.Lost == "" {
				t.Errorf("Call = %+v, %v, want no answer", lost, err)
			}
			if list, err := target.Faults(ctx); err != nil || len(list) != 1 || list[0].Hits != 1 {
				t.Errorf("Faults = %+v, %v, want one hit", list, err)
			}
			do(t, target.ClearFaults(ctx, "f"))
			part := 0.5
			do(t, target.SetClock(ctx, time.Hour, &part))
			calls, err := target.Calls(ctx, mark)
			if err != nil || len(calls) != 2 || calls[0].UserAgent != scenarios.ClientAgent || calls[0].Code != "ORDER.ARREARAGE" || len(calls[1].Faults) != 1 {
				t.Errorf("Calls = %+v, %v, want the refusal of the client and the lost call", calls, err)
			}
			for _, err := range []error{target.Set(ctx, []scenarios.Setting{{Name: "none", Value: "1"}}), target.ClearFaults(ctx, "none"), target.SetClock(ctx, -time.Hour, nil)} {
				if err == nil {
					t.Error("a change that makes no sense succeeds")
				}
			}
		})
	}
}

// TestTimeout proves that a client that gives up leaves a call that is done all
// the same, and that the result says there was no answer.
func TestTimeout(t *testing.T) {
	local := newLocal(t)
	rules, err := faults.Parse([]byte("{name: f, match: {action: CreateLoadBalancer}, effect: {delay: {fixed: 1h}}}"))
	do(t, err)
	do(t, local.AddFault(t.Context(), rules[0]))
	impatient := create
	impatient.Timeout = time.Second // for what does not come
	answer, err := local.Call(t.Context(), impatient)
	if err != nil || !strings.Contains(answer.Lost, "1s") {
		t.Errorf("Call = %+v, %v, want no answer within 1s", answer, err)
	}
	await.Until(t, "the load balancer is there", func() bool { return used(t, local) == 1 })
}

// TestRemoteIsPutBack proves that a running emulator has its conditions and the
// pace of its clock back when a part is over, and that it is not ended.
func TestRemoteIsPutBack(t *testing.T) {
	remote, s := newRemote(t)
	ctx := t.Context()
	other := &target.Remote{Products: products.All(), API: s.URL(), Control: s.ControlURL()}
	do(t, other.Set(ctx, []scenarios.Setting{{Name: "account.balance", Value: "500"}}))
	do(t, remote.Set(ctx, []scenarios.Setting{{Name: "account.balance", Value: "1"}, {Name: "quota.slb_quota_acls_num", Value: "1"},
		{Name: "stock.cn-hangzhou-g", Value: "soldout"}, {Name: "throttle.key", Value: "1000/1000"},
		{Name: "vswitch.vsw-bp1clbemu000000000001.freeAddresses", Value: "0"},
		{Name: "policy.key.testid", Value: `{"Version":"1","Statement":[{"Effect":"Deny","Action":"*","Resource":"*"}]}`}}))
	frozen := 0.0
	do(t, remote.SetClock(ctx, 0, &frozen))
	do(t, remote.Close(ctx))
	fresh := target.Remote{Products: products.All(), API: s.URL(), Control: s.ControlURL()}
	mustCall(t, &fresh, create)
	if free, err := fresh.FreeAddresses(ctx, "vsw-bp1clbemu000000000001"); err != nil || free == 0 {
		t.Errorf("FreeAddresses = %d, %v, want the addresses from before", free, err)
	}
	do(t, other.Set(ctx, []scenarios.Setting{{Name: "account.balance", Value: "99"}}))
	do(t, other.Close(ctx))
	if status := s.Store().ClockStatus(); status.Scale != 1 {
		t.Errorf("the clock goes at %v, want as before", status.Scale)
	}
	if remote.CanRestart() || remote.Restart(ctx, true) == nil {
		t.Error("a running emulator can be ended")
	}
}

// TestRestoresWhatAYearSets proves that what a year and a site set is restored, too.
func TestRestoresWhatAYearSets(t *testing.T) {
	remote, s := newRemote(t)
	ctx := t.Context()
	other := &target.Remote{Products: products.All(), API: s.URL(), Control: s.ControlURL()}
	do(t, other.Set(ctx, []scenarios.Setting{{Name: "quota.slb_quota_acls_num", Value: "7"}, {Name: "quota.slb_quota_instances_num", Value: "9"},
		{Name: "stock.shared", Value: "true"}}))
	do(t, remote.Set(ctx, []scenarios.Setting{{Name: "cloud.year", Value: "2024"}, {Name: "account.site", Value: "international"}}))
	do(t, remote.Close(ctx))
	list, err := (&controlclient.Client{URL: s.ControlURL()}).World(ctx, controlapi.Where{})
	do(t, err)
	got := make(map[string]string)
	for _, c := range list {
		got[c.Name] = c.Value
	}
	for name, want := range map[string]string{"quota.slb_quota_acls_num": "7", "quota.slb_quota_instances_num": "9", "stock.shared": "true", "stock.payBySpec": "false"} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}

// TestFormerValues proves that each condition is set back to a value that it takes, also one
// that the emulator did not list.
func TestFormerValues(t *testing.T) {
	_, s := newRemote(t)
	list, err := (&controlclient.Client{URL: s.ControlURL()}).World(t.Context(), controlapi.Where{})
	do(t, err)
	before := make(map[string]string)
	for _, c := range list {
		before[c.Name] = c.Value
	}
	for _, c := range conditions.All() {
		name := regexp.MustCompile(`<\w+>`).ReplaceAllString(c.Name, "other")
		if value := target.Former(before, name); !c.Secret && c.Value.Check(value) != nil {
			t.Errorf("%s is set back to %q: %v", name, value, c.Value.Check(value))
		}
	}
}

// TestRestoresKeys proves that a key that a part makes is gone after it, and that a secret
// that can't be restored is an error.
func TestRestoresKeys(t *testing.T) {
	remote, s := newRemote(t)
	ctx := t.Context()
	do(t, remote.Set(ctx, []scenarios.Setting{{Name: "key.other.secret", Value: "x"}}))
	do(t, remote.Set(ctx, []scenarios.Setting{{Name: "key.other.status", Value: "inactive"}}))
	do(t, remote.Close(ctx))
	list, err := (&controlclient.Client{URL: s.ControlURL()}).World(ctx, controlapi.Where{})
	do(t, err)
	if slices.ContainsFunc(list, func(c controlapi.Setting) bool { return strings.HasPrefix(c.Name, "key.other.") }) {
		t.Errorf("the key is still there: %v", list)
	}
	again, _ := newRemote(t)
	do(t, again.Set(ctx, []scenarios.Setting{{Name: "key.testid.secret", Value: "x"}}))
	if err := again.Close(ctx); err == nil || !strings.Contains(err.Error(), "put back key.testid.secret") {
		t.Errorf("Close = %v, want that the secret is another one", err)
	}
}

// TestNobodyThere proves that an emulator that does not run is an error of the
// play and no lost answer.
func TestNobodyThere(t *testing.T) {
	const gone = "http://127.0.0.1:1"
	remote := &target.Remote{Products: products.All(), API: gone, Control: gone}
	if _, err := remote.Call(t.Context(), create); err == nil || !strings.Contains(err.Error(), "is clbemu running") {
		t.Errorf("Call = %v, want a hint", err)
	}
	if _, err := remote.Mark(t.Context()); err == nil || !strings.Contains(err.Error(), "is clbemu running") {
		t.Errorf("Mark = %v, want a hint", err)
	}
}
