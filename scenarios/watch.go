package scenarios

import (
	"context"
	"fmt"
)

// watchedFault is a rule that the scenario added.
type watchedFault struct {
	name       string
	line       int
	armed      bool
	seen, hits uint64
}

// count notes how often the armed rules have struck, before they go.
func (p *play) count(ctx context.Context) error {
	if len(p.watched) == 0 {
		return nil
	}
	list, err := p.Target.Faults(ctx)
	for _, status := range list {
		if w := p.armedFault(status.Rule.Name); w != nil {
			w.seen, w.hits = max(w.seen, status.Seen), max(w.hits, status.Hits)
		}
	}
	return err
}

func (p *play) armedFault(name string) *watchedFault {
	for _, w := range p.watched {
		if w.armed && w.name == name {
			return w
		}
	}
	return nil
}

// everyFaultFired fails a scenario that proved nothing about one of its faults.
func (p *play) everyFaultFired(ctx context.Context) *Failure {
	if err := p.count(ctx); err != nil {
		return p.broken(1, "faults", err)
	}
	for _, w := range p.watched {
		if w.hits == 0 {
			d := &difference{expected: "the fault to strike at least once", seen: "that it never did: it matched " + callsOf(int(w.seen))}
			return p.broken(w.line, "fault "+w.name, unmet{unmetOf(w.line, "fault", "fault "+w.name, d)})
		}
	}
	return nil
}

// end takes away what the scenario left behind: rules that are still armed, objects
// in the cluster, and the program.
func (p *play) end(ctx context.Context) (notes []string) {
	if err := p.endTraffic(); err != nil {
		notes = append(notes, fmt.Sprintf("a server of the scenario did not end: %v", err))
	}
	for _, w := range p.watched {
		if !w.armed {
			continue
		}
		if err := p.Target.ClearFaults(ctx, w.name); err != nil {
			notes = append(notes, fmt.Sprintf("the fault %s is still there: %v", w.name, err))
		}
	}
	for i := len(p.applied) - 1; i >= 0; i-- {
		if err := p.kubectlDelete(ctx, p.applied[i]); err != nil {
			notes = append(notes, fmt.Sprintf("objects are still in the cluster: %v", err))
		}
	}
	if p.running != nil {
		p.running.Stop()
	}
	return notes
}
