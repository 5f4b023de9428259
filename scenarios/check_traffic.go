package scenarios

import (
	"net/netip"
	"regexp"
	"sync"

	"github.com/clbemu/clbemu/emulator/spelling"
)

// balancerID finds the id of a load balancer, or the template of a saved one.
var balancerID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(n?lb-[a-z0-9]+|\{\{\w+\}\})$`) })

// loopback refuses an address of another machine.
func (c *checker) loopback(address string, at spot) {
	if ip, err := netip.ParseAddr(address); address != "" && (err != nil || !ip.IsLoopback()) {
		c.refuse(at, "%q is not a loopback address, such as 127.0.0.9", address)
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
