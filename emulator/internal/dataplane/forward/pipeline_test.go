package forward_test

import (
	"bufio"
	"crypto/tls"
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

// pipelined returns requests in one text: with a body of a known length, in chunks, and
// without one.
func pipelined(n int) (text string, want []string) {
	var all strings.Builder
	for i := range n {
		switch body := fmt.Sprintf("body %d", i); i % 3 {
		case 0:
			fmt.Fprintf(&all, "GET /%d HTTP/1.1\r\nHost: x\r\n\r\n", i)
			want = append(want, fmt.Sprintf("GET /%d ", i))
		case 1:
			fmt.Fprintf(&all, "POST /%d HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", i, len(body), body)
			want = append(want, fmt.Sprintf("POST /%d %s", i, body))
		case 2:
			fmt.Fprintf(&all, "PUT /%d HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", i, len(body), body)
			want = append(want, fmt.Sprintf("PUT /%d %s", i, body))
		}
	}
	return all.String(), want
}

// echoing answers with what it was asked.
func echoing(t testing.TB) forward.Member {
	return webMember(t, "m", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s", r.Method, r.URL, body)
	})
}

// wantAnswers reads one answer for each request, in their order.
func wantAnswers(t testing.TB, from *bufio.Reader, want []string) {
	t.Helper()
	for i, text := range want {
		r, err := http.ReadResponse(from, nil)
		if err != nil {
			t.Fatalf("answer %d of %d: %v", i+1, len(want), err)
		}
		got, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK || string(got) != text {
			t.Fatalf("answer %d is %d %.80q, %v, want %q", i+1, r.StatusCode, got, err, text)
		}
	}
}

// TestPipelines proves that requests in one write get one answer each, in order, under
// short and long timeouts, and that no answer is left over.
func TestPipelines(t *testing.T) {
	text, want := pipelined(100)
	for _, protocol := range []forward.Protocol{forward.HTTP, forward.HTTPS} {
		for _, timeout := range []time.Duration{5 * time.Second, time.Hour} {
			t.Run(fmt.Sprint(protocol, timeout), func(t *testing.T) {
				plan := forward.Plan{Protocol: protocol, Group: group(echoing(t)), IdleTimeout: timeout, RequestTimeout: timeout}
				if protocol == forward.HTTPS {
					plan.TLS = forward.TLS{Certificate: certificate(t, "x")}
				}
				_, addr := start(t, plan, forward.Config{})
				var c net.Conn = dial(t, addr)
				if protocol == forward.HTTPS {
					secure, err := dialTLS(t, addr, &tls.Config{})
					if err != nil {
						t.Fatal(err)
					}
					c = secure
				}
				go io.WriteString(c, text)
				from := bufio.NewReader(c)
				wantAnswers(t, from, want)
				if rest, err := io.ReadAll(from); err != nil || len(rest) > 0 {
					t.Errorf("behind the last answer comes %q, %v", rest, err)
				}
			})
		}
	}
}

// TestPipelinesSplit proves the same of requests that come in two parts, split at each byte:
// of those that the first part completes, the answers come before the second part is sent.
func TestPipelinesSplit(t *testing.T) {
	const n = 4
	text, want := pipelined(n)
	ends := make([]int, n) // of the requests
	for i := range ends {
		part, _ := pipelined(i + 1)
		ends[i] = len(part)
	}
	_, addr := start(t, forward.Plan{Protocol: forward.HTTP, Group: group(echoing(t)), IdleTimeout: time.Hour, RequestTimeout: time.Hour}, forward.Config{})
	for at := range len(text) {
		c := dial(t, addr)
		from, whole := bufio.NewReader(c), 0
		for _, end := range ends {
			if end <= at {
				whole++
			}
		}
		io.WriteString(c, text[:at])
		wantAnswers(t, from, want[:whole])
		io.WriteString(c, text[at:])
		c.CloseWrite()
		wantAnswers(t, from, want[whole:])
		if rest, err := io.ReadAll(from); err != nil || len(rest) > 0 {
			t.Fatalf("split at %d, behind the last answer comes %q, %v", at, rest, err)
		}
		c.Close()
	}
}

// TestPipelinesAndLate proves that a half request behind whole ones gets the only 408, wherever
// it ends and however it comes.
func TestPipelinesAndLate(t *testing.T) {
	for _, half := range []string{"GET /half HTTP/1.1\r\nHo", "GET /half HTTP/1.1\r\nHost: x\r\n", "GET /ha", "GET /half HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 9000)} {
		for _, secure := range []bool{false, true} {
			for n := range 5 {
				t.Run(fmt.Sprintf("%.30q TLS %t behind %d", half, secure, n), func(t *testing.T) { testLate(t, n, half, secure) })
			}
		}
	}
}

func testLate(t *testing.T, n int, half string, secure bool) {
	text, want := pipelined(n)
	clock := newClock()
	plan := forward.Plan{Protocol: forward.HTTP, Group: group(echoing(t)), IdleTimeout: time.Hour, RequestTimeout: 20 * time.Second}
	if secure {
		plan.Protocol, plan.TLS = forward.HTTPS, forward.TLS{Certificate: certificate(t, "x")}
	}
	s, addr := start(t, plan, forward.Config{Clock: clock})
	socket := &counted{Conn: dial(t, addr)}
	c := net.Conn(socket)
	if secure {
		c = tls.Client(socket, &tls.Config{InsecureSkipVerify: true})
	}
	io.WriteString(c, text+half)
	from := bufio.NewReader(c)
	wantAnswers(t, from, want)
	await.Until(t, "all was read", func() bool { return s.Stats().Total.BytesIn == socket.sent })
	answered := make(chan string, 1)
	go func() {
		rest, _ := io.ReadAll(from)
		answered <- string(rest)
	}()
	for step := time.NewTicker(time.Millisecond); ; {
		select {
		case rest := <-answered:
			step.Stop()
			if strings.Count(rest, "HTTP/1.1 ") != 1 || !strings.HasPrefix(rest, "HTTP/1.1 408 ") {
				t.Errorf("the half request is answered %q, want one 408", rest)
			}
			return
		case <-step.C:
			clock.advance(time.Second)
		}
	}
}

// TestOddAnswers proves that a member's answer that HTTP does not have is answered for.
func TestOddAnswers(t *testing.T) {
	for _, status := range []string{"000", "007", "099"} {
		m := member("m", accepting(t, func(c *net.TCPConn) {
			http.ReadRequest(bufio.NewReader(c))
			io.WriteString(c, "HTTP/1.1 "+status+" Odd\r\nContent-Length: 2\r\n\r\nab")
		}))
		s, url := startHTTP(t, forward.Plan{Group: group(m)}, forward.Config{})
		wantPage(t, get(t, httpClient(t), url), http.StatusBadGateway, "its status is "+status)
		if got := s.Stats().Members["m"].Errors; got != 1 {
			t.Errorf("the member has %d failures, want 1", got)
		}
	}
}

// TestPanicIsCounted proves that a panic while a member has a request ends the client's
// connection alone, and counts as the member's failure.
func TestPanicIsCounted(t *testing.T) {
	o := &observer{at: forward.Forward, fault: func(*forward.Fault) { panic("at will") }}
	s, url := startHTTP(t, forward.Plan{Group: group(named(t, "m"))}, forward.Config{Observer: o})
	for n := range uint64(2) {
		if got := send(t, url, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); got != "" {
			t.Errorf("the client gets %q, want the end", got)
		}
		if m := s.Stats().Members["m"]; m.Errors != n+1 || m.Active != 0 {
			t.Errorf("after %d panics the member has %d failures and %d requests", n+1, m.Errors, m.Active)
		}
	}
}

// TestOptionsOfAll proves that OPTIONS * goes to a member.
func TestOptionsOfAll(t *testing.T) {
	m := member("m", accepting(t, func(c *net.TCPConn) {
		r, err := http.ReadRequest(bufio.NewReader(c))
		if err == nil {
			fmt.Fprintf(c, "HTTP/1.1 204 No Content\r\nX-Asked: %s %s\r\n\r\n", r.Method, r.RequestURI)
		}
	}))
	_, url := startHTTP(t, forward.Plan{Group: group(m)}, forward.Config{})
	if got := send(t, url, "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 204 ") || !strings.Contains(got, "X-Asked: OPTIONS *\r\n") {
		t.Errorf("OPTIONS * is answered %q", got)
	}
}
