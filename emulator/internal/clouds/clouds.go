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
	"maps"
	"net"
	"net/http"
	"net/url"
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
	"github.com/clbemu/clbemu/emulator/internal/listen"
	"github.com/clbemu/clbemu/emulator/internal/onecloud"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/state"
)

// Process is what clouds need of the process that they are in.
type Process interface {
	// Listen opens a server next to that of the API, at a port of the same host.
	Listen(name, port string, connections chan struct{}, handler http.Handler) (*listen.Server, error)
	// APIURL returns where the API is, "" before it listens.
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
	Fork onecloud.Config
	// Keep is where durable clouds are kept, nil if there is none.
	Keep Keeper
	// Shared is set where replicas share the state: no cloud has a port of its own.
	Shared bool
	Log    zerolog.Logger
}

// Clouds holds the clouds of a process, by name. Each is on its own: what a call does in one
// shows in no other.
type Clouds struct {
	cfg   Config
	first *onecloud.Cloud
	room  *gateway.Room // for the calls of all clouds
	ports chan struct{} // for the connections at the ports of all forks
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

// forkedCloud is a cloud with what stays over a reset of it.
type forkedCloud struct {
	*onecloud.Cloud

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
	// A durable cloud has two files open: all of them may have an eighth of the descriptors.
	descriptorsOfDurable = 16
	usualExpiry          = 24 * time.Hour
	maxExpiry            = 100 * 365 * 24 * time.Hour
	neverExpires         = "never"
	// deleteTimeout limits how long a deletion waits for calls in flight, whose clients
	// have seen the end of the cloud.
	deleteTimeout = 10 * time.Second
)

// maxConnections limits the connections at the ports of all forks.
const maxConnections = 1024

// New returns the clouds of a process, without the first.
func New(cfg Config) *Clouds {
	files := listen.Descriptors()
	return &Clouds{cfg: cfg, forked: make(map[string]*forkedCloud), resetting: make(map[string]chan struct{}), unopened: make(map[string]error), room: gateway.NewRoom(),
		ports: make(chan struct{}, max(min(maxConnections, files/8), 1)), durableRoom: files / descriptorsOfDurable}
}

// Begin makes a cloud the first, from which others are forked.
func (s *Clouds) Begin(first *onecloud.Cloud) { s.first = first }

// Room implements onecloud.Neighbours.
func (s *Clouds) Room() *gateway.Room { return s.room }

// cloudName is a label of a host name, since NAME.localhost is one.
var cloudName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`) })

// checkCloudName refuses a name that no fork can have.
func checkCloudName(name string) error {
	switch {
	case !cloudName().MatchString(name):
		return fmt.Errorf("%w: %.70q is not a name for a cloud: write up to 63 lower-case letters, digits and -, and begin and end with a letter or a digit", control.ErrCloud, name)
	case slices.Contains(onecloud.OwnHosts, name):
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
	return s.first.Store().View(state.Owner{}, func(v *state.View) error {
		for key := range cloud.AccessKeys.All(v) {
			if strings.HasPrefix(key.ID, name+".") {
				return fmt.Errorf("%w: the access key %s would belong to two clouds: choose another name", control.ErrTaken, key.ID)
			}
		}
		return nil
	})
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

// fork makes the cloud of f from the one that it begins as. The caller changes.
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
		f.Cloud, err = onecloud.New(cfg, store, s)
	}
	if err != nil {
		return errors.Join(err, s.forget(ctx, name, f))
	}
	return nil
}

// configOf returns the configuration of a fork. It shares the products, which know no store.
// One without a port of its own answers no packets either.
func (s *Clouds) configOf(name string, f *forkedCloud) onecloud.Config {
	cfg := s.cfg.Fork
	cfg.Name, cfg.Seed = name, seedOf(name)
	cfg.Products = s.first.Products()
	cfg.Log = cfg.Log.With().Str("cloud", name).Logger()
	if !f.made.Port {
		cfg.Packets.At, cfg.DNSListen = onecloud.NoPackets, ""
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
		if f.port, err = s.cfg.Process.Listen("cloud "+name, port, s.ports, handler); err == nil {
			go func() { _ = f.port.Serve() }() // it ends when it is closed
			return s.answer(f)
		}
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

// serve answers a call at the port of a cloud.
func (s *Clouds) serve(name string, w http.ResponseWriter, r *http.Request) {
	c, leave, ok := s.enter(name)
	if !ok {
		http.Error(w, s.unknown(name).Error(), http.StatusNotFound)
		return
	}
	defer leave()
	c.During(r, func(r *http.Request) { c.API().ServeHTTP(w, r) })
}

// enter finds a cloud by its name, which stays until the caller leaves. It waits for one
// that is reset.
func (s *Clouds) enter(name string) (c *onecloud.Cloud, leave func(), ok bool) {
	if name == "" || name == controlapi.DefaultCloud {
		return s.first, func() {}, true
	}
	for {
		f, resetting := s.find(name)
		if f != nil {
			return f.Cloud, f.calls.Done, true
		}
		if resetting == nil {
			return nil, nil, false
		}
		<-resetting
	}
}

// find finds a cloud and counts a call that enters it, or returns what is closed once a
// reset of it is over.
func (s *Clouds) find(name string) (f *forkedCloud, resetting <-chan struct{}) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if f = s.forked[name]; f == nil {
		return nil, s.resetting[name]
	}
	f.calls.Add(1)
	return f, nil
}

func (s *Clouds) unknown(name string) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.unopened[name]; err != nil {
		return fmt.Errorf("%w: %w", control.ErrNoCloud, err)
	}
	known := []string{controlapi.DefaultCloud}
	if len(s.forked) <= onecloud.MaxSeries { // any client can ask, and looking through more takes long
		known = slices.AppendSeq(known, maps.Keys(s.forked))
	}
	return fmt.Errorf("%w: %.70q%s", control.ErrNoCloud, name, names.DidYouMean(name, known, "it may have expired; `clbemu cloud list` shows all"))
}

// ByHost finds the cloud that the host of a call names, such as NAME.localhost.
func (s *Clouds) ByHost(host string) (c *onecloud.Cloud, leave func()) {
	if name, ok := strings.CutSuffix(strings.ToLower(strings.TrimSuffix(listen.HostOf(host), ".")), ".localhost"); ok {
		if c, leave, ok := s.enter(name); ok {
			return c, leave
		}
	}
	return s.first, func() {}
}

// ByKey implements onecloud.Neighbours: an access key such as NAME.testid names a cloud.
func (s *Clouds) ByKey(c *onecloud.Cloud, key string) (gateway.Chosen, error) {
	name, id, named := strings.Cut(key, ".")
	if !named {
		return gateway.Chosen{AccessKeyID: key}, nil
	}
	if name == c.Name() {
		return gateway.Chosen{AccessKeyID: id}, nil
	}
	chosen, leave, ok := s.enter(name)
	switch {
	case ok && c.Name() != "":
		leave()
		return gateway.Chosen{}, fmt.Errorf("the access key %.70s belongs to the cloud %s, and the host of the call to the cloud %s", key, name, c.Name())
	case ok && chosen != c && c.HasKey(key):
		leave()
		return gateway.Chosen{}, fmt.Errorf("the access key %.70s belongs to two clouds: it is one of the default cloud, and %s of the cloud %s", key, id, name)
	case ok:
		return gateway.Chosen{Server: chosen.Gateway(), AccessKeyID: id, Life: chosen.Life(), Leave: leave}, nil
	case !c.HasKey(key) && c.HasKey(id):
		return gateway.Chosen{}, s.unknown(name)
	}
	return gateway.Chosen{AccessKeyID: key}, nil
}

// Control implements control.Clouds.
func (s *Clouds) Control(name string) (http.Handler, error) {
	c, leave, ok := s.enter(name)
	if !ok {
		return nil, s.unknown(name)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer leave()
		c.During(r, func(r *http.Request) { c.ServeControl(w, r) })
	}), nil
}

// Reset implements control.Clouds. The cloud keeps its name, its port and its expiry.
func (s *Clouds) Reset(ctx context.Context, name string) (controlapi.Cloud, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	old, err := s.remove(name, true)
	if err != nil {
		return controlapi.Cloud{}, err
	}
	defer s.releaseWaiters(name)
	if _, leave, ok := s.enter(old.made.From); ok {
		leave()
	} else {
		s.restore(name, old)
		return controlapi.Cloud{}, fmt.Errorf("%w, from which %s was forked", s.unknown(old.made.From), name)
	}
	fresh := *old
	fresh.calls = new(sync.WaitGroup)
	err = errors.Join(old.drain(ctx), s.forget(ctx, name, old))
	if err == nil {
		err = s.fork(ctx, name, &fresh)
	}
	if err == nil {
		err = s.answer(&fresh)
	}
	if err == nil {
		err = s.publish(ctx, name, &fresh)
	}
	if err != nil {
		return controlapi.Cloud{}, errors.Join(fmt.Errorf("the cloud %s could not be forked again, and is gone: %w", name, err), old.release(ctx))
	}
	s.restore(name, &fresh)
	return s.show(name, &fresh), nil
}

// releaseWaiters lets those in who waited for a reset to end.
func (s *Clouds) releaseWaiters(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.resetting[name])
	delete(s.resetting, name)
}

// restore puts a cloud back that was removed.
func (s *Clouds) restore(name string, f *forkedCloud) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forked[name] = f
}

// remove takes a cloud from those that can be entered; who enters one that is reset waits
// until releaseWaiters. The caller changes.
func (s *Clouds) remove(name string, reset bool) (*forkedCloud, error) {
	if name == controlapi.DefaultCloud {
		return nil, fmt.Errorf("%w: the default cloud stays: `clbemu state reset` resets it", control.ErrCloud)
	}
	s.mu.Lock()
	f := s.forked[name]
	delete(s.forked, name)
	if f != nil && reset {
		s.resetting[name] = make(chan struct{})
	}
	s.mu.Unlock()
	if f == nil {
		return nil, s.unknown(name)
	}
	return f, nil
}

// Delete implements control.Clouds.
func (s *Clouds) Delete(ctx context.Context, name string) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if there, err := s.deleteUnopened(ctx, name); there {
		return err
	}
	f, err := s.remove(name, false)
	if err != nil {
		return err
	}
	return errors.Join(f.release(ctx), f.drain(ctx), s.forget(ctx, name, f))
}

// deleteUnopened deletes what is kept of a cloud that could not be opened. The caller
// changes.
func (s *Clouds) deleteUnopened(ctx context.Context, name string) (there bool, err error) {
	s.mu.RLock()
	there = s.unopened[name] != nil
	s.mu.RUnlock()
	if !there {
		return false, nil
	}
	if err := s.cfg.Keep.forget(ctx, name); err != nil {
		return true, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.unopened, name)
	return true, nil
}

// expire deletes a cloud whose time is over, unless the name is another's by now.
func (s *Clouds) expire(name string, created time.Time) {
	s.mu.RLock()
	f := s.forked[name]
	s.mu.RUnlock()
	if f == nil || f.created != created {
		return
	}
	if err := s.Delete(context.Background(), name); err != nil && !errors.Is(err, control.ErrNoCloud) {
		s.cfg.Log.Warn().Err(err).Str("cloud", name).Msg("delete a cloud that expired")
	}
}

// release gives back what stays over a reset.
func (f *forkedCloud) release(ctx context.Context) error {
	if f.expiry != nil {
		f.expiry.Stop()
	}
	if f.port == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, deleteTimeout)
	defer cancel()
	f.Stop() // or calls that a fault holds would not end
	return f.port.Shutdown(ctx)
}

// drain ends a cloud that takes no new calls, once the calls in flight are answered.
func (f *forkedCloud) drain(ctx context.Context) error {
	f.Stop()
	ended := make(chan struct{})
	go func() {
		f.calls.Wait()
		close(ended)
	}()
	ctx, cancel := context.WithTimeout(ctx, deleteTimeout)
	defer cancel()
	select {
	case <-ended:
	case <-ctx.Done(): // a store that is closed answers them
	}
	return f.Close(ctx)
}

// Close ends all forks; durable ones stay where they are kept.
func (s *Clouds) Close(ctx context.Context) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.mu.Lock()
	forked := s.forked
	s.forked, s.closed = nil, true
	s.mu.Unlock()
	var errs []error
	for _, f := range forked {
		errs = append(errs, f.release(ctx), f.drain(ctx))
	}
	return errors.Join(errs...)
}

// List implements control.Clouds.
func (s *Clouds) List() []controlapi.Cloud {
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := []controlapi.Cloud{s.showDefault()}
	for name, f := range s.forked {
		list = append(list, s.show(name, f))
	}
	for name, err := range s.unopened {
		list = append(list, controlapi.Cloud{Name: name, Durable: true, Problem: err.Error()})
	}
	slices.SortFunc(list[1:], func(a, b controlapi.Cloud) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

func (s *Clouds) showDefault() controlapi.Cloud {
	return controlapi.Cloud{Name: controlapi.DefaultCloud, Durable: s.cfg.Keep != nil, API: s.cfg.Process.APIURL(), DNS: s.first.DNSAddr(), Resources: s.first.Resources(), Calls: s.first.Answered()}
}

func (s *Clouds) show(name string, f *forkedCloud) controlapi.Cloud {
	shown := controlapi.Cloud{Name: name, From: f.made.From, Created: &f.created, Durable: f.made.Durable, Seed: f.made.Seed,
		API: s.cfg.Process.APIURL(), DNS: f.DNSAddr(), AccessKeyPrefix: name + ".", Resources: f.Resources(), Calls: f.Answered()}
	if !f.expires.IsZero() {
		shown.Expires = &f.expires
	}
	if u, err := url.Parse(shown.API); err == nil && u.Host != "" {
		shown.Host = net.JoinHostPort(name+".localhost", u.Port())
	}
	if f.port != nil {
		shown.API = f.port.URL()
	}
	return shown
}

// Ready implements onecloud.Neighbours.
func (s *Clouds) Ready(c *onecloud.Cloud) error {
	if c.Closing() {
		return errClosing
	}
	if c.Name() == "" {
		return s.cfg.Process.Ready()
	}
	return nil
}

var errClosing = errors.New("clbemu is closing")

// Server implements onecloud.Neighbours.
func (s *Clouds) Server(c *onecloud.Cloud) controlapi.Server {
	described := controlapi.Server{DataDir: c.Dir(), API: s.cfg.Process.APIURL()}
	s.cfg.Process.Describe(&described)
	if c.Name() == "" {
		return described
	}
	described.Cloud, described.AccessKeyPrefix = c.Name(), c.Name()+"."
	s.mu.RLock()
	defer s.mu.RUnlock()
	if f := s.forked[c.Name()]; f != nil && f.port != nil {
		described.API = f.port.URL()
	}
	return described
}

var (
	cloudsDesc         = prometheus.NewDesc("clbemu_clouds", "Clouds beside the default one.", nil, nil)
	cloudCallsDesc     = prometheus.NewDesc("clbemu_cloud_calls_total", "Calls that a cloud answered. The cloud is other beyond the 100 oldest.", []string{"cloud"}, nil)
	cloudResourcesDesc = prometheus.NewDesc("clbemu_cloud_resources", "Resources in the state of a cloud. The cloud is other beyond the 100 oldest.", []string{"cloud"}, nil)
)

// Describe implements prometheus.Collector.
func (s *Clouds) Describe(ch chan<- *prometheus.Desc) {
	ch <- cloudsDesc
	ch <- cloudCallsDesc
	ch <- cloudResourcesDesc
}

// Collect implements prometheus.Collector.
func (s *Clouds) Collect(ch chan<- prometheus.Metric) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	ch <- prometheus.MustNewConstMetric(cloudsDesc, prometheus.GaugeValue, float64(len(s.forked)))
	oldest := slices.SortedFunc(maps.Keys(s.forked), func(a, b string) int {
		return cmp.Or(s.forked[a].created.Compare(s.forked[b].created), cmp.Compare(a, b))
	})
	calls, resources := make(map[string]uint64), make(map[string]int)
	for i, name := range oldest {
		series := onecloud.SeriesOf(i, name)
		calls[series] += s.forked[name].Answered()
		resources[series] += s.forked[name].Resources()
	}
	for series, n := range calls {
		ch <- prometheus.MustNewConstMetric(cloudCallsDesc, prometheus.CounterValue, float64(n), series)
		ch <- prometheus.MustNewConstMetric(cloudResourcesDesc, prometheus.GaugeValue, float64(resources[series]), series)
	}
}
