package target_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/scenarios"
)

// TestPlayer proves that the control API of an emulator plays scenarios on that
// emulator, also when it wants a token, and leaves its conditions as they were.
func TestPlayer(t *testing.T) {
	e, err := emulator.New(t.Context(), emulator.Config{
		StrictAuth: true, ControlToken: "s3cret",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(t.Context())
	run := func(query, body string) (int, scenarios.Result) {
		t.Helper()
		r := httptest.NewRequest(http.MethodPost, "/v1/scenarios/run"+query, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer s3cret")
		w := httptest.NewRecorder()
		e.ControlHandler().ServeHTTP(w, r)
		var result scenarios.Result
		if err := json.Unmarshal(w.Body.Bytes(), &result); err != nil {
			t.Fatalf("%s: %v", w.Body, err)
		}
		return w.Code, result
	}
	if code, got := run("?name=insufficient-balance", ""); code != 200 || got.Status != scenarios.Passed {
		t.Errorf("insufficient-balance = %d %+v %v, want it to pass", code, got, got.Failure)
	}
	code, got := run("", "about: fails\nclient:\n  steps:\n    - call: {action: DescribeRegions, expect: {status: 500}}\n")
	if code != 200 || got.Status != scenarios.Failed || got.Failure.Line != 4 {
		t.Errorf("a scenario that fails = %d %+v, want line 4 to fail", code, got)
	}
	code, got = run("", `about: a listener that is stopped
client:
  steps:
    - set: {account.balance: 5000}
    - call: {action: CreateLoadBalancer, params: {LoadBalancerName: stopped}, save: {lb: LoadBalancerId}}
    - call: {action: CreateLoadBalancerTCPListener, params: {LoadBalancerId: "{{lb}}", ListenerPort: 80, BackendServerPort: 80, Bandwidth: -1}}
  expect:
    - loadBalancer: {name: stopped, listeners: {tcp:80: 0}}
`)
	if code != 200 || got.Status != scenarios.Failed || len(got.Failure.Unmet) != 1 || got.Failure.Unmet[0].Seen != "no running listener; stopped: tcp:80" {
		t.Errorf("a scenario with a stopped listener = %d %+v, want it to say so", code, got.Failure)
	}
	if code, _ := run("", "about: wrong\nclient:\n  steps:\n    - call: {action: NoSuchAction}\n"); code != 422 {
		t.Errorf("a scenario with an action that there is not = %d, want 422", code)
	}
	// Who may call the control API may not run programs on this machine.
	code, got = run("", "about: runs\nclient:\n  steps:\n    - exec: [touch, "+filepath.Join(t.TempDir(), "ran")+"]\n")
	if code != 200 || got.Status != scenarios.Broken || !strings.Contains(got.Failure.Reason, "programs are run by clbemu scenario run and watch alone") {
		t.Errorf("a scenario that runs a program = %d %+v, want it not to be played", code, got)
	}
	if code, got := run("?name=killed-in-mid-sync", ""); code != 200 || got.Status != scenarios.Broken {
		t.Errorf("killed-in-mid-sync = %d %+v, want it not to be played on an emulator that is not its own", code, got)
	}
}
