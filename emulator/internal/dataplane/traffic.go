package dataplane

import (
	"cmp"
	"maps"
	"slices"

	"github.com/clbemu/clbemu/emulator/controlapi"
)

// Traffic returns what went through the listeners, in order of id.
func (p *Plane) Traffic() []controlapi.ListenerTraffic {
	list := []controlapi.ListenerTraffic{}
	for _, l := range p.snapshot() {
		list = append(list, l.traffic())
	}
	slices.SortFunc(list, func(a, b controlapi.ListenerTraffic) int { return cmp.Compare(a.Listener, b.Listener) })
	return list
}

func (l *listener) traffic() controlapi.ListenerTraffic {
	server, at, problem := l.shown()
	t := controlapi.ListenerTraffic{Listener: l.id, LoadBalancer: l.loadBalancer, Protocol: l.protocol, Problem: problem, Servers: []controlapi.ServerTraffic{}}
	if server == nil {
		return t
	}
	stats := server.Stats()
	t.AnswersAt, t.Refused, t.Waiting = shownAt(at), stats.Refused, stats.Held
	for _, name := range slices.Sorted(maps.Keys(stats.Members)) {
		c := stats.Members[name]
		t.Servers = append(t.Servers, controlapi.ServerTraffic{Server: name, Active: c.Active, Connections: c.Connections, Requests: c.Requests,
			BytesIn: c.BytesIn, BytesOut: c.BytesOut, Errors: c.Errors})
	}
	return t
}
