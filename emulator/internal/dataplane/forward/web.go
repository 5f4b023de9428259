package forward

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxHeader limits the length of a request's header.
	maxHeader = 32 << 10
	// readableHeader is the length of a header up to which net/http reads it before it
	// answers on its own, with another status than the cloud.
	readableHeader = 256 << 10
	// requestsPerConnection limits the requests of a client's HTTP/1 connection.
	requestsPerConnection = 100
	maxStreams            = 128
	serverName            = "clbemu"
)

// A web is an HTTP server with its reverse proxy, for one protocol and one set
// of timeouts. A plan that changes these makes another, and the previous one
// finishes the requests that it has.
type web struct {
	server *Server
	http   *http.Server
	proxy  *httputil.ReverseProxy

	conns  chan net.Conn // accepted ones, for http
	closed chan struct{}
	once   sync.Once
}

// replaceWeb starts the web that the table needs, if it is not the previous one's.
func (s *Server) replaceWeb(t, previous *table) {
	same := t.Protocol == previous.Protocol && t.IdleTimeout == previous.IdleTimeout && t.RequestTimeout == previous.RequestTimeout
	if same && (s.web.Load() != nil || !t.isWeb()) {
		return
	}
	var w *web
	if t.isWeb() {
		w = s.newWeb(t)
	}
	if old := s.web.Swap(w); old != nil {
		old.retire()
	}
}

func (s *Server) newWeb(t *table) *web {
	w := &web{server: s, conns: make(chan net.Conn), closed: make(chan struct{})}
	w.proxy = w.newProxy()
	w.http = &http.Server{
		Handler:           w,
		IdleTimeout:       t.IdleTimeout,
		ReadHeaderTimeout: t.RequestTimeout,
		MaxHeaderBytes:    readableHeader,
		TLSConfig:         s.tlsBase.Clone(),
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ConnContext:       withClientConn,
		ConnState:         noteState,
		ErrorLog:          quietLog,

		DisableGeneralOptionsHandler: true, // OPTIONS * goes to a member, as any request
	}
	secure := t.Protocol == HTTPS
	s.running.Go(func() {
		if secure {
			w.http.ServeTLS(w, "", "")
		} else {
			w.http.Serve(w)
		}
	})
	return w
}

// quietLog drops what net/http says of clients and members: the server counts it.
var quietLog = log.New(io.Discard, "", 0)

// Accept, Close and Addr make the web the listener of its HTTP server.
func (w *web) Accept() (net.Conn, error) {
	select {
	case c := <-w.conns:
		return c, nil
	case <-w.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (w *web) Close() error {
	w.once.Do(func() { close(w.closed) })
	return nil
}

// Addr returns an address that is never used.
func (w *web) Addr() net.Addr { return &net.TCPAddr{} }

// retire ends each of the web's connections after the request that it has. (A
// Shutdown would drop those that have not sent theirs yet.)
func (w *web) retire() {
	w.Close()
	w.http.SetKeepAlivesEnabled(false)
}

// acceptWeb passes a client's connection to the HTTP server.
func (s *Server) acceptWeb(raw net.Conn, t *table) {
	c := &clientConn{deadlineConn: newDeadlineConn(raw, s.config.Clock), server: s, timeout: t.RequestTimeout}
	c.writes = newAlarm(s.config.Clock, func() { raw.SetWriteDeadline(past) })
	c.in, c.out = t.limit.connection()
	if !s.flows.add(c) {
		raw.Close()
		return
	}
	s.running.Add(1)
	s.total.open()
	for w := s.web.Load(); w != nil; w = s.web.Load() {
		select {
		case w.conns <- c:
			return
		case <-w.closed:
			if s.web.Load() == w { // closed, not replaced
				c.Close()
				return
			}
		}
	}
	c.Close()
}

// A clientConn counts and limits the bytes of a client, and notes what net/http
// does not say.
type clientConn struct {
	*deadlineConn
	server   *Server
	timeout  time.Duration // of writes
	writes   *alarm        // rings unless the client reads the reply
	in, out  buckets
	requests atomic.Int64
	phase    atomic.Int32
	outer    net.Conn    // what net/http writes to: the connection, or TLS over it
	late     atomic.Bool // the last read met its deadline
	refused  atomic.Bool // a late header was answered, and net/http has no more to say
	hijacked atomic.Bool // net/http has no more to say: the connection was upgraded
	once     sync.Once
}

// The phases of a connection: net/http reads the first header, answers, is done, waits for
// another header, and reads it.
const (
	readsFirst int32 = iota
	answers
	done
	waits
	readsNext
)

// SetReadDeadline follows the connection's phase: after an answer, net/http sets a deadline for the
// start of the next header, and then one for its end.
func (c *clientConn) SetReadDeadline(t time.Time) error {
	if !c.phase.CompareAndSwap(waits, readsNext) {
		c.phase.CompareAndSwap(done, waits)
	}
	return c.deadlineConn.SetReadDeadline(t)
}

// SetDeadline sets the deadlines of reads, by SetReadDeadline, and of writes.
func (c *clientConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// Read reads what the client sends.
func (c *clientConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.late.Store(err != nil && timedOut(err) && c.rang.Load())
	if c.late.Load() && c.phase.Load() == readsNext {
		c.refuseLate() // net/http says nothing of a header whose begin came with the request before it
	}
	if n > 0 {
		c.server.total.bytesIn.Add(uint64(n))
		c.in.wait(c.server.ctx, n)
	}
	return n, err
}

// refuseLate answers a client whose header did not arrive in time; net/http would close the
// connection, or call half a line malformed.
func (c *clientConn) refuseLate() {
	if c.outer == nil || c.refused.Load() {
		return
	}
	c.outer.Write([]byte(rawPage(http.StatusRequestTimeout, halfRequest)))
	if secure, ok := c.outer.(*tls.Conn); ok {
		secure.CloseWrite()
	}
	c.refused.Store(true)
}

// Write sends to the client, which has the request timeout to take it.
func (c *clientConn) Write(p []byte) (int, error) {
	text := p
	switch {
	case c.refused.Load():
		return len(p), nil
	case !c.hijacked.Load():
		text = replacePage(p)
	}
	if err := c.out.wait(c.server.ctx, len(text)); err != nil {
		return 0, err
	}
	c.writes.in(c.timeout)
	n, err := c.Conn.Write(text)
	c.writes.off()
	c.server.total.bytesOut.Add(uint64(n))
	return min(n, len(p)), err
}

// CloseWrite ends what the client reads.
func (c *clientConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Close closes the connection.
func (c *clientConn) Close() error {
	err := c.deadlineConn.Close()
	c.writes.end()
	c.once.Do(func() {
		c.server.flows.remove(c)
		c.server.total.closed()
		c.server.running.Done()
	})
	return err
}

func (c *clientConn) abort() { reset(c.Conn) }

type clientConnKey struct{}

// socketOf returns the clientConn that net/http serves, which may do so by TLS.
func socketOf(c net.Conn) *clientConn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	cc, _ := c.(*clientConn)
	return cc
}

func withClientConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, clientConnKey{}, socketOf(c))
}

// noteState notes the phase of a connection. It is active once net/http has read something of
// a request, or failed to read the rest.
func noteState(c net.Conn, state http.ConnState) {
	cc := socketOf(c)
	if cc == nil {
		return
	}
	switch {
	case state == http.StateNew:
		cc.outer = c
	case state == http.StateIdle:
		cc.phase.Store(done)
	case state == http.StateHijacked:
		cc.hijacked.Store(true)
	case state == http.StateActive && cc.late.Load():
		cc.refuseLate()
	}
}

const (
	longHeader  = "the request's header is longer than 32 KB"
	halfRequest = "the request did not arrive whole within the listener's request timeout"
)

// headerSize returns the approximate length of the request's header.
func headerSize(r *http.Request) int {
	size := len(r.Method) + len(r.RequestURI) + len(r.Host)
	for name, values := range r.Header {
		for _, v := range values {
			size += len(name) + len(v) + len(": \r\n")
		}
	}
	return size
}

// ServeHTTP answers a request of a client.
func (w *web) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	s := w.server
	s.total.requests.Add(1)
	cc, _ := r.Context().Value(clientConnKey{}).(*clientConn)
	if cc != nil && r.ProtoMajor == 1 {
		cc.phase.Store(answers)
		if cc.requests.Add(1) >= requestsPerConnection {
			rw.Header().Set("Connection", "close")
		}
	}
	t := s.table.Load()
	switch {
	case headerSize(r) > maxHeader:
		rw.Header().Set("Connection", "close")
		s.refuse(rw, r, http.StatusBadRequest, longHeader)
	case r.Method == http.MethodTrace || r.Method == http.MethodConnect:
		s.refuse(rw, r, http.StatusMethodNotAllowed, "load balancers refuse "+r.Method)
	case t.Redirect.Code != 0:
		s.log(r, t.Redirect.Code, "")
		t.Redirect.answer(rw, r)
	default:
		w.exchange(t, rw, r)
	}
}

// refuse answers a request that goes to no member.
func (s *Server) refuse(rw http.ResponseWriter, r *http.Request, status int, reason string) {
	s.log(r, status, reason)
	writePage(rw, status, reason)
}

// log reports a request that goes to no member.
func (s *Server) log(r *http.Request, status int, reason string) {
	if s.config.Observer.Logs() {
		e := requestEvent(r)
		e.Status, e.Reason = status, reason
		s.ended(e)
	}
}

// answer sends the client to HTTPS.
func (d *Redirect) answer(rw http.ResponseWriter, r *http.Request) {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if d.Port != 443 {
		host = net.JoinHostPort(host, strconv.Itoa(d.Port))
	} else if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	rw.Header().Set("Server", serverName)
	http.Redirect(rw, r, "https://"+host+r.URL.RequestURI(), d.Code)
}
