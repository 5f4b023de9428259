package gateway

import (
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

// WarningHeader is in every answer while the store can't write.
const WarningHeader = "X-Clbemu-Warning"

// hasRuleFor reports whether a fault rule of a point would look at the call.
func (s *Server) hasRuleFor(point faults.Point, call *Call) bool {
	return s.cfg.Faults != nil && !s.cfg.Faults.Idle(point) && s.cfg.Faults.Wants(point, s.faultCall(call), s.cfg.Store.Now())
}

// applyFaults applies the fault rules of a point. If it returns a problem, that ends the call.
func (s *Server) applyFaults(point faults.Point, call *Call) *Problem {
	if s.cfg.Faults == nil || s.cfg.Faults.Idle(point) {
		return nil
	}
	verdict, strikes := s.cfg.Faults.At(point, s.faultCall(call), s.cfg.Store.Now())
	if !strikes {
		return nil
	}
	call.Faults = append(call.Faults, verdict.Rule)
	victim := &faultedCall{Call: call, server: s, point: point}
	verdict.Strike(victim)
	return victim.problem
}

// faultCall returns what the rules may look at.
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
		return state.Field(s.cfg.Store.View(call.Scope), r.Kind, id, field)
	}
	return "", false
}

// problemLost ends a call whose answer does not arrive; no client reads it.
var problemLost = Problem{Status: http.StatusServiceUnavailable, Code: "ReplyLost", Message: "The answer was taken away by a fault rule."}

// faultedCall is a call that a fault rule strikes at a point.
type faultedCall struct {
	*Call
	server  *Server
	point   faults.Point
	problem *Problem // that ends the call
}

var _ faults.Call = (*faultedCall)(nil)

// Refuse implements [faults.Call], as the methods that follow do.
func (s *faultedCall) Refuse(status int, code, message string) {
	s.problem = &Problem{Status: cmp.Or(status, http.StatusBadRequest), Code: code, Message: message}
}

func (s *faultedCall) Throttle() { s.problem = problemThrottledKey }

func (s *faultedCall) Wait(d time.Duration) { wait(s.request.Context(), d) }

func (s *faultedCall) ReadPast(changes int, age time.Duration) {
	s.staleBy = state.Past{Changes: changes, Age: age}
}

func (s *faultedCall) Pace(stage string, d time.Duration) {
	if s.stageDelays == nil {
		s.stageDelays = make(map[state.Stage]time.Duration)
	}
	s.stageDelays[state.Stage(stage)] = d
}

func (s *faultedCall) Crash() { s.server.cfg.Crash() }

func (s *faultedCall) Rewrite(change func(body []byte) []byte) {
	s.replaceAnswer("other", func(_ http.ResponseWriter, out reply) reply {
		out.body = change(out.body)
		return out
	})
}

func (s *faultedCall) Truncate(bytes int) {
	s.replaceAnswer("part", func(w http.ResponseWriter, out reply) reply {
		sendPart(w, out, s.Call, bytes)
		panic(http.ErrAbortHandler)
	})
}

func (s *faultedCall) Reset() {
	s.replaceAnswer("nothing", func(w http.ResponseWriter, _ reply) reply {
		resetConnection(w)
		panic(http.ErrAbortHandler)
	})
}

// replaceAnswer sets what happens to the answer. Before there is one, it ends the call.
func (s *faultedCall) replaceAnswer(received string, answer func(http.ResponseWriter, reply) reply) {
	s.broken, s.delivered = answer, received
	if s.point != faults.Reply && s.point != faults.AfterCommit {
		lost := problemLost
		s.problem = &lost
	}
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

// sendPart promises the whole answer and sends a part of it.
func sendPart(w http.ResponseWriter, out reply, call *Call, n int) {
	out.describe(w.Header(), call)
	w.WriteHeader(out.status)
	_, _ = w.Write(out.body[:min(n, len(out.body))]) // the client may have left, which is the idea
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
		// A closed connection needs no reset; TLS would say goodbye first.
		_ = errors.Join(tcp.SetLinger(0), tcp.Close())
	}
}
