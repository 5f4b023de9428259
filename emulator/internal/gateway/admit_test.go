package gateway_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// throttled returns a gateway with call limits and the clock of its store.
func throttled(t *testing.T, limits kinds.Throttle) (*testServer, *state.ManualClock) {
	t.Helper()
	clock := state.NewManualClock(gatewaytest.Start)
	store := gatewaytest.StoreAt(t, clock, plantKeys, func(tx *state.Tx) error {
		limits.AccountID = accountID
		kinds.Throttles.Put(tx, &limits)
		return nil
	})
	return newTestServer(t, func(cfg *gateway.Config) { cfg.Store = store }), clock
}

// passed makes n calls and counts those that pass; the others must
// fail with the code.
func passed(t *testing.T, g *testServer, n int, code string, params ...string) int {
	t.Helper()
	through := 0
	for range n {
		switch got := g.get(whoParams(params...)).code(t); got {
		case "":
			through++
		case code:
		default:
			t.Fatalf("a call = %s, want success or %s", got, code)
		}
	}
	return through
}

// A bucket lets its burst through and then its rate on the emulated time; each
// key, action and account has one of its own, and the realistic profile has
// numbers.
func TestThrottle(t *testing.T) {
	rate := &kinds.Rate{PerSecond: 10, Burst: 5}
	for _, c := range []struct {
		name   string
		limits kinds.Throttle
		code   string
	}{
		{"Key", kinds.Throttle{Key: rate}, "Throttling.User"},
		{"Action", kinds.Throttle{Actions: map[string]kinds.Rate{"Who": *rate}}, "Throttling.Api"},
		{"Account", kinds.Throttle{Account: rate}, "Throttling"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, clock := throttled(t, c.limits)
			if n := passed(t, g, 20, c.code, "AccessKeyId", "testid"); n != 5 {
				t.Errorf("%d calls of the burst pass, want 5", n)
			}
			clock.Advance(250 * time.Millisecond)
			if n := passed(t, g, 20, c.code, "AccessKeyId", "testid"); n != 2 {
				t.Errorf("%d calls pass after a quarter of a second, want 2", n)
			}
			clock.Advance(time.Hour)
			if n := passed(t, g, 20, c.code, "AccessKeyId", "testid"); n != 5 {
				t.Errorf("%d calls pass after an hour, want the burst of 5", n)
			}
			if n := passed(t, g, 20, c.code, "AccessKeyId", "otherid", "RegionId", "cn-shanghai"); n != 20 {
				t.Errorf("%d calls of another account pass, want all", n)
			}
		})
	}
	t.Run("AfterAReset", func(t *testing.T) {
		g, clock := throttled(t, kinds.Throttle{Account: rate})
		set := func() {
			if err := g.store.Update(state.Owner{}, func(tx *state.Tx) error {
				kinds.Throttles.Put(tx, &kinds.Throttle{AccountID: accountID, Account: rate})
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		for _, again := range map[string]func(){"set again": func() {}, "reset": func() {
			if err := g.store.AdjustClock(168*time.Hour, 1); err != nil {
				t.Fatal(err)
			}
			passed(t, g, 20, "Throttling", "AccessKeyId", "testid")
			if err := g.store.Reset(plantKeys); err != nil {
				t.Fatal(err)
			}
		}} {
			passed(t, g, 20, "Throttling", "AccessKeyId", "testid")
			again()
			set()
			if n := passed(t, g, 20, "Throttling", "AccessKeyId", "testid"); n != 5 {
				t.Errorf("%d calls pass, want the burst of 5", n)
			}
			clock.Advance(100 * time.Millisecond)
			if n := passed(t, g, 20, "Throttling", "AccessKeyId", "testid"); n != 1 {
				t.Errorf("%d calls pass after a tenth of a second, want 1", n)
			}
		}
	})
	g, _ := throttled(t, kinds.Throttle{Profile: kinds.ThrottleRealistic})
	if n := passed(t, g, 100, "Throttling.Api", "AccessKeyId", "testid"); n != 30 {
		t.Errorf("%d calls pass in the realistic profile, want the 30 of the table", n)
	}
	g, _ = throttled(t, kinds.Throttle{Profile: kinds.ThrottleOff})
	if n := passed(t, g, 1000, "", "AccessKeyId", "testid"); n != 1000 {
		t.Errorf("%d calls pass when throttling is off, want all", n)
	}
}

// A published limit lets its calls pass in a window, and no more before it is over.
func TestPublishedWindow(t *testing.T) {
	g, clock := throttled(t, kinds.Throttle{Profile: kinds.ThrottleRealistic})
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{0, 30}, {time.Second, 0}, {29 * time.Second, 0}, {29 * time.Second, 0}, {time.Second, 30}, {time.Hour, 30}} {
		clock.Advance(step.after)
		if n := passed(t, g, 40, "Throttling.Api", "AccessKeyId", "testid"); n != step.want {
			t.Errorf("%d calls pass %s later, want %d", n, step.after, step.want)
		}
	}
}

// A limit of ten a second lets exactly ten a second through, whoever calls at
// once.
func TestThrottleUnderConcurrency(t *testing.T) {
	g, clock := throttled(t, kinds.Throttle{Key: &kinds.Rate{PerSecond: 10, Burst: 10}})
	for second := range 3 {
		var wg sync.WaitGroup
		counts := make([]int, 16)
		for i := range counts {
			wg.Go(func() {
				for range 10 {
					if g.get(whoParams("AccessKeyId", "testid")).Code == http.StatusOK {
						counts[i]++
					}
				}
			})
		}
		wg.Wait()
		total := 0
		for _, n := range counts {
			total += n
		}
		if total != 10 {
			t.Errorf("in second %d pass %d calls, want 10", second, total)
		}
		clock.Advance(time.Second)
	}
}

// A policy refuses what it does not allow and what it denies, in the product's
// words and with the reason; who has no policy may do everything.
func TestPolicies(t *testing.T) {
	denying := &gateway.Product{
		Name: "Slb", Version: version, HostID: "slb.aliyuncs.com", Actions: product.Actions, Errors: product.Errors,
		Denial:    gateway.ErrorRow{Status: 403, Code: "Forbidden", Message: "User not authorized to operate on the specified resource."},
		Resources: []gateway.Resource{{Parameter: "Name", Type: "loadbalancer"}},
	}
	for _, c := range []struct {
		name, policy string
		params       []string
		denied       string
	}{
		{"NoPolicy", "", nil, ""},
		{"All", `{"Version":"1","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`, nil, ""},
		{"Wildcards", `{"Statement":[{"Effect":"Allow","Action":["slb:Wh?","slb:Mis*"],"Resource":"acs:slb:*:` + accountID + `:loadbalancer/*"}]}`, nil, ""},
		{"OtherAction", `{"Statement":[{"Effect":"Allow","Action":"slb:Describe*","Resource":"*"}]}`, nil, "ImplicitDeny"},
		{"Denied", `{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"},{"Effect":"Deny","Action":"slb:Who","Resource":"*"}]}`, nil, "ExplicitDeny"},
		{"OneResource", `{"Statement":[{"Effect":"Allow","Action":"*","Resource":"acs:slb:cn-hangzhou:*:loadbalancer/lb-1"}]}`, []string{"Name", "lb-1"}, ""},
		{"OtherResource", `{"Statement":[{"Effect":"Allow","Action":"*","Resource":"acs:slb:cn-hangzhou:*:loadbalancer/lb-1"}]}`, []string{"Name", "lb-2"}, "ImplicitDeny"},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := gatewaytest.Store(t, plantKeys, func(tx *state.Tx) error {
				if c.policy == "" {
					return nil
				}
				document, err := kinds.ParsePolicy(c.policy)
				kinds.Policies.Put(tx, &kinds.Policy{AccountID: accountID, Principal: kinds.KeyPrincipal("testid"), Document: document})
				return err
			})
			g := newTestServer(t, func(cfg *gateway.Config) { cfg.Store, cfg.Products = store, []*gateway.Product{denying} })
			got := g.get(whoParams(append(c.params, "AccessKeyId", "testid")...))
			var body struct {
				Code               string
				AccessDeniedDetail struct{ AuthAction, AuthPrincipalType, AuthPrincipalDisplayName, NoPermissionType, EncodedDiagnosticMessage string }
			}
			if err := json.Unmarshal([]byte(got.body), &body); err != nil {
				t.Fatal(err)
			}
			if c.denied == "" {
				if got.Code != http.StatusOK || strings.Contains(got.body, "AccessDeniedDetail") {
					t.Errorf("the call = %d %s, want success", got.Code, got.body)
				}
				return
			}
			detail := body.AccessDeniedDetail
			if got.Code != 403 || body.Code != "Forbidden" || detail.NoPermissionType != c.denied ||
				detail.AuthAction != "slb:Who" || detail.AuthPrincipalType != "SubUser" || detail.AuthPrincipalDisplayName != "testid" ||
				!strings.HasPrefix(detail.EncodedDiagnosticMessage, "AQEAAAAA") {
				t.Errorf("the call = %d %s, want 403 Forbidden with %s", got.Code, got.body, c.denied)
			}
		})
	}
}
