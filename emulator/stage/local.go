package stage

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
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/scenarios"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// start is the time that the clock of a private emulator shows first.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Local is a private emulator: in memory, with the default world, and with a
// clock that stands still but for waits and for what a scenario does to it. It
// implements scenarios.Target for one client that makes one call at a time.
//
// One that is open to programs goes with the machine's clock, and is at the same
// addresses again after a restart.
type Local struct {
	Remote

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

const anyPort = "127.0.0.1:0"

// NewLocal starts a private emulator.
func NewLocal(ctx context.Context) (*Local, error) {
	l := &Local{clock: state.NewManualClock(start), api: anyPort}
	return l, l.begin(ctx)
}

// NewOpen starts a private emulator that is open to programs, by HTTPS if they
// want that.
func NewOpen(ctx context.Context, secure bool) (*Local, error) {
	l := &Local{api: anyPort, control: anyPort}
	if secure {
		if err := l.secure(); err != nil {
			return nil, err
		}
	}
	return l, l.begin(ctx)
}

// secure makes a certificate that this emulator's clients trust.
func (l *Local) secure() (err error) {
	if l.dir, err = os.MkdirTemp("", "clbemu-tls-"); err != nil {
		return err
	}
	if l.tls, err = emulator.GenerateTLS(l.dir, []string{"127.0.0.1", "localhost"}); err != nil {
		return err
	}
	authority, err := os.ReadFile(filepath.Join(l.dir, emulator.CAFile))
	if err != nil {
		return err
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority)
	l.http = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: trusted}}}
	return nil
}

// begin starts the emulator on what the disk holds.
func (l *Local) begin(ctx context.Context) error {
	born := &life{disk: &severable{Engine: &l.disk}}
	cfg := emulator.Config{Storage: born.disk, StrictAuth: true, Seed: 1, Crash: born.crash}
	if l.clock != nil {
		cfg.Clock = l.clock
	}
	e, err := emulator.New(ctx, cfg)
	if err != nil {
		return err
	}
	born.emulator, l.life = e, born
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
func (l *Local) serve(address *string, config *tls.Config) (string, error) {
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
	server := &http.Server{Handler: l.life, ReadHeaderTimeout: callTimeout, ErrorLog: log.New(io.Discard, "", 0)}
	l.life.servers = append(l.life.servers, server)
	go func() { _ = server.Serve(listener) }() // it ends when it is closed
	return url, nil
}

// ServeHTTP serves both APIs at one address.
func (l *life) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/v1/") {
		l.emulator.ControlHandler().ServeHTTP(w, r)
		return
	}
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
func (l *Local) Call(ctx context.Context, call scenarios.APICall) (scenarios.Answer, error) {
	answer, err := l.Remote.Call(ctx, call)
	if answer.Lost != "" {
		l.life.settle()
	}
	return answer, errors.Join(err, l.revive(ctx))
}

// revive starts an emulator again that crashed.
func (l *Local) revive(ctx context.Context) error {
	if !l.life.crashed.Load() {
		return nil
	}
	return l.Restart(ctx, true)
}

// Pass implements scenarios.Target: where nothing else runs, nobody needs to wait.
func (l *Local) Pass(ctx context.Context, d time.Duration) error {
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
func (l *Local) Start(ctx context.Context, p scenarios.Program) (scenarios.Running, error) {
	environment, err := l.environment()
	if err != nil {
		return nil, err
	}
	if l.dir != "" {
		authority := filepath.Join(l.dir, emulator.CAFile)
		environment = append(environment, "SSL_CERT_FILE="+authority, "NODE_EXTRA_CA_CERTS="+authority, "REQUESTS_CA_BUNDLE="+authority)
	}
	r, err := startProgram(ctx, p, environment)
	if err != nil {
		return nil, err
	}
	return supervised{r, l}, nil
}

// supervised is a program beside which an emulator that crashes is started again.
type supervised struct {
	*running
	local *Local
}

// Wait implements scenarios.Running.
func (s supervised) Wait(ctx context.Context, most time.Duration) (ended bool, err error) {
	for passed := time.Duration(0); ; passed += revivePause {
		ended, err = s.running.Wait(ctx, min(revivePause, most-passed))
		if err = errors.Join(err, s.local.revive(ctx)); ended || err != nil || passed+revivePause >= most {
			return ended, err
		}
	}
}

// CanRestart implements scenarios.Target.
func (l *Local) CanRestart() bool { return true }

// Restart implements scenarios.Target. The journal goes on where it was.
func (l *Local) Restart(ctx context.Context, kill bool) error {
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

func (l *Local) end(ctx context.Context) error {
	var errs []error
	for _, server := range l.life.servers {
		errs = append(errs, server.Close())
	}
	l.life.settle()
	return errors.Join(append(errs, l.life.emulator.Close(ctx))...)
}

// Mark implements scenarios.Target.
func (l *Local) Mark(ctx context.Context) (uint64, error) {
	mark, err := l.Remote.Mark(ctx)
	return l.sequence + mark, err
}

// Calls implements scenarios.Target.
func (l *Local) Calls(ctx context.Context, since uint64) ([]scenarios.JournalCall, error) {
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
func (l *Local) Close(ctx context.Context) error {
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
