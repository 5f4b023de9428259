package forward_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
)

func TestWeightedRoundRobinTCP(t *testing.T) {
	a, b, off := echo(t, "a"), echo(t, "b"), echo(t, "off")
	a.Weight, b.Weight, off.Weight = 2, 1, 0
	_, addr := start(t, forward.Plan{Group: group(a, b, off)}, forward.Config{})
	if got, want := answers(t, addr, 6), "a b a a b a"; got != want {
		t.Errorf("connections went to %s, want %s", got, want)
	}
}

// TestBytes sends data both ways by all ways of copying, and ends one way first.
func TestBytes(t *testing.T) {
	data := make([]byte, 4<<20)
	rand.Read(data)
	for name, plan := range map[string]forward.Plan{
		"Splice":  {},
		"Limited": {Bandwidth: 4000},
	} {
		t.Run(name, func(t *testing.T) {
			plan.Group = group(member("m", accepting(t, func(c *net.TCPConn) {
				got, _ := io.ReadAll(c)
				c.Write(got)
			})))
			s, addr := start(t, plan, forward.Config{})
			c := dial(t, addr)
			go func() {
				c.Write(data)
				c.CloseWrite()
			}()
			got, err := io.ReadAll(c)
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%d bytes came back, want the %d that were sent (%v)", len(got), len(data), err)
			}
			await.Until(t, "the connection is counted", func() bool {
				m := s.Stats().Members["m"]
				return m.Active == 0 && m.BytesIn == uint64(len(data)) && m.BytesOut == m.BytesIn && m.Connections == 1
			})
		})
	}
}

// TestRounds checks that no byte is lost or comes twice where one round of copying
// ends and the next begins.
func TestRounds(t *testing.T) {
	sum := make(chan [sha256.Size]byte, 1)
	m := member("m", accepting(t, func(c *net.TCPConn) {
		h := sha256.New()
		io.Copy(h, c)
		sum <- [sha256.Size]byte(h.Sum(nil))
	}))
	s, addr := start(t, forward.Plan{Group: group(m), EstablishedTimeout: time.Minute}, forward.Config{})
	c, h := dial(t, addr), sha256.New()
	chunk := make([]byte, 64<<10)
	var rounds, counted uint64
	for rounds < 3 {
		time.Sleep(time.Millisecond) // a round takes two seconds, in which less than a core is enough
		rand.Read(chunk)
		h.Write(chunk)
		if _, err := c.Write(chunk); err != nil {
			t.Fatal(err)
		}
		if n := s.Stats().Total.BytesIn; n > counted {
			counted = n
			rounds++
		}
	}
	c.CloseWrite()
	if got := <-sum; got != [sha256.Size]byte(h.Sum(nil)) {
		t.Error("the member got other bytes than the client sent")
	}
}

func wantReset(t *testing.T, c net.Conn) {
	t.Helper()
	if _, err := io.Copy(io.Discard, c); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the connection ended with %v, want a reset", err)
	}
}

func TestMemberRefuses(t *testing.T) {
	s, addr := start(t, forward.Plan{Group: group(member("gone", unused(t)))}, forward.Config{})
	c, err := net.Dial("tcp", addr)
	if err == nil {
		defer c.Close()
		_, err = io.Copy(io.Discard, c)
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the connection ended with %v, want a reset", err)
	}
	if n := s.Stats().Members["gone"].Errors; n != 1 {
		t.Errorf("%d errors are counted, want 1", n)
	}
}

func TestMemberResets(t *testing.T) {
	m := member("m", accepting(t, func(c *net.TCPConn) {
		io.ReadFull(c, make([]byte, 1))
		c.SetLinger(0)
	}))
	s, addr := start(t, forward.Plan{Group: group(m)}, forward.Config{})
	c := dial(t, addr)
	c.Write([]byte("x"))
	wantReset(t, c)
	await.Until(t, "the error is counted", func() bool { return s.Stats().Members["m"].Errors == 1 })
}

// TestClientResets checks that a client that gives up is no failure of its member.
func TestClientResets(t *testing.T) {
	flood := func(c *net.TCPConn) {
		for {
			if _, err := c.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	}
	s, addr := start(t, forward.Plan{Group: group(member("m", accepting(t, flood)))}, forward.Config{})
	for range 20 {
		c := dial(t, addr)
		io.ReadFull(c, make([]byte, 1<<20))
		c.SetLinger(0)
		c.Close()
	}
	await.Until(t, "all connections have ended", func() bool {
		m := s.Stats().Members["m"]
		return m.Connections == 20 && m.Active == 0
	})
	if n := s.Stats().Members["m"].Errors; n != 0 {
		t.Errorf("%d errors of the member are counted", n)
	}
}

func TestEstablishedTimeout(t *testing.T) {
	ended := make(chan error, 1)
	m := member("m", accepting(t, func(c *net.TCPConn) {
		_, err := io.Copy(io.Discard, c)
		ended <- err
	}))
	clock := newClock()
	s, addr := start(t, forward.Plan{Group: group(m), EstablishedTimeout: time.Minute}, forward.Config{Clock: clock})
	c := dial(t, addr)
	c.Write([]byte("x"))
	clock.runAfter(t, func() bool { return s.Stats().Members["m"].BytesIn == 1 })
	wantReset(t, c)
	if err := <-ended; !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the member's connection ended with %v, want a reset", err)
	}
}

// TestStalledPeers checks that peers who read nothing are cut like idle ones.
func TestStalledPeers(t *testing.T) {
	m := member("m", accepting(t, func(c *net.TCPConn) {
		for {
			if _, err := c.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	}))
	s, addr := start(t, forward.Plan{Group: group(m), EstablishedTimeout: 100 * time.Millisecond}, forward.Config{})
	dial(t, addr)
	await.Until(t, "the connection began", func() bool { return s.Stats().Members["m"].Connections == 1 })
	await.Until(t, "the connection is cut", func() bool { return s.Stats().Members["m"].Active == 0 })
}

// TestNoMember checks that clients get a connection and then nothing, and that
// there can't be many of these.
func TestNoMember(t *testing.T) {
	clock := newClock()
	s, addr := start(t, forward.Plan{}, forward.Config{MaxHeld: 1, Clock: clock})
	held := dial(t, addr)
	held.Write([]byte("hello"))
	await.Until(t, "the connection is held", func() bool { return s.Stats().Held == 1 })
	if _, err := io.ReadAll(dial(t, addr)); err != nil {
		t.Errorf("a connection too many ended with %v, want its end", err)
	}
	if got := s.Stats().Refused; got != 1 {
		t.Errorf("%d connections are refused, want 1", got)
	}
	clock.run(t)
	wantReset(t, held)
}

func TestAccess(t *testing.T) {
	local := netip.MustParsePrefix("127.0.0.0/8")
	for name, tt := range map[string]struct {
		admit func(client netip.Addr, port uint16) bool
		want  bool
	}{
		"All":       {nil, true},
		"Nobody":    {func(netip.Addr, uint16) bool { return false }, false},
		"ByAddress": {func(client netip.Addr, _ uint16) bool { return local.Contains(client) }, true},
		"ByPort":    {func(_ netip.Addr, port uint16) bool { return port == 0 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, addr := start(t, forward.Plan{Group: group(echo(t, "m")), Admit: tt.admit}, forward.Config{})
			got, _ := io.ReadAll(io.LimitReader(dial(t, addr), 2))
			if admitted := string(got) == "m\n"; admitted != tt.want {
				t.Errorf("the client is admitted: %v, want %v", admitted, tt.want)
			}
			if refused := s.Stats().Refused == 1; refused == tt.want {
				t.Errorf("the refusal is counted: %v", refused)
			}
		})
	}
}

func TestPersistence(t *testing.T) {
	clock := newClock()
	plan := forward.Plan{Group: group(echo(t, "a"), echo(t, "b")), Persistence: time.Minute}
	_, addr := start(t, plan, forward.Config{Clock: clock})
	if got, want := answers(t, addr, 3), "a a a"; got != want {
		t.Errorf("connections went to %s, want %s", got, want)
	}
	clock.advance(60 * time.Second)
	if got, want := answers(t, addr, 2), "b b"; got != want {
		t.Errorf("after the time, connections went to %s, want %s", got, want)
	}
}

// TestApply checks that new connections follow a new plan and running ones stay.
func TestApply(t *testing.T) {
	a, b := echo(t, "a"), echo(t, "b")
	s, addr := start(t, forward.Plan{Group: group(a)}, forward.Config{})
	running := dial(t, addr)
	readLine(t, running)
	apply(t, s, forward.Plan{Group: group(b)})
	if got := answers(t, addr, 2); got != "b b" {
		t.Errorf("new connections went to %s, want b", got)
	}
	running.Write([]byte("still there\n"))
	if got := readLine(t, running); got != "still there" {
		t.Errorf("the running connection answers %q", got)
	}
	if err := s.Apply(forward.Plan{Protocol: "sctp"}); err == nil {
		t.Error("a plan of another protocol is taken")
	}
}

// TestApplyElsewhere checks that a change of something else does not disturb the
// members' turn.
func TestApplyElsewhere(t *testing.T) {
	plan := forward.Plan{Group: group(echo(t, "a"), echo(t, "b"), echo(t, "c")), Scheduler: forward.RoundRobin}
	s, addr := start(t, plan, forward.Config{})
	got := answers(t, addr, 1)
	plan.EstablishedTimeout = time.Minute
	apply(t, s, plan)
	if got += " " + answers(t, addr, 2); got != "a b c" {
		t.Errorf("connections went to %s, want a b c", got)
	}
}

// TestDialledAddress checks that a member without a port is dialled at the
// client's, and on behalf of whom.
func TestDialledAddress(t *testing.T) {
	type call struct {
		from net.Addr
		to   netip.AddrPort
	}
	seen := make(chan call, 1)
	config := forward.Config{Dial: func(ctx context.Context, _ string, from net.Addr, to netip.AddrPort) (net.Conn, error) {
		seen <- call{from, to}
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	m := forward.Member{Key: "m", Addr: netip.MustParseAddrPort("127.0.0.9:0"), Weight: 1}
	_, addr := start(t, forward.Plan{Group: group(m)}, config)
	c := dial(t, addr)
	got := <-seen
	want := netip.AddrPortFrom(m.Addr.Addr(), netip.MustParseAddrPort(addr).Port())
	if got.to != want || got.from.String() != c.LocalAddr().String() {
		t.Errorf("dialled %v for %v, want %v for %v", got.to, got.from, want, c.LocalAddr())
	}
}
