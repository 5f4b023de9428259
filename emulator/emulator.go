// Package emulator assembles the parts in one process: the store with its world, the
// gateway with its products, the metadata service and the control API, on two
// listeners. It owns no behaviour of the cloud.
package emulator

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/clouds"
	"github.com/clbemu/clbemu/emulator/internal/listen"
	"github.com/clbemu/clbemu/emulator/internal/replicas"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/state"
)

// Emulator is a running process: a cloud, the clouds forked from it, and the
// listeners where clients reach them.
type Emulator struct {
	cfg     Config // as given
	cloud   cloud.Config
	first   *cloud.Cloud // the cloud that is there from the start
	clouds  *clouds.Clouds
	servers []*listen.Server  // the API's and the control API's, once started
	replica *replicas.Replica // nil unless others share the state
	failed  chan error        // one place for each listener
}

// New opens the store, plants the world if it is empty, and builds the
// handlers. It does not listen: Start does, and Handler serves without.
func New(ctx context.Context, cfg Config) (*Emulator, error) {
	e := &Emulator{cfg: cfg, cloud: cfg.cloud(), failed: make(chan error, 4)}
	store, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	e.clouds = clouds.New(clouds.Config{Process: process{e}, Fork: forkOf(e.cloud), Keep: cfg.keeper(), Shared: cfg.Replica != nil, Log: cfg.Log})
	if e.first, err = cloud.New(e.cloud, store, e.clouds); err != nil {
		return nil, err
	}
	e.clouds.Begin(e.first)
	e.first.Metrics().Add(e.clouds)
	if cfg.Replica == nil { // else the leader has them
		if err := errors.Join(e.first.Faults().Begin(), e.clouds.Reopen(ctx)); err != nil {
			return nil, errors.Join(err, e.Close(ctx))
		}
	}
	return e, nil
}

// open opens the store and gives it a world; a follower gets its world from the leader.
func (e *Emulator) open(ctx context.Context) (*state.Store, error) {
	if e.cfg.Replica != nil {
		e.cloud.Clock = sharedClock{cmp.Or(e.cfg.Clock, state.Clock(&state.SystemClock{})), e.cfg.Replica.State}
		return state.Follow(ctx, e.cloud.StoreOn(nil), e.cfg.Replica.State)
	}
	if e.cfg.ForkOf != nil {
		return e.cfg.ForkOf.Fork(state.ForkConfig{Clock: e.cfg.Clock, Warn: e.cloud.Warn})
	}
	engine, err := openEngine(ctx, e.cfg)
	if err != nil {
		return nil, err
	}
	store, err := e.cloud.OpenStore(ctx, engine)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(e.cloud.PlantIfEmpty(store), e.cloud.WarnOfInstance(store)); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// Handler serves the cloud's API, and the metadata service under /latest/: for the cloud
// that the host of a call names, such as NAME.localhost.
func (e *Emulator) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		chosen, leave := e.clouds.ByHost(r.Host)
		defer leave()
		if chosen == e.first {
			chosen.ServeAPI(w, r)
			return
		}
		chosen.During(r, func(r *http.Request) { chosen.ServeAPI(w, r) })
	})
}

// ControlHandler serves the control API.
func (e *Emulator) ControlHandler() http.Handler { return http.HandlerFunc(e.first.ServeControl) }

// AddFaults adds the fault rules of a text in YAML or JSON.
func (e *Emulator) AddFaults(text []byte) ([]faults.Rule, error) {
	return e.first.Faults().Add("", text)
}

// FaultRules returns the fault rules with their counters, in the order in which they are
// evaluated.
func (e *Emulator) FaultRules() []faults.Status { return e.first.Faults().Injector.Rules() }

// Journal returns the journal of calls and changes.
func (e *Emulator) Journal() *journal.Journal { return e.first.Journal() }

// Store returns the emulated cloud's state.
func (e *Emulator) Store() *state.Store { return e.first.Store() }

// StartPackets lets the listeners of load balancers answer, if there is a data plane. Start calls
// it; programs that serve the handlers themselves call it on their own.
func (e *Emulator) StartPackets() { e.first.StartPackets() }

func (e *Emulator) serverConfig(name, address string, connections *listen.Places) listen.ServerConfig {
	return listen.ServerConfig{Name: name, Address: address, Connections: connections, Log: e.cfg.Log}
}

// process is the emulator as its clouds know it.
type process struct{ e *Emulator }

var _ clouds.Process = process{}

// Listen implements clouds.Process.
func (p process) Listen(name, port string, connections *listen.Places) (*listen.Server, error) {
	address := net.JoinHostPort(cmp.Or(listen.HostOf(p.e.cfg.Listen), "127.0.0.1"), port)
	cfg := p.e.serverConfig(name, address, connections)
	cfg.TLS, cfg.Proxy, cfg.Mark = p.e.cfg.TLS, p.e.cfg.Proxy, listen.ForksMark()
	return listen.NewServer(p.e.first.Life(), cfg)
}

// APIURL implements clouds.Process.
func (p process) APIURL() string {
	if len(p.e.servers) == 0 {
		return ""
	}
	return p.e.servers[0].URL()
}

// Describe implements clouds.Process.
func (p process) Describe(described *controlapi.Server) {
	described.Auth = controlapi.AuthOff
	if p.e.cfg.StrictAuth {
		described.Auth = controlapi.AuthStrict
	}
	if p.e.cfg.TLS != nil && described.API != "" {
		described.Certificate = listen.CertificateOf(p.e.cfg.TLS)
	}
	if described.API != "" {
		described.CAFile, described.Proxy = p.e.cfg.CAFile, p.e.cfg.Proxy != nil
	}
	if p.e.replica != nil {
		described.Replicas = p.e.replica.Status()
	}
}

// Ready implements clouds.Process.
func (p process) Ready() error {
	if p.e.replica != nil {
		return p.e.replica.Ready()
	}
	return nil
}

// Close stops accepting calls, finishes those in flight until ctx ends, and closes
// all clouds.
func (e *Emulator) Close(ctx context.Context) error {
	e.first.Stop()
	var errs []error
	for i, s := range e.servers {
		if i > 0 {
			// All calls are in the journal. Its streams have no end of their own.
			errs = append(errs, e.first.Journal().Close())
		}
		errs = append(errs, s.Shutdown(ctx))
	}
	return errors.Join(append(errs, e.clouds.Close(ctx), e.first.Close(ctx))...)
}
