package rehearse

import (
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/controlapi"
)

// judge says whether a change and what clients felt of it should follow from what happened; before is how
// it was when the phase began.
func (p *play) judge(c *Change, before *view) {
	s := &p.scope
	if ours := c.Meant; !ours { // a fault of the rehearsal
		c.Meant = c.Code == "" && s.means(c, before)
	}
	for _, f := range c.Felt {
		whole := len(f.ids) > 0 && !slices.ContainsFunc(f.ids, func(id string) bool { return !s.servers[id] })
		f.Meant = c.Meant && len(s.gone) > 0 && !s.preserved[f.LoadBalancer] || whole || f.port != "" && slices.ContainsFunc(strings.Split(c.Services, ", "), func(service string) bool { return slices.Contains(s.ports[service], f.port) })
	}
}

// judgeBreaks says to which Services broken connections belong, and whether they should follow.
func (p *play) judgeBreaks(phase *Phase) {
	for _, b := range phase.Breaks {
		_, port, _ := strings.Cut(b.Listener, " ")
		b.Services = p.owners.of(&Change{LoadBalancer: b.LoadBalancer, Item: port})
		b.Meant = p.scope.deleted[b.LoadBalancer]
		for service := range strings.SplitSeq(b.Services, ", ") {
			b.Meant = b.Meant || slices.Contains(p.scope.ports[service], port)
		}
		for _, c := range phase.Changes {
			for _, f := range c.Felt {
				b.Meant = b.Meant || f.Meant && f.LoadBalancer == b.LoadBalancer && f.Listener == b.Listener
			}
		}
	}
}

// means reports whether a change is within a scope.
func (s *scope) means(c *Change, before *view) bool {
	services := strings.Split(c.Services, ", ")
	some := func(of map[string]bool) bool {
		return slices.ContainsFunc(services, func(service string) bool { return of[service] })
	}
	at := func(whose func(*controlapi.Resource) bool) bool { // a listener at the change's port
		for _, l := range before.listeners {
			if l.LoadBalancer == c.LoadBalancer && l.Fields["port"] == c.Item && whose(l) {
				return true
			}
		}
		return false
	}
	moving := slices.ContainsFunc(services, func(service string) bool { return len(s.ports[service]) > 0 })
	words := c.Change.Change
	switch {
	case s.preserved[c.LoadBalancer]:
		return releases(c)
	case s.leaves(c):
		return true
	case some(s.gone): // from what it reused
		return releases(c) || c.group != "" && s.own(c.Item) || len(c.servers) > 0 && s.uses(c.group) ||
			at(func(l *controlapi.Resource) bool { return s.own(l.Name) })
	case some(s.services):
		return !at(func(l *controlapi.Resource) bool { // of others
			return !slices.ContainsFunc(services, func(service string) bool { return namedAfter(l.Name, service) })
		})
	case c.product == "Vpc" && strings.HasSuffix(words, " route"):
		return s.routes[c.Item]
	case c.Port != "" || strings.HasSuffix(words, " listener"):
		return slices.ContainsFunc(services, func(service string) bool { return slices.Contains(s.ports[service], c.Item) })
	case moving && (strings.HasPrefix(words, "create ") || strings.HasPrefix(words, "delete ")) && c.group != "":
		return true
	case moving && c.group != "" && before.groups[c.group] == nil: // members of a new group
		return true
	case len(c.servers) > 0 || c.weights:
		return len(s.servers) > 0 && !slices.ContainsFunc(c.servers, func(id string) bool { return !s.servers[id] })
	}
	return false
}

// releasing are the actions that take tags and protection from what stays.
var releasing = []string{"TagResources", "UntagResources", "AddTags", "RemoveTags", "SetLoadBalancerDeleteProtection", "SetLoadBalancerModificationProtection", "UpdateLoadBalancerProtection"}

// releases reports whether a change is one of the releasing actions.
func releases(c *Change) bool { return slices.Contains(releasing, c.Action) }

// leaves reports whether a change is about a load balancer that goes with its Service, or about a
// security group, which goes too.
func (s *scope) leaves(c *Change) bool {
	return s.deleted[c.LoadBalancer] || len(s.gone) > 0 && c.product == "Ecs"
}
