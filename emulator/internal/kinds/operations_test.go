package kinds_test

import (
	"fmt"
	"maps"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// operation does one thing to the store and to the twin. Its arguments choose
// among what exists; with nothing to choose from it does nothing.
type operation struct {
	name string
	do   func(w *twin, tx *state.Tx, a, b byte) error
}

var operations = []operation{
	{"create load balancer", createLoadBalancer},
	{"rename load balancer", renameLoadBalancer},
	{"delete load balancer", deleteLoadBalancer},
	{"create listener", createListener},
	{"forward listener", forwardListener},
	{"delete listener", deleteListener},
	{"create group", createGroup},
	{"set backend servers", setBackendServers},
	{"delete group", deleteGroup},
	{"create rule", createRule},
	{"delete rule", deleteRule},
	{"start or stop listener", switchListener},
	{"reserve addresses", reserveAddresses},
	{"set quota", setQuota},
	{"set tag", setTag},
	{"delete tag", deleteTag},
}

// createLoadBalancer takes an address of a vSwitch that has twelve.
func createLoadBalancer(w *twin, tx *state.Tx, a, _ byte) error {
	lb := kinds.LoadBalancer{Owner: hangzhou, ID: tx.NewID(kinds.LoadBalancers.Kind()), VPCID: vpcID, VSwitchID: vSwitchID,
		Name: fmt.Sprintf("name-%d", a%4), CreateTime: tx.Now()}
	ip, err := kinds.AllocateAddress(tx, vSwitchID, vSwitchCIDR, "", kinds.LoadBalancers.Kind(), lb.ID)
	if full := len(w.loadBalancers)+len(w.reserved) == 12; full || err != nil {
		if full && factOf(err) == kinds.NoFreeAddress {
			return nil
		}
		return fmt.Errorf("with %d load balancers and %d reservations AllocateAddress = %w", len(w.loadBalancers), len(w.reserved), err)
	}
	lb.Address = ip
	stored := lb
	kinds.LoadBalancers.Put(tx, &stored)
	w.loadBalancers[lb.ID] = lb
	return nil
}

func renameLoadBalancer(w *twin, tx *state.Tx, a, b byte) error {
	id := pick(w.loadBalancers, a)
	if id == "" {
		return nil
	}
	lb := w.loadBalancers[id]
	lb.Name = fmt.Sprintf("name-%d", b%4)
	w.loadBalancers[id] = lb
	return kinds.LoadBalancers.Edit(tx, id, func(lb *kinds.LoadBalancer) error {
		lb.Name = fmt.Sprintf("name-%d", b%4)
		return nil
	})
}

// deleteLoadBalancer finds what belongs to it by the indexes; the twin looks at
// everything.
func deleteLoadBalancer(w *twin, tx *state.Tx, a, _ byte) error {
	id := pick(w.loadBalancers, a)
	if id == "" {
		return nil
	}
	kinds.LoadBalancers.Remove(tx, id)

	delete(w.loadBalancers, id)
	maps.DeleteFunc(w.staying, func(l string, _ stay) bool { return w.listeners[l].LoadBalancerID == id })
	maps.DeleteFunc(w.listeners, func(_ string, l kinds.Listener) bool { return l.LoadBalancerID == id })
	maps.DeleteFunc(w.groups, func(_ string, g kinds.VServerGroup) bool { return g.LoadBalancerID == id })
	maps.DeleteFunc(w.rules, func(_ string, r kinds.Rule) bool { return r.LoadBalancerID == id })
	maps.DeleteFunc(w.tags, func(_ string, t state.Tag) bool { return t.ResourceID == id })
	return nil
}

func createListener(w *twin, tx *state.Tx, a, b byte) error {
	id := pick(w.loadBalancers, a)
	l := kinds.Listener{Owner: hangzhou, LoadBalancerID: id, Port: 1 + int(b%8), Status: kinds.ListenerStopped,
		Protocol: []kinds.Protocol{kinds.TCP, kinds.UDP, kinds.HTTP, kinds.HTTPS}[b/8%4]}
	taken := false
	for _, other := range w.listeners {
		taken = taken || other.LoadBalancerID == id && other.Port == l.Port && (other.Protocol == kinds.UDP) == (l.Protocol == kinds.UDP)
	}
	if id == "" || taken {
		return nil
	}
	used := count(w.listeners, func(l kinds.Listener) bool { return l.LoadBalancerID == id })
	err := tx.Use(kinds.QuotaListeners, id, 1)
	if over := used+1 > w.listenerLimit; over || err != nil {
		if over && factOf(err) == state.QuotaExceeded {
			return nil
		}
		return fmt.Errorf("with %d of %d listeners Use = %w", used, w.listenerLimit, err)
	}
	stored := l
	kinds.Listeners.Put(tx, &stored)
	w.listeners[l.ID()] = l
	return nil
}

func forwardListener(w *twin, tx *state.Tx, a, b byte) error {
	id := pick(w.listeners, a)
	if id == "" {
		return nil
	}
	l := w.listeners[id]
	own := maps.Clone(w.groups)
	maps.DeleteFunc(own, func(_ string, g kinds.VServerGroup) bool { return g.LoadBalancerID != l.LoadBalancerID })
	l.VServerGroupID = pick(own, b)
	w.listeners[id] = l
	return kinds.Listeners.Edit(tx, id, func(stored *kinds.Listener) error {
		stored.VServerGroupID = l.VServerGroupID
		return nil
	})
}

func deleteListener(w *twin, tx *state.Tx, a, _ byte) error {
	id := pick(w.listeners, a)
	if id == "" {
		return nil
	}
	kinds.Listeners.Remove(tx, id)
	delete(w.listeners, id)
	delete(w.staying, id)
	maps.DeleteFunc(w.rules, func(_ string, r kinds.Rule) bool { return r.ListenerID == id })
	return nil
}

// switchListener enters the other stage also before the end of the one before.
func switchListener(w *twin, tx *state.Tx, a, b byte) error {
	id := pick(w.listeners, a)
	if id == "" {
		return nil
	}
	l := w.listeners[id]
	stage, then := kinds.StageListenerStarting, kinds.ListenerRunning
	l.Status = kinds.ListenerStarting
	if b%2 == 1 {
		stage, then = kinds.StageListenerStopping, kinds.ListenerStopped
		l.Status = kinds.ListenerStopping
	}
	state.Enter(tx, stage, id)
	w.listeners[id] = l
	w.staying[id] = stay{tx.Now().Add(2 * time.Second), then}
	return nil
}

func createGroup(w *twin, tx *state.Tx, a, b byte) error {
	lb := pick(w.loadBalancers, a)
	if lb == "" {
		return nil
	}
	g := kinds.VServerGroup{Owner: hangzhou, ID: tx.NewID(kinds.VServerGroups.Kind()), LoadBalancerID: lb, BackendServers: servers(b)}
	stored := g
	kinds.VServerGroups.Put(tx, &stored)
	w.groups[g.ID] = g
	return nil
}

// servers makes a list of up to seven different backend servers.
func servers(n byte) (list []kinds.BackendServer) {
	for i := range int(n % 8) {
		list = append(list, kinds.BackendServer{ServerID: fmt.Sprintf("i-%d", (int(n)+i)%9), Port: 80 + i, Weight: int(n) % 101})
	}
	return list
}

func setBackendServers(w *twin, tx *state.Tx, a, b byte) error {
	id := pick(w.groups, a)
	if id == "" {
		return nil
	}
	g := w.groups[id]
	g.BackendServers = servers(b)
	w.groups[id] = g
	return kinds.VServerGroups.Edit(tx, id, func(g *kinds.VServerGroup) error {
		g.BackendServers = servers(b)
		return nil
	})
}

// deleteGroup refuses a group in use, as the cloud does.
func deleteGroup(w *twin, tx *state.Tx, a, _ byte) error {
	id := pick(w.groups, a)
	_, used := kinds.ListenersByVServerGroup.First(tx.View, id)
	if _, ruled := kinds.RulesByVServerGroup.First(tx.View, id); used || ruled {
		return nil
	}
	kinds.VServerGroups.Delete(tx, id)
	delete(w.groups, id)
	return nil
}

func setTag(w *twin, tx *state.Tx, a, b byte) error {
	id := pick(w.loadBalancers, a)
	if id == "" {
		return nil
	}
	tag := state.Tag{Owner: hangzhou, ResourceType: kinds.TagLoadBalancer, ResourceID: id,
		Key: fmt.Sprintf("key-%d", b%4), Value: fmt.Sprintf("value-%d", b/4%4)}
	state.SetTag(tx, tag.ResourceType, id, tag.Key, tag.Value)
	w.tags[state.TagID(tag.ResourceType, id, tag.Key)] = tag
	return nil
}

func deleteTag(w *twin, tx *state.Tx, a, _ byte) error {
	id := pick(w.tags, a)
	state.Tags.Delete(tx, id)
	delete(w.tags, id)
	return nil
}

// createRule forwards from a listener of HTTP or HTTPS, as no others have rules, to a group of
// the same load balancer.
func createRule(w *twin, tx *state.Tx, a, b byte) error {
	web := maps.Clone(w.listeners)
	maps.DeleteFunc(web, func(_ string, l kinds.Listener) bool { return l.Protocol != kinds.HTTP && l.Protocol != kinds.HTTPS })
	if len(web) == 0 {
		return nil
	}
	own := maps.Clone(w.groups)
	listener := pick(web, a)
	maps.DeleteFunc(own, func(_ string, g kinds.VServerGroup) bool {
		return g.LoadBalancerID != w.listeners[listener].LoadBalancerID
	})
	if len(own) == 0 {
		return nil
	}
	r := kinds.Rule{Owner: hangzhou, ID: tx.NewID(kinds.Rules.Kind()), LoadBalancerID: w.listeners[listener].LoadBalancerID,
		ListenerID: listener, VServerGroupID: pick(own, b), URL: fmt.Sprintf("/%d", b)}
	stored := r
	kinds.Rules.Put(tx, &stored)
	w.rules[r.ID] = r
	return nil
}

func deleteRule(w *twin, tx *state.Tx, a, _ byte) error {
	id := pick(w.rules, a)
	kinds.Rules.Delete(tx, id)
	delete(w.rules, id)
	return nil
}

// reserveAddresses leaves some of twelve addresses free, the last ones.
func reserveAddresses(w *twin, tx *state.Tx, a, _ byte) error {
	free := int(a % 13)
	s, err := kinds.VSwitches.Get(tx.View, vSwitchID)
	if err != nil {
		return err
	}
	err = kinds.SetFreeAddresses(tx, s, free)
	if tooMany := free > 12-len(w.loadBalancers); tooMany || err != nil {
		if tooMany && factOf(err) == kinds.NoFreeAddress {
			return nil
		}
		return fmt.Errorf("with %d load balancers SetFreeAddresses(%d) = %w", len(w.loadBalancers), free, err)
	}
	taken := make(map[string]bool)
	for _, lb := range w.loadBalancers {
		taken[lb.Address] = true
	}
	w.reserved = make(map[string]bool)
	for i := 1; len(w.reserved) < 12-len(w.loadBalancers)-free; i++ {
		if ip := fmt.Sprintf("192.168.0.%d", i); !taken[ip] {
			w.reserved[ip] = true
		}
	}
	return nil
}

func setQuota(w *twin, tx *state.Tx, a, _ byte) error {
	w.listenerLimit = 1 + int(a%8)
	state.Quotas.Put(tx, &state.Quota{AccountID: hangzhou.AccountID, Name: kinds.QuotaListeners, Limit: w.listenerLimit})
	return nil
}
