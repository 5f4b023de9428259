package gateway

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/state"
)

// FaultHeader marks an answer with the fault rules that had a hand in it.
const FaultHeader = "X-Clbemu-Fault"

// WarningHeader is in every answer while the state can't be written.
const WarningHeader = "X-Clbemu-Warning"

// wants tells whether a fault rule of a point would look at the call.
func (s *Server) wants(point faults.Point, call *Call) bool {
	return s.cfg.Faults != nil && !s.cfg.Faults.Idle() && s.cfg.Faults.Wants(point, s.faultCall(call), s.cfg.Store.Now())
}

// strikeAt asks the fault rules of a point and does what they say. A problem
// ends the call with it.
func (s *Server) strikeAt(point faults.Point, call *Call) *Problem {
	if s.cfg.Faults == nil || s.cfg.Faults.Idle() {
		return nil
	}
	verdict, struck := s.cfg.Faults.At(point, s.faultCall(call), s.cfg.Store.Now())
	if !struck {
		return nil
	}
	call.Faults = append(call.Faults, verdict.Rule)
	return s.strike(call, verdict)
}

// faultCall is what the rules may look at.
func (s *Server) faultCall(call *Call) faults.Request {
	return faults.Request{
		Product:     call.Product(),
		Action:      call.ActionName,
		RegionID:    call.Scope.RegionID,
		AccessKeyID: call.AccessKeyID,
		UserAgent:   call.UserAgent,
		Write:       call.action != nil && call.action.Mutates,
		Params:      call.Params.Find,
		Resource:    func(field string) (value string, ok bool) { return s.resourceField(call, field) },
	}
}

// resourceField looks up a field of the object that the call is about, by the
// first of the product's parameters that names one.
func (s *Server) resourceField(call *Call, field string) (value string, ok bool) {
	if call.product == nil {
		return "", false
	}
	for _, r := range call.product.Resources {
		id := call.Params.Get(r.Parameter)
		if id == "" || r.Kind == "" {
			continue
		}
		// The function returns no error, so neither does View.
		_ = s.cfg.Store.View(call.Scope, func(v *state.View) error {
			value, ok = state.Field(v, r.Kind, id, field)
			return nil
		})
		return value, ok
	}
	return "", false
}

// problemLost ends a call whose answer does not arrive; nobody reads it.
var problemLost = Problem{Status: http.StatusServiceUnavailable, Code: "ReplyLost", Message: "The answer was taken away by a fault rule."}

// strike does what a verdict says.
func (s *Server) strike(call *Call, v faults.Verdict) *Problem {
	effect := v.Effect
	switch {
	case effect.Error != nil:
		return &Problem{Status: cmp.Or(effect.Error.HTTPStatus, http.StatusBadRequest), Code: effect.Error.Code, Message: effect.Error.Message}
	case effect.Throttle != nil:
		return problemThrottledKey
	case effect.Delay != nil:
		wait(call.request.Context(), v.Delay)
		return nil
	case effect.Stale != nil:
		call.past = state.Past{Changes: effect.Stale.Calls, Age: time.Duration(effect.Stale.Seconds) * time.Second}
		return nil
	case effect.Life != nil:
		call.pace = make(map[state.Stage]time.Duration, len(effect.Life))
		for stage, d := range effect.Life {
			call.pace[state.Stage(stage)] = time.Duration(d)
		}
		return nil
	case effect.Crash:
		s.cfg.Crash()
		return nil
	case effect.Hang != nil:
		wait(call.request.Context(), time.Duration(effect.Hang.For))
	case effect.AfterCommit == faults.LossHang:
		wait(call.request.Context(), 0)
	}
	call.broken = &v
	if v.Point == faults.Reply || v.Point == faults.AfterCommit {
		return nil // what is lost is an answer that was made
	}
	lost := problemLost
	return &lost
}

// wait stops for so long, 0 is without end, or until the client has left.
func wait(ctx context.Context, d time.Duration) {
	var over <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-over:
	case <-ctx.Done():
	}
}

// breakReply does to an answer what the effect says, and returns what is left of
// it to send.
func breakReply(w http.ResponseWriter, out reply, call *Call) reply {
	effect := call.broken.Effect
	switch {
	case effect.Malformed:
		// The length and the type are right, the text is not.
		out.body = bytes.Repeat([]byte(`{"`), len(out.body)/2+1)
	case effect.Empty, effect.AfterCommit == faults.LossEmpty:
		out.body = nil
	case effect.Truncate != nil:
		sendPart(w, out, call, effect.Truncate.Bytes)
		panic(http.ErrAbortHandler)
	default:
		resetConnection(w)
		panic(http.ErrAbortHandler)
	}
	return out
}

// sendPart promises the whole answer and sends a part of it.
func sendPart(w http.ResponseWriter, out reply, call *Call, n int) {
	out.describe(w.Header(), call)
	w.WriteHeader(out.status)
	_, _ = w.Write(out.body[:min(n, len(out.body))]) // the client may be gone, which is the idea
	_ = http.NewResponseController(w).Flush()
}

// resetConnection closes the connection so that the client sees a reset and not
// an end. HTTP/2 and recorders can't; for them the handler's abort does.
func resetConnection(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	inner := conn
	for wrapped, ok := inner.(interface{ NetConn() net.Conn }); ok; wrapped, ok = inner.(interface{ NetConn() net.Conn }) {
		inner = wrapped.NetConn() // of TLS, and of a listener that counts connections
	}
	if tcp, ok := inner.(*net.TCPConn); ok {
		// A connection that is gone needs no reset; TLS would say goodbye first.
		_ = errors.Join(tcp.SetLinger(0), tcp.Close())
	}
}
