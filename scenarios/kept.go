package scenarios

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/clbemu/clbemu/emulator/glob"
)

// keptBackends expects that no listener lost ready backends which it had before and has now.
type keptBackends struct {
	Since string `yaml:"since" doc:"Regard only what happened since a mark."`
}

// ingressAddresses expects load balancers at the addresses that Services have.
type ingressAddresses struct {
	Namespace string              `yaml:"namespace" doc:"The namespace, default if absent."`
	Kinds     map[string][]string `yaml:"kinds" doc:"By Service, the kinds of its addresses, public, private or name. One that is absent may have any."`
}

// refusedCalls expects that a refused call is not forgotten.
type refusedCalls struct {
	Action    string `yaml:"action" doc:"A glob, or several separated by commas; all if absent."`
	Namespace string `yaml:"namespace" doc:"The namespace of the Events, default if absent."`
}

// readySince holds the ready backends of listeners at a mark, and the least since then.
type readySince struct{ then, least map[string]int }

// pass lets time pass, and looks at the backends.
func (p *play) pass(ctx context.Context, d time.Duration) error {
	if err := p.Target.Pass(ctx, d); err != nil {
		return err
	}
	return p.noteBackends(ctx)
}

// watchBackends begins to look at the backends at a mark, if an expectation is about it.
func (p *play) watchBackends(ctx context.Context, mark string) error {
	if !slices.ContainsFunc(p.scenario.Half(p.half).allExpectations(), func(e Expectation) bool { return e.Backends != nil && e.Backends.Since == mark }) {
		return nil
	}
	now, err := p.readyBackends(ctx)
	maps.DeleteFunc(now, func(_ string, n int) bool { return n == 0 })
	if len(now) > 0 { // or else nothing can be lost
		p.ready[mark] = readySince{now, maps.Clone(now)}
	}
	return err
}

// noteBackends looks at the backends, if an expectation of the half is about them.
func (p *play) noteBackends(ctx context.Context) error {
	if len(p.ready) == 0 {
		return nil
	}
	now, err := p.readyBackends(ctx)
	if err != nil {
		return err
	}
	for _, since := range p.ready {
		for listener := range since.then {
			since.least[listener] = min(since.least[listener], now[listener])
		}
	}
	return nil
}

// readyBackends returns the ready backends of each listener.
func (p *play) readyBackends(ctx context.Context) (map[string]int, error) {
	all, err := p.Target.LoadBalancers(ctx, "")
	ready := make(map[string]int)
	for _, lb := range all {
		for listener, n := range lb.Ready {
			ready[lb.Name+" "+listener] += n
		}
	}
	return ready, err
}

func (p *play) lookAtBackends(ctx context.Context, want *keptBackends) error {
	since, ok := p.ready[want.Since]
	if !ok {
		return nil
	}
	if err := p.noteBackends(ctx); err != nil {
		return err
	}
	now, err := p.readyBackends(ctx)
	if err != nil {
		return err
	}
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
	return &difference{expected: strings.Join(expected, "; "), seen: strings.Join(seen, "; ")}
}

// lookAtIngress looks for the load balancers of the Services that the half applied.
func (p *play) lookAtIngress(ctx context.Context, want *ingressAddresses) error {
	all, err := p.Target.LoadBalancers(ctx, "")
	if err != nil {
		return err
	}
	services, err := ingressOf(ctx, p.Cluster, want.Namespace)
	if err != nil {
		return &difference{expected: "the Services of the cluster", seen: err.Error()}
	}
	for _, s := range services {
		if len(p.uids[idOf("Service", want.Namespace, s.name)]) == 0 {
			continue
		}
		for _, address := range s.addresses {
			if !slices.ContainsFunc(all, func(lb LoadBalancerState) bool { return slices.Contains(lb.Addresses, address) }) {
				return &difference{expected: "a load balancer at the address in the status of service/" + s.name, seen: address + ", which none has"}
			}
		}
		if kinds := s.kinds(); want.Kinds[s.name] != nil && !slices.Equal(kinds, want.Kinds[s.name]) {
			return &difference{expected: "addresses in the status of service/" + s.name + " that are " + strings.Join(want.Kinds[s.name], ", "),
				seen: cmp.Or(strings.Join(kinds, ", "), "none") + " " + fmt.Sprint(s.addresses)}
		}
	}
	return nil
}

// serviceIngress is a Service with the addresses in its status.
type serviceIngress struct {
	name      string
	addresses []string
}

// ingressOf lists the Services of a namespace.
func ingressOf(ctx context.Context, cluster Cluster, namespace string) (all []serviceIngress, err error) {
	out, err := cluster.Kubectl(ctx, "", "get", "services", "--namespace", orDefault(namespace), "--output", "json")
	if err != nil {
		return nil, err
	}
	var services struct {
		Items []struct {
			Metadata struct{ Name string }
			Status   struct {
				LoadBalancer struct {
					Ingress []struct{ IP, Hostname string }
				}
			}
		}
	}
	if err := json.Unmarshal(out, &services); err != nil {
		return nil, err
	}
	for _, item := range services.Items {
		s := serviceIngress{name: item.Metadata.Name}
		for _, at := range item.Status.LoadBalancer.Ingress {
			s.addresses = append(s.addresses, at.IP+at.Hostname)
		}
		all = append(all, s)
	}
	return all, nil
}

// IngressKinds returns the kinds of the addresses that a namespace's Services have, by name.
// The addresses themselves differ between plays; whether clients in the internet can reach
// them must not.
func IngressKinds(ctx context.Context, cluster Cluster, namespace string) (map[string][]string, error) {
	services, err := ingressOf(ctx, cluster, namespace)
	all := make(map[string][]string)
	for _, s := range services {
		if s.addresses != nil {
			all[s.name] = s.kinds()
		}
	}
	return all, err
}

// kinds returns what each address is: public, private or name.
func (s *serviceIngress) kinds() (kinds []string) {
	for _, address := range s.addresses {
		kind := "public"
		if ip, err := netip.ParseAddr(address); err != nil {
			kind = "name"
		} else if ip.IsPrivate() {
			kind = "private"
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

// lookAtRefused looks for refused calls that nobody made again or told of.
func (p *play) lookAtRefused(ctx context.Context, want *refusedCalls) error {
	calls, err := p.Target.Calls(ctx, p.start)
	if err != nil {
		return err
	}
	forgotten := ""
	again := make(map[string]bool) // the actions of later calls
	for _, call := range slices.Backward(calls) {
		if !p.judged(call) || want.Action != "" && !glob.Split(want.Action).Match(call.Action) {
			continue
		}
		if call.Code != "" && !again[call.Action] {
			forgotten = call.Action + " was refused with " + call.Code
		}
		again[call.Action] = true
	}
	if forgotten == "" {
		return nil
	}
	events, err := p.events(ctx, want.Namespace, "--field-selector", "type=Warning")
	if err != nil {
		return err
	}
	for id := range p.uids {
		if slices.ContainsFunc(events, func(e event) bool { return e.InvolvedObject.UID != "" && p.ours(e, id, "") }) {
			return nil
		}
	}
	return &difference{expected: "that a refused call is made again, or that an Event of type Warning tells of it", seen: forgotten}
}
