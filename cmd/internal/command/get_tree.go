package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"charm.land/lipgloss/v2/tree"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator/controlapi"
)

// styles are the colours of what a status or a health says.
var styles = map[string]terminal.Style{
	"active": terminal.Good, "running": terminal.Good, "normal": terminal.Good, "available": terminal.Good,
	"inactive": terminal.Odd, "stopped": terminal.Odd, "unavailable": terminal.Odd, "starting": terminal.Odd, "stopping": terminal.Odd, "configuring": terminal.Odd, "provisioning": terminal.Odd,
	"locked": terminal.Bad, "abnormal": terminal.Bad, "deleting": terminal.Bad,
}

func styled(status string) string {
	if style, ok := styles[strings.ToLower(status)]; ok {
		return style.Render(status)
	}
	return status
}

// words joins the non-empty ones of several words, two spaces apart.
func words(list ...string) string {
	return strings.Join(slices.DeleteFunc(list, func(w string) bool { return strings.TrimSpace(w) == "" }), "  ")
}

// resourceLabel returns a resource by its id and, if it has one, its name.
func resourceLabel(r *controlapi.Resource) string {
	if r.Name == "" {
		return printable(r.ID)
	}
	return fmt.Sprintf("%s (%s)", printable(r.ID), printable(r.Name))
}

// treeText returns a load balancer with everything that belongs to it.
func treeText(t *controlapi.LoadBalancerTree) string {
	lb := &t.LoadBalancer
	root := tree.Root(words(terminal.Title.Render(resourceLabel(lb)), lb.Product, styled(lb.Status), lb.Region, lb.Fields["spec"]))
	for _, a := range t.Addresses {
		root.Child(words("reached at", a.Address, a.Type, a.Zone, a.EIP))
	}
	if name := lb.Fields["dnsName"]; name != "" {
		root.Child(words("reached at", name, "(no DNS server here knows it)"))
	}
	for _, name := range slices.Sorted(maps.Keys(t.Tags)) {
		root.Child("tag  " + printable(name) + "=" + printable(t.Tags[name]))
	}
	for i := range t.Listeners {
		root.Child(listenerNode(&t.Listeners[i]))
	}
	for i := range t.Groups {
		root.Child(groupNode("idle group", &t.Groups[i]))
	}
	for _, q := range t.Quotas {
		by := ""
		if q.By != lb.ID {
			by = "by " + q.By
		}
		root.Child(words("quota", q.Name, fmt.Sprintf("%d of %d", q.Used, q.Limit), by))
	}
	for _, f := range t.Faults {
		spent := ""
		if f.Spent {
			spent = "spent"
		}
		root.Child(terminal.Odd.Render(words("fault", f.Name, "at "+f.At, counted(f.Hits, "hit"), spent)))
	}
	return root.String()
}

func listenerNode(t *controlapi.ListenerTree) *tree.Tree {
	l := &t.Listener
	node := tree.Root(words("listener "+l.Fields["protocol"]+" "+l.Fields["port"], styled(l.Status), healthText(l.Fields["health"]), l.Fields["acl"], l.Fields["certificate"], printable(l.Name)))
	problem := l.Fields["problem"]
	if at := l.Fields["answersAt"]; at != "" {
		node.Child("answers at " + at)
		if problem != "" {
			node.Child(terminal.Odd.Render("not everywhere: " + printable(problem)))
		}
	} else if problem != "" {
		node.Child(terminal.Odd.Render("does not answer: " + printable(problem)))
	}
	if t.Group != nil {
		node.Child(groupNode("group", t.Group))
	} else {
		node.Child("no servers")
	}
	for i := range t.Rules {
		r := &t.Rules[i]
		rule := tree.Root(words("rule "+printable(r.Name), printable(r.Domain+r.URL)))
		if r.Group != nil {
			rule.Child(groupNode("group", r.Group))
		}
		node.Child(rule)
	}
	return node
}

// healthText says how many servers a listener finds healthy, or that it checks none.
func healthText(health string) string {
	if strings.Contains(health, "/") {
		return "healthy " + health
	}
	return "health " + health
}

func groupNode(label string, t *controlapi.GroupTree) *tree.Tree {
	node := tree.Root(words(label+" "+resourceLabel(&t.Group), t.Group.Fields["type"], styled(t.Group.Status)))
	for i := range t.Servers {
		f := t.Servers[i].Fields
		at := f["address"]
		if f["port"] != "" {
			at += ":" + f["port"]
		}
		node.Child(words(f["server"], at, "weight "+f["weight"], styled(f["health"]), printable(f["problem"])))
	}
	if len(t.Servers) == 0 {
		node.Child("no servers")
	}
	return node
}
