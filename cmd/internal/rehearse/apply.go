package rehearse

import (
	"cmp"
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
	refused := make([]string, len(p.Apply))
	phase, err := p.step(ctx, step{name: "the manifest is applied", scope: scope{services: changed}, do: func(ctx context.Context) error {
		for i, o := range p.Apply {
			err := p.plane.Apply(ctx, o)
			if o.Kind() == "Service" {
				changed[o.Key()] = true
				if err == nil {
					err = p.endpointsFor(ctx, o)
				}
			}
			if err != nil {
				refused[i] = err.Error()
			}
		}
		return ctx.Err()
	}})
	if err != nil {
		return err
	}
	for i, o := range p.Apply {
		if o.Kind() == "Service" {
			p.applied = append(p.applied, p.got(o, phase, refused[i]))
		} else if refused[i] != "" {
			p.applied = append(p.applied, Applied{Service: o.Kind() + " " + o.Key(), Problem: refused[i]})
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
			if cluster.ServiceOf(slice) != other.Key() {
				continue
			}
			copied := slice.Clone()
			copied["metadata"] = map[string]any{"name": fmt.Sprintf("%s-rehearsal-%d", service.Name(), i), "namespace": service.Namespace(), "labels": map[string]any{"kubernetes.io/service-name": service.Name()}}
			if err := p.plane.Put(ctx, copied); err != nil {
				return err
			}
		}
		p.notes.Add("%s: it has the endpoints of %s, which selects the same pods", service.Key(), other.Key())
		return nil
	}
	p.notes.Add("%s: no copied Service selects the same pods, so that it has no endpoints unless the manifest has an EndpointSlice", service.Key())
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
	problem := func(format string, args ...any) { a.Problem = cmp.Or(a.Problem, fmt.Sprintf(format, args...)) }
	for _, c := range phase.Changes {
		switch {
		case !slices.Contains(strings.Split(c.Services, ", "), a.Service):
		case c.Code != "":
			problem("%s was refused with %s: %s", c.Action, c.Code, c.Message)
		case c.counts():
			problem("it takes over what others have: %s", c.Words())
		}
	}
	for i := range phase.Warnings {
		if w := &phase.Warnings[i]; w.Service == a.Service && w.counts() {
			problem("%s: %s", w.Reason, w.Message)
		}
	}
	if len(a.Addresses) == 0 && o.Text("spec", "type") == "LoadBalancer" {
		problem("it has no address")
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
