package listen_test

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/listen"
)

// forwarder returns a service with members at one socket.
func forwarder(t *testing.T, members *[]netip.AddrPort) (*listen.Service, netip.AddrPort) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := &listen.Service{Name: "listener", Members: func() []netip.AddrPort { return *members }}
	t.Cleanup(s.Add(l.Addr()))
	return s, netip.MustParseAddrPort(l.Addr().String())
}

// Nothing connects to a service that answers itself, however its address is written, and
// all do once it is closed.
func TestAnswers(t *testing.T) {
	for _, test := range []struct{ at, to string }{
		{"127.0.0.1:0", "127.0.0.1"}, {"127.0.0.1:0", "0.0.0.0"}, {"127.0.0.1:0", "::"}, {"127.0.0.1:0", "::ffff:127.0.0.1"},
		{"0.0.0.0:0", "127.0.0.1"}, {"0.0.0.0:0", "127.8.8.8"}, {"0.0.0.0:0", "0.0.0.0"}, {":0", "127.0.0.1"}, {":0", "::1"}, {"0.0.0.0:0", ownAddress(t)},
	} {
		l, err := listen.TCP("control listener", test.at)
		if err != nil {
			t.Fatal(err)
		}
		to := netip.AddrPortFrom(netip.MustParseAddr(test.to), uint16(l.Addr().(*net.TCPAddr).Port))
		for _, from := range []*listen.Service{nil, {Name: "listener", Members: func() []netip.AddrPort { return nil }}} {
			if err := from.Check("tcp", to); err == nil || !strings.Contains(err.Error(), "control listener") {
				t.Errorf("a connection to %s of what listens at %s is checked with %v", to, test.at, err)
			}
		}
		for _, other := range []netip.AddrPort{netip.AddrPortFrom(netip.MustParseAddr("192.0.2.1"), to.Port()), netip.AddrPortFrom(to.Addr(), to.Port()^1)} {
			if err := (*listen.Service)(nil).Check("tcp", other); err != nil {
				t.Errorf("%s is no socket of this process: %v", other, err)
			}
		}
		if err := (*listen.Service)(nil).Check("udp", to); err != nil {
			t.Errorf("nothing answers at %s by UDP: %v", to, err)
		}
		l.Close()
		if err := (*listen.Service)(nil).Check("tcp", to); err != nil {
			t.Errorf("after Close: %v", err)
		}
	}
}

// ownAddress returns an address of an interface of this machine.
func ownAddress(t *testing.T) string {
	addresses, err := net.InterfaceAddrs()
	if err != nil || len(addresses) == 0 {
		t.Fatalf("this machine has no address: %v", err)
	}
	return addresses[len(addresses)-1].(*net.IPNet).IP.String()
}

// A service may connect to another one, and neither directly nor through others to itself.
func TestLoops(t *testing.T) {
	var ofA, ofB, ofC []netip.AddrPort
	a, atA := forwarder(t, &ofA)
	b, atB := forwarder(t, &ofB)
	c, atC := forwarder(t, &ofC)
	check := func(from *listen.Service, to netip.AddrPort, want string) {
		t.Helper()
		err := from.Check("tcp", to)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s is checked with %v, want %q", to, err, want)
		}
	}
	ofA, ofB = []netip.AddrPort{atB}, []netip.AddrPort{atC}
	check(a, atB, "")
	check(a, atA, "is the listener itself")
	ofC = []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:1"), atA}
	for from, to := range map[*listen.Service]netip.AddrPort{a: atB, b: atC, c: atA} {
		check(from, to, "leads back")
	}
	ofC = []netip.AddrPort{atB} // a loop that a is not part of
	check(a, atB, "")
	check(b, atC, "leads back")
	ofC = []netip.AddrPort{netip.AddrPortFrom(atB.Addr(), 0)} // the port that the client connects to
	check(c, netip.AddrPortFrom(atC.Addr(), atC.Port()), "is the listener itself")
	control, err := listen.TCP("control listener", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { control.Close() })
	ofC = []netip.AddrPort{netip.MustParseAddrPort(control.Addr().String())}
	check(a, atB, "") // c refuses it
	check(c, ofC[0], "control listener")
}
