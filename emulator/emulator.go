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
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/control"
	"github.com/clbemu/clbemu/emulator/internal/dataplane"
	"github.com/clbemu/clbemu/emulator/internal/dns"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/metadata"
	"github.com/clbemu/clbemu/emulator/internal/metrics"
	"github.com/clbemu/clbemu/emulator/internal/rules"
	"github.com/clbemu/clbemu/emulator/internal/snapshots"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/emulator/inventory"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/emulator/target"
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
	// StrictAuth verifies signatures.
	StrictAuth bool
	// AllowedHosts are names by which clients may call the API, beside those that
	// they may in any case; *.example stands for all that end in .example.
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
	// Transparent lets servers of TCP and UDP listeners see the addresses of clients, on
	// Linux with the right NET_ADMIN.
	Transparent bool
	// MaxListeners limits how many listeners the data plane answers for; 0 is 1,000.
	MaxListeners int
	// AccessLog lets the journal have an entry for each connection, UDP session and HTTP
	// request that the data plane forwards.
	AccessLog bool
	// DirectBackends lists the blocks of addresses at which this machine reaches
	// servers directly, such as those of a kind cluster.
	DirectBackends []netip.Prefix
	// Version is the version that the control API reports.
	Version controlapi.Version
	// Crash, if set, is called instead of ending the process when a fault rule crashes it.
	Crash func()
}

// Emulator is a running cloud.
type Emulator struct {
	cfg      Config
	store    *state.Store
	faults   *rules.Rules
	journal  *journal.Journal
	nonces   *gateway.Nonces
	api      http.Handler
	control  func() http.Handler // made for the first who asks
	products []*gateway.Product
	closing  atomic.Bool
	life     context.Context // until Close
	end      context.CancelFunc
	tasks    sync.WaitGroup   // what goes on until then
	plane    *dataplane.Plane // nil without packets
	servers  []*server        // the API's and the control API's, once started
	dns      *dns.Server      // nil unless it is asked for
	failed   chan error       // one place for each listener
}

// New opens the store, plants the world if it is empty, and builds the
// handlers. It does not listen: Start does, and Handler serves without.
func New(ctx context.Context, cfg Config) (*Emulator, error) {
	e, err := openEngine(ctx, cfg)
	if err != nil {
		return nil, err
	}
	store, err := state.Open(ctx, state.Config{
		Schema: cmp.Or(cfg.Schema, cloud.Schema), Engine: e, Clock: cfg.Clock, Seed: cfg.Seed, Requires: rules.Requires,
		Warn: func(what string) { cfg.Log.Warn().Msg(what) },
	})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(plantIfEmpty(store, cfg), warnOfInstance(store, cfg)); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	cfg.Journal.Log = cfg.Log
	journal, err := journal.New(cfg.Journal)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	injector := &faults.Injector{}
	plane, err := cfg.newPlane(store, injector, journal)
	if err != nil {
		return nil, errors.Join(err, journal.Close(), store.Close())
	}
	if plane != nil && cfg.Health == nil {
		cfg.Health = plane
	}
	products := cfg.products()
	faults := rules.New(store, products, injector)
	for _, skipped := range faults.Skipped() {
		cfg.Log.Warn().Msg(skipped.String())
	}
	// A copy and a state in memory leave nothing behind, so neither do theirs.
	snapshots := snapshots.New(cfg.stateDir())
	if err := snapshots.CleanUp(); err != nil {
		return nil, errors.Join(fmt.Errorf("clean up the snapshots: %w", err), journal.Close(), store.Close())
	}
	nonces, err := cfg.openNonces()
	if err != nil {
		return nil, errors.Join(err, journal.Close(), store.Close())
	}
	em := &Emulator{cfg: cfg, store: store, products: products, faults: faults, journal: journal, nonces: nonces, plane: plane, failed: make(chan error, 4)}
	em.life, em.end = context.WithCancel(context.Background())
	em.build(products, snapshots)
	return em, nil
}

// noncesFile is the file of the nonces in the data folder.
const noncesFile = "nonces"

func (cfg *Config) openNonces() (*gateway.Nonces, error) {
	if cfg.stateDir() == "" {
		return &gateway.Nonces{}, nil
	}
	return gateway.OpenNonces(filepath.Join(cfg.stateDir(), noncesFile), time.Now())
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

// stateDir is the folder that the state is kept in, "" when it is in memory.
func (cfg *Config) stateDir() string {
	if cfg.Engine == Memory || cfg.Fork != "" {
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
		cfg.Log.Warn().Msgf("there is no instance %s to serve the metadata of%s", cfg.InstanceID, names.DidYouMean(cfg.InstanceID, known, "clbemu world import makes those of a cluster"))
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

func (e *Emulator) build(products []*gateway.Product, snapshots *snapshots.Snapshots) {
	metrics := metrics.New(e.store, products)
	callers := e.cfg.newCallers()
	api := gateway.NewServer(gateway.Config{
		Store:      e.store,
		Caller:     callers.refuse,
		Products:   products,
		Elsewhere:  elsewhere,
		StrictAuth: e.cfg.StrictAuth,
		Nonces:     e.nonces,
		Seed:       e.cfg.Seed,
		Log:        e.cfg.Log,
		Observe:    e.observe(metrics),
		Faults:     e.faults.Injector,
		Crash:      e.crash,
	})
	calls := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.faults.Follow()
		api.ServeHTTP(w, r)
	})
	e.api = serveAPI(calls, metadata.New(metadata.Config{
		Store:      e.store,
		InstanceID: e.cfg.InstanceID,
		Log:        e.cfg.Log,
		Seed:       e.cfg.Seed,
	}), callers)
	player := &target.Player{API: e.api, Control: e.ControlHandler(), Token: e.cfg.ControlToken, Store: e.store, Products: products}
	var packets inventory.Packets
	if e.plane != nil {
		metrics.Add(e.plane)
		packets = e.plane
	}
	config := control.Config{
		Packets:   packets,
		Store:     e.store,
		Products:  products,
		Plant:     e.cfg.plant,
		Metrics:   metrics,
		Faults:    e.faults,
		Journal:   e.journal,
		Player:    player,
		Call:      e.consoleCall,
		Go:        func(task func(context.Context)) { e.tasks.Go(func() { task(e.life) }) },
		Snapshots: snapshots,
		Health:    e.cfg.Health,
		Ready:     func() bool { return !e.closing.Load() },
		Token:     e.cfg.ControlToken,
		Host:      hostOf(e.cfg.ControlListen),
		Version:   e.cfg.Version,
		Server:    e.describe,
		Log:       e.cfg.Log,
	}
	e.control = sync.OnceValue(func() http.Handler { return control.New(config) })
}

// describe returns how clients of the cloud find the APIs that were started.
func (e *Emulator) describe() controlapi.Server {
	described := controlapi.Server{Auth: controlapi.AuthOff, DataDir: e.cfg.absoluteDir()}
	if e.cfg.StrictAuth {
		described.Auth = controlapi.AuthStrict
	}
	if len(e.servers) == 0 {
		return described
	}
	api := url.URL{Scheme: "http", Host: e.Addr()}
	if e.cfg.TLS != nil {
		api.Scheme, described.Certificate = "https", certificateOf(e.cfg.TLS)
	}
	described.API = api.String()
	return described
}

func (e *Emulator) serveControl(w http.ResponseWriter, r *http.Request) { e.control().ServeHTTP(w, r) }

// serveAPI gives the metadata service its paths and the API all others. It
// is no http.ServeMux, which would redirect a path that it finds untidy, and
// with that lose a POST.
func serveAPI(api, metadata http.Handler, callers callers) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/latest/") {
			api.ServeHTTP(w, r)
			return
		}
		if err := callers.refuse(r); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		metadata.ServeHTTP(w, r)
	})
}

// crash ends the process as a power failure would: without a flush or a
// notice.
func (e *Emulator) crash() {
	if e.cfg.Crash != nil {
		e.cfg.Crash()
		return
	}
	process, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		os.Exit(137)
	}
	select {} // the end is on its way
}

// Faults are the fault rules.
func (e *Emulator) Faults() *rules.Rules { return e.faults }

// Journal returns the journal of calls and changes.
func (e *Emulator) Journal() *journal.Journal { return e.journal }

// Store is the emulated cloud's state.
func (e *Emulator) Store() *state.Store { return e.store }

// Handler serves the cloud's API, and the metadata service under /latest/.
func (e *Emulator) Handler() http.Handler { return e.api }

// ControlHandler serves the control API.
func (e *Emulator) ControlHandler() http.Handler { return http.HandlerFunc(e.serveControl) }
