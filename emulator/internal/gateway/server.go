package gateway

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/state"
)

// Config configures a gateway.
type Config struct {
	Store    *state.Store
	Products []*Product
	// Elsewhere returns the products of the cloud that are not emulated, by version: their calls
	// fail as such, not as unknown. The gateway calls it when it gets such a call. It may be nil.
	Elsewhere func() map[string]string
	// Caller, if set, runs before all other checks and returns why it rejects a call.
	Caller func(*http.Request) error
	// Cloud, if set, finds the cloud that an access key names, such as NAME.testid. An
	// error rejects the call.
	Cloud func(accessKeyID string) (Chosen, error)
	// StrictAuth verifies signatures. Without it a call belongs to the account of
	// its key, or, when it has no known key, to the first account.
	StrictAuth bool
	// WallClock is the clock to compare clients' timestamps with: real time, also when
	// the emulated time differs. Defaults to time.Now.
	WallClock func() time.Time
	// Memory bounds memory for all servers of a process; nil gives this server its own.
	Memory *MemoryBudget
	// Seed makes RequestIds repeatable; 0 takes a random one.
	Seed uint64
	Log  zerolog.Logger
	// Faults decides which calls fail. Nil lets all pass.
	Faults *faults.Injector
	// Crash ends the process at once, where a fault rule asks for it.
	Crash func()
	// Observe, if set, sees every call when its answer is ready.
	Observe func(*Call, Outcome)
}

// Chosen is the cloud that an access key names.
type Chosen struct {
	// Server answers the call. If nil, that is the server that got it.
	Server *Server
	// AccessKeyID is the id that the key has in that cloud.
	AccessKeyID string
	// Life is the life of the cloud, and ends its calls. Leave is called when the call is
	// answered. They are set where Server is.
	Life  context.Context
	Leave func()
}

// Outcome is the result of a call.
type Outcome struct {
	Status   int
	Code     string // "" for success
	Evidence string // of the code, or of a guess
	Received string // what the client got in place of the answer: nothing, part (of it) or other; "" for the answer
	Duration time.Duration
	// Answer is the body, which is another call's afterwards.
	Answer []byte
}

// Server is the gateway's http.Handler.
type Server struct {
	cfg      Config
	products map[string]*Product // by version
	buckets  buckets
	nonces   nonces

	mu     sync.Mutex
	chance *rand.ChaCha8
}

// NewServer builds a gateway. Products that share a version, or actions that
// share a name, are a programming error.
func NewServer(cfg Config) *Server {
	if cfg.WallClock == nil {
		cfg.WallClock = time.Now
	}
	if cfg.Memory == nil {
		cfg.Memory = NewMemoryBudget()
	}
	if cfg.Seed == 0 {
		cfg.Seed = rand.Uint64()
	}
	var seed [32]byte
	binary.BigEndian.PutUint64(seed[:], cfg.Seed)
	s := &Server{
		cfg:      cfg,
		products: make(map[string]*Product),
		chance:   rand.NewChaCha8(seed),
	}
	for _, p := range cfg.Products {
		if _, twice := s.products[p.Version]; twice {
			panic("gateway: two products with version " + p.Version)
		}
		s.products[p.Version] = p
		p.index()
	}
	return s
}

// ServeHTTP reads one call and hands it to its cloud. Every failure leaves by the same encoder.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	call := &Call{Received: s.cfg.WallClock(), strict: s.cfg.StrictAuth}
	defer func() {
		call.large.shrink(0)
		call.parameters.shrink(0)
	}()
	problem := s.read(call, w, r)
	chosen, leave, forbidden := s.selectCloud(call)
	defer leave()
	chosen.serve(call, cmp.Or(problem, forbidden), start, w)
}

// serve answers a call that was read at start, in its own cloud, or refuses it for a problem
// that it already has.
func (s *Server) serve(call *Call, problem *Problem, start time.Time, w http.ResponseWriter) {
	call.RequestID, call.traceID = s.mintIDs()
	outcome := Outcome{Status: http.StatusOK}
	var response any
	if problem == nil {
		response, problem = s.answer(call)
	}
	if struck := s.applyFaults(faults.Reply, call); struck != nil {
		problem = struck
	}
	var out reply
	if problem != nil {
		out = call.failure(problem)
		outcome.Status, outcome.Code, outcome.Evidence = problem.Status, problem.Code, problem.Evidence
	} else {
		out = call.success(response)
		outcome.Evidence = call.guess(response)
	}
	// The call is reported before its client can have the answer and ask for it.
	outcome.Duration, outcome.Answer, outcome.Received = time.Since(start), out.body, call.delivered
	s.report(call, outcome, problem)
	h := w.Header()
	for _, rule := range call.Faults {
		h.Add(FaultHeader, rule)
	}
	if call.broken != nil {
		out = call.broken(w, out)
	}
	if err := s.cfg.Store.Failing(); err != nil {
		h.Set(WarningHeader, "writes are refused: "+strings.Join(strings.Fields(err.Error()), " "))
	}
	out.describe(h, call)
	w.WriteHeader(out.status)
	if _, err := w.Write(out.body); err != nil {
		s.cfg.Log.Debug().Err(err).Str("requestId", call.RequestID).Msg("the client left before its answer")
	}
	out.sent()
}

// recovered makes a panic a problem, so that a fault in a handler costs one reply and
// not the server. Update has rolled back by then.
func recovered(problem **Problem) {
	if p := recover(); p != nil {
		*problem = internalError(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
	}
}

func (s *Server) read(call *Call, w http.ResponseWriter, r *http.Request) (problem *Problem) {
	defer recovered(&problem)
	if problem = call.parse(s.cfg.Memory, w, r); problem == problemMethod {
		return s.otherMethod(call)
	}
	return problem
}

// selectCloud finds the cloud whose call it is, by its access key.
func (s *Server) selectCloud(call *Call) (chosen *Server, leave func(), problem *Problem) {
	leave = func() {}
	sent := call.claimedKey()
	if s.cfg.Cloud == nil || sent == "" {
		return s, leave, nil
	}
	found, err := s.cfg.Cloud(sent)
	if err != nil {
		return s, leave, forbiddenCaller(err.Error())
	}
	call.keyPrefix = strings.TrimSuffix(sent, found.AccessKeyID)
	call.AccessKeyID = strings.TrimPrefix(call.AccessKeyID, call.keyPrefix)
	if found.Server == nil {
		return s, leave, nil
	}
	ctx, cancel := context.WithCancel(call.request.Context())
	stop := context.AfterFunc(found.Life, cancel)
	call.request = call.request.WithContext(ctx)
	return found.Server, func() {
		stop()
		cancel()
		found.Leave()
	}, nil
}

func (s *Server) answer(call *Call) (response any, problem *Problem) {
	defer recovered(&problem)
	for _, step := range steps {
		if problem := step(s, call); problem != nil {
			return nil, problem
		}
	}
	return s.dispatch(call)
}

// steps lists what a call passes before its handler, in this order.
var steps = []func(*Server, *Call) *Problem{
	(*Server).checkCaller,
	(*Server).findProduct,
	func(s *Server, call *Call) *Problem { return s.applyFaults(faults.Accept, call) },
	(*Server).lookAtState,
	(*Server).authenticate,
	(*Server).route,
	(*Server).resolveRegion,
	(*Server).throttle,
	(*Server).authorize,
	(*Server).checkOffers,
	(*Server).leaveState,
	func(s *Server, call *Call) *Problem { return s.applyFaults(faults.BeforeCall, call) },
}

// checkCaller checks who calls, before the call can learn anything else.
func (s *Server) checkCaller(call *Call) *Problem {
	if s.cfg.Caller == nil {
		return nil
	}
	if err := s.cfg.Caller(call.request); err != nil {
		return forbiddenCaller(err.Error())
	}
	return nil
}

// findProduct finds the product, which the cloud knows from the host that was
// called, so that every refusal can name it.
func (s *Server) findProduct(call *Call) *Problem {
	if call.product = s.products[call.Version]; call.product == nil {
		call.elsewhere, _ = s.elsewhere(call.Version)
	}
	return nil
}

// lookAtState takes the view that the steps after it share.
func (s *Server) lookAtState(call *Call) *Problem {
	call.view = s.cfg.Store.View(state.Owner{})
	call.recordNamed()
	return nil
}

// leaveState drops the view, which would keep old rows in memory while a fault rule holds the call.
func (s *Server) leaveState(call *Call) *Problem {
	call.view = nil
	return nil
}

// checkOffers asks the product whether the region and its zones have what the call wants.
func (s *Server) checkOffers(call *Call) *Problem {
	if call.product.Offers == nil {
		return nil
	}
	if err := call.product.Offers(call.view.In(call.Scope), call.ActionName, call.Params); err != nil {
		return call.product.Errors.problem(call.ActionName, err)
	}
	return nil
}

// route finds the row of the action.
func (s *Server) route(call *Call) *Problem {
	switch {
	case call.Version == "":
		return Missing("Version")
	case call.product == nil:
		return s.refuseUnknownProduct(call)
	case call.ActionName == "":
		return Missing("Action")
	}
	action, ok := call.product.rows[call.ActionName]
	if !ok {
		return unknownAction(call.product.Name, call.ActionName)
	}
	call.ActionName = action.Name
	if !action.Emulated {
		return notEmulated(call.ActionName)
	}
	call.action = action
	return nil
}

// otherMethod refuses a method that the products here do not have. Those of products
// that put their calls into paths have it, and are not emulated.
func (s *Server) otherMethod(call *Call) *Problem {
	if name, known := s.elsewhere(call.Version); known {
		return notEmulated(name)
	}
	return problemMethod
}

// elsewhere returns the name of a product that is not served, by its version.
func (s *Server) elsewhere(version string) (name string, known bool) {
	if s.cfg.Elsewhere != nil {
		name, known = s.cfg.Elsewhere()[version]
	}
	return name, known
}

// refuseUnknownProduct refuses a call of a product that is not served.
func (s *Server) refuseUnknownProduct(call *Call) *Problem {
	if name, known := s.elsewhere(call.Version); known {
		return notEmulated(strings.TrimSpace(name + " " + call.ActionName))
	}
	if call.ActionName == "" {
		return Missing("Action")
	}
	return problemUnknownVersion
}

// validator is a request with rules of shape that its tags can't express.
type validator interface{ Validate() error }

func (s *Server) dispatch(call *Call) (any, *Problem) {
	call.Params = call.action.request().spelled(call.Params)
	params := call.Params
	if name := call.action.request().bare(params); name != "" && call.product.FlatLists {
		return nil, Invalid(name)
	}
	if call.action.Mutates {
		params = params.apart()
	}
	request, err := call.action.request().decode(params)
	if c, ok := request.(interface{ setCaller(Caller) }); ok {
		c.setCaller(Caller{call.AccessKeyID, call.keyPrefix})
	}
	if v, ok := request.(validator); ok && err == nil {
		err = v.Validate()
	}
	if err != nil {
		return nil, call.product.Errors.problem(call.ActionName, err)
	}
	if problem := refuseUnread(call); problem != nil {
		return nil, problem
	}
	if problem := s.rehearse(call, request); problem != nil {
		return nil, problem
	}
	response, err := s.run(call, request, nil)
	if err != nil {
		call.Made = nil
		return nil, call.product.Errors.problem(call.ActionName, err)
	}
	if call.action.Mutates {
		return response, s.applyFaults(faults.AfterCommit, call)
	}
	return response, nil
}

// run runs the handler. A write ends with the error undo, and changes nothing, unless it is nil.
func (s *Server) run(call *Call, request any, undo error) (response any, err error) {
	if !call.action.Mutates {
		response, err = call.action.read(s.cfg.Store.ViewPast(call.staleBy, call.Scope), request)
		return response, cmp.Or(err, passed(request))
	}
	err = s.cfg.Store.Update(call.Scope, func(tx *state.Tx) error {
		response, err = call.action.write(tx.Paced(call.stageDelays), request)
		err = cmp.Or(err, passed(request), undo)
		if err == nil {
			call.recordIDs(tx, response)
		}
		return err
	})
	return response, err
}

// errRehearsed is the error of a rehearsed write that would have succeeded.
var errRehearsed = errors.New("rehearsed")

// rehearse stands at the point before the commit, where a rule asks for it: it
// runs a write to its end and undoes it, so that the call holds no lock while the rule
// is asked and the fault takes its time.
func (s *Server) rehearse(call *Call, request any) *Problem {
	if !call.action.Mutates || !s.hasRuleFor(faults.BeforeCommit, call) {
		return nil
	}
	if _, err := s.run(call, request, errRehearsed); !errors.Is(err, errRehearsed) {
		return call.product.Errors.problem(call.ActionName, err)
	}
	return s.applyFaults(faults.BeforeCommit, call)
}

func (s *Server) report(call *Call, outcome Outcome, problem *Problem) {
	if problem != nil && problem.Cause != nil && problem.Status >= http.StatusInternalServerError {
		s.cfg.Log.Error().Err(problem.Cause).Str("requestId", call.RequestID).Str("action", call.ActionName).
			Msg("a call failed inside")
	}
	s.cfg.Log.Debug().Str("requestId", call.RequestID).Str("product", call.Product()).Str("action", call.ActionName).
		Int("status", outcome.Status).Str("code", outcome.Code).Dur("duration", outcome.Duration).Msg("call")
	if s.cfg.Observe != nil {
		s.cfg.Observe(call, outcome)
	}
}

// mintIDs creates the two ids that the cloud's gateway gives a call.
func (s *Server) mintIDs() (requestID, traceID string) {
	var b [16]byte
	s.mu.Lock()
	binary.BigEndian.PutUint64(b[:8], s.chance.Uint64())
	binary.BigEndian.PutUint64(b[8:], s.chance.Uint64())
	s.mu.Unlock()
	return spellIDs(b)
}
