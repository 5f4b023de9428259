package forward_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
)

// A clock stands until it is moved.
type clock struct {
	mu     sync.Mutex
	time   time.Time
	timers map[*timer]bool
}

type timer struct {
	at time.Time
	do func()
}

func newClock() *clock { return &clock{time: time.Unix(1e9, 0), timers: make(map[*timer]bool)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.time
}

func (c *clock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{c.time.Add(d), f}
	c.timers[t] = true
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		waits := c.timers[t]
		delete(c.timers, t)
		return waits
	}
}

func (c *clock) Real(d time.Duration) time.Duration { return d }

// advance moves the clock, and returns when the timers that are due have run.
func (c *clock) advance(d time.Duration) {
	var due []func()
	c.mu.Lock()
	c.time = c.time.Add(d)
	for t := range c.timers {
		if !t.at.After(c.time) {
			due = append(due, t.do)
			delete(c.timers, t)
		}
	}
	c.mu.Unlock()
	for _, do := range due {
		do()
	}
}

// run moves the clock by a second again and again, until the test ends.
func (c *clock) run(t testing.TB) { c.runAfter(t, func() bool { return true }) }

// runAfter begins with that when something has happened, so that no deadline passes before it.
func (c *clock) runAfter(t testing.TB, happened func() bool) {
	end, ended := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(end); <-ended })
	go func() {
		defer close(ended)
		step := time.NewTicker(time.Millisecond)
		defer step.Stop()
		for runs := false; ; {
			select {
			case <-step.C:
			case <-end:
				return
			}
			if runs = runs || happened(); runs {
				c.advance(time.Second)
			}
		}
	}()
}

// waits reports whether something waits for so long from now. Deadlines of net/http are
// times of the machine, so they come a little early.
func (c *clock) waits(d time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for t := range c.timers {
		if left := t.at.Sub(c.time); left <= d && left > d-500*time.Millisecond {
			return true
		}
	}
	return false
}

func descriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// checkLeaks fails the test if goroutines or descriptors are left at its end.
func checkLeaks(t testing.TB) {
	t.Helper()
	goroutines, files := runtime.NumGoroutine(), descriptors()
	t.Cleanup(func() {
		await.Until(t, fmt.Sprintf("no more than %d goroutines and %d descriptors are left, as before", goroutines, files), func() bool {
			runtime.GC() // which closes pooled pipes
			return runtime.NumGoroutine() <= goroutines && descriptors() <= files
		})
	})
}

// listen listens on a free port of this machine.
func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// start returns a server that follows the plan, and its address.
func start(t testing.TB, plan forward.Plan, config forward.Config) (*forward.Server, string) {
	t.Helper()
	checkLeaks(t)
	s := forward.New(config)
	t.Cleanup(func() { s.Close() })
	apply(t, s, plan)
	l := listen(t)
	go s.ServeTCP(l)
	return s, l.Addr().String()
}

func apply(t testing.TB, s *forward.Server, plan forward.Plan) {
	t.Helper()
	if err := s.Apply(plan); err != nil {
		t.Fatal(err)
	}
}

// member returns a member of weight 100 at the address.
func member(key string, addr net.Addr) forward.Member {
	return forward.Member{Key: key, Addr: netip.MustParseAddrPort(addr.String()), Weight: 100}
}

func group(members ...forward.Member) forward.Group {
	return forward.Group{ID: "sgp-1", Members: members}
}

// accepting serves each connection to a new listener by serve.
func accepting(t testing.TB, serve func(*net.TCPConn)) net.Addr {
	t.Helper()
	l := listen(t)
	var conns sync.WaitGroup
	t.Cleanup(conns.Wait)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer c.Close()
				serve(c.(*net.TCPConn))
			})
		}
	}()
	return l.Addr()
}

// echo returns a member that sends its key on a line, and then what it gets.
func echo(t testing.TB, key string) forward.Member {
	return member(key, accepting(t, func(c *net.TCPConn) {
		fmt.Fprintln(c, key)
		io.Copy(c, c)
	}))
}

// unused returns an address without a listener.
func unused(t testing.TB) net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:1"))
}

// dial connects to the address, until the test ends.
func dial(t testing.TB, addr string) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(await.Patience))
	return c.(*net.TCPConn)
}

// answers returns who answers n new connections one after the other.
func answers(t testing.TB, addr string, n int) string {
	t.Helper()
	var keys []string
	for range n {
		c := dial(t, addr)
		keys = append(keys, readLine(t, c))
		c.Close()
	}
	return strings.Join(keys, " ")
}

func readLine(t testing.TB, r io.Reader) string {
	t.Helper()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("a line was to come: %v", err)
	}
	return strings.TrimSpace(line)
}
