package gateway_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

const (
	version   = "2014-05-15"
	accountID = "1234567890123456"
)

// wallClock is the time that the gateway compares clients' timestamps with.
var wallClock = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func plantKeys(tx *state.Tx) error {
	kinds.Accounts.Put(tx, &kinds.Account{ID: accountID, DefaultRegionID: "cn-hangzhou"})
	kinds.Accounts.Put(tx, &kinds.Account{ID: "2222222222222222", DefaultRegionID: "cn-shanghai"})
	kinds.Regions.Put(tx, &kinds.Region{ID: "cn-hangzhou"})
	kinds.Regions.Put(tx, &kinds.Region{ID: "cn-shanghai"})
	for _, key := range []*kinds.AccessKey{
		{ID: "testid", Secret: "testsecret", AccountID: accountID, Status: kinds.AccessKeyActive},
		{ID: "otherid", Secret: "othersecret", AccountID: "2222222222222222", Status: kinds.AccessKeyActive},
		{ID: "disabled", Secret: "testsecret", AccountID: accountID, Status: kinds.AccessKeyInactive},
		{ID: "STS.one", Secret: "testsecret", AccountID: accountID, Status: kinds.AccessKeyActive,
			SecurityToken: "token-one", Expiration: gatewaytest.Start.Add(time.Hour)},
		{ID: "STS.two", Secret: "testsecret", AccountID: accountID, Status: kinds.AccessKeyActive,
			SecurityToken: "token-two", Expiration: gatewaytest.Start.Add(time.Hour)},
	} {
		kinds.AccessKeys.Put(tx, key)
	}
	return nil
}

// item is an element of the answers of the test's actions.
type item struct {
	Key   string `rpc:"Key"`
	Value string `rpc:"Value,omitempty"`
}

// whoRequest and whoResponse belong to an action that returns whose call it is.
type whoRequest struct {
	Name string `rpc:"Name"`
}

type whoResponse struct {
	AccountID string `rpc:"AccountId"`
	RegionID  string `rpc:"RegionId"`
	Name      string `rpc:"Name,omitempty"`
}

func who(v *state.View, req *whoRequest) (*whoResponse, error) {
	return &whoResponse{AccountID: v.Scope().AccountID, RegionID: v.Scope().RegionID, Name: req.Name}, nil
}

const (
	factKnown  state.Fact = "Known"
	factNoRow  state.Fact = "NoRow"
	newAccount            = "3333333333333333"
)

// misbehave changes the state and then ends as the request says.
func misbehave(tx *state.Tx, req *whoRequest) (*gateway.Empty, error) {
	kinds.Accounts.Put(tx, &kinds.Account{ID: newAccount})
	switch req.Name {
	case "panic":
		panic("the handler has a fault")
	case "fact":
		return nil, state.Refuse(factKnown, "subject")
	case "no row":
		return nil, state.Refuse(factNoRow)
	case "other error":
		return nil, errors.New("secret detail")
	}
	return &gateway.Empty{}, nil
}

var product = &gateway.Product{
	Name: "Slb", Version: version, HostID: "slb.aliyuncs.com",
	RateLimits: gateway.ReadRateLimits("# a comment\nreads 9 1\nwrites 9 1\nWho 30 60\n"),
	Actions: []gateway.Action{
		gateway.Read("Who", who),
		gateway.Write("Misbehave", misbehave),
		gateway.Read("DescribeRegions", who),
		gateway.NotEmulated("CreateRocket"),
	},
	Errors: gateway.NewErrorTable(gateway.ErrorRow{Fact: factKnown, Status: http.StatusConflict, Code: "Known.Fact", Message: "About %s."}),
}

// testServer is a server on a store with keys and the test's product.
type testServer struct {
	*gateway.Server
	store *state.Store
}

func newTestServer(t testing.TB, change func(*gateway.Config)) *testServer {
	t.Helper()
	cfg := gateway.Config{
		Store:     gatewaytest.Store(t, plantKeys),
		Products:  []*gateway.Product{product},
		Elsewhere: func() map[string]string { return map[string]string{"2020-06-16": "Alb"} },
		WallClock: func() time.Time { return wallClock },
		Seed:      1,
	}
	if change != nil {
		change(&cfg)
	}
	return &testServer{Server: gateway.NewServer(cfg), store: cfg.Store}
}

// answer is an answer on the wire.
type answer struct {
	*httptest.ResponseRecorder
	body string
}

func (g *testServer) do(r *http.Request) answer {
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	return answer{w, w.Body.String()}
}

// get calls with everything in the query.
func (g *testServer) get(params url.Values) answer {
	return g.do(httptest.NewRequest(http.MethodGet, "/?"+params.Encode(), nil))
}

// code returns the error code of a JSON answer, or "" for a success.
func (a answer) code(t testing.TB) string {
	t.Helper()
	var body struct{ Code string }
	if err := json.Unmarshal([]byte(a.body), &body); err != nil {
		t.Fatalf("no JSON: %v: %s", err, a.body)
	}
	return body.Code
}

func values(pairs ...string) url.Values {
	v := make(url.Values)
	for i := 0; i < len(pairs); i += 2 {
		v.Add(pairs[i], pairs[i+1])
	}
	return v
}

// whoParams returns a call of the action Who, with more.
func whoParams(more ...string) url.Values {
	return values(append([]string{"Action", "Who", "Version", version}, more...)...)
}

var requestIDForm = regexp.MustCompile(`^[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}$`)

// wellFormed fails unless the answer is JSON or XML, as its type says, with the
// RequestId that its header has.
func wellFormed(t testing.TB, a answer) {
	t.Helper()
	var body struct {
		RequestID string `json:"RequestId" xml:"RequestId"`
	}
	var err error
	switch contentType := a.Header().Get("Content-Type"); contentType {
	case "application/json;charset=utf-8":
		err = json.Unmarshal([]byte(a.body), &body)
	case "text/xml;charset=utf-8":
		err = xml.Unmarshal([]byte(a.body), &body)
		if !strings.HasPrefix(a.body, xml.Header) {
			t.Errorf("no XML declaration: %s", a.body)
		}
	default:
		t.Errorf("content type %q", contentType)
	}
	if err != nil || !requestIDForm.MatchString(body.RequestID) || a.Header().Get("x-acs-request-id") != body.RequestID {
		t.Errorf("%v, RequestId %q, header %q: %s", err, body.RequestID, a.Header().Get("x-acs-request-id"), a.body)
	}
	trace := strings.ToLower(strings.ReplaceAll(body.RequestID, "-", ""))
	if got := a.Header().Get("x-acs-trace-id"); got != trace {
		t.Errorf("x-acs-trace-id = %s, want %s", got, trace)
	}
}

// A call may be a GET or a POST, with its parameters in the query, in the form
// or in both, and may name its action in headers.
func TestRequestForms(t *testing.T) {
	const form = "application/x-www-form-urlencoded"
	cases := []struct {
		name, method, query, contentType, body string
		headers                                map[string]string
	}{
		{"GET", "GET", "Action=Who&Version=2014-05-15&Name=x", "", "", nil},
		{"POST query", "POST", "Action=Who&Version=2014-05-15&Name=x", form, "", nil},
		{"POST form", "POST", "", form, "Action=Who&Version=2014-05-15&Name=x", nil},
		{"POST form with charset", "POST", "", form + "; charset=UTF-8", "Action=Who&Version=2014-05-15&Name=x", nil},
		{"POST form without a type", "POST", "", "", "Action=Who&Version=2014-05-15&Name=x", nil},
		{"query and form", "POST", "Action=Who&Version=2014-05-15", form, "Name=x", nil},
		{"headers", "POST", "", form, "Name=x", map[string]string{"x-acs-action": "Who", "x-acs-version": version}},
		{"parameters before headers", "POST", "Action=Who&Version=2014-05-15&Name=x", form, "",
			map[string]string{"x-acs-action": "Misbehave", "x-acs-version": "2000-01-01"}},
		{"body of another type", "POST", "Action=Who&Version=2014-05-15&Name=x", "text/plain", `{"Name":"y"}`, nil},
		{"JSON", "POST", "Action=Who&Version=2014-05-15", "application/json", `{"Name":"x"}`, nil},
	}
	g := newTestServer(t, nil)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, "/?"+c.query, strings.NewReader(c.body))
			if c.contentType != "" {
				r.Header.Set("Content-Type", c.contentType)
			}
			for name, value := range c.headers {
				r.Header.Set(name, value)
			}
			a := g.do(r)
			wellFormed(t, a)
			if a.Code != http.StatusOK || !strings.Contains(a.body, `"Name":"x"`) {
				t.Errorf("answer %d %s", a.Code, a.body)
			}
		})
	}
}

// What is no call at all gets a code of the common error table.
func TestRefusedRequests(t *testing.T) {
	long := strings.Repeat("x", gateway.MaxBody)
	cases := []struct {
		name, method, query, body string
		status                    int
		code                      string
	}{
		{"PUT", "PUT", "Action=Who&Version=2014-05-15", "", 403, "UnsupportedHTTPMethod"},
		{"DELETE", "DELETE", "Action=Who&Version=2014-05-15", "", 403, "UnsupportedHTTPMethod"},
		{"PUT of a path of a product that is not emulated", "PUT", "Version=2020-06-16", "", 400, "InvalidAction.NotEmulated"},
		{"DELETE of one", "DELETE", "Version=2020-06-16", "", 400, "InvalidAction.NotEmulated"},
		{"nothing", "GET", "", "", 400, "MissingVersion"},
		{"no version", "GET", "Action=Who", "", 400, "MissingVersion"},
		{"no action", "GET", "Version=2014-05-15", "", 400, "MissingAction"},
		{"unknown version", "GET", "Action=Who&Version=2014-05-16", "", 400, "InvalidVersion"},
		{"product that is not emulated", "GET", "Action=Who&Version=2020-06-16", "", 400, "InvalidAction.NotEmulated"},
		{"path of a product that is not emulated", "GET", "Version=2020-06-16", "", 400, "InvalidAction.NotEmulated"},
		{"unknown action", "GET", "Action=Whose&Version=2014-05-15", "", 400, "InvalidAction.NotEmulated"},
		{"action in another case", "GET", "Action=who&Version=2014-05-15", "", 400, "InvalidAction.NotEmulated"},
		{"action that is not emulated", "GET", "Action=CreateRocket&Version=2014-05-15", "", 400, "InvalidAction.NotEmulated"},
		{"unknown region", "GET", "Action=Who&Version=2014-05-15&RegionId=mars", "", 404, "InvalidRegionId.NotFound"},
		{"bad escape in the query", "GET", "Action=Who&Version=2014-05-15&Name=%zz", "", 400, "InvalidParameter"},
		{"bad escape in the form", "POST", "Action=Who&Version=2014-05-15", "Name=%zz", 400, "InvalidParameter"},
		{"parameter twice", "GET", "Action=Who&Version=2014-05-15&Name=a&Name=b", "", 400, "InvalidName"},
		{"parameter in query and form", "POST", "Action=Who&Version=2014-05-15&Name=a", "Name=b", 400, "InvalidName"},
		{"action twice", "GET", "Action=Who&Action=Who&Version=2014-05-15", "", 400, "InvalidAction"},
		{"value that is not UTF-8", "GET", "Action=Who&Version=2014-05-15&Name=%ff", "", 400, "InvalidName"},
		{"name that is not UTF-8", "GET", "Action=Who&Version=2014-05-15&%ff=x", "", 400, "InvalidParameter"},
		{"value with a zero byte", "GET", "Action=Who&Version=2014-05-15&Name=a%00b", "", 400, "InvalidName"},
		{"name with a zero byte", "GET", "Action=Who&Version=2014-05-15&a%00b=x", "", 400, "InvalidParameter"},
		{"first of several bad ones", "GET", "Action=Who&Version=2014-05-15&b=%ff&a=%ff&c=%ff", "", 400, "InvalidA"},
		{"name that starts with a wide letter", "GET", "Action=Who&Version=2014-05-15&%C3%A9=1&%C3%A9=2", "", 400, "InvalidÉ"},
		{"largest body", "POST", "Action=Who&Version=2014-05-15", "Name=" + long[5:], 200, ""},
		{"body that says it is larger", "POST", "Action=Who&Version=2014-05-15", strings.Repeat("x", 2*gateway.MaxBody), 413, "RequestEntityTooLarge"},
		{"larger body", "POST", "Action=Who&Version=2014-05-15", "Name=" + long[4:], 413, "RequestEntityTooLarge"},
	}
	g := newTestServer(t, nil)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, "/?"+c.query, strings.NewReader(c.body))
			a := g.do(r)
			wellFormed(t, a)
			if a.Code != c.status || a.code(t) != c.code {
				t.Errorf("answer %d %s, want %d %s", a.Code, a.body, c.status, c.code)
			}
		})
	}
}

// The gateway refuses a body that breaks off, and does not read half of it.
func TestBrokenBody(t *testing.T) {
	body := io.MultiReader(strings.NewReader("Name=x"), brokenReader{})
	a := newTestServer(t, nil).do(httptest.NewRequest("POST", "/?Action=Who&Version=2014-05-15", body))
	if a.Code != http.StatusBadRequest || a.code(t) != "InvalidParameter" {
		t.Errorf("answer %d %s", a.Code, a.body)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// Without proof a call belongs to the account of its key, or to the first one;
// its region is the one it names, or the account's own.
func TestIdentify(t *testing.T) {
	cases := []struct {
		name, query, authorization string
		account, region            string
	}{
		{"nobody", "", "", accountID, "cn-hangzhou"},
		{"known key", "&AccessKeyId=otherid", "", "2222222222222222", "cn-shanghai"},
		{"unknown key", "&AccessKeyId=unknown", "", accountID, "cn-hangzhou"},
		{"region", "&AccessKeyId=otherid&RegionId=cn-hangzhou", "", "2222222222222222", "cn-hangzhou"},
		{"authorization header", "", "ACS3-HMAC-SHA256 Credential=otherid,SignedHeaders=host,Signature=00", "2222222222222222", "cn-shanghai"},
		{"broken authorization header", "", "ACS3-HMAC-SHA256", accountID, "cn-hangzhou"},
	}
	g := newTestServer(t, nil)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/?Action=Who&Version=2014-05-15"+c.query, nil)
			if c.authorization != "" {
				r.Header.Set("Authorization", c.authorization)
			}
			want := `"AccountId":"` + c.account + `","RegionId":"` + c.region + `"`
			if a := g.do(r); !strings.Contains(a.body, want) {
				t.Errorf("answer %s, want %s", a.body, want)
			}
		})
	}
}

// A handler that panics, or whose error the product's table does not know, costs
// one InternalError: the caller learns no detail and nothing changes.
func TestHandlerFailures(t *testing.T) {
	cases := []struct {
		name   string
		status int
		code   string
	}{
		{"panic", 500, "InternalError"},
		{"other error", 500, "InternalError"},
		{"no row", 500, "InternalError"},
		{"fact", 409, "Known.Fact"},
		{"nothing", 200, ""},
	}
	g := newTestServer(t, nil)
	for _, c := range cases {
		a := g.get(values("Action", "Misbehave", "Version", version, "Name", c.name))
		wellFormed(t, a)
		if a.Code != c.status || a.code(t) != c.code {
			t.Errorf("%s: answer %d %s, want %d %s", c.name, a.Code, a.body, c.status, c.code)
		}
		if strings.Contains(a.body, "secret detail") || strings.Contains(a.body, "goroutine") {
			t.Errorf("%s: the answer reveals what went wrong inside: %s", c.name, a.body)
		}
		v := g.store.View(state.Owner{})
		if _, changed := kinds.Accounts.Find(v, newAccount); changed != (c.status == 200) {
			t.Errorf("%s: changed the state: %v", c.name, changed)
		}
	}
}

// Observers see every call with its outcome and what no field of its action
// reads.
func TestObserve(t *testing.T) {
	var seen []string
	g := newTestServer(t, func(cfg *gateway.Config) {
		cfg.Observe = func(c *gateway.Call, o gateway.Outcome) {
			if o.Duration <= 0 {
				t.Errorf("duration %v", o.Duration)
			}
			seen = append(seen, strings.Join([]string{c.Product(), c.ActionName, o.Code, strings.Join(c.Unread(), " ")}, "/"))
		}
	})
	g.get(whoParams("Name", "x", "RegionId", "cn-hangzhou", "Nmae", "x", "Extra", "", "OwnerId", "1"))
	g.get(whoParams("RegionId", "mars"))
	g.get(values("Action", "Who", "Version", "1"))
	g.get(nil)
	g.get(values("Action", "Who", "Version", "2020-06-16"))
	want := "Slb/Who//Extra Nmae, Slb/Who/InvalidRegionId.NotFound/, /Who/InvalidVersion/, //MissingVersion/, Alb/Who/InvalidAction.NotEmulated/"
	if got := strings.Join(seen, ", "); got != want {
		t.Errorf("observed\n%s, want\n%s", got, want)
	}
}

// Two rows for one action, or two products for one version, are a programming
// error that no server starts with.
func TestNewServerRefusesAmbiguity(t *testing.T) {
	twice := &gateway.Product{Version: "1", Actions: []gateway.Action{gateway.Read("Who", who), gateway.Read("Who", who)}}
	cases := map[string]func(){
		"gateway: two rows for action Who":              func() { gateway.NewServer(gateway.Config{Products: []*gateway.Product{twice}}) },
		"gateway: two products with version 2014-05-15": func() { gateway.NewServer(gateway.Config{Products: []*gateway.Product{product, product}}) },
		"gateway: two error rows for {action: kind: fact:Known}": func() {
			gateway.NewErrorTable(gateway.ErrorRow{Fact: factKnown}, gateway.ErrorRow{Fact: factKnown})
		},
	}
	for want, fn := range cases {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if p := recover(); p != want {
					t.Errorf("panicked with %v, want %s", p, want)
				}
			}()
			fn()
			t.Error("no panic")
		})
	}
}

// The most particular row of an error table wins.
func TestErrorTable(t *testing.T) {
	const anyKind, lb = state.Kind(""), state.Kind("LoadBalancer")
	table := gateway.NewErrorTable(
		gateway.ErrorRow{Fact: "F", Code: "any"},
		gateway.ErrorRow{Fact: "F", Kind: lb, Code: "kind"},
		gateway.ErrorRow{Fact: "F", Actions: []string{"A", "B"}, Code: "action"},
		gateway.ErrorRow{Fact: "F", Kind: lb, Actions: []string{"A"}, Code: "action and kind"},
	)
	cases := []struct {
		action string
		kind   state.Kind
		want   string
	}{
		{"A", lb, "action and kind"}, {"B", lb, "action"}, {"C", lb, "kind"}, {"A", anyKind, "action"},
		{"C", anyKind, "any"}, {"C", "VPC", "any"},
	}
	for _, c := range cases {
		row, ok := table.Row(c.action, &state.Error{Fact: "F", Kind: c.kind})
		if !ok || row.Code != c.want {
			t.Errorf("Row(%s, %s) = %v, want %s", c.action, c.kind, row, c.want)
		}
	}
	if row, ok := table.Row("A", &state.Error{Fact: "G"}); ok {
		t.Errorf("Row of an unknown fact = %v", row)
	}
	if n := len(table.Rows()); n != 4 {
		t.Errorf("%d rows, want 4", n)
	}
}

// The same seed gives the same RequestIds, and no two calls share one.
func TestRequestIDs(t *testing.T) {
	ids := func(seed uint64) (ids []string) {
		g := newTestServer(t, func(cfg *gateway.Config) { cfg.Seed = seed })
		for range 3 {
			ids = append(ids, g.get(whoParams()).Header().Get("x-acs-request-id"))
		}
		return ids
	}
	first, again, other := ids(1), ids(1), ids(2)
	if strings.Join(first, " ") != strings.Join(again, " ") {
		t.Errorf("seed 1 gives %v and then %v", first, again)
	}
	if first[0] == first[1] || first[0] == other[0] {
		t.Errorf("RequestIds repeat: %v, %v", first, other)
	}
}
