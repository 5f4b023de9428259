package scenarios

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"
)

var backendsKind = kind[keptBackends](Kind{Name: "backends", About: "No listener had fewer ready backends for a while than it had at the mark and has now; {} is since the part started.", Rule: "backends"})

// keptBackends expects that no listener lost ready backends which it had before and has now.
type keptBackends struct {
	Since string `yaml:"since" doc:"Regard only what happened since a mark."`
}

func (b *keptBackends) since() string { return b.Since }

// readySince holds the ready backends of listeners at a mark, and the least since then.
type readySince struct{ then, least map[string]int }

// advance lets time pass, and looks at the backends.
func (p *play) advance(ctx context.Context, d time.Duration) error {
	if err := p.Target.Pass(ctx, d); err != nil {
		return err
	}
	p.passed += d
	return p.noteBackends(ctx)
}

// note begins to look at the backends.
func (b *keptBackends) note(ctx context.Context, p *play) error {
	all, err := p.Target.LoadBalancers(ctx, "")
	now := readyBackends(all)
	maps.DeleteFunc(now, func(_ string, n int) bool { return n == 0 })
	if len(now) > 0 { // or else it has nothing to lose
		p.ready[b.Since] = readySince{now, maps.Clone(now)}
	}
	return err
}

// noteBackends looks at the load balancers, if an expectation of the part is about what
// happens to them meanwhile.
func (p *play) noteBackends(ctx context.Context) error {
	if len(p.ready) == 0 && len(p.serving) == 0 && p.Looked == nil {
		return nil
	}
	all, err := p.balancers(ctx)
	if err != nil {
		return err
	}
	now := readyBackends(all)
	for _, since := range p.ready {
		for listener := range since.then {
			since.least[listener] = min(since.least[listener], now[listener])
		}
	}
	return nil
}

// readyBackends returns the ready backends of each listener.
func readyBackends(all []LoadBalancerState) map[string]int {
	ready := make(map[string]int)
	for _, lb := range all {
		for listener, n := range lb.Ready {
			ready[lb.Name+" "+listener] += n
		}
	}
	return ready
}

func (b *keptBackends) look(ctx context.Context, p *play) error {
	since, ok := p.ready[b.Since]
	if !ok {
		return nil
	}
	if err := p.noteBackends(ctx); err != nil {
		return err
	}
	all, err := p.Target.LoadBalancers(ctx, "")
	if err != nil {
		return err
	}
	now := readyBackends(all)
	var expected, seen []string
	for _, listener := range sortedKeys(since.then) {
		if bound := min(since.then[listener], now[listener]); since.least[listener] < bound {
			expected = append(expected, fmt.Sprintf("never fewer than %d ready backends of %s", bound, listener))
			seen = append(seen, fmt.Sprintf("%d for a while", since.least[listener]))
		}
	}
	if expected == nil {
		return nil
	}
	return &Unmet{Expected: strings.Join(expected, "; "), Seen: strings.Join(seen, "; ")}
}
