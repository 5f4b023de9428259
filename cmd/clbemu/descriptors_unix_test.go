//go:build unix

package main_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/binary"
)

// TestFewDescriptors proves that a process which may open 256 files keeps some for the
// control API and the state, whatever clients of load balancers, callers of the API and
// forks hold.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	serve := binary.Command("--data-dir", t.TempDir(), "--data-plane", "ports")
	s := binary.Await(t, exec.Command("sh", append([]string{"-c", `ulimit -n 256 && exec "$0" "$@"`, serve.Path}, serve.Args[1:]...)...))
	listener := answersAt(t, s)
	ask := func(method, path, body string) {
		t.Helper()
		client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
		request, err := http.NewRequest(method, s.Control+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(request)
		if err != nil {
			t.Errorf("%s %s: %v", method, path, err)
			return
		}
		defer answer.Body.Close()
		if text, _ := io.ReadAll(answer.Body); answer.StatusCode >= http.StatusInternalServerError {
			t.Errorf("%s %s = %d %s", method, path, answer.StatusCode, text)
		}
	}
	hold := func(to string, n int, says string) {
		for range n {
			if c, err := net.DialTimeout("tcp", to, time.Second); err == nil { // those for which there is no room don't count
				t.Cleanup(func() { c.Close() })
				_, _ = io.WriteString(c, says)
			}
		}
	}
	hold(listener, 250, "x")
	hold(strings.TrimPrefix(s.API, "http://"), 250, "GET / HTTP/1.1\r\nHo")
	ask("GET", "/healthz", "")
	for n := range 80 {
		ask("PUT", fmt.Sprintf("/v1/clouds/c-%d", n), `{"port": true, "durable": false}`)
	}
	for n := range 12 {
		ask("PUT", fmt.Sprintf("/v1/clouds/d-%d", n), `{"durable": true}`)
	}
	hold(strings.TrimPrefix(s.Control, "http://"), 100, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
	ask("GET", "/healthz", "")
	ask("PUT", "/v1/snapshots/one", "")
	ask("PATCH", "/v1/world", `{"settings": [{"name": "account.arrears", "value": "on"}]}`)
	if reply, err := s.Client().Call("2014-05-15", "DescribeLoadBalancers", nil); err != nil || reply.Status != http.StatusOK {
		t.Errorf("a call gets %v, %v", reply, err)
	}
}

// answersAt starts a listener, and returns where clients reach it.
func answersAt(t *testing.T, s *binary.Server) string {
	t.Helper()
	id := createLoadBalancer(t, s.Client())
	call(t, s, "CreateLoadBalancerTCPListener", map[string]string{"LoadBalancerId": id, "ListenerPort": "80", "BackendServerPort": "80", "Bandwidth": "-1"})
	call(t, s, "StartLoadBalancerListener", map[string]string{"LoadBalancerId": id, "ListenerPort": "80"})
	return strings.TrimPrefix(urlOf(t, s, id), "tcp://")
}
