package rehearse

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/controlapi"
)

// view holds the behaviour of load balancers at a moment.
type view struct {
	balancers, listeners, groups, rules map[string]*controlapi.Resource
	// servers are the weights of a group's members, by server:port.
	servers map[string]map[string]string
	// ruled are the groups that listeners forward to by rules.
	ruled map[string][]string
}

// about returns the ids of some resources and of their load balancers.
func (v *view) about(ids []string) (all []string) {
	for _, id := range ids {
		if id == "" {
			continue
		}
		all = append(all, id)
		for _, part := range []*controlapi.Resource{v.listeners[id], v.groups[id], v.rules[id]} {
			if part != nil && part.LoadBalancer != "" {
				all = append(all, part.LoadBalancer)
			}
		}
		for _, l := range v.listeners {
			if l.Fields["group"] == id {
				all = append(all, l.LoadBalancer)
			}
		}
	}
	return all
}

// whole leaves out ids of parts whose load balancers are among the ids.
func (v *view) whole(ids []string) (names []string) {
	balancer := func(id string) bool { return v.balancers[id] != nil }
	for _, id := range ids {
		if g := v.groups[id]; balancer(id) || g != nil && g.LoadBalancer == "" || !slices.ContainsFunc(ids, balancer) {
			names = append(names, id)
		}
	}
	return names
}

// with returns the view in which resources are in place of those with some names and of their parts, or of
// all.
func (v *view) with(found []controlapi.Resource, names []string) *view {
	of := func(r *controlapi.Resource) bool {
		return len(names) == 0 || slices.Contains(names, r.ID) || slices.Contains(names, r.LoadBalancer)
	}
	without := func(all map[string]*controlapi.Resource) map[string]*controlapi.Resource {
		kept := make(map[string]*controlapi.Resource, len(all))
		for id, r := range all {
			if !of(r) {
				kept[id] = r
			}
		}
		return kept
	}
	next := &view{without(v.balancers), without(v.listeners), without(v.groups), without(v.rules), make(map[string]map[string]string, len(v.servers)), make(map[string][]string)}
	for id, servers := range v.servers {
		if next.groups[id] != nil {
			next.servers[id] = servers
		}
	}
	fresh := make(map[string]bool)
	for i := range found {
		r := &found[i]
		if !of(r) && !slices.Contains(names, r.Fields["group"]) {
			continue // a call may name a server, which other groups have too
		}
		switch r.Kind {
		case "lb":
			next.balancers[r.ID] = r
		case "listener":
			next.listeners[r.ID] = r
		case "group":
			next.groups[r.ID] = r
		case "rule":
			next.rules[r.ID] = r
		case "backend":
			group := r.Fields["group"]
			if !fresh[group] {
				fresh[group], next.servers[group] = true, make(map[string]string)
			}
			next.servers[group][cmp.Or(r.Fields["server"], r.Fields["address"])+":"+r.Fields["port"]] = r.Fields["weight"]
		}
	}
	for _, r := range next.rules {
		at := r.Fields["listener"]
		next.ruled[at] = append(next.ruled[at], r.Fields["group"])
	}
	return next
}

// called returns a listener as people call it.
func called(l *controlapi.Resource) string { return l.Fields["protocol"] + " " + l.Fields["port"] }

// forwards reports whether a listener takes connections, which it also does while it is changed.
func forwards(l *controlapi.Resource) bool {
	return l != nil && slices.Contains([]string{"running", "configuring"}, strings.ToLower(l.Status))
}

// groupsOf lists the groups to which a listener forwards, itself and by rules.
func (v *view) groupsOf(l *controlapi.Resource) []string {
	return append([]string{l.Fields["group"]}, v.ruled[l.ID]...)
}

// serving lists the groups of a listener that have a member with a weight.
func (v *view) serving(l *controlapi.Resource) (groups []string) {
	for _, id := range v.groupsOf(l) {
		if v.weighty(id) > 0 {
			groups = append(groups, id)
		}
	}
	return groups
}

// felt lists the effects on a load balancer's clients between two moments.
func (v *view) felt(next *view) (list []*Felt) {
	for id, was := range v.balancers {
		is := next.balancers[id]
		switch {
		case is == nil:
			list = append(list, &Felt{What: "load balancer deleted", LoadBalancer: id})
		case was.Fields["address"] != is.Fields["address"]:
			list = append(list, &Felt{What: fmt.Sprintf("address %s became %s", was.Fields["address"], is.Fields["address"]), LoadBalancer: id})
		}
	}
	for id, l := range v.listeners {
		untouched := l == next.listeners[id] && !slices.ContainsFunc(v.groupsOf(l), func(group string) bool { return v.groups[group] != next.groups[group] })
		if untouched || !forwards(l) || next.balancers[l.LoadBalancer] == nil {
			continue
		}
		f := &Felt{LoadBalancer: l.LoadBalancer, Listener: called(l), port: l.Fields["port"]}
		switch is := next.listeners[id]; {
		case is == nil:
			f.What = "deleted"
		case !forwards(is):
			f.What = "stopped"
		default:
			still := next.serving(is)
			for _, group := range v.serving(l) {
				if !slices.Contains(still, group) && len(next.servers[group]) == 0 || len(still) == 0 {
					f.What = "without a server"
					f.ids = idsOf(v.servers[group])
				}
			}
		}
		if f.What != "" {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b *Felt) int {
		return cmp.Or(cmp.Compare(a.LoadBalancer, b.LoadBalancer), cmp.Compare(a.Listener, b.Listener))
	})
	return list
}

// idsOf returns the ids of a group's members.
func idsOf(servers map[string]string) (ids []string) {
	for server := range servers {
		id, _, _ := strings.Cut(server, ":")
		ids = append(ids, id)
	}
	return ids
}

// over reports whether clients are served again.
func (v *view) over(f *Felt) bool {
	for _, l := range v.listeners {
		if f.Listener != "" && l.LoadBalancer == f.LoadBalancer && called(l) == f.Listener {
			return forwards(l) && len(v.serving(l)) > 0
		}
	}
	return false
}

// moved says which members of a group came, went or have another weight.
func (v *view) moved(next *view, c *Change) {
	for _, group := range slices.Sorted(maps.Keys(union(v.groups, next.groups))) {
		if v.groups[group] == next.groups[group] {
			continue
		}
		was, is := v.servers[group], next.servers[group]
		for _, server := range slices.Sorted(maps.Keys(union(was, is))) {
			before, had := was[server]
			after, has := is[server]
			id, _, _ := strings.Cut(server, ":")
			switch {
			case !had:
				c.Servers = append(c.Servers, fmt.Sprintf("%s comes with weight %s", server, after))
				c.servers = append(c.servers, id)
			case !has:
				c.Servers = append(c.Servers, server+" goes")
				c.servers = append(c.servers, id)
			case before != after:
				c.Servers = append(c.Servers, fmt.Sprintf("%s: weight %s, stored: %s", server, after, before))
				c.weights = true
			}
		}
	}
}

func union[V any](a, b map[string]V) map[string]V {
	all := maps.Clone(a)
	if all == nil {
		all = make(map[string]V)
	}
	maps.Copy(all, b)
	return all
}

// settings are the fields that clients depend on.
var settings = []string{"protocol", "scheduler", "healthCheck", "acl", "certificate", "bandwidth", "type", "spec", "zones"}

// settingsOf returns the settings of a resource, or nil for none.
func settingsOf(r *controlapi.Resource) (parts []string) {
	for _, name := range settings {
		if r != nil && r.Fields[name] != "" {
			parts = append(parts, name+" "+r.Fields[name])
		}
	}
	return parts
}

// made returns the settings of the resources that are new in the next view.
func (v *view) made(next *view) string {
	var made []string
	note := func(was, is map[string]*controlapi.Resource) {
		for id, r := range is {
			if was[id] == nil {
				made = append(made, strings.Join(settingsOf(r), ", "))
			}
		}
	}
	note(v.balancers, next.balancers)
	note(v.listeners, next.listeners)
	note(v.groups, next.groups)
	slices.Sort(made)
	return strings.Join(made, "; ")
}

// facts describes a view by the facts that stay the same when a thing is made again.
func (v *view) facts() map[string]string {
	all := make(map[string]string)
	used := make(map[string]bool)
	for id, b := range v.balancers {
		all["load balancer "+id] = b.Status + ", address " + b.Fields["address"]
	}
	members := func(group string) string {
		var list []string
		for server, weight := range v.servers[group] {
			list = append(list, server+"="+weight)
		}
		slices.Sort(list)
		return "servers " + strings.Join(list, " ")
	}
	for _, l := range v.listeners {
		parts := []string{strings.ToLower(l.Status), members(l.Fields["group"])}
		parts = append(parts, settingsOf(l)...)
		all[l.LoadBalancer+" listener "+called(l)] = strings.Join(parts, ", ")
		for _, group := range v.groupsOf(l) {
			used[group] = true
		}
	}
	for id, g := range v.groups {
		if !used[id] {
			all["unused group "+cmp.Or(g.Name, id)] = members(id)
		}
	}
	return all
}

// left says how a view differs from an earlier one that it should be like.
func (v *view) left(end *view) (lines []string) {
	was, is := v.facts(), end.facts()
	for _, name := range slices.Sorted(maps.Keys(union(was, is))) {
		before, had := was[name]
		after, has := is[name]
		switch {
		case !had:
			lines = append(lines, name+" is left behind")
		case !has:
			lines = append(lines, name+" is gone")
		case before != after:
			lines = append(lines, fmt.Sprintf("%s: %s; it was: %s", name, after, before))
		}
	}
	return lines
}
