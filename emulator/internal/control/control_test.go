package control_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/metrics"
	"github.com/clbemu/clbemu/emulator/internal/rules"
	"github.com/clbemu/clbemu/emulator/internal/snapshots"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/state"
)

type nothing struct{}

// product is an API with one action of each sort.
var product = &gateway.Product{
	Name: "Test", Version: "2020-01-01", HostID: "test.aliyuncs.com", Errors: gateway.NewErrorTable(),
	Actions: []gateway.Action{
		gateway.Read("DescribeThings", func(*state.View, *nothing) (*nothing, error) { return &nothing{}, nil }),
		gateway.NotEmulated("CreateThing"),
	},
}

// fixture is a control API over a store with the default world.
type fixture struct {
	t       *testing.T
	store   *state.Store
	metrics *metrics.Metrics
	faults  *rules.Rules
	journal *journal.Journal
	handler http.Handler
}

func newFixture(t *testing.T, change func(*control.Config)) *fixture {
	t.Helper()
	return fixtureOver(t, newStore(t), change)
}

// newStore returns a store with the default world that refuses what can't be served.
func newStore(t *testing.T, plant ...func(*state.Tx) error) *state.Store {
	t.Helper()
	cfg := state.Config{Clock: state.NewManualClock(gatewaytest.Start), Requires: rules.Requires}
	return gatewaytest.StoreWith(t, cfg, append([]func(*state.Tx) error{world.Default().Plant}, plant...)...)
}

// fixtureOver is like newFixture, over a store of the test's own.
func fixtureOver(t *testing.T, store *state.Store, change func(*control.Config)) *fixture {
	t.Helper()
	cfg := control.Config{
		Store: store, Products: []*gateway.Product{product}, Plant: world.Default().Plant,
		Snapshots: snapshots.New(""), Host: "control.test", Version: controlapi.Version{Version: "v1"}, Log: zerolog.Nop(),
	}
	if change != nil {
		change(&cfg)
	}
	cfg.Metrics = metrics.New(store, cfg.Products)
	var err error
	cfg.Faults = rules.New(store, cfg.Products, &faults.Injector{})
	if cfg.Journal, err = journal.New(journal.Config{}); err != nil {
		t.Fatal(err)
	}
	return &fixture{t, store, cfg.Metrics, cfg.Faults, cfg.Journal, control.New(cfg)}
}

// send makes a call, to a loopback address unless headers say otherwise. The
// answer must be one that the OpenAPI document describes.
func (f *fixture) send(method, path, body string, headers map[string]string) *httptest.ResponseRecorder {
	f.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "127.0.0.1:9601"
	for name, value := range headers {
		r.Header.Set(name, value)
		if name == "Host" {
			r.Host = value
		}
	}
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	mustConform(f.t, r, w.Result(), w.Body.Bytes())
	return w
}

// ask makes a call that must be answered by the status, and decodes the answer
// into what is given.
func (f *fixture) ask(method, path, body string, want int, into any) {
	f.t.Helper()
	w := f.send(method, path, body, nil)
	if w.Code != want {
		f.t.Fatalf("%s %s with %q = %d %s, want %d", method, path, body, w.Code, w.Body, want)
	}
	if err := json.Unmarshal(w.Body.Bytes(), into); into != nil && err != nil {
		f.t.Fatalf("%s %s = %s: %v", method, path, w.Body, err)
	}
}

// mustRefuse makes a call that must be refused with the status and a reason with
// the text in it.
func (f *fixture) mustRefuse(method, path, body string, status int, text string) {
	f.t.Helper()
	var refusal struct{ Error string }
	f.ask(method, path, body, status, &refusal)
	if !strings.Contains(refusal.Error, text) {
		f.t.Errorf("%s %s with %q is refused with %q, want it to say %q", method, path, body, refusal.Error, text)
	}
}

// TestAdmission proves who may call what.
func TestAdmission(t *testing.T) {
	tests := []struct {
		name, token, method, path string
		headers                   map[string]string
		want                      int
	}{
		{"loopback address", "", "GET", "/v1/version", nil, 200},
		{"IPv6 loopback", "", "GET", "/v1/version", map[string]string{"Host": "[::1]:9601"}, 200},
		{"localhost", "", "GET", "/v1/version", map[string]string{"Host": "localhost:1"}, 200},
		{"the listener's own name", "", "GET", "/v1/version", map[string]string{"Host": "control.test:9601"}, 200},
		{"a name that resolves to loopback", "", "GET", "/v1/version", map[string]string{"Host": "evil.test:9601"}, 403},
		{"another address", "", "GET", "/metrics", map[string]string{"Host": "192.0.2.1"}, 403},
		{"health under any name", "", "GET", "/healthz", map[string]string{"Host": "10.0.0.1:9601"}, 200},
		{"another site's page", "", "POST", "/v1/state/reset", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"another site's page reads", "", "GET", "/v1/state", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"another port's page reads", "", "GET", "/v1/journal", map[string]string{"Sec-Fetch-Site": "same-site"}, 403},
		{"another site's page reads metrics", "", "GET", "/metrics", map[string]string{"Origin": "https://evil.test"}, 403},
		{"the console reads", "", "GET", "/v1/server", map[string]string{"Sec-Fetch-Site": "same-origin"}, 200},
		{"right token", "s3cret", "GET", "/v1/version", map[string]string{"Host": "any.test", "Authorization": "Bearer s3cret"}, 200},
		{"wrong token", "s3cret", "GET", "/v1/version", map[string]string{"Authorization": "Bearer s3cret2"}, 401},
		{"no token", "s3cret", "GET", "/v1/version", nil, 401},
		{"token in another scheme", "s3cret", "GET", "/v1/version", map[string]string{"Authorization": "Basic s3cret"}, 401},
		{"health without the token", "s3cret", "GET", "/readyz", nil, 200},
		{"unknown path", "", "GET", "/v2", nil, 404},
		{"wrong method", "", "DELETE", "/v1/state", nil, 405},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, func(cfg *control.Config) { cfg.Token = test.token })
			w := f.send(test.method, test.path, "", test.headers)
			if w.Code != test.want {
				t.Errorf("%s %s with %v = %d, want %d", test.method, test.path, test.headers, w.Code, test.want)
			}
		})
	}
}

// TestOtherMethod proves that whoever uses a wrong method learns which ones the path takes.
func TestOtherMethod(t *testing.T) {
	f := newFixture(t, nil)
	f.mustRefuse("TRACE", "/v1/state", "", 405, "this path takes GET and PUT, not TRACE")
	for path, item := range at(t, mustDocument(t), "paths") {
		allowed := strings.Split(f.send("TRACE", strings.ReplaceAll(path, "{name}", "x"), "", nil).Header().Get("Allow"), ", ")
		for method := range item.(node) {
			if method != "parameters" && !slices.Contains(allowed, strings.ToUpper(method)) {
				t.Errorf("%s allows %q, want %s among them", path, allowed, method)
			}
		}
	}
}

// TestTokenEverywhere proves that every call of the document needs the token, or
// else a local host, but for those that say that they need nothing.
func TestTokenEverywhere(t *testing.T) {
	withToken := newFixture(t, func(cfg *control.Config) { cfg.Token = "s3cret" })
	withoutToken := newFixture(t, nil)
	open := 0
	for path, item := range at(t, mustDocument(t), "paths") {
		path = strings.ReplaceAll(path, "{name}", "x")
		for method, operation := range item.(node) {
			if method == "parameters" {
				continue
			}
			if security, ok := operation.(node)["security"].([]any); ok && len(security) == 0 {
				open++
				continue
			}
			method = strings.ToUpper(method)
			if w := withToken.send(method, path, "", nil); w.Code != 401 {
				t.Errorf("%s %s without the token = %d, want 401", method, path, w.Code)
			}
			if w := withoutToken.send(method, path, "", map[string]string{"Host": "evil.test"}); w.Code != 403 {
				t.Errorf("%s %s of another host = %d, want 403", method, path, w.Code)
			}
		}
	}
	if open != 2 {
		t.Errorf("%d calls need no token, want only the health calls", open)
	}
}

// TestErrorsAreJSON proves that each refusal says why in the documented form.
func TestErrorsAreJSON(t *testing.T) {
	f := newFixture(t, func(cfg *control.Config) { cfg.Ready = func() error { return errors.New("it is closing") } })
	for _, call := range []string{"GET /v2", "DELETE /v1/state", "PUT /v1/state", "GET /readyz"} {
		method, path, _ := strings.Cut(call, " ")
		w := f.send(method, path, "{", nil)
		var body map[string]string
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || body["error"] == "" {
			t.Errorf("%s = %d %s, want JSON with an error", call, w.Code, w.Body)
		}
	}
}

// TestStateRoundTrip proves that an exported state comes back by an import,
// that a reset plants the world, and that check finds nothing wrong after it.
func TestStateRoundTrip(t *testing.T) {
	f := newFixture(t, nil)
	export := f.send("GET", "/v1/state", "", nil).Body.String()
	mustEdit := func() {
		if err := f.store.Update(state.Owner{}, func(tx *state.Tx) error {
			kinds.RouteEntries.Delete(tx, firstRouteEntry(tx.View))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	mustEdit()
	if w := f.send("PUT", "/v1/state", export, nil); w.Code != 200 {
		t.Fatalf("PUT /v1/state = %d %s", w.Code, w.Body)
	}
	if again := f.send("GET", "/v1/state", "", nil).Body.String(); again != export {
		t.Errorf("the state after an import = %s, want what was imported", again)
	}
	mustEdit()
	if w := f.send("POST", "/v1/state/reset", "", nil); w.Code != 200 {
		t.Fatalf("POST /v1/state/reset = %d %s", w.Code, w.Body)
	}
	if got := f.send("GET", "/metrics", "", nil).Body.String(); !strings.Contains(got, `clbemu_resources{kind="RouteEntry"} 5`) {
		t.Errorf("the metrics after a reset do not have the world's 5 route entries:\n%s", got)
	}
	if w := f.send("POST", "/v1/state/check", "", nil); w.Body.String() != "{\"problems\":[]}\n" {
		t.Errorf("POST /v1/state/check = %s, want no problems", w.Body)
	}
}

func firstRouteEntry(v *state.View) string {
	for e := range kinds.RouteEntries.All(v) {
		return e.ID
	}
	return ""
}

// TestImportRefusals proves that what is no consistent state is refused with
// the status of its sort and changes nothing.
func TestImportRefusals(t *testing.T) {
	f := newFixture(t, nil)
	export := f.send("GET", "/v1/state", "", nil).Body.String()
	for name, test := range map[string]struct {
		body string
		want int
	}{
		"no JSON":        {"hello", 400},
		"other version":  {strings.Replace(export, `"SchemaVersion":2`, `"SchemaVersion":3`, 1), 400},
		"unknown table":  {strings.Replace(export, `"VSwitch":`, `"Switch":`, 1), 400},
		"lost reference": {strings.ReplaceAll(export, `"VPCID":"vpc-bp1clbemu000000000002"`, `"VPCID":"vpc-none"`), 422},
	} {
		if w := f.send("PUT", "/v1/state", test.body, nil); w.Code != test.want {
			t.Errorf("PUT /v1/state with %s = %d %s, want %d", name, w.Code, w.Body, test.want)
		}
	}
	if again := f.send("GET", "/v1/state", "", nil).Body.String(); again != export {
		t.Error("a refused import changed the state")
	}
}

// TestResetFailure proves that a reset that can't plant leaves the state alone.
func TestResetFailure(t *testing.T) {
	f := newFixture(t, func(cfg *control.Config) {
		cfg.Plant = func(*state.Tx) error { return errors.New("barren") }
	})
	if w := f.send("POST", "/v1/state/reset", "", nil); w.Code != 500 || !strings.Contains(w.Body.String(), "barren") {
		t.Errorf("POST /v1/state/reset = %d %s, want 500 and the cause", w.Code, w.Body)
	}
	if got := f.send("GET", "/v1/state", "", nil).Body.String(); !strings.Contains(got, "vpc-bp1clbemu000000000001") {
		t.Error("a failed reset emptied the state")
	}
}

// TestActions proves that the list says what is emulated.
func TestActions(t *testing.T) {
	f := newFixture(t, nil)
	var rows []controlapi.Action
	if err := json.Unmarshal(f.send("GET", "/v1/actions", "", nil).Body.Bytes(), &rows); err != nil {
		t.Fatal(err)
	}
	want := []controlapi.Action{
		{Product: "Test", Version: "2020-01-01", Action: "CreateThing"},
		{Product: "Test", Version: "2020-01-01", Action: "DescribeThings", Emulated: true},
	}
	if len(rows) != 2 || rows[0] != want[0] || rows[1] != want[1] {
		t.Errorf("GET /v1/actions = %+v, want %+v", rows, want)
	}
}

// TestMetrics proves that calls are counted by product, action and code, and
// that names which clients invent do not become labels.
func TestMetrics(t *testing.T) {
	f := newFixture(t, nil)
	server := gateway.NewServer(gateway.Config{Store: f.store, Products: []*gateway.Product{product}, Observe: f.metrics.Observe})
	call := func(query string) {
		server.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/?Version=2020-01-01&"+query, nil))
	}
	call("Action=DescribeThings")
	call("Action=DescribeThings")
	call("Action=CreateThing")
	call("Action=Invented")
	for i := range 600 {
		call("Action=DescribeThings&Bad" + strings.Repeat("x", i) + "=%00")
	}
	text := f.send("GET", "/metrics", "", nil).Body.String()
	for _, want := range []string{
		`clbemu_calls_total{action="DescribeThings",code="OK",product="Test"} 2`,
		`clbemu_calls_total{action="CreateThing",code="InvalidAction.NotEmulated",product="Test"} 1`,
		`clbemu_calls_total{action="other",code="InvalidAction.NotEmulated",product="Test"} 1`,
		`clbemu_call_duration_seconds_count{action="DescribeThings",product="Test"} 2`,
		`clbemu_resources{kind="Instance"} 4`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("the metrics have no %s", want)
		}
	}
	if n := strings.Count(text, "\nclbemu_calls_total{"); n > 510 {
		t.Errorf("the metrics have %d series of calls, want a bounded number", n)
	}
	if strings.Contains(text, "Invented") {
		t.Error("the metrics have a label that a client invented")
	}
}

// TestImportTooLarge proves that the body of an import is bounded: this one
// would never end.
func TestImportTooLarge(t *testing.T) {
	f := newFixture(t, func(cfg *control.Config) { cfg.MaxImport = 1 << 20 })
	r := httptest.NewRequest("PUT", "/v1/state", io.MultiReader(strings.NewReader(`"`), endless{}))
	r.Host = "localhost"
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("PUT /v1/state without end = %d %s, want 413", w.Code, w.Body)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
