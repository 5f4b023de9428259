// Package private starts private emulators for scenarios, in this process. It owns
// their clock, their disk and their restarts; it must not know the contents of
// scenarios.
package private

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"iter"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/internal/listen"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/scenarios"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// start is the time that the clock of a private emulator shows first.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Emulator is a private emulator: in memory, with the default world, and with a
// clock that stands still but for waits and for what a scenario does to it. It
// implements scenarios.Target for one client that makes one call at a time.
//
// One that is open to programs goes with the machine's clock. After a restart it is
// at the same addresses again.
type Emulator struct {
	target.Remote

	disk     memory.Engine
	clock    *state.ManualClock // nil for one that is open
	tls      *tls.Config        // of the cloud's API, if it is HTTPS
	dir      string             // of the certificate, "" if there is none
	api      *socket
	control  *socket // nil where the API's serves both
	life     *life
	past     []scenarios.JournalCall // of the lives before
	sequence uint64                  // the last of them
	packets  bool                    // listeners answer
	history  history
}

var _ scenarios.Programs = (*Emulator)(nil)
var _ scenarios.Target = (*Emulator)(nil)

// life is the emulator from a start to an end.
type life struct {
	emulator *emulator.Emulator
	disk     *detachableEngine
	servers  []*http.Server
	serving  sync.WaitGroup // one for each server
	calls    sync.RWMutex   // read-locked by each call in flight
	crashed  atomic.Bool
}

// detachableEngine is an engine that a dead process can't write to any more.
type detachableEngine struct {
	engine.Engine

	mu       sync.Mutex
	detached bool
}

var _ engine.Engine = (*detachableEngine)(nil)

var errDetached = errors.New("the process was killed")

// Commit implements engine.Engine.
func (s *detachableEngine) Commit(ctx context.Context, sets []engine.ChangeSet) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.detached {
		return errDetached
	}
	return s.Engine.Commit(ctx, sets)
}

func (s *detachableEngine) detach() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.detached = true
}

const readHeaderTimeout = 20 * time.Second

// socket is the address on which one life after the other listens. Between two lives
// its port stays taken, and clients wait.
type socket struct {
	*net.TCPListener
	forget func()
}

func newSocket() (*socket, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	service := &listen.Service{Name: "listener of a scenario"}
	return &socket{listener.(*net.TCPListener), service.Add(listener.Addr())}, nil
}

// Close ends what a life accepts.
func (s *socket) Close() error { return s.SetDeadline(time.Unix(1, 0)) }

func (s *socket) open() error { return s.SetDeadline(time.Time{}) }

// New starts a private emulator.
func New(ctx context.Context) (*Emulator, error) {
	e := &Emulator{clock: state.NewManualClock(start)}
	return e.opened(ctx, &e.api)
}

// NewOpen starts a private emulator that is open to programs, by HTTPS if they
// want that.
func NewOpen(ctx context.Context, secure bool) (*Emulator, error) {
	e := &Emulator{}
	if secure {
		if err := e.createCertificate(); err != nil {
			return nil, errors.Join(err, e.release())
		}
	}
	return e.opened(ctx, &e.api, &e.control)
}

// opened opens the sockets and begins the first life.
func (e *Emulator) opened(ctx context.Context, sockets ...**socket) (_ *Emulator, err error) {
	e.Products = products.All()
	for _, d := range sockets {
		if *d, err = newSocket(); err != nil {
			return nil, errors.Join(err, e.release())
		}
	}
	if err := e.begin(ctx); err != nil {
		return nil, errors.Join(err, e.release())
	}
	return e, nil
}

// release gives back what all lives shared.
func (e *Emulator) release() error {
	var errs []error
	for _, d := range []*socket{e.api, e.control} {
		if d != nil {
			d.forget()
			errs = append(errs, d.TCPListener.Close())
		}
	}
	if e.dir != "" {
		errs = append(errs, os.RemoveAll(e.dir))
	}
	return errors.Join(errs...)
}

// createCertificate creates a certificate that this emulator's clients trust.
func (e *Emulator) createCertificate() (err error) {
	if e.dir, err = os.MkdirTemp("", "clbemu-tls-"); err != nil {
		return err
	}
	if e.tls, err = emulator.GenerateTLS(e.dir, []string{"127.0.0.1", "localhost"}); err != nil {
		return err
	}
	file := filepath.Join(e.dir, emulator.CAFile)
	authority, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority)
	e.Environment = []string{"SSL_CERT_FILE=" + file, "NODE_EXTRA_CA_CERTS=" + file, "REQUESTS_CA_BUNDLE=" + file}
	e.HTTP = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: trusted}}}
	return nil
}

// begin starts the emulator on what the disk holds.
func (e *Emulator) begin(ctx context.Context) error {
	next := &life{disk: &detachableEngine{Engine: &e.disk}}
	cfg := emulator.Config{Storage: next.disk, StrictAuth: true, Seed: 1, Crash: next.crash, DataPlane: emulator.Ports}
	if e.clock != nil {
		cfg.Clock = e.clock
	}
	served, err := emulator.New(ctx, cfg)
	if err != nil {
		return err
	}
	next.emulator, e.life = served, next
	if e.packets {
		served.StartPackets()
	}
	if e.API, err = e.serve(e.api, e.tls); err == nil && e.control != nil {
		e.Control, err = e.serve(e.control, nil)
	}
	if err != nil {
		return errors.Join(err, e.end(ctx))
	}
	if e.control == nil {
		e.Control = e.API
	}
	return nil
}

// serve serves on a socket, and returns the URL.
func (e *Emulator) serve(at *socket, config *tls.Config) (string, error) {
	if err := at.open(); err != nil {
		return "", err
	}
	listener, url := net.Listener(at), "http://"+at.Addr().String()
	if config != nil {
		listener, url = tls.NewListener(listener, config), "https://"+at.Addr().String()
	}
	server := &http.Server{Handler: target.OneAddress(http.HandlerFunc(e.life.serveAPI), e.life.emulator.ControlHandler()),
		ReadHeaderTimeout: readHeaderTimeout, ErrorLog: log.New(io.Discard, "", 0)}
	e.life.servers = append(e.life.servers, server)
	e.life.serving.Go(func() { _ = server.Serve(listener) }) // it ends when it is closed
	return url, nil
}

// serveAPI serves the cloud's API until a crash.
func (l *life) serveAPI(w http.ResponseWriter, r *http.Request) {
	if l.crashed.Load() {
		panic(http.ErrAbortHandler)
	}
	l.calls.RLock()
	defer l.calls.RUnlock()
	l.emulator.Handler().ServeHTTP(w, r)
}

// crash ends the life from within a call, which goes no further.
func (l *life) crash() {
	l.disk.detach()
	l.crashed.Store(true)
	runtime.Goexit()
}

// drain waits for the calls in flight.
func (l *life) drain() {
	l.calls.Lock()
	defer l.calls.Unlock()
}

// Call implements scenarios.Target. When a call got no answer, it waits until the
// emulator has done what it still does about it. A crash is followed by a
// restart, as a supervisor would see to.
func (e *Emulator) Call(ctx context.Context, call scenarios.APICall) (scenarios.Answer, error) {
	answer, err := e.Remote.Call(ctx, call)
	if answer.Lost != "" {
		e.life.drain()
	}
	return answer, errors.Join(err, e.restartCrashed(ctx))
}

// restartCrashed starts an emulator again that crashed.
func (e *Emulator) restartCrashed(ctx context.Context) error {
	if !e.life.crashed.Load() {
		return nil
	}
	return e.Restart(ctx, true)
}

// Packets implements scenarios.Target.
func (e *Emulator) Packets(context.Context) error {
	e.packets = true
	e.life.emulator.StartPackets()
	return nil
}

// Pass implements scenarios.Target: where nothing else runs, there is no need to wait. Packets
// take real time, which the emulated clock stretches.
func (e *Emulator) Pass(ctx context.Context, d time.Duration) error {
	if e.clock != nil {
		e.clock.Advance(d)
		if e.packets {
			return e.Remote.Pass(ctx, min(d, packetPause))
		}
		return ctx.Err()
	}
	for ; d > 0; d -= revivePause {
		if err := errors.Join(e.Remote.Pass(ctx, min(d, revivePause)), e.restartCrashed(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// packetPause limits a wait while packets flow.
const packetPause = 50 * time.Millisecond

// revivePause limits how long an emulator that crashed is gone.
const revivePause = 50 * time.Millisecond

// Start implements scenarios.Programs.
func (e *Emulator) Start(ctx context.Context, p scenarios.Program) (scenarios.Running, error) {
	r, err := e.Remote.Start(ctx, p)
	if err != nil {
		return nil, err
	}
	return supervised{r, e}, nil
}

// supervised is a program next to which an emulator that crashes is started again.
type supervised struct {
	scenarios.Running
	emulator *Emulator
}

var _ scenarios.Running = supervised{}

// Wait implements scenarios.Running.
func (s supervised) Wait(ctx context.Context, most time.Duration) (ended bool, err error) {
	for passed := time.Duration(0); ; passed += revivePause {
		ended, err = s.Running.Wait(ctx, min(revivePause, most-passed))
		if err = errors.Join(err, s.emulator.restartCrashed(ctx)); ended || err != nil || passed+revivePause >= most {
			return ended, err
		}
	}
}

// CanRestart implements scenarios.Target.
func (e *Emulator) CanRestart() bool { return true }

// Restart implements scenarios.Target. The journal goes on where it was.
func (e *Emulator) Restart(ctx context.Context, kill bool) error {
	calls, err := e.Calls(ctx, e.sequence)
	if err != nil {
		return err
	}
	e.past = append(e.past, calls...)
	if e.sequence, err = e.Mark(ctx); err != nil {
		return err
	}
	if kill {
		e.life.disk.detach()
	}
	if err := e.end(ctx); err != nil && !kill {
		return err
	}
	return e.begin(ctx)
}

func (e *Emulator) end(ctx context.Context) error {
	e.history.end()
	var errs []error
	for _, server := range e.life.servers {
		errs = append(errs, server.Close())
	}
	e.life.serving.Wait() // or it would accept what is the next one's
	e.life.drain()
	return errors.Join(append(errs, e.life.emulator.Close(ctx))...)
}

// Mark implements scenarios.Target.
func (e *Emulator) Mark(ctx context.Context) (uint64, error) {
	mark, err := e.Remote.Mark(ctx)
	return e.sequence + mark, err
}

// Calls implements scenarios.Target.
func (e *Emulator) Calls(ctx context.Context, since uint64) ([]scenarios.JournalCall, error) {
	var all []scenarios.JournalCall
	for _, call := range e.past {
		if call.Sequence > since {
			all = append(all, call)
		}
	}
	calls, err := e.Remote.Calls(ctx, since-min(since, e.sequence))
	for _, call := range calls {
		call.Sequence += e.sequence
		all = append(all, call)
	}
	return all, err
}

// history follows the changes of a life.
type history struct {
	of   *life
	next func() (state.Event, error, bool)
	stop func()
	seen state.Revision
}

// end lets go of the feed.
func (h *history) end() {
	if h.of != nil {
		h.stop()
		*h = history{}
	}
}

// History calls look with the load balancers after each change since its last call, in order, and
// at last with the present ones.
func (e *Emulator) History(_ context.Context, look func(all []scenarios.LoadBalancerState, at time.Time)) error {
	store, h := e.life.emulator.Store(), &e.history
	if h.of != e.life {
		h.end()
		h.of = e.life
		h.next, h.stop = iter.Pull2(store.Watch(context.Background(), 0))
	}
	at := func(v *state.View) error {
		all, err := e.LoadBalancersIn(v)
		if err == nil {
			look(all, v.Now())
		}
		return err
	}
	for newest := store.Revision(); h.seen < newest; {
		event, err, ok := h.next()
		if errors.Is(err, state.ErrBehind) {
			h.end() // what is now counts
			break
		}
		if err != nil || !ok {
			return err
		}
		h.seen = event.Revision
		if err := at(event.View(state.Owner{})); err != nil {
			return err
		}
	}
	return at(store.View(state.Owner{}))
}

// Close ends the emulator. Its state must be consistent.
func (e *Emulator) Close(ctx context.Context) error {
	problems, err := e.life.emulator.Store().Check(ctx)
	for _, problem := range problems {
		err = errors.Join(err, errors.New("the state is inconsistent: "+problem))
	}
	return errors.Join(err, e.end(ctx), e.release())
}
