package scenarios_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/clbemu/clbemu/scenarios"
)

// trafficTo plays one traffic step against a listener and returns what failed, or "" for nothing.
func trafficTo(t *testing.T, address, step string) string {
	t.Helper()
	text := "about: traffic\ngiven: {servers: [{id: i-0}, {id: i-1}]}\nclient:\n  steps:\n    - traffic: {loadBalancer: lb-1, port: 80, " + step + "}\n"
	s, err := scenarios.Load("traffic.yaml", []byte(text), scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	result := scenarios.Play(t.Context(), s, scenarios.ClientPart, scenarios.Setup{Target: &fake{listener: address}})
	if result.Status == scenarios.Passed {
		return ""
	}
	return fmt.Sprint(result.Failure.Reason, result.Failure.Unmet)
}

// A traffic step compares statuses, failures and shares with what clients got.
func TestTraffic(t *testing.T) {
	var count atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := count.Add(1)
		w.Header().Set("X-Clbemu-Server", fmt.Sprint("i-", n%4/3)) // three of i-0, one of i-1
		if r.URL.Path == "/sick" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	for step, want := range map[string]string{
		"requests: 8":                                                     "",
		"requests: 8, connections: 4":                                     "",
		"requests: 8, path: /sick":                                        "8 × 200, saw 8 × 503",
		"path: sick, expect: {statuses: {503: 1}}":                        "",
		"requests: 8, expect: {shares: {i-0: 75, i-1: 25}}":               "",
		"requests: 8, expect: {shares: {i-0: 70, i-1: 30}, tolerance: 5}": "",
		"requests: 8, expect: {shares: {i-0: 70, i-1: 30}, tolerance: 4}": "saw i-0 75 %, i-1 25 %",
		"requests: 8, expect: {shares: {i-0: 100}}":                       "saw i-0 75 %, i-1 25 %",
		"expect: {failures: 1}":                                           "1 without an answer, saw 1 × 200",
		"tls: true, expect: {failures: 1}":                                "",
		"source: 127.0.0.9":                                               "",
		"expect: {latency: 1ns}":                                          "each answer within 1ns",
	} {
		if got := trafficTo(t, address, strings.ReplaceAll(step, "503:", `"503":`)); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", step, got, want)
		}
	}
}

// Requests to a listener that does not answer fail, and say why.
func TestTrafficWithoutListener(t *testing.T) {
	if got := trafficTo(t, "", "requests: 3"); !strings.Contains(got, "3 without an answer (the listener does not answer: it is stopped)") {
		t.Errorf("failure = %q", got)
	}
	if got := trafficTo(t, "", "requests: 3, expect: {failures: 3}"); got != "" {
		t.Errorf("failure = %q", got)
	}
}

func countNew(connections *atomic.Int64) func(net.Conn, http.ConnState) {
	return func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
}

// Clients with a name keep their connections for the next step with it.
func TestKeptClients(t *testing.T) {
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ConnState = countNew(&connections)
	server.Start()
	defer server.Close()
	text := `about: long connections
client:
  steps:
    - traffic: {loadBalancer: lb-1, port: 80, connections: 3, requests: 9, clients: long}
    - traffic: {loadBalancer: lb-1, port: 80, requests: 9, clients: long}
    - traffic: {loadBalancer: lb-1, port: 80, requests: 2}
`
	s, err := scenarios.Load("traffic.yaml", []byte(text), scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	target := &fake{listener: strings.TrimPrefix(server.URL, "http://")}
	if result := scenarios.Play(t.Context(), s, scenarios.ClientPart, scenarios.Setup{Target: target}); result.Status != scenarios.Passed {
		t.Fatal(result.Failure)
	}
	if n := connections.Load(); n != 5 {
		t.Errorf("%d connections, want 3 long ones and 2 short ones", n)
	}
}

// A server of a scenario answers with its id, as the scenario says, and goes at the end.
func TestServers(t *testing.T) {
	text := `about: servers
given: {servers: [{id: i-1, status: 204}, {id: i-2}]}
client:
  steps:
    - serve: {id: i-1, status: 500}
    - serve: {id: i-1, tls: true}
    - serve: {id: i-1, down: true}
    - serve: {id: i-1}
    - serve: {id: i-2, delay: 1h}
`
	s, err := scenarios.Load("servers.yaml", []byte(text), scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	target := &fake{}
	if result := scenarios.Play(t.Context(), s, scenarios.ClientPart, scenarios.Setup{Target: target}); result.Status != scenarios.Passed {
		t.Fatal(result.Failure)
	}
	did := strings.Join(target.did, "\n")
	if strings.Count(did, ".reachAt") != 2 {
		t.Errorf("the scenario did\n%s\nwant each server's address to be set once", did)
	}
}

// Impossible steps fail before anything plays.
func TestTrafficIsChecked(t *testing.T) {
	for step, want := range map[string]string{
		"source: 192.0.2.1":            "is not a loopback address",
		"clients: alone":               "the clients alone",
		"expect: {shares: {i-3: 100}}": "given.servers has no server i-3",
		"requests: 100001":             "requests is 0 to 100000",
		"connections: 257":             "connections is 0 to 256",
		"expect: {share: 1}":           "do you mean shares?",
	} {
		text := "about: x\nclient:\n  steps:\n    - traffic: {loadBalancer: lb-1, port: 80, " + step + "}\n"
		if _, err := scenarios.Load("x.yaml", []byte(text), scenarios.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", step, err, want)
		}
	}
}
