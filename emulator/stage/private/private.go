// Package private starts emulators that scenarios have to themselves, in this
// process. It owns their clock, their disk and their restarts; it must not know
// what scenarios say.
package private

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
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
	"github.com/clbemu/clbemu/emulator/stage"
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
// One that is open to programs goes with the machine's clock, and is at the same
// addresses again after a restart.
type Emulator struct {
	stage.Remote

	disk     memory.Engine
	clock    *state.ManualClock // nil for one that is open
	tls      *tls.Config        // of the cloud's API, if it is HTTPS
	dir      string             // of the certificate, "" if there is none
	api      string             // where it listens
	control  string
	life     *life
	past     []scenarios.JournalCall // of the lives before
	sequence uint64                  // the last of them
}

// life is the emulator from a start to an end.
type life struct {
	emulator *emulator.Emulator
	disk     *severable
	servers  []*http.Server
	calls    sync.RWMutex // read-locked by each call in flight
	crashed  atomic.Bool
}

// severable is an engine that a dead process can't write to any more.
type severable struct {
	engine.Engine

	mu      sync.Mutex
	severed bool
}

var errSevered = errors.New("the process was killed")

// Commit implements engine.Engine.
func (s *severable) Commit(ctx context.Context, sets []engine.ChangeSet) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.severed {
		return errSevered
	}
	return s.Engine.Commit(ctx, sets)
}

func (s *severable) sever() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.severed = true
}

const readHeaderTimeout = 20 * time.Second

const anyPort = "127.0.0.1:0"

// New starts a private emulator.
func New(ctx context.Context) (*Emulator, error) {
	l := &Emulator{clock: state.NewManualClock(start), api: anyPort}
	return l, l.begin(ctx)
}

// NewOpen starts a private emulator that is open to programs, by HTTPS if they
// want that.
func NewOpen(ctx context.Context, secure bool) (*Emulator, error) {
	l := &Emulator{api: anyPort, control: anyPort}
	if secure {
		if err := l.secure(); err != nil {
			return nil, err
		}
	}
	return l, l.begin(ctx)
}

// secure makes a certificate that this emulator's clients trust.
func (l *Emulator) secure() (err error) {
	if l.dir, err = os.MkdirTemp("", "clbemu-tls-"); err != nil {
		return err
	}
	if l.tls, err = emulator.GenerateTLS(l.dir, []string{"127.0.0.1", "localhost"}); err != nil {
		return err
	}
	file := filepath.Join(l.dir, emulator.CAFile)
	authority, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority)
	l.Environment = []string{"SSL_CERT_FILE=" + file, "NODE_EXTRA_CA_CERTS=" + file, "REQUESTS_CA_BUNDLE=" + file}
	l.HTTP = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: trusted}}}
	return nil
}

// begin starts the emulator on what the disk holds.
func (l *Emulator) begin(ctx context.Context) error {
	next := &life{disk: &severable{Engine: &l.disk}}
	cfg := emulator.Config{Storage: next.disk, StrictAuth: true, Seed: 1, Crash: next.crash}
	if l.clock != nil {
		cfg.Clock = l.clock
	}
	e, err := emulator.New(ctx, cfg)
	if err != nil {
		return err
	}
	next.emulator, l.life = e, next
	if l.API, err = l.serve(&l.api, l.tls); err == nil && l.control != "" {
		l.Control, err = l.serve(&l.control, nil)
	}
	if err != nil {
		return errors.Join(err, l.end(ctx))
	}
	if l.control == "" {
		l.Control = l.API
	}
	return nil
}

// serve listens at an address, which it makes that of the next time, and returns
// the URL.
func (l *Emulator) serve(address *string, config *tls.Config) (string, error) {
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		return "", err
	}
	if l.clock == nil {
		*address = listener.Addr().String()
	}
	url := "http://" + listener.Addr().String()
	if config != nil {
		listener, url = tls.NewListener(listener, config), "https://"+listener.Addr().String()
	}
	server := &http.Server{Handler: stage.OneAddress(http.HandlerFunc(l.life.serveAPI), l.life.emulator.ControlHandler()),
		ReadHeaderTimeout: readHeaderTimeout, ErrorLog: log.New(io.Discard, "", 0)}
	l.life.servers = append(l.life.servers, server)
	go func() { _ = server.Serve(listener) }() // it ends when it is closed
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
	l.disk.sever()
	l.crashed.Store(true)
	runtime.Goexit()
}

// settle waits for the calls in flight.
func (l *life) settle() {
	l.calls.Lock()
	defer l.calls.Unlock()
}

// Call implements scenarios.Target. When a call got no answer, it waits until the
// emulator has done what it still does about it. A crash is followed by a
// restart, as a supervisor would see to.
func (l *Emulator) Call(ctx context.Context, call scenarios.APICall) (scenarios.Answer, error) {
	answer, err := l.Remote.Call(ctx, call)
	if answer.Lost != "" {
		l.life.settle()
	}
	return answer, errors.Join(err, l.revive(ctx))
}

// revive starts an emulator again that crashed.
func (l *Emulator) revive(ctx context.Context) error {
	if !l.life.crashed.Load() {
		return nil
	}
	return l.Restart(ctx, true)
}

// Pass implements scenarios.Target: where nothing else runs, nobody needs to wait.
func (l *Emulator) Pass(ctx context.Context, d time.Duration) error {
	if l.clock != nil {
		l.clock.Advance(d)
		return ctx.Err()
	}
	for ; d > 0; d -= revivePause {
		if err := errors.Join(l.Remote.Pass(ctx, min(d, revivePause)), l.revive(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// revivePause is how long an emulator that crashed is gone at most.
const revivePause = 50 * time.Millisecond

// Start implements scenarios.Programs.
func (l *Emulator) Start(ctx context.Context, p scenarios.Program) (scenarios.Running, error) {
	r, err := l.Remote.Start(ctx, p)
	if err != nil {
		return nil, err
	}
	return supervised{r, l}, nil
}

// supervised is a program beside which an emulator that crashes is started again.
type supervised struct {
	scenarios.Running
	emulator *Emulator
}

// Wait implements scenarios.Running.
func (s supervised) Wait(ctx context.Context, most time.Duration) (ended bool, err error) {
	for passed := time.Duration(0); ; passed += revivePause {
		ended, err = s.Running.Wait(ctx, min(revivePause, most-passed))
		if err = errors.Join(err, s.emulator.revive(ctx)); ended || err != nil || passed+revivePause >= most {
			return ended, err
		}
	}
}

// CanRestart implements scenarios.Target.
func (l *Emulator) CanRestart() bool { return true }

// Restart implements scenarios.Target. The journal goes on where it was.
func (l *Emulator) Restart(ctx context.Context, kill bool) error {
	calls, err := l.Calls(ctx, l.sequence)
	if err != nil {
		return err
	}
	l.past = append(l.past, calls...)
	if l.sequence, err = l.Mark(ctx); err != nil {
		return err
	}
	if kill {
		l.life.disk.sever()
	}
	if err := l.end(ctx); err != nil && !kill {
		return err
	}
	return l.begin(ctx)
}

func (l *Emulator) end(ctx context.Context) error {
	var errs []error
	for _, server := range l.life.servers {
		errs = append(errs, server.Close())
	}
	l.life.settle()
	return errors.Join(append(errs, l.life.emulator.Close(ctx))...)
}

// Mark implements scenarios.Target.
func (l *Emulator) Mark(ctx context.Context) (uint64, error) {
	mark, err := l.Remote.Mark(ctx)
	return l.sequence + mark, err
}

// Calls implements scenarios.Target.
func (l *Emulator) Calls(ctx context.Context, since uint64) ([]scenarios.JournalCall, error) {
	var all []scenarios.JournalCall
	for _, call := range l.past {
		if call.Sequence > since {
			all = append(all, call)
		}
	}
	calls, err := l.Remote.Calls(ctx, since-min(since, l.sequence))
	for _, call := range calls {
		call.Sequence += l.sequence
		all = append(all, call)
	}
	return all, err
}

// Close ends the emulator. Its state must be consistent.
func (l *Emulator) Close(ctx context.Context) error {
	problems, err := l.life.emulator.Store().Check(ctx)
	for _, problem := range problems {
		err = errors.Join(err, errors.New("the state is inconsistent: "+problem))
	}
	err = errors.Join(err, l.end(ctx))
	if l.dir != "" {
		err = errors.Join(err, os.RemoveAll(l.dir))
	}
	return err
}
