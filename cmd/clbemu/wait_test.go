package main_test

import (
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
)

// TestWait proves that a wait ends when its condition holds, says so, and fails when
// the condition does not hold in time or never can.
func TestWait(t *testing.T) {
	t.Parallel()
	s := binary.Serve(t, "--engine", "memory")
	mustRun(t, "journal", "mark", "m", "--server", s.Control)
	id := createLoadBalancer(t, s.Client())
	call(t, s, "CreateLoadBalancerTCPListener", map[string]string{"LoadBalancerId": id, "ListenerPort": "80", "BackendServerPort": "80", "Bandwidth": "-1"})
	for _, test := range []struct {
		args string
		code int
		says string
	}{
		{"--for ready", 0, s.Control + " accepts calls"},
		{"--for call=CreateLoad*Balancer --since-mark m", 0, "CreateLoadBalancer"},
		{"--for lb=" + id + ":active", 0, "lb " + id + " is active"},
		{"--for listener=" + id + "_tcp_80:stopped", 0, "_tcp_80 is stopped"},
		{"--for lb=" + id + ":locked --timeout 3s", 1, "did not come within 3s: lb " + id + " is active"},
		{"--for call=CreateLoadBalancer --timeout 300ms", 1, "did not come within 300ms"},
		{"--for name=127.0.0.1", 0, "127.0.0.1 is 127.0.0.1"},
		{"--for name=none.invalid --timeout 300ms", 1, "name=none.invalid did not come within 300ms"},
		{"--for name=", 2, "--for is ready, call=ACTION"},
		{"--for lb=none --timeout 300ms", 1, "did not come within 300ms: there is no lb none; list them with clbemu get lb"},
		{"--for listener=lb-x:80:running --timeout 300ms", 1, "did not come within 300ms: there is no listener lb-x:80; list them"},
		{"--for call=CreateLoadBalancr", 2, "do you mean CreateLoadBalancer?"},
		{"--for lisner=a", 2, "do you mean listener?"},
		{"--for redy", 2, "--for is ready, call=ACTION"},
		{"--for call=", 2, "--for is ready, call=ACTION"},
	} {
		r := binary.Run(t, append(append([]string{"wait"}, strings.Fields(test.args)...), "--server", s.Control)...)
		if r.Code != test.code || !strings.Contains(r.Stdout+r.Stderr, test.says) {
			t.Errorf("wait %s = %+v, want %d with %q", test.args, r, test.code, test.says)
		}
	}
	if r := binary.Run(t, "wait", "--server", "127.0.0.1:1", "--timeout", "300ms"); r.Code != 1 || !strings.Contains(r.Stderr, "ready did not come") {
		t.Errorf("wait for nobody = %+v", r)
	}
	if r := binary.Run(t, "wait", "--server", s.API); r.Code != 2 || !strings.Contains(r.Stderr, "the cloud's API answers there") {
		t.Errorf("wait at the other address = %+v", r)
	}
	ended := make(chan binary.Result)
	go func() {
		ended <- binary.Run(t, "wait", "--for", "listener="+id+"_tcp_80:running", "--server", s.Control)
	}()
	call(t, s, "StartLoadBalancerListener", map[string]string{"LoadBalancerId": id, "ListenerPort": "80"})
	if r := <-ended; r.Code != 0 || !strings.Contains(r.Stdout, "_tcp_80 is running") {
		t.Errorf("a wait for what comes = %+v", r)
	}
}
