package control_test

import (
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// value returns the value of a condition, or "" if it is not listed.
func value(list controlapi.Conditions, name string) string {
	for _, s := range list.Conditions {
		if s.Name == name {
			return s.Value
		}
	}
	return ""
}

// TestWorldConditions proves that conditions are shown and set, of the account
// and region that the call is about.
func TestWorldConditions(t *testing.T) {
	f := newFixture(t, nil)
	var got controlapi.Conditions
	f.ask("GET", "/v1/world", "", 200, &got)
	if value(got, "account.arrears") != "false" {
		t.Errorf("account.arrears = %q, want false", value(got, "account.arrears"))
	}
	f.ask("PATCH", "/v1/world", `{"settings":[{"name":"account.arrears","value":"true"},{"name":"stock.cn-hangzhou-h","value":"soldout"}]}`, 200, &got)
	if value(got, "account.arrears") != "true" || value(got, "stock.cn-hangzhou-h") != "soldout" {
		t.Errorf("conditions after a change = %+v, want both settings", got)
	}
	f.ask("PATCH", "/v1/world", `{"region":"cn-shanghai","settings":[{"name":"stock.cn-shanghai-b","value":"soldout"}]}`, 200, nil)
	f.ask("GET", "/v1/world?region=cn-shanghai", "", 200, &got)
	if value(got, "stock.cn-shanghai-b") != "soldout" || value(got, "stock.cn-hangzhou-h") != "" {
		t.Errorf("conditions of cn-shanghai = %+v, want its own stock", got)
	}
}

// TestKnownConditions proves that all conditions are listed with what they are called
// after, which can be set.
func TestKnownConditions(t *testing.T) {
	f := newFixture(t, nil)
	var known controlapi.KnownConditions
	f.ask("GET", "/v1/conditions", "", 200, &known)
	seen := make(map[string]controlapi.KnownCondition)
	for _, c := range known.Conditions {
		seen[c.Name] = c
	}
	if c := seen["account.arrears"]; c.Scope != "account" || c.Help == "" || c.Named != nil {
		t.Errorf("account.arrears is listed as %+v", c)
	}
	if !seen["key.<id>.secret"].Secret || !seen["policy.key.<id>"].Policy || seen["stock.<zone>"].Named != nil {
		t.Errorf("the conditions are %+v", known)
	}
	var got controlapi.Conditions
	for _, name := range seen["quota.<name>"].Named {
		f.ask("PATCH", "/v1/world", `{"settings":[{"name":"quota.`+name+`","value":"7"}]}`, 200, &got)
		if value(got, "quota."+name) != "7" {
			t.Errorf("quota.%s is not set", name)
		}
	}
	if len(seen["quota.<name>"].Named) < 10 {
		t.Errorf("the quotas are %q", seen["quota.<name>"].Named)
	}
}

// TestWorldRefusals proves that a change that is wrong in one part is refused
// whole, with the status of its sort.
func TestWorldRefusals(t *testing.T) {
	f := newFixture(t, nil)
	for _, test := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"PATCH", "/v1/world", `{"settings":[{"name":"account.arrears","value":"true"},{"name":"acount.balance","value":"1"}]}`, 400, "no condition acount.balance"},
		{"PATCH", "/v1/world", `{"settings":[{"name":"account.arrears","value":"perhaps"}]}`, 422, "account.arrears=perhaps"},
		{"PATCH", "/v1/world", `{"account":"1","settings":[{"name":"account.arrears","value":"true"}]}`, 404, "no account 1"},
		{"PATCH", "/v1/world", `{"region":"mars","settings":[{"name":"account.arrears","value":"true"}]}`, 404, "no region mars"},
		{"PATCH", "/v1/world", `{"setings":[]}`, 400, "setings"},
		{"PATCH", "/v1/world", `{`, 400, "not what this path takes"},
		{"PATCH", "/v1/world", `{"account":"` + strings.Repeat("x", 1<<20), 413, "must not exceed"},
		{"GET", "/v1/world?account=1", "", 404, "no account 1"},
		{"GET", "/v1/world?region=mars", "", 404, "no region mars"},
		{"GET", "/v1/quotas?account=1", "", 404, "no account 1"},
		{"GET", "/v1/quotas?region=mars", "", 404, "no region mars"},
	} {
		f.mustRefuse(test.method, test.path, test.body, test.status, test.want)
	}
	var got controlapi.Conditions
	f.ask("GET", "/v1/world", "", 200, &got)
	if value(got, "account.arrears") != "false" {
		t.Error("a refused change left a part of it behind")
	}
}

// TestQuotas proves that a quota is listed with its limit and who uses it.
func TestQuotas(t *testing.T) {
	f := newFixture(t, nil)
	f.ask("PATCH", "/v1/world", `{"settings":[{"name":"quota.vpc_quota_vswitches_num","value":"7"}]}`, 200, nil)
	var got controlapi.Quotas
	f.ask("GET", "/v1/quotas", "", 200, &got)
	for _, q := range got.Quotas {
		if q.Name != string(kinds.QuotaVSwitches) {
			continue
		}
		want := []controlapi.QuotaHolder{{ID: "vpc-bp1clbemu000000000001", Used: 2}, {ID: "vpc-bp1clbemu000000000002", Used: 1}}
		if q.Limit != 7 || q.Default == 7 || len(q.Holders) != 2 || q.Holders[0] != want[0] || q.Holders[1] != want[1] {
			t.Errorf("quota = %+v, want limit 7 and the holders %+v", q, want)
		}
		return
	}
	t.Errorf("quotas = %+v, want the quota of vSwitches", got)
}

// TestClock proves that the clock advances, freezes and goes faster, and never
// back.
func TestClock(t *testing.T) {
	clock := state.NewManualClock(gatewaytest.Start)
	f := fixtureOver(t, gatewaytest.StoreAt(t, clock), nil)
	for _, step := range []struct {
		body    string
		passes  time.Duration // on the base clock, after the change
		elapsed time.Duration // on the emulated one, since the start
		scale   float64
	}{
		{`{"advance":"168h"}`, time.Hour, 169 * time.Hour, 1},
		{`{"scale":0}`, time.Hour, 169 * time.Hour, 0},
		{`{"advance":"1h"}`, time.Hour, 170 * time.Hour, 0},
		{`{"scale":60}`, time.Minute, 171 * time.Hour, 60},
		{`{"advance":"1h","scale":1}`, time.Hour, 173 * time.Hour, 1},
		{`{}`, 0, 173 * time.Hour, 1},
	} {
		f.ask("POST", "/v1/clock", step.body, 200, nil)
		clock.Advance(step.passes)
		var got controlapi.Clock
		f.ask("GET", "/v1/clock", "", 200, &got)
		if !got.Now.Equal(gatewaytest.Start.Add(step.elapsed)) || got.Scale != step.scale {
			t.Errorf("the clock %v after %s = %+v, want %v after the start and scale %v", step.passes, step.body, got, step.elapsed, step.scale)
		}
	}
	for body, want := range map[string]struct {
		status int
		reason string
	}{
		`{"advance":"-1h"}`:      {422, "does not go back"},
		`{"advance":"tomorrow"}`: {422, "want a duration such as 168h"},
		`{"scale":-1}`:           {422, "the scale is -1"},
		`{"scale":1e9}`:          {422, "want 0 to"},
		`{"scale":"fast"}`:       {400, "not what this path takes: scale can't be of the kind string"},
		`{"skale":1}`:            {400, `takes: unknown field "skale"`},
		`[]`:                     {400, "it can't be of the kind array"},
	} {
		f.mustRefuse("POST", "/v1/clock", body, want.status, want.reason)
	}
}
