// Package cloud owns one emulated cloud with everything of its own: state, clock,
// conditions, fault rules, throttling, nonces, journal, metrics, snapshots, scenarios,
// packets and DNS. It must not know which other clouds there are, nor the sockets of the
// APIs.
package cloud

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

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control"
	"github.com/clbemu/clbemu/emulator/internal/dataplane"
	"github.com/clbemu/clbemu/emulator/internal/dns"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/metadata"
	"github.com/clbemu/clbemu/emulator/internal/metrics"
	"github.com/clbemu/clbemu/emulator/internal/rules"
	"github.com/clbemu/clbemu/emulator/internal/snapshots"
	"github.com/clbemu/clbemu/emulator/inventory"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/emulator/world/conditions"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/state"
)

// Neighbours are the clouds of a process, as one of them knows them.
type Neighbours interface {
	control.Clouds
	// ByKey finds the cloud that the access key of a call to c names.
	ByKey(c *Cloud, key string) (gateway.Chosen, error)
	// Server returns how clients find c.
	Server(c *Cloud) controlapi.Server
	// Ready returns why c can't answer yet, nil if it can.
	Ready(c *Cloud) error
	// Memory returns the budget in which the calls of all clouds wait for memory.
	Memory() *gateway.MemoryBudget
}

// Cloud is one emulated cloud.
type Cloud struct {
	cfg      Config
	store    *state.Store
	journal  *journal.Journal
	plane    *dataplane.Plane // nil without packets
	dns      atomic.Pointer[dns.Server]
	products []*gateway.Product
	faults   *rules.Rules
	metrics  *metrics.Metrics
	gateway  *gateway.Server
	callers  callers
	metadata func() http.Handler // made for the first who asks, as is control
	control  func() http.Handler
	usual    func() (map[conditions.Key]string, error)

	answered atomic.Uint64 // calls
	closing  atomic.Bool
	life     context.Context // until close
	end      context.CancelFunc
	tasks    sync.WaitGroup // what goes on until then
}

// New builds a cloud on a store, which it closes, also when it fails.
func New(cfg Config, store *state.Store, others Neighbours) (*Cloud, error) {
	c := &Cloud{cfg: cfg, store: store}
	c.life, c.end = context.WithCancel(context.Background())
	if err := c.open(others); err != nil {
		return nil, errors.Join(err, c.Close(c.life))
	}
	return c, nil
}

// open opens the parts of the cloud and puts them together.
func (c *Cloud) open(others Neighbours) (err error) {
	cfg := &c.cfg
	cfg.Journal.Log = cfg.Log
	if c.journal, err = journal.New(cfg.Journal); err != nil {
		return err
	}
	injector := &faults.Injector{}
	if c.plane, err = c.newPlane(injector); err != nil {
		return err
	}
	if c.plane != nil {
		c.store.Attach(c.plane)
	}
	c.products = cfg.serves()
	c.faults = rules.New(c.store, c.products, injector)
	c.faults.First = cfg.Faults
	for _, skipped := range c.faults.Skipped() {
		cfg.Log.Warn().Msg(skipped.String())
	}
	snapshots := snapshots.New(cfg.Dir)
	if err := snapshots.CleanUp(); err != nil {
		return fmt.Errorf("clean up the snapshots: %w", err)
	}
	c.build(others, snapshots)
	return nil
}

func (c *Cloud) build(others Neighbours, snapshots *snapshots.Snapshots) {
	c.metrics = metrics.New(c.store, c.products)
	c.callers = c.cfg.newCallers()
	c.gateway = gateway.NewServer(gateway.Config{
		Store:      c.store,
		Caller:     c.callers.refuse,
		Cloud:      func(key string) (gateway.Chosen, error) { return others.ByKey(c, key) },
		Products:   c.products,
		Elsewhere:  products.Elsewhere,
		Memory:     others.Memory(),
		StrictAuth: c.cfg.StrictAuth,
		Seed:       c.cfg.Seed,
		Log:        c.cfg.Log,
		Observe:    c.observe,
		Faults:     c.faults.Injector,
		Crash:      c.crash,
	})
	c.metadata = sync.OnceValue(func() http.Handler {
		return metadata.New(metadata.Config{
			Store:      c.store,
			InstanceID: c.cfg.InstanceID,
			Log:        c.cfg.Log,
			Seed:       c.cfg.Seed,
		})
	})
	player := &target.Player{API: http.HandlerFunc(c.ServeAPI), Control: http.HandlerFunc(c.ServeControl), Token: c.cfg.ControlToken, Store: c.store, Products: c.products}
	c.usual = sync.OnceValues(c.usualConditions)
	c.metrics.Add(&collector{c})
	if c.plane != nil {
		c.metrics.Add(c.plane)
	}
	c.control = sync.OnceValue(func() http.Handler { return c.newControl(others, snapshots, player) })
}

// newControl returns the handler of the control API.
func (c *Cloud) newControl(others Neighbours, snapshots *snapshots.Snapshots, player *target.Player) http.Handler {
	var packets inventory.Packets
	if c.plane != nil {
		packets = c.plane
	}
	return control.New(control.Config{
		Packets:   packets,
		Store:     c.store,
		Products:  c.products,
		Plant:     c.cfg.plant,
		Metrics:   c.metrics,
		Faults:    c.faults,
		Journal:   c.journal,
		Player:    player,
		Apart:     c.cfg.Apart,
		Call:      c.consoleCall,
		Go:        func(task func(context.Context)) { c.tasks.Go(func() { task(c.life) }) },
		Snapshots: snapshots,
		Ready:     func() error { return others.Ready(c) },
		Token:     c.cfg.ControlToken,
		Host:      c.cfg.ControlHost,
		Version:   c.cfg.Version,
		Server:    func() controlapi.Server { return others.Server(c) },
		Clouds:    others,
		Log:       c.cfg.Log,
	})
}

// ServeControl serves the control API.
func (c *Cloud) ServeControl(w http.ResponseWriter, r *http.Request) { c.control().ServeHTTP(w, r) }

// ServeAPI serves the cloud's API, and the metadata service at its paths. There is no
// http.ServeMux, which would redirect an untidy path, and with that lose a POST.
func (c *Cloud) ServeAPI(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, "/latest/") {
		c.faults.Follow()
		c.gateway.ServeHTTP(w, r)
		return
	}
	if err := c.callers.refuse(r); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	c.metadata().ServeHTTP(w, r)
}

// crash ends the process as a power failure would: without a flush or a
// notice. The first process of a container can't kill itself: its exit has to do.
func (c *Cloud) crash() {
	if c.cfg.Crash != nil {
		c.cfg.Crash()
		return
	}
	if process, err := os.FindProcess(os.Getpid()); err == nil && process.Pid != 1 && process.Kill() == nil {
		select {} // the end is on its way
	}
	os.Exit(137)
}

// Faults returns the cloud's fault rules.
func (c *Cloud) Faults() *rules.Rules { return c.faults }

// Journal returns the journal of calls and changes.
func (c *Cloud) Journal() *journal.Journal { return c.journal }

// Store returns the emulated cloud's state.
func (c *Cloud) Store() *state.Store { return c.store }

// Name returns the cloud's name, or "" for the one that is there from the start.
func (c *Cloud) Name() string { return c.cfg.Name }

// Products lists what the cloud serves.
func (c *Cloud) Products() []*gateway.Product { return c.products }

// Gateway answers calls for the cloud that reached another one.
func (c *Cloud) Gateway() *gateway.Server { return c.gateway }

// Metrics counts what the cloud does.
func (c *Cloud) Metrics() *metrics.Metrics { return c.metrics }

// Answered returns the number of calls that the cloud answered.
func (c *Cloud) Answered() uint64 { return c.answered.Load() }

// Life ends with the cloud.
func (c *Cloud) Life() context.Context { return c.life }

// Go runs what ends with the life of the cloud.
func (c *Cloud) Go(task func()) { c.tasks.Go(task) }

// During serves a request that ends with the cloud.
func (c *Cloud) During(r *http.Request, serve func(*http.Request)) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	serve(r.WithContext(ctx))
}

// HasKey reports whether an access key is the cloud's.
func (c *Cloud) HasKey(id string) (known bool) {
	_, known = kinds.AccessKeys.Find(c.store.View(state.Owner{}), id)
	return known
}

// Resources counts what the state holds.
func (c *Cloud) Resources() (n int) {
	for _, of := range c.store.View(state.Owner{}).Counts() {
		n += of
	}
	return n
}

// Dir returns the path of the cloud's folder, or "" if it leaves nothing behind.
func (c *Cloud) Dir() string {
	if absolute, err := filepath.Abs(c.cfg.Dir); c.cfg.Dir != "" && err == nil {
		return absolute
	}
	return c.cfg.Dir
}

// Closing reports whether the cloud ends.
func (c *Cloud) Closing() bool { return c.closing.Load() }

// Unwritten returns why writes fail, or nil if they don't. Reads are served all the same.
func (c *Cloud) Unwritten() error {
	if err := c.store.Unwritten(); err != nil {
		return fmt.Errorf("reads are served, and writes fail: %w", err)
	}
	return nil
}

// Stop ends what waits, such as a call that a fault holds.
func (c *Cloud) Stop() {
	c.closing.Store(true)
	c.end()
}

// Close closes the parts that are open. The cloud gets no more calls.
func (c *Cloud) Close(ctx context.Context) error {
	c.Stop()
	var errs []error
	if server := c.dns.Swap(nil); server != nil {
		errs = append(errs, server.Close(ctx))
	}
	if c.plane != nil {
		errs = append(errs, c.plane.Close())
	}
	c.tasks.Wait() // they have seen the end of life, and no call begins another
	if c.journal != nil {
		errs = append(errs, c.journal.Close())
	}
	return errors.Join(append(errs, c.store.Close())...)
}
