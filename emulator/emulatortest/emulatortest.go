// Package emulatortest starts an emulator for a Go test: in memory, on free ports, with
// the default world. When the test ends, it stops the emulator and checks its state.
package emulatortest

import (
	"context"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/emulator/target/private"
	"github.com/clbemu/clbemu/emulator/world/conditions"
	"github.com/clbemu/clbemu/state"
)

// The access key of the default world.
const (
	AccessKeyID     = apiclient.AccessKeyID
	AccessKeySecret = apiclient.AccessKeySecret
)

// closeTimeout limits how long calls in flight may take to finish.
const closeTimeout = time.Minute

// Server is a running emulator.
type Server struct {
	emulator *emulator.Emulator
}

// Option changes how the emulator is started.
type Option func(*emulator.Config)

// WithConfig lets a test change any part of the configuration.
func WithConfig(change func(*emulator.Config)) Option { return change }

// WithClock sets the emulated time.
func WithClock(clock state.Clock) Option {
	return func(cfg *emulator.Config) { cfg.Clock = clock }
}

// WithSeed sets the seed of ids and RequestIds; it is 1 by default.
func WithSeed(seed uint64) Option {
	return func(cfg *emulator.Config) { cfg.Seed = seed }
}

// Start runs an emulator that verifies signatures until the test ends.
func Start(t testing.TB, options ...Option) *Server {
	t.Helper()
	cfg := emulator.Config{
		Engine:        emulator.Memory,
		StrictAuth:    true,
		Seed:          1,
		Listen:        "127.0.0.1:0",
		ControlListen: "127.0.0.1:0",
		Version:       controlapi.Version{Version: "test"},
		Apart:         private.Player{},
	}
	for _, option := range options {
		option(&cfg)
	}
	e, err := emulator.New(context.Background(), cfg)
	if err != nil {
		t.Fatalf("open the emulator: %v", err)
	}
	t.Cleanup(func() { stop(t, e) })
	if err := e.Start(); err != nil {
		t.Fatalf("start the emulator: %v", err)
	}
	return &Server{emulator: e}
}

func stop(t testing.TB, e *emulator.Emulator) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	problems, err := e.Store().Check(ctx)
	if err != nil {
		t.Errorf("check the state: %v", err)
	}
	for _, problem := range problems {
		t.Errorf("the state is inconsistent: %s", problem)
	}
	if err := e.Close(ctx); err != nil {
		t.Errorf("close the emulator: %v", err)
	}
}

// Host returns the host:port of the API, as endpoint overrides take it.
func (s *Server) Host() string { return s.emulator.Addr() }

// URL returns the URL of the API and the metadata service.
func (s *Server) URL() string { return "http://" + s.Host() }

// ControlURL returns the URL of the control API.
func (s *Server) ControlURL() string { return "http://" + s.emulator.ControlAddr() }

// DNSAddr returns the address of the DNS server for the names of Network Load
// Balancers, if the configuration has one.
func (s *Server) DNSAddr() string { return s.emulator.DNSAddr() }

// Store returns the emulated cloud's state.
func (s *Server) Store() *state.Store { return s.emulator.Store() }

// Journal returns the emulator's journal.
func (s *Server) Journal() *journal.Journal { return s.emulator.Journal() }

// World changes a condition, as `clbemu world set` does: World("account.arrears",
// "true").
func (s *Server) World(t testing.TB, name, value string) {
	t.Helper()
	err := names.Of(s.Store().Schema(), products.All()).CheckCondition(name, value)
	if err == nil {
		err = s.Store().Update(state.Owner{}, func(tx *state.Tx) error {
			return conditions.Set(tx, state.Owner{}, []conditions.Setting{{Name: name, Value: value}})
		})
	}
	if err != nil {
		t.Fatalf("set the world: %v", err)
	}
}

// Fault adds fault rules in YAML, as `clbemu fault add` does.
func (s *Server) Fault(t testing.TB, rules string) {
	t.Helper()
	if _, err := s.emulator.AddFaults([]byte(rules)); err != nil {
		t.Fatalf("add fault rules: %v", err)
	}
}

// Hits returns how many calls a fault rule affected. The rule must exist.
func (s *Server) Hits(t testing.TB, rule string) uint64 {
	t.Helper()
	var known []string
	for _, r := range s.emulator.FaultRules() {
		if r.Rule.Name == rule {
			return r.Hits
		}
		known = append(known, r.Rule.Name)
	}
	t.Fatalf("there is no fault rule %s%s", rule, names.DidYouMean(rule, known, "server.Fault adds one"))
	return 0
}

// Calls returns the calls whose fields are as wanted, in the words of `clbemu
// journal --where`: Calls(t, "action=Create*", "code=OK"). A name that nothing has
// fails the test: there are never such calls.
func (s *Server) Calls(t testing.TB, where ...string) []*journal.Entry {
	t.Helper()
	return calls(t, &controlclient.Client{URL: s.ControlURL()}, where)
}

// Advance moves the emulated time forward, and holds it there.
func (s *Server) Advance(t testing.TB, d time.Duration) {
	t.Helper()
	if err := s.Store().AdjustClock(d, 0); err != nil {
		t.Fatalf("advance the clock: %v", err)
	}
}
