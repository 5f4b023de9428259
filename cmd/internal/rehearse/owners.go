package rehearse

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/cmd/internal/cluster"
	"github.com/clbemu/clbemu/emulator/annotations"
)

// owners knows the Service of a load balancer or of a part of it.
type owners struct {
	services []cluster.Object
	// balancers are the Services of each load balancer.
	balancers map[string][]cluster.Object
}

// own finds the load balancers of the Services, as they are now.
func (p *play) own(ctx context.Context) error {
	services, err := p.plane.List(ctx, "Service")
	if err != nil {
		return err
	}
	gone := slices.DeleteFunc(p.owners.services, func(s cluster.Object) bool {
		return slices.ContainsFunc(services, func(o cluster.Object) bool { return o.Key() == s.Key() })
	})
	p.owners.services = append(services, gone...)
	first := p.owners.balancers == nil
	if first {
		p.owners.balancers = make(map[string][]cluster.Object)
	}
	for _, s := range services {
		name, found := balancerOf(s), false
		named := []string{s.Text("metadata", "labels", "service.k8s.alibaba/loadbalancer-id"), annotated(s, "id")}
		for id, b := range p.rec.current().balancers {
			if slices.Contains(named, id) || b.Name == name || at(s, b.Fields["address"], b.Fields["dnsName"]) {
				p.owners.add(id, s)
				if found = true; first && !strings.EqualFold(b.Status, "active") {
					p.notes.Add("%s: its load balancer %s is %s from the start", s.Key(), id, strings.ToLower(b.Status))
				}
			}
		}
		if ingress := s.List("status", "loadBalancer", "ingress"); !found && len(ingress) > 0 {
			p.notes.Add("%s: no load balancer of the copy has its address %s: is it of this account and region, and was it copied?", s.Key(), ingress[0].Text("ip")+ingress[0].Text("hostname"))
		}
	}
	return nil
}

// annotated returns the value of a Service's annotation, named without its prefix.
func annotated(s cluster.Object, name string) (value string) {
	for _, prefix := range annotations.Prefixes {
		value = cmp.Or(value, s.Text("metadata", "annotations", prefix+name))
	}
	return value
}

// balancerOf returns the name that a CCM gives the load balancer of a Service.
func balancerOf(s cluster.Object) string {
	return (&annotations.Service{UID: s.Text("metadata", "uid")}).BalancerName()
}

// at reports whether the status of a Service has an address, or the name of a load balancer.
func at(s cluster.Object, addresses, name string) bool {
	for _, ingress := range s.List("status", "loadBalancer", "ingress") {
		ip, host := ingress.Text("ip"), ingress.Text("hostname")
		if ip != "" && slices.Contains(strings.Split(addresses, ","), ip) || host != "" && host == name {
			return true
		}
	}
	return false
}

func (o *owners) add(id string, s cluster.Object) {
	if !slices.ContainsFunc(o.balancers[id], func(other cluster.Object) bool { return other.Key() == s.Key() }) {
		o.balancers[id] = append(o.balancers[id], s)
	}
}

// of returns the Services of a change: the one that its group's name says or that has its port, or all of the
// load balancer's.
func (o *owners) of(c *Change) string {
	var all, exact []string
	for _, s := range o.balancers[c.LoadBalancer] {
		all = append(all, s.Key())
		if hasPort(s, c.Item) {
			exact = append(exact, s.Key())
		}
	}
	for _, s := range o.services {
		if slices.Contains(c.names, balancerOf(s)) || namedAfter(c.Item, s.Key()) || c.group != "" && names(s, c.group) {
			exact = append(exact, s.Key())
		}
	}
	if len(exact) > 0 {
		all = exact
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// names reports whether an annotation of a Service names a group.
func names(s cluster.Object, group string) bool {
	for _, value := range s.Map("metadata", "annotations") {
		if text, _ := value.(string); strings.Contains(text, group) {
			return true
		}
	}
	return false
}

// namedAfter reports whether a group or a listener has the name that a CCM gives it for a Service: k8s/PORT/NAME/NAMESPACE/CLUSTER,
// or k8s.PORT.PROTOCOL.NAME.NAMESPACE.CLUSTER.
func namedAfter(name, service string) bool {
	namespace, own, _ := strings.Cut(service, "/")
	return strings.HasPrefix(name, "k8s") && (strings.Contains(name, "/"+own+"/"+namespace+"/") || strings.Contains(name, "."+own+"."+namespace+"."))
}

// clusterOf returns the id of the cluster in such a name.
func clusterOf(name string) string { return name[strings.LastIndexAny(name, "/.")+1:] }

func hasPort(s cluster.Object, port string) bool {
	return slices.ContainsFunc(s.List("spec", "ports"), func(o cluster.Object) bool { return fmt.Sprint(o["port"]) == port })
}
