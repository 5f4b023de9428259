package scenarios

import (
	"net/netip"
	"regexp"
	"sync"

	"github.com/clbemu/clbemu/emulator/spelling"
	"github.com/clbemu/clbemu/faults"
)

// balancerID finds the id of a load balancer, or the template of a saved one.
var balancerID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(n?lb-[a-z0-9]+|\{\{\w+\}\})$`) })

// traffic checks a step that sends requests.
func (c *checker) traffic(t *Traffic, at spot, in scope) {
	c.balancerID(t.LoadBalancer, at.in("loadBalancer"))
	c.id("LoadBalancerId", t.LoadBalancer, at.in("loadBalancer"), in)
	c.loopback(t.Source, at.in("source"))
	if requests := at.in("requests"); requests.node != at.node && requests.node.Value == "0" {
		c.refuse(requests, "no request gets no answer: leave it out for one of each client")
	}
	if t.Clients != "" {
		name := "the clients " + t.Clients
		if _, known := in.defined[name]; known {
			in.used[name] = true // they keep their connections for this step
		} else {
			in.defined[name] = at.in("clients")
		}
	}
	if t.Expect == nil {
		return
	}
	for _, id := range sortedKeys(t.Expect.Shares) {
		c.server(id, at.in("expect", "shares", id), in)
	}
}

// loopback refuses an address of another machine.
func (c *checker) loopback(address string, at spot) {
	if ip, err := netip.ParseAddr(address); address != "" && (err != nil || !ip.IsLoopback()) {
		c.refuse(at, "%q is not a loopback address, such as 127.0.0.9", address)
	}
}

// packets checks what a fault rule matches of packets.
func (c *checker) packets(m faults.Match, at spot, in scope) {
	if id := m.Fields["loadBalancer"].Equals; id != nil {
		c.balancerID(*id, at.in("loadBalancer"))
	}
	if id := m.Fields["server"].Equals; id != nil {
		c.server(*id, at.in("server"), in)
	}
}

// balancerID refuses what can't be the id of a load balancer.
func (c *checker) balancerID(id string, at spot) {
	if !balancerID().MatchString(id) {
		c.refuse(at, "%q is not the id of a load balancer: want one that was saved, such as {{lb}}", id)
	}
}

// server refuses the id of a server that the scenario does not start.
func (c *checker) server(id string, at spot, in scope) {
	if in.servers[id] || template().MatchString(id) {
		return
	}
	known := sortedKeys(in.servers)
	if near := spelling.Nearest(id, known); near != "" {
		c.refuse(at, "given.servers has no server %s: do you mean %s?", id, near)
		return
	}
	c.refuse(at, "given.servers has no server %s", id)
}
