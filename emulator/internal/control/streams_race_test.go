package control_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"errors"
	"net/url"
	"slices"
	"time"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/internal/control"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

// TestSlowStream proves that who reads too slowly holds up nobody, and learns how
// many entries it did not get.
func TestSlowStream(t *testing.T) {
	const size, calls = 10, 5000
	j, err := journal.New(journal.Config{Entries: size})
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, nil)
	w := &slow{ResponseRecorder: httptest.NewRecorder(), began: make(chan struct{}), goOn: make(chan struct{})}
	j.Record(journal.Entry{Kind: journal.KindCall, Action: "first"})
	done := make(chan struct{})
	go func() {
		defer close(done)
		control.New(control.Config{Store: f.store, Metrics: f.metrics, Journal: j}).
			ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/v1/journal/stream", nil))
	}()
	<-w.began
	for range calls { // while the stream stands in the write of its first event
		j.Record(journal.Entry{Kind: journal.KindCall, Action: "a"})
	}
	close(w.goOn)
	if err := j.Close(); err != nil { // buffered entries are sent all the same
		t.Fatal(err)
	}
	<-done
	text := w.Body.String()
	want := fmt.Sprintf("event: missed\ndata: {\"missed\":%d}\n", calls-size)
	if !strings.Contains(text, want) || strings.Count(text, "event: call") != size+1 {
		t.Errorf("the stream is %s, want the first entry, %q and the last %d", text, want, size)
	}
}

// TestWatchResources proves that a watcher sees the existing resources, every creation,
// change and deletion, and what becomes due by time alone.
func TestWatchResources(t *testing.T) {
	clock := state.NewManualClock(gatewaytest.Start)
	f := fixtureOver(t, gatewaytest.StoreAt(t, clock, world.Default().Plant), ownProducts)
	f.plant()
	if answer := f.send("PATCH", "/v1/world", `{"settings":[{"name":"life.listener.starting","value":"1h"}]}`, nil); answer.Code != http.StatusOK {
		t.Fatalf("PATCH /v1/world = %s", answer.Body)
	}
	server := httptest.NewServer(f.handler)
	defer server.Close()
	response, err := http.Get(server.URL + "/v1/resources/stream?kind=listener&name=lb-1")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	changes := make(chan controlapi.ResourceChange)
	go func() {
		defer close(changes)
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var change controlapi.ResourceChange
				if json.Unmarshal([]byte(data), &change) == nil {
					changes <- change
				}
			}
		}
	}()
	follow := func(change, id, status string) {
		t.Helper()
		for {
			select {
			case got := <-changes:
				if got.Change == change && (id == "" || got.Resource != nil && got.Resource.ID == id && got.Resource.Status == status) {
					return
				}
				t.Logf("passing over %s %+v", got.Change, got.Resource)
			case <-time.After(await.Patience):
				t.Fatalf("the stream does not say that %s is %s", id, change)
			}
		}
	}
	follow("added", "lb-1_http_80", "running")
	follow("synced", "", "")
	change := func(edit func(tx *state.Tx)) {
		t.Helper()
		if err := f.store.Update(state.Owner{}, func(tx *state.Tx) error { edit(tx); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	owner := f.owner()
	change(func(tx *state.Tx) {
		kinds.Listeners.Put(tx, &kinds.Listener{Owner: owner, LoadBalancerID: "lb-1", Port: 443, Protocol: kinds.TCP, Status: kinds.ListenerStopped})
	})
	follow("added", "lb-1_tcp_443", "stopped")
	change(func(tx *state.Tx) {
		kinds.Listeners.Put(tx, &kinds.Listener{Owner: owner, LoadBalancerID: "lb-1", Port: 443, Protocol: kinds.TCP, Status: kinds.ListenerStopped})
		state.Enter(tx, kinds.StageListenerStarting, "lb-1_tcp_443")
	})
	follow("changed", "lb-1_tcp_443", "starting")
	clock.Advance(2 * time.Hour)
	follow("changed", "lb-1_tcp_443", "running")
	change(func(tx *state.Tx) { kinds.Listeners.Delete(tx, "lb-1_tcp_443") })
	follow("deleted", "lb-1_tcp_443", "")
}

// TestStart proves that a scenario which is started goes on when its call was answered,
// is watched from its beginning by whoever comes, keeps the stage, and is stopped; and
// that the library can be read.
func TestStart(t *testing.T) {
	waiting, tasks := make(chan struct{}), sync.WaitGroup{}
	p := &player{}
	f := newFixture(t, func(cfg *control.Config) {
		cfg.Player = playerUntil{p}
		cfg.Go = func(task func(context.Context)) { tasks.Go(func() { task(context.Background()) }) }
	})
	p.during = func() { close(waiting) }
	var playing controlapi.Playing
	f.ask("POST", "/v1/scenarios/start?name=arrears", "", 200, &playing)
	if playing.Scenario != "arrears" {
		t.Errorf("it plays %+v", playing)
	}
	f.mustRefuse("POST", "/v1/scenarios/run", "good", 409, "another scenario")
	f.mustRefuse("POST", "/v1/scenarios/start", "bad", 422, "scenario.yaml:1: bad")
	<-waiting
	server := httptest.NewServer(f.handler)
	defer server.Close()
	var seen []string
	err := (&controlclient.Client{URL: server.URL}).WatchScenarios(t.Context(), func(event controlapi.ScenarioEvent) error {
		switch seen = append(seen, event.Event+" "+event.Scenario); event.Event {
		case controlapi.ScenarioStepDone:
			f.ask("POST", "/v1/scenarios/stop", "", 200, nil)
		case controlapi.ScenarioEnded:
			return errors.New(strings.Join(event.Result.Notes, " "))
		}
		return nil
	})
	if err == nil || err.Error() != "it was stopped before its end" || strings.Join(seen, ", ") != "begun arrears, step arrears, ended arrears" {
		t.Errorf("who watches sees %q and %v", seen, err)
	}
	tasks.Wait()
	f.mustRefuse("POST", "/v1/scenarios/stop", "", 409, "no scenario is being played")

	var library controlapi.Library
	f.ask("GET", "/v1/scenarios/library", "", 200, &library)
	if len(library.Scenarios) < 30 || library.Scenarios[0].About == "" {
		t.Errorf("the library is %+v", library)
	}
	if text := f.send("GET", "/v1/scenarios/library/"+library.Scenarios[0].Name, "", nil).Body.String(); !strings.Contains(text, "about: ") {
		t.Errorf("the text of %s is %s", library.Scenarios[0].Name, text)
	}
	for _, text := range []string{"欠费", "Message: The account is arrearage."} {
		var found controlapi.Library
		f.ask("GET", "/v1/scenarios/library?text="+url.QueryEscape(text), "", 200, &found)
		if n := len(found.Scenarios); n == 0 || n == len(library.Scenarios) || !slices.ContainsFunc(found.Scenarios, func(s controlapi.LibraryScenario) bool { return s.Name == "arrears" }) {
			t.Errorf("%s finds %+v", text, found)
		}
	}
	f.mustRefuse("GET", "/v1/scenarios/library/arears", "", 404, "do you mean arrears?")
	newFixture(t, func(cfg *control.Config) { cfg.Player = p }).mustRefuse("POST", "/v1/scenarios/start", "good", 501, "without a stage")
}
