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
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/trace"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/clouds"
	"github.com/clbemu/clbemu/emulator/internal/listen"
	"github.com/clbemu/clbemu/emulator/internal/pull"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/scenarios"
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
	NoPackets DataPlane = cloud.NoPackets
	// Ports answers for each listener at a port of 127.0.0.1.
	Ports DataPlane = cloud.AtPorts
	// Addresses answers at the addresses and ports of load balancers, on Linux with the
	// right NET_ADMIN.
	Addresses DataPlane = cloud.AtAddresses
)

// DataPlanes lists all of them.
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
	// ForkOf, if set, is the store of another emulator: a fork of it, in memory, is served
	// in place of what Storage, Engine and DataDir name. Ids go on from the other's.
	ForkOf *state.Store
	// Schema declares what the store holds. If nil, it is the cloud's schema. more are served
	// behind the cloud's own products. Together they serve to try out a product that the cloud does
	// not have here.
	Schema *state.Schema
	more   []func(products.Deps) *products.Product
	// World is planted into an empty store, and again by a reset. Nil is the
	// default world.
	World *world.World
	// Faults lists the rules in force before the first call. A rule that the state holds in the
	// same words keeps its counters; a fork has the rules of its origin.
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
	// Clock is the emulated time. If nil, it is the machine's.
	Clock state.Clock
	// Seed makes ids and RequestIds repeatable; 0 takes a random one.
	Seed uint64
	Log  zerolog.Logger
	// Journal limits the record of calls; its Log is the one above.
	Journal journal.Config
	// Apart plays scenarios for clients of the control API that want an emulator of their own for
	// them, such as private.Player. If nil, those are refused.
	Apart interface {
		Load(name string, text []byte) (*scenarios.Scenario, error)
		Play(ctx context.Context, s *scenarios.Scenario, progress func(scenarios.StepDone)) scenarios.Result
	}
	// Tracer gets a span for each call of the cloud's API, which continues the caller's trace (W3C
	// traceparent). If nil, there are no spans.
	Tracer trace.Tracer

	// Listen and ControlListen are host:port for Start.
	Listen        string
	ControlListen string
	// DNSListen is host:port for the names of Network Load Balancers. If empty, no DNS server
	// answers.
	DNSListen string
	// TLS serves the API by HTTPS. If nil, the API is served by HTTP.
	TLS *tls.Config
	// Proxy lets clients that have no setting for endpoints use the API's listener as
	// their HTTP proxy: calls of the cloud's hosts arrive here, with this certificate, and
	// all others are refused. Nil lets none.
	Proxy *tls.Config
	// Around, if set, returns what answers at the API's listener in place of the API, which it gets.
	Around func(http.Handler) http.Handler
	// CAFile is the file with the certificate of the authority of TLS and Proxy, which the control
	// API reports, or empty.
	CAFile string
	// ControlToken must come with every call of the control API. A control
	// listener that other machines reach does not start without one.
	ControlToken string
	// DataPlane defaults to NoPackets.
	DataPlane DataPlane
	// DataPlaneInterface is the network interface that gets the addresses of load balancers, if
	// DataPlane is Addresses. If empty, it is lo.
	DataPlaneInterface string
	// Transparent lists the blocks of clients whose addresses servers of TCP and UDP
	// listeners see, on Linux with the right NET_ADMIN. Servers see this machine's for others.
	Transparent []netip.Prefix
	// MaxListeners limits the listeners for which the data plane answers. If it is 0, the limit is
	// 1,000.
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

// Replica makes an emulator one of several that share their state. One of them leads:
// it alone writes, answers packets, and has forked clouds, the journal, snapshots,
// running scenarios and throttling. The others pass calls on to it, and take over.
type Replica struct {
	// State is their common state.
	State engine.Elected
	// Name is its own among them; API and Control are the URLs by which they reach it.
	// Empty ones follow from the addresses that it listens on.
	Name, API, Control string
	// ReadLocally lets it answer reads while it follows, with what it knows by then.
	ReadLocally bool
}

// sharedClock is the clock that all replicas go by.
type sharedClock struct {
	state.Clock
	shared engine.Elected
}

var _ state.Clock = sharedClock{}

// Now implements state.Clock.
func (c sharedClock) Now() time.Time { return c.Clock.Now().Add(c.shared.Ahead()) }

// Listen opens a TCP socket to which no load balancer of this process connects, whatever
// its members say. Errors name it, such as "debug listener".
func Listen(name, address string) (net.Listener, error) { return listen.TCP(name, address) }

// CAFile is the file with the certificate of the authority of GenerateTLS.
const CAFile = listen.CAFile

// GenerateTLS returns a server certificate for the hosts, names or addresses.
// It is kept in dir, with the certificate of its authority in CAFile for
// clients to trust. The authority's key is thrown away, so that trusting it is
// trusting this one certificate.
func GenerateTLS(dir string, hosts []string) (*tls.Config, error) {
	return listen.GenerateTLS(dir, hosts)
}

// LoadTLS returns a configuration with the certificate of the two PEM files.
func LoadTLS(certFile, keyFile string) (*tls.Config, error) { return listen.LoadTLS(certFile, keyFile) }

// cloud returns what of the configuration is the first cloud's.
func (cfg *Config) cloud() cloud.Config {
	return cloud.Config{
		Schema: cfg.Schema, More: cfg.more, World: cfg.World, Faults: cfg.Faults, StrictAuth: cfg.StrictAuth,
		Host: listen.HostOf(cfg.Listen), AllowedHosts: cfg.AllowedHosts, AutoENI: cfg.AutoENI, InstanceID: cfg.InstanceID,
		Clock: cfg.Clock, Seed: cfg.Seed, Log: cfg.Log, Journal: cfg.Journal, Tracer: cfg.Tracer, Dir: cfg.stateDir(),
		Packets: cloud.Packets{At: string(cfg.DataPlane), Interface: cfg.DataPlaneInterface, Transparent: cfg.Transparent,
			MaxListeners: cfg.MaxListeners, AccessLog: cfg.AccessLog, Direct: cfg.DirectBackends},
		DNSListen: cfg.DNSListen, ControlToken: cfg.ControlToken, ControlHost: listen.HostOf(cfg.ControlListen),
		Version: cfg.Version, Crash: cfg.Crash, Apart: cfg.Apart,
	}
}

// forkOf returns the configuration of the clouds forked from one: they leave
// nothing behind, and answer packets and DNS at ports of their own, as the addresses are
// the first one's.
func forkOf(cfg cloud.Config) cloud.Config {
	cfg.Dir, cfg.Journal.File = "", ""
	if cfg.Packets.At != "" && cfg.Packets.At != cloud.NoPackets {
		cfg.Packets.At, cfg.Packets.Transparent = cloud.AtPorts, nil
	}
	if cfg.DNSListen != "" {
		cfg.DNSListen = net.JoinHostPort(cmp.Or(listen.HostOf(cfg.DNSListen), "127.0.0.1"), "0")
	}
	return cfg
}

// keeper returns the store of durable clouds, or nil if there is none.
func (cfg *Config) keeper() clouds.Keeper {
	switch {
	case cfg.Replica != nil:
		return clouds.Branches(cfg.Replica.State)
	case cfg.stateDir() != "":
		return clouds.Folders(cfg.stateDir())
	}
	return nil
}

// CloudDir returns the folder of a durable cloud in a data folder.
func CloudDir(dataDir, name string) string { return clouds.Dir(dataDir, name) }

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
		if err := pull.Unfinished(cfg.DataDir); err != nil {
			return nil, err
		}
		return bolt.Open(cfg.DataDir)
	default:
		return nil, fmt.Errorf("unknown engine %q: choose %s or %s", kind, Bolt, Memory)
	}
}

// fork returns a copy in memory of the state in a folder, which it only reads.
func fork(ctx context.Context, dir string) (engine.Engine, error) {
	if err := pull.Unfinished(dir); err != nil {
		return nil, err
	}
	kept, err := bolt.OpenReadOnly(dir)
	if err != nil {
		return nil, err
	}
	copied := &memory.Engine{}
	return copied, errors.Join(engine.CopyTo(ctx, kept, copied), kept.Close())
}

// stateDir returns the folder of the state, or "" if it is in memory, or shared with others.
func (cfg *Config) stateDir() string {
	if cfg.Engine == Memory || cfg.Fork != "" || cfg.ForkOf != nil || cfg.Replica != nil {
		return ""
	}
	return cfg.DataDir
}
