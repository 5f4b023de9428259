package scenarios

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

var servedKind = kind[served](Kind{Name: "served", About: "Since it first had a running listener with a ready backend, a load balancer has kept its id and its addresses, and each such listener a ready backend.", Rule: ruleOutage})

// served expects that what serves goes on to serve.
type served struct {
	Since  string   `yaml:"since" doc:"Regard only what happened since a mark."`
	Except NameList `yaml:"except" doc:"What may go: a load balancer by its name, as web, or a listener of it, as web tcp:80."`
}

// The rules of clbemu explore for what served.
const (
	ruleOutage   = "outage"
	ruleReplaced = "replaced"
)

func (s *served) since() string { return s.Since }

// note begins to look at what serves.
func (s *served) note(ctx context.Context, p *play) error {
	all, err := p.balancers(ctx) // what was before the mark goes to the others
	serving := &Serving{}
	serving.Look(all, p.at)
	p.serving[s.Since] = serving
	return err
}

// historian is a target that knows what the load balancers were after each change. It calls
// look for each since it was last asked, and at last for now.
type historian interface {
	History(ctx context.Context, look func(all []LoadBalancerState, at time.Time)) error
}

// balancers returns the load balancers, and lets those regard them who want to know what
// happens to them meanwhile: each change where the target knows it, else what a look shows.
func (p *play) balancers(ctx context.Context) (all []LoadBalancerState, err error) {
	h, ok := p.Target.(historian)
	if !ok {
		if all, err = p.Target.LoadBalancers(ctx, ""); err == nil {
			p.regard(all, p.passed)
		}
		return all, err
	}
	err = h.History(ctx, func(is []LoadBalancerState, at time.Time) {
		if p.origin.IsZero() {
			p.origin = at
		}
		all = is
		p.regard(is, at.Sub(p.origin))
	})
	return all, err
}

func (p *play) regard(all []LoadBalancerState, at time.Duration) {
	p.at = at
	if p.Looked != nil {
		p.Looked(all, at)
	}
	for _, s := range p.serving {
		s.Look(all, at)
	}
}

func (s *served) look(ctx context.Context, p *play) error {
	serving := p.serving[s.Since]
	if serving == nil {
		return nil
	}
	if err := p.noteBackends(ctx); err != nil {
		return err
	}
	u := &Unmet{}
	var expected, seen []string
	for _, l := range serving.losses() {
		if slices.Contains(s.Except, l.what) {
			continue
		}
		if u.Rule = cmp.Or(u.Rule, ruleOutage); l.replaced {
			u.Rule = ruleReplaced
		}
		expected, seen = append(expected, l.expected), append(seen, l.seen)
	}
	if expected == nil {
		return nil
	}
	u.Expected, u.Seen = strings.Join(expected, "; "), strings.Join(seen, "; ")
	return u
}

// Serving records, from repeated looks, which load balancers and listeners have served. The zero
// Serving has looked at none.
type Serving struct {
	balancers []*servingBalancer
}

// servingBalancer is a load balancer since it first served.
type servingBalancer struct {
	id, name  string
	addresses []string
	now       []string // its addresses at the last look
	gone      bool
	another   bool // one of its name came when it was gone, or was there already
	listeners map[string]*servingListener
}

// servingListener is a listener since it first had a ready backend.
type servingListener struct {
	none    bool          // the last look found no ready backend
	since   time.Duration // when the first look found none, of those since one found some
	longest time.Duration // without one
	ever    bool          // a look found none
}

// loss is a resource that stopped serving.
type loss struct {
	what           string // a name, or a name and a listener
	expected, seen string
	replaced       bool
}

// Look regards the load balancers at a moment, on any clock.
func (s *Serving) Look(all []LoadBalancerState, at time.Duration) {
	for _, b := range s.balancers {
		i := slices.IndexFunc(all, func(is LoadBalancerState) bool { return is.ID == b.id })
		if b.gone = b.gone || i < 0; b.gone {
			b.another = b.another || slices.ContainsFunc(all, func(is LoadBalancerState) bool { return is.Name == b.name && is.ID != b.id })
			continue
		}
		b.now = all[i].Addresses
		for name, l := range b.listeners {
			l.look(all[i].Ready[name], at)
		}
	}
	for _, is := range all {
		for _, name := range sortedKeys(is.Ready) {
			if is.Ready[name] > 0 {
				s.served(is, name)
			}
		}
	}
}

// served notes that a listener serves.
func (s *Serving) served(is LoadBalancerState, listener string) {
	i := slices.IndexFunc(s.balancers, func(b *servingBalancer) bool { return b.id == is.ID })
	if i < 0 {
		i = len(s.balancers)
		s.balancers = append(s.balancers, &servingBalancer{id: is.ID, name: is.Name, addresses: is.Addresses, now: is.Addresses, listeners: make(map[string]*servingListener)})
	}
	if b := s.balancers[i]; b.listeners[listener] == nil {
		b.listeners[listener] = &servingListener{}
	}
}

// look regards its ready backends.
func (l *servingListener) look(ready int, at time.Duration) {
	if l.none {
		l.longest = max(l.longest, at-l.since)
	}
	if none := ready == 0; none != l.none {
		l.none, l.since = none, at
	}
	l.ever = l.ever || l.none
}

// outage is the time without a ready backend that does not count yet: that between two calls of a
// client that replaces them.
const outage = 200 * time.Millisecond

// Lost lists what did not go on to serve, as Except has it, also for a moment.
func (s *Serving) Lost() (names []string) {
	for _, b := range s.balancers {
		if b.gone || b.moved() {
			names = append(names, b.name)
		}
		for _, name := range sortedKeys(b.listeners) {
			if l := b.listeners[name]; b.gone || l.ever {
				names = append(names, b.name+" "+name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// moved reports whether it has lost an address.
func (b *servingBalancer) moved() bool {
	return slices.ContainsFunc(b.addresses, func(address string) bool { return !slices.Contains(b.now, address) })
}

// losses lists what did not go on to serve.
func (s *Serving) losses() (all []loss) {
	for _, b := range s.balancers {
		switch {
		case b.gone && b.another:
			all = append(all, loss{b.name, "the load balancer " + b.name + ", which served, to stay", "that it was deleted, and another one came", true})
			continue
		case b.gone:
			all = append(all, loss{b.name, "the load balancer " + b.name + ", which served, to stay", "that it was deleted", false})
			continue
		case b.moved():
			all = append(all, loss{b.name, "the load balancer " + b.name + " to keep its addresses", "others", true})
		}
		for _, name := range sortedKeys(b.listeners) {
			if l := b.listeners[name]; l.longest >= outage {
				all = append(all, loss{b.name + " " + name, "never no ready backend of " + b.name + " " + name, fmt.Sprintf("none for %s", Duration(l.longest.Round(lookEvery))), false})
			}
		}
	}
	return all
}
