package dataplane

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/topology"
)

// machine plays the addresses of a machine with several emulators on it.
type machine struct {
	list   []assigned
	locked map[netip.Addr]bool
}

func newMachine(list ...assigned) *machine {
	return &machine{list: list, locked: make(map[netip.Addr]bool)}
}

// others returns an address that another owner put on an interface.
func others(device, prefix string) assigned {
	return assigned{netip.MustParsePrefix(prefix), 2, device, false}
}

// names lists the addresses, with a star for those that emulators put there.
func (m *machine) names() string {
	var names []string
	for _, one := range m.list {
		name := one.Addr().String()
		if one.marked {
			name += "*"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// fakeNetwork is the machine as one emulator sees it.
type fakeNetwork struct {
	*machine
	refuses error // what add fails with
}

func (n *fakeNetwork) device() string { return "lo" }

func (n *fakeNetwork) assigned() ([]assigned, error) { return slices.Clone(n.list), nil }

func (n *fakeNetwork) add(address netip.Addr) (assigned, error) {
	a := assigned{netip.PrefixFrom(address, address.BitLen()), 1, "lo", true}
	if n.refuses == nil {
		n.list = append(n.list, a)
	}
	return a, n.refuses
}

func (n *fakeNetwork) remove(a assigned) error {
	i := slices.Index(n.list, a)
	if i < 0 {
		return fmt.Errorf("%v is not there", a)
	}
	n.list = slices.Delete(n.list, i, i+1)
	return nil
}

func (n *fakeNetwork) reserve(address netip.Addr) (io.Closer, error) {
	if n.locked[address] {
		return nil, errReserved
	}
	n.locked[address] = true
	return unlock(func() { delete(n.locked, address) }), nil
}

type unlock func()

func (u unlock) Close() error { u(); return nil }

// onMachine returns the addresses of an emulator that starts on a machine.
func onMachine(t *testing.T, m *machine) *addresses {
	t.Helper()
	a, err := newAddresses(&fakeNetwork{machine: m})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// balancer returns a load balancer with the addresses, separated by spaces.
func balancer(list string) *topology.LoadBalancer {
	lb := &topology.LoadBalancer{ID: "lb-1", Active: true}
	for ip := range strings.FieldsSeq(list) {
		lb.Addresses = append(lb.Addresses, topology.Address{IP: ip})
	}
	return lb
}

func frontend(id string, first, last int) *topology.Frontend {
	return &topology.Frontend{ID: id, LoadBalancerID: "lb-1", Protocol: "tcp", FirstPort: first, LastPort: last}
}

// Listeners share the addresses of their load balancer, which stay until the last one is
// gone, and leave those of other owners alone.
func TestAddressesAreShared(t *testing.T) {
	m := newMachine(others("lo", "127.0.0.1/8"), others("eth0", "10.0.0.7/24"))
	a := onMachine(t, m)
	lb := balancer("198.18.0.1 2001:db8::1")
	for _, port := range []int{80, 443} {
		places, omitted, err := a.bindAddrs(lb, frontend(fmt.Sprint(port), port, port))
		if want := fmt.Sprintf("198.18.0.1:%d, [2001:db8::1]:%d", port, port); err != nil || omitted != "" || shownAt(places) != want {
			t.Errorf("places = %q, %q, %v, want %q", shownAt(places), omitted, err, want)
		}
	}
	const all = "10.0.0.7 127.0.0.1 198.18.0.1* 2001:db8::1*"
	if m.names() != all {
		t.Errorf("the machine has %s", m.names())
	}
	if a.release("80"); m.names() != all {
		t.Errorf("the machine has %s after one of two listeners is gone", m.names())
	}
	if _, _, err := a.bindAddrs(balancer("2001:db8::1"), frontend("443", 443, 443)); err != nil || m.names() != "10.0.0.7 127.0.0.1 2001:db8::1*" {
		t.Errorf("the machine has %s after the load balancer lost an address: %v", m.names(), err)
	}
	a.prune(func(string) bool { return false })
	if m.names() != "10.0.0.7 127.0.0.1" || len(m.locked) != 0 || len(a.held) != 0 {
		t.Errorf("the machine has %s, locks %v, after all listeners are gone", m.names(), m.locked)
	}
}

// All addresses go at the end.
func TestAddressesEnd(t *testing.T) {
	m := newMachine(others("lo", "127.0.0.1/8"))
	a := onMachine(t, m)
	if _, _, err := a.bindAddrs(balancer("198.18.0.1 198.18.0.2"), frontend("80", 80, 80)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(a.flush(), a.close()); err != nil || m.names() != "127.0.0.1" || len(m.locked) != 0 {
		t.Errorf("the machine has %s, locks %v: %v", m.names(), m.locked, err)
	}
}

// Addresses that others have, or may have, are refused by name and stay.
func TestAddressesOfOthers(t *testing.T) {
	m := newMachine(others("eth0", "10.0.0.7/24"), others("tun0", "198.18.0.9/32"))
	other := onMachine(t, m)
	if _, _, err := other.bindAddrs(balancer("198.18.0.2"), frontend("80", 80, 80)); err != nil {
		t.Fatal(err)
	}
	before := m.names()
	a := onMachine(t, m)
	for address, want := range map[string]string{
		"198.18.0.9": "198.18.0.9 is on tun0 already",
		"10.0.0.8":   "choose --data-plane-interface eth0",
		"198.18.0.2": "another clbemu on this machine answers at it",
		"0.0.0.0":    "no address of a single host",
		"127.0.0.9":  "no address of a single host",
		"224.0.0.1":  "no address of a single host",
		"fe80::1":    "no address of a single host",
		"":           "has no address",
	} {
		places, _, err := a.bindAddrs(balancer(address), frontend("80", 80, 80))
		if err == nil || !strings.Contains(err.Error(), want) || len(places) > 0 {
			t.Errorf("%q: %v, %v, want %q", address, places, err, want)
		}
		if a.release("80"); m.names() != before {
			t.Fatalf("%q: the machine has %s, had %s", address, m.names(), before)
		}
	}
	places, _, err := a.bindAddrs(balancer("198.18.0.9 198.18.0.3"), frontend("80", 80, 80))
	if err == nil || shownAt(places) != "198.18.0.3:80" {
		t.Errorf("places = %v, %v, want the address that is free", places, err)
	}
}

// What a killed emulator left is removed at the next start, and taken over while running;
// what a running one has stays.
func TestAddressesLeftBehind(t *testing.T) {
	m := newMachine(others("lo", "198.18.0.9/32"))
	killed, running := onMachine(t, m), onMachine(t, m)
	for address, a := range map[string]*addresses{"198.18.0.1": killed, "198.18.0.2": running, "2001:db8::1": killed} {
		if _, _, err := a.bindAddrs(balancer(address), frontend(address, 80, 80)); err != nil {
			t.Fatal(err)
		}
	}
	for _, address := range []string{"198.18.0.1", "2001:db8::1"} { // its locks end with it
		delete(m.locked, netip.MustParseAddr(address))
	}
	err := running.flush()
	if _, _, failed := running.bindAddrs(balancer("2001:db8::1"), frontend("81", 81, 81)); err != nil || failed != nil {
		t.Errorf("an address that was left behind is not taken over: %v, %v", err, failed)
	}
	a := onMachine(t, m)
	if m.names() != "198.18.0.2* 198.18.0.9 2001:db8::1*" {
		t.Errorf("the machine has %s after the next start", m.names())
	}
	if _, _, err := a.bindAddrs(balancer("198.18.0.1"), frontend("80", 80, 80)); err != nil {
		t.Error(err)
	}
}

// An address that was removed comes back, unless it has another owner now.
func TestAddressesLost(t *testing.T) {
	m := newMachine()
	a := onMachine(t, m)
	lb, f := balancer("198.18.0.1 198.18.0.2"), frontend("80", 80, 80)
	if _, _, err := a.bindAddrs(lb, f); err != nil {
		t.Fatal(err)
	}
	if err := a.flush(); err != nil || a.lost() != nil {
		t.Fatalf("lost = %v, %v, while all are there", a.lost(), err)
	}
	m.list = []assigned{others("eth0", "198.18.0.2/32")}
	if lost := a.lost(); !slices.Equal(lost, []string{"80"}) {
		t.Errorf("lost = %v", lost)
	}
	places, _, err := a.bindAddrs(lb, f)
	if err == nil || shownAt(places) != "198.18.0.1:80" || m.names() != "198.18.0.1* 198.18.0.2" {
		t.Errorf("places = %v, %v; the machine has %s", places, err, m.names())
	}
	a.release("80")
	if m.names() != "198.18.0.2" {
		t.Errorf("the machine has %s after the listener is gone", m.names())
	}
}

// A failure of the interface leaves no lock behind, and the next try may succeed.
func TestAddressesRetry(t *testing.T) {
	m := newMachine()
	a := onMachine(t, m)
	network := a.network.(*fakeNetwork)
	network.refuses = errors.New("it is gone")
	lb, f := balancer("198.18.0.1"), frontend("80", 80, 80)
	if _, _, err := a.bindAddrs(lb, f); err == nil || !strings.Contains(err.Error(), "198.18.0.1 can't be put on lo: it is gone") || len(m.locked) != 0 {
		t.Errorf("err = %v, locks %v", err, m.locked)
	}
	network.refuses = nil
	if places, _, err := a.bindAddrs(lb, f); err != nil || shownAt(places) != "198.18.0.1:80" {
		t.Errorf("places = %v, %v", places, err)
	}
}

// A port range has a place for each port, up to the maximum, and says what is left out.
func TestAddressesOfRanges(t *testing.T) {
	a := onMachine(t, newMachine())
	for _, tt := range []struct {
		addresses, want, omitted string
		last                     int
	}{
		{"198.18.0.1", "198.18.0.1:1000-1255", "", 1255},
		{"198.18.0.1", "198.18.0.1:1000-1255", "the ports 1256-65535 are left out: a listener has at most 256 sockets", 65535},
		{"198.18.0.1 2001:db8::1", "198.18.0.1:1000-1127, [2001:db8::1]:1000-1127", "the ports 1128-1255 are left out: a listener has at most 256 sockets", 1255},
	} {
		places, omitted, err := a.bindAddrs(balancer(tt.addresses), frontend("lsn-1", 1000, tt.last))
		if err != nil || shownAt(places) != tt.want || omitted != tt.omitted {
			t.Errorf("%s to %d: %q, %q, %v, want %q, %q", tt.addresses, tt.last, shownAt(places), omitted, err, tt.want, tt.omitted)
		}
	}
}
