package gateway_test

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/state"
)

// faulty is a gateway behind a real connection, with fault rules.
type faulty struct {
	*httptest.Server
	store   *state.Store
	engine  *faults.Injector
	crashes int
	outcome atomic.Value // the last gateway.Outcome
}

func newFaulty(t *testing.T, rules ...string) *faulty {
	t.Helper()
	parsed, err := faults.Parse([]byte(strings.Join(rules, "\n---\n")))
	if err != nil {
		t.Fatal(err)
	}
	f := &faulty{engine: &faults.Injector{}}
	var list []faults.Status
	for _, rule := range parsed {
		list = append(list, faults.Status{Rule: rule, Since: gatewaytest.Start})
	}
	if err := f.engine.Set(list); err != nil {
		t.Fatal(err)
	}
	g := newTestServer(t, func(cfg *gateway.Config) {
		cfg.Faults, cfg.Crash = f.engine, func() { f.crashes++ }
		cfg.Observe = func(_ *gateway.Call, outcome gateway.Outcome) { f.outcome.Store(outcome) }
	})
	f.store, f.Server = g.store, httptest.NewServer(g)
	t.Cleanup(f.Server.Close)
	return f
}

// call makes one call over a connection of its own.
func (f *faulty) call(action string, params ...string) (*http.Response, []byte, error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	response, err := client.Post(f.URL+"/?"+values(append([]string{"Action", action, "Version", version}, params...)...).Encode(), "", nil)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response, body, err
}

// made reports whether a call of Misbehave took effect.
func (f *faulty) made(t *testing.T) (made bool) {
	t.Helper()
	v := f.store.View(state.Owner{})
	_, made = kinds.Accounts.Find(v, newAccount)
	return made
}

// Every effect is what the client sees of it, at every point, and only what is
// decided after the commit leaves its change behind.
func TestFaultsOnTheWire(t *testing.T) {
	code := func(want string) func(*testing.T, *http.Response, []byte, error) {
		return func(t *testing.T, r *http.Response, body []byte, err error) {
			t.Helper()
			var envelope struct{ Code string }
			if err != nil || json.Unmarshal(body, &envelope) != nil || envelope.Code != want {
				t.Errorf("the client sees %s (%v), want %s", body, err, want)
			}
		}
	}
	reset := func(t *testing.T, _ *http.Response, _ []byte, err error) {
		t.Helper()
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("the client sees %v, want a reset connection", err)
		}
	}
	for _, c := range []struct {
		name, rule string
		sees       func(*testing.T, *http.Response, []byte, error)
		made       bool
	}{
		{"Error", "effect: {error: {code: Busy, message: m, httpStatus: 503}}", code("Busy"), false},
		{"ErrorAtAccept", "at: accept\neffect: {error: {code: Busy}}", code("Busy"), false},
		{"ErrorBeforeCommit", "at: beforeCommit\neffect: {error: {code: Busy}}", code("Busy"), false},
		{"ErrorAfterCommit", "at: afterCommit\neffect: {error: {code: Busy}}", code("Busy"), true},
		{"ErrorAtReply", "at: reply\neffect: {error: {code: Busy}}", code("Busy"), true},
		{"Throttle", "effect: {throttle: {burst: 1, window: 1h}}", code(""), true},
		{"Delay", "effect: {delay: {fixed: 1ms}}", code(""), true},
		{"Stale", "effect: {stale: {calls: 1}}", code(""), true},
		{"Hang", "effect: {hang: 1ms}", reset, false},
		{"HangAfterCommit", "at: afterCommit\neffect: {hang: 1ms}", reset, true},
		{"Reset", "effect: {reset: true}", reset, true},
		{"ResetAtAccept", "at: accept\neffect: {reset: true}", reset, false},
		{"ResetBeforeCall", "at: beforeCall\neffect: {reset: true}", reset, false},
		{"ResetBeforeCommit", "at: beforeCommit\neffect: {reset: true}", reset, false},
		{"LostReply", "effect: {afterCommit: reset}", reset, true},
		{"LostReplyEmpty", "effect: {afterCommit: empty}", func(t *testing.T, r *http.Response, body []byte, err error) {
			if err != nil || len(body) != 0 {
				t.Errorf("the client sees %q (%v), want an empty answer", body, err)
			}
		}, true},
		{"Empty", "effect: {empty: true}", func(t *testing.T, r *http.Response, body []byte, err error) {
			if err != nil || r.StatusCode != 200 || len(body) != 0 {
				t.Errorf("the client sees %q (%v), want an empty answer", body, err)
			}
		}, true},
		{"Truncate", "effect: {truncate: {bytes: 5}}", func(t *testing.T, r *http.Response, body []byte, err error) {
			if !errors.Is(err, io.ErrUnexpectedEOF) || len(body) != 5 {
				t.Errorf("the client sees %q (%v), want five bytes and an early end", body, err)
			}
		}, true},
		{"Malformed", "effect: {malformed: true}", func(t *testing.T, r *http.Response, body []byte, err error) {
			if err != nil || len(body) == 0 || json.Valid(body) {
				t.Errorf("the client sees %q (%v), want text that is no JSON", body, err)
			}
		}, true},
		{"OtherAction", "match: {action: Who}\neffect: {reset: true}", code(""), true},
		{"Parameter", "match: {params.Name: none}\neffect: {reset: true}", code(""), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFaulty(t, "name: the-rule\n"+c.rule)
			response, body, err := f.call("Misbehave", "Name", "fine")
			c.sees(t, response, body, err)
			want := ""
			switch {
			case err != nil && len(body) == 0:
				want = "nothing"
			case err != nil:
				want = "part"
			case !json.Valid(body):
				want = "other"
			}
			if got := f.outcome.Load().(gateway.Outcome).Received; got != want {
				t.Errorf("the outcome has the client receive %q, want %q", got, want)
			}
			if made := f.made(t); made != c.made {
				t.Errorf("the change is made: %v, want %v", made, c.made)
			}
			struck := f.engine.Rules()[0].Hits == 1
			if marked := response != nil && response.Header.Get(gateway.FaultHeader) == "the-rule"; response != nil && marked != struck {
				t.Errorf("the answer is marked: %v, the rule has struck: %v", marked, struck)
			}
		})
	}
}

// A crash comes at its point, which the change names.
func TestCrashComesAtItsPoint(t *testing.T) {
	for point, made := range map[string]bool{"accept": false, "beforeCall": false, "beforeCommit": false, "afterCommit": true, "reply": true} {
		var atCrash bool
		engine := &faults.Injector{}
		rules, err := faults.Parse([]byte("name: crash\nat: " + point + "\neffect: {crash: true}"))
		if err != nil {
			t.Fatal(err)
		}
		if err := engine.Set([]faults.Status{{Rule: rules[0], Since: gatewaytest.Start}}); err != nil {
			t.Fatal(err)
		}
		f := &faulty{}
		g := newTestServer(t, func(cfg *gateway.Config) {
			f.store = cfg.Store
			cfg.Faults, cfg.Crash = engine, func() { atCrash = f.made(t) }
		})
		g.get(values("Action", "Misbehave", "Version", version, "Name", "fine"))
		if engine.Rules()[0].Hits != 1 || atCrash != made {
			t.Errorf("at %s: %d hits, the change made: %v, want one and %v", point, engine.Rules()[0].Hits, atCrash, made)
		}
	}
}

// What the handler refuses is not committed, so no rule of that point strikes.
func TestRefusedCallsAreNotCommitted(t *testing.T) {
	f := newFaulty(t, "name: before\nat: beforeCommit\neffect: {reset: true}", "name: after\neffect: {afterCommit: reset}")
	_, body, err := f.call("Misbehave", "Name", "fact")
	if err != nil || !strings.Contains(string(body), "Known.Fact") {
		t.Errorf("the client sees %s (%v), want the handler's refusal", body, err)
	}
	for _, rule := range f.engine.Rules() {
		if rule.Seen != 0 {
			t.Errorf("rule %s saw the call", rule.Rule.Name)
		}
	}
}

// Reads pass no commit; a hang ends when the client leaves.
func TestHangUntilTheClientLeaves(t *testing.T) {
	f := newFaulty(t, "name: hang\nmatch: {action: Who}\neffect: {hang: true}", "name: after\nmatch: {action: Who}\neffect: {afterCommit: reset}")
	struck := make(chan struct{})
	f.engine.Record = func(faults.Status) { close(struck) }
	conn, err := net.Dial("tcp", f.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "GET /?Action=Who&Version="+version+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-struck
	conn.Close()
	f.Server.Close() // returns when the handler has
	if seen := f.engine.Rules()[1].Seen; seen != 0 {
		t.Errorf("a read passed a commit %d times", seen)
	}
}

// A rule may ask for a field of the stored object.
func TestMatchResource(t *testing.T) {
	withResource := *product
	withResource.Resources = []gateway.Resource{{Parameter: "Name", Type: "account", Kind: kinds.Accounts.Kind()}}
	engine := &faults.Injector{}
	rules, err := faults.Parse([]byte("name: r\nmatch: {resource.defaultRegionId: cn-shanghai}\neffect: {error: {code: X}}"))
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.Set([]faults.Status{{Rule: rules[0], Since: gatewaytest.Start}}); err != nil {
		t.Fatal(err)
	}
	g := newTestServer(t, func(cfg *gateway.Config) { cfg.Products, cfg.Faults = []*gateway.Product{&withResource}, engine })
	for name, want := range map[string]string{"2222222222222222": "X", accountID: "", "none": ""} {
		if got := g.get(whoParams("Name", name)).code(t); got != want {
			t.Errorf("a call about %s = %q, want %q", name, got, want)
		}
	}
}
