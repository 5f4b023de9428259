package contracttests

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

// What the world holds; see testdata/world.yaml.
const (
	account  = "1234567890123456"
	region   = "cn-hangzhou"
	vpc1     = "vpc-bp1clbemu000000000001"
	vpc2     = "vpc-bp1clbemu000000000002"
	vsw1     = "vsw-bp1clbemu000000000001"
	vsw2     = "vsw-bp1clbemu000000000002"
	vsw3     = "vsw-bp1clbemu000000000003"
	vtb1     = "vtb-bp1clbemu000000000001"
	vtb2     = "vtb-bp1clbemu000000000002"
	node1    = "i-bp1clbemu0000000001"
	node2    = "i-bp1clbemu0000000002"
	node3    = "i-bp1clbemu0000000003"
	foreign1 = "i-bp1clbemu0000000004"
	eni1     = "eni-bp1clbemu000000001"
	group1   = "sg-bp1clbemu0000000001"
)

// start is the emulated time of the prepared cloud.
var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// versions of the products.
var versions = map[string]string{"Slb": "2014-05-15", "Vpc": "2016-04-28", "Ecs": "2014-05-26", "Nlb": "2022-04-30",
	"Sts": "2015-04-01", "ResourceManager": "2020-03-31", "cas": "2020-04-07", "quotas": "2020-05-10"}

// params holds the parameters of a call; "{name}" stands for an id of the prepared
// cloud.
type params map[string]string

// step is a call that prepares a cloud. What it answers is saved under names.
type step struct {
	product, action string
	params          params
	save            map[string]string // name: path in the answer, such as Rules.Rule.0.RuleId
}

// names are the ids of what steps made.
type names map[string]string

// resolve puts ids in place of their names, and adds the region that the SDKs
// always send.
func (n names) resolve(p params) params {
	resolved := params{"RegionId": region}
	for name, value := range p {
		for placeholder, id := range n {
			value = strings.ReplaceAll(value, "{"+placeholder+"}", id)
		}
		resolved[name] = value
		if value == "" {
			delete(resolved, name)
		}
	}
	return resolved
}

// fixedCloud is an emulator without a listener, whose ids, RequestIds and time are
// always the same, with a resource of each kind.
type fixedCloud struct {
	t       testing.TB
	api     http.Handler
	store   *state.Store
	names   names
	clock   *state.ManualClock
	started *emulator.Emulator
}

// richWorld returns the default world with more in it.
func richWorld(t testing.TB) *world.World {
	t.Helper()
	w, err := world.Load("testdata/world.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// newCloud starts a cloud without any call yet.
func newCloud(t testing.TB) *fixedCloud {
	t.Helper()
	return startCloud(t, richWorld(t), nil)
}

// startCloud starts a cloud with a world, or with a fork of another's store.
func startCloud(t testing.TB, w *world.World, of *state.Store) *fixedCloud {
	t.Helper()
	clock := state.NewManualClock(start)
	e, err := emulator.New(t.Context(), emulator.Config{Engine: emulator.Memory, World: w, ForkOf: of, Clock: clock, Seed: 1})
	if err != nil {
		t.Fatalf("open the emulator: %v", err)
	}
	c := &fixedCloud{t: t, api: e.Handler(), store: e.Store(), names: make(names), clock: clock, started: e}
	t.Cleanup(c.close)
	return c
}

// prepared is the cloud of all tests that has the fixtures, once it is asked for.
var prepared struct {
	once  sync.Once
	store *state.Store
	names names
}

// preparedCloud starts a cloud with a resource of each kind, and what more steps make. It is a
// fork of one that all tests share, so that a row of a table costs no more than its own calls.
func preparedCloud(t testing.TB, more ...step) *fixedCloud {
	t.Helper()
	prepare(t)
	c := startCloud(t, nil, prepared.store)
	c.names = maps.Clone(prepared.names)
	for _, s := range more {
		c.do(s)
	}
	return c
}

// prepare makes the fixtures, which stay until the process ends.
func prepare(t testing.TB) {
	t.Helper()
	prepared.once.Do(func() {
		e, err := emulator.New(context.Background(), emulator.Config{Engine: emulator.Memory, World: richWorld(t), Clock: state.NewManualClock(start), Seed: 1})
		if err != nil {
			t.Fatalf("open the emulator: %v", err)
		}
		c := &fixedCloud{t: t, api: e.Handler(), store: e.Store(), names: make(names)}
		for _, s := range fixtures {
			c.do(s)
		}
		prepared.store, prepared.names = c.store, c.names
	})
	if prepared.store == nil {
		t.Fatal("the fixtures could not be made: see the first test that failed")
	}
}

func (c *fixedCloud) close() {
	problems, err := c.store.Check(context.Background())
	for _, problem := range problems {
		c.t.Errorf("the state is inconsistent: %s", problem)
	}
	if err != nil {
		c.t.Errorf("check the state: %v", err)
	}
	if err := c.started.Close(context.Background()); err != nil {
		c.t.Errorf("close the emulator: %v", err)
	}
}

// send makes one unsigned call in a format.
func (c *fixedCloud) send(product, action, format string, p params) *httptest.ResponseRecorder {
	query := url.Values{"Action": {action}, "Version": {versions[product]}, "Format": {format}}
	for name, value := range p {
		query.Set(name, value)
	}
	w := httptest.NewRecorder()
	c.api.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "http://127.0.0.1:9600/?"+query.Encode(), nil))
	return w
}

// do makes the call of a step, which must succeed.
func (c *fixedCloud) do(s step) {
	c.t.Helper()
	w := c.send(s.product, s.action, "JSON", c.names.resolve(s.params))
	var body map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != http.StatusOK {
		c.t.Fatalf("%s(%v) = %d %s (%v), want success", s.action, s.params, w.Code, w.Body, err)
	}
	c.names.save(s, body)
}

// save keeps what the answer of a step is to be known for.
func (n names) save(s step, body any) {
	for name, path := range s.save {
		at := body
		for part := range strings.SplitSeq(path, ".") {
			if list, ok := at.([]any); ok {
				i, err := strconv.Atoi(part)
				if err != nil || i >= len(list) {
					return
				}
				at = list[i]
				continue
			}
			object, _ := at.(map[string]any)
			at = object[part]
		}
		if number, ok := at.(float64); ok {
			at = strconv.FormatFloat(number, 'f', -1, 64)
		}
		n[name] = fmt.Sprint(at)
	}
}
