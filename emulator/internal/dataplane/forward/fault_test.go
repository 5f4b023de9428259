package forward_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
)

// observer makes events fail at one point, and keeps those that have ended.
type observer struct {
	at    forward.Point
	fault func(*forward.Fault) // nil is none
	logs  bool

	mu     sync.Mutex
	events []forward.Event
}

func (o *observer) Armed(p forward.Point) bool { return o.fault != nil && p == o.at }

func (o *observer) Fault(p forward.Point, _ *forward.Event) *forward.Fault {
	if !o.Armed(p) {
		return nil
	}
	f := &forward.Fault{Rule: "r"}
	o.fault(f)
	return f
}

func (o *observer) Logs() bool { return o.logs }

func (o *observer) Ended(e *forward.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.events = append(o.events, *e)
}

// ended waits for n events.
func (o *observer) ended(t *testing.T, n int) (list []forward.Event) {
	t.Helper()
	await.Until(t, fmt.Sprint(n, " events have ended"), func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		list = o.events
		return len(list) == n
	})
	return list
}

// talker returns a member that sends a text to each connection that has sent a byte, and then what
// it gets.
func talker(t *testing.T, text string) forward.Member {
	return member("m", accepting(t, func(c *net.TCPConn) {
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			return
		}
		io.WriteString(c, text)
		io.Copy(c, c)
	}))
}

// points maps names to the points at which a connection goes wrong.
var points = map[string]forward.Point{"Connect": forward.Connect, "Forward": forward.Forward}

// whatComes returns what a client reads that sends a byte, and how it ends. A reset may
// come while it connects.
func whatComes(addr string) ([]byte, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(await.Patience))
	if _, err := io.WriteString(c, "x"); err != nil {
		return nil, err
	}
	return io.ReadAll(c)
}

// TestRefusedTCP checks that a connection is reset, and that its member counts as failed
// where that was chosen.
func TestRefusedTCP(t *testing.T) {
	for name, at := range points {
		t.Run(name, func(t *testing.T) {
			o := &observer{at: at, fault: (*forward.Fault).Refuse, logs: true}
			s, addr := start(t, forward.Plan{Group: group(talker(t, "hello\n"))}, forward.Config{Observer: o})
			if got, err := whatComes(addr); len(got) > 0 || !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("the client gets %q and %v, want a reset", got, err)
			}
			e := o.ended(t, 1)[0]
			if got, want := s.Stats().Total.Errors, uint64(at); got != want || len(e.Faults) != 1 || e.Faults[0] != "r" {
				t.Errorf("%d failures, want %d; the event has the faults %v", got, want, e.Faults)
			}
		})
	}
}

// TestCutTCP checks that as many bytes of an answer pass as the fault says, and a reset
// follows.
func TestCutTCP(t *testing.T) {
	for name, at := range points {
		for _, bytes := range []int64{0, 3, 5} {
			t.Run(fmt.Sprint(name, bytes), func(t *testing.T) {
				o := &observer{at: at, fault: func(f *forward.Fault) { f.Cut(bytes) }}
				_, addr := start(t, forward.Plan{Group: group(talker(t, "hello, this is more"))}, forward.Config{Observer: o})
				if got, err := whatComes(addr); string(got) != "hello"[:bytes] || !errors.Is(err, syscall.ECONNRESET) {
					t.Errorf("the client gets %q and %v, want %d bytes and a reset", got, err, bytes)
				}
			})
		}
	}
}

// TestStalledTCP checks that nothing comes after the given bytes, until the listener's
// timeout or the client's end.
func TestStalledTCP(t *testing.T) {
	for name, at := range points {
		t.Run(name, func(t *testing.T) {
			o := &observer{at: at, fault: func(f *forward.Fault) { f.Stall(2) }}
			const timeout = 15 * time.Second
			clock := newClock()
			s, addr := start(t, forward.Plan{Group: group(talker(t, "hello")), EstablishedTimeout: timeout}, forward.Config{Observer: o, Clock: clock})
			stalled := func() *net.TCPConn {
				c := dial(t, addr)
				io.WriteString(c, "x")
				got := make([]byte, 2)
				if _, err := io.ReadFull(c, got); err != nil || string(got) != "he" {
					t.Fatalf("the client gets %q and %v, want he", got, err)
				}
				return c
			}
			left := stalled()
			left.Close()
			await.Until(t, "the stalled connection of a client that left is closed", func() bool { return s.Stats().Total.Active == 0 })
			c := stalled()
			begin := clock.Now()
			clock.run(t)
			got, err := io.ReadAll(c)
			if took := clock.Now().Sub(begin); len(got) > 0 || !errors.Is(err, syscall.ECONNRESET) || took < timeout-time.Second {
				t.Errorf("the client gets %q more and %v after %v, want a reset after the timeout", got, err, took)
			}
		})
	}
}

// TestSlowTCP checks the delay of the first byte and the bytes a second.
func TestSlowTCP(t *testing.T) {
	text := strings.Repeat("x", 300)
	for name, at := range points {
		t.Run(name, func(t *testing.T) {
			o := &observer{at: at, fault: func(f *forward.Fault) { f.Slow(100*time.Millisecond, 1000) }}
			_, addr := start(t, forward.Plan{Group: group(talker(t, text))}, forward.Config{Observer: o})
			begin := time.Now()
			c := dial(t, addr)
			io.WriteString(c, "x")
			got := make([]byte, len(text))
			if _, err := io.ReadFull(c, got); err != nil || string(got) != text {
				t.Errorf("the client gets %d bytes and %v", len(got), err)
			}
			// The delay, and 300 bytes at 1,000 a second less the burst of a tenth.
			if took := time.Since(begin); took < 280*time.Millisecond {
				t.Errorf("it takes %v, want about 300 ms", took)
			}
		})
	}
}

// TestFaultyHTTP checks what a client of HTTP gets from a faulty server.
func TestFaultyHTTP(t *testing.T) {
	for name, c := range map[string]struct {
		fault  func(*forward.Fault)
		status int
		body   string
		reason string
		fails  bool
	}{
		"Refused":    {(*forward.Fault).Refuse, 502, "", "did not accept the connection: connection refused (fault rule r)", false},
		"CutAtOnce":  {func(f *forward.Fault) { f.Cut(0) }, 502, "", "connection reset by peer (fault rule r)", false},
		"Cut":        {func(f *forward.Fault) { f.Cut(4) }, 200, "hell", "", true},
		"CutNothing": {func(f *forward.Fault) { f.Cut(400) }, 200, "hello, world", "", false},
		"Stalled":    {func(f *forward.Fault) { f.Stall(0) }, 504, "", "sent nothing within", false},
		"StalledMid": {func(f *forward.Fault) { f.Stall(4) }, 200, "hell", "", true},
		"Slow":       {func(f *forward.Fault) { f.Slow(50*time.Millisecond, 100_000) }, 200, "hello, world", "", false},
		"None":       {nil, 200, "hello, world", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			o := &observer{at: forward.Forward, fault: c.fault, logs: true}
			m := webMember(t, "m", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello, world") })
			clock := newClock()
			s, addr := start(t, forward.Plan{Protocol: forward.HTTP, Group: group(m)}, forward.Config{Observer: o, Clock: clock})
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: await.Patience}
			if c.status == http.StatusGatewayTimeout {
				clock.runAfter(t, func() bool { return s.Stats().Members["m"].Requests == 1 })
			}
			response, err := client.Get("http://" + addr + "/path?q=1")
			if err != nil {
				t.Fatal(err)
			}
			if c.fails {
				clock.run(t)
			}
			body, err := io.ReadAll(response.Body)
			response.Body.Close()
			if response.StatusCode != c.status || c.status == 200 && string(body) != c.body || (err != nil) != c.fails ||
				!strings.Contains(response.Header.Get(forward.ReasonHeader), c.reason) {
				t.Errorf("the client gets %s with %q, %v and the reason %q", response.Status, body, err, response.Header.Get(forward.ReasonHeader))
			}
			e := o.ended(t, 1)[0]
			if e.Kind != forward.Request || e.Status != c.status || e.Method != "GET" || e.Path != "/path" || e.Host != "127.0.0.1" || e.Member != "m" ||
				!e.Client.Addr().IsLoopback() || e.Local.String() != addr || (len(e.Faults) == 1) != (c.fault != nil) || e.Out != uint64(len(c.body)) {
				t.Errorf("the event is %+v", e)
			}
			if got := s.Stats().Total.Errors; (got > 0) != (c.status != 200 || c.fails) {
				t.Errorf("%d failures of servers", got)
			}
		})
	}
}

// TestFaultyClientHTTP checks what a client of HTTP gets where its own connection is faulty.
func TestFaultyClientHTTP(t *testing.T) {
	o := &observer{at: forward.Connect, fault: func(f *forward.Fault) { f.Cut(20) }}
	_, addr := start(t, forward.Plan{Protocol: forward.HTTP, Group: group(named(t, "m"))}, forward.Config{Observer: o})
	c := dial(t, addr)
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if got, err := io.ReadAll(c); len(got) != 20 || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the client gets %q and %v, want 20 bytes and a reset", got, err)
	}
}

// TestFaultyUDP checks that sessions that are refused have no member, and that the
// answers of others end.
func TestFaultyUDP(t *testing.T) {
	for name, c := range map[string]struct {
		at           forward.Point
		fault        func(*forward.Fault)
		want, events int // of two answers
	}{
		"Refused": {forward.Connect, (*forward.Fault).Refuse, 0, 2},
		"Server":  {forward.Forward, (*forward.Fault).Refuse, 0, 2},
		"Cut":     {forward.Forward, func(f *forward.Fault) { f.Cut(6) }, 1, 1},
		"Stalled": {forward.Connect, func(f *forward.Fault) { f.Stall(0) }, 0, 1},
		"None":    {forward.Connect, nil, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			o := &observer{at: c.at, fault: c.fault, logs: true}
			s, addr := startUDP(t, forward.Plan{Protocol: forward.UDP, Group: group(echoUDP(t, "m"))}, forward.Config{Observer: o})
			client := dialUDP(t, addr)
			answered := 0
			for i := range 2 {
				io.WriteString(client, "hey")
				limit := await.Patience
				if i >= c.want {
					limit = 200 * time.Millisecond // for what should not come
				}
				client.SetReadDeadline(time.Now().Add(limit))
				if _, err := client.Read(make([]byte, 100)); err == nil {
					answered++
				}
			}
			if answered != c.want {
				t.Errorf("%d of 2 packets are answered, want %d", answered, c.want)
			}
			s.Close()
			if e := o.ended(t, c.events)[0]; e.Kind != forward.Session || (len(e.Faults) == 1) != (c.fault != nil) {
				t.Errorf("the event is %+v", e)
			}
		})
	}
}

// TestAccessLog checks what is known of connections and requests that go right, or to
// no member.
func TestAccessLog(t *testing.T) {
	o := &observer{logs: true}
	_, addr := start(t, forward.Plan{Group: group(talker(t, "hello"))}, forward.Config{Observer: o})
	c := dial(t, addr)
	io.WriteString(c, "xabc")
	c.CloseWrite()
	io.ReadAll(c)
	if e := o.ended(t, 1)[0]; e.Kind != forward.Connection || e.Member != "m" || e.In != 4 || e.Out != 8 || e.Client.String() != c.LocalAddr().String() || e.Local.String() != addr || e.Began.IsZero() {
		t.Errorf("the event is %+v", e)
	}
	o = &observer{logs: true}
	_, addr = start(t, forward.Plan{Protocol: forward.HTTP}, forward.Config{Observer: o})
	for _, method := range []string{"GET", "TRACE"} {
		request, _ := http.NewRequest(method, "http://"+addr, nil)
		if response, err := http.DefaultClient.Do(request); err != nil {
			t.Fatal(err)
		} else {
			response.Body.Close()
		}
	}
	http.DefaultClient.CloseIdleConnections()
	events := o.ended(t, 2)
	if events[0].Status != 503 || !strings.Contains(events[0].Reason, "has no backend server") || events[1].Status != 405 || events[1].Method != "TRACE" {
		t.Errorf("the events are %+v", events)
	}
}
