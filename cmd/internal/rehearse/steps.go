package rehearse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	// starts is set where a version starts, throttles where the rehearsal throttles calls.
	starts, throttles bool
}

// scope is what may follow from a step.
type scope struct {
	// servers come and go, which may change the weights of others.
	servers map[string]bool
	// routes are blocks.
	routes map[string]bool
	// ports of Services come and go, by namespace/name.
	ports map[string][]string
	// services may change in any way.
	services map[string]bool
}

// steps are what happens in every cluster, each undone by a later one.
func (p *play) steps() []step {
	node, nodeScope := p.leaving()
	pods, podScope := p.rolling()
	ports, portScope := p.changing()
	noNode, noPods, noPorts := "", "", ""
	if node == nil {
		noNode = "the cluster has fewer than two nodes"
	}
	if len(pods) == 0 {
		noPods = "no Service has two endpoints that are ready"
	}
	if len(ports) == 0 {
		noPorts = "annotations name the ports of all Services"
	}
	return []step{
		{name: "a node leaves", scope: nodeScope, impossible: noNode, do: func(ctx context.Context) error { return p.remove(ctx, node) }},
		{name: "the node comes back", scope: nodeScope, impossible: noNode, do: func(ctx context.Context) error { return p.restore(ctx, node) }},
		{name: "a pod of each Service goes", scope: podScope, impossible: noPods, do: func(ctx context.Context) error { return p.replaceSlices(ctx, pods) }},
		{name: "the pods come back", scope: podScope, impossible: noPods, do: func(ctx context.Context) error { return p.replaceSlices(ctx, p.Copy.Slices) }},
		{name: "each Service is edited", do: func(ctx context.Context) error { return p.annotate(ctx, "1") }},
		{name: "each Service is edited, and a read of its load balancer is throttled", throttles: true, do: func(ctx context.Context) error {
			return errors.Join(p.throttleReads(), p.annotate(ctx, "2"))
		}},
		{name: "a port of each Service changes", scope: portScope, impossible: noPorts, do: func(ctx context.Context) error { return p.setPorts(ctx, ports, false) }},
		{name: "the CCM restarts", starts: true, do: func(ctx context.Context) error {
			p.program.Kill()
			return p.launch(ctx, p.started)
		}},
		{name: "all is edited back, and one change is throttled", scope: portScope, throttles: true, do: func(ctx context.Context) error {
			_, err := p.cloud.AddFaults([]byte(`{name: rehearsal, match: {action: "Create*,Delete*,Set*,Update*,Add*,Remove*,Start*"}, when: {times: 1}, effect: {error: {code: Throttling.User}}}`))
			return errors.Join(err, p.annotate(ctx, nil), p.setPorts(ctx, ports, true))
		}},
	}
}

// leaving chooses the last node by name, and says what goes with it.
func (p *play) leaving() (node cluster.Object, s scope) {
	if len(p.Copy.Nodes) < 2 {
		return nil, s
	}
	node = p.Copy.Nodes[len(p.Copy.Nodes)-1]
	s.servers, s.routes = map[string]bool{}, map[string]bool{node.Text("spec", "podCIDR"): true}
	_, instance, _ := strings.Cut(node.Text("spec", "providerID"), ".")
	s.servers[instance] = true
	for _, slice := range p.Copy.Slices {
		for _, e := range slice.List("endpoints") {
			if e.Text("nodeName") == node.Name() {
				p.addServers(s.servers, e)
			}
		}
	}
	return node, s
}

// addServers adds what a load balancer calls an endpoint: its address, or the network interface with it.
func (p *play) addServers(servers map[string]bool, e cluster.Object) {
	addresses, _ := e["addresses"].([]any)
	for _, address := range addresses {
		ip, _ := address.(string)
		servers[ip] = true
		for _, id := range p.rec.at[ip] {
			servers[id] = true
		}
	}
	for _, node := range p.Copy.Nodes {
		if node.Name() == e.Text("nodeName") {
			_, instance, _ := strings.Cut(node.Text("spec", "providerID"), ".")
			servers[instance] = true
		}
	}
}

// remove lets a node leave with its pods.
func (p *play) remove(ctx context.Context, node cluster.Object) error {
	var without []cluster.Object
	for _, slice := range p.Copy.Slices {
		changed := slice.Clone()
		changed["endpoints"] = kept(changed, func(e cluster.Object) bool { return e.Text("nodeName") != node.Name() })
		without = append(without, changed)
	}
	return errors.Join(p.replaceSlices(ctx, without), p.plane.Delete(ctx, node))
}

func kept(slice cluster.Object, keep func(cluster.Object) bool) (list []any) {
	list = []any{}
	for _, e := range slice.List("endpoints") {
		if keep(e) {
			list = append(list, map[string]any(e))
		}
	}
	return list
}

// restore lets the node come back.
func (p *play) restore(ctx context.Context, node cluster.Object) error {
	return errors.Join(p.plane.Put(ctx, node), p.replaceSlices(ctx, p.Copy.Slices))
}

// replaceSlices gives slices the endpoints that these have, and the Endpoints of older CCMs the same.
func (p *play) replaceSlices(ctx context.Context, slices []cluster.Object) (err error) {
	gone := make(map[string]bool)
	present := make(map[string]bool)
	for _, slice := range p.Copy.Slices {
		for _, e := range slice.List("endpoints") {
			gone[addressOf(e)] = true
		}
	}
	for _, slice := range slices {
		err = errors.Join(err, p.plane.Update(ctx, slice, func(now cluster.Object) { now["endpoints"] = slice["endpoints"] }))
		for _, e := range slice.List("endpoints") {
			present[cluster.ServiceOf(slice)+" "+addressOf(e)] = true
		}
	}
	for _, endpoints := range p.Copy.Endpoints {
		changed := endpoints.Clone()
		for _, subset := range changed.List("subsets") {
			list := []any{}
			for _, a := range subset.List("addresses") {
				if ip := a.Text("ip"); !gone[ip] || present[endpoints.Name()+" "+ip] {
					list = append(list, map[string]any(a))
				}
			}
			subset["addresses"] = list
		}
		err = errors.Join(err, p.plane.Update(ctx, endpoints, func(now cluster.Object) { now["subsets"] = changed["subsets"] }))
	}
	return err
}

func addressOf(endpoint cluster.Object) string {
	addresses, _ := endpoint["addresses"].([]any)
	if len(addresses) == 0 {
		return ""
	}
	text, _ := addresses[0].(string)
	return text
}

// rolling lets one endpoint of each Service go that has another one.
func (p *play) rolling() (changed []cluster.Object, s scope) {
	s.servers = map[string]bool{}
	done := make(map[string]bool)
	for _, slice := range p.Copy.Slices {
		ready := 0
		for _, e := range slice.List("endpoints") {
			if is, said := e.Map("conditions")["ready"].(bool); is || !said {
				ready++
			}
		}
		if service := slice.Namespace() + "/" + cluster.ServiceOf(slice); ready > 1 && !done[service] {
			done[service] = true
			first := slice.List("endpoints")[0]
			without := slice.Clone()
			without["endpoints"] = kept(without, func(e cluster.Object) bool { return addressOf(e) != addressOf(first) })
			changed = append(changed, without)
			p.addServers(s.servers, first)
		}
	}
	return changed, s
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
	next := 20080
	for _, service := range p.Copy.Services {
		named := ""
		for name, value := range service.Map("metadata", "annotations") {
			if text, _ := value.(string); strings.HasPrefix(name, "service.beta.kubernetes.io/") {
				named += " " + text
			}
		}
		ports := service.List("spec", "ports")
		for i := len(ports) - 1; i >= 0; i-- {
			from := numberOf(ports[i]["port"])
			if service.Text("spec", "type") != "LoadBalancer" || strings.Contains(named, ":"+from) {
				continue
			}
			for p.rec.current().uses(next) {
				next++
			}
			changes = append(changes, portChange{service, i, from, fmt.Sprint(next)})
			s.ports[service.Key()] = []string{from, fmt.Sprint(next)}
			next++
			break
		}
	}
	return changes, s
}

// annotate gives each Service an annotation that means nothing: a CCM looks at the whole Service then.
func (p *play) annotate(ctx context.Context, value any) (err error) {
	for _, service := range p.Copy.Services {
		err = errors.Join(err, p.plane.Update(ctx, service, func(now cluster.Object) {
			metadata := now.Map("metadata")
			if _, is := metadata["annotations"].(map[string]any); !is {
				metadata["annotations"] = map[string]any{}
			}
			if now.Map("metadata", "annotations")["clbemu.example/rehearsal"] = value; value == nil {
				delete(now.Map("metadata", "annotations"), "clbemu.example/rehearsal")
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

// uses reports whether a listener has a port.
func (v *view) uses(port int) bool {
	for _, l := range v.listeners {
		if l.Fields["port"] == fmt.Sprint(port) {
			return true
		}
	}
	return false
}

func numberOf(value any) string { return strings.Trim(fmt.Sprint(value), `"`) }

// setPorts changes ports, or changes them back.
func (p *play) setPorts(ctx context.Context, changes []portChange, back bool) (err error) {
	for _, c := range changes {
		to := c.to
		if back {
			to = c.from
		}
		err = errors.Join(err, p.plane.Update(ctx, c.service, func(now cluster.Object) {
			if ports := now.List("spec", "ports"); c.index < len(ports) {
				ports[c.index]["port"] = json.Number(to)
			}
		}))
	}
	return err
}
