package world_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

// balanced is the base world with load balancers of both products. The account has no
// money left, and a zone is sold out: its resources were bought before.
var balanced = strings.NewReplacer(
	"defaultRegion: cn-test\n", "defaultRegion: cn-test\n    balance: 0\n",
	"zonePairs: [{master: cn-test-a, slave: cn-test-b}]\n", "zonePairs: [{master: cn-test-a, slave: cn-test-b}]\n    soldOut: [{zone: cn-test-a}]\n",
).Replace(base) + `
  - {id: i-3, vSwitch: vsw-1, networkInterface: eni-3}
networkInterfaces:
  - {id: eni-4, vSwitch: vsw-1, privateIpAddresses: [192.168.1.40]}
loadBalancers:
  - id: lb-internal
    name: apiserver
    vSwitch: vsw-1
    address: 192.168.1.9
    spec: slb.s2.small
    settings: {DeleteProtection: "on"}
    tags: {ack.aliyun.com: c1}
    vServerGroups:
      - id: rsp-api
        name: api
        tags: {group: api}
        servers:
          - {server: i-1, port: 6443}
          - {server: eni-4, port: 6443, weight: 50, description: pod}
    listeners:
      - {protocol: tcp, port: 6443, vServerGroup: rsp-api, settings: {HealthCheckConnectPort: 6443}, tags: {role: api}}
      - {protocol: http, port: 80, vServerGroup: rsp-api, status: stopped}
  - id: lb-shared
    backendServers: [{server: i-2}]
    settings: {PayType: PrePay, InternetChargeType: paybybandwidth, Bandwidth: 5}
    listeners: [{protocol: udp, port: 53, backendServerPort: 53}]
serverGroups:
  - {id: sgp-web, name: web, vpc: vpc-1, servers: [{server: eni-4, port: 8080}, {server: i-1, port: 8080, weight: 0}]}
networkLoadBalancers:
  - id: nlb-web
    name: web
    addressType: Intranet
    zones: [{vSwitch: vsw-1, address: 192.168.1.10}, {vSwitch: vsw-3}]
    tags: {team: web}
    listeners:
      - {protocol: TCP, port: 80, serverGroup: sgp-web}
      - {protocol: TCP, port: 81, serverGroup: sgp-web, status: Stopped}
`

// called returns balancedWorld with calls added after the rest.
func called(calls string) string { return balancedWorld() + "calls:\n" + calls }

// TestCalls proves that calls of any product change the world in their order, that what they
// create has the id of the file, and that they may name what the file and calls before them
// created.
func TestCalls(t *testing.T) {
	w, err := world.Parse("w.yaml", []byte(called(`  - {product: Slb, action: CreateAccessControlList, id: acl-office, parameters: {AclName: office}}
  - {product: Slb, action: AddAccessControlListEntry, parameters: {AclId: acl-office, AclEntrys: '[{"entry":"10.0.0.0/8"}]'}}
  - {product: Slb, action: SetLoadBalancerTCPListenerAttribute, parameters: {LoadBalancerId: lb-internal, ListenerPort: 6443, AclStatus: "on", AclType: white, AclId: acl-office}}
  - {product: Slb, action: CreateMasterSlaveServerGroup, id: rsp-pair, parameters: {LoadBalancerId: lb-internal, MasterSlaveBackendServers: '[{"ServerId":"i-1","Port":80,"ServerType":"Master"},{"ServerId":"eni-4","Type":"eni","Port":80,"ServerType":"Slave"}]'}}
  - {product: Nlb, action: CreateServerGroup, id: sgp-more, parameters: {ServerGroupName: more, VpcId: vpc-1}}
  - {product: Vpc, action: ModifyVpcAttribute, account: "1", region: cn-test, parameters: {VpcId: vpc-1, VpcName: renamed}}
`)))
	if err != nil {
		t.Fatal(err)
	}
	store := mustPlant(t, w)
	v := store.View(state.Owner{AccountID: "1", RegionID: "cn-test"})
	acl, err := kinds.AccessControlLists.Get(v, "acl-office")
	if err != nil {
		t.Fatal(err)
	}
	l, _ := kinds.Listeners.Find(v, "lb-internal_tcp_6443")
	if len(acl.Entries) != 1 || !slices.Contains(l.AclIDs, "acl-office") {
		t.Errorf("acl-office = %+v of listener %+v", acl, l)
	}
	if p, _ := kinds.VPCs.Find(v, "vpc-1"); p.Name != "renamed" {
		t.Errorf("vpc-1 is called %s", p.Name)
	}
	if _, err := kinds.NLBServerGroups.Get(v, "sgp-more"); err != nil {
		t.Fatal(err)
	}
	_, err = kinds.MasterSlaveServerGroups.Get(v, "rsp-pair")
	if err != nil {
		t.Error(err)
	}
}

// TestCallErrors proves that a call that can't be is refused at its line.
func TestCallErrors(t *testing.T) {
	for calls, want := range map[string]string{
		"{product: Slbs, action: CreateLoadBalancer}":                                                   "w.yaml:LINE: calls[0].product: there is no product Slbs: do you mean Slb?",
		"{product: Slb, action: CreateLoadBalancr}":                                                     "calls[0].action: Slb has no action CreateLoadBalancr that changes something here: do you mean CreateLoadBalancer?",
		"{product: Slb, action: DescribeLoadBalancers}":                                                 "calls[0].action: Slb has no action DescribeLoadBalancers that changes something here",
		"{product: Slb, action: CreateAccessControlList, id: lb-internal, parameters: {AclName: a}}":    `calls[0].id: "lb-internal" is not the id of a new resource: it is taken`,
		"{product: Slb, action: CreateAccessControlList, id: ACL, parameters: {AclName: a}}":            `calls[0].id: "ACL" is not the id of a new resource`,
		"{product: Slb, action: CreateAccessControlList, id: sgp-x, parameters: {AclName: a}}":          "calls[0].id: CreateAccessControlList creates nothing with an id such as sgp-x",
		"{product: Slb, action: CreateAccessControlList}":                                               "calls[0].action: CreateAccessControlList refuses it: ",
		"{product: Slb, action: CreateAccessControlList, parameters: {AclName: a, Colour: red}}":        "CreateAccessControlList has no parameter Colour",
		"{product: Slb, action: CreateAccessControlList, parameters: {AclName: a, RegionId: cn-other}}": "RegionId",
		"{product: Slb, action: CreateAccessControlList, region: cn-none, parameters: {AclName: a}}":    "calls[0].region: there is no Region cn-none",
		"{product: Slb, action: DeleteLoadBalancer, parameters: {LoadBalancerId: lb-none}}":             "calls[0].action: DeleteLoadBalancer refuses it: ",
		"{action: CreateLoadBalancer}":                                                                  "calls[0].product",
		"{product: Slb, action: CreateAccessControlList, id: acl-a, parameters: {AclName: a}}\n  - {product: Slb, action: CreateAccessControlList, id: acl-a, parameters: {AclName: b}}": `calls[1].id: "acl-a" is not the id of a new resource`,
	} {
		text := called("  - " + calls + "\n")
		want = strings.Replace(want, "LINE", strconv.Itoa(strings.Count(balancedWorld(), "\n")+2), 1)
		if _, err := world.Parse("w.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\nParse = %v\nwant %s", calls, err, want)
		}
	}
}

// TestEachCall proves that each action that changes something can be called without a
// parameter: it succeeds, or is refused at its line.
func TestEachCall(t *testing.T) {
	called, refused := 0, 0
	for _, product := range products.All() {
		for _, a := range product.Actions {
			if !a.Emulated || !a.Mutates {
				continue
			}
			called++
			_, err := world.Parse("w.yaml", []byte(balancedWorld()+"calls: [{product: "+product.Name+", action: "+a.Name+"}]\n"))
			if err != nil && !strings.Contains(err.Error(), "calls[0].action: "+a.Name+" refuses it: ") {
				t.Errorf("%s %s: %v", product.Name, a.Name, err)
			}
			if err != nil {
				refused++
			}
		}
	}
	if called < 170 || refused < called/2 {
		t.Errorf("%d actions were called, and %d refused", called, refused)
	}
}

func balancedWorld() string {
	return strings.Replace(balanced, "securityGroups:\n", "  - {id: vsw-3, vpc: vpc-1, zone: cn-test-b, cidrBlock: 192.168.3.0/29}\nsecurityGroups:\n", 1)
}

// TestLoadBalancers proves that the load balancers of a file are there with their groups,
// listeners, tags and addresses, whatever the account and its region can still buy.
func TestLoadBalancers(t *testing.T) {
	w, err := world.Parse("w.yaml", []byte(balancedWorld()))
	if err != nil {
		t.Fatal(err)
	}
	store := mustPlant(t, w)
	v := store.View(state.Owner{AccountID: "1", RegionID: "cn-test"})
	lb, err := kinds.LoadBalancers.Get(v, "lb-internal")
	if err != nil {
		t.Fatal(err)
	}
	if lb.Address != "192.168.1.9" || lb.AddressType != kinds.AddressTypeIntranet || lb.Spec != "slb.s2.small" || lb.DeleteProtection != kinds.On || lb.Name != "apiserver" {
		t.Errorf("lb-internal = %+v", lb)
	}
	g, err := kinds.VServerGroups.Get(v, "rsp-api")
	if err != nil {
		t.Fatal(err)
	}
	want := []kinds.BackendServer{
		{ServerID: "i-1", Type: kinds.BackendServerECS, Port: 6443, Weight: 100},
		{ServerID: "eni-4", Type: kinds.BackendServerENI, ServerIP: "192.168.1.40", Port: 6443, Weight: 50, Description: "pod"},
	}
	if !slices.Equal(g.BackendServers, want) {
		t.Errorf("servers of rsp-api = %+v, want %+v", g.BackendServers, want)
	}
	for id, status := range map[string]kinds.ListenerStatus{
		"lb-internal_tcp_6443": kinds.ListenerRunning, "lb-internal_http_80": kinds.ListenerStopped, "lb-shared_udp_53": kinds.ListenerRunning,
	} {
		if l, ok := kinds.Listeners.Find(v, id); !ok || l.Status != status {
			t.Errorf("listener %s = %+v, want it %s", id, l, status)
		}
	}
	if l, _ := kinds.Listeners.Find(v, "lb-internal_tcp_6443"); l.HealthCheck.ConnectPort != 6443 {
		t.Errorf("health check = %+v, want port 6443", l.HealthCheck)
	}
	shared, err := kinds.LoadBalancers.Get(v, "lb-shared")
	if err != nil {
		t.Fatal(err)
	}
	if shared.Spec != "" || len(shared.BackendServers) != 1 || shared.AddressType != kinds.AddressTypeInternet || shared.PayType != "PrePay" {
		t.Errorf("lb-shared = %+v, want a shared internet instance with a server and a subscription", shared)
	}
	n, err := kinds.NLBLoadBalancers.Get(v, "nlb-web")
	if err != nil {
		t.Fatal(err)
	}
	if n.Status != kinds.NLBActive || n.ZoneMappings[0].PrivateIPv4Address != "192.168.1.10" || n.AddressType != kinds.NLBIntranet {
		t.Errorf("nlb-web = %+v", n)
	}
	var listeners []string
	for l := range kinds.NLBListenersByLoadBalancer.List(v, "nlb-web") {
		listeners = append(listeners, l.Status)
	}
	if slices.Sort(listeners); !slices.Equal(listeners, []string{"Running", "Stopped"}) {
		t.Errorf("listeners of nlb-web are %v", listeners)
	}
	for _, tag := range []struct {
		kind    state.TagResourceType
		key, id string
	}{
		{kinds.TagLoadBalancer, "ack.aliyun.com", "lb-internal"}, {kinds.TagVServerGroup, "group", "rsp-api"},
		{kinds.TagListener, "role", "lb-internal_tcp_6443"}, {kinds.TagNLBLoadBalancer, "team", "nlb-web"},
	} {
		if got := state.ResourcesTagged(v, tag.kind, []state.TagFilter{{Key: tag.key}}); !slices.Equal(got, []string{tag.id}) {
			t.Errorf("tagged %s = %v, want %s", tag.key, got, tag.id)
		}
	}
	a, err := kinds.Accounts.Get(v, "1")
	r, _ := kinds.Regions.Find(v, "cn-test")
	if a.Balance != 0 || len(r.SoldOut) != 1 || r.Year() != kinds.Today {
		t.Errorf("account %+v, region %+v, want them as in the file", a, r)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestLoadBalancerErrors proves that what can't be is refused at its line, with the
// API's own words where it is the API that refuses.
func TestLoadBalancerErrors(t *testing.T) {
	tests := []struct{ name, old, new, want string }{
		{"unknown vSwitch", "    vSwitch: vsw-1\n    address: 192.168.1.9\n", "    vSwitch: vsw-9\n", "loadBalancers[0].vSwitch: there is no VSwitch vsw-9"},
		{"unknown vSwitch of a zone", "{vSwitch: vsw-3}", "{vSwitch: vsw-9}", "networkLoadBalancers[0].zones[1].vSwitch: there is no VSwitch vsw-9"},
		{"address taken", "address: 192.168.1.9", "address: 192.168.1.1", "loadBalancers[0].address: 192.168.1.1 is taken by NetworkInterface eni-1"},
		{"address on the internet", "- id: lb-shared\n", "- id: lb-shared\n    address: 192.168.1.8\n", "loadBalancers[1].address: only a load balancer in a vSwitch has an address of its choice: name the vSwitch"},
		{"unknown protocol", "protocol: udp", "protocol: quic", `loadBalancers[1].listeners[0].protocol: "quic" is not one of tcp, udp, http, https`},
		{"unknown protocol of NLB", "protocol: TCP, port: 81", "protocol: QUIC, port: 81", `networkLoadBalancers[0].listeners[1].protocol: "QUIC" is not one of TCP, UDP, TCPSSL`},
		{"two with one id", "- id: lb-shared", "- id: lb-internal", "loadBalancers[1].id: there is another LoadBalancer lb-internal"},
		{"two listeners at one port", "protocol: http, port: 80", "protocol: http, port: 6443",
			"loadBalancers[0].listeners[1].port: CreateLoadBalancerHTTPListener refuses it: InvalidParameter.ListenerPortConflict: There is conflict listener port exists."},
		{"unknown group", "vServerGroup: rsp-api, settings", "vServerGroup: rsp-web, settings", "loadBalancers[0].listeners[0].vServerGroup: there is no VServerGroup rsp-web"},
		{"unknown server", "{server: i-1, port: 6443}", "{server: i-9, port: 6443}", "loadBalancers[0].vServerGroups[0].servers[0].server: there is no Instance i-9"},
		{"server in another VPC", "{server: i-1, port: 6443}", "{server: i-2, port: 6443}", "loadBalancers[0].vServerGroups[0].servers[0].server: AddVServerGroupBackendServers refuses it: NetworkConflict: "},
		{"interface on a shared instance", "[{server: i-2}]", "[{server: eni-2}]", "loadBalancers[1].backendServers[0].server: AddBackendServers refuses it: "},
		{"port in the default group", "[{server: i-2}]", "[{server: i-2, port: 53}]", "loadBalancers[1].backendServers[0].port: the default group's servers have no ports"},
		{"unknown parameter", "DeleteProtection:", "DeletionProtection:",
			"loadBalancers[0].id: CreateLoadBalancer refuses it: InvalidDeletionProtection: CreateLoadBalancer has no parameter DeletionProtection; `clbemu explain CreateLoadBalancer` lists them."},
		{"parameter beside its field", "settings: {DeleteProtection:", "settings: {LoadBalancerSpec:", "loadBalancers[0].settings.LoadBalancerSpec: LoadBalancerSpec is set by a field beside settings"},
		{"name that is none", "name: apiserver", "name: 1st", "loadBalancers[0].id: CreateLoadBalancer refuses it: InvalidLoadBalancerName: "},
		{"account that the vSwitch is not of", "    name: apiserver\n", "    name: apiserver\n    account: '2'\n", "loadBalancers[0].account: vsw-1 belongs to 1: leave it out, or name another one"},
		{"one zone", ", {vSwitch: vsw-3}]", "]", "networkLoadBalancers[0].id: CreateLoadBalancer refuses it: "},
		{"group of another VPC", "name: web, vpc: vpc-1", "name: web, vpc: vpc-2", "serverGroups[0].servers[0].server: AddServersToServerGroup refuses it: "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text := strings.Replace(balancedWorld(), test.old, test.new, 1)
			if text == balancedWorld() {
				t.Fatal("the case changes nothing")
			}
			_, err := world.Parse("w.yaml", []byte(text))
			if err == nil || !strings.Contains(err.Error(), ": "+test.want) {
				t.Errorf("Parse = %v\nwant %s", err, test.want)
			}
		})
	}
}
