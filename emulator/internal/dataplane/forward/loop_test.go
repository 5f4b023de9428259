package forward_test

import (
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
)

// TestOwnClient checks that a member that is its own client gets no answer where members
// see the clients' addresses, that others do, and it too elsewhere (CLB-0631).
func TestOwnClient(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.9:0")
	if err != nil {
		t.Skipf("NOT TESTED: 127.0.0.9 can't be bound here: %v", err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			io.WriteString(c, "self\n")
			c.Close()
		}
	}()
	plan := forward.Plan{Group: group(member("self", l.Addr())), ClientAddress: true}
	s, addr := start(t, plan, forward.Config{})
	from := func(ip string) net.Conn {
		t.Helper()
		dialer := net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(ip), 0))}
		c, err := dialer.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		c.SetDeadline(time.Now().Add(await.Patience))
		return c
	}
	own := from("127.0.0.9")
	await.Until(t, "the member waits for itself", func() bool { return s.Stats().Held == 1 })
	own.Close()
	if got := readLine(t, from("127.0.0.8")); got != "self" {
		t.Errorf("another client gets %q", got)
	}
	plan.ClientAddress = false
	apply(t, s, plan)
	if got := readLine(t, from("127.0.0.9")); got != "self" {
		t.Errorf("without its address the member gets %q", got)
	}
}
