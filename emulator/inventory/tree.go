package inventory

import (
	"slices"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

// Tree returns a load balancer by its id or its name, with everything that belongs to it but
// the fault rules.
func (i Inventory) Tree(v *state.View, name string) (controlapi.LoadBalancerTree, error) {
	found, err := i.List(v, Wanted{Kind: loadBalancers, Name: name})
	if err != nil {
		return controlapi.LoadBalancerTree{}, err
	}
	tree := controlapi.LoadBalancerTree{
		LoadBalancer: found.Resources[0], Tags: make(map[string]string), Addresses: []controlapi.Address{},
		Listeners: []controlapi.ListenerTree{}, Groups: []controlapi.GroupTree{}, Quotas: []controlapi.QuotaShare{}, Faults: []controlapi.FaultRule{},
	}
	if lb, ok := topology.FindLoadBalancer(v, tree.LoadBalancer.ID); ok {
		i.source(v).grow(&lb, &tree)
	}
	tree.Quotas = append(tree.Quotas, shares(v, &tree)...)
	return tree, nil
}

func (from source) grow(lb *topology.LoadBalancer, tree *controlapi.LoadBalancerTree) {
	for t := range state.TagsOf(from.View, lb.TagsOf, lb.ID) {
		tree.Tags[t.Key] = t.Value
	}
	for _, a := range lb.Addresses {
		tree.Addresses = append(tree.Addresses, controlapi.Address{Address: a.IP, Type: a.Type, Zone: a.Zone, EIP: a.EIP})
	}
	used := make(map[string]bool)
	for f := range lb.Frontends {
		grown := controlapi.ListenerTree{Listener: from.listener(&f), Forwards: f.Running, Rules: []controlapi.RuleTree{}}
		grown.Listener.Kind = "listener"
		target := func(id string, group func() (topology.Group, bool)) *controlapi.GroupTree {
			g, ok := group()
			if !ok {
				return nil
			}
			used[id] = true
			return from.group(&g, &f)
		}
		grown.Group = target(f.GroupID, f.Group)
		for r := range f.Rules {
			grown.Rules = append(grown.Rules, controlapi.RuleTree{ID: r.ID, Name: r.Name, Domain: r.Domain, URL: r.URL, Group: target(r.GroupID, r.Group)})
		}
		tree.Listeners = append(tree.Listeners, grown)
	}
	for g := range lb.Groups {
		if !used[g.ID] {
			tree.Groups = append(tree.Groups, *from.group(&g, nil))
		}
	}
}

// partKinds are the kinds of load balancers and of their parts.
var partKinds = []string{loadBalancers, "listener", "rule", "group", "backend"}

// named lists what Each lists for ids of load balancers and of server groups, without a look at all
// resources, and reports whether all names are such.
func (from source) named(names []string) (all []controlapi.Resource, ok bool) {
	add := func(kind string, r controlapi.Resource) {
		r.Kind = kind
		all = append(all, r)
	}
	listed := make(map[string]bool) // load balancers and groups
	once := func(id string) bool {
		again := listed[id]
		listed[id] = true
		return !again
	}
	addGroup := func(g *topology.Group) {
		if once(g.ID) {
			add("group", group(g))
			all = append(all, from.servers(g, checking(g))...)
		}
	}
	for _, name := range names {
		if lb, is := topology.FindLoadBalancer(from.View, name); is {
			if !once(lb.ID) {
				continue
			}
			add(loadBalancers, loadBalancer(&lb))
			for f := range lb.Frontends {
				add("listener", from.listener(&f))
				for r := range f.Rules {
					add("rule", rule(&r))
				}
			}
			for g := range lb.Groups {
				addGroup(&g)
			}
		} else if g, is := state.FindShown[topology.Group](from.View, name); is {
			addGroup(&g)
		} else {
			return nil, false
		}
	}
	return all, true
}

func (from source) group(g *topology.Group, f *topology.Frontend) *controlapi.GroupTree {
	shown := group(g)
	shown.Kind = "group"
	return &controlapi.GroupTree{Group: shown, Servers: from.servers(g, f)}
}

// shares lists the quotas that the load balancer and its parts use.
func shares(v *state.View, tree *controlapi.LoadBalancerTree) (list []controlapi.QuotaShare) {
	parts := []string{tree.LoadBalancer.ID}
	for _, l := range tree.Listeners {
		parts = append(parts, l.Listener.ID)
		if l.Group != nil {
			parts = append(parts, l.Group.Group.ID)
		}
	}
	for _, q := range state.QuotaUses(v.In(state.Owner{AccountID: tree.LoadBalancer.Account})) {
		for _, h := range q.Holders {
			if slices.Contains(parts, h.ID) && h.Used > 0 {
				list = append(list, controlapi.QuotaShare{Name: string(q.Name), By: h.ID, Used: h.Used, Limit: q.Limit})
			}
		}
	}
	return list
}
