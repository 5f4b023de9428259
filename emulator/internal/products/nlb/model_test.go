package nlb_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/nlb"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

// modelCalls is the number of calls of the model test.
const modelCalls = 4000

// full is a class of answers that other products have not.
const full gatewaytest.Outcome = "without addresses"

// outcomes are the codes of the answers that do not begin with ResourceNotFound.
var outcomes = map[string]gatewaytest.Outcome{
	"":                                gatewaytest.OK,
	"QuotaExceeded.QuotaInsufficient": gatewaytest.OverUsed,
	"ResourceInUse.ServerGroup":       gatewaytest.InUse,
	"Conflict.Port":                   gatewaytest.Conflict,
	"DuplicatedParam.Server":          gatewaytest.Conflict,
	"ResourceAlreadyAssociated.SecurityGroup": gatewaytest.Conflict,
	"ResourceNotAssociated.SecurityGroup":     gatewaytest.Conflict,
	"OperationFailed.UnpaidBill":              gatewaytest.Unpaid,
	"ResourceNotEnough.VSwitchIp":             full,
}

func outcomeOf(r gatewaytest.Reply) gatewaytest.Outcome {
	if strings.HasPrefix(r.Code, "ResourceNotFound.") {
		return gatewaytest.NotFound
	}
	return r.Known(outcomes)
}

// twin holds what the store should hold, in plain maps by id.
type twin struct {
	*rand.Rand
	balancers map[string]*twinBalancer
	groups    map[string]map[string]bool // servers, by instance and port
	listeners map[string]*twinListener
	limits    map[state.QuotaName]int
	free      map[string]int // addresses by vSwitch
	owes      bool
	// failing is while jobs fail: their calls answer as always and do nothing.
	failing bool
}

// twinBalancer is always in zone h, and in another one.
type twinBalancer struct {
	vSwitch string
	sealed  bool // it is in the security group
}

type twinListener struct {
	balancer, group string
	port            int
}

// modelLimits are the quotas that the test changes, with their defaults.
var modelLimits = map[state.QuotaName]int{
	kinds.QuotaNLBLoadBalancers: 60, kinds.QuotaNLBListeners: 50, kinds.QuotaNLBServerGroups: 3000, kinds.QuotaNLBServers: 400,
	kinds.QuotaNLBGroupListeners: 50,
}

// step is a gatewaytest.Step whose work a job may do, and does not while jobs fail.
type step struct {
	action string
	params gatewaytest.Params
	want   gatewaytest.Outcome
	job    bool
	done   func(gatewaytest.Reply)
}

var steps = []func(*twin) step{
	createBalancer, deleteBalancer, moveBalancer, moveBalancer, joinGroup, leaveGroup, createGroup, createGroup, deleteGroup,
	addServer, addServer, addServer, removeServer, listenAt, listenAt, listenAt, deleteListenerOf,
}

// otherZones maps vSwitches to the zones that a load balancer can be in besides zone h.
var otherZones = map[string]string{vSwitch2: zoneI, vSwitchJ: zoneJ}

func zonesOf(vSwitch string) gatewaytest.Params {
	return params("ZoneMappings.1.ZoneId", zoneH, "ZoneMappings.1.VSwitchId", vSwitch1,
		"ZoneMappings.2.ZoneId", otherZones[vSwitch], "ZoneMappings.2.VSwitchId", vSwitch)
}

func createBalancer(w *twin) step {
	vSwitch := slices.Sorted(maps.Keys(otherZones))[w.IntN(2)]
	return step{"CreateLoadBalancer", with(zonesOf(vSwitch), "AddressType", "Internet", "VpcId", vpc1), gatewaytest.First(
		gatewaytest.If(w.owes, gatewaytest.Unpaid),
		gatewaytest.If(len(w.balancers) >= w.limits[kinds.QuotaNLBLoadBalancers], gatewaytest.OverUsed),
		gatewaytest.If(w.free[vSwitch1] == 0 || w.free[vSwitch] == 0, full),
	), false, func(r gatewaytest.Reply) {
		w.balancers[r.Text("LoadbalancerId")] = &twinBalancer{vSwitch: vSwitch}
		w.free[vSwitch1]--
		w.free[vSwitch]--
	}}
}

// deleteBalancer takes much away: two of three times something is added instead.
func deleteBalancer(w *twin) step {
	if w.IntN(3) > 0 {
		return createGroup(w)
	}
	id := gatewaytest.Choose(w.Rand, w.balancers)
	b := w.balancers[id]
	return step{"DeleteLoadBalancer", params("LoadBalancerId", id), gatewaytest.First(gatewaytest.If(b == nil, gatewaytest.NotFound)), true, func(gatewaytest.Reply) {
		maps.DeleteFunc(w.listeners, func(_ string, l *twinListener) bool { return l.balancer == id })
		w.free[vSwitch1]++
		w.free[b.vSwitch]++
		delete(w.balancers, id)
	}}
}

// moveBalancer puts it into the other of the two zones. A job that fails finds no
// zone full.
func moveBalancer(w *twin) step {
	id := gatewaytest.Choose(w.Rand, w.balancers)
	b, there := w.balancers[id]
	if !there {
		b = &twinBalancer{vSwitch: vSwitch2}
	}
	to := vSwitch2
	if b.vSwitch == vSwitch2 {
		to = vSwitchJ
	}
	return step{"UpdateLoadBalancerZones", with(zonesOf(to), "LoadBalancerId", id), gatewaytest.First(
		gatewaytest.If(!there, gatewaytest.NotFound),
		gatewaytest.If(!w.failing && w.free[to] == 0, full),
	), true, func(gatewaytest.Reply) {
		w.free[b.vSwitch]++
		w.free[to]--
		b.vSwitch = to
	}}
}

func joinGroup(w *twin) step { return seal(w, "LoadBalancerJoinSecurityGroup", true) }

func leaveGroup(w *twin) step { return seal(w, "LoadBalancerLeaveSecurityGroup", false) }

func seal(w *twin, action string, sealed bool) step {
	id := gatewaytest.Choose(w.Rand, w.balancers)
	b := w.balancers[id]
	return step{action, params("LoadBalancerId", id, "SecurityGroupIds.1", group1), gatewaytest.First(
		gatewaytest.If(b == nil, gatewaytest.NotFound),
		gatewaytest.If(b != nil && b.sealed == sealed, gatewaytest.Conflict),
	), true, func(gatewaytest.Reply) { b.sealed = sealed }}
}

func createGroup(w *twin) step {
	return step{"CreateServerGroup", params("ServerGroupName", "group", "VpcId", vpc1),
		gatewaytest.First(gatewaytest.If(len(w.groups) >= w.limits[kinds.QuotaNLBServerGroups], gatewaytest.OverUsed)), true,
		func(r gatewaytest.Reply) { w.groups[r.Text("ServerGroupId")] = make(map[string]bool) }}
}

func deleteGroup(w *twin) step {
	id := gatewaytest.Choose(w.Rand, w.groups)
	used := false
	for _, l := range w.listeners {
		used = used || l.group == id
	}
	return step{"DeleteServerGroup", params("ServerGroupId", id), gatewaytest.First(
		gatewaytest.If(w.groups[id] == nil, gatewaytest.NotFound),
		gatewaytest.If(used, gatewaytest.InUse),
	), true, func(gatewaytest.Reply) { delete(w.groups, id) }}
}

// chooseServer returns a server, the parameters that name it, and its group.
func chooseServer(w *twin) (server, group string, p gatewaytest.Params) {
	group, port := gatewaytest.Choose(w.Rand, w.groups), strconv.Itoa(1+w.IntN(9))
	return instance1 + ":" + port, group, params("ServerGroupId", group, "Servers.1.ServerType", "Ecs",
		"Servers.1.ServerId", instance1, "Servers.1.Port", port)
}

func addServer(w *twin) step {
	server, group, p := chooseServer(w)
	servers, there := w.groups[group]
	return step{"AddServersToServerGroup", p, gatewaytest.First(
		gatewaytest.If(!there, gatewaytest.NotFound),
		gatewaytest.If(servers[server], gatewaytest.Conflict),
		gatewaytest.If(len(servers) >= w.limits[kinds.QuotaNLBServers], gatewaytest.OverUsed),
	), true, func(gatewaytest.Reply) { servers[server] = true }}
}

func removeServer(w *twin) step {
	server, group, p := chooseServer(w)
	servers, there := w.groups[group]
	return step{"RemoveServersFromServerGroup", p, gatewaytest.First(
		gatewaytest.If(!there, gatewaytest.NotFound),
		gatewaytest.If(!servers[server], gatewaytest.NotFound),
	), true, func(gatewaytest.Reply) { delete(servers, server) }}
}

func listenAt(w *twin) step {
	l := &twinListener{balancer: gatewaytest.Choose(w.Rand, w.balancers), group: gatewaytest.Choose(w.Rand, w.groups), port: 1 + w.IntN(9)}
	taken, of, joined := false, 0, 0
	for _, other := range w.listeners {
		if other.balancer == l.balancer {
			of++
			taken = taken || other.port == l.port
		}
		if other.group == l.group {
			joined++
		}
	}
	return step{"CreateListener", params("LoadBalancerId", l.balancer, "ListenerProtocol", "TCP",
		"ListenerPort", strconv.Itoa(l.port), "ServerGroupId", l.group), gatewaytest.First(
		gatewaytest.If(w.balancers[l.balancer] == nil, gatewaytest.NotFound),
		gatewaytest.If(taken, gatewaytest.Conflict),
		gatewaytest.If(w.groups[l.group] == nil, gatewaytest.NotFound),
		gatewaytest.If(of >= w.limits[kinds.QuotaNLBListeners] || joined >= w.limits[kinds.QuotaNLBGroupListeners], gatewaytest.OverUsed),
	), true, func(r gatewaytest.Reply) { w.listeners[r.Text("ListenerId")] = l }}
}

func deleteListenerOf(w *twin) step {
	id := gatewaytest.Choose(w.Rand, w.listeners)
	return step{"DeleteListener", params("ListenerId", id), gatewaytest.First(gatewaytest.If(w.listeners[id] == nil, gatewaytest.NotFound)), true,
		func(gatewaytest.Reply) { delete(w.listeners, id) }}
}

// changeWorld puts the account into arrears or out of them, lets jobs fail or
// succeed, changes how many addresses are free, or a quota, often below the use.
func (w *twin) changeWorld(tx *state.Tx) error {
	switch w.IntN(5) {
	case 0:
		w.owes = !w.owes
		return kinds.SetArrears(tx, account, w.owes)
	case 1:
		w.failing = !w.failing
		return set("life.nlb.job.failing", map[bool]string{true: "1s", false: "default"}[w.failing])(tx)
	case 2:
		vSwitch := []string{vSwitch1, vSwitch2, vSwitchJ}[w.IntN(3)]
		w.free[vSwitch] = w.IntN(12)
		return set("vswitch."+vSwitch+".freeAddresses", strconv.Itoa(w.free[vSwitch]))(tx)
	}
	names := slices.Sorted(maps.Keys(modelLimits))
	name := names[w.IntN(len(names))]
	w.limits[name] = 2 + w.IntN(12)
	state.Quotas.Put(tx, &state.Quota{AccountID: account, Name: name, Limit: w.limits[name]})
	return nil
}

// Random calls, with changes of the world between them, come to what a twin of
// maps says, and leave what it holds and a state that passes its check; addresses
// that are free are those that the twin counts.
func TestModel(t *testing.T) {
	clock := state.NewManualClock(gatewaytest.Start)
	w := &twin{Rand: gatewaytest.Rand(t), balancers: make(map[string]*twinBalancer), groups: make(map[string]map[string]bool),
		listeners: make(map[string]*twinListener), limits: maps.Clone(modelLimits), free: make(map[string]int)}
	store := gatewaytest.StoreAt(t, clock, world.Default().Plant, func(root *state.Tx) error {
		tx := root.In(owner)
		from, err := kinds.VSwitches.Get(tx.View, vSwitch1)
		if err != nil {
			return err
		}
		added := *from
		added.ID, added.ZoneID, added.CIDRBlock = vSwitchJ, zoneJ, "192.168.20.0/24"
		kinds.VSwitches.Put(tx, &added)
		for _, id := range []string{vSwitch1, vSwitch2, vSwitchJ} {
			w.free[id] = freeAddresses(tx.View, id)
		}
		return nil
	})
	client := gatewaytest.NewClient(t, store, nlb.Product(gateway.Deps{}))
	gatewaytest.PlayModel(t, client, modelCalls, func() gatewaytest.Step {
		if w.IntN(20) == 0 {
			if err := store.Update(state.Owner{}, w.changeWorld); err != nil {
				t.Fatal(err)
			}
		}
		clock.Advance(time.Duration(w.IntN(2)) * time.Second)
		s := steps[w.IntN(len(steps))](w)
		if s.job && w.failing {
			s.done = func(gatewaytest.Reply) {}
		}
		return gatewaytest.NewStep(s.action, s.params, s.want, s.done)
	}, outcomeOf, gatewaytest.OK, gatewaytest.NotFound, gatewaytest.OverUsed, gatewaytest.InUse, gatewaytest.Conflict, gatewaytest.Unpaid, full)
	if err := w.compare(store.View(owner)); err != nil {
		t.Error(err)
	}
	if problems, err := store.Check(context.Background()); err != nil || len(problems) > 0 {
		t.Errorf("the state is inconsistent: %v, %v", problems, err)
	}
}

func freeAddresses(v *state.View, id string) int {
	s, ok := kinds.VSwitches.Find(v, id)
	if !ok {
		return -1
	}
	return kinds.AvailableAddresses(v, s)
}

// compare returns where the store differs from the twin.
func (w *twin) compare(v *state.View) error {
	for id, n := range w.free {
		if got := freeAddresses(v, id); got != n {
			return fmt.Errorf("%s has %d free addresses, the twin %d", id, got, n)
		}
	}
	for lb := range kinds.NLBLoadBalancers.All(v) {
		b, there := w.balancers[lb.ID]
		if !there || len(lb.ZoneMappings) != 2 || lb.ZoneMappings[1].VSwitchID != b.vSwitch || (len(lb.SecurityGroupIDs) > 0) != b.sealed {
			return fmt.Errorf("the load balancer %+v is %+v in the twin", lb, b)
		}
	}
	for l := range kinds.NLBListeners.All(v) {
		want, there := w.listeners[l.ID]
		if !there || *want != (twinListener{l.LoadBalancerID, l.ServerGroupID, l.Port}) {
			return fmt.Errorf("the listener %+v is %+v in the twin", l, want)
		}
	}
	for g := range kinds.NLBServerGroups.All(v) {
		servers, there := w.groups[g.ID]
		if !there || len(servers) != len(g.Servers) {
			return fmt.Errorf("the group %+v has the servers %v in the twin", g, servers)
		}
		for _, s := range g.Servers {
			if !servers[s.ID+":"+strconv.Itoa(s.Port)] {
				return fmt.Errorf("the group %s has the server %+v, which the twin has not", g.ID, s)
			}
		}
	}
	for what, more := range map[string]int{
		"load balancers": kinds.NLBLoadBalancersByRegion.Count(v, account) - len(w.balancers),
		"listeners":      len(slices.Collect(kinds.NLBListeners.All(v))) - len(w.listeners),
		"server groups":  len(slices.Collect(kinds.NLBServerGroups.All(v))) - len(w.groups),
	} {
		if more != 0 {
			return fmt.Errorf("the store has %d more %s than the twin", more, what)
		}
	}
	return nil
}
