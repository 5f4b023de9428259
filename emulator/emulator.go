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
	"net/http"
	"net/netip"
	"path/filepath"

	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/dns"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/replicas"
	"github.com/clbemu/clbemu/emulator/internal/rules"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/names"
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
	// Memory forgets everything when the emulator is closed.
	Memory EngineName = "memory"
)

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
	// Schema declares what the store holds; nil is the cloud's schema. Products are
	// served beside the cloud's own. Together they serve to try out a product that the
	// cloud does not have here.
	Schema   *state.Schema
	Products []func(gateway.Deps) *gateway.Product
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
	// UnsignedRemote lets the API be served to other machines without StrictAuth.
	UnsignedRemote bool
	// AutoENI lists the blocks of pods' addresses: a lookup of such an address creates
	// its network interface.
	AutoENI []netip.Prefix
	// InstanceID is whose metadata are served; empty takes the first running one.
	InstanceID string
	// Clock is the emulated time; nil is the machine's.
	Clock state.Clock
	// Seed makes ids and RequestIds repeatable; 0 takes a random one.
	Seed uint64
	Log  zerolog.Logger
	// Journal limits what is remembered of calls; its Log is the one above.
	Journal journal.Config

	// Listen and ControlListen are host:port for Start.
	Listen        string
	ControlListen string
	// DNSListen is host:port for the names of Network Load Balancers; empty is none.
	DNSListen string
	// TLS serves the API by HTTPS; nil is HTTP.
	TLS *tls.Config
	// ControlToken must come with every call of the control API. A control
	// listener that other machines reach does not start without one.
	ControlToken string
	// Health knows what health checks find of servers; nil leaves that to the data plane,
	// or assumes it by the state where there is none.
	Health topology.Health
	// DataPlane is NoPackets unless it is set.
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
	// Crash, if set, is called instead of ending the process when a fault rule crashes it.
	Crash func()
}

// Emulator is a running process: a cloud, the clouds that were forked from it, and the
// listeners where clients reach them.
type Emulator struct {
	*emulated // the cloud that is there from the start

	base    Config // as it was given
	clouds  *clouds
	api     http.Handler      // of all clouds
	servers []*server         // the API's and the control API's, once started
	dns     *dns.Server       // nil unless it is asked for
	replica *replicas.Replica // nil unless others share the state
	failed  chan error        // one place for each listener
}

// New opens the store, plants the world if it is empty, and builds the
// handlers. It does not listen: Start does, and Handler serves without.
func New(ctx context.Context, cfg Config) (*Emulator, error) {
	store, err := cfg.open(ctx)
	if err != nil {
		return nil, err
	}
	e := &Emulator{base: cfg, failed: make(chan error, 4)}
	e.clouds = newClouds(e)
	if e.emulated, err = newEmulated(cfg, "", store, e.clouds); err != nil {
		return nil, err
	}
	e.metrics.Add(e.clouds)
	e.api = http.HandlerFunc(e.serveAPI)
	if cfg.Replica == nil { // else the leader has them
		if err := errors.Join(e.faults.Begin(), e.clouds.reopen(ctx)); err != nil {
			return nil, errors.Join(err, e.Close(ctx))
		}
	}
	return e, nil
}

// open opens the store and gives it a world; a follower gets its world from the leader.
func (cfg *Config) open(ctx context.Context) (*state.Store, error) {
	if cfg.Replica != nil {
		cfg.Clock = sharedClock{cmp.Or(cfg.Clock, state.Clock(&state.SystemClock{})), cfg.Replica.State}
		return state.Follow(ctx, cfg.storeOn(nil), cfg.Replica.State)
	}
	engine, err := openEngine(ctx, *cfg)
	if err != nil {
		return nil, err
	}
	store, err := cfg.openStore(ctx, engine)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(plantIfEmpty(store, *cfg), warnOfInstance(store, *cfg)); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

func (cfg *Config) openStore(ctx context.Context, e engine.Engine) (*state.Store, error) {
	return state.Open(ctx, cfg.storeOn(e))
}

func (cfg *Config) storeOn(e engine.Engine) state.Config {
	return state.Config{
		Schema: cmp.Or(cfg.Schema, cloud.Schema), Engine: e, Clock: cfg.Clock, Seed: cfg.Seed, Requires: rules.Requires,
		Warn: cfg.warn,
	}
}

func (cfg Config) warn(what string) { cfg.Log.Warn().Msg(what) }

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

// stateDir is the folder that the state is kept in, "" when it is in memory, or shared
// with others.
func (cfg *Config) stateDir() string {
	if cfg.Engine == Memory || cfg.Fork != "" || cfg.Replica != nil {
		return ""
	}
	return cfg.DataDir
}

// absoluteDir is the same as a path for others.
func (cfg *Config) absoluteDir() string {
	dir := cfg.stateDir()
	if absolute, err := filepath.Abs(dir); dir != "" && err == nil {
		return absolute
	}
	return dir
}

// plantIfEmpty gives a new store its world. One that has a world keeps it.
func plantIfEmpty(store *state.Store, cfg Config) error {
	return store.Update(state.Owner{}, func(tx *state.Tx) error {
		if tx.Empty() {
			return cfg.plant(tx)
		}
		if cfg.World != nil {
			cfg.Log.Warn().Msg("the store has a world already and keeps it: a reset of the state plants the one that was given")
		}
		return nil
	})
}

// warnOfInstance warns when the instance whose metadata are to be served does not
// exist. An import may still create it.
func warnOfInstance(store *state.Store, cfg Config) error {
	if cfg.InstanceID == "" {
		return nil
	}
	return store.View(state.Owner{}, func(v *state.View) error {
		if _, ok := cloud.Instances.Find(v, cfg.InstanceID); ok {
			return nil
		}
		var known []string
		for instance := range cloud.Instances.All(v) {
			known = append(known, instance.ID)
		}
		cfg.Log.Warn().Msgf("there is no instance %s to serve the metadata of%s", cfg.InstanceID, names.DidYouMean(cfg.InstanceID, known, "clbemu world import creates a cluster's instances"))
		return nil
	})
}

// plant puts the world into an empty store.
func (cfg *Config) plant(tx *state.Tx) error {
	if cfg.World != nil {
		return cfg.World.Plant(tx)
	}
	return world.Default().Plant(tx)
}

// serveAPI answers for the cloud that the host of a call names, such as NAME.localhost.
func (e *Emulator) serveAPI(w http.ResponseWriter, r *http.Request) {
	chosen, leave := e.clouds.byHost(r.Host)
	defer leave()
	if chosen == e.emulated {
		chosen.api.ServeHTTP(w, r)
		return
	}
	chosen.during(r, func(r *http.Request) { chosen.api.ServeHTTP(w, r) })
}

// Handler serves the cloud's API, and the metadata service under /latest/.
func (e *Emulator) Handler() http.Handler { return e.api }

// ControlHandler serves the control API.
func (e *Emulator) ControlHandler() http.Handler { return http.HandlerFunc(e.serveControl) }
