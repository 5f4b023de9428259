package scenarios

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

var loadBalancerKind = Kind{Name: "loadBalancer", About: "A load balancer with its listeners and backends.", Value: reflect.TypeFor[LoadBalancer]()}

// LoadBalancer is a load balancer of CLB or NLB that listens.
type LoadBalancer struct {
	Name      string            `yaml:"name" required:"true" doc:"Its name or id."`
	Absent    bool              `yaml:"absent" doc:"true: there must be none of that id, which an earlier step saved."`
	Address   *Matcher          `yaml:"address" doc:"One of its addresses."`
	Listeners map[string]Amount `yaml:"listeners" doc:"All its running listeners, each with the number of its backends: exactly so many, as in {tcp:80: 3}, or {tcp:80: {atLeast: 1}}."`
}

// protocols lists the protocols of listeners of CLB and NLB.
var protocols = []string{"tcp", "udp", "http", "https", "tcpssl", "quic"}

func validPort(text string) bool {
	port, err := strconv.Atoi(text)
	return err == nil && port >= 1 && port <= 65535
}

func (l *LoadBalancer) Validate() error {
	if l.Absent && (l.Address != nil || l.Listeners != nil) {
		return errors.New("an absent load balancer has no address and no listeners")
	}
	for name := range l.Listeners {
		protocol, port, _ := strings.Cut(name, ":")
		if !slices.Contains(protocols, protocol) {
			return fmt.Errorf("listeners: %q is not a protocol (%s) and a port, such as tcp:80", name, strings.Join(protocols, ", "))
		}
		first, last, ranges := strings.Cut(port, "-")
		if !validPort(first) || ranges && !validPort(last) {
			return fmt.Errorf("listeners: %q is not a port or a range of ports", port)
		}
	}
	return nil
}

func (l *LoadBalancer) title() string { return "load balancer " + l.Name }

func (l *LoadBalancer) check(c *checker, at spot, _ scope) {
	if l.Absent {
		c.seen(at.in("name"), l.Name, "is absent too")
	}
}

func (l *LoadBalancer) look(ctx context.Context, p *play) error {
	found, err := p.Target.LoadBalancers(ctx, l.Name)
	if err != nil {
		return err
	}
	if n := len(found); l.Absent != (n == 0) || n > 1 {
		expected := "one load balancer "
		if l.Absent {
			expected = "no load balancer "
		}
		return &difference{expected: expected + l.Name, seen: fmt.Sprint(n)}
	}
	if l.Absent {
		return nil
	}
	is := found[0]
	if m := l.Address; m != nil && !slices.ContainsFunc(is.Addresses, func(a string) bool { return m.holds(a, true) }) {
		return &difference{expected: "an address of " + l.Name + ", " + m.String(), seen: strings.Join(is.Addresses, ", ")}
	}
	if l.Listeners != nil && !l.listens(is.Listeners) {
		return &difference{expected: "the listeners " + listenersText(l.Listeners), seen: listenersText(is.Listeners)}
	}
	return nil
}

// listens reports whether listeners are those wanted, with as many backends.
func (l *LoadBalancer) listens(listeners map[string]int) bool {
	for name, backends := range listeners {
		if want, ok := l.Listeners[name]; !ok || !want.holds(backends) {
			return false
		}
	}
	return len(listeners) == len(l.Listeners)
}

// listenersText writes listeners with their backends, as the file has them.
func listenersText[N int | Amount](listeners map[string]N) string {
	if len(listeners) == 0 {
		return "no running listener"
	}
	var list []string
	for _, name := range sortedKeys(listeners) {
		list = append(list, fmt.Sprintf("%s: %v", name, listeners[name]))
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// Amount is how many of something there are: a number alone, or bounds.
type Amount struct {
	AtLeast *int `yaml:"atLeast" doc:"At least this many."`
	AtMost  *int `yaml:"atMost" doc:"At most this many."`
}

// ReadYAML implements yamlfile.Reader.
func (a *Amount) ReadYAML(d *yamlfile.Decoder, node *yaml.Node, field string) {
	type plain Amount
	before := d.Found()
	if node.Kind != yaml.ScalarNode {
		if d.Decode(node, (*plain)(a), field); d.Found() == before && a.AtLeast == nil && a.AtMost == nil {
			d.Fail(node, field, "give a number, atLeast or atMost")
		}
		return
	}
	if d.Open(node) {
		return
	}
	n, err := strconv.Atoi(node.Value)
	if err != nil || n < 0 {
		d.Fail(node, field, "%q is not a number: write 3 for exactly three, 0 for none, or {atLeast: 1}", node.Value)
	}
	a.AtLeast, a.AtMost = &n, &n
}

// holds reports whether there are so many.
func (a Amount) holds(n int) bool {
	return (a.AtLeast == nil || n >= *a.AtLeast) && (a.AtMost == nil || n <= *a.AtMost)
}

func (a Amount) String() string {
	switch {
	case a.AtLeast != nil && a.AtMost != nil && *a.AtLeast == *a.AtMost:
		return strconv.Itoa(*a.AtLeast)
	case a.AtLeast != nil && a.AtMost != nil:
		return fmt.Sprintf("%d to %d", *a.AtLeast, *a.AtMost)
	case a.AtLeast != nil:
		return fmt.Sprintf("at least %d", *a.AtLeast)
	}
	return fmt.Sprintf("at most %d", *a.AtMost)
}
