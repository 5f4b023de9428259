package replicas_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// network has a namespace for each replica. Clients reach it by one wire, which is never
// cut, and etcd and the other replicas by another.
type network struct {
	t       *testing.T
	id      int
	address string // where etcd listens
}

func newNetwork(t *testing.T) *network {
	t.Helper()
	if _, err := exec.LookPath("ip"); err != nil || os.Getuid() != 0 {
		t.Skip("NOT TESTED: networks that can be cut need root, and the program ip")
	}
	// The addresses are those for tests of network devices (RFC 2544).
	n := &network{t: t, id: os.Getpid() % 250}
	n.address = n.peer(254)
	t.Cleanup(func() {
		for _, bridge := range []string{n.bridge("p"), n.bridge("c")} {
			_ = exec.Command("ip", "link", "del", bridge).Run()
		}
	})
	n.ip("link", "add", n.bridge("p"), "type", "bridge")
	n.ip("link", "add", n.bridge("c"), "type", "bridge")
	n.ip("addr", "add", n.address+"/24", "dev", n.bridge("p"))
	n.ip("addr", "add", n.client(254)+"/24", "dev", n.bridge("c"))
	n.ip("link", "set", n.bridge("p"), "up")
	n.ip("link", "set", n.bridge("c"), "up")
	return n
}

func (n *network) ip(args ...string) {
	n.t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		n.t.Fatalf("ip %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (n *network) bridge(kind string) string { return fmt.Sprintf("clb%s%d", kind, n.id) }
func (n *network) peer(host int) string      { return fmt.Sprintf("198.18.%d.%d", n.id, host) }
func (n *network) client(host int) string    { return fmt.Sprintf("198.19.%d.%d", n.id, host) }

func (n *network) wire(kind string, host int) string {
	return fmt.Sprintf("clb%s%d-%d", kind, n.id, host)
}

// hosts makes some namespaces.
func (n *network) hosts(count int) (all []host) {
	n.t.Helper()
	for i := range count {
		h := host{namespace: fmt.Sprintf("clbemu-%d-%d", n.id, i), address: n.peer(i + 1), reached: n.client(i + 1)}
		n.ip("netns", "add", h.namespace)
		n.t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", h.namespace).Run() })
		n.ip("-n", h.namespace, "link", "set", "lo", "up")
		for kind, address := range map[string]string{"p": h.address, "c": h.reached} {
			n.ip("link", "add", n.wire(kind, i), "type", "veth", "peer", "name", kind, "netns", h.namespace)
			// The kernel takes wires away with their namespace, but some time later, when the
			// next test may need their names.
			n.t.Cleanup(func() { _ = exec.Command("ip", "link", "del", n.wire(kind, i)).Run() })
			n.ip("link", "set", n.wire(kind, i), "master", n.bridge(kind), "up")
			n.ip("-n", h.namespace, "addr", "add", address+"/24", "dev", kind)
			n.ip("-n", h.namespace, "link", "set", kind, "up")
		}
		all = append(all, h)
	}
	return all
}

// cut takes a host's wire to etcd and the others away: what it sends is lost in silence.
func (n *network) cut(host int) { n.ip("link", "set", n.wire("p", host), "down") }

// heal puts it back.
func (n *network) heal(host int) { n.ip("link", "set", n.wire("p", host), "up") }

// slow lets 64 kbit/s through to a host, where it was all.
func (n *network) slow(host int) {
	n.t.Helper()
	if out, err := exec.Command("tc", "qdisc", "add", "dev", n.wire("p", host), "root", "tbf", "rate", "64kbit", "burst", "4kb", "latency", "2s").CombinedOutput(); err != nil {
		n.t.Fatalf("tc: %v\n%s", err, out)
	}
}

// fast ends that.
func (n *network) fast(host int) {
	n.t.Helper()
	if out, err := exec.Command("tc", "qdisc", "del", "dev", n.wire("p", host), "root").CombinedOutput(); err != nil {
		n.t.Fatalf("tc: %v\n%s", err, out)
	}
}
