// Package replicas lets several emulators share a state: it leads or follows, and passes
// the calls that only the leader can answer on to it. It knows HTTP and who leads; what a
// call asks for is the gateway's business.
package replicas

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine"
)

// ErrDeposed ends a replica that led and can't be sure of it any more. It starts again
// as a follower.
var ErrDeposed = errors.New("another replica may lead now")

// Config configures a replica.
type Config struct {
	Election engine.Election
	Store    *state.Store
	// Self says how the others reach this replica.
	Self controlapi.Replica
	// Lead is called when this replica leads: the store takes writes, and no other
	// process does.
	Lead func(context.Context) error
	// Local, if set, reports whether a follower may answer a call of the API itself.
	Local func(*http.Request) bool
	Log   zerolog.Logger
}

// Replica is this process among those that share the state.
type Replica struct {
	cfg     Config
	api     *forwarder
	control *forwarder

	mu      sync.Mutex
	members []member
	term    engine.Term // nil unless this one leads, and is ready to
	changed chan struct{}
	problem error // why this one can't lead or follow, nil if it can
	foreign error // what another program has changed of what is kept, nil if nothing
}

var _ prometheus.Collector = (*Replica)(nil)

type member struct {
	controlapi.Replica
	term int64
}

// New returns a replica that follows. Run lets it lead.
func New(cfg Config) *Replica {
	r := &Replica{cfg: cfg, changed: make(chan struct{})}
	r.api = r.newForwarder(func(leader controlapi.Replica) string { return leader.API })
	r.control = r.newForwarder(func(leader controlapi.Replica) string { return leader.Control })
	return r
}

// Run follows, and leads once it is elected. It ends with ctx, with an error that wraps
// ErrDeposed when the term is over, or with one that wraps engine.ErrReplaced. Until it is
// replaced, the replica answers with that error.
func (r *Replica) Run(ctx context.Context) error {
	err := r.run(ctx)
	r.update(func() { r.problem, r.members = err, nil })
	return err
}

func (r *Replica) run(ctx context.Context) error {
	self, err := json.Marshal(r.cfg.Self)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		if err := r.cfg.Election.Members(ctx, r.setMembers); err != nil && ctx.Err() == nil {
			cancel(deposed(err))
		}
	}()
	go r.watchForeign(ctx)
	for {
		term, err := r.cfg.Election.Campaign(ctx, string(self))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, engine.ErrReplaced) {
			return err
		}
		if err != nil {
			r.cfg.Log.Warn().Err(err).Msg("the election failed, and is tried again")
			r.update(func() { r.problem = err })
			select {
			case <-time.After(electAgain):
			case <-ctx.Done():
			}
			continue
		}
		r.update(func() { r.problem = nil })
		return r.lead(ctx, term)
	}
}

// watchForeign notes what another program changes in the kept state. From then on, writes are
// refused.
func (r *Replica) watchForeign(ctx context.Context) {
	foreign := r.cfg.Election.Changed(ctx)
	if ctx.Err() == nil {
		r.cfg.Log.Error().Err(foreign).Msg("another program changed the state in etcd")
		r.update(func() { r.foreign = foreign })
	}
}

// spoilt returns what another program has changed in the kept state, or nil.
func (r *Replica) spoilt() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.foreign
}

// noLeader returns why no replica answers.
func (r *Replica) noLeader() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.foreign != nil {
		return fmt.Errorf("no replica leads, as far as this one knows: %w", r.foreign)
	}
	if r.problem != nil {
		return fmt.Errorf("no replica leads, as far as this one knows: %w", r.problem)
	}
	return errNoLeader
}

// deposed returns an error after which a replica starts again, unless it would then read an older
// state than it has read.
func deposed(err error) error {
	if errors.Is(err, engine.ErrReplaced) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDeposed, err)
}

// electAgain is the time that a replica waits after an election that failed.
const electAgain = 500 * time.Millisecond

func (r *Replica) lead(ctx context.Context, term engine.Term) error {
	begun := time.Now()
	ready, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-term.Over():
			cancel()
		case <-ready.Done():
		}
	}()
	err := r.cfg.Store.Lead(ready)
	if err == nil {
		err = r.cfg.Lead(ready)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return deposed(err)
	}
	r.update(func() { r.term = term })
	r.cfg.Log.Info().Str("replica", r.cfg.Self.Name).Dur("after", time.Since(begun)).Msg("this replica leads")
	select {
	case <-term.Over():
		return deposed(term.Why())
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// update changes what those who wait for a leader look at.
func (r *Replica) update(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *Replica) setMembers(elected []engine.Member) {
	members := make([]member, 0, len(elected))
	for _, m := range elected {
		known := member{term: m.Term}
		if err := json.Unmarshal([]byte(m.Self), &known.Replica); err != nil {
			r.cfg.Log.Warn().Err(err).Msg("a replica of another version takes part in the election")
		}
		members = append(members, known)
	}
	r.update(func() { r.members = members })
}

// leads reports whether this replica may answer: no other can have begun to.
func (r *Replica) leads() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.term != nil && r.term.Leads()
}

// leader returns who leads, if any replica does, and what is closed when that may change.
func (r *Replica) leader() (leader controlapi.Replica, known bool, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.members) > 0 {
		leader, known = r.members[0].Replica, true
	}
	return leader, known, r.changed
}

// lag returns how far this replica may be behind the leader, if it follows one.
func (r *Replica) lag() (lag time.Duration, follows bool) {
	confirmed, follows := r.cfg.Store.Follows()
	if !follows {
		return 0, false
	}
	return max(time.Since(confirmed), 0), true
}

// maxLag is from when on a follower is not ready.
const maxLag = 10 * time.Second

// Ready returns why the replica can't answer or pass on calls, or nil if it can.
func (r *Replica) Ready() error {
	if err := r.spoilt(); err != nil {
		return err
	}
	if r.leads() {
		return nil
	}
	if leader, known, _ := r.leader(); !known {
		return r.noLeader()
	} else if leader.Name == r.cfg.Self.Name {
		return errors.New("this replica is about to lead, or no longer leads for certain")
	}
	if lag, _ := r.lag(); lag > maxLag {
		return fmt.Errorf("this replica may be %s behind the leader: it does not reach etcd", lag.Round(time.Second))
	}
	return nil
}

// Status describes the replicas.
func (r *Replica) Status() *controlapi.Replicas {
	r.mu.Lock()
	problem := ""
	if err := cmp.Or(r.problem, r.foreign); err != nil {
		problem = err.Error()
	}
	s := &controlapi.Replicas{Problem: problem, Self: r.cfg.Self.Name, Leads: r.term != nil && r.term.Leads(), All: make([]controlapi.Replica, len(r.members))}
	for i, m := range r.members {
		s.All[i] = m.Replica
		if i == 0 {
			s.Leader, s.Term = m.Name, m.term
		}
	}
	r.mu.Unlock()
	lag, _ := r.lag()
	s.LagSeconds = lag.Seconds()
	return s
}

var (
	leadsDesc = prometheus.NewDesc("clbemu_replica_leads", "1 while this replica leads.", nil, nil)
	termDesc  = prometheus.NewDesc("clbemu_replica_term", "The leader's term, which grows with each.", nil, nil)
	lagDesc   = prometheus.NewDesc("clbemu_replica_lag_seconds", "How far this replica may be behind the leader.", nil, nil)
)

// Describe implements prometheus.Collector.
func (r *Replica) Describe(ch chan<- *prometheus.Desc) {
	ch <- leadsDesc
	ch <- termDesc
	ch <- lagDesc
}

// Collect implements prometheus.Collector.
func (r *Replica) Collect(ch chan<- prometheus.Metric) {
	s := r.Status()
	leads := 0.0
	if s.Leads {
		leads = 1
	}
	ch <- prometheus.MustNewConstMetric(leadsDesc, prometheus.GaugeValue, leads)
	ch <- prometheus.MustNewConstMetric(termDesc, prometheus.GaugeValue, float64(s.Term))
	ch <- prometheus.MustNewConstMetric(lagDesc, prometheus.GaugeValue, s.LagSeconds)
}
