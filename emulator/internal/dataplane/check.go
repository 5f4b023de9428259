package dataplane

import (
	"context"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

// checkKey is a check of one address. Listeners that check the same address in the same
// way share its results.
type checkKey struct {
	kind                     string
	server                   string // the member's name
	at                       netip.AddrPort
	timeout, interval        time.Duration
	healthy, unhealthy       int
	method, host, uri, codes string
	request, expect          string
}

// newCheckKey returns the key of the check of a member at an address. The check's port counts only
// if the user gave no port at which to reach the server.
func newCheckKey(c topology.HealthCheck, m *topology.Member, at netip.AddrPort) checkKey {
	if c.Port != 0 && m.ReachAt.Port() == 0 {
		at = netip.AddrPortFrom(at.Addr(), uint16(c.Port))
	}
	return checkKey{kind: c.Type, server: nameOf(m), at: at, timeout: max(c.Timeout, time.Second), interval: max(c.Interval, time.Second),
		healthy: max(c.Healthy, 1), unhealthy: max(c.Unhealthy, 1),
		method: c.Method, host: c.Host, uri: c.URI, codes: strings.Join(c.Codes, ","), request: c.Request, expect: c.Expect}
}

// checks runs the checks that listeners need.
type checks struct {
	ctx     context.Context
	tasks   *sync.WaitGroup
	clock   forward.Clock
	changed func(loadBalancerID string)
	try     func(context.Context, *checkKey) error
	fault   func(server string, frontends []string) error // nil is none
	slots   chan struct{}                                 // limits the probes that run at once

	mu      sync.Mutex
	running map[checkKey]*check
	needed  map[string][]checkKey // by frontend
}

// maxProbes limits how many probes run at a time.
const maxProbes = 256

func newChecks(ctx context.Context, tasks *sync.WaitGroup, clock forward.Clock, changed func(string)) *checks {
	return &checks{ctx: ctx, tasks: tasks, clock: clock, changed: changed, try: probe, slots: make(chan struct{}, maxProbes),
		running: make(map[checkKey]*check), needed: make(map[string][]checkKey)}
}

// check is one that runs. The lock of checks guards its fields.
type check struct {
	cancel context.CancelFunc
	users  map[string]string // load balancers by frontend
	failed bool
	streak int // of results that speak against the status
	reason error
}

// keep lets the checks of a frontend be those, and ends others that are not needed.
func (c *checks) keep(frontendID, loadBalancerID string, keys []checkKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.needed[frontendID]
	c.needed[frontendID] = keys
	if len(keys) == 0 {
		delete(c.needed, frontendID)
	}
	for _, key := range keys {
		if c.running[key] == nil {
			c.start(key)
		}
		c.running[key].users[frontendID] = loadBalancerID
	}
	for _, key := range old {
		if running := c.running[key]; running != nil && !slices.Contains(keys, key) {
			if delete(running.users, frontendID); len(running.users) == 0 {
				running.cancel()
				delete(c.running, key)
			}
		}
	}
}

// start runs a check of an address. Until it fails, the member counts as well, as in the
// cloud.
func (c *checks) start(key checkKey) {
	ctx, cancel := context.WithCancel(c.ctx)
	running := &check{cancel: cancel, users: make(map[string]string)}
	c.running[key] = running
	c.tasks.Go(func() {
		ahead := time.Duration(0) // what passed of the clock beyond the intervals
		for c.probe(ctx, key, running) {
			began := c.clock.Now()
			c.pause(ctx, max(key.interval-ahead, 0))
			ahead += c.clock.Now().Sub(began) - key.interval
			ahead = min(max(ahead, 0), key.interval*time.Duration(max(key.healthy, key.unhealthy)))
		}
	})
}

// pause waits for an interval. A clock that is advanced ends it; one that stands still
// does not keep checks from going on.
func (c *checks) pause(ctx context.Context, interval time.Duration) {
	advanced := make(chan struct{})
	stop := c.clock.AfterFunc(interval, func() { close(advanced) })
	defer stop()
	least := time.After(leastPause)
	select {
	case <-advanced:
	case <-time.After(c.scaled(interval, leastPause)):
	case <-ctx.Done():
	}
	select {
	case <-least:
	case <-ctx.Done():
	}
}

// A check pauses and waits for an answer at least this long, however fast emulated time
// goes: the machine gets no faster by it.
const (
	leastPause   = 20 * time.Millisecond
	leastTimeout = 200 * time.Millisecond
)

// scaled returns how long an emulated time takes, which is a real minimum or more.
func (c *checks) scaled(d, least time.Duration) time.Duration {
	return max(c.clock.Real(d), least)
}

// probe probes once and counts the result; false ends the check.
func (c *checks) probe(ctx context.Context, key checkKey, running *check) bool {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return false
	}
	limited, cancel := context.WithTimeout(ctx, c.scaled(key.timeout, leastTimeout))
	defer cancel()
	err := c.injectedFailure(&key, running)
	if err == nil {
		err = c.try(limited, &key)
	}
	if ctx.Err() != nil {
		return false
	}
	c.count(key, running, err)
	return true
}

// injectedFailure returns why a fault rule lets a check fail.
func (c *checks) injectedFailure(key *checkKey, running *check) error {
	if c.fault == nil {
		return nil
	}
	c.mu.Lock()
	frontends := slices.Sorted(maps.Keys(running.users))
	c.mu.Unlock()
	return c.fault(key.server, frontends)
}

// count counts a result. It reports the load balancers that a new status changes before
// a reader can see that status.
func (c *checks) count(key checkKey, running *check, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		running.reason = err
	}
	if running.failed == (err != nil) {
		running.streak = 0
		return
	}
	enough := key.unhealthy
	if running.failed {
		enough = key.healthy
	}
	if running.streak++; running.streak < enough {
		return
	}
	running.failed, running.streak = err != nil, 0
	for _, id := range running.users {
		c.changed(id)
	}
}

// status returns what the check finds, and why it fails; ok is false if it does not run.
func (c *checks) status(key checkKey) (status topology.Status, why error, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	running, ok := c.running[key]
	switch {
	case !ok:
		return "", nil, false
	case running.failed:
		return topology.Abnormal, running.reason, true
	}
	return topology.Normal, nil, true
}

var _ topology.Health = (*Plane)(nil)

// Of implements topology.Health by the plane's checks. Of listeners that the plane does
// not serve it knows no more than the state does.
func (p *Plane) Of(v *state.View, f *topology.Frontend, g *topology.Group, m *topology.Member) topology.Status {
	status, _ := p.memberStatus(v, f, g, m)
	return status
}

// Cause implements topology.Prober.
func (p *Plane) Cause(v *state.View, f *topology.Frontend, g *topology.Group, m *topology.Member) topology.Cause {
	_, why := p.memberStatus(v, f, g, m)
	var failed *probeError
	if errors.As(why, &failed) {
		return failed.cause
	}
	return topology.UnknownCause
}

// errNotRunning reports that a server is stopped or gone.
var errNotRunning = errors.New("the server does not run")

// memberStatus returns the status of a member, and an error that says what is wrong with it.
func (p *Plane) memberStatus(v *state.View, f *topology.Frontend, g *topology.Group, m *topology.Member) (topology.Status, error) {
	l := p.find(f.ID)
	if l == nil {
		return topology.Assumed{}.Of(v, f, g, m), nil
	}
	at, err := p.memberAddr(m, portOf(f, m))
	if err == nil {
		err = l.service.Check(l.network, at)
	}
	switch {
	case topology.Checked(f, g) && m.Presence == topology.Absent:
		return topology.Abnormal, errNotRunning
	case topology.Checked(f, g) && err != nil:
		return topology.Abnormal, failing(topology.ConnectTimeout, err)
	case err != nil:
		return topology.Assumed{}.Of(v, f, g, m), err
	case !topology.Checked(f, g):
		return topology.Assumed{}.Of(v, f, g, m), nil
	}
	status, why, ok := p.checks.status(newCheckKey(topology.CheckOf(f, g), m, at))
	if !ok {
		return topology.Normal, nil // the first check is on its way
	}
	return status, why
}
