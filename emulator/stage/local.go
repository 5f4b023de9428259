package stage

import (
	"context"
	"errors"
	"net"
	"net/http"
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
type Local struct {
	Remote

	disk     memory.Engine
	clock    *state.ManualClock
	life     *life
	past     []scenarios.JournalCall // of the lives before
	sequence uint64                  // the last of them
}

// life is the emulator from a start to an end.
type life struct {
	emulator *emulator.Emulator
	disk     *severable
	server   *http.Server
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

// NewLocal starts a private emulator.
func NewLocal(ctx context.Context) (*Local, error) {
	l := &Local{clock: state.NewManualClock(start)}
	return l, l.begin(ctx)
}

// begin starts the emulator on what the disk holds.
func (l *Local) begin(ctx context.Context) error {
	born := &life{disk: &severable{Engine: &l.disk}}
	e, err := emulator.New(ctx, emulator.Config{Storage: born.disk, StrictAuth: true, Clock: l.clock, Seed: 1, Crash: born.crash})
	if err != nil {
		return err
	}
	born.emulator = e
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, e.Close(ctx))
	}
	born.server = &http.Server{Handler: born, ReadHeaderTimeout: callTimeout}
	go func() { _ = born.server.Serve(listener) }() // it ends when it is closed
	l.life = born
	l.API = "http://" + listener.Addr().String()
	l.Control = l.API
	return nil
}

// ServeHTTP serves both APIs at one address.
func (l *life) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/v1/") {
		l.emulator.ControlHandler().ServeHTTP(w, r)
		return
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
	if l.life.crashed.Load() {
		err = errors.Join(err, l.Restart(ctx, true))
	}
	return answer, err
}

// Pass implements scenarios.Target: nothing else runs here, so nobody needs to
// wait.
func (l *Local) Pass(ctx context.Context, d time.Duration) error {
	l.clock.Advance(d)
	return ctx.Err()
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
	closed := l.life.server.Close()
	l.life.settle()
	return errors.Join(closed, l.life.emulator.Close(ctx))
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
	return errors.Join(err, l.end(ctx))
}
