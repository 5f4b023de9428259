package forward

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"sync/atomic"
)

var (
	errNoMember     = errors.New("no backend server is available")
	errSilentMember = errors.New("sent nothing within the listener's request timeout")
)

// An exchange is a request of a client with its reply.
type exchange struct {
	web      *web
	table    *table
	context  context.Context
	pool     *pool
	sticky   *Sticky
	in       *http.Request
	out      http.ResponseWriter
	event    *Event        // nil if no observer wants it
	passed   atomic.Uint64 // bytes of the answer's body
	target   *target       // nil before the first and after the last try
	tried    []*target
	first    int64 // of the sticky cookie
	body     *requestBody
	upgraded io.Closer // the member's connection, where it speaks another protocol now
	patience *alarm    // rings unless the member sends something
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange { return ctx.Value(exchangeKey{}).(*exchange) }

// An exchangeContext ends with the server, and not with the client: one who hangs
// up does not end the member's request.
type exchangeContext struct {
	context.Context // the server's
	request         context.Context
	exchange        *exchange
}

// Value returns the exchange, and what the request's context has.
func (c exchangeContext) Value(key any) any {
	if key == (exchangeKey{}) {
		return c.exchange
	}
	if v := c.Context.Value(key); v != nil {
		return v
	}
	return c.request.Value(key)
}

// exchange answers a request by a member of the table.
func (w *web) exchange(t *table, rw http.ResponseWriter, r *http.Request) {
	x := &exchange{web: w, table: t, in: r, out: rw}
	if w.server.config.Observer.Logs() {
		x.event = requestEvent(r)
	}
	x.pool, x.sticky = t.route(r.Host, r.URL.Path)
	ctx, cancel := context.WithCancelCause(exchangeContext{w.server.ctx, r.Context(), x})
	defer cancel(nil)
	x.context = ctx
	x.patience = newAlarm(w.server.config.Clock, func() { cancel(errSilentMember) })
	defer x.patience.end()
	x.wait()
	defer x.end()
	defer x.leave()
	defer x.hangUp()
	defer x.recovered()
	if r.ContentLength != 0 {
		x.body = &requestBody{exchange: x, body: r.Body, control: http.NewResponseController(rw)}
		defer x.body.finish()
	}
	rw.Header()["Content-Type"] = nil // net/http must not guess one
	w.proxy.ServeHTTP(rw, r.WithContext(ctx))
}

func (w *web) newProxy() *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite:        func(p *httputil.ProxyRequest) { exchangeOf(p.Out.Context()).rewrite(p.Out) },
		ModifyResponse: func(r *http.Response) error { exchangeOf(r.Request.Context()).modify(r); return nil },
		ErrorHandler: func(rw http.ResponseWriter, r *http.Request, err error) {
			exchangeOf(r.Context()).fail(rw, err)
		},
		Transport:  w,
		BufferPool: proxyBuffers{},
		ErrorLog:   quietLog,
	}
}

// choose takes the member that the client's cookie names, or else the
// scheduler's next. It reports whether one was left.
func (x *exchange) choose() bool {
	x.leave()
	var chosen *target
	if len(x.tried) == 0 {
		chosen, x.first = x.table.bound(x.sticky, x.pool, x.in, x.web.server.config.Clock.Now())
	}
	if chosen == nil {
		chosen = x.pool.pick(client{}, x.tried)
	}
	if chosen == nil {
		return false
	}
	x.target = chosen
	x.wait()
	x.tried = append(x.tried, chosen)
	chosen.record.active.Add(1)
	chosen.record.requests.Add(1)
	return true
}

// wait gives the member the request timeout from now on.
func (x *exchange) wait() { x.patience.in(x.table.RequestTimeout) }

// leave ends the exchange with its member.
func (x *exchange) leave() {
	if x.target != nil {
		x.target.record.active.Add(-1)
		x.target = nil
	}
}

// hangUp closes an upgraded connection, which httputil.ReverseProxy leaves open where the
// client did not ask for the protocol.
func (x *exchange) hangUp() {
	if x.upgraded != nil {
		x.upgraded.Close()
	}
}

// RoundTrip sends the request to a member, and to another where one does not
// accept the connection in time. The context of httputil.ReverseProxy would pass on
// interim answers (CLB-0632), which net/http mixes with its own "100 Continue"
// (golang.org/issue/80949).
func (w *web) RoundTrip(r *http.Request) (*http.Response, error) {
	x := exchangeOf(r.Context())
	r = r.WithContext(x.context)
	err := errNoMember
	for x.choose() {
		out := r
		if len(x.tried) > 1 {
			out = r.Clone(r.Context())
		}
		out.URL.Host = x.target.host
		var resp *http.Response
		if resp, err = x.roundTrip(out); err == nil {
			return resp, nil
		}
		var dial *dialError
		if !errors.As(err, &dial) || !dial.Timeout() {
			return nil, err
		}
	}
	return nil, err
}

// roundTrip sends the request to the chosen member.
func (x *exchange) roundTrip(out *http.Request) (*http.Response, error) {
	f := x.fault()
	if f != nil {
		if err := x.faulty(out.Context(), f); err != nil {
			return nil, err
		}
	}
	resp, err := x.web.server.transport.RoundTrip(out)
	if err == nil && resp.StatusCode < http.StatusContinue {
		resp.Body.Close()
		return nil, fmt.Errorf("its status is %03d, and HTTP has none below 100", resp.StatusCode)
	}
	if err == nil && f != nil && resp.StatusCode != http.StatusSwitchingProtocols && resp.Body != http.NoBody {
		resp.Body = x.faultyAnswer(out.Context(), resp.Body, f)
	}
	return resp, err
}

// fault returns what goes wrong with the member.
func (x *exchange) fault() *Fault {
	s := x.web.server
	if x.event == nil && s.config.Observer.Armed(Forward) {
		x.event = requestEvent(x.in)
	}
	if x.event == nil {
		return nil
	}
	x.event.Member = x.target.Key
	return s.fault(Forward, x.event)
}

// requestEvent returns the event of a request.
func requestEvent(r *http.Request) *Event {
	var client, local netip.AddrPort
	if cc, _ := r.Context().Value(clientConnKey{}).(*clientConn); cc != nil {
		client, local = addrPort(cc.RemoteAddr()), addrPort(cc.LocalAddr())
	}
	e := newEvent(Request, client, local)
	e.Method, e.Host, e.Path = r.Method, hostname(r.Host), r.URL.Path
	return e
}

// end reports the request with its answer.
func (x *exchange) end() {
	if x.event != nil {
		x.event.Out = x.passed.Load()
		x.web.server.ended(x.event)
	}
}

// recovered counts a panic as a failure of the member, and ends the client's connection.
func (x *exchange) recovered() {
	switch p := recover(); {
	case p == nil:
	case p != any(http.ErrAbortHandler) && x.target != nil: // a panic has any value
		x.web.server.countFailure(x.target.record)
		fallthrough
	default:
		panic(http.ErrAbortHandler)
	}
}

// flush sends what the client has got so far.
func (x *exchange) flush() {
	// Without a flush it comes with the end.
	_ = http.NewResponseController(x.out).Flush()
}

// answered notes the answer for the event.
func (x *exchange) answered(status int, reason string) {
	if x.event != nil {
		x.event.Status, x.event.Reason = status, reason
	}
}

// fail answers for the member.
func (x *exchange) fail(rw http.ResponseWriter, err error) {
	status, reason := x.explain(err)
	if status < http.StatusInternalServerError {
		rw.Header().Set("Connection", "close")
	} else if x.target != nil && !errors.As(err, new(*dialError)) { // which dial has counted
		x.web.server.countFailure(x.target.record)
	}
	x.answered(status, reason)
	writePage(rw, status, reason)
}

// explain returns the status and reason of a reply that is not a member's
// (CLB-0602).
func (x *exchange) explain(err error) (status int, reason string) {
	var dial *dialError
	switch {
	case errors.Is(err, errNoMember):
		return http.StatusServiceUnavailable, x.pool.whyEmpty()
	case x.body != nil && x.body.late.Load():
		return http.StatusRequestTimeout, halfRequest
	case x.body != nil && x.body.broken.Load():
		return http.StatusBadRequest, "the request's body ended early or is malformed"
	case errors.As(err, &dial) && dial.Timeout():
		return http.StatusGatewayTimeout, err.Error()
	case errors.As(err, &dial):
		return http.StatusBadGateway, err.Error()
	case errors.Is(err, errSilentMember):
		return http.StatusGatewayTimeout, "backend server " + x.target.Key + " " + errSilentMember.Error()
	default:
		return http.StatusBadGateway, "backend server " + x.target.Key + " failed: " + err.Error()
	}
}

// rewrite changes the request into the one that a member gets.
func (x *exchange) rewrite(out *http.Request) {
	out.URL.Scheme, out.URL.User = "http", nil
	if x.body != nil && out.Body != nil {
		out.Body = x.body
	}
	x.table.Forwarded.set(out.Header, x.in)
}

// modify changes the reply into the one that the client gets.
func (x *exchange) modify(r *http.Response) {
	// The cloud writes these itself; net/http adds the date.
	for _, name := range []string{"Date", "X-Pad", "X-Accel-Redirect"} {
		r.Header.Del(name)
	}
	r.Header.Set("Server", serverName)
	x.answered(r.StatusCode, "")
	x.sticky.bind(r, x.target, x.first, x.web.server.config.Clock.Now())
	x.wait()
	r.Body = x.watched(r.Body)
	if x.table.Gzip {
		compress(r, x.in)
	}
}
