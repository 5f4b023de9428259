package command

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/controlapi"
)

// listening gives an emulator a load balancer, web, that answers for a server of this
// machine, and returns the flags that lead to the emulator.
func listening(t *testing.T, control string) (flags []string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }))
	t.Cleanup(server.Close)
	flags = []string{"--server", control}
	must := func(args ...string) string {
		code, stdout, problems := executed(t, append(args, flags...)...)
		if code != exitOK {
			t.Fatalf("%v = %d, %s", args, code, problems)
		}
		return strings.TrimSpace(stdout)
	}
	must("world", "set", "instance.i-bp1clbemu0000000001.reachAt="+strings.TrimPrefix(server.URL, "http://"))
	lb := "LoadBalancerId=" + must("call", "CreateLoadBalancer", "LoadBalancerName=web", "--field", "LoadBalancerId")
	must("call", "AddBackendServers", lb, `BackendServers=[{"ServerId":"i-bp1clbemu0000000001"}]`)
	must("call", "CreateLoadBalancerHTTPListener", lb, "ListenerPort=80", "BackendServerPort=80", "Bandwidth=-1", "StickySession=off", "HealthCheck=off")
	must("call", "StartLoadBalancerListener", lb, "ListenerPort=80")
	return flags
}

// The URL of a load balancer leads to its servers, and traffic shows what went there.
func TestTraffic(t *testing.T) {
	flags := listening(t, served(t))
	var address string
	await.Until(t, "its listener answers", func() bool {
		code, stdout, _ := executed(t, append([]string{"url", "web"}, flags...)...)
		address = stdout
		return code == exitOK && strings.HasPrefix(address, "http://127.0.0.1:")
	})
	response, err := http.Get(strings.TrimSpace(address))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil || string(text) != "hello" {
		t.Fatalf("answer = %q, %v", text, err)
	}
	code, table, problems := executed(t, append([]string{"traffic", "web"}, flags...)...)
	if code != exitOK || !strings.Contains(table, "i-bp1clbemu0000000001:80") || !strings.Contains(table, "REQUESTS") {
		t.Errorf("traffic = %d, %q, %q", code, table, problems)
	}
	if code, tree, _ := executed(t, append([]string{"get", "lb", "web"}, flags...)...); code != exitOK || !strings.Contains(tree, "answers at "+strings.TrimPrefix(strings.TrimSpace(address), "http://")) {
		t.Errorf("get = %d, %s", code, tree)
	}
	for name, want := range map[string]string{"nothing": "no listener nothing", "[": "not a pattern"} {
		if code, _, problems := executed(t, append([]string{"url", name}, flags...)...); code == exitOK || !strings.Contains(problems, want) {
			t.Errorf("url %s = %d, %q, want %q", name, code, problems, want)
		}
	}
}

// A listener with several addresses has a URL for each, and get says where it does not
// answer.
func TestSeveralAddresses(t *testing.T) {
	var out bytes.Buffer
	l := controlapi.ListenerTraffic{Listener: "lsn-1", Protocol: "tcpssl", AnswersAt: "198.18.0.7:443, [2001:db8::7]:443", Problem: "one is left out"}
	if err := printURLs(terminal.New(&out), []controlapi.ListenerTraffic{l}); err != nil || out.String() != "tls://198.18.0.7:443\ntls://[2001:db8::7]:443\n" {
		t.Errorf("urls = %q, %v", &out, err)
	}
	shown := controlapi.ListenerTree{Listener: controlapi.Resource{Fields: map[string]string{"answersAt": l.AnswersAt, "problem": l.Problem}}}
	tree := listenerNode(&shown).String()
	for _, want := range []string{"answers at 198.18.0.7:443, [2001:db8::7]:443", "not everywhere: one is left out"} {
		if !strings.Contains(tree, want) {
			t.Errorf("the tree lacks %q:\n%s", want, tree)
		}
	}
}

// A field that the answer does not have is an error.
func TestCallField(t *testing.T) {
	server := served(t)
	if code, _, problems := executed(t, "call", "DescribeRegions", "--field", "Invented", "--server", server); code != exitFailed || !strings.Contains(problems, "no field Invented") {
		t.Errorf("call = %d, %q", code, problems)
	}
}
