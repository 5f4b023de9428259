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
	"github.com/clbemu/clbemu/emulator/target/private"
	"github.com/clbemu/clbemu/state"
)

// The access key of the default world.
const (
	AccessKeyID     = apiclient.AccessKeyID
	AccessKeySecret = apiclient.AccessKeySecret
)

// closeTimeout limits how long calls in flight may take to finish.
const closeTimeout = time.Minute

// Server is a running emulator, and its first cloud.
type Server struct {
	*Cloud
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
	control := &controlclient.Client{URL: "http://" + e.ControlAddr(), Token: cfg.ControlToken}
	return &Server{&Cloud{"http://" + e.Addr(), control}, e}
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

// DNSAddr returns the address of the DNS server for the names of Network Load
// Balancers, if the configuration has one.
func (s *Server) DNSAddr() string { return s.emulator.DNSAddr() }

// Store returns the emulated cloud's state.
func (s *Server) Store() *state.Store { return s.emulator.Store() }

// Journal returns the emulator's journal.
func (s *Server) Journal() *journal.Journal { return s.emulator.Journal() }
