package target

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/inventory"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/scenarios"
	"github.com/clbemu/clbemu/state"
)

// Mark implements scenarios.Target.
func (r *Remote) Mark(ctx context.Context) (uint64, error) {
	page, err := r.journal(ctx, math.MaxUint64)
	return page.Last, err
}

func (r *Remote) journal(ctx context.Context, since uint64) (journal.Page, error) {
	return r.control().Journal(ctx, url.Values{"kind": {string(journal.KindCall)}, "since": {strconv.FormatUint(since, 10)}})
}

// Calls implements scenarios.Target.
func (r *Remote) Calls(ctx context.Context, since uint64) ([]scenarios.JournalCall, error) {
	page, err := r.journal(ctx, since)
	if err != nil {
		return nil, err
	}
	if page.Missed > 0 {
		return nil, fmt.Errorf("the journal has forgotten %d entries of this scenario", page.Missed)
	}
	calls := make([]scenarios.JournalCall, len(page.Entries))
	for i, e := range page.Entries {
		calls[i] = scenarios.JournalCall{Sequence: e.Sequence, Time: e.Time, UserAgent: e.UserAgent, Product: e.Product, Action: e.Action,
			Params: e.Parameters.Map(), Status: e.Status, Code: e.Code, Faults: e.Faults}
	}
	return calls, nil
}

// Quotas implements scenarios.Target.
func (r *Remote) Quotas(ctx context.Context) ([]scenarios.QuotaUse, error) {
	quotas, err := r.control().Quotas(ctx, controlapi.Where{})
	if err != nil {
		return nil, err
	}
	list := make([]scenarios.QuotaUse, len(quotas))
	for i, q := range quotas {
		list[i] = scenarios.QuotaUse{Name: q.Name, Limit: q.Limit, Used: make(map[string]int)}
		for _, h := range q.Holders {
			list[i].Used[h.ID] = h.Used
		}
	}
	return list, nil
}

// FreeAddresses implements scenarios.Target.
func (r *Remote) FreeAddresses(ctx context.Context, vSwitch string) (free int, err error) {
	conditions, err := r.conditions(ctx)
	if err != nil {
		return 0, err
	}
	value, ok := conditions["vswitch."+vSwitch+".freeAddresses"]
	if !ok {
		return 0, fmt.Errorf("there is no vSwitch %s", vSwitch)
	}
	_, err = fmt.Sscan(value, &free)
	return free, err
}

// LoadBalancers implements scenarios.Target.
func (r *Remote) LoadBalancers(ctx context.Context, name string) (found []scenarios.LoadBalancerState, err error) {
	list, err := r.control().Resources(ctx, controlclient.Wanted{Kind: "lb", Name: name})
	if isNotFound(err) {
		return nil, nil // of that name there is none
	}
	if err != nil {
		return nil, err
	}
	for _, lb := range list.Resources {
		if name != "" && lb.ID != name && lb.Name != name { // an address, or a server's id
			continue
		}
		tree, err := r.control().LoadBalancer(ctx, controlapi.Where{}, lb.ID)
		if isNotFound(err) {
			continue // it was deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		found = append(found, stateOf(&tree))
	}
	return found, nil
}

// LoadBalancersIn returns all load balancers of a state.
func (r *Remote) LoadBalancersIn(v *state.View) (found []scenarios.LoadBalancerState, err error) {
	in := inventory.Inventory{Products: r.Products}
	list, err := in.List(v, inventory.Wanted{Kind: "lb"})
	if err != nil {
		return nil, err
	}
	for _, lb := range list.Resources {
		tree, err := in.Tree(v, lb.ID)
		if err != nil {
			return nil, err
		}
		found = append(found, stateOf(&tree))
	}
	return found, nil
}

func isNotFound(err error) bool {
	refused := (*controlclient.Refused)(nil)
	return errors.As(err, &refused) && refused.Status == http.StatusNotFound
}

func stateOf(tree *controlapi.LoadBalancerTree) scenarios.LoadBalancerState {
	is := scenarios.LoadBalancerState{ID: tree.LoadBalancer.ID, Name: tree.LoadBalancer.Name, Listeners: make(map[string]int), Ready: make(map[string]int)}
	for _, a := range tree.Addresses {
		is.Addresses = append(is.Addresses, a.Address)
	}
	if dns := tree.LoadBalancer.Fields["dnsName"]; dns != "" {
		is.Addresses = append(is.Addresses, dns)
	}
	for _, l := range tree.Listeners {
		name := strings.ToLower(l.Listener.Fields["protocol"]) + ":" + l.Listener.Fields["port"]
		if !l.Forwards {
			is.Stopped = append(is.Stopped, name)
			continue
		}
		servers, ready := 0, 0
		if l.Group != nil {
			servers = len(l.Group.Servers)
			for _, s := range l.Group.Servers {
				if s.Fields["weight"] != "0" && s.Fields["health"] != "abnormal" {
					ready++
				}
			}
		}
		is.Listeners[name], is.Ready[name] = servers, ready
	}
	return is
}

// Held describes the earlier contents of the emulator: the quotas that load balancers
// use, and fault rules. It is empty for a new emulator.
func (r *Remote) Held(ctx context.Context) (held []string, err error) {
	quotas, err := r.Quotas(ctx)
	if err != nil {
		return nil, err
	}
	for _, q := range quotas {
		used := 0
		for _, n := range q.Used {
			used += n
		}
		if used > 0 && strings.HasPrefix(q.Name, "slb_") {
			held = append(held, fmt.Sprintf("%d used of %s", used, q.Name))
		}
	}
	rules, err := r.Faults(ctx)
	if len(rules) > 0 {
		held = append(held, fmt.Sprintf("%d fault rules", len(rules)))
	}
	return held, err
}
