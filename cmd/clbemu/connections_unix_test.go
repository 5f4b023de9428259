//go:build unix

package main_test

import (
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/contracttests/binary"
)

// TestConnectionsLeaveDescriptors proves that connections to the API, however many,
// leave the control API and the state the descriptors that they need.
func TestConnectionsLeaveDescriptors(t *testing.T) {
	t.Parallel()
	s := fewDescriptors(t)
	api, err := url.Parse(s.API)
	if err != nil {
		t.Fatal(err)
	}
	// Those that send nothing are dropped after ten seconds, which is too late. An answer that
	// comes after that proves nothing.
	const dropped = 10 * time.Second
	await.Until(t, "the control API answers while the API is full", func() bool {
		begin := time.Now()
		for range 120 {
			idle, err := net.Dial("tcp", api.Host)
			if err != nil {
				t.Fatal(err)
			}
			defer idle.Close()
		}
		client := http.Client{Timeout: await.Patience, Transport: &http.Transport{DisableKeepAlives: true}}
		response, err := client.Get(s.Control + "/healthz")
		if err != nil {
			t.Fatalf("the control API while the API is full: %v", err)
		}
		response.Body.Close()
		return time.Since(begin) < dropped
	})
	wantWell(t, s)
}

// TestListenersLeaveDescriptors proves that the listeners of load balancers, of forks too,
// leave the APIs and the state half of the descriptors, and say why they don't answer.
func TestListenersLeaveDescriptors(t *testing.T) {
	t.Parallel()
	s := fewDescriptors(t)
	lb := createLoadBalancer(t, s.Client())
	for port := range 12 {
		call(t, s, "CreateLoadBalancerTCPListener", map[string]string{"LoadBalancerId": lb, "ListenerPort": strconv.Itoa(8000 + port), "BackendServerPort": "80", "Bandwidth": "-1"})
		call(t, s, "StartLoadBalancerListener", map[string]string{"LoadBalancerId": lb, "ListenerPort": strconv.Itoa(8000 + port)})
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		mustRun(t, "cloud", "create", name, "--server", s.Control)
	}
	why := regexp.MustCompile(`listeners have half of the 64 files`)
	await.Until(t, "a listener of the last fork says that there are too many", func() bool {
		return why.MatchString(mustRun(t, "get", "listeners", "-o", "json", "--cloud", "d", "--server", s.Control))
	})
	if text := mustRun(t, "get", "listeners", "-o", "json", "--server", s.Control); why.MatchString(text) {
		t.Errorf("the first cloud's listeners were there before:\n%s", text)
	}
	wantWell(t, s)
}

// wantWell proves that the control API and the state of an emulator, which has no
// descriptors for more connections elsewhere, have those that they need.
func wantWell(t *testing.T, s *binary.Server) {
	t.Helper()
	for _, args := range [][]string{{"snapshot", "take", "s"}, {"get", "zones"}, {"world", "set", "account.balance=7"}} {
		if r := binary.Run(t, append(args, "--server", s.Control)...); r.Code != 0 {
			t.Errorf("%v = %+v", args, r)
		}
	}
}

// fewDescriptors serves with a limit of 64 files and connections.
func fewDescriptors(t *testing.T) *binary.Server {
	t.Helper()
	return binary.Await(t, exec.Command("sh", "-c", `ulimit -n 64; exec "$0" "$@"`, binary.Path,
		"serve", "--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0", "--data-dir", t.TempDir()))
}
