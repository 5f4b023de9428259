package dataplane_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/internal/dataplane"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/state"
)

// records keeps what the data plane records.
type records struct {
	mu   sync.Mutex
	list []string
}

func (r *records) add(e journal.Entry, sent ...journal.Parameter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := fmt.Sprintf("%s %s %s %d %v", e.Kind, e.Action, e.Resource, e.Status, e.Faults)
	for _, p := range sent {
		text += " " + p.Name + "=" + p.Value
	}
	r.list = append(r.list, text)
}

func (r *records) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.list, "\n")
}

// faulty starts a data plane with an injector that has no rule yet.
func faulty(t *testing.T, change func(*dataplane.Config)) (*fixture, *faults.Injector, *records) {
	injector, recorded := &faults.Injector{}, &records{}
	return planed(t, func(cfg *dataplane.Config) {
		cfg.Faults, cfg.Record = injector, recorded.add
		if change != nil {
			change(cfg)
		}
	}), injector, recorded
}

// arm sets the rules of a text, from now on.
func (f *fixture) arm(injector *faults.Injector, text string) {
	f.Helper()
	var list []faults.Status
	if text != "" {
		rules, err := faults.Parse([]byte(text))
		if err != nil {
			f.Fatal(err)
		}
		for _, rule := range rules {
			list = append(list, faults.Status{Rule: rule, Since: f.store.Now()})
		}
	}
	if err := injector.Set(list); err != nil {
		f.Fatal(err)
	}
	f.put(func(*state.Tx) {}) // which waits until listeners obey
}

// A rule strikes the packets of the listener, client and server that it matches, and no
// others.
func TestFaultsMatch(t *testing.T) {
	f, injector, _ := faulty(t, nil)
	a, b := f.eni(1, web(t, "a")), f.eni(2, web(t, "b"))
	f.listen(kinds.HTTP, 80, []kinds.BackendServer{a, b}, nil)
	f.listen(kinds.TCP, 81, []kinds.BackendServer{a}, nil)
	for _, c := range []struct{ match, http, tcp string }{
		{"{}", "502 502 ", "no answer "},
		{"{port: '80'}", "502 502 ", "a "},
		{"{port: '81'}", "a b ", "no answer "},
		{"{protocol: tcp}", "a b ", "no answer "},
		{"{loadBalancer: lb-1}", "502 502 ", "no answer "},
		{"{loadBalancer: lb-2}", "a b ", "a "},
		{"{listener: 'lb-1_http_80'}", "502 502 ", "a "},
		{"{server: eni-1}", "502 b ", "no answer "},
		{"{server: eni-3}", "a b ", "a "},
		{"{client: 127.0.0.1}", "502 502 ", "no answer "},
		{"{client: {absent: true}}", "a b ", "a "},
		{"{address: 127.0.0.1, host: 127.0.0.1, path: /}", "502 502 ", "a "},
		{"{path: /other}", "a b ", "a "},
		{"{zone: {absent: true}}", "502 502 ", "no answer "},
	} {
		f.arm(injector, "{name: r, match: "+c.match+", effect: {refuse: true}}")
		got := several(2, f.at(kinds.HTTP, 80))
		if got == "b a " || got == "b 502 " {
			got = map[string]string{"b a ": "a b ", "b 502 ": "502 b "}[got]
		}
		if tcp := several(1, f.at(kinds.TCP, 81)); got != c.http || tcp != c.tcp {
			t.Errorf("match %s: HTTP answers %q, want %q; TCP %q, want %q", c.match, got, c.http, tcp, c.tcp)
		}
	}
	f.arm(injector, "")
	if got := several(1, f.at(kinds.TCP, 81)); got != "a " {
		t.Errorf("without a rule TCP answers %q", got)
	}
}

// What a rule strikes is recorded, and counted by listener and rule.
func TestFaultsAreSeen(t *testing.T) {
	f, injector, recorded := faulty(t, nil)
	f.listen(kinds.HTTP, 80, []kinds.BackendServer{f.eni(1, web(t, "a"))}, nil)
	several(1, f.at(kinds.HTTP, 80))
	f.arm(injector, "{name: flaky, when: {every: 2}, effect: {refuse: true}}")
	if got := several(4, f.at(kinds.HTTP, 80)); got != "a 502 a 502 " {
		t.Errorf("answers are %q, want every second refused", got)
	}
	lines := strings.Split(recorded.String(), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "traffic forward lb-1_http_80 0 [flaky] client=127.0.0.1:") ||
		!strings.Contains(lines[0], "server=eni-1:80 request=GET 127.0.0.1/") {
		t.Errorf("recorded are %q, want the two that were struck", lines)
	}
	if s := injector.Rules()[0]; s.Seen != 4 || s.Hits != 2 {
		t.Errorf("the rule has seen %d and struck %d", s.Seen, s.Hits)
	}
	if got := f.metric("clbemu_dataplane_faults_total"); got != "listener=lb-1_http_80 rule=flaky 2" {
		t.Errorf("the metric is %q", got)
	}
}

// metric returns the value of a counter of the data plane.
func (f *fixture) metric(name string) string {
	f.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(f.plane)
	families, err := registry.Gather()
	if err != nil {
		f.Fatal(err)
	}
	var parts []string
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				parts = append(parts, label.GetName()+"="+label.GetValue())
			}
			parts = append(parts, fmt.Sprint(m.GetCounter().GetValue()))
		}
	}
	return strings.Join(parts, " ")
}

// A server that flaps by its checks and for clients leaves the group and comes back, as
// the emulated time goes.
func TestFlappingServer(t *testing.T) {
	f, injector, recorded := faulty(t, nil)
	if err := f.store.AdjustClock(0, 1000); err != nil {
		t.Fatal(err)
	}
	a, b := f.eni(1, web(t, "a")), f.eni(2, web(t, "b"))
	f.listen(kinds.HTTP, 80, []kinds.BackendServer{a, b}, func(l *kinds.Listener) {
		l.HealthCheck = kinds.HealthCheck{Switch: kinds.On, Type: "tcp", Timeout: 5, Interval: 2, HealthyThreshold: 2, UnhealthyThreshold: 2}
	})
	for range 2 {
		f.arm(injector, "[{name: c, match: {server: eni-1}, at: check, effect: {refuse: true}}, {name: s, match: {server: eni-1}, effect: {flap: {down: 10000h, up: 1h}}}]")
		f.await(func() bool { return several(3, f.at(kinds.HTTP, 80)) == "b b b " })
		f.arm(injector, "")
		f.await(func() bool { return strings.Contains(several(2, f.at(kinds.HTTP, 80)), "a") })
		if !strings.Contains(recorded.String(), "traffic check lb-1_http_80 0 [c] server=eni-1") {
			t.Errorf("recorded are %s", recorded)
		}
	}
}

// The name of a Network Load Balancer loses the addresses of a zone that does not answer,
// and none if no zone answers: NLB-0044.
func TestNameWithoutFailedZone(t *testing.T) {
	f, injector, _ := faulty(t, nil)
	f.nlb("127.0.0.1:9", tcp80())
	reachable := func() (list []string) {
		v := f.store.View(owner)
		lb, _ := topology.FindLoadBalancer(v, "nlb-1")
		for _, ip := range lb.Reachable {
			list = append(list, ip.String())
		}
		return list
	}
	zoneA, zoneB := []string{"198.18.0.7", "2001:db8::7"}, []string{"198.18.0.8", "2001:db8::8"}
	both := slices.Concat(zoneA, zoneB)
	for _, c := range []struct {
		rules string
		want  []string
	}{
		{"", both},
		{"{name: gone, match: {zone: a}, effect: {deaf: true}}", zoneB},
		{"{name: gone, match: {address: 198.18.0.8}, effect: {deaf: true}}", []string{"198.18.0.7", "2001:db8::7", "2001:db8::8"}},
		{"{name: gone, match: {zone: a, port: '80'}, effect: {deaf: true}}", both}, // a listener, not an address
		{"{name: gone, effect: {deaf: true}}", both},
		{"{name: gone, match: {zone: a, loadBalancer: nlb-2}, effect: {deaf: true}}", both},
	} {
		f.arm(injector, c.rules)
		if got := reachable(); !slices.Equal(got, c.want) {
			t.Errorf("with %q the name has %v, want %v", c.rules, got, c.want)
		}
	}
}

// A listener that is deaf answers no client, and does again when the rule is gone or its
// time is over. Connections that are open go on.
func TestDeaf(t *testing.T) {
	f, injector, recorded := faulty(t, nil)
	f.listen(kinds.HTTP, 80, []kinds.BackendServer{f.eni(1, web(t, "a"))}, nil)
	address := f.at(kinds.HTTP, 80)
	keeping := &http.Client{Timeout: await.Patience}
	defer keeping.CloseIdleConnections()
	ask := func() error {
		response, err := keeping.Get("http://" + address)
		if err == nil {
			_, err = io.Copy(io.Discard, response.Body)
			err = errors.Join(err, response.Body.Close())
		}
		return err
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	deaf := func() bool {
		c, err := net.DialTimeout("tcp", address, 100*time.Millisecond) // for what does not come
		if err == nil {
			c.Close()
		}
		return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) || isTimeout(err)
	}
	f.arm(injector, "{name: d, match: {port: '80'}, when: {for: 1h}, effect: {deaf: true}}")
	if !deaf() {
		t.Error("it is not deaf")
	}
	if err := ask(); err != nil {
		t.Errorf("an open connection is cut: %v", err)
	}
	if got := recorded.String(); got != "traffic listen lb-1_http_80 0 [d] address="+address {
		t.Errorf("recorded is %q", got)
	}
	if err := f.store.AdjustClock(time.Hour, 1); err != nil {
		t.Fatal(err)
	}
	f.await(func() bool { return !deaf() })
	f.arm(injector, "{name: d, at: listen, effect: {flap: {down: 1h, up: 1h}}}")
	if !deaf() {
		t.Error("it is not deaf while it flaps")
	}
	f.arm(injector, "{name: d, match: {port: '81'}, effect: {deaf: true}}")
	f.await(func() bool { return !deaf() }) // by a rule about another port
	f.arm(injector, "{name: d, effect: {deaf: true}}")
	f.arm(injector, "")
	if got := get(address); got != "a" {
		t.Errorf("it answers %q", got)
	}
	if health, _ := f.health(80); health != topology.Unavailable {
		t.Errorf("health is %s", health)
	}
}

// A load balancer whose zone is gone is out for 30 seconds, and then its secondary zone
// serves, unless that is gone too: CLB-0633.
func TestSecondaryZone(t *testing.T) {
	f, injector, _ := faulty(t, nil)
	f.put(func(tx *state.Tx) {
		if err := kinds.LoadBalancers.Edit(tx, "lb-1", func(lb *kinds.LoadBalancer) error {
			lb.Address, lb.MasterZoneID, lb.SlaveZoneID = "127.0.0.1", "a", "b"
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
	f.listen(kinds.HTTP, 80, []kinds.BackendServer{f.eni(1, web(t, "a"))}, nil)
	address := f.at(kinds.HTTP, 80)
	deaf := func() bool {
		c, err := net.DialTimeout("tcp", address, 100*time.Millisecond) // for what does not come
		if err == nil {
			c.Close()
		}
		return isTimeout(err)
	}
	wait := func(d time.Duration) {
		if err := f.store.AdjustClock(d, 1); err != nil {
			t.Fatal(err)
		}
		f.put(func(*state.Tx) {}) // which waits until listeners obey
	}
	const gone = "{name: gone, match: {zone: a}, effect: {deaf: true}}"
	f.arm(injector, gone)
	if wait(20 * time.Second); !deaf() {
		t.Error("it answers while its zone is gone")
	}
	wait(10 * time.Second)
	f.await(func() bool { return !deaf() })
	f.arm(injector, "")
	f.arm(injector, gone)
	if !deaf() {
		t.Error("it answers at once when its zone is gone again")
	}
	f.arm(injector, gone+"\n---\n{name: too, match: {zone: b}, effect: {deaf: true}}")
	if wait(time.Minute); !deaf() {
		t.Error("it answers while both zones are gone")
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// The access log has each connection and request at its end, until there are too many.
func TestAccessLog(t *testing.T) {
	f, _, recorded := faulty(t, func(cfg *dataplane.Config) { cfg.AccessLog = true })
	a := f.eni(1, web(t, "a"))
	f.listen(kinds.HTTP, 80, []kinds.BackendServer{a}, nil)
	f.listen(kinds.TCP, 81, []kinds.BackendServer{a}, nil)
	f.listen(kinds.HTTP, 82, nil, nil)
	several(1, f.at(kinds.HTTP, 80))
	several(1, f.at(kinds.TCP, 81))
	several(1, f.at(kinds.HTTP, 82))
	f.await(func() bool { return strings.Count(recorded.String(), "\n") == 2 })
	for _, want := range []string{
		"traffic request lb-1_http_80 200 [] client=127.0.0.1:", "server=eni-1:80 request=GET 127.0.0.1/ out=1",
		"traffic connection lb-1_tcp_81 0 [] client=127.0.0.1:", " in=",
		"traffic request lb-1_http_82 503 [] client=127.0.0.1:", "reason=the server group rsp-82 has no backend server",
	} {
		if !strings.Contains(recorded.String(), want) {
			t.Errorf("%q is not in the log:\n%s", want, recorded)
		}
	}
	begin := time.Now()
	several(2000, f.at(kinds.HTTP, 82))
	// It takes a thousand at once, and fifty a second.
	most := 1003 + 50*int(time.Since(begin)/time.Second+1)
	if n := strings.Count(recorded.String(), "\n"); n < 900 || n > most {
		t.Errorf("the log has %d lines of 2,003, want at most %d", n, most)
	}
}
