package forward_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pires/go-proxyproto"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
)

func listenUDP(t testing.TB) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// echoUDP returns a member that answers packets with its key and the packet.
func echoUDP(t testing.TB, key string) forward.Member {
	c := listenUDP(t)
	go func() {
		b := make([]byte, 2048)
		for {
			n, from, err := c.ReadFromUDPAddrPort(b)
			if err != nil {
				return
			}
			c.WriteToUDPAddrPort(append([]byte(key+" "), b[:n]...), from)
		}
	}()
	return member(key, c.LocalAddr())
}

func startUDP(t testing.TB, plan forward.Plan, config forward.Config) (*forward.Server, string) {
	t.Helper()
	checkLeaks(t)
	plan.Protocol = forward.UDP
	s := forward.New(config)
	t.Cleanup(func() { s.Close() })
	apply(t, s, plan)
	c := listenUDP(t)
	go s.ServeUDP(c)
	return s, c.LocalAddr().String()
}

func dialUDP(t testing.TB, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(await.Patience))
	return c
}

// ask sends a packet and returns the answer.
func ask(t testing.TB, c net.Conn, packet string) string {
	t.Helper()
	if _, err := c.Write([]byte(packet)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 2048)
	n, err := c.Read(b)
	if err != nil {
		t.Fatalf("an answer to %q was to come: %v", packet, err)
	}
	return string(b[:n])
}

func TestUDPSessions(t *testing.T) {
	off := echoUDP(t, "off")
	off.Weight = 0
	s, addr := startUDP(t, forward.Plan{Group: group(echoUDP(t, "a"), echoUDP(t, "b"), off)}, forward.Config{})
	one, two := dialUDP(t, addr), dialUDP(t, addr)
	for _, tt := range []struct {
		from net.Conn
		want string
	}{{one, "a x"}, {two, "b x"}, {one, "a x"}, {two, "b x"}} {
		if got := ask(t, tt.from, "x"); got != tt.want {
			t.Errorf("a packet is answered %q, want %q", got, tt.want)
		}
	}
	// A packet is counted after it was sent.
	await.Until(t, "the counters are right", func() bool {
		st := s.Stats()
		m := st.Members["a"]
		return st.Sessions == 2 && m.Connections == 1 && m.BytesIn == 2 && m.BytesOut == 6
	})
}

func TestUDPSessionTimeout(t *testing.T) {
	clock := newClock()
	s, addr := startUDP(t, forward.Plan{Group: group(echoUDP(t, "a"), echoUDP(t, "b")), SessionTimeout: time.Second}, forward.Config{Clock: clock})
	c := dialUDP(t, addr)
	if got := ask(t, c, "x"); got != "a x" {
		t.Errorf("the first session is answered %q", got)
	}
	clock.advance(time.Second)
	await.Until(t, "the session has ended", func() bool { return s.Stats().Sessions == 0 })
	if got := ask(t, c, "x"); got != "b x" {
		t.Errorf("the second session is answered %q", got)
	}
}

func TestUDPLimits(t *testing.T) {
	s, addr := startUDP(t, forward.Plan{Group: group(echoUDP(t, "a"))}, forward.Config{MaxSessions: 1})
	ask(t, dialUDP(t, addr), "x")
	dialUDP(t, addr).Write([]byte("x"))
	await.Until(t, "the second client is refused", func() bool { return s.Stats().Refused == 1 })
}

// TestUDPRefused checks that the member's ICMP error is noticed, and that the
// session goes on with the member when it is back.
func TestUDPRefused(t *testing.T) {
	c := listenUDP(t)
	m := member("m", c.LocalAddr())
	c.Close()
	s, addr := startUDP(t, forward.Plan{Group: group(m)}, forward.Config{})
	client := dialUDP(t, addr)
	client.Write([]byte("x"))
	await.Until(t, "the refusal is counted", func() bool { return s.Stats().Members["m"].Errors > 0 })
	back, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(m.Addr))
	if errors.Is(err, syscall.EADDRINUSE) { // another program has the port by now
		TestUDPRefused(t)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { back.Close() })
	client.Write([]byte("again"))
	b := make([]byte, 10)
	back.SetDeadline(time.Now().Add(await.Patience))
	if n, _, err := back.ReadFrom(b); err != nil || string(b[:n]) != "again" {
		t.Errorf("the member got %q, want again (%v)", b[:n], err)
	}
}

// TestUDPHashes checks that a client that returns finds its member, by its
// address or its QUIC connection id.
func TestUDPHashes(t *testing.T) {
	for _, kind := range []forward.Scheduler{forward.SourceHash, forward.QUICHash} {
		_, addr := startUDP(t, forward.Plan{Scheduler: kind, Group: group(echoUDP(t, "a"), echoUDP(t, "b"), echoUDP(t, "c"))}, forward.Config{})
		for id := range 4 {
			packet := fmt.Sprintf("\x40%08d and more", id)
			first, _, _ := strings.Cut(ask(t, dialUDP(t, addr), packet), " ")
			for range 5 {
				if got, _, _ := strings.Cut(ask(t, dialUDP(t, addr), packet), " "); got != first {
					t.Errorf("%s: the client finds %s, and %s before", kind, got, first)
				}
			}
		}
	}
}

func TestUDPProxyProtocol(t *testing.T) {
	_, addr := startUDP(t, forward.Plan{Group: group(echoUDP(t, "a")), ProxyProtocol: forward.ProxyProtocol{On: true}}, forward.Config{})
	c := dialUDP(t, addr)
	answer := strings.TrimPrefix(ask(t, c, "first"), "a ")
	h, rest, err := proxyproto.ParseUDPDatagram([]byte(answer))
	if err != nil {
		t.Fatal(err)
	}
	if h.SourceAddr.String() != c.LocalAddr().String() || string(rest) != "first" {
		t.Errorf("the first packet says it is from %v and has %q", h.SourceAddr, rest)
	}
	if got := ask(t, c, "second"); got != "a second" {
		t.Errorf("the second packet is answered %q", got)
	}
}

func TestUDPAccess(t *testing.T) {
	s, addr := startUDP(t, forward.Plan{
		Group: group(echoUDP(t, "a")),
		Admit: func(netip.Addr, uint16) bool { return false },
	}, forward.Config{})
	dialUDP(t, addr).Write([]byte("x"))
	await.Until(t, "the client is refused", func() bool { return s.Stats().Refused == 1 })
}
