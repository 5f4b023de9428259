// Package clouds owns the clouds of a process: the one that is there from the start, and
// those forked from it, in memory or kept. It finds the cloud that a call names,
// and must not know what a cloud consists of.
package clouds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/control"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/listen"
	"github.com/clbemu/clbemu/state"
)

// Process gives clouds access to their process.
type Process interface {
	// Listen opens a server next to the API's, at a port of the same host.
	Listen(name, port string, connections *listen.Places) (*listen.Server, error)
	// APIURL returns the URL of the API, or "" before it listens.
	APIURL() string
	// Describe adds what clients of any cloud must know.
	Describe(*controlapi.Server)
	// Ready returns why the first cloud can't answer yet, nil if it can.
	Ready() error
}

// Config configures Clouds.
type Config struct {
	Process Process
	// Fork is the configuration of forks, but for their names, seeds and folders.
	Fork cloud.Config
	// Keep keeps durable clouds. It is nil if nothing does.
	Keep Keeper
	// Shared is set where replicas share the state: no cloud has a port of its own.
	Shared bool
	Log    zerolog.Logger
}

// Clouds holds the clouds of a process, by name. Each is on its own: what a call does in one
// shows in no other.
type Clouds struct {
	cfg    Config
	first  *cloud.Cloud
	memory *gateway.MemoryBudget // for the calls of all clouds
	ports  *listen.Places        // for the connections at the ports of all forks
	// durableRoom is the most durable clouds.
	durableRoom int

	// changing serialises what creates, resets and deletes clouds; it is taken before mu.
	changing  sync.Mutex
	mu        sync.RWMutex
	forked    map[string]*forkedCloud
	resetting map[string]chan struct{} // clouds that are reset, closed once they are there again
	unopened  map[string]error         // durable clouds that could not be opened, and why
	closed    bool
}

var _ control.Clouds = (*Clouds)(nil)
var _ cloud.Neighbours = (*Clouds)(nil)
var _ prometheus.Collector = (*Clouds)(nil)

// forkedCloud is a cloud with what stays over a reset of it.
type forkedCloud struct {
	*cloud.Cloud

	made    controlapi.NewCloud
	created time.Time
	expires time.Time      // zero is never
	kept    bool           // if only in part
	port    *listen.Server // of its own, nil if none
	wanted  string         // the port that it had before a restart
	expiry  *time.Timer
	calls   *sync.WaitGroup // in flight
}

// The bounds of clouds.
const (
	maxClouds = 10_000
	// A durable cloud has two files open: all of them may have a sixteenth of the descriptors.
	descriptorsOfDurable = 32
	usualExpiry          = 24 * time.Hour
	maxExpiry            = 100 * 365 * 24 * time.Hour
	neverExpires         = "never"
	// deleteTimeout limits how long a deletion waits for calls in flight, whose clients
	// have seen the end of the cloud.
	deleteTimeout = 10 * time.Second
)

// New returns the clouds of a process, without the first.
func New(cfg Config) *Clouds {
	files := listen.Descriptors()
	return &Clouds{cfg: cfg, forked: make(map[string]*forkedCloud), resetting: make(map[string]chan struct{}), unopened: make(map[string]error), memory: gateway.NewMemoryBudget(),
		ports: listen.NewForkPlaces(), durableRoom: files / descriptorsOfDurable}
}

// Begin makes a cloud the first, from which others are forked.
func (s *Clouds) Begin(first *cloud.Cloud) { s.first = first }

// Memory implements cloud.Neighbours.
func (s *Clouds) Memory() *gateway.MemoryBudget { return s.memory }

// cloudName is a label of a host name, since NAME.localhost is one.
var cloudName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`) })

// checkCloudName refuses a name that no fork can have.
func checkCloudName(name string) error {
	switch {
	case !cloudName().MatchString(name):
		return fmt.Errorf("%w: %.70q is not a name for a cloud: write up to 63 lower-case letters, digits and -, and begin and end with a letter or a digit", control.ErrCloud, name)
	case slices.Contains(cloud.OwnHosts, name):
		return fmt.Errorf("%w: %s is the cloud that is there from the start: choose another name", control.ErrCloud, name)
	}
	return nil
}

// readExpiry reads when a cloud expires; zero is never.
func readExpiry(text string, now time.Time) (time.Time, error) {
	if text == neverExpires {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if d, notDuration := time.ParseDuration(cmp.Or(text, usualExpiry.String())); notDuration == nil {
		at, err = now.Add(min(d, 2*maxExpiry)), nil
	}
	switch {
	case err != nil:
		return at, fmt.Errorf("%w: expires is a duration such as 2h, a time such as 2027-01-02T15:04:05Z, or never, not %.70q", control.ErrCloud, text)
	case !at.After(now):
		return at, fmt.Errorf("%w: it would have expired at %s, which is over", control.ErrCloud, at.Format(time.RFC3339))
	case at.After(now.Add(maxExpiry)):
		return at, fmt.Errorf("%w: %.70s is more than a hundred years from now: write never", control.ErrCloud, text)
	}
	return at.UTC(), nil
}

// Create implements control.Clouds.
func (s *Clouds) Create(ctx context.Context, name string, spec controlapi.NewCloud) (controlapi.Cloud, error) {
	if err := checkCloudName(name); err != nil {
		return controlapi.Cloud{}, err
	}
	now := time.Now()
	expires, err := readExpiry(spec.Expires, now)
	if err != nil {
		return controlapi.Cloud{}, err
	}
	// Another replica may lead next, at another address.
	spec.Port = spec.Port && !s.cfg.Shared
	spec.From, spec.Seed = cmp.Or(spec.From, controlapi.DefaultCloud), cmp.Or(spec.Seed, seedOf(name))
	f := &forkedCloud{made: spec, created: now.UTC(), expires: expires, calls: new(sync.WaitGroup)}
	s.changing.Lock()
	defer s.changing.Unlock()
	if err := s.free(name, spec.Durable); err != nil {
		return controlapi.Cloud{}, err
	}
	if err := s.fork(ctx, name, f); err != nil {
		return controlapi.Cloud{}, err
	}
	if err := errors.Join(s.listen(name, f), s.publish(ctx, name, f)); err != nil {
		return controlapi.Cloud{}, errors.Join(err, f.release(ctx), f.Close(ctx), s.forget(ctx, name, f))
	}
	s.admit(name, f)
	return s.show(name, f), nil
}

// seedOf makes ids differ from cloud to cloud, and a cloud's the same each time.
func seedOf(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return cmp.Or(h.Sum64(), 1)
}

// free refuses a name that is taken, and a cloud for which there is no room.
func (s *Clouds) free(name string, durable bool) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch {
	case s.closed:
		return fmt.Errorf("%w: the emulator ends", control.ErrCloud)
	case s.forked[name] != nil:
		return fmt.Errorf("%w: there is a cloud %s: delete it, reset it, or choose another name", control.ErrTaken, name)
	case s.unopened[name] != nil:
		return fmt.Errorf("%w: %w: delete it, or choose another name", control.ErrTaken, s.unopened[name])
	case len(s.forked) >= maxClouds:
		return fmt.Errorf("%w: there are %d clouds, which is the most there can be: delete some", control.ErrTaken, maxClouds)
	case durable && s.durable() >= s.durableRoom:
		return fmt.Errorf("%w: there are %d durable clouds, and this process may open %d files: delete some, or raise the limit (ulimit -n)", control.ErrTaken, s.durable(), listen.Descriptors())
	}
	v := s.first.Store().View(state.Owner{})
	for key := range kinds.AccessKeys.All(v) {
		if strings.HasPrefix(key.ID, name+".") {
			return fmt.Errorf("%w: the access key %s would belong to two clouds: choose another name", control.ErrTaken, key.ID)
		}
	}
	return nil
}

// durable counts the durable clouds that have files open. The caller has the lock.
func (s *Clouds) durable() (n int) {
	for _, f := range s.forked {
		if f.made.Durable && !s.cfg.Shared {
			n++
		}
	}
	return n
}

// fork makes the cloud of f from the one that it begins as. The caller holds s.changing.
func (s *Clouds) fork(ctx context.Context, name string, f *forkedCloud) (err error) {
	from, leave, ok := s.enter(f.made.From)
	if !ok {
		return s.unknown(f.made.From)
	}
	defer leave()
	var store *state.Store
	cfg := s.configOf(name, f)
	if f.made.Durable {
		store, err = s.beginKept(ctx, &cfg, from.Store(), f)
	} else {
		store, err = from.Store().Fork(state.ForkConfig{Seed: f.made.Seed, Warn: cfg.Warn})
	}
	if err == nil {
		f.Cloud, err = cloud.New(cfg, store, s)
	}
	if err != nil {
		return errors.Join(err, s.forget(ctx, name, f))
	}
	return nil
}

// configOf returns the configuration of a fork. It shares the products, which know no store.
// One without a port of its own answers no packets either.
func (s *Clouds) configOf(name string, f *forkedCloud) cloud.Config {
	cfg := s.cfg.Fork
	cfg.Name, cfg.Seed = name, seedOf(name)
	cfg.Products = s.first.Products()
	cfg.Log = cfg.Log.With().Str("cloud", name).Logger()
	if !f.made.Port {
		cfg.Packets.At, cfg.DNSListen = cloud.NoPackets, ""
	}
	return cfg
}

// admit lets clients reach a cloud that is complete.
func (s *Clouds) admit(name string, f *forkedCloud) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forked[name] = f
	if !f.expires.IsZero() {
		f.expiry = time.AfterFunc(time.Until(f.expires), func() { s.expire(name, f.created) })
	}
}

// listen opens the port of a cloud that is to have one, and lets its load balancers answer.
func (s *Clouds) listen(name string, f *forkedCloud) (err error) {
	if !f.made.Port {
		return nil
	}
	if s.cfg.Process.APIURL() == "" {
		return fmt.Errorf("%w: a port needs an emulator that listens", control.ErrCloud)
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(name, w, r) })
	for _, port := range []string{cmp.Or(f.wanted, "0"), "0"} { // the one from before the restart, or another
		if f.port, err = s.cfg.Process.Listen("cloud "+name, port, s.ports); err == nil {
			go func() { _ = f.port.Serve(handler) }() // it ends when it is closed
			return s.answer(f)
		}
	}
	if errors.Is(err, listen.ErrFewDescriptors) {
		return fmt.Errorf("%w: %w: delete some clouds with a port", control.ErrTaken, err)
	}
	return err
}

// answer lets the load balancers of a cloud with a port answer packets and DNS.
func (s *Clouds) answer(f *forkedCloud) error {
	if !f.made.Port {
		return nil
	}
	f.StartPackets()
	return f.StartDNS(func(err error) {
		s.cfg.Log.Warn().Err(err).Str("cloud", f.Name()).Msg("a cloud answers no names any more")
	})
}

// Start opens the ports of the clouds that are there from an earlier run.
func (s *Clouds) Start(ctx context.Context) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for name, f := range s.forked {
		if !f.made.Port {
			continue
		}
		if err := errors.Join(s.listen(name, f), s.publish(ctx, name, f)); err != nil {
			return err
		}
	}
	return nil
}
