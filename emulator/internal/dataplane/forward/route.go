package forward

import (
	"cmp"
	"net"
	"slices"
	"strings"
)

// A route is a rule made ready for use.
type route struct {
	domain string // in lower case; of a wildcard from its dot on
	wild   bool
	path   string
	pool   *pool
	sticky Sticky
}

// newRoutes sorts the plan's rules: those that come first win.
func (s *Server) newRoutes(p *Plan, previous *table) []route {
	routes := make([]route, 0, len(p.Rules))
	for _, r := range p.Rules {
		domain, wild := strings.CutPrefix(strings.ToLower(r.Domain), "*")
		rt := route{domain: domain, wild: wild, path: r.Path, sticky: p.Sticky}
		rt.pool = s.newPool(r.Group, cmp.Or(r.Scheduler, p.Scheduler), previous)
		if r.Sticky != nil {
			rt.sticky = *r.Sticky
		}
		routes = append(routes, rt)
	}
	slices.SortStableFunc(routes, route.compare)
	return routes
}

// exactness orders routes by domain: exact ones, wildcards, and those for all.
func (r route) exactness() int {
	switch {
	case r.domain == "":
		return 0
	case r.wild:
		return 1
	default:
		return 2
	}
}

func (r route) compare(o route) int {
	return cmp.Or(
		cmp.Compare(o.exactness(), r.exactness()),
		cmp.Compare(len(o.domain), len(r.domain)),
		cmp.Compare(len(o.path), len(r.path)),
	)
}

func (r *route) matches(host, path string) bool {
	if !strings.HasPrefix(path, r.path) {
		return false
	}
	if r.wild {
		return strings.HasSuffix(host, r.domain) && len(host) > len(r.domain)
	}
	return r.domain == "" || r.domain == host
}

// route returns the pool and cookie for a request: of the first rule that
// matches, or the listener's.
func (t *table) route(hostport, path string) (*pool, *Sticky) {
	if len(t.routes) == 0 {
		return t.pool, &t.Sticky
	}
	host := hostname(hostport)
	for i := range t.routes {
		if r := &t.routes[i]; r.matches(host, path) {
			return r.pool, &r.sticky
		}
	}
	return t.pool, &t.Sticky
}

// hostname returns the name in a Host header, in lower case and without the port.
func hostname(hostport string) string {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
