package emulatortest

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/target/private"
)

// Cloud is a cloud of a running emulator that a test has to itself.
type Cloud struct {
	name, api string
	control   *controlclient.Client
}

// forkLife is the time after which a cloud is deleted whose test was killed.
const forkLife = "1h"

// forks numbers the clouds of this process.
var forks atomic.Uint64

// shared is the emulator of this process that Fork forks.
var shared = sync.OnceValues(func() (string, error) {
	e, err := emulator.New(context.Background(), emulator.Config{Engine: emulator.Memory, StrictAuth: true, Seed: 1, Listen: "127.0.0.1:0",
		ControlListen: "127.0.0.1:0", Version: controlapi.Version{Version: "test"}, Apart: private.Player{}})
	if err == nil {
		err = e.Start()
	}
	if err != nil {
		return "", err
	}
	return "http://" + e.ControlAddr(), nil
})

// Fork forks a cloud for a test: of the emulator at CLBEMU_SERVER, whose token is in
// CLBEMU_CONTROL_TOKEN, or else of one in this process that all tests share. The cloud
// begins as the emulator's default one. When the test ends, Fork checks the cloud's
// state and deletes it. Its ids follow from the test's name.
func Fork(t testing.TB) *Cloud {
	t.Helper()
	control := &controlclient.Client{URL: os.Getenv("CLBEMU_SERVER"), Token: os.Getenv("CLBEMU_CONTROL_TOKEN")}
	if control.URL == "" {
		var err error
		if control.URL, err = shared(); err != nil {
			t.Fatalf("start the emulator: %v", err)
		}
	}
	return fork(t, control)
}

// Fork forks a cloud of the server for a test.
func (s *Server) Fork(t testing.TB) *Cloud {
	t.Helper()
	return fork(t, &controlclient.Client{URL: s.ControlURL()})
}

func fork(t testing.TB, control *controlclient.Client) *Cloud {
	t.Helper()
	seed := fnv.New64a()
	seed.Write([]byte(t.Name()))
	name := fmt.Sprintf("t-%d-%d", os.Getpid(), forks.Add(1))
	made, err := control.CreateCloud(context.Background(), name, controlapi.NewCloud{Expires: forkLife, Seed: cmp.Or(seed.Sum64(), 1), Port: true})
	if err != nil {
		t.Fatalf("fork a cloud: %v", err)
	}
	inner := *control
	inner.URL = strings.TrimSuffix(control.URL, "/") + "/clouds/" + name
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		problems, err := inner.CheckState(ctx)
		if err != nil {
			t.Errorf("check the state: %v", err)
		}
		for _, problem := range problems {
			t.Errorf("the state is inconsistent: %s", problem)
		}
		if err := control.DeleteCloud(ctx, name); err != nil {
			t.Errorf("delete the cloud: %v", err)
		}
	})
	return &Cloud{name: name, api: made.API, control: &inner}
}

// URL returns the URL of the API and the metadata service, at a port of the cloud's own.
func (c *Cloud) URL() string { return c.api }

// Host returns the host:port of the API, as endpoint overrides take it.
func (c *Cloud) Host() string { return strings.TrimPrefix(c.api, "http://") }

// ControlURL returns the URL of the cloud's control API.
func (c *Cloud) ControlURL() string { return c.control.URL }

// Client returns a client of the cloud.
func (c *Cloud) Client() *Client { return &Client{URL: c.URL()} }

// World changes a condition, as `clbemu world set` does.
func (c *Cloud) World(t testing.TB, name, value string) {
	t.Helper()
	if _, err := c.control.SetWorld(context.Background(), controlapi.Change{Settings: []controlapi.Setting{{Name: name, Value: value}}}); err != nil {
		t.Fatalf("set the world: %v", err)
	}
}

// Fault adds fault rules in YAML, as `clbemu fault add` does.
func (c *Cloud) Fault(t testing.TB, rules string) {
	t.Helper()
	if _, err := c.control.AddFaults(context.Background(), "", []byte(rules)); err != nil {
		t.Fatalf("add fault rules: %v", err)
	}
}

// Calls returns the calls whose fields are as wanted, like Server.Calls.
func (c *Cloud) Calls(t testing.TB, where ...string) []*journal.Entry {
	t.Helper()
	return calls(t, c.control, where)
}

// Advance moves the emulated time forward.
func (c *Cloud) Advance(t testing.TB, d time.Duration) {
	t.Helper()
	if err := c.control.SetClock(context.Background(), controlapi.ClockChange{Advance: d.String()}); err != nil {
		t.Fatalf("advance the clock: %v", err)
	}
}

// calls asks a journal.
func calls(t testing.TB, control *controlclient.Client, where []string) []*journal.Entry {
	t.Helper()
	query := url.Values{"kind": {"call"}}
	for _, condition := range where {
		name, value, ok := strings.Cut(condition, "=")
		if !ok {
			t.Fatalf("%q is not a condition, such as action=Create*", condition)
		}
		query.Set(name, value)
	}
	page, err := control.Journal(context.Background(), query)
	if err != nil {
		t.Fatalf("calls with %q: %v", where, err)
	}
	return page.Entries
}
