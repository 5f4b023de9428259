package forward_test

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
)

// TestZones checks that an address of a zone forwards to the members of that zone and to
// those without one, that others forward to all, and that persistence stays within a zone.
func TestZones(t *testing.T) {
	a, b, both := echo(t, "a"), echo(t, "b"), echo(t, "both")
	a.Zone, b.Zone = "a", "b"
	plan := forward.Plan{Group: group(a, b), Scheduler: forward.RoundRobin, Zones: map[netip.Addr]string{
		netip.MustParseAddr("127.0.0.2"): "a", netip.MustParseAddr("127.0.0.3"): "b", netip.MustParseAddr("127.0.0.4"): "c"}}
	checkLeaks(t)
	s := forward.New(forward.Config{})
	t.Cleanup(func() { s.Close() })
	apply(t, s, plan)
	at := make(map[string]string)
	for _, ip := range []string{"127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"} {
		l, err := net.Listen("tcp", ip+":0")
		if err != nil {
			t.Skipf("NOT TESTED: %s can't be bound here: %v", ip, err)
		}
		at[ip] = l.Addr().String()
		go s.ServeTCP(l)
	}
	check := func(ip, want string) {
		t.Helper()
		if got := answers(t, at[ip], 3); got != want {
			t.Errorf("%s answers by %s, want %s", ip, got, want)
		}
	}
	check("127.0.0.1", "a b a")
	check("127.0.0.2", "a a a")
	check("127.0.0.3", "b b b")
	c := dial(t, at["127.0.0.4"])
	await.Until(t, "a client waits at the zone without a member", func() bool { return s.Stats().Held == 1 })
	c.Close()
	plan.Persistence = time.Hour
	apply(t, s, plan)
	check("127.0.0.2", "a a a")
	check("127.0.0.3", "b b b")
	plan.Persistence, plan.Group = 0, group(a, b, both)
	apply(t, s, plan)
	check("127.0.0.2", "a both a")
	check("127.0.0.4", "both both both")
	plan.Zones = nil
	apply(t, s, plan)
	check("127.0.0.2", "a b both")
}
