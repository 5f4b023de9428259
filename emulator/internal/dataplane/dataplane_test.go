package dataplane_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/internal/dataplane"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

var owner = state.Owner{AccountID: "1234567890123456", RegionID: "cn-hangzhou"}

// fixture is a data plane over a state with one load balancer.
type fixture struct {
	*testing.T
	store *state.Store
	plane *dataplane.Plane
	log   bytes.Buffer
}

// planed starts a data plane that ends with the test.
func planed(t *testing.T, change func(*dataplane.Config)) *fixture {
	t.Helper()
	store, err := state.Open(t.Context(), state.Config{Schema: kinds.Schema, Engine: &memory.Engine{}, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{T: t, store: store}
	cfg := dataplane.Config{Store: store, MaxListeners: 10, Log: zerolog.New(&f.log)}
	if change != nil {
		change(&cfg)
	}
	if f.plane, err = dataplane.New(cfg); err != nil {
		t.Fatal(err)
	}
	store.Attach(f.plane)
	f.plane.Start()
	t.Cleanup(func() {
		if err := f.plane.Close(); err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	f.put(func(tx *state.Tx) {
		kinds.LoadBalancers.Put(tx, &kinds.LoadBalancer{Owner: owner, ID: "lb-1", Status: kinds.LoadBalancerActive, Address: "198.18.0.1", AddressType: kinds.AddressTypeInternet})
	})
	return f
}

// put changes the state, and waits until the data plane has followed.
func (f *fixture) put(change func(*state.Tx)) {
	f.Helper()
	if err := f.store.Update(owner, func(tx *state.Tx) error { change(tx); return nil }); err != nil {
		f.Fatal(err)
	}
	f.settle()
}

// settle waits until the data plane does what the state holds and checks have found.
func (f *fixture) settle() {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.Context(), await.Patience)
	defer cancel()
	if err := f.plane.Settled(ctx); err != nil {
		f.Fatalf("the data plane did not follow: %v\n%s", err, &f.log)
	}
}

// listen puts a listener of a protocol with servers in its group.
func (f *fixture) listen(protocol kinds.Protocol, port int, servers []kinds.BackendServer, change func(*kinds.Listener)) {
	f.Helper()
	f.put(func(tx *state.Tx) {
		kinds.VServerGroups.Put(tx, &kinds.VServerGroup{Owner: owner, ID: fmt.Sprint("rsp-", port), LoadBalancerID: "lb-1", BackendServers: servers})
		l := &kinds.Listener{Owner: owner, LoadBalancerID: "lb-1", Port: port, Protocol: protocol, Status: kinds.ListenerRunning, Scheduler: "rr",
			VServerGroupID: fmt.Sprint("rsp-", port)}
		if change != nil {
			change(l)
		}
		kinds.Listeners.Put(tx, l)
	})
}

// at returns the address at which a listener answers.
func (f *fixture) at(protocol kinds.Protocol, port int) string {
	f.Helper()
	var address, problem string
	await.Until(f, fmt.Sprintf("%s %d answers", protocol, port), func() bool {
		address, problem = f.plane.Reached(kinds.ListenerID("lb-1", protocol, port))
		if address == "" && !strings.Contains(problem, "address already in use") { // by another process, for a while
			f.Fatalf("%s %d does not answer: %s", protocol, port, problem)
		}
		return address != ""
	})
	return address
}

// eni puts a network interface that answers at an address of this machine, as a server.
func (f *fixture) eni(n int, at string) kinds.BackendServer {
	f.Helper()
	id, private := fmt.Sprint("eni-", n), fmt.Sprint("192.168.0.", n)
	f.put(func(tx *state.Tx) {
		kinds.NetworkInterfaces.Put(tx, &kinds.NetworkInterface{Owner: owner, ID: id, Status: kinds.NetworkInterfaceInUse, PrivateIPAddresses: []string{private}})
		if at != "" {
			kinds.ReachedAts.Put(tx, &kinds.ReachedAt{Owner: owner, ServerID: id, At: netip.MustParseAddrPort(at)})
		}
	})
	return kinds.BackendServer{ServerID: id, ServerIP: private, Type: kinds.BackendServerENI, Port: 80, Weight: 100}
}

// nlb puts a load balancer of two zones and both protocols, with a server at an address.
func (f *fixture) nlb(server string, listeners ...*kinds.NLBListener) {
	f.Helper()
	f.put(func(tx *state.Tx) {
		kinds.NLBLoadBalancers.Put(tx, &kinds.NLBLoadBalancer{Owner: owner, ID: "nlb-1", Status: kinds.NLBActive, ZoneMappings: []kinds.NLBZoneMapping{
			{ZoneID: "a", Status: kinds.NLBZoneActive, PublicIPv4Address: "198.18.0.7", IPv6Address: "2001:db8::7"},
			{ZoneID: "b", Status: kinds.NLBZoneActive, PublicIPv4Address: "198.18.0.8", IPv6Address: "2001:db8::8"},
		}})
		at := netip.MustParseAddrPort(server)
		kinds.NLBServerGroups.Put(tx, &kinds.NLBServerGroup{Owner: owner, ID: "sgp-1", Status: kinds.NLBGroupAvailable, Scheduler: "Wrr",
			Servers: []kinds.NLBServer{{Type: kinds.NLBServerIP, ID: at.Addr().String(), IP: at.Addr().String(), Port: int(at.Port()), Weight: 100}}})
		for _, l := range listeners {
			l.Owner, l.LoadBalancerID, l.ServerGroupID, l.Status = owner, "nlb-1", "sgp-1", kinds.NLBListenerRunning
			kinds.NLBListeners.Put(tx, l)
		}
	})
}

func tcp80() *kinds.NLBListener {
	return &kinds.NLBListener{ID: "lsn-80", Protocol: kinds.NLBTCP, Port: 80}
}

// web starts a server that answers with its name.
func web(t *testing.T, name string) (address string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, name) }))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// get asks an address, with a connection of its own, and returns the status with the
// answer or the reason.
func get(address string) string { return within(await.Patience, address) }

// within asks as get does, and gives up after a time.
func within(limit time.Duration, address string) string {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: limit}
	response, err := client.Get("http://" + address)
	if err != nil {
		return "no answer"
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1000)) // a part is an answer too
	if response.StatusCode != http.StatusOK {
		return fmt.Sprint(response.StatusCode)
	}
	return string(text)
}

// several asks so often and returns the answers in turn.
func several(times int, address string) (answers string) {
	for range times {
		answers += get(address) + " "
	}
	return answers
}

// A listener of each protocol balances between its servers, and a change of the group
// holds for what comes next.
func TestBalances(t *testing.T) {
	f := planed(t, nil)
	a, b := f.eni(1, web(t, "a")), f.eni(2, web(t, "b"))
	for _, protocol := range []kinds.Protocol{kinds.TCP, kinds.HTTP} {
		port := map[kinds.Protocol]int{kinds.TCP: 80, kinds.HTTP: 81}[protocol]
		f.listen(protocol, port, []kinds.BackendServer{a, b}, nil)
		if got := several(4, f.at(protocol, port)); got != "a b a b " && got != "b a b a " {
			t.Errorf("%s: %q, want each in turn", protocol, got)
		}
		f.listen(protocol, port, []kinds.BackendServer{b}, nil)
		if got := several(2, f.at(protocol, port)); got != "b b " {
			t.Errorf("%s after a change: %q, want b alone", protocol, got)
		}
	}
}

// A listener of UDP forwards packets and their answers.
func TestUDP(t *testing.T) {
	f := planed(t, nil)
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go func() {
		packet := make([]byte, 100)
		for {
			n, from, err := server.ReadFrom(packet)
			if err != nil {
				return
			}
			server.WriteTo(append([]byte("echo "), packet[:n]...), from)
		}
	}()
	f.listen(kinds.UDP, 53, []kinds.BackendServer{f.eni(1, server.LocalAddr().String())}, nil)
	client, err := net.Dial("udp", f.at(kinds.UDP, 53))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	client.SetDeadline(time.Now().Add(await.Patience))
	client.Write([]byte("hello"))
	answer := make([]byte, 100)
	if n, err := client.Read(answer); err != nil || string(answer[:n]) != "echo hello" {
		t.Errorf("answer = %q, %v", answer[:n], err)
	}
}

// A listener answers only while it and its load balancer run, and says why it does not.
func TestRests(t *testing.T) {
	f := planed(t, nil)
	server := f.eni(1, web(t, "a"))
	f.listen(kinds.HTTP, 80, []kinds.BackendServer{server}, nil)
	address := f.at(kinds.HTTP, 80)
	status := func(s kinds.ListenerStatus) func(*kinds.Listener) {
		return func(l *kinds.Listener) { l.Status = s }
	}
	f.await(func() bool { // as another process may take the port while the listener rests
		f.listen(kinds.HTTP, 80, []kinds.BackendServer{server}, status(kinds.ListenerStopped))
		f.listen(kinds.HTTP, 80, []kinds.BackendServer{server}, nil)
		before := address
		address = f.at(kinds.HTTP, 80)
		return address == before
	})
	if got := get(address); got != "a" {
		t.Errorf("a listener that runs again answers %q", got)
	}
	f.listen(kinds.HTTP, 80, []kinds.BackendServer{server}, status(kinds.ListenerStopped))
	if got := get(address); got != "no answer" {
		t.Errorf("a stopped listener answers %q", got)
	}
	if at, problem := f.plane.Reached(kinds.ListenerID("lb-1", kinds.HTTP, 80)); at != "" || !strings.Contains(problem, "does not run") {
		t.Errorf("a stopped listener: %q, %q", at, problem)
	}
	f.listen(kinds.HTTP, 80, []kinds.BackendServer{server}, nil)
	address = f.at(kinds.HTTP, 80)
	if got := get(address); got != "a" {
		t.Errorf("a listener that runs again answers %q", got)
	}
	f.put(func(tx *state.Tx) {
		kinds.LoadBalancers.Edit(tx, "lb-1", func(lb *kinds.LoadBalancer) error { lb.Status = kinds.LoadBalancerLocked; return nil })
	})
	if got := get(address); got != "no answer" {
		t.Errorf("a locked load balancer answers %q", got)
	}
}

// A listener that is deleted closes its port.
func TestDeleted(t *testing.T) {
	f := planed(t, nil)
	f.listen(kinds.HTTP, 80, []kinds.BackendServer{f.eni(1, web(t, "a"))}, nil)
	address := f.at(kinds.HTTP, 80)
	f.put(func(tx *state.Tx) { kinds.LoadBalancers.Remove(tx, "lb-1") })
	if got := get(address); got != "no answer" {
		t.Errorf("a deleted listener answers %q", got)
	}
}

// A server that this machine can't reach is abnormal and says what to do; the listener
// answers 503 for an HTTP client.
func TestNoWay(t *testing.T) {
	f := planed(t, nil)
	f.listen(kinds.HTTP, 80, []kinds.BackendServer{f.eni(1, "")}, func(l *kinds.Listener) { l.HealthCheck.Switch = kinds.On })
	if got := get(f.at(kinds.HTTP, 80)); got != "503" {
		t.Errorf("answer = %q, want 503", got)
	}
	if health, trouble := f.health(80); health != topology.Abnormal || !strings.Contains(trouble, "instance.eni-1.reachAt=127.0.0.1:80") {
		t.Errorf("health = %s, %q, want abnormal with the command that helps", health, trouble)
	}
}

// health returns the health of the first member of an HTTP listener, and its trouble.
func (f *fixture) health(port int) (health topology.Status, trouble string) {
	f.Helper()
	v := f.store.View(owner)
	frontend, ok := state.FindShown[topology.Frontend](v, kinds.ListenerID("lb-1", kinds.HTTP, port))
	if !ok {
		f.Fatalf("there is no listener at %d", port)
	}
	g, _ := frontend.Group()
	health = f.plane.Health().Of(v, &frontend, &g, &g.Members[0])
	trouble = f.plane.Trouble(v, &frontend, &g, &g.Members[0])
	return health, trouble
}

// Of two listeners with the maximum of one, the second says that it does not answer, and
// answers when the first is gone.
func TestMaxListeners(t *testing.T) {
	f := planed(t, func(cfg *dataplane.Config) { cfg.MaxListeners = 1 })
	server := f.eni(1, web(t, "a"))
	f.listen(kinds.HTTP, 80, []kinds.BackendServer{server}, nil)
	f.listen(kinds.HTTP, 81, []kinds.BackendServer{server}, nil)
	if at, problem := f.plane.Reached(kinds.ListenerID("lb-1", kinds.HTTP, 81)); at != "" || !strings.Contains(problem, "--data-plane-max-listeners") {
		t.Errorf("the second listener: %q, %q", at, problem)
	}
	f.put(func(tx *state.Tx) { kinds.Listeners.Remove(tx, kinds.ListenerID("lb-1", kinds.HTTP, 80)) })
	f.put(func(tx *state.Tx) {}) // the plane looks once more, at what waits for room
	if got := get(f.at(kinds.HTTP, 81)); got != "a" {
		t.Errorf("answer = %q", got)
	}
}

// problems returns the problems in the metrics.
func (f *fixture) problems() string {
	f.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(f.plane)
	families, err := registry.Gather()
	if err != nil {
		f.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "clbemu_dataplane_problem" {
			return family.String()
		}
	}
	return ""
}

// Two emulators that keep nothing answer side by side, though their listeners have
// the same ids.
func TestTwoAtOnce(t *testing.T) {
	for _, name := range []string{"a", "b"} {
		f := planed(t, nil)
		f.listen(kinds.HTTP, 80, []kinds.BackendServer{f.eni(1, web(t, name))}, nil)
		defer func() {
			if got := get(f.at(kinds.HTTP, 80)); got != name {
				t.Errorf("the emulator of %s answers %q", name, got)
			}
		}()
	}
}

// A listener whose port is taken says so, and leaves the others alone.
func TestPortInUse(t *testing.T) {
	f := planed(t, func(cfg *dataplane.Config) { cfg.PortsFile = filepath.Join(t.TempDir(), "ports") })
	servers := []kinds.BackendServer{f.eni(1, web(t, "a"))}
	status := func(s kinds.ListenerStatus) func(*kinds.Listener) { return func(l *kinds.Listener) { l.Status = s } }
	f.listen(kinds.HTTP, 80, servers, nil)
	f.listen(kinds.HTTP, 81, servers, nil)
	address := f.at(kinds.HTTP, 80)
	f.listen(kinds.HTTP, 80, servers, status(kinds.ListenerStopped))
	var taken net.Listener
	f.await(func() (free bool) {
		var err error
		taken, err = net.Listen("tcp", address)
		return err == nil
	})
	f.listen(kinds.HTTP, 80, servers, nil)
	if at, problem := f.plane.Reached("lb-1_http_80"); at != "" || !strings.Contains(problem, "address already in use") {
		t.Errorf("a listener whose port is taken: %q, %q", at, problem)
	}
	if got := f.problems(); !strings.Contains(got, "lb-1_http_80") || !strings.Contains(got, "address already in use") || strings.Contains(got, "lb-1_http_81") {
		t.Errorf("the metrics have the problems %q", got)
	}
	if got := get(f.at(kinds.HTTP, 81)); got != "a" {
		t.Errorf("the other listener answers %q", got)
	}
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	f.listen(kinds.HTTP, 80, servers, func(l *kinds.Listener) { l.Description = "again" })
	if got := get(f.at(kinds.HTTP, 80)); got != "a" {
		t.Errorf("answer = %q after the port is free", got)
	}
}
