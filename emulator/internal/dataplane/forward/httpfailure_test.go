package forward_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
)

func TestUnavailable(t *testing.T) {
	down := forward.Member{Key: "ecs-1", Addr: netip.MustParseAddrPort("127.0.0.1:1"), Weight: 1, Down: true, Reason: "its check failed"}
	for name, tt := range map[string]struct {
		group  forward.Group
		status int
		reason string
	}{
		"Empty":       {group(), 503, "the server group sgp-1 has no backend server"},
		"Down":        {group(down), 503, "ecs-1 is unhealthy (its check failed)"},
		"Unreachable": {group(forward.Member{Key: "ecs-1", Weight: 1}), 503, "ecs-1 can't be reached"},
		"Weight0":     {group(forward.Member{Key: "ecs-1", Addr: down.Addr}), 503, "ecs-1 has weight 0"},
		"Refuses":     {group(member("ecs-1", unused(t))), 502, "ecs-1"},
		"Resets": {group(member("ecs-1", accepting(t, func(c *net.TCPConn) {
			c.Read(make([]byte, 1))
			c.SetLinger(0)
		}))), 502, "ecs-1 failed"},
		"Garbage": {group(member("ecs-1", accepting(t, func(c *net.TCPConn) {
			c.Read(make([]byte, 4096))
			io.WriteString(c, "garbage\r\n\r\n")
		}))), 502, "ecs-1 failed"},
		"Silent": {group(member("ecs-1", accepting(t, func(c *net.TCPConn) { io.Copy(io.Discard, c) }))), 504, "ecs-1 sent nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			clock := newClock()
			s, url := startHTTP(t, forward.Plan{Group: tt.group}, forward.Config{Clock: clock})
			clock.runAfter(t, func() bool { return s.Stats().Members["ecs-1"].Requests == 1 })
			wantPage(t, get(t, httpClient(t), url), tt.status, tt.reason)
		})
	}
}

// TestConnectTimeout checks that a member that does not accept in time is passed
// over, with the request's body, and that no member gets it twice.
func TestConnectTimeout(t *testing.T) {
	echoing := webMember(t, "b", func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	silent := forward.Member{Key: "a", Addr: netip.MustParseAddrPort("127.0.0.9:1"), Weight: 100}
	config := forward.Config{Dial: func(ctx context.Context, network string, _ net.Addr, to netip.AddrPort) (net.Conn, error) {
		if to == silent.Addr {
			return nil, os.ErrDeadlineExceeded
		}
		return new(net.Dialer).DialContext(ctx, network, to.String())
	}}
	s, url := startHTTP(t, forward.Plan{Group: group(silent, echoing)}, config)
	c := httpClient(t)
	r, _ := http.NewRequest("POST", url, strings.NewReader("hello"))
	if got := do(t, c, r); got.text != "hello" {
		t.Errorf("the reply is %d %q, want hello", got.StatusCode, got.text)
	}
	apply(t, s, forward.Plan{Protocol: forward.HTTP, Group: group(silent)})
	wantPage(t, get(t, c, url), 504, "backend server a at 127.0.0.9:1 did not accept the connection")
}

// send sends bytes and returns all that comes back.
func send(t testing.TB, url, text string) string {
	t.Helper()
	c := dial(t, strings.TrimPrefix(url, "http://"))
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	got, _ := io.ReadAll(c)
	return string(got)
}

// sendRead sends a part of a request on the server's only connection, and returns when it was read:
// a header first, so that it is the body's reader that reads a body.
func sendRead(t testing.TB, s *forward.Server, c net.Conn, part string) {
	t.Helper()
	header, body, whole := strings.Cut(part, "\r\n\r\n")
	if whole {
		header += "\r\n\r\n"
	}
	read := uint64(0)
	for _, text := range []string{header, body} {
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
		read += uint64(len(text))
		await.Until(t, "the part was read", func() bool { return s.Stats().Total.BytesIn == read })
	}
}

func TestRefusedRequests(t *testing.T) {
	asked := false
	m := webMember(t, "m", func(w http.ResponseWriter, r *http.Request) {
		asked = true
		io.Copy(io.Discard, r.Body)
	})
	_, url := startHTTP(t, forward.Plan{Group: group(m)}, forward.Config{})
	host := "Host: x\r\n"
	// half sends a part of a request, and returns the answer after the request timeout.
	half := func(t *testing.T, part string) string {
		clock := newClock()
		s, url := startHTTP(t, forward.Plan{Group: group(m)}, forward.Config{Clock: clock})
		c := dial(t, strings.TrimPrefix(url, "http://"))
		sendRead(t, s, c, part)
		clock.run(t)
		got, _ := io.ReadAll(c)
		return string(got)
	}
	for name, tt := range map[string]struct{ request, status string }{
		"HalfHeader":    {"GET / HTTP/1.1\r\nHost", "408"},
		"HalfLine":      {"GE", "408"},
		"LongHeader":    {"GET / HTTP/1.1\r\n" + host + "X: " + strings.Repeat("x", 33<<10) + "\r\n\r\n", "400"},
		"EndlessHeader": {"GET / HTTP/1.1\r\n" + host + "X: " + strings.Repeat("x", 300<<10), "400"},
		"Trace":         {"TRACE / HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n", "405"},
		"Connect":       {"CONNECT x:1 HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n", "405"},
		"NoHost":        {"GET / HTTP/1.1\r\n\r\n", "400"},
		"TwoLengths":    {"POST / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", "400"},
		"BadLength":     {"POST / HTTP/1.1\r\n" + host + "Content-Length: +1\r\n\r\na", "400"},
		"BadEncoding":   {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", "501"},
		"SpaceInName":   {"GET / HTTP/1.1\r\n" + host + "X : y\r\n\r\n", "400"},
		"NulInValue":    {"GET / HTTP/1.1\r\n" + host + "X: \x00\r\n\r\n", "400"},
		"Garbage":       {"\x16\x03\x01\x00\x00\r\n\r\n", "400"},
		"FoldedSmuggle": {"GET / HTTP/1.1\r\n" + host + "\x0bTransfer-Encoding: chunked\r\n\r\n", "400"},
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			if tt.status == "408" {
				got = half(t, tt.request)
			} else {
				got = send(t, url, tt.request)
			}
			if !strings.HasPrefix(got, "HTTP/1.1 "+tt.status) && !strings.HasPrefix(got, "HTTP/1.0 "+tt.status) {
				t.Errorf("the answer is %.100q, want status %s", got, tt.status)
			}
			if !strings.Contains(got, "\r\n"+forward.ReasonHeader+": ") || !strings.HasSuffix(got, "<hr>clbemu\n</body>\n</html>\n") {
				t.Errorf("the answer is no page of clbemu with a reason: %q", got)
			}
		})
	}
	if asked {
		t.Error("a member got one of the requests")
	}
	got := half(t, "POST / HTTP/1.1\r\n"+host+"Content-Length: 10\r\n\r\nab")
	if !strings.HasPrefix(got, "HTTP/1.1 408") || !strings.Contains(got, forward.ReasonHeader) {
		t.Errorf("half a body is answered %q, want 408", got)
	}
}

func TestIdleTimeout(t *testing.T) {
	clock := newClock()
	_, url := startHTTP(t, forward.Plan{Group: group(named(t, "a"))}, forward.Config{Clock: clock})
	c := dial(t, strings.TrimPrefix(url, "http://"))
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	begin := make([]byte, 1)
	io.ReadFull(c, begin)
	clock.run(t)
	rest, err := io.ReadAll(c)
	if got := string(begin) + string(rest); err != nil || !strings.HasSuffix(got, "\r\n\r\na") {
		t.Errorf("the connection had %q, want one reply", got)
	}
}

// TestClientHangsUp checks that the member's request goes on.
func TestClientHangsUp(t *testing.T) {
	arrived, resume, ended := make(chan bool), make(chan bool), make(chan error, 1)
	m := webMember(t, "m", func(w http.ResponseWriter, r *http.Request) {
		arrived <- true
		<-resume
		ended <- r.Context().Err()
	})
	s, url := startHTTP(t, forward.Plan{Group: group(m)}, forward.Config{})
	c := dial(t, strings.TrimPrefix(url, "http://"))
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	<-arrived
	c.Close()
	await.Until(t, "the client's end is noticed or its request runs", func() bool { return s.Stats().Members["m"].Active == 1 })
	close(resume)
	if err := <-ended; err != nil {
		t.Errorf("the member's request ended with %v", err)
	}
}

// TestBrokenBody checks that a body that ends early or is malformed is the client's
// fault and not the member's.
func TestBrokenBody(t *testing.T) {
	m := webMember(t, "m", func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
	s, url := startHTTP(t, forward.Plan{Group: group(m)}, forward.Config{})
	got := send(t, url, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nmalformed\r\n")
	if !strings.HasPrefix(got, "HTTP/1.1 400 ") || !strings.Contains(got, forward.ReasonHeader) {
		t.Errorf("a malformed body is answered %q, want 400", got)
	}
	c := dial(t, strings.TrimPrefix(url, "http://"))
	io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nab")
	await.Until(t, "the request runs", func() bool { return s.Stats().Members["m"].Requests == 2 })
	c.Close()
	await.Until(t, "the request has ended", func() bool { return s.Stats().Members["m"].Active == 0 })
	if n := s.Stats().Members["m"].Errors; n != 0 {
		t.Errorf("%d errors of the member are counted", n)
	}
}

// TestMemberVanishes checks that a reply that ends early does so for the client.
func TestMemberVanishes(t *testing.T) {
	m := webMember(t, "m", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		w.Write(make([]byte, 500000))
		panic(http.ErrAbortHandler)
	})
	s, url := startHTTP(t, forward.Plan{Group: group(m)}, forward.Config{})
	resp, err := httpClient(t).Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if n, err := io.Copy(io.Discard, resp.Body); err == nil || n > 500000 {
		t.Errorf("the reply has %d bytes and ends with %v, want an error", n, err)
	}
	if n := s.Stats().Members["m"].Errors; n != 1 {
		t.Errorf("%d errors are counted, want 1", n)
	}
}

// TestMemberStalls checks that a reply that stops is cut after the request
// timeout.
func TestMemberStalls(t *testing.T) {
	m := webMember(t, "m", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "begin")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	clock := newClock()
	_, url := startHTTP(t, forward.Plan{Group: group(m)}, forward.Config{Clock: clock})
	resp, err := httpClient(t).Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	clock.run(t)
	if b, err := io.ReadAll(resp.Body); err == nil || string(b) != "begin" {
		t.Errorf("the reply is %q and ends with %v, want an error", b, err)
	}
}

// TestSlowClient checks that a client that takes nothing of its reply is cut after
// the request timeout, and its request with it.
func TestSlowClient(t *testing.T) {
	m := webMember(t, "m", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			w.Write(make([]byte, 64<<10))
		}
	})
	clock := newClock()
	s, url := startHTTP(t, forward.Plan{Group: group(m)}, forward.Config{Clock: clock})
	c := dial(t, strings.TrimPrefix(url, "http://"))
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	await.Until(t, "the request began", func() bool { return s.Stats().Members["m"].Requests == 1 })
	clock.run(t)
	await.Until(t, "the request is cut", func() bool { return s.Stats().Members["m"].Active == 0 })
}

// TestTimeoutsChange checks that a plan with another timeout holds for a client
// with an open connection.
func TestTimeoutsChange(t *testing.T) {
	silent := member("m", accepting(t, func(c *net.TCPConn) { io.Copy(io.Discard, c) }))
	clock := newClock()
	s, url := startHTTP(t, forward.Plan{Group: group(named(t, "a")), RequestTimeout: 365 * 24 * time.Hour}, forward.Config{Clock: clock})
	c := httpClient(t)
	get(t, c, url)
	apply(t, s, forward.Plan{Protocol: forward.HTTP, Group: group(silent), RequestTimeout: time.Minute})
	clock.runAfter(t, func() bool { return s.Stats().Members["m"].Requests == 1 })
	wantPage(t, get(t, c, url), 504, "sent nothing")
}

// TestAnswersAreKept proves that no answer of a member is taken for net/http's own words:
// one whose type net/http finds out, on a connection that ends, and what comes through a
// connection that was upgraded.
func TestAnswersAreKept(t *testing.T) {
	const refusal = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"
	m := webMember(t, "m", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			w.Header()["Content-Type"] = nil
			io.WriteString(w, "hello")
			return
		}
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n")
		io.ReadFull(c, make([]byte, 1)) // the client has read the header
		io.WriteString(c, refusal)
	})
	_, url := startHTTP(t, forward.Plan{Group: group(m)}, forward.Config{})
	got := send(t, url, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	if !strings.HasPrefix(got, "HTTP/1.1 200 ") || !strings.HasSuffix(got, "\r\n\r\nhello") {
		t.Errorf("the answer is %q, want hello", got)
	}
	c := dial(t, strings.TrimPrefix(url, "http://"))
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n")
	reader := bufio.NewReader(c)
	answer, err := http.ReadResponse(reader, nil)
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("the upgrade is %+v, %v", answer, err)
	}
	io.WriteString(c, "x")
	through := make([]byte, len(refusal))
	if _, err := io.ReadFull(reader, through); err != nil || string(through) != refusal {
		t.Errorf("%q came through (%v), want what the member sent", through, err)
	}
}
