package cloud

import (
	"cmp"
	"context"
	"net/netip"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/trace"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/resources"
	"github.com/clbemu/clbemu/emulator/internal/rules"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine"
)

// Config configures a Cloud.
type Config struct {
	// Name is "" for the cloud that is there from the start.
	Name string
	// Schema declares what the store holds. If nil, it is the cloud's schema. More lists products
	// to serve next to the cloud's own.
	Schema *state.Schema
	More   []func(products.Deps) *products.Product
	// Products, if set, replaces those, for clouds that share their products.
	Products []*products.Product
	// World is planted into an empty store, and again by a reset. Nil is the default world.
	World *world.World
	// Faults are rules that are in force before the first call.
	Faults []faults.Rule
	// StrictAuth verifies signatures.
	StrictAuth bool
	// Host is the host of the API's listener. AllowedHosts lists further names by which clients may
	// call it.
	Host         string
	AllowedHosts []string
	// AutoENI lists the blocks of pods' addresses: a lookup of such an address creates its
	// network interface.
	AutoENI []netip.Prefix
	// InstanceID names the instance whose metadata the cloud serves. If it is empty, that is the
	// first running one.
	InstanceID string
	// Clock is the emulated time. If nil, it is the machine's.
	Clock state.Clock
	// Seed makes ids and RequestIds repeatable; 0 takes a random one.
	Seed    uint64
	Log     zerolog.Logger
	Journal journal.Config
	// Apart plays scenarios on emulators of their own. If nil, none are played.
	Apart control.Player
	// Tracer gets a span for each call. If nil, there are no spans.
	Tracer trace.Tracer
	// Dir is the folder for snapshots and ports, which the state does not hold. It is "" if the
	// state leaves nothing behind.
	Dir     string
	Packets Packets
	// DNSListen is host:port for the names of Network Load Balancers. If empty, no DNS server
	// answers.
	DNSListen string
	// ControlToken must come with every call of the control API, which listens at
	// ControlHost.
	ControlToken string
	ControlHost  string
	Version      controlapi.Version
	// Crash, if set, is called instead of ending the process when a fault rule crashes it.
	Crash func()
}

// serves lists the products of a cloud of the configuration.
func (cfg *Config) serves() []*products.Product {
	if cfg.Products != nil {
		return cfg.Products
	}
	deps := products.Deps{}
	if len(cfg.AutoENI) > 0 {
		deps.MakeNetworkInterface = resources.PodBlocks(cfg.AutoENI).MakeNetworkInterface
	}
	return products.With(deps, cfg.More...)
}

// OpenStore opens the store of a cloud.
func (cfg *Config) OpenStore(ctx context.Context, e engine.Engine) (*state.Store, error) {
	return state.Open(ctx, cfg.StoreOn(e))
}

// StoreOn returns the configuration of the store of a cloud.
func (cfg *Config) StoreOn(e engine.Engine) state.Config {
	return state.Config{
		Schema: cmp.Or(cfg.Schema, kinds.Schema), Engine: e, Clock: cfg.Clock, Seed: cfg.Seed, Requires: rules.Requires,
		Warn: cfg.Warn,
	}
}

// Warn logs what the store mends or skips.
func (cfg *Config) Warn(what string) { cfg.Log.Warn().Msg(what) }

// PlantIfEmpty gives a new store its world. One that has a world keeps it.
func (cfg *Config) PlantIfEmpty(store *state.Store) error {
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

// WarnOfInstance warns when the instance whose metadata are to be served does not
// exist. An import may still create it.
func (cfg *Config) WarnOfInstance(store *state.Store) error {
	if cfg.InstanceID == "" {
		return nil
	}
	v := store.View(state.Owner{})
	if _, ok := kinds.Instances.Find(v, cfg.InstanceID); ok {
		return nil
	}
	var known []string
	for instance := range kinds.Instances.All(v) {
		known = append(known, instance.ID)
	}
	cfg.Log.Warn().Msgf("there is no instance %s to serve the metadata of%s", cfg.InstanceID, names.DidYouMean(cfg.InstanceID, known, "clbemu world import creates a cluster's instances"))
	return nil
}

// plant puts the world into an empty store.
func (cfg *Config) plant(tx *state.Tx) error {
	return cmp.Or(cfg.World, world.Default()).Plant(tx)
}
