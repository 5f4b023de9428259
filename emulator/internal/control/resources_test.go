package control_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// owner returns the owner of the resources of these tests.
func (f *fixture) owner() (owner state.Owner) {
	f.t.Helper()
	v := f.store.View(state.Owner{})
	for a := range kinds.Accounts.All(v) {
		owner = state.Owner{AccountID: a.ID, RegionID: a.DefaultRegionID}
	}
	return owner
}

// plant puts a load balancer of each product into the store: a CLB with a listener
// over a group with a running and a vanished server, and an idle group; an NLB with a
// listener over a group of addresses.
func (f *fixture) plant() {
	f.t.Helper()
	owner := f.owner()
	if err := f.store.Update(owner, func(tx *state.Tx) error {
		kinds.LoadBalancers.Put(tx, &kinds.LoadBalancer{Owner: owner, ID: "lb-1", Name: "web", Status: kinds.LoadBalancerActive, Address: "47.1.1.1", AddressType: kinds.AddressTypeInternet})
		take := func(pool, cidr, ip string, holder state.Kind, id string) {
			if _, err := kinds.AllocateAddress(tx, pool, cidr, ip, holder, id); err != nil {
				f.t.Error(err)
			}
		}
		take(kinds.PublicPool(owner.RegionID), "47.1.0.0/16", "47.1.1.1", kinds.LoadBalancers.Kind(), "lb-1")
		sw, err := kinds.VSwitches.Get(tx.View, "vsw-bp1clbemu000000000001")
		if err != nil {
			return err
		}
		take(sw.ID, sw.CIDRBlock, "192.168.0.99", kinds.NLBLoadBalancers.Kind(), "nlb-1")
		kinds.VServerGroups.Put(tx, &kinds.VServerGroup{Owner: owner, ID: "rsp-1", Name: "pods", LoadBalancerID: "lb-1", BackendServers: []kinds.BackendServer{
			{ServerID: "i-bp1clbemu0000000001", Type: kinds.BackendServerECS, Port: 80, Weight: 100}, {ServerID: "i-gone", Type: kinds.BackendServerECS, Port: 80, Weight: 50},
		}})
		kinds.VServerGroups.Put(tx, &kinds.VServerGroup{Owner: owner, ID: "rsp-2", Name: "idle", LoadBalancerID: "lb-1"})
		kinds.Listeners.Put(tx, &kinds.Listener{Owner: owner, LoadBalancerID: "lb-1", Port: 80, Protocol: kinds.HTTP, Status: kinds.ListenerRunning,
			VServerGroupID: "rsp-1", HealthCheck: kinds.HealthCheck{Switch: kinds.On}})
		kinds.Rules.Put(tx, &kinds.Rule{Owner: owner, ID: "rule-1", Name: "api", LoadBalancerID: "lb-1", ListenerID: "lb-1_http_80", URL: "/api", VServerGroupID: "rsp-1"})
		kinds.NLBLoadBalancers.Put(tx, &kinds.NLBLoadBalancer{Owner: owner, ID: "nlb-1", Name: "fast", Status: kinds.NLBActive, AddressType: kinds.NLBIntranet, VPCID: "vpc-bp1clbemu000000000001",
			ZoneMappings: []kinds.NLBZoneMapping{{ZoneID: sw.ZoneID, VSwitchID: sw.ID, PrivateIPv4Address: "192.168.0.99"}}})
		kinds.NLBServerGroups.Put(tx, &kinds.NLBServerGroup{Owner: owner, ID: "sgp-1", Name: "ips", VPCID: "vpc-bp1clbemu000000000001", Type: kinds.NLBGroupOfIPs, Status: kinds.NLBGroupAvailable,
			Servers: []kinds.NLBServer{{Type: kinds.NLBServerIP, ID: "10.0.0.1", IP: "10.0.0.1", Port: 53}}})
		kinds.NLBListeners.Put(tx, &kinds.NLBListener{Owner: owner, ID: "lsn-1", LoadBalancerID: "nlb-1", Protocol: kinds.NLBTCP, Port: 443, Status: kinds.NLBListenerRunning, ServerGroupID: "sgp-1"})
		return nil
	}); err != nil {
		f.t.Fatal(err)
	}
}

// ownProducts are the test's own, called as those that have load balancers.
func ownProducts(cfg *control.Config) {
	slb := *product
	slb.Name = "Slb"
	slb.Resources = []gateway.Resource{{Parameter: "LoadBalancerId", Kind: kinds.LoadBalancers.Kind()}}
	cfg.Products = []*gateway.Product{&slb}
}

// TestResources proves what is listed by kind, alias, id, name and glob, and that a
// name which nothing has is refused with the one that was meant.
func TestResources(t *testing.T) {
	f := newFixture(t, ownProducts)
	f.plant()
	for query, want := range map[string]string{
		"kind=lb":                     "lb-1 nlb-1",
		"kind=loadbalancers&name=web": "lb-1",
		"kind=lb&name=nlb-*":          "nlb-1",
		"kind=listener":               "lb-1_http_80 lsn-1",
		"kind=listeners&name=nlb-1":   "lsn-1",
		"kind=rules":                  "rule-1",
		"kind=group,lb,lb":            "lb-1 nlb-1 sgp-1 rsp-1 rsp-2",
		"kind=group":                  "sgp-1 rsp-1 rsp-2",
		"kind=backend&name=rsp-1":     "rsp-1/i-bp1clbemu0000000001/192.168.0.11:80 rsp-1/i-gone/:80",
		"kind=backend&name=lb-1":      "rsp-1/i-bp1clbemu0000000001/192.168.0.11:80 rsp-1/i-gone/:80",
		"kind=backend&name=10.0.0.1":  "sgp-1/10.0.0.1/10.0.0.1:53",
		"kind=group&name=lb-1,rsp-1":  "rsp-1 rsp-2",
		"kind=vsw&name=vsw-*1":        "vsw-bp1clbemu000000000001",
		"kind=zone&region=cn-chengdu": "cn-chengdu-a cn-chengdu-b",
		"kind=acl":                    "",
		"kind=job":                    "",
		"kind=lb&region=cn-shanghai":  "",
		"name=lb-1":                   "lb-1 lb-1_http_80 rule-1 rsp-1 rsp-2 rsp-1/i-bp1clbemu0000000001/192.168.0.11:80 rsp-1/i-gone/:80",
	} {
		var got controlapi.Resources
		answer := f.send("GET", "/v1/resources?"+query, "", nil)
		if err := json.Unmarshal(answer.Body.Bytes(), &got); err != nil || answer.Code != http.StatusOK {
			t.Errorf("%s = %d %s", query, answer.Code, answer.Body)
			continue
		}
		var ids []string
		for _, r := range got.Resources {
			ids = append(ids, r.ID)
		}
		if strings.Join(ids, " ") != want {
			t.Errorf("%s lists %s, want %s", query, ids, want)
		}
	}
	for query, want := range map[string]struct {
		status int
		says   string
	}{
		"kind=lb&name=wep":       {404, "do you mean web?"},
		"kind=listner":           {422, "do you mean listener?"},
		"kind=lb,listner":        {422, "do you mean listener?"},
		"kind=nonsense-of-a-lot": {422, "there are all, lb, listener"},
		"region=cn-hangzou":      {404, "there is no region cn-hangzou"},
		"kind=lb&name=[":         {422, "is not a pattern"},
		"kindd=lb":               {422, "do you mean kind?"},
	} {
		if answer := f.send("GET", "/v1/resources?"+query, "", nil); answer.Code != want.status || !strings.Contains(answer.Body.String(), want.says) {
			t.Errorf("%s = %d %s, want %d with %q", query, answer.Code, answer.Body, want.status, want.says)
		}
	}
}

// TestLoadBalancerTree proves that a load balancer is shown with its listeners, where
// they forward to, the health of the servers, its quotas, and the fault rules that may
// strike it and no others.
func TestLoadBalancerTree(t *testing.T) {
	f := newFixture(t, ownProducts)
	f.plant()
	// The rules are put in as they are kept, as the test's product has no such actions.
	if err := f.faults.Change(func() error {
		return f.store.Update(state.Owner{}, func(tx *state.Tx) error {
			for i, rule := range []string{
				"{name: any, effect: {reset: true}}", "{name: this, match: {params.LoadBalancerId: lb-1}, effect: {reset: true}}",
				"{name: other, match: {params.LoadBalancerId: lb-2}, effect: {reset: true}}", "{name: named, match: {resource.Name: web}, effect: {reset: true}}",
				"{name: misnamed, match: {resource.Name: wep}, effect: {reset: true}}", "{name: elsewhere, match: {region: cn-shanghai}, effect: {reset: true}}",
				"{name: vpc, match: {action: CreateVpc}, effect: {reset: true}}", "{name: create, match: {action: Create*}, effect: {reset: true}}",
			} {
				name, _, _ := strings.Cut(strings.TrimPrefix(rule, "{name: "), ",")
				kinds.Faults.Put(tx, &kinds.Fault{Name: name, Position: i, Rule: rule})
			}
			return nil
		})
	}); err != nil {
		t.Fatal(err)
	}
	var tree controlapi.LoadBalancerTree
	for _, name := range []string{"lb-1", "web"} {
		answer := f.send("GET", "/v1/loadbalancers/"+name, "", nil)
		if err := json.Unmarshal(answer.Body.Bytes(), &tree); err != nil || tree.LoadBalancer.ID != "lb-1" {
			t.Fatalf("%s = %d %s", name, answer.Code, answer.Body)
		}
	}
	if len(tree.Listeners) != 1 || tree.Listeners[0].Group == nil || len(tree.Listeners[0].Rules) != 1 || tree.Listeners[0].Rules[0].URL != "/api" {
		t.Fatalf("the listeners are %+v", tree.Listeners)
	}
	var health []string
	for _, s := range tree.Listeners[0].Group.Servers {
		health = append(health, s.Fields["server"]+" "+s.Fields["health"])
	}
	if got := strings.Join(health, ", "); got != "i-bp1clbemu0000000001 normal, i-gone abnormal" {
		t.Errorf("the servers are %s", got)
	}
	if len(tree.Groups) != 1 || tree.Groups[0].Group.ID != "rsp-2" {
		t.Errorf("the idle groups are %+v, want rsp-2", tree.Groups)
	}
	if len(tree.Addresses) != 1 || tree.Addresses[0] != (controlapi.Address{Address: "47.1.1.1", Type: "internet"}) {
		t.Errorf("the addresses are %+v", tree.Addresses)
	}
	used := make(map[string]int)
	for _, q := range tree.Quotas {
		used[q.Name+" "+q.By] = q.Used
	}
	if used["slb_quota_listeners_num lb-1"] != 1 || used["slb_quota_backendservers_num lb-1"] != 2 || used["slb_quota_rules_num lb-1_http_80"] != 1 {
		t.Errorf("the quotas are %v", used)
	}
	var rules []string
	for _, r := range tree.Faults {
		rules = append(rules, r.Name)
	}
	if got := strings.Join(rules, " "); got != "any this named create" {
		t.Errorf("the faults are %s", got)
	}
	if answer := f.send("GET", "/v1/loadbalancers/nlb-1", "", nil); !strings.Contains(answer.Body.String(), `"address":"192.168.0.99","type":"intranet","zone":"cn-hangzhou-h"`) ||
		!strings.Contains(answer.Body.String(), `"sgp-1/10.0.0.1/10.0.0.1:53"`) {
		t.Errorf("the NLB is %s", answer.Body)
	}
	if answer := f.send("GET", "/v1/loadbalancers/lb-2", "", nil); answer.Code != http.StatusNotFound || !strings.Contains(answer.Body.String(), "do you mean lb-1?") {
		t.Errorf("GET of an unknown load balancer = %d %s", answer.Code, answer.Body)
	}
}

// TestUnchecked proves that a server that no running listener checks is shown as not checked,
// that a mark of it warns, and that both end when a listener checks it.
func TestUnchecked(t *testing.T) {
	f := newFixture(t, ownProducts)
	f.plant()
	switchCheck := func(on string, status kinds.ListenerStatus) {
		t.Helper()
		if err := f.store.Update(f.owner(), func(tx *state.Tx) error {
			return errors.Join(kinds.Listeners.Edit(tx, "lb-1_http_80", func(l *kinds.Listener) error {
				l.HealthCheck.Switch, l.Status = on, status
				return nil
			}), kinds.NLBServerGroups.Edit(tx, "sgp-1", func(g *kinds.NLBServerGroup) error {
				g.HealthCheck.Enabled = on == kinds.On
				return nil
			}), kinds.NLBListeners.Edit(tx, "lsn-1", func(l *kinds.NLBListener) error {
				l.Status = map[kinds.ListenerStatus]string{kinds.ListenerRunning: kinds.NLBListenerRunning, kinds.ListenerStopped: kinds.NLBListenerStopped}[status]
				return nil
			}))
		}); err != nil {
			t.Fatal(err)
		}
	}
	health := func(kind string) (all []string) {
		var got controlapi.Resources
		f.ask("GET", "/v1/resources?kind="+kind, "", 200, &got)
		for _, r := range got.Resources {
			all = append(all, r.Fields["health"])
		}
		slices.Sort(all)
		return all
	}
	for _, c := range []struct {
		on                  string
		status              kinds.ListenerStatus
		listeners, backends string
	}{
		{"off", kinds.ListenerRunning, "not checked, not checked", "not checked, not checked, not checked"},
		{"on", kinds.ListenerStopped, "not checked, not checked", "not checked, not checked, not checked"},
		{"on", kinds.ListenerRunning, "0/1, 0/2", "abnormal, abnormal, abnormal"},
	} {
		switchCheck(c.on, c.status)
		for _, server := range []string{"i-bp1clbemu0000000001", "i-bp1clbemu0000000001/rsp-1", "i-bp1clbemu0000000001/rsp-1:80", "10.0.0.1"} {
			var set, ended controlapi.Conditions
			f.ask("PATCH", "/v1/world", `{"settings":[{"name":"server.`+server+`.health","value":"abnormal"}]}`, 200, &set)
			if warned := len(set.Warnings) > 0; warned != (c.listeners[0] == 'n') {
				t.Errorf("with the check %s and the listener %s, the mark of %s warns %q", c.on, c.status, server, set.Warnings)
			}
			f.ask("PATCH", "/v1/world", `{"settings":[{"name":"server.`+server+`.health","value":"default"}]}`, 200, &ended)
			if len(ended.Warnings) > 0 {
				t.Errorf("ending the mark of %s warns %q", server, ended.Warnings)
			}
		}
		f.ask("PATCH", "/v1/world", `{"settings":[{"name":"server.i-bp1clbemu0000000001.health","value":"abnormal"},{"name":"server.10.0.0.1.health","value":"abnormal"}]}`, 200, nil)
		if listeners, backends := strings.Join(health("listener"), ", "), strings.Join(health("backend"), ", "); listeners != c.listeners || backends != c.backends {
			t.Errorf("with the check %s and the listener %s, the listeners are %s and the servers %s, want %s and %s", c.on, c.status, listeners, backends, c.listeners, c.backends)
		}
	}
}
