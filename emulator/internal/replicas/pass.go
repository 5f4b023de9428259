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
	"net/http/httputil"
	"net/url"
	"slices"
	"time"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/routes"
)

// LagHeader is the header of an answer that a follower gave itself: how far it may be
// behind the leader.
const LagHeader = "X-Clbemu-Lag"

// forwardedHeader marks a call that a follower passed on, which is not passed on again.
const forwardedHeader = "X-Clbemu-Passed-By"

// leaderTimeout limits how long a call waits for a leader, which is longer than a
// takeover takes.
const leaderTimeout = 10 * time.Second

// silence is how long the leader's machine may confirm nothing of what was sent to it, or
// asked of its network, before a connection is given up. A call itself may take longer.
const silence = 5 * time.Second

// forwarder passes calls of one of the two listeners on to the leader's.
type forwarder struct {
	r   *Replica
	url func(controlapi.Replica) string
	to  http.RoundTripper
}

func (r *Replica) newForwarder(of func(controlapi.Replica) string) *forwarder {
	return &forwarder{r: r, url: of, to: &http.Transport{
		DialContext: (&net.Dialer{
			Timeout: time.Second, Control: setSilenceTimeout,
			KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: silence / 2, Interval: time.Second, Count: 3},
		}).DialContext,
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
		if r.cfg.Local != nil && !r.leads() && r.cfg.Local(q) {
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

// errNoLeader is why a call is not answered.
var errNoLeader = errors.New("no replica leads: most members of etcd must run, and reach the replicas")

// serve answers a call here or lets the leader answer it. The leader gets it once: it is
// sent again only where no connection came about.
func (p *forwarder) serve(w http.ResponseWriter, q *http.Request, local http.Handler) {
	patience := time.NewTimer(leaderTimeout)
	defer patience.Stop()
	body := &keptOpenBody{ReadCloser: q.Body}
	q.Body = body
	var err error = errNoLeader
	for {
		if p.r.leads() {
			q.Body = body.ReadCloser
			local.ServeHTTP(&leaderResponse{ResponseWriter: w, r: p.r}, q)
			return
		}
		leader, known, changed := p.r.leader()
		if known && leader.Name != p.r.cfg.Self.Name && q.Header.Get(forwardedHeader) == "" {
			if err = p.forward(w, q, leader); err == nil {
				return
			}
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

// errChanged ends the wait for an answer of a leader that is none any more, such as one
// whose machine has lost its network.
var errChanged = errors.New("another replica leads now")

// errEnds ends it when this process ends, or begins again as a follower.
var errEnds = errors.New("this replica ends or begins again")

// leaderContext returns a context that ends when another replica leads.
func (p *forwarder) leaderContext(ctx context.Context, leader controlapi.Replica) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		for {
			now, known, changed := p.r.leader()
			if !known || now.Name != leader.Name {
				cancel(errChanged)
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

// forward lets the leader answer. An error means that it did not get the call.
func (p *forwarder) forward(w http.ResponseWriter, q *http.Request, leader controlapi.Replica) error {
	target, err := url.Parse(p.url(leader))
	if err != nil {
		return err
	}
	ctx, cancel := p.leaderContext(q.Context(), leader)
	defer cancel(nil)
	var unsent error
	proxy := &httputil.ReverseProxy{
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
			var dial *net.OpError
			if errors.As(err, &dial) && dial.Op == "dial" {
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

// emptyBody is a body without anything in it, of which net/http does not know that it could
// be sent twice.
type emptyBody struct{}

func (emptyBody) Read([]byte) (int, error) { return 0, io.EOF }
func (emptyBody) Close() error             { return nil }

// keptOpenBody is a body that stays open until its call is answered: a transport closes it when
// it can't connect.
type keptOpenBody struct{ io.ReadCloser }

func (keptOpenBody) Close() error { return nil }

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
