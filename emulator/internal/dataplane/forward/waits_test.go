package forward_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
)

// TestDrain checks that a connection which is in use when its member leaves, or fails its
// check, goes on for the time of the drain, is reset then, and that the next one has
// another member; without a drain it goes on.
func TestDrain(t *testing.T) {
	for _, timeout := range []time.Duration{10 * time.Second, 60 * time.Second, 900 * time.Second} {
		for name, lose := range map[string]func(*forward.Member) forward.Group{
			"it leaves": func(*forward.Member) forward.Group { return group() },
			"it fails":  func(m *forward.Member) forward.Group { m.Down = true; return group(*m) },
		} {
			t.Run(fmt.Sprint(timeout, " ", name), func(t *testing.T) {
				clock := newClock()
				a, b := echo(t, "a"), echo(t, "b")
				plan := forward.Plan{Group: group(a), Drain: forward.Drain{On: true, Timeout: timeout}}
				s, addr := start(t, plan, forward.Config{Clock: clock})
				c := dial(t, addr)
				r := bufio.NewReader(c)
				talk := func() error {
					fmt.Fprintln(c, "hello")
					_, err := r.ReadString('\n')
					return err
				}
				if line, err := r.ReadString('\n'); line != "a\n" {
					t.Fatalf("the member says %q, %v", line, err)
				}
				plan.Group = lose(&a)
				plan.Group.Members = append(plan.Group.Members, b)
				apply(t, s, plan)
				for passed := time.Duration(0); passed < timeout; passed += timeout / 10 {
					if err := talk(); err != nil {
						t.Fatalf("%s after its member was lost the connection ended: %v", passed, err)
					}
					clock.advance(timeout/10 - time.Millisecond)
					if err := talk(); err != nil {
						t.Fatalf("%s after its member was lost the connection ended: %v", passed+timeout/10-time.Millisecond, err)
					}
					clock.advance(time.Millisecond)
				}
				wantReset(t, c)
				if got := answers(t, addr, 1); got != "b" {
					t.Errorf("the next connection has %s, want b", got)
				}
			})
		}
	}
}

// TestDrainOff checks that connections go on without a drain, and with one whose member
// comes back.
func TestDrainOff(t *testing.T) {
	clock := newClock()
	a, b := echo(t, "a"), echo(t, "b")
	plan := forward.Plan{Group: group(a, b), EstablishedTimeout: 24 * time.Hour}
	s, addr := start(t, plan, forward.Config{Clock: clock})
	c := dial(t, addr)
	r := bufio.NewReader(c)
	talk := func() {
		t.Helper()
		fmt.Fprintln(c, "hello")
		if _, err := r.ReadString('\n'); err != nil {
			t.Fatalf("the connection ended: %v", err)
		}
	}
	talk()
	plan.Group = group(b)
	apply(t, s, plan)
	clock.advance(time.Hour)
	talk()
	plan.Drain = forward.Drain{On: true, Timeout: time.Minute}
	apply(t, s, plan)
	clock.advance(59 * time.Second)
	plan.Group = group(a, b)
	apply(t, s, plan)
	clock.advance(time.Hour)
	talk()
}

// TestUDPRelease checks that the session of a UDP member that left goes on for five
// minutes (CLB-0601).
func TestUDPRelease(t *testing.T) {
	clock := newClock()
	plan := forward.Plan{Protocol: forward.UDP, Group: group(echoUDP(t, "a")), SessionTimeout: time.Hour}
	s, addr := startUDP(t, plan, forward.Config{Clock: clock})
	c := dialUDP(t, addr)
	ask(t, c, "x")
	plan.Group = group(echoUDP(t, "b"))
	apply(t, s, plan)
	clock.advance(5*time.Minute - time.Second)
	if got := ask(t, c, "x"); got != "a x" {
		t.Errorf("before its five minutes are over the session is answered %q", got)
	}
	clock.advance(time.Second)
	await.Until(t, "the session has ended", func() bool { return s.Stats().Sessions == 0 })
	if got := ask(t, c, "x"); got != "b x" {
		t.Errorf("after five minutes the client is answered %q", got)
	}
}

// TestWaits checks that all for which a listener waits ends when its time is over by the
// clock, and not before. Each case begins a wait, and returns what comes at its end.
func TestWaits(t *testing.T) {
	const limit = 15 * time.Second
	// rest returns all that comes from a connection, and its error.
	rest := func(c net.Conn) <-chan string {
		end := make(chan string, 1)
		go func() {
			got, err := io.ReadAll(c)
			end <- fmt.Sprint(string(got), " ", err)
		}()
		return end
	}
	web := func(t *testing.T, plan forward.Plan, config forward.Config, request string) <-chan string {
		s, url := startHTTP(t, plan, config)
		c := dial(t, strings.TrimPrefix(url, "http://"))
		sendRead(t, s, c, request)
		return rest(c)
	}
	for name, test := range map[string]struct {
		begin func(*testing.T, forward.Config) (end <-chan string)
		want  string
	}{
		"an idle connection": {func(t *testing.T, config forward.Config) <-chan string {
			_, addr := start(t, forward.Plan{Group: group(echo(t, "a")), EstablishedTimeout: limit}, config)
			c := dial(t, addr)
			readLine(t, c)
			return rest(c)
		}, "connection reset"},
		"a connection without a member": {func(t *testing.T, config forward.Config) <-chan string {
			_, addr := start(t, forward.Plan{EstablishedTimeout: limit}, config)
			return rest(dial(t, addr))
		}, "connection reset"},
		"a UDP session": {func(t *testing.T, config forward.Config) <-chan string {
			s, addr := startUDP(t, forward.Plan{Group: group(echoUDP(t, "a")), SessionTimeout: limit}, config)
			ask(t, dialUDP(t, addr), "x")
			end := make(chan string, 1)
			go func() {
				await.Until(t, "the session has ended", func() bool { return s.Stats().Sessions == 0 })
				end <- "ended"
			}()
			return end
		}, "ended"},
		"an HTTP client between two requests": {func(t *testing.T, config forward.Config) <-chan string {
			return web(t, forward.Plan{Group: group(named(t, "a")), IdleTimeout: limit}, config, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		}, "\r\n\r\na <nil>"},
		"half a header": {func(t *testing.T, config forward.Config) <-chan string {
			return web(t, forward.Plan{Group: group(named(t, "a")), RequestTimeout: limit}, config, "GET / HTTP/1.1\r\nHo")
		}, "HTTP/1.1 408 "},
		"half a body": {func(t *testing.T, config forward.Config) <-chan string {
			m := webMember(t, "a", func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
			return web(t, forward.Plan{Group: group(m), RequestTimeout: limit}, config, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345")
		}, "HTTP/1.1 408 "},
		"a silent member": {func(t *testing.T, config forward.Config) <-chan string {
			m := member("m", accepting(t, func(c *net.TCPConn) { io.Copy(io.Discard, c) }))
			return web(t, forward.Plan{Group: group(m), RequestTimeout: limit}, config, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		}, "HTTP/1.1 504 "},
		"a silent WebSocket": {func(t *testing.T, config forward.Config) <-chan string {
			_, url := startHTTP(t, forward.Plan{Group: group(upgrades(t, repeat)), RequestTimeout: limit}, config)
			c, _ := upgrade(t, url)
			return rest(c)
		}, " <nil>"},
		"a client that takes nothing": {func(t *testing.T, config forward.Config) <-chan string {
			end := make(chan string, 1)
			s, url := startHTTP(t, forward.Plan{Group: group(webMember(t, "m", func(w http.ResponseWriter, _ *http.Request) {
				for err := error(nil); err == nil; _, err = w.Write(make([]byte, 1<<20)) {
				}
			})), RequestTimeout: limit}, config)
			c := dial(t, strings.TrimPrefix(url, "http://"))
			io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			go func() {
				await.Until(t, "the request began", func() bool { return s.Stats().Members["m"].Active == 1 })
				await.Until(t, "the request has ended", func() bool { return s.Stats().Members["m"].Active == 0 })
				end <- "ended"
			}()
			return end
		}, "ended"},
	} {
		t.Run(name, func(t *testing.T) {
			clock := newClock()
			end := test.begin(t, forward.Config{Clock: clock})
			await.Until(t, "it waits", func() bool { return clock.waits(limit) })
			clock.advance(limit - time.Second)
			passed, got := limit-time.Second, ""
			// What begins to wait only now ends as much later.
			for step := time.NewTicker(20 * time.Millisecond); got == ""; {
				select {
				case got = <-end:
					step.Stop()
				case <-step.C:
					clock.advance(time.Second)
					passed += time.Second
				}
			}
			if passed < limit || passed > 20*limit || !strings.Contains(got, test.want) {
				t.Errorf("after %s came %.300q, want %q after %s", passed, got, test.want, limit)
			}
		})
	}
}
