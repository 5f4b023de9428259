package rehearse

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/cmd/internal/cluster"
)

// apply applies a manifest, and says what its Services got.
func (p *play) apply(ctx context.Context) error {
	changed := make(map[string]bool)
	refused := make(map[string]string)
	phase, err := p.step(ctx, step{name: "the manifest is applied", scope: scope{services: changed}, do: func(ctx context.Context) error {
		for _, o := range p.Apply {
			if o.Kind() == "Service" {
				changed[o.Key()] = true
			}
			if err := p.plane.Apply(ctx, o); err != nil {
				refused[o.Key()] = err.Error()
				continue
			}
			if o.Kind() == "Service" {
				if err := p.endpointsFor(ctx, o); err != nil {
					return err
				}
			}
		}
		return ctx.Err()
	}})
	if err != nil {
		return err
	}
	for _, o := range p.Apply {
		if o.Kind() == "Service" {
			p.applied = append(p.applied, p.got(o, phase, refused[o.Key()]))
		} else if why := refused[o.Key()]; why != "" {
			p.applied = append(p.applied, Applied{Service: o.Kind() + " " + o.Key(), Problem: why})
		}
	}
	return nil
}

// endpointsFor gives a new Service the endpoints of one with the same selector: pods are not copied.
func (p *play) endpointsFor(ctx context.Context, service cluster.Object) error {
	for _, other := range p.Copy.Services {
		if other.Key() == service.Key() {
			return nil
		}
		if other.Namespace() != service.Namespace() || !reflect.DeepEqual(other.Map("spec", "selector"), service.Map("spec", "selector")) {
			continue
		}
		for i, slice := range p.Copy.Slices {
			if slice.Namespace() != other.Namespace() || cluster.ServiceOf(slice) != other.Name() {
				continue
			}
			copied := slice.Clone()
			copied["metadata"] = map[string]any{"name": fmt.Sprintf("%s-rehearsal-%d", service.Name(), i), "namespace": service.Namespace(), "labels": map[string]any{"kubernetes.io/service-name": service.Name()}}
			if err := p.plane.Put(ctx, copied); err != nil {
				return err
			}
		}
		p.note(service.Key() + ": it has the endpoints of " + other.Key() + ", which selects the same pods")
		return nil
	}
	p.note(service.Key() + ": no copied Service selects the same pods, so that it has no endpoints unless the manifest has an EndpointSlice")
	return nil
}

// got says what a Service got.
func (p *play) got(o cluster.Object, phase *Phase, refused string) Applied {
	a := Applied{Service: o.Key(), Problem: refused}
	for _, s := range p.owners.services {
		if s.Key() != o.Key() {
			continue
		}
		for _, ingress := range s.List("status", "loadBalancer", "ingress") {
			a.Addresses = append(a.Addresses, strings.TrimSpace(ingress.Text("ip")+" "+ingress.Text("hostname")))
		}
		for _, l := range p.rec.current().listeners {
			if slices.ContainsFunc(p.owners.balancers[l.LoadBalancer], func(of cluster.Object) bool { return of.Key() == o.Key() }) && hasPort(s, l.Fields["port"]) {
				a.Listeners = append(a.Listeners, fmt.Sprintf("%s %s %s, %d servers with a weight", l.LoadBalancer, called(l), strings.ToLower(l.Status), p.rec.current().weighty(l.Fields["group"])))
			}
		}
	}
	slices.Sort(a.Listeners)
	for _, c := range phase.Changes {
		if c.Code == "" && c.counts() && a.Problem == "" && slices.Contains(strings.Split(c.Services, ", "), a.Service) {
			a.Problem = "it takes over what others have: " + c.Words()
		}
		if c.Code != "" && a.Problem == "" && slices.Contains(strings.Split(c.Services, ", "), a.Service) {
			a.Problem = fmt.Sprintf("%s was refused with %s: %s", c.Action, c.Code, c.Message)
		}
	}
	for _, w := range phase.Warnings {
		if w.Service == a.Service && a.Problem == "" && w.counts() {
			a.Problem = w.Reason + ": " + w.Message
		}
	}
	if a.Problem == "" && len(a.Addresses) == 0 && o.Text("spec", "type") == "LoadBalancer" {
		a.Problem = "it has no address"
	}
	return a
}

// weighty counts the members of a group with a weight.
func (v *view) weighty(group string) (n int) {
	for _, weight := range v.servers[group] {
		if weight != "0" {
			n++
		}
	}
	return n
}
