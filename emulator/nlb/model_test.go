package nlb_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/gateway"
	"github.com/clbemu/clbemu/emulator/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/nlb"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the model test; 0 takes a new one")

// modelCalls is how many calls the model test makes.
const modelCalls = 4000

// outcome is a class of answers.
type outcome string

const (
	ok       outcome = "ok"
	notFound outcome = "not found"
	overUsed outcome = "over quota"
	inUse    outcome = "in use"
	conflict outcome = "conflict"
	unpaid   outcome = "in arrears"
	full     outcome = "without addresses"
)

// outcomes are the codes of the answers that do not begin with ResourceNotFound.
var outcomes = map[string]outcome{
	"":                                ok,
	"QuotaExceeded.QuotaInsufficient": overUsed,
	"ResourceInUse.ServerGroup":       inUse,
	"Conflict.Port":                   conflict,
	"DuplicatedParam.Server":          conflict,
	"ResourceAlreadyAssociated.SecurityGroup": conflict,
	"ResourceNotAssociated.SecurityGroup":     conflict,
	"OperationFailed.UnpaidBill":              unpaid,
	"ResourceNotEnough.VSwitchIp":             full,
}

func outcomeOf(r gatewaytest.Reply) outcome {
	if strings.HasPrefix(r.Code, "ResourceNotFound.") {
		return notFound
	}
	if o, known := outcomes[r.Code]; known {
		return o
	}
	return outcome(fmt.Sprintf("%d %s", r.Status, r.Code))
}

// twin is what there should be, in plain maps by id.
type twin struct {
	*rand.Rand
	balancers map[string]*twinBalancer
	groups    map[string]map[string]bool // servers, by instance and port
	listeners map[string]*twinListener
	limits    map[state.QuotaName]int
	free      map[string]int // addresses by vSwitch
	owes      bool
	// failing is while jobs fail: their calls are answered as always and do nothing.
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
	cloud.QuotaNLBLoadBalancers: 60, cloud.QuotaNLBListeners: 50, cloud.QuotaNLBServerGroups: 200, cloud.QuotaNLBServers: 200,
}

// choose returns any key, or now and then one that is none.
func choose[T any](w *twin, m map[string]T) string {
	if len(m) == 0 || w.IntN(12) == 0 {
		return "none"
	}
	return slices.Sorted(maps.Keys(m))[w.IntN(len(m))]
}

// first returns the outcome of the first check that fails.
func first(checks ...check) outcome {
	for _, c := range checks {
		if c.fails {
			return c.with
		}
	}
	return ok
}

type check struct {
	fails bool
	with  outcome
}

// step is a call, what it should come to, and what it then changes; what a job
// does, it does not while jobs fail.
type step struct {
	action string
	params gatewaytest.Params
	want   outcome
	job    bool
	done   func(gatewaytest.Reply)
}

var steps = []func(*twin) step{
	createBalancer, deleteBalancer, moveBalancer, moveBalancer, joinGroup, leaveGroup, createGroup, createGroup, deleteGroup,
	addServer, addServer, addServer, removeServer, listenAt, listenAt, listenAt, deleteListenerOf,
}

// otherZones are those that a load balancer can be in beside zone h, by vSwitch.
var otherZones = map[string]string{vSwitch2: zoneI, vSwitchJ: zoneJ}

func zonesOf(vSwitch string) gatewaytest.Params {
	return params("ZoneMappings.1.ZoneId", zoneH, "ZoneMappings.1.VSwitchId", vSwitch1,
		"ZoneMappings.2.ZoneId", otherZones[vSwitch], "ZoneMappings.2.VSwitchId", vSwitch)
}

func createBalancer(w *twin) step {
	vSwitch := slices.Sorted(maps.Keys(otherZones))[w.IntN(2)]
	return step{"CreateLoadBalancer", with(zonesOf(vSwitch), "AddressType", "Internet", "VpcId", vpc1), first(
		check{w.owes, unpaid},
		check{len(w.balancers) >= w.limits[cloud.QuotaNLBLoadBalancers], overUsed},
		check{w.free[vSwitch1] == 0 || w.free[vSwitch] == 0, full},
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
	id := choose(w, w.balancers)
	b := w.balancers[id]
	return step{"DeleteLoadBalancer", params("LoadBalancerId", id), first(check{b == nil, notFound}), true, func(gatewaytest.Reply) {
		maps.DeleteFunc(w.listeners, func(_ string, l *twinListener) bool { return l.balancer == id })
		w.free[vSwitch1]++
		w.free[b.vSwitch]++
		delete(w.balancers, id)
	}}
}

// moveBalancer puts it into the other of the two zones. A job that fails finds no
// zone full.
func moveBalancer(w *twin) step {
	id := choose(w, w.balancers)
	b, there := w.balancers[id]
	if !there {
		b = &twinBalancer{vSwitch: vSwitch2}
	}
	to := vSwitch2
	if b.vSwitch == vSwitch2 {
		to = vSwitchJ
	}
	return step{"UpdateLoadBalancerZones", with(zonesOf(to), "LoadBalancerId", id), first(
		check{!there, notFound},
		check{!w.failing && w.free[to] == 0, full},
	), true, func(gatewaytest.Reply) {
		w.free[b.vSwitch]++
		w.free[to]--
		b.vSwitch = to
	}}
}

func joinGroup(w *twin) step { return seal(w, "LoadBalancerJoinSecurityGroup", true) }

func leaveGroup(w *twin) step { return seal(w, "LoadBalancerLeaveSecurityGroup", false) }

func seal(w *twin, action string, sealed bool) step {
	id := choose(w, w.balancers)
	b := w.balancers[id]
	return step{action, params("LoadBalancerId", id, "SecurityGroupIds.1", group1), first(
		check{b == nil, notFound},
		check{b != nil && b.sealed == sealed, conflict},
	), true, func(gatewaytest.Reply) { b.sealed = sealed }}
}

func createGroup(w *twin) step {
	return step{"CreateServerGroup", params("ServerGroupName", "group", "VpcId", vpc1),
		first(check{len(w.groups) >= w.limits[cloud.QuotaNLBServerGroups], overUsed}), true,
		func(r gatewaytest.Reply) { w.groups[r.Text("ServerGroupId")] = make(map[string]bool) }}
}

func deleteGroup(w *twin) step {
	id := choose(w, w.groups)
	used := false
	for _, l := range w.listeners {
		used = used || l.group == id
	}
	return step{"DeleteServerGroup", params("ServerGroupId", id), first(
		check{w.groups[id] == nil, notFound},
		check{used, inUse},
	), true, func(gatewaytest.Reply) { delete(w.groups, id) }}
}

// chooseServer returns a server, the parameters that name it, and its group.
func chooseServer(w *twin) (server, group string, p gatewaytest.Params) {
	group, port := choose(w, w.groups), strconv.Itoa(1+w.IntN(9))
	return instance1 + ":" + port, group, params("ServerGroupId", group, "Servers.1.ServerType", "Ecs",
		"Servers.1.ServerId", instance1, "Servers.1.Port", port)
}

func addServer(w *twin) step {
	server, group, p := chooseServer(w)
	servers, there := w.groups[group]
	return step{"AddServersToServerGroup", p, first(
		check{!there, notFound},
		check{servers[server], conflict},
		check{len(servers) >= w.limits[cloud.QuotaNLBServers], overUsed},
	), true, func(gatewaytest.Reply) { servers[server] = true }}
}

func removeServer(w *twin) step {
	server, group, p := chooseServer(w)
	servers, there := w.groups[group]
	return step{"RemoveServersFromServerGroup", p, first(
		check{!there, notFound},
		check{!servers[server], notFound},
	), true, func(gatewaytest.Reply) { delete(servers, server) }}
}

func listenAt(w *twin) step {
	l := &twinListener{balancer: choose(w, w.balancers), group: choose(w, w.groups), port: 1 + w.IntN(9)}
	taken, of := false, 0
	for _, other := range w.listeners {
		if other.balancer == l.balancer {
			of++
			taken = taken || other.port == l.port
		}
	}
	return step{"CreateListener", params("LoadBalancerId", l.balancer, "ListenerProtocol", "TCP",
		"ListenerPort", strconv.Itoa(l.port), "ServerGroupId", l.group), first(
		check{w.balancers[l.balancer] == nil, notFound},
		check{taken, conflict},
		check{w.groups[l.group] == nil, notFound},
		check{of >= w.limits[cloud.QuotaNLBListeners], overUsed},
	), true, func(r gatewaytest.Reply) { w.listeners[r.Text("ListenerId")] = l }}
}

func deleteListenerOf(w *twin) step {
	id := choose(w, w.listeners)
	return step{"DeleteListener", params("ListenerId", id), first(check{w.listeners[id] == nil, notFound}), true,
		func(gatewaytest.Reply) { delete(w.listeners, id) }}
}

// changeWorld puts the account into arrears or out of them, lets jobs fail or
// succeed, changes how many addresses are free, or a quota, often to less than is used.
func (w *twin) changeWorld(tx *state.Tx) error {
	switch w.IntN(5) {
	case 0:
		w.owes = !w.owes
		return cloud.SetArrears(tx, account, w.owes)
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
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("replay with -seed %d", seed)
	clock := state.NewManualClock(gatewaytest.Start)
	w := &twin{Rand: rand.New(rand.NewPCG(seed, 0)), balancers: make(map[string]*twinBalancer), groups: make(map[string]map[string]bool),
		listeners: make(map[string]*twinListener), limits: maps.Clone(modelLimits), free: make(map[string]int)}
	store := gatewaytest.StoreAt(t, clock, world.Default().Plant, func(root *state.Tx) error {
		tx := root.In(owner)
		from, err := cloud.VSwitches.Get(tx.View, vSwitch1)
		if err != nil {
			return err
		}
		added := *from
		added.ID, added.ZoneID, added.CIDRBlock = vSwitchJ, zoneJ, "192.168.20.0/24"
		cloud.VSwitches.Put(tx, &added)
		for _, id := range []string{vSwitch1, vSwitch2, vSwitchJ} {
			w.free[id] = freeAddresses(tx.View, id)
		}
		return nil
	})
	client := gatewaytest.NewClient(t, store, nlb.Product(gateway.Deps{}))
	seen := make(map[outcome]int)
	for i := range modelCalls {
		if w.IntN(20) == 0 {
			if err := store.Update(state.Owner{}, w.changeWorld); err != nil {
				t.Fatal(err)
			}
		}
		clock.Advance(time.Duration(w.IntN(2)) * time.Second)
		s := steps[w.IntN(len(steps))](w)
		reply := client.Call(s.action, s.params)
		got := outcomeOf(reply)
		if got != s.want {
			t.Fatalf("call %d: %s(%v) = %s (%s: %s), want %s", i, s.action, s.params, got, reply.Code, reply.Message, s.want)
		}
		if got == ok && !(s.job && w.failing) {
			s.done(reply)
		}
		seen[got]++
	}
	for _, o := range []outcome{ok, notFound, overUsed, inUse, conflict, unpaid, full} {
		if seen[o] == 0 {
			t.Errorf("no call was answered %q: %v", o, seen)
		}
	}
	if err := store.View(owner, w.compare); err != nil {
		t.Error(err)
	}
	if problems, err := store.Check(context.Background()); err != nil || len(problems) > 0 {
		t.Errorf("the state is inconsistent: %v, %v", problems, err)
	}
}

func freeAddresses(v *state.View, id string) int {
	s, ok := cloud.VSwitches.Find(v, id)
	if !ok {
		return -1
	}
	return cloud.AvailableAddresses(v, s)
}

// compare tells where the store holds something else than the twin.
func (w *twin) compare(v *state.View) error {
	for id, n := range w.free {
		if got := freeAddresses(v, id); got != n {
			return fmt.Errorf("%s has %d free addresses, the twin %d", id, got, n)
		}
	}
	for lb := range cloud.NLBLoadBalancers.All(v) {
		b, there := w.balancers[lb.ID]
		if !there || len(lb.ZoneMappings) != 2 || lb.ZoneMappings[1].VSwitchID != b.vSwitch || (len(lb.SecurityGroupIDs) > 0) != b.sealed {
			return fmt.Errorf("the load balancer %+v is %+v in the twin", lb, b)
		}
	}
	for l := range cloud.NLBListeners.All(v) {
		want, there := w.listeners[l.ID]
		if !there || *want != (twinListener{l.LoadBalancerID, l.ServerGroupID, l.Port}) {
			return fmt.Errorf("the listener %+v is %+v in the twin", l, want)
		}
	}
	for g := range cloud.NLBServerGroups.All(v) {
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
		"load balancers": cloud.NLBLoadBalancersByRegion.Count(v, account) - len(w.balancers),
		"listeners":      len(slices.Collect(cloud.NLBListeners.All(v))) - len(w.listeners),
		"server groups":  len(slices.Collect(cloud.NLBServerGroups.All(v))) - len(w.groups),
	} {
		if more != 0 {
			return fmt.Errorf("the store has %d more %s than the twin", more, what)
		}
	}
	return nil
}
