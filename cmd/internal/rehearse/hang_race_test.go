package rehearse

import (
	"bufio"
	"context"
	"net"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/clbemu/clbemu/emulator"
)

// TestCallsDoNotWait proves that a call is answered while a client still waits for an answer of the listener
// that the call changed, and while clients ask though nothing changed.
func TestCallsDoNotWait(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	cloud, err := emulator.New(ctx, emulator.Config{DataPlane: emulator.Ports, Listen: "127.0.0.1:0", ControlListen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer cloud.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it is in memory
	if err := cloud.Start(); err != nil {
		t.Fatal(err)
	}
	r := newRecorder()
	if r.traffic, err = newTraffic(); err != nil {
		t.Fatal(err)
	}
	defer r.close(context.WithoutCancel(ctx))
	api := r.around(cloud.Handler())
	if err := r.begins(ctx, cloud); err != nil {
		t.Fatal(err)
	}
	call := func(query string) {
		t.Helper()
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/?Version=2014-05-15&RegionId=cn-hangzhou&"+query, nil))
		if w.Code != 200 {
			t.Fatalf("%s = %d, %s", query, w.Code, w.Body)
		}
	}
	call("Action=CreateLoadBalancer&AddressType=internet")
	lb := ""
	for id := range r.current().balancers {
		lb = url.QueryEscape(id)
	}
	call("Action=CreateLoadBalancerTCPListener&ListenerPort=80&Bandwidth=-1&BackendServerPort=80&LoadBalancerId=" + lb)
	call("Action=StartLoadBalancerListener&ListenerPort=80&LoadBalancerId=" + lb)
	if listeners := r.current().listeners; len(listeners) != 1 {
		t.Fatalf("there are %d listeners, want one", len(listeners))
	}
	for id, l := range r.current().listeners {
		c := &client{id: id, loadBalancer: l.LoadBalancer, address: addressIn(r.now.balancers[l.LoadBalancer]), listener: called(l), asked: make(chan struct{})}
		close(c.asked)
		r.traffic.clients[id] = c // which no server answers
		r.ask(ctx)
		call("Action=DescribeLoadBalancers")
		if !c.asks() {
			t.Error("a read waits for a client that asks at any time")
		}
		call("Action=SetLoadBalancerTCPListenerAttribute&ListenerPort=80&Scheduler=rr&LoadBalancerId=" + lb)
		if !c.asks() {
			t.Error("a change waits for a client without an answer")
		}
		if err := r.settle(ctx); err != nil || len(r.phase.Breaks) != 1 || r.phase.Breaks[0].Failed != 2 {
			t.Errorf("settle: %v, %v, want one listener with 2 requests failed", err, r.phase.Breaks)
		}
	}
}

// TestIdleConnectionEnds proves that the end of a connection which a client held counts where connections last,
// and not for HTTP, whose listeners end idle ones.
func TestIdleConnectionEnds(t *testing.T) {
	t.Parallel()
	for listener, cut := range map[string]int{"tcp 80": 1, "tcpssl 443": 1, "http 80": 0, "https 443": 0} {
		held, other := net.Pipe()
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		c := &client{listener: listener, held: held, replies: bufio.NewReader(held)}
		c.ask(t.Context(), &view{})
		if c.held != nil || c.met == nil || c.met.Cut != cut || c.met.Refused != 1 {
			t.Errorf("%s: %+v, want %d cut, and one refused, as there is no load balancer", listener, c.met, cut)
		}
	}
}
