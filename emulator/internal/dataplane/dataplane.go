// Package dataplane answers for load balancers: it binds a socket for each listener and
// forwards what clients send to the members of its groups, as the topology says. It
// follows the feed of the store, checks members' health, and implements topology.Health.
// It knows no product, and no call of an API ever waits for it.
package dataplane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/state"
)

// Config configures a Plane.
type Config struct {
	Store *state.Store
	// Cloud is the name of the cloud whose load balancers they are.
	Cloud string
	// MaxListeners limits how many listeners answer; the others report that they don't.
	MaxListeners int
	// Direct lists the blocks of addresses dialed as they are. Servers outside them are reached
	// where the state says so, or at loopback addresses.
	Direct []netip.Prefix
	// PortsFile keeps the ports of listeners that did not get the one of their id; empty
	// forgets them.
	PortsFile string
	// Interface is the network interface that gets the addresses of load balancers, for
	// listeners to answer there; empty lets them answer at ports of 127.0.0.1.
	Interface string
	// Transparent are the blocks of clients whose addresses members of TCP and UDP see.
	Transparent []netip.Prefix
	// MaxDescriptor is the first descriptor that connections leave to the rest of the
	// process; 0 leaves none.
	MaxDescriptor int
	// RetryAfter is the pause before the plane tries again what failed, since the user may give a
	// port back. If it is 0, the pause is 5 s.
	RetryAfter time.Duration
	// Faults holds the fault rules for packets. Nil means that there are none.
	Faults *faults.Injector
	// Record gets the connections, sessions and requests that a fault strikes and, if
	// AccessLog is set, all of them at their end; nil records nothing.
	Record    func(journal.Entry, ...journal.Parameter)
	AccessLog bool
	Log       zerolog.Logger
}

// dialer connects to a member on behalf of a client; nil leaves that to package forward.
type dialer = func(ctx context.Context, network string, from net.Addr, to netip.AddrPort) (net.Conn, error)

// Plane forwards for all load balancers of a store.
type Plane struct {
	cfg       Config
	ctx       context.Context
	cancel    context.CancelFunc
	tasks     sync.WaitGroup
	start     sync.Once
	binder    binder
	dial      dialer
	clock     *clock
	checks    *checks
	keys      keyring
	dirty     *dirty
	log       *accessLog
	filtering bool // a listener is deaf; the worker alone uses it

	// mu guards what follows, for readers; the worker alone changes it.
	mu        sync.RWMutex
	listeners map[string]*listener // by frontend
}

var _ prometheus.Collector = (*Plane)(nil)
var _ topology.Prober = (*Plane)(nil)

// New returns a plane that forwards nothing before Start.
func New(cfg Config) (*Plane, error) {
	binder, err := newBinder(&cfg)
	if err != nil {
		return nil, err
	}
	if cfg.Faults == nil {
		cfg.Faults = &faults.Injector{}
	}
	p := &Plane{cfg: cfg, binder: binder, listeners: make(map[string]*listener), dirty: newDirty(), keys: make(keyring), clock: newClock(cfg.Store),
		log: newAccessLog(&cfg)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.checks = newChecks(p.ctx, &p.tasks, p.clock, p.dirty.mark)
	p.checks.fault = p.checkFault
	cfg.Faults.Changed = p.dirty.rulesChanged
	if len(cfg.Transparent) > 0 {
		if p.dial, err = transparent(cfg.Transparent); err != nil {
			return nil, errors.Join(err, binder.close())
		}
	}
	return p, nil
}

// newBinder returns the configured binder.
func newBinder(cfg *Config) (binder, error) {
	if cfg.Interface == "" {
		if err := removeMachineLeftovers(); err != nil { // which needs a right that the ports don't
			cfg.Log.Warn().Err(err).Msg("an address of a load balancer may take packets without an answer")
		}
		return loadPorts(cfg.Cloud, cfg.PortsFile)
	}
	network, err := openNetwork(cfg.Interface)
	if err != nil {
		return nil, err
	}
	return newAddresses(network)
}

// Start begins to follow the store; a second call does nothing.
func (p *Plane) Start() {
	p.start.Do(func() {
		p.tasks.Go(func() { p.clock.run(p.ctx) })
		p.tasks.Go(p.follow)
		p.tasks.Go(p.work)
	})
}

// Close closes all sockets and connections, and waits until nothing of the plane runs.
func (p *Plane) Close() error {
	p.cancel()
	p.tasks.Wait()
	var errs []error
	for _, l := range p.listeners {
		errs = append(errs, l.stop("the emulator ends"))
	}
	return errors.Join(append(errs, p.binder.close())...)
}

// follow marks the load balancers that a transaction changed.
func (p *Plane) follow() {
	for p.ctx.Err() == nil {
		for event, err := range p.cfg.Store.Watch(p.ctx, 0) {
			if err != nil {
				break
			}
			p.mark(&event)
		}
	}
}

func (p *Plane) mark(event *state.Event) {
	defer p.dirty.seen(event.Revision)
	if event.Snapshot || slices.ContainsFunc(event.Changes, func(c state.Change) bool { return c.Kind == state.ClockSettings.Kind() }) {
		p.clock.wake()
	}
	if event.Snapshot {
		p.dirty.markAll()
		return
	}
	v := event.View(state.Owner{})
	for _, c := range event.Changes {
		// What a row belongs to does not change, but a row may begin or cease to belong
		// to something.
		if c.After == nil || !p.markRow(v, c.Kind, c.After) {
			if c.Before != nil {
				p.markRow(v, c.Kind, c.Before)
			}
		}
	}
}

// markRow marks the load balancers that a row belongs to, or all for a row that any of
// them may depend on, and reports whether there are such.
func (p *Plane) markRow(v *state.View, kind state.Kind, row any) (belongs bool) {
	if lb, ok := state.ShownBy[topology.LoadBalancer](v, kind, row); ok {
		p.dirty.mark(lb.ID)
		belongs = true
	}
	if f, ok := state.ShownBy[topology.Frontend](v, kind, row); ok {
		p.dirty.mark(f.LoadBalancerID)
		belongs = true
	}
	if r, ok := state.ShownBy[topology.Rule](v, kind, row); ok {
		p.dirty.mark(r.LoadBalancerID)
		belongs = true
	}
	if g, ok := state.ShownBy[topology.Group](v, kind, row); ok {
		for f := range g.Frontends {
			p.dirty.mark(f.LoadBalancerID)
		}
		belongs = true
	}
	if _, ok := state.ShownBy[topology.Dependency](v, kind, row); ok {
		p.dirty.markAll()
		belongs = true
	}
	return belongs
}

const defaultRetryAfter = 5 * time.Second

// work brings the listeners of marked load balancers to what the store holds.
func (p *Plane) work() {
	tick := time.NewTicker(cmp.Or(p.cfg.RetryAfter, defaultRetryAfter))
	defer tick.Stop()
	for {
		select {
		case <-p.dirty.notify:
		case <-tick.C:
			p.markFailing()
			continue
		case <-p.filterTimer():
			p.setFilters()
			continue
		case <-p.ctx.Done():
			return
		}
		round := p.dirty.take()
		v := p.cfg.Store.View(state.Owner{})
		if round.all {
			p.reconcileAll(v)
		} else {
			for _, id := range round.ids {
				p.reconcile(v, id)
			}
		}
		if err := p.binder.flush(); err != nil {
			p.cfg.Log.Warn().Err(err).Msg("data plane")
		}
		p.setFilters()
		p.dirty.done(round)
		if !p.debounce() {
			return
		}
	}
}

// debounceTime is the time to gather changes before the plane looks again: many in quick
// succession cost as little as a few.
const debounceTime = 5 * time.Millisecond

// debounce waits for more changes; false is the end.
func (p *Plane) debounce() bool {
	select {
	case <-time.After(debounceTime):
		return true
	case <-p.ctx.Done():
		return false
	}
}

// markFailing marks the load balancers of listeners that are not as they should be.
func (p *Plane) markFailing() {
	for _, id := range p.binder.lost() {
		if l := p.find(id); l != nil {
			l.failing = true
		}
	}
	for _, l := range p.snapshot() {
		if l.failing {
			p.dirty.mark(l.loadBalancer)
		}
	}
}

// Settled waits until the listeners do what the store holds and checks have found by now,
// and have ended what is over by the emulated clock.
func (p *Plane) Settled(ctx context.Context) error {
	err := p.dirty.wait(ctx, p.cfg.Store.Revision())
	p.clock.runDue()
	return err
}

func (p *Plane) reconcileAll(v *state.View) {
	balancers := make(map[string]bool)
	for lb := range topology.LoadBalancers(v) {
		balancers[lb.ID] = true
		p.reconcile(v, lb.ID)
	}
	for _, l := range p.snapshot() {
		if !balancers[l.loadBalancer] {
			p.reconcile(v, l.loadBalancer)
		}
	}
	p.binder.prune(func(id string) bool { return p.find(id) != nil })
}

// reconcile brings the listeners of one load balancer to what the store holds.
func (p *Plane) reconcile(v *state.View, loadBalancerID string) {
	wanted := make(map[string]topology.Frontend)
	lb, there := topology.FindLoadBalancer(v, loadBalancerID)
	if there {
		for f := range lb.Frontends {
			wanted[f.ID] = f
		}
	}
	for _, l := range p.of(loadBalancerID) {
		if _, ok := wanted[l.id]; !ok {
			p.drop(l)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(wanted)) {
		f := wanted[id]
		p.updateListener(v, &lb, &f)
	}
}

// updateListener brings one listener to a frontend.
func (p *Plane) updateListener(v *state.View, lb *topology.LoadBalancer, f *topology.Frontend) {
	l := p.find(f.ID)
	if l == nil {
		if l = p.add(f); l == nil {
			return
		}
	}
	if !lb.Active || !f.Running {
		p.stop(l, "the load balancer or the listener does not run")
		return
	}
	plan, checked, err := p.plan(v, lb, f)
	if err != nil {
		p.stop(l, err.Error())
		return
	}
	p.checks.keep(f.ID, f.LoadBalancerID, checked)
	places, omitted, err := p.binder.bindAddrs(lb, f)
	l.follow(plan, places, omitted, err)
}

// snapshot lists the listeners.
func (p *Plane) snapshot() []*listener {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return slices.Collect(maps.Values(p.listeners))
}

// of lists the listeners of a load balancer.
func (p *Plane) of(loadBalancerID string) (list []*listener) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for _, l := range p.listeners {
		if l.loadBalancer == loadBalancerID {
			list = append(list, l)
		}
	}
	return list
}

func (p *Plane) find(frontendID string) *listener {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.listeners[frontendID]
}

// add creates a listener, or returns nil when there are too many.
func (p *Plane) add(f *topology.Frontend) *listener {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.listeners) >= p.cfg.MaxListeners {
		return nil
	}
	l := newListener(f, forward.Config{Log: p.logOf(f.ID), Dial: p.dial, Clock: p.clock, MaxDescriptor: p.cfg.MaxDescriptor})
	l.config.Observer = &observer{plane: p, listener: l}
	// An emulator that forgets everything at its end has no port to come back to. Others of
	// its kind may have listeners with the same ids next to it.
	l.omitted = p.cfg.PortsFile == "" && p.cfg.Interface == ""
	p.listeners[f.ID] = l
	return l
}

// logOf returns what logs the trouble of a listener: a few lines in ten seconds, as
// clients may be many.
func (p *Plane) logOf(frontendID string) func(error) {
	log := p.cfg.Log.Sample(&zerolog.BurstSampler{Burst: logBurst, Period: 10 * time.Second})
	return func(err error) { log.Warn().Err(err).Str("listener", frontendID).Msg("data plane") }
}

// logBurst limits the lines about a listener that the log gets in ten seconds.
const logBurst = 5

// drop forgets the listener of a deleted frontend, which frees its place.
func (p *Plane) drop(l *listener) {
	p.stop(l, "the listener is gone")
	p.binder.release(l.id)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.listeners) >= p.cfg.MaxListeners {
		p.dirty.markAll()
	}
	delete(p.listeners, l.id)
}

// stop closes a listener that should not answer, and keeps the reason.
func (p *Plane) stop(l *listener, why string) {
	p.checks.keep(l.id, l.loadBalancer, nil)
	if err := l.stop(why); err != nil {
		l.config.Log(err)
	}
}

// Reached returns where the listener of a frontend answers on this machine, and why it does
// not, or not everywhere.
func (p *Plane) Reached(frontendID string) (address, problem string) {
	l := p.find(frontendID)
	if l == nil {
		return "", fmt.Sprintf("the data plane answers for %d listeners: raise --data-plane-max-listeners", p.cfg.MaxListeners)
	}
	_, at, problem := l.shown()
	return shownAt(at), problem
}

// Trouble returns what is wrong with a member, as the data plane sees it; "" is nothing.
func (p *Plane) Trouble(v *state.View, f *topology.Frontend, g *topology.Group, m *topology.Member) string {
	if _, why := p.memberStatus(v, f, g, m); why != nil {
		return why.Error()
	}
	return ""
}

// Health returns the staged health of members, and else what the plane's checks find.
func (p *Plane) Health() topology.Health { return kinds.Health(p) }
