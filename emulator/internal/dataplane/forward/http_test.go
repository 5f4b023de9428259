package forward_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
)

// webMember is a member that answers by the handler.
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

// named is a member that answers with its key.
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
		Transport: transport, Timeout: patience,
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
			_, url := startHTTP(t, forward.Plan{Group: tt.group, RequestTimeout: 100 * time.Millisecond}, forward.Config{})
			wantPage(t, get(t, httpClient(t), url), tt.status, tt.reason)
		})
	}
}

// TestConnectTimeout checks that a member that does not accept in time is passed
// over, with the request's body, and that nobody is asked twice.
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

func TestRequestsOfOneConnection(t *testing.T) {
	_, url := startHTTP(t, forward.Plan{Group: group(named(t, "a"))}, forward.Config{})
	c := httpClient(t)
	for i := 1; i <= 101; i++ {
		if got, want := get(t, c, url).Close, i == 100; got != want {
			t.Errorf("the connection ends after request %d: %v, want %v", i, got, want)
		}
	}
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

func TestRefusedRequests(t *testing.T) {
	asked := false
	m := webMember(t, "m", func(w http.ResponseWriter, r *http.Request) {
		asked = true
		io.Copy(io.Discard, r.Body)
	})
	_, url := startHTTP(t, forward.Plan{Group: group(m), RequestTimeout: 100 * time.Millisecond}, forward.Config{})
	host := "Host: x\r\n"
	for name, tt := range map[string]struct{ request, status string }{
		"HalfHeader":    {"GET / HTTP/1.1\r\nHost", "408"},
		"HalfLine":      {"GE", "408"},
		"LongHeader":    {"GET / HTTP/1.1\r\n" + host + "X: " + strings.Repeat("x", 33<<10) + "\r\n\r\n", "400"},
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
			got := send(t, url, tt.request)
			if !strings.HasPrefix(got, "HTTP/1.1 "+tt.status) && !strings.HasPrefix(got, "HTTP/1.0 "+tt.status) {
				t.Errorf("the answer is %.100q, want status %s", got, tt.status)
			}
		})
	}
	if asked {
		t.Error("a member got one of the requests")
	}
	got := send(t, url, "POST / HTTP/1.1\r\n"+host+"Content-Length: 10\r\n\r\nab")
	if !strings.HasPrefix(got, "HTTP/1.1 408") || !strings.Contains(got, forward.ReasonHeader) {
		t.Errorf("half a body is answered %q, want 408", got)
	}
}

func TestIdleTimeout(t *testing.T) {
	_, url := startHTTP(t, forward.Plan{Group: group(named(t, "a")), IdleTimeout: 20 * time.Millisecond}, forward.Config{})
	got := send(t, url, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if !strings.HasSuffix(got, "\r\n\r\na") {
		t.Errorf("the connection had %q, want one reply", got)
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
}

func TestReplyHeaders(t *testing.T) {
	m := webMember(t, "m", func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Date", "Server", "X-Pad", "X-Accel-Redirect", "X-Other"} {
			w.Header().Set(name, "member's")
		}
	})
	_, url := startHTTP(t, forward.Plan{Group: group(m)}, forward.Config{})
	h := get(t, httpClient(t), url).Header
	if h.Get("Server") != "clbemu" || h.Get("X-Pad")+h.Get("X-Accel-Redirect") != "" || h.Get("X-Other") != "member's" {
		t.Errorf("the reply's header is %v", h)
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
	eventually(t, "the client's end is noticed or its request runs", func() bool { return s.Stats().Members["m"].Active == 1 })
	close(resume)
	if err := <-ended; err != nil {
		t.Errorf("the member's request ended with %v", err)
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
	_, url := startHTTP(t, forward.Plan{Group: group(m), RequestTimeout: 50 * time.Millisecond}, forward.Config{})
	resp, err := httpClient(t).Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); err == nil || string(b) != "begin" {
		t.Errorf("the reply is %q and ends with %v, want an error", b, err)
	}
}

// TestUpgrade checks that a WebSocket's connection passes, and ends when it was
// silent for the request timeout.
func TestUpgrade(t *testing.T) {
	m := webMember(t, "m", func(w http.ResponseWriter, r *http.Request) {
		c, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		io.WriteString(rw, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+r.Header.Get("Upgrade")+"\r\n\r\n")
		rw.Flush()
		io.Copy(c, rw)
	})
	_, url := startHTTP(t, forward.Plan{Group: group(m), RequestTimeout: 200 * time.Millisecond}, forward.Config{})
	c := dial(t, strings.TrimPrefix(url, "http://"))
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	r := bufio.NewReader(c)
	resp, err := http.ReadResponse(r, nil)
	if err != nil || resp.StatusCode != 101 || resp.Header.Get("Upgrade") != "websocket" {
		t.Fatalf("the reply is %v (%v), want 101", resp, err)
	}
	io.WriteString(c, "hello")
	if got, err := io.ReadAll(r); err != nil || string(got) != "hello" {
		t.Errorf("the client got %q (%v), want hello and the end", got, err)
	}
}

// TestTimeoutsChange checks that a plan with another timeout holds for a client
// with an open connection.
func TestTimeoutsChange(t *testing.T) {
	silent := member("m", accepting(t, func(c *net.TCPConn) { io.Copy(io.Discard, c) }))
	s, url := startHTTP(t, forward.Plan{Group: group(named(t, "a"))}, forward.Config{})
	c := httpClient(t)
	get(t, c, url)
	apply(t, s, forward.Plan{Protocol: forward.HTTP, Group: group(silent), RequestTimeout: 50 * time.Millisecond})
	wantPage(t, get(t, c, url), 504, "sent nothing")
}
