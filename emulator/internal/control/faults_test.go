package control_test

import (
	"context"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/snapshots"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/bolt"
)

const busy = `{name: busy, match: {action: DescribeRegions}, when: {times: 2}, effect: {error: {code: ServiceUnavailable}}}`

// withCloud gives the control API the products of the emulator.
func withCloud(cfg *control.Config) { cfg.Products = products.All() }

// describeRegions makes a call of the cloud's API and returns the code of its refusal, or "" for
// none.
func (f *fixture) describeRegions() string {
	f.t.Helper()
	var code string
	server := gateway.NewServer(gateway.Config{
		Store: f.store, Products: products.All(), Faults: f.faults.Injector,
		Observe: func(_ *gateway.Call, o gateway.Outcome) { code = o.Code },
	})
	server.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/?Version=2014-05-15&Action=DescribeRegions", nil))
	return code
}

// ruleNames returns the names of the fault rules, in order.
func ruleNames(list controlapi.FaultRules) string {
	var names []string
	for _, f := range list.Faults {
		names = append(names, f.Name)
	}
	return strings.Join(names, " ")
}

// TestFaultRules proves that rules are added in order, replaced in their place
// with fresh counters, reset, and deleted one by one and all together.
func TestFaultRules(t *testing.T) {
	f := newFixture(t, withCloud)
	var got controlapi.FaultRules
	f.ask("GET", "/v1/faults", "", 200, &got)
	if got.Faults == nil || len(got.Faults) > 0 {
		t.Fatalf("GET /v1/faults = %+v, want an empty list", got)
	}
	f.ask("POST", "/v1/faults", busy, 200, nil)
	f.ask("POST", "/v1/faults", "- {name: b, effect: {delay: {fixed: 1ms}}}\n- {name: c, effect: {hang: 1ms}}", 200, &got)
	if ruleNames(got) != "busy b c" {
		t.Errorf("rules = %q, want busy b c", ruleNames(got))
	}
	if code := f.describeRegions(); code != "ServiceUnavailable" {
		t.Errorf("the code of a struck call = %q, want the rule's", code)
	}
	f.ask("GET", "/v1/faults", "", 200, &got)
	if r := got.Faults[0]; r.Seen != 1 || r.Hits != 1 || r.Spent || r.At != "beforeCall" {
		t.Errorf("the rule after a call = %+v, want one hit and one more to come", r)
	}
	if text := got.Faults[0].Rule; !strings.Contains(text, "httpStatus: 503") {
		t.Errorf("the rule = %s, want the status that the cloud gives to its code", text)
	}
	f.describeRegions()
	f.ask("GET", "/v1/faults", "", 200, &got)
	if !got.Faults[0].Spent {
		t.Errorf("the rule after two hits = %+v, want it spent", got.Faults[0])
	}
	f.ask("POST", "/v1/faults/reset", "", 200, &got)
	if r := got.Faults[0]; r.Seen != 0 || r.Hits != 0 || r.Spent {
		t.Errorf("the rule after a reset = %+v, want fresh counters", r)
	}
	f.describeRegions()
	f.ask("POST", "/v1/faults", busy, 200, &got)
	if ruleNames(got) != "busy b c" || got.Faults[0].Hits != 0 {
		t.Errorf("rules after a replacement = %+v, want the place kept and the counters not", got)
	}
	f.ask("DELETE", "/v1/faults/b", "", 200, &got)
	if ruleNames(got) != "busy c" {
		t.Errorf("rules after a deletion = %q, want busy c", ruleNames(got))
	}
	f.mustRefuse("DELETE", "/v1/faults/b", "", 404, "no such fault rule: b")
	f.ask("DELETE", "/v1/faults", "", 200, &got)
	if code := f.describeRegions(); len(got.Faults) != 0 || code != "" {
		t.Errorf("after all are deleted there are %q, and a call is refused with %q", ruleNames(got), code)
	}
}

// TestFaultRuleRefusals proves that a rule that could never strike is refused
// with what was meant, and that nothing of its request is kept.
func TestFaultRuleRefusals(t *testing.T) {
	f := newFixture(t, withCloud)
	for _, test := range []struct {
		name, body string
		status     int
		want       string
	}{
		{"no rule", "", 422, "there is no rule"},
		{"no YAML", "{", 422, "line 1: a value is missing, or a [ or { is not closed"},
		{"no name", "effect: {reset: true}", 422, "line 1:1: name: it is missing"},
		{"no effect", "name: a", 422, "line 1:1: effect: it is missing"},
		{"unknown field", "{name: a, efect: {reset: true}}", 422, "line 1:11: efect: there is no such field: do you mean effect?"},
		{"unknown condition", "{name: a, match: {acton: x}, effect: {reset: true}}", 422, "do you mean action?"},
		{"unknown action", "{name: a, match: {action: CreateLoadBalancr}, effect: {reset: true}}", 422, "do you mean CreateLoadBalancer?"},
		{"unknown action of two", "{name: a, match: {action: 'Create*, Xyz*'}, effect: {reset: true}}", 422, "no emulated action is called Xyz*"},
		{"action that is not emulated", "{name: a, match: {action: CreateVpnGateway}, effect: {reset: true}}", 422, "no emulated action"},
		{"unknown parameter", "{name: a, match: {action: CreateLoadBalancer, params.LoadBalancerNam: x}, effect: {reset: true}}", 422, "do you mean LoadBalancerName?"},
		{"parameter of another action", "{name: a, match: {action: DescribeRegions, params.VServerGroupId: x}, effect: {reset: true}}", 422, "no action that the rule matches"},
		{"unknown code", "{name: a, match: {action: CreateLoadBalancer}, effect: {error: {code: ServiceUnavailabel}}}", 422, "do you mean ServiceUnavailable?"},
		{"custom code without a status", "{name: a, effect: {error: {code: Mine, custom: true}}}", 422, "httpStatus"},
		{"point of another effect", "{name: a, at: accept, effect: {stale: {calls: 1}}}", 422, "can happen at beforeCall"},
		{"unknown stage", "{name: a, effect: {life: {nlb.jobs: 1s}}}", 422, "effect.life.nlb.jobs: there is no stage of life nlb.jobs: do you mean nlb.job?"},
		{"bad expression", "{name: a, match: {region: {matches: '('}}, effect: {reset: true}}", 422, "matches"},
		{"one good, one bad", busy + "\n---\n{name: a, effect: {}}", 422, "exactly one"},
		{"too large", "name: a # " + strings.Repeat("x", 1<<20), 413, "must not exceed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f.mustRefuse("POST", "/v1/faults", test.body, test.status, test.want)
		})
	}
	// All problems are reported at once, with the lines of the file.
	const many = "name: a\nmatch:\n  action: CreateLoadBalancer\n  params.Nam: x\n  resource.Statu: y\neffect:\n  error: {code: Non}\n---\nname: b\nefect: {}\n"
	f.mustRefuse("POST", "/v1/faults?file=f.yaml", many, 422, "f.yaml:4:15: match.params.Nam: no action")
	f.mustRefuse("POST", "/v1/faults?file=f.yaml", many, 422, "\nf.yaml:5:19: match.resource.Statu: no action that the rule matches names a stored object")
	f.mustRefuse("POST", "/v1/faults?file=f.yaml", many, 422, "\nf.yaml:7:17: effect.error.code: the cloud does not answer Non")
	f.mustRefuse("POST", "/v1/faults?file=f.yaml", many, 422, "\nf.yaml:10:1: efect: there is no such field: do you mean effect?")
	if n := len(f.faults.Injector.Rules()); n != 0 {
		t.Errorf("%d rules are armed after refusals", n)
	}
}

// TestFaultRulesTakeWhatTheAPIHas proves that lists of parameters, globs and
// custom codes are no mistakes.
func TestFaultRulesTakeWhatTheAPIHas(t *testing.T) {
	f := newFixture(t, withCloud)
	for _, rule := range []string{
		"{name: a, match: {action: TagResources, params.Tag.2.Key: x}, effect: {reset: true}}",
		"{name: a, match: {action: '*LoadBalancer*, DescribeVpcs', params.PageSize: {absent: true}}, effect: {reset: true}}",
		"{name: a, effect: {error: {code: Mine, message: m, httpStatus: 418, custom: true}}}",
		`{"name": "a", "effect": {"throttle": {"qps": 5}}}`,
	} {
		f.ask("POST", "/v1/faults", rule, 200, nil)
	}
}

// openBolt opens the store in a folder.
func openBolt(t *testing.T, dir string) *state.Store {
	t.Helper()
	e, err := bolt.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	store, err := state.Open(context.Background(), state.Config{Schema: kinds.Schema, Engine: e})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// TestFaultRulesAreKept proves that rules and their counters survive a restart.
func TestFaultRulesAreKept(t *testing.T) {
	dir := t.TempDir()
	store := openBolt(t, dir)
	if err := store.Update(state.Owner{}, world.Default().Plant); err != nil {
		t.Fatal(err)
	}
	f := fixtureOver(t, store, withCloud)
	f.ask("POST", "/v1/faults", busy, 200, nil)
	f.describeRegions()
	var before, after controlapi.FaultRules
	f.ask("GET", "/v1/faults", "", 200, &before)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	f = fixtureOver(t, openBolt(t, dir), withCloud)
	defer f.store.Close()
	f.ask("GET", "/v1/faults", "", 200, &after)
	if len(after.Faults) != 1 || after.Faults[0] != before.Faults[0] || after.Faults[0].Hits != 1 {
		t.Errorf("rules after a restart = %+v, want %+v", after, before)
	}
	if code := f.describeRegions(); code != "ServiceUnavailable" {
		t.Errorf("the code of a call after a restart = %q, want the rule at work", code)
	}
	if code := f.describeRegions(); code != "" {
		t.Errorf("the code of a third call = %q, want the rule spent", code)
	}
}

// TestResetKeepsRules proves that a reset keeps the fault rules with their counters in
// force, also when the time goes back by it, and deletes them only when asked to.
func TestResetKeepsRules(t *testing.T) {
	f := newFixture(t, withCloud)
	f.ask("POST", "/v1/clock", `{"advance":"168h"}`, 200, nil)
	f.ask("POST", "/v1/faults", `{name: window, match: {action: DescribeRegions}, when: {for: 1h}, effect: {error: {code: ServiceUnavailable}}}`, 200, nil)
	for range 2 {
		f.ask("POST", "/v1/state/reset", "", 200, nil)
		if code := f.describeRegions(); code != "ServiceUnavailable" {
			t.Errorf("the code of a call after a reset = %q, want the rule at work", code)
		}
	}
	var list controlapi.FaultRules
	f.ask("GET", "/v1/faults", "", 200, &list)
	if len(list.Faults) != 1 || list.Faults[0].Hits != 2 || !list.Faults[0].Since.Equal(f.store.Now()) {
		t.Errorf("the rules are %+v", list.Faults)
	}
	f.mustRefuse("POST", "/v1/state/reset?faults=maybe", "", 422, `"maybe" is not true or false`)
	f.ask("POST", "/v1/state/reset?faults=true", "", 200, nil)
	list = controlapi.FaultRules{}
	f.ask("GET", "/v1/faults", "", 200, &list)
	if len(list.Faults) != 0 {
		t.Errorf("the rules are %+v after all were deleted", list.Faults)
	}
}

// TestOtherStateOtherRules proves that a state that is put in place brings its
// own fault rules: an imported one those that it had, a fresh world none.
func TestOtherStateOtherRules(t *testing.T) {
	dir := t.TempDir()
	f := newFixture(t, func(cfg *control.Config) {
		withCloud(cfg)
		cfg.Snapshots = snapshots.New(filepath.Join(dir, "data"))
	})
	f.ask("POST", "/v1/faults", busy, 200, nil)
	export := f.send("GET", "/v1/state", "", nil).Body.String()
	f.ask("PUT", "/v1/snapshots/busy", "", 200, nil)
	for _, put := range []string{"PUT /v1/state", "POST /v1/snapshots/busy/restore"} {
		f.ask("POST", "/v1/state/reset?faults=true", "", 200, nil)
		if code := f.describeRegions(); code != "" {
			t.Errorf("a call after a reset is refused with %q", code)
		}
		method, path, _ := strings.Cut(put, " ")
		f.ask(method, path, export, 200, nil)
		if code := f.describeRegions(); code != "ServiceUnavailable" {
			t.Errorf("the code of a call after %s = %q, want the rule at work", put, code)
		}
	}
}
