// Package emulator assembles the parts in one process: the store with its world, the
// gateway with its products, the metadata service and the control API, on two
// listeners. It owns no behaviour of the cloud.
package emulator

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/trace"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/clouds"
	"github.com/clbemu/clbemu/emulator/internal/listen"
	"github.com/clbemu/clbemu/emulator/internal/onecloud"
	"github.com/clbemu/clbemu/emulator/internal/replicas"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/bolt"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// EngineName names a storage engine.
type EngineName string

// The engines.
const (
	// Bolt keeps the state in a file of the data folder.
	Bolt EngineName = "bbolt"
	// Memory forgets everything when the emulator closes.
	Memory EngineName = "memory"
)

// DataPlane chooses where load balancers answer packets.
type DataPlane string

// The data planes.
const (
	// NoPackets has none: load balancers have addresses that do not answer.
	NoPackets DataPlane = onecloud.NoPackets
	// Ports answers for each listener at a port of 127.0.0.1.
	Ports DataPlane = onecloud.AtPorts
	// Addresses answers at the addresses and ports of load balancers, on Linux with the
	// right NET_ADMIN.
	Addresses DataPlane = onecloud.AtAddresses
)

// DataPlanes are all of them.
var DataPlanes = []DataPlane{NoPackets, Ports, Addresses}

// Config configures an Emulator. Its zero value is an emulator in memory, with the
// default world, that accepts unsigned calls.
type Config struct {
	// Storage, if set, keeps the state in place of what Engine and DataDir name.
	// Close closes it.
	Storage engine.Engine
	// Engine defaults to Bolt when there is a DataDir, and to Memory otherwise.
	Engine  EngineName
	DataDir string
	// Replica, if set, makes this emulator one of several that share the state, in place
	// of Storage, Engine and DataDir. Close closes the state.
	Replica *Replica
	// Fork, if set, is the folder of a stopped emulator: a copy of its state, in
	// memory, is served and thrown away in the end.
	Fork string
	// Schema declares what the store holds; nil is the cloud's schema. more are served
	// behind the cloud's own products. Together they serve to try out a product that the
	// cloud does not have here.
	Schema *state.Schema
	more   []func(products.Deps) *products.Product
	// World is planted into an empty store, and again by a reset. Nil is the
	// default world.
	World *world.World
	// Faults are rules that are in force before the first call. A rule that the state
	// holds in the same words goes on with its counters; a fork has those of its origin.
	Faults []faults.Rule
	// StrictAuth verifies signatures.
	StrictAuth bool
	// AllowedHosts are further host names that clients may use to call the API;
	// *.example matches every name that ends in .example.
	AllowedHosts []string
	// UnsignedRemote allows the API to serve other machines without StrictAuth.
	UnsignedRemote bool
	// AutoENI lists the blocks of pods' addresses: a lookup of such an address creates
	// its network interface.
	AutoENI []netip.Prefix
	// InstanceID selects the instance of the metadata service; empty takes the first running one.
	InstanceID string
	// Clock is the emulated time; nil is the machine's.
	Clock state.Clock
	// Seed makes ids and RequestIds repeatable; 0 takes a random one.
	Seed uint64
	Log  zerolog.Logger
	// Journal limits the record of calls; its Log is the one above.
	Journal journal.Config
	// Tracer gets a span for each call of the cloud's API, which continues the caller's
	// trace (W3C traceparent); nil makes none.
	Tracer trace.Tracer

	// Listen and ControlListen are host:port for Start.
	Listen        string
	ControlListen string
	// DNSListen is host:port for the names of Network Load Balancers; empty is none.
	DNSListen string
	// TLS serves the API by HTTPS; nil is HTTP.
	TLS *tls.Config
	// Proxy lets clients that have no setting for endpoints use the API's listener as
	// their HTTP proxy: calls of the cloud's hosts arrive here, with this certificate, and
	// all others are refused. Nil lets none.
	Proxy *tls.Config
	// CAFile is the file with the certificate of the authority of TLS and Proxy, which
	// the control API reports; empty is none.
	CAFile string
	// ControlToken must come with every call of the control API. A control
	// listener that other machines reach does not start without one.
	ControlToken string
	// DataPlane defaults to NoPackets.
	DataPlane DataPlane
	// DataPlaneInterface is the network interface that gets the addresses of load
	// balancers, if DataPlane is Addresses; empty is lo.
	DataPlaneInterface string
	// Transparent lists the blocks of clients whose addresses servers of TCP and UDP
	// listeners see, on Linux with the right NET_ADMIN. Servers see this machine's for others.
	Transparent []netip.Prefix
	// MaxListeners limits how many listeners the data plane answers for; 0 is 1,000.
	MaxListeners int
	// AccessLog lets the journal have an entry for each connection, UDP session and HTTP
	// request that the data plane forwards.
	AccessLog bool
	// DirectBackends lists the blocks of addresses at which this machine reaches
	// servers directly, such as a kind cluster's.
	DirectBackends []netip.Prefix
	// Version is the version that the control API reports.
	Version controlapi.Version
	// Crash, if set, runs instead of ending the process when a fault rule crashes it.
	Crash func()
}

// Emulator is a running process: a cloud, the clouds forked from it, and the
// listeners where clients reach them.
type Emulator struct {
	cfg     Config // as given
	cloud   onecloud.Config
	first   *onecloud.Cloud // the cloud that is there from the start
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
	if e.first, err = onecloud.New(e.cloud, store, e.clouds); err != nil {
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

// cloud returns what of the configuration is the first cloud's.
func (cfg *Config) cloud() onecloud.Config {
	return onecloud.Config{
		Schema: cfg.Schema, More: cfg.more, World: cfg.World, Faults: cfg.Faults, StrictAuth: cfg.StrictAuth,
		Host: listen.HostOf(cfg.Listen), AllowedHosts: cfg.AllowedHosts, AutoENI: cfg.AutoENI, InstanceID: cfg.InstanceID,
		Clock: cfg.Clock, Seed: cfg.Seed, Log: cfg.Log, Journal: cfg.Journal, Tracer: cfg.Tracer, Dir: cfg.stateDir(),
		Packets: onecloud.Packets{At: string(cfg.DataPlane), Interface: cfg.DataPlaneInterface, Transparent: cfg.Transparent,
			MaxListeners: cfg.MaxListeners, AccessLog: cfg.AccessLog, Direct: cfg.DirectBackends},
		DNSListen: cfg.DNSListen, ControlToken: cfg.ControlToken, ControlHost: listen.HostOf(cfg.ControlListen),
		Version: cfg.Version, Crash: cfg.Crash,
	}
}

// forkOf returns the configuration of the clouds forked from one: they leave
// nothing behind, and answer packets and DNS at ports of their own, as the addresses are
// the first one's.
func forkOf(cfg onecloud.Config) onecloud.Config {
	cfg.Dir, cfg.Journal.File = "", ""
	if cfg.Packets.At != "" && cfg.Packets.At != onecloud.NoPackets {
		cfg.Packets.At, cfg.Packets.Transparent = onecloud.AtPorts, nil
	}
	if cfg.DNSListen != "" {
		cfg.DNSListen = net.JoinHostPort(cmp.Or(listen.HostOf(cfg.DNSListen), "127.0.0.1"), "0")
	}
	return cfg
}

// keeper returns the store of durable clouds, nil if there is none.
func (cfg *Config) keeper() clouds.Keeper {
	switch {
	case cfg.Replica != nil:
		return clouds.Branches(cfg.Replica.State)
	case cfg.stateDir() != "":
		return clouds.Folders(cfg.stateDir())
	}
	return nil
}

// CloudDir is the folder of a durable cloud in a data folder.
func CloudDir(dataDir, name string) string { return clouds.Dir(dataDir, name) }

// open opens the store and gives it a world; a follower gets its world from the leader.
func (e *Emulator) open(ctx context.Context) (*state.Store, error) {
	if e.cfg.Replica != nil {
		e.cloud.Clock = sharedClock{cmp.Or(e.cfg.Clock, state.Clock(&state.SystemClock{})), e.cfg.Replica.State}
		return state.Follow(ctx, e.cloud.StoreOn(nil), e.cfg.Replica.State)
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

func openEngine(ctx context.Context, cfg Config) (engine.Engine, error) {
	if cfg.Storage != nil {
		return cfg.Storage, nil
	}
	if cfg.Fork != "" {
		return fork(ctx, cfg.Fork)
	}
	kind := cfg.Engine
	if kind == "" && cfg.DataDir == "" {
		kind = Memory
	}
	switch kind {
	case Memory:
		return &memory.Engine{}, nil
	case Bolt, "":
		if cfg.DataDir == "" {
			return nil, fmt.Errorf("engine %s needs a data folder", Bolt)
		}
		return bolt.Open(cfg.DataDir)
	default:
		return nil, fmt.Errorf("unknown engine %q: choose %s or %s", kind, Bolt, Memory)
	}
}

// fork is a copy in memory of the state in a folder, which is only read.
func fork(ctx context.Context, dir string) (engine.Engine, error) {
	kept, err := bolt.OpenReadOnly(dir)
	if err != nil {
		return nil, err
	}
	copied := &memory.Engine{}
	return copied, errors.Join(engine.CopyTo(ctx, kept, copied), kept.Close())
}

// stateDir is the folder of the state, "" when it is in memory, or shared
// with others.
func (cfg *Config) stateDir() string {
	if cfg.Engine == Memory || cfg.Fork != "" || cfg.Replica != nil {
		return ""
	}
	return cfg.DataDir
}

// Handler serves the cloud's API, and the metadata service under /latest/: for the cloud
// that the host of a call names, such as NAME.localhost.
func (e *Emulator) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		chosen, leave := e.clouds.ByHost(r.Host)
		defer leave()
		if chosen == e.first {
			chosen.API().ServeHTTP(w, r)
			return
		}
		chosen.During(r, func(r *http.Request) { chosen.API().ServeHTTP(w, r) })
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

// Store is the emulated cloud's state.
func (e *Emulator) Store() *state.Store { return e.first.Store() }

// StartPackets lets the listeners of load balancers answer, if there is a data plane.
// Start does it too; it is for those who serve the handlers themselves.
func (e *Emulator) StartPackets() { e.first.StartPackets() }
