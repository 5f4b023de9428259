package rehearse

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
)

// view is what load balancers do at a moment.
type view struct {
	balancers map[string]*controlapi.Resource
	listeners map[string]*controlapi.Resource
	groups    map[string]*controlapi.Resource
	// rules are the groups that listeners forward to by rules.
	rules map[string][]string
	// servers are the weights of a group's members, by server:port.
	servers map[string]map[string]string
}

func look(ctx context.Context, control *controlclient.Client) (*view, error) {
	found, err := control.Resources(ctx, controlclient.Wanted{Kind: "lb,listener,rule,group,backend"})
	if err != nil {
		return nil, err
	}
	v := &view{make(map[string]*controlapi.Resource), make(map[string]*controlapi.Resource), make(map[string]*controlapi.Resource), make(map[string][]string), make(map[string]map[string]string)}
	for i := range found.Resources {
		r := &found.Resources[i]
		switch r.Kind {
		case "lb":
			v.balancers[r.ID] = r
		case "listener":
			v.listeners[r.ID] = r
		case "group":
			v.groups[r.ID] = r
		case "rule":
			v.rules[r.Fields["listener"]] = append(v.rules[r.Fields["listener"]], r.Fields["group"])
		case "backend":
			group := r.Fields["group"]
			if v.servers[group] == nil {
				v.servers[group] = make(map[string]string)
			}
			v.servers[group][cmp.Or(r.Fields["server"], r.Fields["address"])+":"+r.Fields["port"]] = r.Fields["weight"]
		}
	}
	return v, nil
}

// called is how people call a listener.
func called(l *controlapi.Resource) string { return l.Fields["protocol"] + " " + l.Fields["port"] }

// forwards reports whether a listener takes connections, which it also does while it is changed.
func forwards(l *controlapi.Resource) bool {
	return l != nil && slices.Contains([]string{"running", "configuring"}, strings.ToLower(l.Status))
}

// serving lists the groups of a listener that have a member with a weight.
func (v *view) serving(l *controlapi.Resource) (groups []string) {
	for _, id := range append([]string{l.Fields["group"]}, v.rules[l.ID]...) {
		for _, weight := range v.servers[id] {
			if weight != "0" {
				groups = append(groups, id)
				break
			}
		}
	}
	return groups
}

// felt is what clients of a load balancer notice between two moments.
func (v *view) felt(next *view) (list []*Felt) {
	for _, id := range slices.Sorted(maps.Keys(v.balancers)) {
		was, is := v.balancers[id], next.balancers[id]
		switch {
		case is == nil:
			list = append(list, &Felt{What: "load balancer deleted", LoadBalancer: id})
		case was.Fields["address"] != is.Fields["address"]:
			list = append(list, &Felt{What: fmt.Sprintf("address %s became %s", was.Fields["address"], is.Fields["address"]), LoadBalancer: id})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(v.listeners)) {
		l := v.listeners[id]
		if !forwards(l) || next.balancers[l.LoadBalancer] == nil {
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
	return list
}

// idsOf are the ids of a group's members.
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
	for _, group := range slices.Sorted(maps.Keys(union(v.servers, next.servers))) {
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

// settings are the fields of a listener that clients depend on.
var settings = []string{"scheduler", "healthCheck", "acl", "certificate", "bandwidthLimit"}

// facts describe a view by what stays the same when a thing is made again.
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
	for id, l := range v.listeners {
		parts := []string{strings.ToLower(l.Status), members(l.Fields["group"])}
		for _, name := range settings {
			if value := l.Fields[name]; value != "" {
				parts = append(parts, name+" "+value)
			}
		}
		all[l.LoadBalancer+" listener "+called(l)] = strings.Join(parts, ", ")
		used[l.Fields["group"]] = true
		for _, group := range v.rules[id] {
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
