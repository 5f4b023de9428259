package scenarios

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/yamlfile"
	"github.com/clbemu/clbemu/faults"
)

var faultKind = kind[Fault](Kind{Name: "fault", About: "Add a fault rule; clbemu fault --help explains its fields.", judges: true})

// Fault is a rule as the file has it. Templates in it are texts until the step plays.
type Fault struct {
	node *yaml.Node
	rule faults.Rule
}

var _ yamlfile.Reader = (*Fault)(nil)

// ReadYAML implements yamlfile.Reader.
func (f *Fault) ReadYAML(d *yamlfile.Decoder, node *yaml.Node, field string) {
	f.node, f.rule = node, faults.Read(d, node, field, nil)
}

// crashes reports whether the rule ends the server.
func (f *Fault) crashes() bool {
	_, crashes := f.rule.Effect.Value.(faults.Crash)
	return crashes
}

func (f *Fault) title() string { return "fault " + f.rule.Name }

func (f *Fault) check(c *checker, at spot, in scope) {
	var check func(*faults.Rule) []faults.Problem
	if c.names != nil {
		check = c.names.ResolveFault
	}
	rule := faults.Read(c.Decoder, f.node, at.path, check)
	in.faults[rule.Name] = true
	c.packets(rule.Match, at.in("fault", "match"), in)
}

// packets checks what a fault rule matches of packets.
func (c *checker) packets(m faults.Match, at spot, in scope) {
	if id := m.Fields["loadBalancer"].Equals; id != nil {
		c.balancerID(*id, at.in("loadBalancer"))
	}
	if id := m.Fields["server"].Equals; id != nil {
		c.server(*id, at.in("server"), in)
	}
}

// do adds a rule and watches it.
func (f *Fault) do(ctx context.Context, p *play, s *Step) error {
	if err := p.count(ctx); err != nil {
		return err
	}
	if err := p.Target.AddFault(ctx, f.rule); err != nil {
		return err
	}
	if replaced := p.armedFault(f.rule.Name); replaced != nil {
		replaced.armed = false
	}
	p.watched = append(p.watched, &watchedFault{name: f.rule.Name, line: s.Line, armed: true})
	return nil
}

var clearKind = kind[Clear](Kind{Name: "clear", About: "Remove fault rules by name."})

// Clear lists the names of fault rules to remove.
type Clear NameList

var _ yamlfile.Reader = (*Clear)(nil)

// ReadYAML implements yamlfile.Reader.
func (r *Clear) ReadYAML(d *yamlfile.Decoder, node *yaml.Node, field string) {
	(*NameList)(r).ReadYAML(d, node, field)
}

func (r Clear) title() string { return "clear " + strings.Join(r, " ") }

func (r Clear) check(c *checker, at spot, in scope) {
	for _, name := range r {
		c.armed(at, name, in)
	}
}

// armed wants a fault rule of an earlier step.
func (c *checker) armed(at spot, name string, in scope) {
	if !in.faults[name] {
		c.missing(at, "no earlier step adds a fault called %s%s", name, near(name, in.faults))
	}
}

func (r Clear) do(ctx context.Context, p *play, _ *Step) error {
	if err := p.count(ctx); err != nil {
		return err
	}
	if err := p.Target.ClearFaults(ctx, r...); err != nil {
		return err
	}
	for _, name := range r {
		if w := p.armedFault(name); w != nil {
			w.armed = false
		}
	}
	return nil
}

var struckKind = kind[struckStep](Kind{Name: "struck", About: "Wait until a fault rule takes effect."})

// struckStep is a wait for a fault rule.
type struckStep struct {
	Fault  string   `yaml:"fault" required:"true" doc:"The name of the rule."`
	Within Duration `yaml:"within" doc:"The longest wait; 30s if absent."`
}

func (s *struckStep) title() string                       { return "wait for the fault " + s.Fault }
func (s *struckStep) check(c *checker, at spot, in scope) { c.armed(at.in("fault"), s.Fault, in) }

func (s *struckStep) do(ctx context.Context, p *play, _ *Step) error {
	within := cmp.Or(time.Duration(s.Within), defaultStruck)
	expected := "the fault " + s.Fault + " to strike within " + Duration(within).String()
	for passed := time.Duration(0); ; passed += lookEvery {
		gone := p.programEnded(ctx) // before counting the calls, or it misses the last one
		if err := p.count(ctx); err != nil {
			return err
		}
		w := p.armedFault(s.Fault)
		switch {
		case w == nil:
			return fmt.Errorf("there is no fault %s", s.Fault)
		case w.hits > 0:
			return nil
		case passed >= within:
			return &Unmet{Expected: expected, Seen: "that it did not: it matched " + callsOf(int(w.seen))}
		}
		if gone {
			over, pause, err := p.ended(ctx)
			if err != nil {
				return err
			}
			passed += pause
			if over {
				return &Unmet{Expected: expected, Seen: fmt.Sprintf("that the program ended first, with exit status %d: it matched %s", p.running.Exit(), callsOf(int(w.seen)))}
			}
		}
		if err := p.advance(ctx, lookEvery); err != nil {
			return err
		}
	}
}

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
		return p.stepFailure(1, "faults", err)
	}
	for _, w := range p.watched {
		if w.hits == 0 {
			f := p.stepFailure(w.line, "fault "+w.name, &Unmet{Expected: "the fault to strike at least once", Seen: "that it never did: it matched " + callsOf(int(w.seen))})
			f.Unmet[0].Kind = faultKind.Name
			return f
		}
	}
	return nil
}

// releaseTime limits how long a controller that ends with the scenario may take to let go of
// an object.
const releaseTime = 5 * time.Second

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
	// A controller that can't let go of an object may be the subject of a scenario. One that is
	// ended while it removes a finalizer makes Kubernetes leak the NodePorts of the Service.
	wait := []string{"--wait=false"}
	if p.running != nil && !p.programEnded(ctx) {
		wait = []string{"--timeout", releaseTime.String()}
	}
	for i := len(p.applied) - 1; i >= 0; i-- {
		if _, err := p.Cluster.Kubectl(ctx, p.applied[i], append([]string{"delete", "--filename", "-", "--ignore-not-found"}, wait...)...); err != nil {
			notes = append(notes, fmt.Sprintf("objects are still in the cluster: %v", err))
		}
	}
	if p.running != nil {
		p.running.Stop()
	}
	return notes
}
