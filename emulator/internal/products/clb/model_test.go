package clb_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/clb"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

// modelCalls is the number of calls of the model test.
const modelCalls = 5000

// soldOut is a class of answers that other products have not.
const soldOut gatewaytest.Outcome = "sold out"

// outcomes are the codes of the answers that are not of status 404.
var outcomes = map[string]gatewaytest.Outcome{
	"":                                     gatewaytest.OK,
	"AclNotExist":                          gatewaytest.NotFound,
	"ResourceNotExist":                     gatewaytest.NotFound,
	"ORDER.QUANTITY_INVALID":               gatewaytest.OverUsed,
	"InstanceBackendServerNumberOverLimit": gatewaytest.OverUsed,
	"OverQuota":                            gatewaytest.OverUsed,
	"ListenerNumberOverLimit":              gatewaytest.OverUsed,
	"TooManyRules":                         gatewaytest.OverUsed,
	"AclNumberOverLimit":                   gatewaytest.OverUsed,
	"AclListenerOverLimit":                 gatewaytest.OverUsed,
	"QuotaLimitExceeds":                    gatewaytest.OverUsed,
	"RspoolVipExist":                       gatewaytest.InUse,
	"RspoolRuleExist":                      gatewaytest.InUse,
	"OperationFailed.AclBindedWithVip":     gatewaytest.InUse,
	"ListenerAlreadyExists":                gatewaytest.Conflict,
	"DomainExist":                          gatewaytest.Conflict,
	"ORDER.ARREARAGE":                      gatewaytest.Unpaid,
	"OperationFailed.ZoneResourceLimit":    soldOut,
}

func outcomeOf(r gatewaytest.Reply) gatewaytest.Outcome {
	if r.Status == 404 {
		return gatewaytest.NotFound
	}
	return r.Known(outcomes)
}

// twin holds what the store should hold, in plain maps by id.
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

func newTwin(chance *rand.Rand) *twin {
	return &twin{
		Rand:      chance,
		balancers: make(map[string]bool), tags: make(map[string]map[string]bool), groups: make(map[string]*twinGroup),
		listeners: make(map[string]*twinListener), rules: make(map[string]*twinRule), acls: make(map[string]bool),
		limits: maps.Clone(modelLimits),
	}
}

// modelLimits are the quotas that the test changes, with their defaults.
var modelLimits = map[state.QuotaName]int{
	kinds.QuotaLoadBalancers: 60, kinds.QuotaListeners: 50, kinds.QuotaBackendServers: 200, kinds.QuotaServerAttached: 50,
	kinds.QuotaRules: 40, kinds.QuotaACLs: 200, kinds.QuotaACLAttached: 50, kinds.QuotaTags: 20,
}

func countIf[T any](m map[string]T, match func(T) bool) (n int) {
	for _, r := range m {
		if match(r) {
			n++
		}
	}
	return n
}

var steps = []func(*twin) gatewaytest.Step{
	createBalancer, deleteBalancer, createListener, createListener, deleteListener, createVServerGroup, createVServerGroup,
	deleteVServerGroup, addMembers, addMembers, createRule, createRule, deleteRule, createACL, deleteACL, tagBalancer, untagBalancer,
}

func createBalancer(w *twin) gatewaytest.Step {
	return gatewaytest.NewStep("CreateLoadBalancer", with(createInternet, "MasterZoneId", "cn-hangzhou-h"), gatewaytest.First(
		gatewaytest.If(w.owes, gatewaytest.Unpaid),
		gatewaytest.If(len(w.balancers) >= w.limits[kinds.QuotaLoadBalancers], gatewaytest.OverUsed),
		gatewaytest.If(w.soldOut, soldOut),
	), func(r gatewaytest.Reply) {
		id := r.Text("LoadBalancerId")
		w.balancers[id], w.tags[id] = true, make(map[string]bool)
	})
}

// deleteBalancer takes much away: two of three times something is added instead.
func deleteBalancer(w *twin) gatewaytest.Step {
	if w.IntN(3) > 0 {
		return createVServerGroup(w)
	}
	id := gatewaytest.Choose(w.Rand, w.balancers)
	return gatewaytest.NewStep("DeleteLoadBalancer", params("LoadBalancerId", id), gatewaytest.First(gatewaytest.If(!w.balancers[id], gatewaytest.NotFound)), func(gatewaytest.Reply) {
		maps.DeleteFunc(w.rules, func(_ string, r *twinRule) bool { return w.listeners[r.listener].balancer == id })
		maps.DeleteFunc(w.listeners, func(_ string, l *twinListener) bool { return l.balancer == id })
		maps.DeleteFunc(w.groups, func(_ string, g *twinGroup) bool { return g.balancer == id })
		delete(w.balancers, id)
		delete(w.tags, id)
	})
}

func listenerKey(balancer, port string) string { return balancer + ":" + port }

// createListener makes an HTTP listener for a group, with an ACL or without one.
func createListener(w *twin) gatewaytest.Step {
	group, acl, port := gatewaytest.Choose(w.Rand, w.groups), "", strconv.Itoa(1+w.IntN(9))
	l := &twinListener{balancer: gatewaytest.Choose(w.Rand, w.balancers), group: group}
	if g, there := w.groups[group]; there {
		l.balancer = g.balancer
	}
	p := with(createHTTP, "LoadBalancerId", l.balancer, "ListenerPort", port, "VServerGroupId", group, "BackendServerPort", "")
	if w.IntN(2) == 0 {
		acl = gatewaytest.Choose(w.Rand, w.acls)
		l.acl = acl
		p = with(p, "AclStatus", "on", "AclType", "white", "AclId", acl)
	}
	key := listenerKey(l.balancer, port)
	return gatewaytest.NewStep("CreateLoadBalancerHTTPListener", p, gatewaytest.First(
		gatewaytest.If(!w.balancers[l.balancer], gatewaytest.NotFound),
		gatewaytest.If(countIf(w.listeners, func(o *twinListener) bool { return o.balancer == l.balancer }) >= w.limits[kinds.QuotaListeners], gatewaytest.OverUsed),
		gatewaytest.If(w.listeners[key] != nil, gatewaytest.Conflict),
		gatewaytest.If(w.groups[group] == nil, gatewaytest.NotFound),
		gatewaytest.If(acl != "" && !w.acls[acl], gatewaytest.NotFound),
		gatewaytest.If(acl != "" && countIf(w.listeners, func(o *twinListener) bool { return o.acl == acl }) >= w.limits[kinds.QuotaACLAttached], gatewaytest.OverUsed),
	), func(gatewaytest.Reply) { w.listeners[key] = l })
}

// chooseListener returns the key, the load balancer and the port of a listener.
func chooseListener(w *twin) (key, balancer, port string) {
	key = gatewaytest.Choose(w.Rand, w.listeners)
	l, there := w.listeners[key]
	if !there {
		return key, gatewaytest.Choose(w.Rand, w.balancers), "99"
	}
	return key, l.balancer, key[len(l.balancer)+1:]
}

func deleteListener(w *twin) gatewaytest.Step {
	key, balancer, port := chooseListener(w)
	return gatewaytest.NewStep("DeleteLoadBalancerListener", params("LoadBalancerId", balancer, "ListenerPort", port),
		gatewaytest.First(gatewaytest.If(w.listeners[key] == nil, gatewaytest.NotFound)), func(gatewaytest.Reply) {
			maps.DeleteFunc(w.rules, func(_ string, r *twinRule) bool { return r.listener == key })
			delete(w.listeners, key)
		})
}

func createVServerGroup(w *twin) gatewaytest.Step {
	id := gatewaytest.Choose(w.Rand, w.balancers)
	return gatewaytest.NewStep("CreateVServerGroup", params("LoadBalancerId", id), gatewaytest.First(gatewaytest.If(!w.balancers[id], gatewaytest.NotFound)), func(r gatewaytest.Reply) {
		w.groups[r.Text("VServerGroupId")] = &twinGroup{balancer: id, servers: make(map[string]string)}
	})
}

func deleteVServerGroup(w *twin) gatewaytest.Step {
	id := gatewaytest.Choose(w.Rand, w.groups)
	return gatewaytest.NewStep("DeleteVServerGroup", params("VServerGroupId", id), gatewaytest.First(
		gatewaytest.If(w.groups[id] == nil, gatewaytest.NotFound),
		gatewaytest.If(countIf(w.listeners, func(l *twinListener) bool { return l.group == id }) > 0, gatewaytest.InUse),
		gatewaytest.If(countIf(w.rules, func(r *twinRule) bool { return r.group == id }) > 0, gatewaytest.InUse),
	), func(gatewaytest.Reply) { delete(w.groups, id) })
}

// addMembers puts one server on one port; again, it changes nothing.
func addMembers(w *twin) gatewaytest.Step {
	id := gatewaytest.Choose(w.Rand, w.groups)
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
	return gatewaytest.NewStep("AddVServerGroupBackendServers", params("VServerGroupId", id, "BackendServers", list), gatewaytest.First(
		gatewaytest.If(!there, gatewaytest.NotFound),
		gatewaytest.If(fresh && ofBalancer >= w.limits[kinds.QuotaBackendServers], gatewaytest.OverUsed),
		gatewaytest.If(fresh && ofServer >= w.limits[kinds.QuotaServerAttached], gatewaytest.OverUsed),
	), func(gatewaytest.Reply) { g.servers[member] = server })
}

func createRule(w *twin) gatewaytest.Step {
	key, balancer, port := chooseListener(w)
	own := maps.Clone(w.groups)
	maps.DeleteFunc(own, func(_ string, g *twinGroup) bool { return g.balancer != balancer })
	r := &twinRule{listener: key, url: fmt.Sprintf("/%d", w.IntN(9)), group: gatewaytest.Choose(w.Rand, own)}
	list := fmt.Sprintf(`[{"RuleName":%q,"Url":%q,"VServerGroupId":%q}]`, "r"+r.url[1:], r.url, r.group)
	return gatewaytest.NewStep("CreateRules", params("LoadBalancerId", balancer, "ListenerPort", port, "RuleList", list), gatewaytest.First(
		gatewaytest.If(w.listeners[key] == nil, gatewaytest.NotFound),
		gatewaytest.If(countIf(w.rules, func(o *twinRule) bool { return o.listener == key }) >= w.limits[kinds.QuotaRules], gatewaytest.OverUsed),
		gatewaytest.If(countIf(w.rules, func(o *twinRule) bool { return o.listener == key && o.url == r.url }) > 0, gatewaytest.Conflict),
		gatewaytest.If(w.groups[r.group] == nil, gatewaytest.NotFound),
	), func(reply gatewaytest.Reply) { w.rules[reply.Text("Rules.Rule.0.RuleId")] = r })
}

func deleteRule(w *twin) gatewaytest.Step {
	id := gatewaytest.Choose(w.Rand, w.rules)
	return gatewaytest.NewStep("DeleteRules", params("RuleIds", fmt.Sprintf("[%q]", id)), gatewaytest.First(gatewaytest.If(w.rules[id] == nil, gatewaytest.NotFound)),
		func(gatewaytest.Reply) { delete(w.rules, id) })
}

func createACL(w *twin) gatewaytest.Step {
	return gatewaytest.NewStep("CreateAccessControlList", params("AclName", "a"), gatewaytest.First(gatewaytest.If(len(w.acls) >= w.limits[kinds.QuotaACLs], gatewaytest.OverUsed)),
		func(r gatewaytest.Reply) { w.acls[r.Text("AclId")] = true })
}

func deleteACL(w *twin) gatewaytest.Step {
	id := gatewaytest.Choose(w.Rand, w.acls)
	return gatewaytest.NewStep("DeleteAccessControlList", params("AclId", id), gatewaytest.First(
		gatewaytest.If(!w.acls[id], gatewaytest.NotFound),
		gatewaytest.If(countIf(w.listeners, func(l *twinListener) bool { return l.acl == id }) > 0, gatewaytest.InUse),
	), func(gatewaytest.Reply) { delete(w.acls, id) })
}

func tagBalancer(w *twin) gatewaytest.Step {
	id, key := gatewaytest.Choose(w.Rand, w.balancers), strconv.Itoa(w.IntN(9))
	tags := maps.Clone(w.tags[id])
	if tags != nil {
		tags[key] = true
	}
	return gatewaytest.NewStep("TagResources", params("ResourceType", "instance", "ResourceId.1", id, "Tag.1.Key", key), gatewaytest.First(
		gatewaytest.If(!w.balancers[id], gatewaytest.NotFound),
		gatewaytest.If(len(tags) > w.limits[kinds.QuotaTags], gatewaytest.OverUsed),
	), func(gatewaytest.Reply) { w.tags[id] = tags })
}

func untagBalancer(w *twin) gatewaytest.Step {
	id, key := gatewaytest.Choose(w.Rand, w.balancers), strconv.Itoa(w.IntN(9))
	return gatewaytest.NewStep("UntagResources", params("ResourceType", "instance", "ResourceId.1", id, "TagKey.1", key),
		gatewaytest.First(gatewaytest.If(!w.balancers[id], gatewaytest.NotFound)), func(gatewaytest.Reply) { delete(w.tags[id], key) })
}

// changeWorld puts the account into arrears or out of them, sells a zone out or
// again, or changes a quota, often below the use.
func (w *twin) changeWorld(tx *state.Tx) error {
	switch w.IntN(4) {
	case 0:
		w.owes = !w.owes
		return kinds.SetArrears(tx, account, w.owes)
	case 1:
		w.soldOut = !w.soldOut
		return editRegion(func(r *kinds.Region) {
			r.SoldOut = nil
			if w.soldOut {
				r.SoldOut = []kinds.ZoneStock{{ZoneID: "cn-hangzhou-h"}}
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
	store := gatewaytest.Store(t, world.Default().Plant)
	client := gatewaytest.NewClient(t, store, clb.Product(gateway.Deps{}))
	w := newTwin(gatewaytest.Rand(t))
	gatewaytest.PlayModel(t, client, modelCalls, func() gatewaytest.Step {
		if w.IntN(20) == 0 {
			if err := store.Update(state.Owner{}, w.changeWorld); err != nil {
				t.Fatal(err)
			}
		}
		return steps[w.IntN(len(steps))](w)
	}, outcomeOf, gatewaytest.OK, gatewaytest.NotFound, gatewaytest.OverUsed, gatewaytest.InUse, gatewaytest.Conflict, gatewaytest.Unpaid, soldOut)
	if err := w.compare(store.View(owner)); err != nil {
		t.Error(err)
	}
}

// compare returns where the store holds more or less than the twin.
func (w *twin) compare(v *state.View) error {
	members, tags := 0, 0
	for lb := range kinds.LoadBalancers.All(v) {
		members += len(lb.BackendServers)
	}
	for g := range kinds.VServerGroups.All(v) {
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
		"load balancers": kinds.LoadBalancersByRegion.Count(v, account) - len(w.balancers),
		"groups":         len(slices.Collect(kinds.VServerGroups.All(v))) - len(w.groups),
		"listeners":      len(slices.Collect(kinds.Listeners.All(v))) - len(w.listeners),
		"rules":          len(slices.Collect(kinds.Rules.All(v))) - len(w.rules),
		"ACLs":           len(slices.Collect(kinds.AccessControlLists.All(v))) - len(w.acls),
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
