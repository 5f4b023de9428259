package forward_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
)

// webMember returns a member that answers by the handler.
func webMember(t testing.TB, key string, handler http.HandlerFunc) forward.Member {
	t.Helper()
	l := listen(t)
	s := httptest.NewUnstartedServer(handler)
	s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return member(key, l.Addr())
}

// named returns a member that answers with its key.
func named(t testing.TB, key string) forward.Member {
	return webMember(t, key, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, key) })
}

func startHTTP(t testing.TB, plan forward.Plan, config forward.Config) (*forward.Server, string) {
	t.Helper()
	if plan.Protocol == "" {
		plan.Protocol = forward.HTTP
	}
	s, addr := start(t, plan, config)
	return s, "http://" + addr
}

// client returns an HTTP client of its own.
func httpClient(t testing.TB) *http.Client {
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport: transport, Timeout: await.Patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// reply is an answer that was read whole.
type reply struct {
	*http.Response
	text string
}

func do(t testing.TB, c *http.Client, r *http.Request) reply {
	t.Helper()
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp, string(b)}
}

// get sends a request with headers, which are names and values in turn.
func get(t testing.TB, c *http.Client, url string, headers ...string) reply {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	r.Host = r.Header.Get("Host")
	return do(t, c, r)
}

// wantPage checks a reply of the load balancer itself.
func wantPage(t testing.TB, got reply, status int, reason string) {
	t.Helper()
	if got.StatusCode != status || !strings.Contains(got.Header.Get(forward.ReasonHeader), reason) {
		t.Errorf("the reply is %d, because %q; want %d, because of %q", got.StatusCode, got.Header.Get(forward.ReasonHeader), status, reason)
	}
	if !strings.Contains(got.text, "clbemu") {
		t.Errorf("the page does not name clbemu: %s", got.text)
	}
}

func TestWeightedRoundRobinHTTP(t *testing.T) {
	a, b := named(t, "a"), named(t, "b")
	a.Weight, b.Weight = 2, 1
	s, url := startHTTP(t, forward.Plan{Group: group(a, b)}, forward.Config{})
	c, got := httpClient(t), ""
	for range 6 {
		got += get(t, c, url).text
	}
	if got != "abaaba" {
		t.Errorf("requests over one connection went to %s, want abaaba", got)
	}
	st := s.Stats()
	if st.Total.Requests != 6 || st.Total.Connections != 1 || st.Members["a"].Requests != 4 || st.Members["a"].BytesOut == 0 {
		t.Errorf("counters are %+v", st)
	}
}

func TestRules(t *testing.T) {
	rule := func(domain, path, key string) forward.Rule {
		return forward.Rule{Domain: domain, Path: path, Group: group(named(t, key))}
	}
	_, url := startHTTP(t, forward.Plan{Group: group(named(t, "default")), Rules: []forward.Rule{
		rule("", "/p", "path"),
		rule("*.com", "", "wide"),
		rule("*.example.com", "", "narrow"),
		rule("*.example.com", "/p", "narrow path"),
		rule("www.Example.com", "", "exact"),
		rule("www.example.com", "/p", "exact path"),
		rule("www.example.com", "/pq", "longest path"),
	}}, forward.Config{})
	c := httpClient(t)
	for _, tt := range []struct{ host, path, want string }{
		{"www.example.com", "/", "exact"},
		{"WWW.example.com:8080", "/p", "exact path"},
		{"www.example.com", "/pqr", "longest path"},
		{"a.example.com", "/", "narrow"},
		{"a.b.example.com", "/p/1", "narrow path"},
		{"example.com", "/", "wide"},
		{"example.org", "/p", "path"},
		{"example.org", "/", "default"},
		{".example.com", "/", "wide"},
	} {
		if got := get(t, c, url+tt.path, "Host", tt.host).text; got != tt.want {
			t.Errorf("%s%s is answered by %s, want %s", tt.host, tt.path, got, tt.want)
		}
	}
}

func TestRequestsOfOneConnection(t *testing.T) {
	_, url := startHTTP(t, forward.Plan{Group: group(named(t, "a"))}, forward.Config{})
	c := httpClient(t)
	for i := 1; i <= 101; i++ {
		if got, want := get(t, c, url).Close, i == 100; got != want {
			t.Errorf("the connection ends after request %d: %v, want %v", i, got, want)
		}
	}
}

func TestForwardedHeaders(t *testing.T) {
	m := webMember(t, "m", func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Port", "SLB-ID", "SLB-IP"} {
			fmt.Fprintf(w, "%s=%s ", name, r.Header.Get(name))
		}
		_, port, _ := net.SplitHostPort(r.RemoteAddr)
		given := r.Header.Get("X-Forwarded-Client-srcport")
		fmt.Fprintf(w, "port=%v host=%s", given != "" && given != port, r.Host)
	})
	s, url := startHTTP(t, forward.Plan{Group: group(m)}, forward.Config{})
	c := httpClient(t)
	want := "X-Forwarded-For=192.0.2.1 X-Forwarded-Proto=gopher X-Forwarded-Port= SLB-ID= SLB-IP= port=false host=example.com"
	ask := []string{"Host", "example.com", "X-Forwarded-For", "192.0.2.1", "X-Forwarded-Proto", "gopher"}
	if got := get(t, c, url, ask...).text; got != want {
		t.Errorf("without switches the member got\n%s, want\n%s", got, want)
	}
	apply(t, s, forward.Plan{Protocol: forward.HTTP, Group: group(m), Forwarded: forward.Forwarded{
		For: true, Proto: true, ClientPort: true, Port: 80, ID: "lb-1", IP: "192.0.2.9",
	}})
	want = "X-Forwarded-For=192.0.2.1, 127.0.0.1 X-Forwarded-Proto=http X-Forwarded-Port=80 SLB-ID=lb-1 SLB-IP=192.0.2.9 port=true host=example.com"
	if got := get(t, c, url, ask...).text; got != want {
		t.Errorf("with switches the member got\n%s, want\n%s", got, want)
	}
	apply(t, s, forward.Plan{Protocol: forward.HTTP, Group: group(m), Forwarded: forward.Forwarded{IP: "192.0.2.9", LocalIP: true}})
	if got := get(t, c, url, ask...).text; !strings.Contains(got, " SLB-IP=127.0.0.1 ") {
		t.Errorf("the member got\n%s, want the address that the client connected to", got)
	}
}

func TestReplyHeaders(t *testing.T) {
	m := webMember(t, "m", func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Date", "Server", "X-Pad", "X-Accel-Redirect", "X-Other"} {
			w.Header().Set(name, "member's")
		}
		w.Header()["Content-Type"] = nil
		io.WriteString(w, "text")
	})
	_, url := startHTTP(t, forward.Plan{Group: group(m)}, forward.Config{})
	h := get(t, httpClient(t), url).Header
	if h.Get("Server") != "clbemu" || h.Get("X-Pad")+h.Get("X-Accel-Redirect") != "" || h.Get("X-Other") != "member's" {
		t.Errorf("the reply's header is %v", h)
	}
	if _, ok := h["Content-Type"]; ok {
		t.Errorf("the reply's type is guessed: %v", h)
	}
	if _, err := http.ParseTime(h.Get("Date")); err != nil {
		t.Errorf("the date is %q", h.Get("Date"))
	}
}

func TestGzip(t *testing.T) {
	text := strings.Repeat("text ", 1000)
	m := webMember(t, "m", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		if r.URL.Query().Has("encoded") {
			w.Header().Set("Content-Encoding", "br")
		}
		io.WriteString(w, text)
	})
	s, url := startHTTP(t, forward.Plan{Group: group(m), Gzip: true}, forward.Config{})
	c := httpClient(t)
	for _, tt := range []struct {
		query, accept string
		want          bool
	}{
		{"?type=text/plain;charset=utf-8", "gzip", true},
		{"?type=application/javascript", "deflate, gzip", true},
		{"?type=text/html", "gzip", false},
		{"?type=text/plain", "", false},
		{"?type=text/plain&encoded", "gzip", false},
	} {
		query := strings.ReplaceAll(tt.query, ";", "%3B")
		got := get(t, c, url+"/"+query, "Accept-Encoding", tt.accept)
		if compressed := got.Header.Get("Content-Encoding") == "gzip"; compressed != tt.want {
			t.Errorf("%s for %q is compressed: %v, want %v", tt.query, tt.accept, compressed, tt.want)
		} else if compressed {
			z, err := gzip.NewReader(strings.NewReader(got.text))
			if err != nil {
				t.Fatal(err)
			}
			if b, err := io.ReadAll(z); string(b) != text {
				t.Errorf("%s has %d bytes uncompressed, want %d (%v)", tt.query, len(b), len(text), err)
			}
		} else if got.text != text {
			t.Errorf("%s has %d bytes, want %d", tt.query, len(got.text), len(text))
		}
	}
	apply(t, s, forward.Plan{Protocol: forward.HTTP, Group: group(m)})
	if got := get(t, c, url+"/?type=text/plain", "Accept-Encoding", "gzip"); got.text != text {
		t.Error("a reply is compressed where gzip is off")
	}
}

func TestRedirect(t *testing.T) {
	for port, want := range map[int]string{443: "https://example.com/a%20b?c=d", 8443: "https://example.com:8443/a%20b?c=d"} {
		_, url := startHTTP(t, forward.Plan{Redirect: forward.Redirect{Port: port, Code: 302}}, forward.Config{})
		got := get(t, httpClient(t), url+"/a%20b?c=d", "Host", "example.com:80")
		if got.StatusCode != 302 || got.Header.Get("Location") != want {
			t.Errorf("the reply is %d to %s, want 302 to %s", got.StatusCode, got.Header.Get("Location"), want)
		}
	}
}

// TestExpectContinue checks that a client that asks before it sends its body is
// answered.
func TestExpectContinue(t *testing.T) {
	m := webMember(t, "m", func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	_, url := startHTTP(t, forward.Plan{Group: group(m)}, forward.Config{})
	c := dial(t, strings.TrimPrefix(url, "http://"))
	io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: 5\r\n\r\n")
	if got := readLine(t, c); got != "HTTP/1.1 100 Continue" {
		t.Fatalf("the client is answered %q", got)
	}
	io.WriteString(c, "hello")
	if got, err := io.ReadAll(c); err != nil || !strings.HasSuffix(string(got), "hello") {
		t.Errorf("the reply is %q (%v)", got, err)
	}
}

// TestInterimAnswers checks that a client gets the answer of a member, and none of those
// that the member sends before it, such as 103, whether or not it expects 100.
func TestInterimAnswers(t *testing.T) {
	m := webMember(t, "m", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</style.css>; rel=preload")
		for range 10 {
			w.WriteHeader(http.StatusEarlyHints)
		}
		w.Header()["Content-Type"] = nil
		io.Copy(w, r.Body)
	})
	_, url := startHTTP(t, forward.Plan{Group: group(m)}, forward.Config{})
	for expect, want := range map[string]string{"": "HTTP/1.1 200 OK", "Expect: 100-continue\r\n": "HTTP/1.1 100 Continue"} {
		c := dial(t, strings.TrimPrefix(url, "http://"))
		io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\n"+expect+"Connection: close\r\nContent-Length: 5\r\n\r\nhello")
		got, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(got), want) || !strings.HasSuffix(string(got), "hello") || strings.Contains(string(got), " 103 ") || strings.Contains(string(got), "Content-Type") {
			t.Errorf("%q is answered with %q (%v), want %q and one answer without a type", expect, got, err, want)
		}
	}
}

// upgrade returns a connection to url after a member has switched it to another protocol.
func upgrade(t *testing.T, url string) (*net.TCPConn, *bufio.Reader) {
	t.Helper()
	c := dial(t, strings.TrimPrefix(url, "http://"))
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n")
	r := bufio.NewReader(c)
	resp, err := http.ReadResponse(r, nil)
	if err != nil || resp.StatusCode != 101 || resp.Header.Get("Upgrade") != "chat" {
		t.Fatalf("the reply is %v (%v), want 101", resp, err)
	}
	return c, r
}

// TestUnaskedUpgrade checks that a member which switches to a protocol that the client did
// not ask for has failed, and that its connection is closed.
func TestUnaskedUpgrade(t *testing.T) {
	closed := make(chan error, 1)
	m := upgrades(t, func(c *net.TCPConn, rw *bufio.ReadWriter) {
		c.SetReadDeadline(time.Now().Add(await.Patience))
		_, err := rw.ReadByte()
		closed <- err
	})
	s, url := startHTTP(t, forward.Plan{Group: group(m)}, forward.Config{})
	wantPage(t, get(t, httpClient(t), url), 502, "switch protocol")
	if err := <-closed; !errors.Is(err, io.EOF) {
		t.Errorf("the member's connection ends with %v, want EOF", err)
	}
	if n := s.Stats().Members["m"].Errors; n != 1 {
		t.Errorf("%d failures of the member, want 1", n)
	}
}

// upgrades returns a member that switches to the protocol it is asked for, or else to
// WebSocket, and then does as talk says.
func upgrades(t *testing.T, talk func(c *net.TCPConn, rw *bufio.ReadWriter)) forward.Member {
	t.Helper()
	return webMember(t, "m", func(w http.ResponseWriter, r *http.Request) {
		c, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		io.WriteString(rw, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+cmp.Or(r.Header.Get("Upgrade"), "websocket")+"\r\n\r\n")
		rw.Flush()
		talk(c.(*net.TCPConn), rw)
	})
}

func repeat(c *net.TCPConn, rw *bufio.ReadWriter) { io.Copy(c, rw) }

// TestUpgrade checks that a WebSocket's connection passes, and ends when it was
// silent for the request timeout.
func TestUpgrade(t *testing.T) {
	clock := newClock()
	_, url := startHTTP(t, forward.Plan{Group: group(upgrades(t, repeat))}, forward.Config{Clock: clock})
	c, r := upgrade(t, url)
	io.WriteString(c, "hello")
	if _, err := r.Peek(len("hello")); err != nil {
		t.Fatal(err)
	}
	clock.run(t)
	if got, err := io.ReadAll(r); err != nil || string(got) != "hello" {
		t.Errorf("the client got %q (%v), want hello and the end", got, err)
	}
}

// TestUpgradeEnds checks that either side can end a WebSocket's connection at any time,
// and that only a member's reset counts as its failure.
func TestUpgradeEnds(t *testing.T) {
	reset := func(c *net.TCPConn) {
		c.SetLinger(0)
		c.Close()
	}
	member := func(c *net.TCPConn, rw *bufio.ReadWriter) {
		io.ReadFull(rw, make([]byte, 1))
		reset(c)
	}
	for _, c := range []struct {
		name   string
		member func(*net.TCPConn, *bufio.ReadWriter)
		ends   func(*net.TCPConn)
		errors uint64
	}{
		{"the client resets it", repeat, reset, 0},
		{"the client closes it", repeat, func(c *net.TCPConn) { c.Close() }, 0},
		{"the member resets it", member, func(c *net.TCPConn) { io.WriteString(c, "x"); io.Copy(io.Discard, c) }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, url := startHTTP(t, forward.Plan{Group: group(upgrades(t, c.member))}, forward.Config{})
			const connections = 50
			for range connections {
				conn, _ := upgrade(t, url)
				c.ends(conn)
			}
			await.Until(t, "all connections have ended", func() bool { return s.Stats().Members["m"].Active == 0 })
			await.Until(t, "the member's failures are counted", func() bool { return s.Stats().Members["m"].Errors >= c.errors*connections })
			if n := s.Stats().Members["m"].Errors; n != c.errors*connections {
				t.Errorf("%d failures of the member, want %d", n, c.errors*connections)
			}
		})
	}
}
