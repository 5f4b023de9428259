package clb_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/clbemu/clbemu/emulator/clb"
	"github.com/clbemu/clbemu/emulator/gateway"
	"github.com/clbemu/clbemu/emulator/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the model test; 0 takes a new one")

// modelCalls is how many calls the model test makes.
const modelCalls = 5000

// outcome is a class of answers.
type outcome string

const (
	ok       outcome = "ok"
	notFound outcome = "not found"
	overUsed outcome = "over quota"
	inUse    outcome = "in use"
	conflict outcome = "conflict"
	unpaid   outcome = "in arrears"
	soldOut  outcome = "sold out"
)

// outcomes are the codes of the answers that are not of status 404.
var outcomes = map[string]outcome{
	"":                                     ok,
	"AclNotExist":                          notFound,
	"ResourceNotExist":                     notFound,
	"ORDER.QUANTITY_INVALID":               overUsed,
	"InstanceBackendServerNumberOverLimit": overUsed,
	"OverQuota":                            overUsed,
	"ListenerNumberOverLimit":              overUsed,
	"TooManyRules":                         overUsed,
	"AclNumberOverLimit":                   overUsed,
	"AclListenerOverLimit":                 overUsed,
	"QuotaLimitExceeds":                    overUsed,
	"RspoolVipExist":                       inUse,
	"RspoolRuleExist":                      inUse,
	"OperationFailed.AclBindedWithVip":     inUse,
	"ListenerAlreadyExists":                conflict,
	"DomainExist":                          conflict,
	"ORDER.ARREARAGE":                      unpaid,
	"OperationFailed.ZoneResourceLimit":    soldOut,
}

func outcomeOf(r gatewaytest.Reply) outcome {
	if r.Status == 404 {
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
	balancers map[string]bool
	tags      map[string]map[string]bool // keys by load balancer
	groups    map[string]*twinGroup
	listeners map[string]*twinListener // by load balancer and port
	rules     map[string]*twinRule
	acls      map[string]bool
	limits    map[state.QuotaName]int
	owes      bool
	soldOut   bool
}

type twinGroup struct {
	balancer string
	servers  map[string]string // instances by instance and port
}

type twinListener struct{ balancer, group, acl string }

type twinRule struct{ listener, url, group string }

func newTwin(seed uint64) *twin {
	return &twin{
		Rand:      rand.New(rand.NewPCG(seed, 0)),
		balancers: make(map[string]bool), tags: make(map[string]map[string]bool), groups: make(map[string]*twinGroup),
		listeners: make(map[string]*twinListener), rules: make(map[string]*twinRule), acls: make(map[string]bool),
		limits: maps.Clone(modelLimits),
	}
}

// modelLimits are the quotas that the test changes, with their defaults.
var modelLimits = map[state.QuotaName]int{
	cloud.QuotaLoadBalancers: 60, cloud.QuotaListeners: 50, cloud.QuotaBackendServers: 200, cloud.QuotaServerAttached: 50,
	cloud.QuotaRules: 40, cloud.QuotaACLs: 200, cloud.QuotaACLAttached: 50, cloud.QuotaTags: 20,
}

// choose returns any key, or now and then one that is none.
func choose[T any](w *twin, m map[string]T) string {
	if len(m) == 0 || w.IntN(12) == 0 {
		return "none"
	}
	return slices.Sorted(maps.Keys(m))[w.IntN(len(m))]
}

func countIf[T any](m map[string]T, match func(T) bool) (n int) {
	for _, r := range m {
		if match(r) {
			n++
		}
	}
	return n
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

// step is a call, what it should come to, and what it then changes.
type step struct {
	action string
	params gatewaytest.Params
	want   outcome
	done   func(gatewaytest.Reply)
}

var steps = []func(*twin) step{
	createBalancer, deleteBalancer, createListener, createListener, deleteListener, createVServerGroup, createVServerGroup,
	deleteVServerGroup, addMembers, addMembers, createRule, createRule, deleteRule, createACL, deleteACL, tagBalancer, untagBalancer,
}

func createBalancer(w *twin) step {
	return step{"CreateLoadBalancer", with(createInternet, "MasterZoneId", "cn-hangzhou-h"), first(
		check{w.owes, unpaid},
		check{len(w.balancers) >= w.limits[cloud.QuotaLoadBalancers], overUsed},
		check{w.soldOut, soldOut},
	), func(r gatewaytest.Reply) {
		id := r.Text("LoadBalancerId")
		w.balancers[id], w.tags[id] = true, make(map[string]bool)
	}}
}

// deleteBalancer takes much away: two of three times something is added instead.
func deleteBalancer(w *twin) step {
	if w.IntN(3) > 0 {
		return createVServerGroup(w)
	}
	id := choose(w, w.balancers)
	return step{"DeleteLoadBalancer", params("LoadBalancerId", id), first(check{!w.balancers[id], notFound}), func(gatewaytest.Reply) {
		maps.DeleteFunc(w.rules, func(_ string, r *twinRule) bool { return w.listeners[r.listener].balancer == id })
		maps.DeleteFunc(w.listeners, func(_ string, l *twinListener) bool { return l.balancer == id })
		maps.DeleteFunc(w.groups, func(_ string, g *twinGroup) bool { return g.balancer == id })
		delete(w.balancers, id)
		delete(w.tags, id)
	}}
}

func listenerKey(balancer, port string) string { return balancer + ":" + port }

// createListener makes an HTTP listener for a group, with an ACL or without one.
func createListener(w *twin) step {
	group, acl, port := choose(w, w.groups), "", strconv.Itoa(1+w.IntN(9))
	l := &twinListener{balancer: choose(w, w.balancers), group: group}
	if g, there := w.groups[group]; there {
		l.balancer = g.balancer
	}
	p := with(createHTTP, "LoadBalancerId", l.balancer, "ListenerPort", port, "VServerGroupId", group, "BackendServerPort", "")
	if w.IntN(2) == 0 {
		acl = choose(w, w.acls)
		l.acl = acl
		p = with(p, "AclStatus", "on", "AclType", "white", "AclId", acl)
	}
	key := listenerKey(l.balancer, port)
	return step{"CreateLoadBalancerHTTPListener", p, first(
		check{!w.balancers[l.balancer], notFound},
		check{countIf(w.listeners, func(o *twinListener) bool { return o.balancer == l.balancer }) >= w.limits[cloud.QuotaListeners], overUsed},
		check{w.listeners[key] != nil, conflict},
		check{w.groups[group] == nil, notFound},
		check{acl != "" && !w.acls[acl], notFound},
		check{acl != "" && countIf(w.listeners, func(o *twinListener) bool { return o.acl == acl }) >= w.limits[cloud.QuotaACLAttached], overUsed},
	), func(gatewaytest.Reply) { w.listeners[key] = l }}
}

// chooseListener returns the key, the load balancer and the port of a listener.
func chooseListener(w *twin) (key, balancer, port string) {
	key = choose(w, w.listeners)
	l, there := w.listeners[key]
	if !there {
		return key, choose(w, w.balancers), "99"
	}
	return key, l.balancer, key[len(l.balancer)+1:]
}

func deleteListener(w *twin) step {
	key, balancer, port := chooseListener(w)
	return step{"DeleteLoadBalancerListener", params("LoadBalancerId", balancer, "ListenerPort", port),
		first(check{w.listeners[key] == nil, notFound}), func(gatewaytest.Reply) {
			maps.DeleteFunc(w.rules, func(_ string, r *twinRule) bool { return r.listener == key })
			delete(w.listeners, key)
		}}
}

func createVServerGroup(w *twin) step {
	id := choose(w, w.balancers)
	return step{"CreateVServerGroup", params("LoadBalancerId", id), first(check{!w.balancers[id], notFound}), func(r gatewaytest.Reply) {
		w.groups[r.Text("VServerGroupId")] = &twinGroup{balancer: id, servers: make(map[string]string)}
	}}
}

func deleteVServerGroup(w *twin) step {
	id := choose(w, w.groups)
	return step{"DeleteVServerGroup", params("VServerGroupId", id), first(
		check{w.groups[id] == nil, notFound},
		check{countIf(w.listeners, func(l *twinListener) bool { return l.group == id }) > 0, inUse},
		check{countIf(w.rules, func(r *twinRule) bool { return r.group == id }) > 0, inUse},
	), func(gatewaytest.Reply) { delete(w.groups, id) }}
}

// addMembers puts one server on one port; again, it changes nothing.
func addMembers(w *twin) step {
	id := choose(w, w.groups)
	g, there := w.groups[id]
	if !there {
		g = &twinGroup{}
	}
	server, port := []string{instance1, instance2}[w.IntN(2)], w.IntN(9)+1
	member := fmt.Sprintf("%s:%d", server, port)
	ofBalancer, ofServer := 0, 0
	for _, other := range w.groups {
		if other.balancer == g.balancer {
			ofBalancer += len(other.servers)
		}
		ofServer += countIf(other.servers, func(s string) bool { return s == server })
	}
	fresh := g.servers[member] == ""
	list := fmt.Sprintf(`[{"ServerId":%q,"Port":%d}]`, server, port)
	return step{"AddVServerGroupBackendServers", params("VServerGroupId", id, "BackendServers", list), first(
		check{!there, notFound},
		check{fresh && ofBalancer >= w.limits[cloud.QuotaBackendServers], overUsed},
		check{fresh && ofServer >= w.limits[cloud.QuotaServerAttached], overUsed},
	), func(gatewaytest.Reply) { g.servers[member] = server }}
}

func createRule(w *twin) step {
	key, balancer, port := chooseListener(w)
	own := maps.Clone(w.groups)
	maps.DeleteFunc(own, func(_ string, g *twinGroup) bool { return g.balancer != balancer })
	r := &twinRule{listener: key, url: fmt.Sprintf("/%d", w.IntN(9)), group: choose(w, own)}
	list := fmt.Sprintf(`[{"RuleName":"r","Url":%q,"VServerGroupId":%q}]`, r.url, r.group)
	return step{"CreateRules", params("LoadBalancerId", balancer, "ListenerPort", port, "RuleList", list), first(
		check{w.listeners[key] == nil, notFound},
		check{countIf(w.rules, func(o *twinRule) bool { return o.listener == key }) >= w.limits[cloud.QuotaRules], overUsed},
		check{countIf(w.rules, func(o *twinRule) bool { return o.listener == key && o.url == r.url }) > 0, conflict},
		check{w.groups[r.group] == nil, notFound},
	), func(reply gatewaytest.Reply) { w.rules[reply.Text("Rules.Rule.0.RuleId")] = r }}
}

func deleteRule(w *twin) step {
	id := choose(w, w.rules)
	return step{"DeleteRules", params("RuleIds", fmt.Sprintf("[%q]", id)), first(check{w.rules[id] == nil, notFound}),
		func(gatewaytest.Reply) { delete(w.rules, id) }}
}

func createACL(w *twin) step {
	return step{"CreateAccessControlList", params("AclName", "a"), first(check{len(w.acls) >= w.limits[cloud.QuotaACLs], overUsed}),
		func(r gatewaytest.Reply) { w.acls[r.Text("AclId")] = true }}
}

func deleteACL(w *twin) step {
	id := choose(w, w.acls)
	return step{"DeleteAccessControlList", params("AclId", id), first(
		check{!w.acls[id], notFound},
		check{countIf(w.listeners, func(l *twinListener) bool { return l.acl == id }) > 0, inUse},
	), func(gatewaytest.Reply) { delete(w.acls, id) }}
}

func tagBalancer(w *twin) step {
	id, key := choose(w, w.balancers), strconv.Itoa(w.IntN(9))
	tags := maps.Clone(w.tags[id])
	if tags != nil {
		tags[key] = true
	}
	return step{"TagResources", params("ResourceType", "instance", "ResourceId.1", id, "Tag.1.Key", key), first(
		check{!w.balancers[id], notFound},
		check{len(tags) > w.limits[cloud.QuotaTags], overUsed},
	), func(gatewaytest.Reply) { w.tags[id] = tags }}
}

func untagBalancer(w *twin) step {
	id, key := choose(w, w.balancers), strconv.Itoa(w.IntN(9))
	return step{"UntagResources", params("ResourceType", "instance", "ResourceId.1", id, "TagKey.1", key),
		first(check{!w.balancers[id], notFound}), func(gatewaytest.Reply) { delete(w.tags[id], key) }}
}

// changeWorld puts the account into arrears or out of them, sells a zone out or
// again, or changes a quota, often to less than is used.
func (w *twin) changeWorld(tx *state.Tx) error {
	switch w.IntN(4) {
	case 0:
		w.owes = !w.owes
		return cloud.SetArrears(tx, account, w.owes)
	case 1:
		w.soldOut = !w.soldOut
		return editRegion(func(r *cloud.Region) {
			r.SoldOut = nil
			if w.soldOut {
				r.SoldOut = []cloud.ZoneStock{{ZoneID: "cn-hangzhou-h"}}
			}
		})(tx)
	}
	names := slices.Sorted(maps.Keys(modelLimits))
	name := names[w.IntN(len(names))]
	w.limits[name] = 2 + w.IntN(12)
	state.Quotas.Put(tx, &state.Quota{AccountID: account, Name: name, Limit: w.limits[name]})
	return nil
}

// Random calls, with changes of the world between them, come to what a twin of
// maps says, and leave what it holds. The store's own check runs at the end.
func TestModel(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("replay with -seed %d", seed)
	store := gatewaytest.Store(t, world.Default().Plant)
	client := gatewaytest.NewClient(t, store, clb.Product(gateway.Deps{}))
	w := newTwin(seed)
	seen := make(map[outcome]int)
	for i := range modelCalls {
		if w.IntN(20) == 0 {
			if err := store.Update(state.Owner{}, w.changeWorld); err != nil {
				t.Fatal(err)
			}
		}
		s := steps[w.IntN(len(steps))](w)
		reply := client.Call(s.action, s.params)
		got := outcomeOf(reply)
		if got != s.want {
			t.Fatalf("call %d: %s(%v) = %s (%s: %s), want %s", i, s.action, s.params, got, reply.Code, reply.Message, s.want)
		}
		if got == ok {
			s.done(reply)
		}
		seen[got]++
	}
	for _, o := range []outcome{ok, notFound, overUsed, inUse, conflict, unpaid, soldOut} {
		if seen[o] == 0 {
			t.Errorf("no call was answered %q: %v", o, seen)
		}
	}
	if err := store.View(owner, w.compare); err != nil {
		t.Error(err)
	}
}

// compare tells where the store holds more or less than the twin.
func (w *twin) compare(v *state.View) error {
	members, tags := 0, 0
	for lb := range cloud.LoadBalancers.All(v) {
		members += len(lb.BackendServers)
	}
	for g := range cloud.VServerGroups.All(v) {
		members += len(g.BackendServers)
	}
	for range state.Tags.All(v) {
		tags++
	}
	for _, g := range w.groups {
		members -= len(g.servers)
	}
	for _, keys := range w.tags {
		tags -= len(keys)
	}
	more := map[string]int{
		"load balancers": cloud.LoadBalancersByRegion.Count(v, account) - len(w.balancers),
		"groups":         len(slices.Collect(cloud.VServerGroups.All(v))) - len(w.groups),
		"listeners":      len(slices.Collect(cloud.Listeners.All(v))) - len(w.listeners),
		"rules":          len(slices.Collect(cloud.Rules.All(v))) - len(w.rules),
		"ACLs":           len(slices.Collect(cloud.AccessControlLists.All(v))) - len(w.acls),
		"members":        members,
		"tags":           tags,
	}
	for what, n := range more {
		if n != 0 {
			return fmt.Errorf("the store has %d more %s than the twin", n, what)
		}
	}
	return nil
}
