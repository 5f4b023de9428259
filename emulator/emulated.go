package emulator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control"
	"github.com/clbemu/clbemu/emulator/internal/dataplane"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/metadata"
	"github.com/clbemu/clbemu/emulator/internal/metrics"
	"github.com/clbemu/clbemu/emulator/internal/rules"
	"github.com/clbemu/clbemu/emulator/internal/snapshots"
	"github.com/clbemu/clbemu/emulator/inventory"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/state"
)

// emulated is one emulated cloud with everything of its own: state, clock, conditions,
// fault rules, throttling, nonces, journal, metrics, snapshots and scenarios.
type emulated struct {
	cfg      Config
	name     string // "" for the cloud that is there from the start
	store    *state.Store
	journal  *journal.Journal
	plane    *dataplane.Plane // nil without packets
	products []*gateway.Product
	faults   *rules.Rules
	nonces   *gateway.Nonces
	metrics  *metrics.Metrics
	gateway  *gateway.Server
	api      http.Handler
	control  func() http.Handler // made for the first who asks

	answered atomic.Uint64 // calls
	closing  atomic.Bool
	life     context.Context // until close
	end      context.CancelFunc
	tasks    sync.WaitGroup // what goes on until then
}

// newEmulated builds a cloud on a store, which it closes, also when it fails.
func newEmulated(cfg Config, name string, store *state.Store, clouds *clouds) (*emulated, error) {
	c := &emulated{cfg: cfg, name: name, store: store}
	c.life, c.end = context.WithCancel(context.Background())
	if err := c.open(clouds); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// open opens the parts of the cloud and puts them together.
func (c *emulated) open(clouds *clouds) (err error) {
	cfg := &c.cfg
	cfg.Journal.Log = cfg.Log
	if c.journal, err = journal.New(cfg.Journal); err != nil {
		return err
	}
	injector := &faults.Injector{}
	if c.plane, err = cfg.newPlane(c.store, injector, c.journal); err != nil {
		return err
	}
	if c.plane != nil && cfg.Health == nil {
		cfg.Health = c.plane
	}
	c.products = clouds.productsOf(c)
	c.faults = rules.New(c.store, c.products, injector)
	c.faults.First = cfg.Faults
	for _, skipped := range c.faults.Skipped() {
		cfg.Log.Warn().Msg(skipped.String())
	}
	// A copy and a state in memory leave nothing behind, so neither do theirs.
	snapshots := snapshots.New(cfg.stateDir())
	if err := snapshots.CleanUp(); err != nil {
		return fmt.Errorf("clean up the snapshots: %w", err)
	}
	if c.nonces, err = cfg.openNonces(); err != nil {
		return err
	}
	c.build(clouds, snapshots)
	return nil
}

// noncesFile is the file of the nonces in the data folder.
const noncesFile = "nonces"

func (cfg *Config) openNonces() (*gateway.Nonces, error) {
	if cfg.stateDir() == "" {
		return &gateway.Nonces{}, nil
	}
	return gateway.OpenNonces(filepath.Join(cfg.stateDir(), noncesFile), time.Now())
}

func (c *emulated) build(clouds *clouds, snapshots *snapshots.Snapshots) {
	c.metrics = metrics.New(c.store, c.products)
	callers := c.cfg.newCallers(c.name)
	c.gateway = gateway.NewServer(gateway.Config{
		Store:      c.store,
		Caller:     callers.refuse,
		Cloud:      func(key string) (gateway.Chosen, error) { return clouds.byKey(c, key) },
		Products:   c.products,
		Elsewhere:  elsewhere,
		Room:       clouds.room,
		StrictAuth: c.cfg.StrictAuth,
		Nonces:     c.nonces,
		Seed:       c.cfg.Seed,
		Log:        c.cfg.Log,
		Observe:    c.observe,
		Faults:     c.faults.Injector,
		Crash:      c.crash,
	})
	calls := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.faults.Follow()
		c.gateway.ServeHTTP(w, r)
	})
	c.api = serveAPI(calls, sync.OnceValue(func() http.Handler {
		return metadata.New(metadata.Config{
			Store:      c.store,
			InstanceID: c.cfg.InstanceID,
			Log:        c.cfg.Log,
			Seed:       c.cfg.Seed,
		})
	}), callers)
	player := &target.Player{API: c.api, Control: http.HandlerFunc(c.serveControl), Token: c.cfg.ControlToken, Store: c.store, Products: c.products}
	c.metrics.Add(c.measures())
	var packets inventory.Packets
	if c.plane != nil {
		c.metrics.Add(c.plane)
		packets = c.plane
	}
	c.control = sync.OnceValue(func() http.Handler {
		return control.New(control.Config{
			Packets:   packets,
			Store:     c.store,
			Products:  c.products,
			Plant:     c.cfg.plant,
			Metrics:   c.metrics,
			Faults:    c.faults,
			Journal:   c.journal,
			Player:    player,
			Call:      c.consoleCall,
			Go:        func(task func(context.Context)) { c.tasks.Go(func() { task(c.life) }) },
			Snapshots: snapshots,
			Health:    c.cfg.Health,
			Ready:     func() error { return clouds.ready(c) },
			Token:     c.cfg.ControlToken,
			Host:      hostOf(c.cfg.ControlListen),
			Version:   c.cfg.Version,
			Server:    func() controlapi.Server { return clouds.describe(c) },
			Clouds:    clouds,
			Log:       c.cfg.Log,
		})
	})
}

func (c *emulated) serveControl(w http.ResponseWriter, r *http.Request) { c.control().ServeHTTP(w, r) }

// serveAPI gives the metadata service its paths and the API all others. It
// is no http.ServeMux, which would redirect a path that it finds untidy, and
// with that lose a POST.
func serveAPI(api http.Handler, metadata func() http.Handler, callers callers) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/latest/") {
			api.ServeHTTP(w, r)
			return
		}
		if err := callers.refuse(r); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		metadata().ServeHTTP(w, r)
	})
}

// crash ends the process as a power failure would: without a flush or a
// notice.
func (c *emulated) crash() {
	if c.cfg.Crash != nil {
		c.cfg.Crash()
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
func (c *emulated) Faults() *rules.Rules { return c.faults }

// Journal returns the journal of calls and changes.
func (c *emulated) Journal() *journal.Journal { return c.journal }

// Store is the emulated cloud's state.
func (c *emulated) Store() *state.Store { return c.store }

// StartPackets lets the listeners of load balancers answer, if there is a data plane.
// Start does it too; it is for those who serve the handlers themselves.
func (c *emulated) StartPackets() {
	if c.plane != nil {
		c.plane.Start()
	}
}

// stop ends what waits, such as a call that a fault holds.
func (c *emulated) stop() {
	c.closing.Store(true)
	c.end()
}

// close closes the parts that are open. Nobody calls the cloud any more.
func (c *emulated) close() error {
	c.stop()
	var errs []error
	if c.plane != nil {
		errs = append(errs, c.plane.Close())
	}
	c.tasks.Wait() // they have seen the end of life, and no call begins another
	if c.journal != nil {
		errs = append(errs, c.journal.Close())
	}
	if c.nonces != nil {
		errs = append(errs, c.nonces.Close())
	}
	return errors.Join(append(errs, c.store.Close())...)
}
