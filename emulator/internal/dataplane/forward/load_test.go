package forward_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
)

// TestCloseCuts checks that Close ends all that is open: leaks fail the test.
func TestCloseCuts(t *testing.T) {
	silent := accepting(t, func(c *net.TCPConn) { io.Copy(io.Discard, c) })
	for name, plan := range map[string]forward.Plan{
		"Running":   {Group: group(member("m", silent))},
		"Held":      {},
		"HTTP":      {Protocol: forward.HTTP, Group: group(member("m", silent))},
		"Handshake": {Protocol: forward.TCPSSL, TLS: forward.TLS{Certificate: certificate(t, "x")}},
		"HTTPS":     {Protocol: forward.HTTPS, TLS: forward.TLS{Certificate: certificate(t, "x")}},
	} {
		t.Run(name, func(t *testing.T) {
			s, addr := start(t, plan, forward.Config{})
			c := dial(t, addr)
			if plan.Protocol == forward.HTTP {
				io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
				await.Until(t, "the request runs", func() bool { return s.Stats().Members["m"].Active == 1 })
			}
			await.Until(t, "the connection is open", func() bool { return s.Stats().Total.Active == 1 })
			s.Close()
			if _, err := io.ReadAll(c); err != nil && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("the connection ended with %v", err)
			}
			if err := s.Apply(plan); !errors.Is(err, forward.ErrServerClosed) {
				t.Errorf("a closed server takes a plan: %v", err)
			}
			if err := s.ServeTCP(listen(t)); !errors.Is(err, forward.ErrServerClosed) {
				t.Errorf("a closed server serves: %v", err)
			}
		})
	}
}

// TestListenerEnds checks that connections outlive their listener.
func TestListenerEnds(t *testing.T) {
	checkLeaks(t)
	s := forward.New(forward.Config{})
	t.Cleanup(func() { s.Close() })
	apply(t, s, forward.Plan{Group: group(echo(t, "m"))})
	l := listen(t)
	ended := make(chan error, 1)
	go func() { ended <- s.ServeTCP(l) }()
	c := dial(t, l.Addr().String())
	readLine(t, c)
	l.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("ServeTCP = %v, want %v", err, net.ErrClosed)
	}
	io.WriteString(c, "still there\n")
	if got := readLine(t, c); got != "still there" {
		t.Errorf("the connection answers %q", got)
	}
}

// TestChangesUnderLoad checks that no request and no connection fails while plans
// change between members that all work.
func TestChangesUnderLoad(t *testing.T) {
	for _, protocol := range []forward.Protocol{forward.TCP, forward.HTTP} {
		t.Run(string(protocol), func(t *testing.T) {
			checkLeaks(t)
			var members []forward.Member
			for i := range 3 {
				key := fmt.Sprint(i)
				if protocol == forward.TCP {
					members = append(members, echo(t, key))
				} else {
					members = append(members, named(t, key))
				}
			}
			s, addr := start(t, forward.Plan{Protocol: protocol, Group: group(members...)}, forward.Config{})
			stop := make(chan struct{})
			var clients sync.WaitGroup
			var done atomic.Int64
			for range 8 {
				clients.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						if err := once(protocol, addr); err != nil {
							t.Error(err)
							return
						}
						done.Add(1)
					}
				})
			}
			for i := range 100 {
				before := done.Load()
				rotated := append(members[i%3:i%3+1:i%3+1], members[(i+1)%3])
				apply(t, s, forward.Plan{Protocol: protocol, Group: group(rotated...), RequestTimeout: time.Duration(60+i%2) * time.Second})
				await.Until(t, "requests go on", func() bool { return done.Load() > before || t.Failed() })
			}
			close(stop)
			clients.Wait()
		})
	}
}

// once makes a connection and gets an answer.
func once(protocol forward.Protocol, addr string) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(await.Patience))
	if protocol == forward.HTTP {
		io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		got, err := io.ReadAll(c)
		if err == nil && !strings.HasPrefix(string(got), "HTTP/1.1 200 ") {
			return fmt.Errorf("the reply is %q", got)
		}
		return err
	}
	_, err = io.ReadFull(c, make([]byte, 2))
	return err
}

// TestManyConnections opens more connections than the process could serve with
// pipes for each.
func TestManyConnections(t *testing.T) {
	m := member("m", accepting(t, func(c *net.TCPConn) {
		io.WriteString(c, "m\n")
		c.Read(make([]byte, 1)) // and no io.Copy, which would hold a pipe
	}))
	s, addr := start(t, forward.Plan{Group: group(m), EstablishedTimeout: time.Minute}, forward.Config{})
	const n = 1000
	before := descriptors()
	var conns []net.Conn
	for range n {
		c := dial(t, addr)
		readLine(t, c)
		conns = append(conns, c)
	}
	await.Until(t, "idle connections hold two sockets and no pipe", func() bool {
		runtime.GC() // closes pooled pipes
		// The client's and the member's ends are in this process too.
		return descriptors()-before <= 4*n+100
	})
	if got := s.Stats().Total.Active; got != n {
		t.Errorf("%d connections are open, want %d", got, n)
	}
	for _, c := range conns {
		c.Close()
	}
	await.Until(t, "all have ended", func() bool { return s.Stats().Total.Active == 0 })
}

// TestDescriptorsUsedUp checks that a server whose process has no descriptor left
// goes on when it has one again.
func TestDescriptorsUsedUp(t *testing.T) {
	failing := &failingListener{Listener: listen(t), failures: 3}
	checkLeaks(t)
	logged := make(chan error, 10)
	s := forward.New(forward.Config{Log: func(err error) { logged <- err }})
	t.Cleanup(func() { s.Close() })
	apply(t, s, forward.Plan{Group: group(echo(t, "m"))})
	go s.ServeTCP(failing)
	if got := answers(t, failing.Addr().String(), 1); got != "m" {
		t.Errorf("the connection went to %s", got)
	}
	for range 3 {
		if err := <-logged; !errors.Is(err, syscall.EMFILE) {
			t.Errorf("logged %v, want %v", err, syscall.EMFILE)
		}
	}
}

// TestLeavesDescriptors proves that a connection which must be left to the rest of the
// process is closed at once, and why is logged.
func TestLeavesDescriptors(t *testing.T) {
	checkLeaks(t)
	logged := make(chan error, 10)
	s, addr := start(t, forward.Plan{Group: group(echo(t, "m"))}, forward.Config{MaxDescriptor: 1, Log: func(err error) { logged <- err }})
	if c, err := net.Dial("tcp", addr); err == nil { // it may also end before it is open
		defer c.Close()
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("a connection too many was answered")
		}
	}
	if err := <-logged; !strings.Contains(err.Error(), "raise the limit of open files") {
		t.Errorf("logged %v", err)
	}
	if got := s.Stats().Total.Connections; got != 0 {
		t.Errorf("%d connections were served", got)
	}
}

// A failingListener fails some times before it accepts.
type failingListener struct {
	net.Listener
	failures int
}

func (l *failingListener) Accept() (net.Conn, error) {
	if l.failures > 0 {
		l.failures--
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}

// TestBandwidth checks that a reply takes the time that the peak allows: 30 Mbit/s
// are 10 for one connection, 1.25 MB/s.
func TestBandwidth(t *testing.T) {
	const size = 500_000
	data := make([]byte, size)
	tcp := member("tcp", accepting(t, func(c *net.TCPConn) { c.Write(data) }))
	web := webMember(t, "web", func(w http.ResponseWriter, r *http.Request) { w.Write(data) })
	for name, plan := range map[string]forward.Plan{
		"TCP":  {Group: group(tcp)},
		"HTTP": {Protocol: forward.HTTP, Group: group(web)},
	} {
		t.Run(name, func(t *testing.T) {
			plan.Bandwidth = 30
			_, addr := start(t, plan, forward.Config{})
			begin := time.Now()
			c := dial(t, addr)
			if plan.Protocol == forward.HTTP {
				io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			}
			n, err := io.Copy(io.Discard, c)
			if took := time.Since(begin); err != nil || n < size || took < 250*time.Millisecond {
				t.Errorf("%d bytes came in %v (%v), want %d in at least 250 ms", n, took, err, size)
			}
		})
	}
}
