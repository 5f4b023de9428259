package forward

import (
	"fmt"
	"math"
	"net/netip"
	"strings"
	"testing"
)

// targets returns members a, b, c … of the weights.
func targets(weights ...int) (ts []*target) {
	for i, w := range weights {
		key := string(rune('a' + i))
		ts = append(ts, &target{Member: Member{Key: key, Weight: w}, record: &record{key: key}, hash: hashBytes([]byte(key))})
	}
	return ts
}

func picks(s scheduler, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(s.pick(client{}, nil).Key)
	}
	return b.String()
}

func TestRoundRobin(t *testing.T) {
	for _, tt := range []struct {
		kind    Scheduler
		weights []int
		want    string
	}{
		{WeightedRoundRobin, []int{5, 1, 1}, "aabacaa"},
		{WeightedRoundRobin, []int{100, 100}, "abab"},
		{WeightedRoundRobin, []int{1}, "aa"},
		{RoundRobin, []int{5, 1, 1}, "abcabc"},
	} {
		if got := picks(newScheduler(tt.kind, targets(tt.weights...)), len(tt.want)); got != tt.want {
			t.Errorf("%s of weights %v picks %s, want %s", tt.kind, tt.weights, got, tt.want)
		}
	}
}

// TestTried checks that all schedulers pick each target once where those tried
// are left out.
func TestTried(t *testing.T) {
	for _, kind := range []Scheduler{WeightedRoundRobin, RoundRobin, WeightedLeastConnection, SourceHash, TupleHash, QUICHash} {
		s := newScheduler(kind, targets(3, 2, 1))
		var tried []*target
		for next := s.pick(client{}, tried); next != nil; next = s.pick(client{}, tried) {
			tried = append(tried, next)
		}
		if len(tried) != 3 {
			t.Errorf("%s picks %d targets, want 3", kind, len(tried))
		}
		if newScheduler(kind, nil).pick(client{}, nil) != nil {
			t.Errorf("%s picks of no targets", kind)
		}
	}
}

func TestLeastConnection(t *testing.T) {
	ts := targets(2, 1)
	s := newScheduler(WeightedLeastConnection, ts)
	for range 30 {
		s.pick(client{}, nil).record.active.Add(1)
	}
	if a, b := ts[0].record.active.Load(), ts[1].record.active.Load(); a != 20 || b != 10 {
		t.Errorf("targets of weights 2 and 1 have %d and %d connections, want 20 and 10", a, b)
	}
}

// someClient returns the n-th of many clients.
func someClient(n int) client {
	addr := netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
	return client{
		from: netip.AddrPortFrom(addr, uint16(n)), to: netip.MustParseAddrPort("192.0.2.1:80"),
		quicID: fmt.Appendf(nil, "id%d", n),
	}
}

// TestHashes checks the shares of members, and that clients of a member that
// leaves are all that move.
func TestHashes(t *testing.T) {
	const n = 20000
	for _, kind := range []Scheduler{SourceHash, TupleHash, QUICHash} {
		all := targets(10, 20, 30, 40)
		before, after := newScheduler(kind, all), newScheduler(kind, all[1:])
		shares := make(map[string]int)
		for i := range n {
			was, is := before.pick(someClient(i), nil), after.pick(someClient(i), nil)
			shares[was.Key]++
			if was != is && was.Key != "a" {
				t.Fatalf("%s: client %d moved from %s, which stays, to %s", kind, i, was.Key, is.Key)
			}
		}
		for _, target := range all {
			want := float64(n) * float64(target.Weight) / 100
			if got := float64(shares[target.Key]); math.Abs(got-want) > 0.1*want {
				t.Errorf("%s: weight %d of 100 gets %v of %d clients", kind, target.Weight, got, n)
			}
		}
	}
}

func TestHashedFields(t *testing.T) {
	c := someClient(1)
	port, id := c, c
	port.from = netip.AddrPortFrom(c.from.Addr(), 999)
	id.quicID = []byte("another")
	if sourceHash(c) != sourceHash(port) || tupleHash(c) == tupleHash(port) {
		t.Error("the client's port counts for sch, or not for tch")
	}
	if quicHash(c) != quicHash(port) || quicHash(c) == quicHash(id) {
		t.Error("the port counts for qch, or the connection id does not")
	}
	id.quicID = nil
	if quicHash(id) != sourceHash(id) {
		t.Error("a packet without id is not scheduled by its source")
	}
}
