package emulatortest

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/names"
)

// Cloud is a cloud that a test has to itself: the first of its Server, or a fork.
type Cloud struct {
	api     string
	control *controlclient.Client
}

// URL returns the URL of the API and the metadata service, at a port of the cloud's own.
func (c *Cloud) URL() string { return c.api }

// Host returns the host:port of the API, as endpoint overrides take it.
func (c *Cloud) Host() string { return strings.TrimPrefix(c.api, "http://") }

// ControlURL returns the URL of the cloud's control API.
func (c *Cloud) ControlURL() string { return c.control.URL }

// Client returns a client of the cloud.
func (c *Cloud) Client() *Client { return &Client{URL: c.URL()} }

// World changes a condition, as `clbemu world set` does: World(t, "account.arrears", "true").
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

// Hits returns how many calls a fault rule affected. The rule must exist.
func (c *Cloud) Hits(t testing.TB, rule string) uint64 {
	t.Helper()
	list, err := c.control.Faults(context.Background())
	if err != nil {
		t.Fatalf("list the fault rules: %v", err)
	}
	var known []string
	for _, r := range list.Faults {
		if r.Name == rule {
			return r.Hits
		}
		known = append(known, r.Name)
	}
	t.Fatalf("there is no fault rule %s%s", rule, names.DidYouMean(rule, known, "Fault adds one"))
	return 0
}

// Calls returns the calls whose fields are as wanted, in the words of `clbemu
// journal --where`: Calls(t, "action=Create*", "code=OK"). A name that nothing has
// fails the test: there are never such calls.
func (c *Cloud) Calls(t testing.TB, where ...string) []*journal.Entry {
	t.Helper()
	return calls(t, c.control, where)
}

// Advance moves the emulated time forward, and holds it there.
func (c *Cloud) Advance(t testing.TB, d time.Duration) {
	t.Helper()
	if err := c.control.SetClock(context.Background(), controlapi.ClockChange{Advance: d.String(), Scale: new(float64)}); err != nil {
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
