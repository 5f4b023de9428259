package command

import (
	"os"
	"strconv"
	"strings"
)

// localPortFile has the range of ports that this machine gives to outgoing connections;
// only Linux has it.
const localPortFile = "/proc/sys/net/ipv4/ip_local_port_range"

// localPorts looks at a cause of sporadic errors: a node that uses a NodePort for a
// connection of its own.
func (d *doctor) localPorts() {
	if text, err := os.ReadFile(localPortFile); err == nil {
		d.comparePorts(string(text))
	}
}

// comparePorts compares NodePorts with local ports, as the kernel writes their range.
func (d *doctor) comparePorts(local string) {
	local = strings.Join(strings.Fields(local), "-")
	first, last, _ := portRange(d.nodePorts)
	from, to, ok := portRange(local)
	switch {
	case !ok:
	case first <= to && from <= last:
		d.note("NodePorts", "set net.ipv4.ip_local_port_range or --service-node-port-range so that they do not overlap",
			"the NodePorts %s overlap the local ports %s of this machine: as a node, it may refuse connections now and then", d.nodePorts, local)
	default:
		d.ok("NodePorts", "the NodePorts %s do not overlap the local ports %s of this machine", d.nodePorts, local)
	}
}

// portRange reads first-last.
func portRange(text string) (first, last int, ok bool) {
	low, high, _ := strings.Cut(text, "-")
	first, err := strconv.Atoi(low)
	last, err2 := strconv.Atoi(high)
	return first, last, err == nil && err2 == nil && 0 < first && first <= last && last < 1<<16
}
