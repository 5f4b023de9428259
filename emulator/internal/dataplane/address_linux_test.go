package dataplane_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/contracttests/netns"
	"github.com/clbemu/clbemu/emulator/internal/dataplane"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

// direct are the addresses of namespaces next to the test.
var direct = []netip.Prefix{netip.MustParsePrefix("10.77.0.0/16"), netip.MustParsePrefix("fd77::/16")}

// onLoopback lets a plane put addresses on lo.
func onLoopback(cfg *dataplane.Config) { cfg.Interface, cfg.Direct = "lo", direct }

// here returns the addresses that are on lo, next to its own.
func here(t *testing.T) string {
	t.Helper()
	var list []string
	for line := range strings.Lines(netns.Run(t, "ip", "-brief", "addr", "show", "dev", "lo")) {
		for field := range strings.FieldsSeq(line) {
			if p, err := netip.ParsePrefix(field); err == nil && !p.Addr().IsLoopback() {
				list = append(list, field)
			}
		}
	}
	return strings.Join(list, " ")
}

// A client on another machine reaches a load balancer at each of its addresses, which are
// those that its name has, and no longer when it is gone.
func TestAnswersAtAddresses(t *testing.T) {
	if !netns.Isolated(t) {
		return
	}
	f := planed(t, onLoopback)
	client, servers := netns.New(t, "1"), netns.New(t, "2")
	servers.Serve("10.77.2.2:8080")
	netns.Run(t, "ip", "addr", "add", "198.18.9.9/32", "dev", "lo")
	routes := routesHere(t)
	f.nlb("10.77.2.2:8080", tcp80(), &kinds.NLBListener{ID: "lsn-53", Protocol: kinds.NLBUDP, Port: 53})

	at, problem := f.plane.Reached("lsn-80")
	if want := "198.18.0.7:80, 198.18.0.8:80, [2001:db8::7]:80, [2001:db8::8]:80"; at != want || problem != "" {
		t.Errorf("reached at %q, %q, want %q", at, problem, want)
	}
	for _, ip := range f.named("nlb-1") {
		if got := client.Get("http://" + netip.AddrPortFrom(ip, 80).String()); got != "10.77.2.1" {
			t.Errorf("%s answers %q, want that the server sees this machine", ip, got)
		}
		if got := client.Packet(netip.AddrPortFrom(ip, 53).String()); got != "10.77.2.1" {
			t.Errorf("%s answers %q by UDP", ip, got)
		}
	}
	if got := client.Get("http://198.18.0.7:8080"); !strings.Contains(got, "connection refused") {
		t.Errorf("the port of a server answers %q at the load balancer's address, want that only the listener's does", got)
	}
	if now := routesHere(t); now != routes {
		t.Errorf("the routes are\n%s, were\n%s", now, routes)
	}
	if got := here(t); !strings.Contains(got, "198.18.0.7/32") || !strings.Contains(got, "2001:db8::8/128") {
		t.Errorf("lo has %s", got)
	}
	f.put(func(tx *state.Tx) { kinds.NLBLoadBalancers.Remove(tx, "nlb-1") })
	if got := here(t); got != "198.18.9.9/32" {
		t.Errorf("lo has %s after the load balancer is gone, want the address that was there before", got)
	}
}

// Machines that knew another owner of an address learn at once that the plane has it.
func TestAnnouncesAddresses(t *testing.T) {
	if !netns.Isolated(t) {
		return
	}
	client := netns.New(t, "1")
	f := planed(t, func(cfg *dataplane.Config) { cfg.Interface, cfg.Direct = "netns1", direct })
	client.Serve("[fd77:1::2]:8080")
	eventually(t, "the wire works", func() error { // some time after it is up
		c, err := net.Dial("tcp", "[fd77:1::2]:8080")
		if err == nil {
			err = c.Close()
		}
		return err
	})
	addresses := []string{"198.18.0.7", "2001:db8::7"}
	for _, address := range addresses {
		client.Run("ip", "neigh", "replace", address, "lladdr", "02:00:00:00:00:01", "dev", "eth0", "nud", "reachable")
	}
	f.nlb("10.77.1.2:8080", tcp80())
	own, err := net.InterfaceByName("netns1")
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		eventually(t, "the client knows who has "+address, func() error {
			if known := client.Run("ip", "neigh", "show", address); !strings.Contains(known, own.HardwareAddr.String()) {
				return fmt.Errorf("it knows %q, want %s", known, own.HardwareAddr)
			}
			return nil
		})
	}
}

// eventually waits until check has no error.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	var err error
	defer func() {
		if t.Failed() && err != nil {
			t.Logf("at last: %v", err)
		}
	}()
	await.Until(t, what, func() bool {
		err = check()
		return err == nil
	})
}

// routesHere lists the routes, except routes of links, which come when a link is up.
func routesHere(t *testing.T) (routes string) {
	t.Helper()
	for line := range strings.Lines(netns.Run(t, "ip", "route") + netns.Run(t, "ip", "-6", "route")) {
		if !strings.HasPrefix(line, "fe80::") {
			routes += strings.ReplaceAll(line, " linkdown", "") // until the other end is seen
		}
	}
	return routes
}

// A zone that is gone takes no packet at its addresses, while the others answer; one that
// was shifted answers, for only the name is without it (NLB-0091).
func TestZoneGone(t *testing.T) {
	if !netns.Isolated(t) {
		return
	}
	f, injector, recorded := faulty(t, onLoopback)
	client, servers := netns.New(t, "1"), netns.New(t, "2")
	servers.Serve("10.77.2.2:8080")
	f.nlb("10.77.2.2:8080", tcp80(), &kinds.NLBListener{ID: "lsn-53", Protocol: kinds.NLBUDP, Port: 53})
	dead := func(ip string) bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // for what does not come
		defer cancel()
		c, err := client.Dial(ctx, "tcp", ip+":80")
		if err == nil {
			c.Close()
		}
		return isTimeout(err)
	}
	f.arm(injector, "{name: gone, match: {zone: a}, effect: {deaf: true}}")
	f.await(func() bool { return dead("198.18.0.7") })
	for ip, want := range map[string]string{"198.18.0.8": "10.77.2.1", "[2001:db8::8]": "10.77.2.1"} {
		if got := client.Get("http://" + ip); got != want {
			t.Errorf("%s of the other zone answers %q", ip, got)
		}
	}
	if !dead("[2001:db8::7]") {
		t.Error("the zone's address of IPv6 answers")
	}
	if n := strings.Count(recorded.String(), "[gone]"); n != 4 {
		t.Errorf("%d sockets are recorded, want TCP and UDP at two addresses\n%s", n, recorded)
	}
	f.arm(injector, "")
	f.await(func() bool { return !dead("198.18.0.7") && !dead("[2001:db8::7]") })
	f.put(func(tx *state.Tx) {
		kinds.NLBLoadBalancers.Edit(tx, "nlb-1", func(lb *kinds.NLBLoadBalancer) error {
			lb.ZoneMappings = slices.Clone(lb.ZoneMappings)
			lb.ZoneMappings[0].Status = kinds.NLBZoneShifted
			return nil
		})
	})
	if dead("198.18.0.7") || dead("[2001:db8::7]") {
		t.Error("a zone that is shifted does not answer at its addresses")
	}
}

// Without forwarding across zones, an address has the servers of its zone alone.
func TestZonesApart(t *testing.T) {
	if !netns.Isolated(t) {
		return
	}
	f := planed(t, onLoopback)
	client := netns.New(t, "1")
	netns.New(t, "2").Serve("10.77.2.2:8080")
	netns.New(t, "3").Serve("10.77.3.2:8080")
	f.nlb("10.77.2.2:8080", tcp80())
	for _, across := range []bool{false, true} {
		f.put(func(tx *state.Tx) {
			kinds.NLBLoadBalancers.Edit(tx, "nlb-1", func(lb *kinds.NLBLoadBalancer) error { lb.CrossZoneEnabled = across; return nil })
			kinds.NLBServerGroups.Edit(tx, "sgp-1", func(g *kinds.NLBServerGroup) error {
				g.Scheduler, g.Servers = "Rr", []kinds.NLBServer{
					{Type: kinds.NLBServerIP, ID: "10.77.2.2", IP: "10.77.2.2", ZoneID: "a", Port: 8080, Weight: 100},
					{Type: kinds.NLBServerIP, ID: "10.77.3.2", IP: "10.77.3.2", ZoneID: "b", Port: 8080, Weight: 100}}
				return nil
			})
		})
		for ip, own := range map[string]string{"198.18.0.7": "10.77.2.1", "[2001:db8::7]": "10.77.2.1", "198.18.0.8": "10.77.3.1"} {
			seen := make(map[string]bool) // how servers see this machine
			for range 4 {
				seen[client.Get("http://"+ip)] = true
			}
			if !seen[own] || (len(seen) == 2) != across {
				t.Errorf("across zones %v, %s answers by %v", across, ip, seen)
			}
		}
	}
}

// Clients in a network find the addresses that are a part of it on its interface, and on no
// other: there they may have another owner.
func TestAddressesOfNetwork(t *testing.T) {
	if !netns.Isolated(t) {
		return
	}
	client := netns.New(t, "1")
	client.Serve("10.77.1.2:8081")
	for _, device := range []string{"lo", "netns1"} {
		f := planed(t, func(cfg *dataplane.Config) { cfg.Interface, cfg.Direct = device, direct })
		f.put(func(tx *state.Tx) {
			kinds.NLBLoadBalancers.Put(tx, &kinds.NLBLoadBalancer{Owner: owner, ID: "nlb-2", Status: kinds.NLBActive, ZoneMappings: []kinds.NLBZoneMapping{
				{ZoneID: "a", Status: kinds.NLBZoneActive, PublicIPv4Address: "10.77.1.200", IPv6Address: "fd77:1::200"},
			}})
		})
		f.nlb("10.77.1.2:8081")
		f.put(func(tx *state.Tx) {
			kinds.NLBListeners.Put(tx, &kinds.NLBListener{Owner: owner, ID: "lsn-2", LoadBalancerID: "nlb-2", Protocol: kinds.NLBTCP, Port: 80, ServerGroupID: "sgp-1", Status: kinds.NLBListenerRunning})
		})
		at, problem := f.plane.Reached("lsn-2")
		if device == "lo" {
			for _, want := range []string{"10.77.1.200 is in the network 10.77.1.0/24 of netns1", "; the address fd77:1::200", "choose --data-plane-interface netns1"} {
				if at != "" || !strings.Contains(problem, want) {
					t.Errorf("on lo: reached at %q, %q, want %q", at, problem, want)
				}
			}
			continue
		}
		for _, address := range []string{"10.77.1.200", "[fd77:1::200]"} {
			if got := client.Get("http://" + address); got != "10.77.1.1" {
				t.Errorf("%s answers %q; reached at %q, %q", address, got, at, problem)
			}
		}
	}
}

// named returns the addresses under a load balancer's name.
func (f *fixture) named(id string) (list []netip.Addr) {
	f.Helper()
	v := f.store.View(owner)
	lb, _ := topology.FindLoadBalancer(v, id)
	list = lb.Reachable
	if len(list) != 4 {
		f.Fatalf("%s has %v under its name, want 4 addresses", id, list)
	}
	return list
}

// The header SLB-IP is the address that the client used; an elastic IP address answers from
// when it is there until it goes, next to connections that stay.
func TestElasticAddress(t *testing.T) {
	if !netns.Isolated(t) {
		return
	}
	f := planed(t, onLoopback)
	f.listen(kinds.HTTP, 80, []kinds.BackendServer{f.eni(1, web(t, "a"))}, nil)
	servers := netns.New(t, "1")
	servers.Serve("10.77.1.2:80")
	f.listen(kinds.HTTP, 81, []kinds.BackendServer{f.eni(2, "10.77.1.2:80")}, func(l *kinds.Listener) { l.XForwardedForSLBIP = kinds.On })
	f.put(func(tx *state.Tx) {
		kinds.EIPs.Put(tx, &kinds.EIP{Owner: owner, ID: "eip-1", IPAddress: "198.18.0.2", InstanceType: "SlbInstance", InstanceID: "lb-1"})
	})
	for _, ip := range []string{"198.18.0.1", "198.18.0.2"} {
		if got := get(ip + ":81"); got != "10.77.1.1 "+ip {
			t.Errorf("the server saw %q", got)
		}
	}
	f.put(func(tx *state.Tx) { kinds.EIPs.Remove(tx, "eip-1") })
	if got := here(t); got != "198.18.0.1/32" {
		t.Errorf("lo has %s after the address was taken away", got)
	}
	if got := get("198.18.0.1:80") + get("198.18.0.2:80"); got != "ano answer" {
		t.Errorf("answers = %q, want the first address alone", got)
	}
}

// A listener of many ports answers at each, as the security groups say of that port, and
// forwards to the same one.
func TestPortRange(t *testing.T) {
	if !netns.Isolated(t) {
		return
	}
	f := planed(t, onLoopback)
	servers := netns.New(t, "1")
	servers.Serve("10.77.1.2:1002")
	servers.Serve("10.77.1.2:1003")
	f.nlb("10.77.1.2:0", &kinds.NLBListener{ID: "lsn-1", Protocol: kinds.NLBTCP, StartPort: 1000, EndPort: 2000})
	if got := get("198.18.0.7:1002"); got != "10.77.1.1" {
		t.Errorf("answer = %q", got)
	}
	f.put(func(tx *state.Tx) {
		kinds.SecurityGroups.Put(tx, &kinds.SecurityGroup{Owner: owner, ID: "sg-1", Permissions: []kinds.SecurityGroupPermission{
			{Direction: "ingress", IPProtocol: "TCP", PortRange: "1003/1003", SourceCIDR: "0.0.0.0/0", Policy: "Accept", Priority: "1"},
			{Direction: "ingress", IPProtocol: "ALL", PortRange: "-1/-1", SourceCIDR: "0.0.0.0/0", Policy: "Drop", Priority: "100"}}})
		kinds.NLBLoadBalancers.Edit(tx, "nlb-1", func(lb *kinds.NLBLoadBalancer) error { lb.SecurityGroupIDs = []string{"sg-1"}; return nil })
	})
	if got := get("198.18.0.7:1002") + ", " + get("198.18.0.7:1003"); got != "no answer, 10.77.1.1" {
		t.Errorf("answers = %q, want the port that the security group opens", got)
	}
	at, problem := f.plane.Reached("lsn-1")
	if !strings.HasPrefix(at, "198.18.0.7:1000-1063, ") || !strings.Contains(problem, "1064-2000 are left out") {
		t.Errorf("reached at %q, %q", at, problem)
	}
}

// What can't be bound is the listener's problem, until it can.
func TestNotBound(t *testing.T) {
	if !netns.Isolated(t) {
		return
	}
	f := planed(t, onLoopback)
	netns.New(t, "1")
	netns.Run(t, "ip", "addr", "add", "198.18.0.8/32", "dev", "netns1")
	f.nlb("127.0.0.1:80", tcp80())
	at, problem := f.plane.Reached("lsn-80")
	if strings.Contains(at, "198.18.0.8") || !strings.Contains(at, "198.18.0.7:80") || !strings.Contains(problem, "198.18.0.8 is on netns1 already") {
		t.Errorf("reached at %q, %q", at, problem)
	}
	if traffic := f.plane.Traffic(); traffic[0].Problem != problem {
		t.Errorf("traffic says %q", traffic[0].Problem)
	}
	netns.Run(t, "ip", "addr", "del", "198.18.0.8/32", "dev", "netns1")
	f.nlb("127.0.0.1:80", tcp80())
	if at, problem = f.plane.Reached("lsn-80"); !strings.Contains(at, "198.18.0.8:80") || problem != "" {
		t.Errorf("reached at %q, %q after the address is free", at, problem)
	}
}

// until changes nothing, until a listener answers somewhere, or has a problem.
func (f *fixture) until(frontend string, done func(at, problem string) bool) {
	f.Helper()
	await.Until(f, frontend+" answers, or has a problem, as wanted", func() bool {
		if at, problem := f.plane.Reached(frontend); done(at, problem) {
			return true
		}
		f.put(func(*state.Tx) {})
		return false
	})
}

// An interface that is gone is the listener's problem, until there is one of its name.
func TestInterfaceGone(t *testing.T) {
	if !netns.Isolated(t) {
		return
	}
	netns.Run(t, "ip", "link", "add", "clb0", "type", "veth", "peer", "name", "clb1")
	netns.Run(t, "ip", "link", "set", "clb0", "up")
	f := planed(t, func(cfg *dataplane.Config) { cfg.Interface, cfg.RetryAfter = "clb0", 10*time.Millisecond })
	f.nlb("127.0.0.1:80", tcp80())
	usual, problem := f.plane.Reached("lsn-80")
	if !strings.Contains(usual, "198.18.0.7:80") || problem != "" {
		t.Fatalf("reached at %q, %q", usual, problem)
	}
	netns.Run(t, "ip", "link", "del", "clb0")
	f.until("lsn-80", func(at, problem string) bool { return at == "" && strings.Contains(problem, "network interface clb0") })
	netns.Run(t, "ip", "link", "add", "clb0", "type", "veth", "peer", "name", "clb1")
	f.until("lsn-80", func(_, problem string) bool { return strings.Contains(problem, "clb0 is down") })
	netns.Run(t, "ip", "link", "set", "clb0", "up")
	f.until("lsn-80", func(at, problem string) bool { return at == usual && problem == "" })
}

// The addresses of an emulator that was killed go when the next one starts, also one that
// answers at ports, and which has them then; those of one that runs stay.
func TestKilled(t *testing.T) {
	if !netns.Isolated(t) {
		return
	}
	if ready := os.Getenv("DATAPLANE_TEST_KILL"); ready != "" {
		f := planed(t, onLoopback)
		f.nlb("127.0.0.1:80", tcp80())
		fmt.Println("\nready")
		io.Copy(io.Discard, os.Stdin)
		return
	}
	netns.Run(t, "ip", "addr", "add", "198.18.9.9/32", "dev", "lo")
	t.Run("ports", func(t *testing.T) { afterKill(t, nil) })
	t.Run("addresses", func(t *testing.T) {
		next := afterKill(t, onLoopback)
		next.nlb("127.0.0.1:80", tcp80())
		if at, problem := next.plane.Reached("lsn-80"); !strings.Contains(at, "198.18.0.7:80") || problem != "" {
			t.Errorf("reached at %q, %q", at, problem)
		}
	})
}

// afterKill kills an emulator with addresses, and starts another.
func afterKill(t *testing.T, change func(*dataplane.Config)) (next *fixture) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	cmd.Env = append(os.Environ(), "DATAPLANE_TEST_KILL=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "ready"; {
	}
	before := here(t)
	if !strings.Contains(before, "198.18.0.7/32") || !strings.Contains(before, "2001:db8::7/128") {
		t.Fatalf("lo has %s while an emulator runs", before)
	}
	planed(t, nil)
	beside := planed(t, onLoopback)
	beside.nlb("127.0.0.1:80", tcp80())
	if at, problem := beside.plane.Reached("lsn-80"); at != "" || !strings.Contains(problem, "198.18.0.7: another clbemu on this machine") || here(t) != before {
		t.Errorf("beside another one, reached at %q, %q; lo has %s", at, problem, here(t))
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() // it was killed
	if got := here(t); got != before {
		t.Errorf("lo has %s after the kill, had %s: the test proves nothing", got, before)
	}
	next = planed(t, change)
	if got := here(t); got != "198.18.9.9/32" {
		t.Errorf("lo has %s after the next start", got)
	}
	return next
}

var everybody = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}

// TCP and UDP servers see the client's address, HTTP servers this machine's.
func TestTransparent(t *testing.T) {
	if !netns.Isolated(t) {
		return
	}
	f := planed(t, func(cfg *dataplane.Config) {
		onLoopback(cfg)
		cfg.Transparent, cfg.Direct = everybody, append(cfg.Direct, netip.MustParsePrefix("127.0.0.0/8"))
	})
	client, servers := netns.New(t, "1"), netns.New(t, "2")
	for _, family := range []string{"-4", "-6"} { // docs/packets.md has these
		netns.Run(t, "ip", family, "rule", "add", "iif", "netns2", "lookup", "96")
		netns.Run(t, "ip", family, "route", "add", "local", "default", "dev", "lo", "table", "96")
	}
	netns.Run(t, "ip", "rule", "add", "from", "127.0.0.0/8", "iif", "lo", "lookup", "96")
	servers.Serve("10.77.2.2:8080")
	servers.Serve("[fd77:2::2]:8080")
	netns.Here(t).Serve("127.0.0.1:8080")
	udp := &kinds.NLBListener{ID: "lsn-53", Protocol: kinds.NLBUDP, Port: 53}
	for _, tt := range []struct{ server, address, want string }{
		{"10.77.2.2:8080", "198.18.0.7", "10.77.1.2"},
		{"[fd77:2::2]:8080", "[2001:db8::7]", "fd77:1::2"},
		{"127.0.0.1:8080", "198.18.0.7", "10.77.1.2"},
		{"10.77.2.2:8080", "[2001:db8::7]", "10.77.2.1"}, // by IPv4 there is no such client
	} {
		f.nlb(tt.server, tcp80(), udp)
		if got := client.Get("http://" + tt.address + ":80"); got != tt.want {
			t.Errorf("%s at %s sees %q, want %q", tt.server, tt.address, got, tt.want)
		}
		if got := client.Packet(tt.address + ":53"); got != tt.want {
			t.Errorf("%s at %s sees %q by UDP, want %q", tt.server, tt.address, got, tt.want)
		}
	}
	f.listen(kinds.HTTP, 80, []kinds.BackendServer{f.eni(1, "10.77.2.2:8080")}, nil)
	if got := client.Get("http://198.18.0.1:80"); got != "10.77.2.1" {
		t.Errorf("a server of HTTP sees %q, want this machine", got)
	}
}

// Servers see the addresses of clients in the given blocks alone.
func TestTransparentToSome(t *testing.T) {
	if !netns.Isolated(t) {
		return
	}
	f := planed(t, func(cfg *dataplane.Config) {
		onLoopback(cfg)
		cfg.Transparent = []netip.Prefix{netip.MustParsePrefix("10.77.1.0/24")}
	})
	seen, unseen, servers := netns.New(t, "1"), netns.New(t, "3"), netns.New(t, "2")
	netns.Run(t, "ip", "rule", "add", "iif", "netns2", "to", "10.77.1.0/24", "lookup", "96")
	netns.Run(t, "ip", "route", "add", "local", "default", "dev", "lo", "table", "96")
	servers.Serve("10.77.2.2:8080")
	f.nlb("10.77.2.2:8080", tcp80())
	for client, want := range map[*netns.Namespace]string{seen: "10.77.1.2", unseen: "10.77.2.1"} {
		if got := client.Get("http://198.18.0.7:80"); got != want {
			t.Errorf("the server sees %q, want %q", got, want)
		}
	}
}

// Without the right, or the interface, there is no plane, and the error says what to do.
func TestNoRight(t *testing.T) {
	if !netns.WithoutRights(t) {
		return
	}
	for _, tt := range []struct{ device, want string }{{"lo", "NET_ADMIN"}, {"nowhere0", "--data-plane-interface"}} {
		_, err := dataplane.New(dataplane.Config{Interface: tt.device, Log: zerolog.Nop()})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("on %s: %v, want %s", tt.device, err, tt.want)
		}
	}
	if _, err := dataplane.New(dataplane.Config{Transparent: everybody, Log: zerolog.Nop()}); err == nil || !strings.Contains(err.Error(), "NET_ADMIN") {
		t.Errorf("transparent: %v, want NET_ADMIN", err)
	}
}
