package replicas

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control/routes"
)

// LagHeader is the header of an answer that a follower gave itself: how far it may be
// behind the leader.
const LagHeader = "X-Clbemu-Lag"

// forwardedHeader marks a call that a follower passed on, which is not passed on again, and
// untouchedHeader the answer to one that came to a replica which does not lead: it was not
// executed.
const (
	forwardedHeader = "X-Clbemu-Passed-By"
	untouchedHeader = "X-Clbemu-Not-Executed"
)

// leaderTimeout limits how long a call waits for a leader, which is longer than a
// takeover takes.
const leaderTimeout = 10 * time.Second

// silence is the longest time for which the leader's machine may confirm nothing that was sent to
// it, or asked of its network, before a connection is given up. A call itself may take longer.
const silence = 5 * time.Second

// forwarder passes calls of one of the two listeners on to the leader's.
type forwarder struct {
	r   *Replica
	url func(controlapi.Replica) string
	to  http.RoundTripper
}

func (r *Replica) newForwarder(of func(controlapi.Replica) string) *forwarder {
	dialer := net.Dialer{
		Timeout: time.Second, Control: setSilenceTimeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: silence / 2, Interval: time.Second, Count: 3},
	}
	return &forwarder{r: r, url: of, to: &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return newLeaderConn(dialer.DialContext(ctx, network, address))
		},
		MaxIdleConnsPerHost: 256,
		IdleConnTimeout:     30 * time.Second,
		DisableCompression:  true,
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: true, VerifyConnection: r.trusts},
	}}
}

// trusts accepts the certificates that replicas have told by way of etcd, whoever signed
// them: each generates its own.
func (r *Replica) trusts(c tls.ConnectionState) error {
	shown := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.PeerCertificates[0].Raw}))
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.ContainsFunc(r.members, func(m member) bool { return m.Certificate == shown }) {
		return nil
	}
	return errors.New("no replica has this certificate")
}

// API answers calls of the cloud: here if this replica leads, or if it follows and the
// call may be answered by a follower; else by the leader.
func (r *Replica) API(local http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if r.cfg.Local != nil && !r.leads() && r.spoilt() == nil && r.cfg.Local(q) {
			// One that led until now does not follow yet, and knows no lag.
			if lag, follows := r.lag(); follows && lag <= maxLag {
				w.Header().Set(LagHeader, lag.String())
				local.ServeHTTP(w, q)
				return
			}
		}
		r.api.serve(w, q, local)
	})
}

// Control answers calls of the control API. What is about this process is answered
// here, all else by the leader.
func (r *Replica) Control(local http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		switch q.URL.Path {
		case routes.Health.Path, routes.Ready.Path, routes.Metrics.Path, routes.GetServer.Path, routes.GetVersion.Path:
			local.ServeHTTP(w, q)
		default:
			r.control.serve(w, q, local)
		}
	})
}

// errNoLeader is why a call is not answered, where no better reason is known.
var errNoLeader = errors.New("no replica leads: most members of etcd must run, and reach the replicas")

// errUntouched is the answer of a replica that does not lead to a call that was passed to it.
var errUntouched = errors.New("this replica does not lead, and did not execute the call")

// serve answers a call here or lets the leader answer it. The leader gets it once: it is
// sent again only where it was certainly not executed.
func (p *forwarder) serve(w http.ResponseWriter, q *http.Request, local http.Handler) {
	patience := time.NewTimer(leaderTimeout)
	defer patience.Stop()
	body := &repeatedBody{from: q.Body}
	err := errNoLeader
	for {
		leader, known, changed := p.r.leader()
		q.Body = body.again()
		switch {
		case q.Body == nil:
			refuse(w, errors.New("the leader changed while it was sent a call too large to be sent again, and which was not executed"))
			return
		case p.r.leads():
			local.ServeHTTP(&leaderResponse{ResponseWriter: w, r: p.r}, q)
			return
		case q.Header.Get(forwardedHeader) != "":
			w.Header().Set(untouchedHeader, "true")
			refuse(w, errUntouched)
			return
		}
		if !known || leader.Name == p.r.cfg.Self.Name {
			err = p.r.noLeader()
		} else if unsent := p.forward(w, q, leader); unsent == nil {
			return
		} else if q.Context().Err() == nil {
			err = unsent
		}
		// A leader that does not answer, or is not certain to lead, may again be one
		// without a change of the members.
		select {
		case <-changed:
		case <-time.After(leaderTimeout / 100):
		case <-patience.C:
			refuse(w, err)
			return
		case <-q.Context().Done():
			refuse(w, err)
			return
		}
	}
}

// leaderResponse is an answer of the leader. It is not sent if another may lead by now: what a
// process read that stood still meanwhile may be old.
type leaderResponse struct {
	http.ResponseWriter
	r           *Replica
	begun, late bool
}

var _ http.Flusher = (*leaderResponse)(nil)
var _ http.ResponseWriter = (*leaderResponse)(nil)

var errLate = errors.New("this replica lost the lead while it had the call, so that it is not known whether it was executed")

// begin reports whether the answer may be sent.
func (l *leaderResponse) begin() bool {
	if !l.begun {
		l.begun, l.late = true, !l.r.leads()
		if l.late {
			clear(l.Header())
			refuse(l.ResponseWriter, errLate)
		}
	}
	return !l.late
}

// WriteHeader implements http.ResponseWriter.
func (l *leaderResponse) WriteHeader(status int) {
	if l.begin() {
		l.ResponseWriter.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter.
func (l *leaderResponse) Write(text []byte) (int, error) {
	if !l.begin() {
		return len(text), nil
	}
	return l.ResponseWriter.Write(text)
}

// Flush implements http.Flusher.
func (l *leaderResponse) Flush() {
	if l.begin() {
		_ = http.NewResponseController(l.ResponseWriter).Flush() // or it is sent later
	}
}

// Unwrap lets http.ResponseController find the rest.
func (l *leaderResponse) Unwrap() http.ResponseWriter { return l.ResponseWriter }

// errChanged ends the wait for an answer of a former leader, such as one whose machine has lost its
// network.
var errChanged = errors.New("another replica leads now")

// errEnds ends it when this process ends, or begins again as a follower.
var errEnds = errors.New("this replica ends or begins again")

// lateAnswer limits the wait for the answer of a former leader: it may say that it did not execute
// the call.
const lateAnswer = time.Second

// leaderContext returns a context that ends soon after another replica leads.
func (p *forwarder) leaderContext(ctx context.Context, leader controlapi.Replica) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		for {
			now, known, changed := p.r.leader()
			if !known || now.Name != leader.Name {
				select {
				case <-time.After(lateAnswer):
					cancel(errChanged)
				case <-ctx.Done():
				}
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, cancel
}

// leaderConn is a connection to the leader. It sends nothing once the leader has closed it, as one
// that was killed has: a call that comes afterwards is then certainly not executed.
type leaderConn struct {
	net.Conn
	raw syscall.RawConn

	mu   sync.Mutex
	sent *bool // whether a part of the last call was
	over bool  // nothing is sent any more
}

var _ net.Conn = (*leaderConn)(nil)

func newLeaderConn(c net.Conn, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		c.Close()
		return nil, err
	}
	return &leaderConn{Conn: c, raw: raw, sent: new(bool)}, nil
}

// begins begins the next call. It returns what unsent takes.
func (c *leaderConn) begins() (sent *bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = new(bool)
	return c.sent
}

// unsent ends what is sent, and reports whether no part of a call was.
func (c *leaderConn) unsent(sent *bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	return !*sent
}

// Write implements net.Conn.
func (c *leaderConn) Write(text []byte) (int, error) {
	c.mu.Lock()
	if !*c.sent { // else the leader may have answered before the end of the call
		c.over = c.over || closedByPeer(c.raw)
	}
	over := c.over
	*c.sent = *c.sent || !over
	c.mu.Unlock()
	if over {
		return 0, syscall.EPIPE
	}
	return c.Conn.Write(text)
}

// forward lets the leader answer. An error means that it did not execute the call.
func (p *forwarder) forward(w http.ResponseWriter, q *http.Request, leader controlapi.Replica) error {
	target, err := url.Parse(p.url(leader))
	if err != nil {
		return err
	}
	ctx, cancel := p.leaderContext(q.Context(), leader)
	defer cancel(nil)
	var unsent error
	var conn *leaderConn
	var sent *bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		if secure, ok := got.Conn.(*tls.Conn); ok {
			got.Conn = secure.NetConn()
		}
		conn = got.Conn.(*leaderConn)
		sent = conn.begins()
	}})
	proxy := &httputil.ReverseProxy{
		ModifyResponse: func(answer *http.Response) error {
			if answer.Header.Get(untouchedHeader) != "" {
				return errUntouched
			}
			return nil
		},
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.Out.URL.Scheme, pr.Out.URL.Host = target.Scheme, target.Host
			// The signature covers both; a query that Go does not parse would lose a part.
			pr.Out.Host, pr.Out.URL.RawQuery = pr.In.Host, pr.In.URL.RawQuery
			pr.Out.Header.Set(forwardedHeader, p.r.cfg.Self.Name)
			for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
				if sent, ok := pr.In.Header[name]; ok {
					pr.Out.Header[name] = sent
				}
			}
		},
		Transport:     singleAttempt{p.to},
		FlushInterval: -1, // streams of the control API
		ErrorLog:      log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, q *http.Request, err error) {
			if errors.Is(err, errUntouched) || conn == nil || conn.unsent(sent) {
				unsent = err
				return
			}
			switch cause := context.Cause(ctx); {
			case cause == nil:
			case errors.Is(cause, context.Canceled):
				err = errEnds
			default:
				err = cause
			}
			refuse(w, fmt.Errorf("the leader got the call and did not answer, so that it is not known whether it was executed: %w", err))
		},
	}
	proxy.ServeHTTP(w, q.WithContext(ctx))
	return unsent
}

// singleAttempt keeps net/http from sending a call again that has no body, as it does when a
// connection closes: a GET may create things here.
type singleAttempt struct{ http.RoundTripper }

var _ http.RoundTripper = singleAttempt{}

// RoundTrip implements http.RoundTripper.
func (o singleAttempt) RoundTrip(q *http.Request) (*http.Response, error) {
	if q.Body == nil {
		q.Body = emptyBody{}
	}
	return o.RoundTripper.RoundTrip(q)
}

// emptyBody is a body without content, which net/http would not know to be safe to send twice.
type emptyBody struct{}

func (emptyBody) Read([]byte) (int, error) { return 0, io.EOF }
func (emptyBody) Close() error             { return nil }

// repeatedBody is a body that can be read again from its beginning, unless it is large.
type repeatedBody struct {
	mu   sync.Mutex
	from io.Reader
	read int    // bytes so far
	kept []byte // they, unless they are too many
}

// maxRepeated bounds the part of a body that is kept: calls of the cloud are smaller, imports are
// not.
const maxRepeated = 64 << 10

// again returns a reader of the whole body, or nil if it is not kept.
func (b *repeatedBody) again() io.ReadCloser {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.read > len(b.kept) {
		return nil
	}
	return &attempt{body: b}
}

// attempt reads a body once. It stays open until its call is answered: a transport closes it when
// it can't connect. An earlier attempt may still read.
type attempt struct {
	body *repeatedBody
	next int // byte to read
}

var _ io.ReadCloser = (*attempt)(nil)

// Read implements io.ReadCloser.
func (a *attempt) Read(p []byte) (n int, err error) {
	b := a.body
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case a.next < len(b.kept):
		n = copy(p, b.kept[a.next:])
	case a.next < b.read:
		return 0, errors.New("another attempt has read what is too large to be kept")
	default:
		n, err = b.from.Read(p)
		if b.read += n; b.read <= maxRepeated {
			b.kept = append(b.kept, p[:n]...)
		} else {
			b.kept = nil
		}
	}
	a.next += n
	return n, err
}

// Close implements io.ReadCloser.
func (*attempt) Close() error { return nil }

// refuse answers in the form of the cloud's errors, which clients of both listeners read.
func refuse(w http.ResponseWriter, why error) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
	said := struct {
		Code, Message string
		Error         string `json:"error"`
	}{"ServiceUnavailable", why.Error(), why.Error()}
	_ = json.NewEncoder(w).Encode(said) // the client may be gone
}
