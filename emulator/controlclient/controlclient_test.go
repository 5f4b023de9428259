package controlclient_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/internal/control/routes"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/scenarios"
)

// seen notes which routes are called.
type seen struct {
	http.Handler
	mu     sync.Mutex
	routes map[*routes.Route]bool
}

var _ http.Handler = (*seen)(nil)

// ServeHTTP implements http.Handler.
func (s *seen) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	for _, route := range routes.All {
		pattern := strings.ReplaceAll(route.Path, "{name}", "a*") // what the test calls things
		if ok, _ := path.Match(pattern, r.URL.Path); ok && r.Method == route.Method {
			s.routes[route] = true
		}
	}
	s.mu.Unlock()
	s.Handler.ServeHTTP(w, r)
}

// places runs a test on an emulator over a connection, and in this process.
func places(t *testing.T, test func(t *testing.T, c *controlclient.Client, routes map[*routes.Route]bool)) {
	for _, inProcess := range []bool{false, true} {
		t.Run(map[bool]string{false: "connection", true: "process"}[inProcess], func(t *testing.T) {
			e, err := emulator.New(t.Context(), emulator.Config{Seed: 1, Version: controlapi.Version{Version: "v1"}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := e.Close(context.Background()); err != nil {
					t.Error(err)
				}
			}()
			s := &seen{Handler: e.ControlHandler(), routes: make(map[*routes.Route]bool)}
			c := controlclient.InProcess(s)
			if !inProcess {
				server := httptest.NewServer(s)
				defer server.Close()
				c = &controlclient.Client{URL: server.URL}
			}
			test(t, c, s.routes)
		})
	}
}

const rule = `{name: a1, match: {action: DescribeRegions}, effect: {error: {code: ServiceUnavailable}}}`

const scenario = "about: calls\nclient:\n  steps:\n    - repeat: {times: 3, steps: [{call: {action: DescribeRegions}}]}\n"

const node = `{"kind": "Node", "metadata": {"name": "worker"}, "spec": {"providerID": "cn-hangzhou.i-kind1"},
	"status": {"addresses": [{"type": "InternalIP", "address": "172.18.0.2"}]}}`

// TestEveryRoute proves that the client has a method for every call of the API,
// and that its answer is read.
func TestEveryRoute(t *testing.T) {
	places(t, func(t *testing.T, c *controlclient.Client, asked map[*routes.Route]bool) {
		ctx := t.Context()
		ok := func(what string, got bool, err error) {
			t.Helper()
			if err != nil || !got {
				t.Errorf("%s: %v, %v", what, got, err)
			}
		}
		ok("health", true, c.Health(ctx))
		ok("ready", true, c.Ready(ctx))
		var text bytes.Buffer
		ok("metrics", true, c.Metrics(ctx, &text))
		ok("document", true, c.OpenAPI(ctx, &text))
		ok("texts", strings.Contains(text.String(), "clbemu_resources") && strings.Contains(text.String(), "openapi: 3.1.0"), nil)
		v, err := c.Version(ctx)
		ok("version", v.Version == "v1", err)
		server, err := c.Server(ctx)
		ok("server", server.Version == v && server.Auth == controlapi.AuthOff && time.Since(server.Time) < time.Minute, err)
		actions, err := c.Actions(ctx)
		ok("actions", len(actions) > 100, err)
		testState(ctx, c, ok)
		testWorld(ctx, c, ok)
		testFaults(ctx, c, ok)
		testResources(ctx, t, c, ok)
		testJournal(ctx, t, c, ok)
		kinds, err := c.ResourceKinds(ctx)
		ok("kinds", len(kinds) > 10 && kinds[0].Name == "lb", err)
		called, err := c.MakeCall(ctx, controlapi.CloudCall{Product: "Slb", Action: "DescribeRegions"})
		ok("call", called.Status == http.StatusOK && called.Body["RequestId"] != "", err)
		refused, err := c.MakeCall(ctx, controlapi.CloudCall{Product: "Slb", Action: "DeleteLoadBalancer", Parameters: map[string]string{"LoadBalancerId": "lb-none"}})
		ok("refused call", refused.Status == http.StatusNotFound && refused.Body["Code"] == "InvalidLoadBalancerId.NotFound", err)
		_, err = c.MakeCall(ctx, controlapi.CloudCall{Product: "Slp", Action: "DescribeRegions"})
		ok("call of an unknown product", err != nil && strings.Contains(err.Error(), "do you mean Slb?"), nil)
		_, err = c.MakeCall(ctx, controlapi.CloudCall{Account: "1", Product: "Slb", Action: "DescribeRegions"})
		ok("call of an account without a key", err != nil && strings.Contains(err.Error(), "account 1 has no active access key"), nil)
		_, err = c.Traffic(ctx, "")
		ok("traffic without a data plane", err != nil && strings.Contains(err.Error(), "--data-plane ports"), nil)
		for _, route := range routes.All {
			if !asked[route] {
				t.Errorf("no method of the client calls %s %s", route.Method, route.Path)
			}
		}
	})
}

func testState(ctx context.Context, c *controlclient.Client, ok func(string, bool, error)) {
	var exported bytes.Buffer
	ok("export", true, c.ExportState(ctx, func(r io.Reader) error {
		_, err := io.Copy(&exported, r)
		return err
	}))
	length := exported.Len()
	repaired, err := c.ImportState(ctx, &exported)
	ok("import", length > 1000 && repaired == nil, err)
	problems, err := c.CheckState(ctx)
	ok("check", len(problems) == 0, err)
	made, err := c.CreateCloud(ctx, "a-team", controlapi.NewCloud{Expires: "1h"})
	ok("create a cloud", made.Name == "a-team" && made.From == "default" && made.AccessKeyPrefix == "a-team." && made.Resources > 10, err)
	clouds, err := c.Clouds(ctx)
	ok("clouds", len(clouds) == 2 && clouds[0].Name == "default" && clouds[1].Expires != nil, err)
	reset, err := c.ResetCloud(ctx, "a-team")
	ok("reset a cloud", reset.Name == "a-team", err)
	within := *c
	within.URL += "/clouds/a-team"
	described, err := within.Server(ctx)
	ok("a cloud's control API", described.Cloud == "a-team", err)
	ok("delete a cloud", true, c.DeleteCloud(ctx, "a-team"))
	ok("take", true, c.TakeSnapshot(ctx, "a1"))
	list, err := c.Snapshots(ctx)
	ok("snapshots", len(list) == 1 && list[0].Name == "a1" && list[0].Bytes > 1000, err)
	repaired, err = c.RestoreSnapshot(ctx, "a1")
	ok("restore", repaired == nil, err)
	ok("delete", true, c.DeleteSnapshot(ctx, "a1"))
	ok("reset", true, c.ResetState(ctx, true))
}

func testWorld(ctx context.Context, c *controlclient.Client, ok func(string, bool, error)) {
	where := controlapi.Where{RegionID: "cn-hangzhou"}
	balance := controlapi.Setting{Name: "account.balance", Value: "7"}
	set, err := c.SetWorld(ctx, controlapi.Change{Where: where, Settings: []controlapi.Setting{balance, {Name: "server.i-bp1clbemu0000000001.health", Value: "abnormal"}}})
	ok("set", len(set.Conditions) > 5 && set.Conditions[0] == balance && len(set.Warnings) == 1, err)
	list, err := c.World(ctx, where)
	ok("conditions", len(list) > 5 && list[0] == controlapi.Setting{Name: "account.balance", Value: "7"}, err)
	known, err := c.Conditions(ctx)
	ok("known conditions", len(known) > 10 && known[0].Name == balance.Name && known[0].Help != "", err)
	done, err := c.ImportCluster(ctx, where, strings.NewReader(node))
	ok("cluster", done.Instances.Created == 1, err)
	quotas, err := c.Quotas(ctx, where)
	ok("quotas", len(quotas) > 10 && quotas[0].Limit > 0, err)
	frozen := 0.0
	ok("set the clock", true, c.SetClock(ctx, controlapi.ClockChange{Advance: "1h", Scale: &frozen}))
	clock, err := c.Clock(ctx)
	ok("clock", clock.Scale == 0 && time.Until(clock.Now) > 50*time.Minute, err)
}

func testFaults(ctx context.Context, c *controlclient.Client, ok func(string, bool, error)) {
	list, err := c.AddFaults(ctx, "rules.yaml", []byte(rule))
	ok("add", len(list.Faults) == 1 && list.Faults[0].Name == "a1" && list.Faults[0].At == "beforeCall", err)
	list, err = c.ResetFaults(ctx)
	ok("reset", len(list.Faults) == 1, err)
	list, err = c.DeleteFault(ctx, "a1")
	ok("delete", len(list.Faults) == 0, err)
	list, err = c.DeleteFaults(ctx)
	ok("delete all", len(list.Faults) == 0, err)
	list, err = c.Faults(ctx)
	ok("faults", len(list.Faults) == 0, err)
	result, err := c.RunScenario(ctx, "", []byte(scenario))
	ok("play", result.Status == scenarios.Passed, err)
	result, err = c.RunScenario(ctx, "killed-in-mid-sync", nil)
	ok("play one of the library", result.Status == scenarios.Broken, err) // it wants an emulator of its own
	testPlaying(ctx, c, ok)
	ok("put an exploration", true, c.PutExploration(ctx, map[string]string{"scenario": "web"}))
	var explored struct{ Scenario string }
	ok("exploration", true, c.Exploration(ctx, &explored))
	ok("what was put", explored.Scenario == "web", nil)
	played, err := c.Scenarios(ctx)
	ok("scenarios", len(played.Results) == 3 && len(played.Library) > 10, err)
}

// testPlaying starts a scenario that would take an hour, watches it and stops it.
func testPlaying(ctx context.Context, c *controlclient.Client, ok func(string, bool, error)) {
	library, err := c.Library(ctx)
	ok("library", len(library) > 10 && library[0].About != "" && len(library[0].Parts) > 0, err)
	text, err := c.LibraryScenario(ctx, "arrears")
	ok("text", strings.Contains(string(text), "about: "), err)
	started, err := c.StartScenario(ctx, "", []byte(endless))
	ok("start", started.Scenario == "scenario", err)
	var events []controlapi.ScenarioEvent
	err = c.WatchScenarios(ctx, func(event controlapi.ScenarioEvent) error {
		events = append(events, event)
		switch {
		case event.Step != nil && event.Step.Passed:
			return c.StopScenario(ctx)
		case event.Result != nil:
			ok("stopped", strings.Contains(strings.Join(event.Result.Notes, " "), "it was stopped"), nil)
			return errEnough
		}
		return nil
	})
	ok("watch", errors.Is(err, errEnough) && len(events) > 2 && events[0].Event == controlapi.ScenarioBegun && events[1].Step.Passed, nil)
	ok("nothing to stop", c.StopScenario(ctx) != nil, nil)
}

const endless = "about: waits\nclient:\n  steps:\n    - call: {action: DescribeRegions}\n" +
	"    - wait: {within: 1h, every: 10ms, call: {action: DescribeLoadBalancers, expect: {fields: {TotalCount: 7}}}}\n"

func testResources(ctx context.Context, t *testing.T, c *controlclient.Client, ok func(string, bool, error)) {
	const made = "about: one\nclient:\n  steps:\n    - set: {account.balance: 5000}\n    - call: {action: CreateLoadBalancer, params: {LoadBalancerName: a1}}\n"
	result, err := c.RunScenario(ctx, "", []byte(made))
	if ok("make a load balancer", result.Status == scenarios.Passed, err); result.Status != scenarios.Passed {
		t.Fatalf("%+v", result.Failure)
	}
	list, err := c.Resources(ctx, controlclient.Wanted{Kind: "lb", Where: controlapi.Where{RegionID: "cn-hangzhou"}})
	ok("resources", len(list.Resources) == 1 && list.Resources[0].Name == "a1" && len(list.Kinds) == 1, err)
	tree, err := c.LoadBalancer(ctx, controlapi.Where{}, "a1")
	ok("load balancer", tree.LoadBalancer.ID == list.Resources[0].ID && len(tree.Addresses) == 1, err)
	if _, err := c.Explanation(ctx, "a1"); err == nil || !strings.Contains(err.Error(), "there is no code and no action a1") {
		t.Errorf("Explanation of nothing = %v", err)
	}
	explained, err := c.Explanation(ctx, "VSwitchAvailableIpNotExist")
	ok("explanation", len(explained.Causes) > 0 && len(explained.Evidence) > 0, err)
	var changes []controlapi.ResourceChange
	err = c.WatchResources(ctx, controlclient.Wanted{Kind: "lbs", Name: "a*"}, func(change controlapi.ResourceChange) error {
		changes = append(changes, change)
		if change.Change == controlapi.ResourcesSynced {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) || len(changes) != 2 || changes[0].Resource == nil || changes[0].Resource.Name != "a1" {
		t.Errorf("WatchResources = %v with %+v, want the load balancer and that there is no more", err, changes)
	}
}

var errEnough = errors.New("enough")

func testJournal(ctx context.Context, t *testing.T, c *controlclient.Client, ok func(string, bool, error)) {
	ok("mark", true, c.Mark(ctx, "a1"))
	marks, err := c.Marks(ctx)
	ok("marks", len(marks) == 1 && marks[0].Name == "a1", err)
	page, err := c.Journal(ctx, url.Values{"kind": {"call"}, "limit": {"3"}})
	ok("journal", len(page.Entries) == 3 && page.Last > 3, err)
	var followed []*journal.Entry
	err = c.Follow(ctx, url.Values{"kind": {"mark"}}, func(e *journal.Entry) error {
		followed = append(followed, e)
		return errEnough
	}, func(n uint64) { t.Errorf("%d entries are missed", n) })
	if !errors.Is(err, errEnough) || len(followed) != 1 || followed[0].Kind != journal.KindMark {
		t.Errorf("Follow = %v with %+v, want the mark and to end there", err, followed)
	}
	ok("clear", true, c.ClearJournal(ctx))
}

// TestRefused proves that a refusal comes as one: with its status, its reason, and
// whether the caller is to blame.
func TestRefused(t *testing.T) {
	places(t, func(t *testing.T, c *controlclient.Client, _ map[*routes.Route]bool) {
		_, err := c.DeleteFault(t.Context(), "none")
		refused := (*controlclient.Refused)(nil)
		if !errors.As(err, &refused) || refused.Status != 404 || !refused.Wrong() || !strings.HasPrefix(err.Error(), "there is no such fault rule: none") {
			t.Errorf("DeleteFault of an unknown rule = %v", err)
		}
	})
	busy := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "not now") // which a recorder takes
	})
	if err := controlclient.InProcess(busy).Ready(t.Context()); err == nil || err.Error() != "not now" {
		t.Errorf("Ready in this process = %v, want the reason alone", err)
	}
	server := httptest.NewServer(busy)
	defer server.Close()
	if err := (&controlclient.Client{URL: server.URL + "/"}).Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "answers 503 Service Unavailable: not now") {
		t.Errorf("Ready = %v, want who says so, and why", err)
	}
}

// TestCutOff proves that an answer which its handler gave up in the middle is an
// error, also in this process, and that a client may leave before the end.
func TestCutOff(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "a part")
		panic(http.ErrAbortHandler)
	})
	server := httptest.NewServer(handler)
	defer server.Close()
	for name, c := range map[string]*controlclient.Client{"connection": {URL: server.URL}, "process": controlclient.InProcess(handler)} {
		var text bytes.Buffer
		if err := c.OpenAPI(t.Context(), &text); err == nil {
			t.Errorf("%s: the answer is %q and no error", name, text.String())
		}
	}
	ended := false
	endless := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer func() { ended = true }()
		for {
			if _, err := io.WriteString(w, "more"); err != nil {
				return
			}
		}
	})
	err := controlclient.InProcess(endless).ExportState(t.Context(), func(io.Reader) error { return errEnough })
	if !errors.Is(err, errEnough) || !ended {
		t.Errorf("leaving early = %v, and the handler has ended: %v", err, ended)
	}
}
