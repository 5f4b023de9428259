package gatewaytest

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/state"
)

// Params are the parameters of a call. An empty value is not sent.
type Params map[string]string

// Pairs returns parameters given as name, value, name, value.
func Pairs(pairs ...string) Params {
	p := make(Params, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		p[pairs[i]] = pairs[i+1]
	}
	return p
}

// Empty is the value of a parameter sent empty.
const Empty = "\x00"

// With returns the parameters with some changed. A parameter changed to "" is not sent.
func (p Params) With(changes Params) Params {
	changed := make(Params, len(p)+len(changes))
	maps.Copy(changed, p)
	maps.Copy(changed, changes)
	return changed
}

// Client calls the actions of one product through the gateway, unsigned, as the
// first account of the store.
type Client struct {
	t       testing.TB
	gateway http.Handler
	version string
	calls   atomic.Int64
	named   sync.Map // the evidence of an outcome, by the call's header callHeader
}

// NewClient returns a client of the product on the store.
func NewClient(t testing.TB, store *state.Store, p *gateway.Product) *Client {
	c := &Client{t: t, version: p.Version}
	c.gateway = gateway.NewServer(gateway.Config{Store: store, Products: []*gateway.Product{p}, Seed: 1,
		Observe: func(call *gateway.Call, o gateway.Outcome) { c.named.Store(call.Headers().Get(callHeader), o.Evidence) }})
	return c
}

// callHeader numbers a client's calls.
const callHeader = "Call"

// Reply is an answer in JSON.
type Reply struct {
	Status  int
	Code    string // "" for success
	Message string
	// Evidence lists the evidence that the journal names.
	Evidence string
	Body     map[string]any
}

// Call sends one call. Like the SDKs it adds a RegionId, cn-hangzhou, unless the
// parameters have one.
func (c *Client) Call(action string, params Params) Reply {
	c.t.Helper()
	query := url.Values{"Action": {action}, "Version": {c.version}, "RegionId": {"cn-hangzhou"}}
	for name, value := range params {
		query.Set(name, value)
		switch value {
		case "":
			query.Del(name)
		case Empty:
			query.Set(name, "")
		}
	}
	recorder := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodPost, "/?"+query.Encode(), nil)
	number := strconv.FormatInt(c.calls.Add(1), 10)
	request.Header.Set(callHeader, number)
	c.gateway.ServeHTTP(recorder, request)
	reply := Reply{Status: recorder.Code}
	if evidence, ok := c.named.LoadAndDelete(number); ok {
		reply.Evidence = evidence.(string)
	}
	if err := json.Unmarshal(recorder.Body.Bytes(), &reply.Body); err != nil {
		c.t.Errorf("%s(%v) answers no JSON: %v: %s", action, params, err, recorder.Body)
	}
	if reply.Status != http.StatusOK {
		reply.Code, reply.Message = reply.Text("Code"), reply.Text("Message")
	}
	return reply
}

// Do calls an action, which must succeed.
func (c *Client) Do(action string, params Params) Reply {
	c.t.Helper()
	reply := c.Call(action, params)
	if reply.Status != http.StatusOK {
		c.t.Fatalf("%s(%v) = %d %s: %s, want success", action, params, reply.Status, reply.Code, reply.Message)
	}
	return reply
}

// Get returns what is at a path such as Vpcs.Vpc.0.VpcId, or nil if nothing is.
func (r Reply) Get(path string) any {
	var at any = r.Body
	for name := range strings.SplitSeq(path, ".") {
		switch v := at.(type) {
		case map[string]any:
			at = v[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(v) {
				return nil
			}
			at = v[i]
		default:
			return nil
		}
	}
	return at
}

// Text is like Get, as text: it spells numbers and booleans, and returns "" for all else.
func (r Reply) Text(path string) string {
	switch v := r.Get(path).(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	default:
		return ""
	}
}

// Len returns the number of elements of the list at a path.
func (r Reply) Len(path string) int {
	list, _ := r.Get(path).([]any)
	return len(list)
}

// Expect compares what a reply has at each path.
func Expect(t *testing.T, reply Reply, want map[string]string) {
	t.Helper()
	for path, value := range want {
		if got := reply.Text(path); got != value {
			t.Errorf("%s = %q, want %q in %v", path, got, value, reply.Body)
		}
	}
}

// Lists checks in a subtest that a call lists n elements at a path.
func (c *Client) Lists(t *testing.T, name, action string, params Params, path string, want int) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		if got := c.Do(action, params); got.Len(path) != want {
			t.Errorf("%s(%v) = %v, want %d", action, params, got.Body, want)
		}
	})
}
