package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

var resourceKind = kind[Resource](Kind{Name: "resource", About: "A resource, as a call returns it."})

// Resource is a call that describes something, and what it must answer.
type Resource struct {
	Product string             `yaml:"product" doc:"The API that has the action, such as Nlb; Slb if absent."`
	Action  string             `yaml:"action" required:"true" doc:"The action, such as DescribeLoadBalancerAttribute."`
	Params  map[string]Value   `yaml:"params" doc:"Parameters by name; a list is sent in the form that the action reads, as Name.1 or as JSON."`
	Code    *Matcher           `yaml:"code" doc:"The expected error code, for a resource that must not exist."`
	Fields  map[string]Matcher `yaml:"fields" doc:"Fields by path, such as Listeners.0.Status."`
}

func (r *Resource) Validate() error {
	if r.Code != nil && !r.Code.ofSuccess() && len(r.Fields) > 0 {
		return errors.New("a call that is refused answers no fields: give code or fields")
	}
	return nil
}

func (r *Resource) title() string { return r.Action }

func (r *Resource) check(c *checker, at spot, in scope) {
	if action, known := c.action(at, r.Product, r.Action, r.Params, r.Code == nil); known {
		if action.Writes {
			c.refuse(at.in("action"), "%s changes something, and an expectation only looks: make the call in a step", r.Action)
		}
		c.code(at.in("code"), r.Code, []Action{action}, in)
		c.fields(at.in("fields"), action, r.Fields)
		if r.Code == nil || r.Code.ofSuccess() {
			c.ids(r.Params, at.in("params"), in)
		}
	}
}

func (r *Resource) look(ctx context.Context, p *play) error {
	call := CallStep{Product: r.Product, Action: r.Action, Params: r.Params}
	answer, err := p.Target.Call(ctx, call.api(ObserverAgent))
	if err != nil {
		return err
	}
	return (&Reply{Code: r.Code, Fields: r.Fields}).compare(answer)
}

var quotaKind = kind[Quota](Kind{Name: "quota", About: "The use of a quota."})

// Quota expects a use of a quota.
type Quota struct {
	Name   string `yaml:"name" required:"true" doc:"The quota; clbemu quota lists them."`
	Holder string `yaml:"holder" doc:"The resource that uses it, such as a load balancer; the sum of all if absent."`
	Used   *int   `yaml:"used" doc:"The amount in use."`
	Free   *int   `yaml:"free" doc:"The amount left."`
}

func (q *Quota) Validate() error {
	if q.Used != nil && *q.Used < 0 || q.Free != nil && *q.Free < 0 {
		return errors.New("used and free are never less than 0")
	}
	return exactlyOne([]string{"used", "free"}, q.Used != nil, q.Free != nil)
}

func (q *Quota) title() string { return "quota " + q.Name }

func (q *Quota) check(c *checker, at spot, in scope) {
	c.id("Id", q.Holder, at.in("holder"), in)
	name := at.in("name")
	if c.names != nil && c.settled(name, q.Name) {
		c.listed(name, q.Name, c.names.Quotas(), "there is no quota %s", "clbemu quota lists them")
	}
	if q.Used != nil && *q.Used == 0 && q.Holder != "" {
		c.seen(at.in("holder"), q.Holder, "uses nothing either")
	}
}

func (q *Quota) look(ctx context.Context, p *play) error {
	list, err := p.Target.Quotas(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(is QuotaUse) bool { return is.Name == q.Name })
	if i < 0 {
		return fmt.Errorf("there is no quota %s: clbemu quota lists them", q.Name)
	}
	used := 0
	for holder, n := range list[i].Used {
		if q.Holder == "" || q.Holder == holder {
			used += n
		}
	}
	switch {
	case q.Used != nil && used != *q.Used:
		return &Unmet{Expected: fmt.Sprintf("%d used of %s", *q.Used, q.Name), Seen: fmt.Sprint(used)}
	case q.Free != nil && list[i].Limit-used != *q.Free:
		return &Unmet{Expected: fmt.Sprintf("%d free of %s", *q.Free, q.Name), Seen: fmt.Sprint(list[i].Limit - used)}
	}
	return nil
}

var addressesKind = kind[Addresses](Kind{Name: "addresses", About: "The free addresses of a vSwitch."})

// Addresses is a budget of addresses.
type Addresses struct {
	VSwitch string `yaml:"vSwitch" required:"true" doc:"The vSwitch."`
	Free    *int   `yaml:"free" required:"true" doc:"The number of free addresses."`
}

func (a *Addresses) Validate() error {
	if a.Free != nil && *a.Free < 0 {
		return errors.New("free is never less than 0")
	}
	return nil
}

func (a *Addresses) title() string { return "addresses of " + a.VSwitch }

func (a *Addresses) check(c *checker, at spot, in scope) {
	c.id("VSwitchId", a.VSwitch, at.in("vSwitch"), in)
}

func (a *Addresses) look(ctx context.Context, p *play) error {
	free, err := p.Target.FreeAddresses(ctx, a.VSwitch)
	if err == nil && free != *a.Free {
		return &Unmet{Expected: fmt.Sprintf("%d free addresses in %s", *a.Free, a.VSwitch), Seen: fmt.Sprint(free)}
	}
	return err
}

var loadBalancerKind = kind[LoadBalancer](Kind{Name: "loadBalancer", About: "A load balancer with its listeners and backends."})

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
		return &Unmet{Expected: expected + l.Name, Seen: fmt.Sprint(n)}
	}
	if l.Absent {
		return nil
	}
	is := found[0]
	if m := l.Address; m != nil && !slices.ContainsFunc(is.Addresses, func(a string) bool { return m.holds(a, true) }) {
		return &Unmet{Expected: "an address of " + l.Name + ", " + m.String(), Seen: strings.Join(is.Addresses, ", ")}
	}
	if l.Listeners != nil && !l.listens(is.Listeners) {
		seen := listenersText(is.Listeners)
		if len(is.Stopped) > 0 {
			seen += "; stopped: " + strings.Join(is.Stopped, ", ")
		}
		return &Unmet{Expected: "the listeners " + listenersText(l.Listeners), Seen: seen}
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

// Amount is a number of things: one number alone, or bounds.
type Amount struct {
	AtLeast *int `yaml:"atLeast" doc:"At least this many."`
	AtMost  *int `yaml:"atMost" doc:"At most this many."`
}

var _ yamlfile.Reader = (*Amount)(nil)

// ReadYAML implements yamlfile.Reader.
func (a *Amount) ReadYAML(d *yamlfile.Decoder, node *yaml.Node, field string) {
	type plain Amount
	before := d.Found()
	if node.Kind != yaml.ScalarNode {
		d.Decode(node, (*plain)(a), field)
		switch {
		case d.Found() > before:
		case a.AtLeast == nil && a.AtMost == nil:
			d.Fail(node, field, "give a number, atLeast or atMost")
		case a.AtLeast != nil && *a.AtLeast < 0, a.AtMost != nil && *a.AtMost < 0:
			d.Fail(node, field, "there are never fewer than 0")
		case a.AtLeast != nil && a.AtMost != nil && *a.AtLeast > *a.AtMost:
			d.Fail(node, field, "atLeast is more than atMost: that is never so")
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
