package rehearse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/cmd/internal/cluster"
)

// step is something that happens.
type step struct {
	name  string
	scope scope
	do    func(context.Context) error
	// impossible says why it can't happen, if it can't.
	impossible string
	// starts is set if a version starts, throttles if the rehearsal throttles calls.
	starts, throttles bool
}

// undone returns a step and the one that undoes it.
func (s step) undone(name string, undo func(context.Context) error) []step {
	back := s
	back.name, back.do = name, undo
	return []step{s, back}
}

// scope bounds the effects of a step.
type scope struct {
	// servers come and go, which may change the weights of others.
	servers map[string]bool
	// routes are blocks.
	routes map[string]bool
	// ports of Services come and go, by namespace/name.
	ports map[string][]string
	// services may change in any way.
	services map[string]bool
	// gone lists the Services that are deleted, deleted the load balancers that go with them, and
	// preserved those that stay as they are.
	gone, deleted, preserved map[string]bool
	// uses reports whether one of those Services names a group by its id, and own whether a
	// listener or a group has the name of one of theirs.
	uses, own func(string) bool
}

// steps lists events that every cluster sees, each undone by a later one.
func (p *play) steps() []step {
	ports, portScope := p.changing()
	noPorts := ""
	if len(ports) == 0 {
		noPorts = "annotations name the ports of all Services"
	}
	return slices.Concat(p.leaving(), p.rolling(), []step{
		{name: "each Service is edited", do: func(ctx context.Context) error { return p.annotate(ctx, "1") }},
		{name: "each Service is edited, and a read of its load balancer is throttled", throttles: true, do: func(ctx context.Context) error {
			return errors.Join(p.throttleReads(), p.annotate(ctx, "2"))
		}},
		{name: "a port of each Service changes", scope: portScope, impossible: noPorts, do: func(ctx context.Context) error { return p.swapPorts(ctx, ports) }},
		{name: "the CCM restarts", starts: true, do: func(ctx context.Context) error {
			p.program.Kill()
			return p.launch(ctx, p.started)
		}},
		{name: "all is edited back, and one change is throttled", scope: portScope, throttles: true, do: func(ctx context.Context) error {
			_, err := p.cloud.AddFaults([]byte(`{name: rehearsal, match: {action: "Create*,Delete*,Set*,Update*,Add*,Remove*,Start*"}, when: {times: 1}, effect: {error: {code: Throttling.User}}}`))
			return errors.Join(err, p.annotate(ctx, nil), p.swapPorts(ctx, ports))
		}},
	})
}

// deleting deletes all Services, some of which reuse or preserve their load balancers.
func (p *play) deleting() step {
	s := step{name: "the Services are deleted", scope: scope{gone: make(map[string]bool), deleted: make(map[string]bool), preserved: make(map[string]bool)}}
	if len(p.Copy.Services) == 0 {
		s.impossible = "there is none"
	}
	for _, service := range p.Copy.Services {
		s.scope.gone[service.Key()] = true
	}
	for id, services := range p.owners.balancers {
		for _, service := range services {
			switch {
			case !s.scope.gone[service.Key()] || annotated(service, "id") != "": // of others, or reused
			case annotated(service, "preserve-lb-on-delete") != "":
				s.scope.preserved[id] = true
			default:
				s.scope.deleted[id] = true
			}
		}
	}
	s.scope.uses = func(group string) bool {
		return group != "" && slices.ContainsFunc(p.Copy.Services, func(service cluster.Object) bool { return names(service, group) })
	}
	clusters := p.clusters()
	s.scope.own = func(name string) bool {
		return (len(clusters) == 0 || clusters[clusterOf(name)]) && slices.ContainsFunc(p.Copy.Services, func(service cluster.Object) bool { return namedAfter(name, service.Key()) })
	}
	s.do = func(ctx context.Context) (err error) {
		for _, service := range p.Copy.Services {
			err = errors.Join(err, p.plane.Delete(ctx, service))
		}
		return err
	}
	return s
}

// clusters returns the clusters in the names of the groups that this CCM has changed so far.
func (p *play) clusters() map[string]bool {
	clusters := make(map[string]bool)
	for _, phase := range p.phases {
		for _, c := range phase.Changes {
			if c.Code == "" && c.group != "" && namedAfter(c.Item, c.Services) {
				clusters[clusterOf(c.Item)] = true
			}
		}
	}
	return clusters
}

// remains says what is left of the Services that a step deleted.
func (p *play) remains(ctx context.Context, s *scope) (lines []string, err error) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	services, err := p.plane.List(ctx, "Service")
	for _, service := range services {
		for _, finalizer := range service.Texts("metadata", "finalizers") {
			if s.gone[service.Key()] && strings.HasPrefix(finalizer, "service.k8s.alibaba/") { // others are not the CCM's
				add("the deletion of Service %s does not end", service.Key())
			}
		}
	}
	now := p.rec.current()
	stays := func(of, name string) bool { // of a Service that is gone
		return !s.deleted[of] && !s.preserved[of] && s.own(name) && !slices.ContainsFunc(p.Copy.Services, func(service cluster.Object) bool {
			both := annotated(service, "id") != "" && annotated(service, "preserve-lb-on-delete") != "" // a CCM may leave groups of such an NLB
			return both && namedAfter(name, service.Key())
		})
	}
	for id := range now.balancers {
		if s.deleted[id] {
			add("load balancer %s is left behind", id)
		}
	}
	for _, l := range now.listeners {
		if stays(l.LoadBalancer, l.Name) {
			add("%s listener %s is left behind", l.LoadBalancer, called(l))
		}
	}
	for _, g := range now.groups {
		if of := now.about([]string{g.ID}); !slices.ContainsFunc(of, func(id string) bool { return !stays(id, g.Name) }) {
			add("group %s is left behind", g.Name)
		}
	}
	slices.Sort(lines)
	return lines, err
}

// goes reports whether an endpoint of a Service, by its address and node, goes.
type goes func(service, address, node string) bool

func noneGoes(string, string, string) bool { return false }

// leaving lets the last node by name leave with its pods, and come back.
func (p *play) leaving() []step {
	const back = "the node comes back"
	s := step{name: "a node leaves"}
	if len(p.Copy.Nodes) < 2 {
		s.impossible = "the cluster has fewer than two nodes"
		return s.undone(back, nil)
	}
	node := p.Copy.Nodes[len(p.Copy.Nodes)-1]
	onNode := func(_, _, name string) bool { return name == node.Name() }
	s.scope = scope{servers: p.serversOf(onNode), routes: map[string]bool{node.Text("spec", "podCIDR"): true}}
	s.scope.servers[instanceOf(node)] = true
	s.do = func(ctx context.Context) error {
		return errors.Join(p.takeEndpoints(ctx, onNode), p.plane.Delete(ctx, node))
	}
	return s.undone(back, func(ctx context.Context) error {
		return errors.Join(p.plane.Put(ctx, node), p.takeEndpoints(ctx, noneGoes))
	})
}

// rolling lets one endpoint of each Service go that has another one, and come back.
func (p *play) rolling() []step {
	first := make(map[string]string)
	for _, slice := range p.Copy.Slices {
		var ready []string
		for _, e := range slice.List("endpoints") {
			if is, said := e.Map("conditions")["ready"].(bool); is || !said {
				ready = append(ready, e.Texts("addresses")...)
			}
		}
		if service := cluster.ServiceOf(slice); len(ready) > 1 && first[service] == "" {
			first[service] = ready[0]
		}
	}
	isFirst := func(service, address, _ string) bool { return first[service] == address }
	s := step{name: "a pod of each Service goes", scope: scope{servers: p.serversOf(isFirst)}}
	if len(first) == 0 {
		s.impossible = "no Service has two endpoints that are ready"
	}
	s.do = func(ctx context.Context) error { return p.takeEndpoints(ctx, isFirst) }
	return s.undone("the pods come back", func(ctx context.Context) error { return p.takeEndpoints(ctx, noneGoes) })
}

// instanceOf returns the instance of a node.
func instanceOf(node cluster.Object) string {
	_, instance, _ := strings.Cut(node.Text("spec", "providerID"), ".")
	return instance
}

// serversOf returns what load balancers call the endpoints that go: their addresses, the network
// interfaces with them, and the instances of their nodes.
func (p *play) serversOf(gone goes) map[string]bool {
	servers, instances := make(map[string]bool), make(map[string]string)
	for _, node := range p.Copy.Nodes {
		instances[node.Name()] = instanceOf(node)
	}
	for _, slice := range p.Copy.Slices {
		for _, e := range slice.List("endpoints") {
			for _, ip := range e.Texts("addresses") {
				if node := e.Text("nodeName"); gone(cluster.ServiceOf(slice), ip, node) {
					for _, server := range append([]string{ip, instances[node]}, p.rec.at[ip]...) {
						servers[server] = true
					}
				}
			}
		}
	}
	return servers
}

// takeEndpoints lets the slices have the endpoints that do not go, and the Endpoints of older CCMs too.
func (p *play) takeEndpoints(ctx context.Context, gone goes) (err error) {
	for _, slice := range p.Copy.Slices {
		kept := []any{}
		for _, e := range slice.List("endpoints") {
			if addresses := append(e.Texts("addresses"), ""); !gone(cluster.ServiceOf(slice), addresses[0], e.Text("nodeName")) {
				kept = append(kept, map[string]any(e))
			}
		}
		err = errors.Join(err, p.plane.Update(ctx, slice, func(now cluster.Object) { now["endpoints"] = kept }))
	}
	for _, endpoints := range p.Copy.Endpoints {
		changed := endpoints.Clone()
		for _, subset := range changed.List("subsets") {
			kept := []any{}
			for _, a := range subset.List("addresses") {
				if !gone(endpoints.Key(), a.Text("ip"), a.Text("nodeName")) {
					kept = append(kept, map[string]any(a))
				}
			}
			subset["addresses"] = kept
		}
		err = errors.Join(err, p.plane.Update(ctx, endpoints, func(now cluster.Object) { now["subsets"] = changed["subsets"] }))
	}
	return err
}

// portChange gives a Service's port another number.
type portChange struct {
	service  cluster.Object
	index    int
	from, to string
}

// changing chooses the last port of each Service that no annotation names.
func (p *play) changing() (changes []portChange, s scope) {
	s.ports = make(map[string][]string)
	used := make(map[string]bool)
	for _, l := range p.rec.current().listeners {
		used[l.Fields["port"]] = true
	}
	next := 20080
	for _, service := range p.Copy.Services {
		named := ""
		for name, value := range service.Map("metadata", "annotations") {
			if text, _ := value.(string); strings.HasPrefix(name, "service.beta.kubernetes.io/") {
				named += " " + text
			}
		}
		for i, port := range slices.Backward(service.List("spec", "ports")) {
			from := fmt.Sprint(port["port"])
			if service.Text("spec", "type") != "LoadBalancer" || strings.Contains(named, ":"+from) {
				continue
			}
			for used[fmt.Sprint(next)] {
				next++
			}
			to := fmt.Sprint(next)
			used[to] = true
			changes = append(changes, portChange{service, i, from, to})
			s.ports[service.Key()] = []string{from, to}
			break
		}
	}
	return changes, s
}

// swapPorts changes ports, or changes them back.
func (p *play) swapPorts(ctx context.Context, changes []portChange) (err error) {
	for i := range changes {
		c := &changes[i]
		err = errors.Join(err, p.plane.Update(ctx, c.service, func(now cluster.Object) {
			if ports := now.List("spec", "ports"); c.index < len(ports) {
				ports[c.index]["port"] = json.Number(c.to)
			}
		}))
		c.from, c.to = c.to, c.from
	}
	return err
}

// annotate gives each Service an annotation that means nothing: a CCM looks at the whole Service then.
func (p *play) annotate(ctx context.Context, value any) (err error) {
	const name = "clbemu.example/rehearsal"
	for _, service := range p.Copy.Services {
		err = errors.Join(err, p.plane.Update(ctx, service, func(now cluster.Object) {
			annotations := now.Map("metadata", "annotations")
			if annotations == nil {
				annotations = make(map[string]any)
				now.Map("metadata")["annotations"] = annotations
			}
			if annotations[name] = value; value == nil {
				delete(annotations, name)
			}
		}))
	}
	return err
}

// throttleReads throttles the read of each load balancer's groups or listeners once.
func (p *play) throttleReads() error {
	rules := []map[string]any{}
	for id, b := range p.rec.current().balancers {
		match := map[string]string{"action": "DescribeVServerGroups", "params.LoadBalancerId": id}
		if b.Product == "Nlb" {
			match = map[string]string{"action": "ListListeners", "params.LoadBalancerIds.1": id}
		}
		rules = append(rules, map[string]any{"name": "rehearsal-" + id, "match": match, "when": map[string]int{"times": 1}, "effect": map[string]any{"error": map[string]string{"code": "Throttling.User"}}})
	}
	text, err := json.Marshal(rules)
	if err == nil {
		_, err = p.cloud.AddFaults(text)
	}
	return err
}
