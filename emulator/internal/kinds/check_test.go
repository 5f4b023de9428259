package kinds_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// plantHealthy adds one resource of each kind that invariants speak of, all as
// they should be.
func plantHealthy(tx *state.Tx) error {
	address := func(pool, ip string, holder state.Kind, id string) {
		kinds.Addresses.Put(tx, &kinds.Address{Pool: pool, IP: ip, Holder: holder, HolderID: id})
	}
	for _, id := range []string{"lb-1", "lb-2"} {
		ip := "192.168.0." + id[3:]
		kinds.LoadBalancers.Put(tx, &kinds.LoadBalancer{Owner: hangzhou, ID: id, Status: kinds.LoadBalancerActive,
			VPCID: vpcID, VSwitchID: vSwitchID, Address: ip})
		address(vSwitchID, ip, kinds.LoadBalancers.Kind(), id)
		kinds.VServerGroups.Put(tx, &kinds.VServerGroup{Owner: hangzhou, ID: "rsp-" + id[3:], LoadBalancerID: id})
	}
	kinds.ServerCertificates.Put(tx, &kinds.ServerCertificate{Owner: hangzhou, ID: "certificate"})
	kinds.Listeners.Put(tx, &kinds.Listener{Owner: hangzhou, LoadBalancerID: "lb-1", Port: 443, Status: kinds.ListenerRunning, Protocol: kinds.HTTPS,
		ServerCertificateID: "certificate", VServerGroupID: "rsp-1"})
	kinds.Listeners.Put(tx, &kinds.Listener{Owner: hangzhou, LoadBalancerID: "lb-1", Port: 443, Status: kinds.ListenerRunning, Protocol: kinds.UDP})
	kinds.Rules.Put(tx, &kinds.Rule{Owner: hangzhou, ID: "rule-1", LoadBalancerID: "lb-1", ListenerID: "lb-1_https_443", VServerGroupID: "rsp-1"})
	kinds.DomainExtensions.Put(tx, &kinds.DomainExtension{Owner: hangzhou, ID: "de-1", LoadBalancerID: "lb-1",
		ListenerPort: 443, ServerCertificateID: "certificate"})
	kinds.EIPs.Put(tx, &kinds.EIP{Owner: hangzhou, ID: "eip-1", IPAddress: "198.18.0.1", Status: kinds.EIPInUse,
		InstanceType: "SlbInstance", InstanceID: "lb-1"})
	address("public:cn-hangzhou", "198.18.0.1", kinds.EIPs.Kind(), "eip-1")
	kinds.Instances.Put(tx, &kinds.Instance{Owner: hangzhou, ID: "i-1", VSwitchID: vSwitchID})
	kinds.NetworkInterfaces.Put(tx, &kinds.NetworkInterface{Owner: hangzhou, ID: "eni-1", Type: kinds.NetworkInterfacePrimary,
		InstanceID: "i-1", VSwitchID: vSwitchID, PrivateIPAddresses: []string{"192.168.0.11"}})
	address(vSwitchID, "192.168.0.11", kinds.NetworkInterfaces.Kind(), "eni-1")
	state.SetTag(tx, kinds.TagLoadBalancer, "lb-1", "env", "test")
	address(vSwitchID, "192.168.0.8", "Reservation", vSwitchID)
	return nil
}

// damages break one invariant each, in a healthy state.
var damages = []struct {
	name   string
	damage func(tx *state.Tx)
	want   string
}{
	{"load balancer of no account", loadBalancer(func(lb *kinds.LoadBalancer) { lb.AccountID = "77" }),
		"LoadBalancer lb-1 refers to Account 77, which does not exist"},
	{"load balancer in no VPC", loadBalancer(func(lb *kinds.LoadBalancer) { lb.VPCID = "vpc-x" }),
		"LoadBalancer lb-1 refers to VPC vpc-x, which does not exist"},
	{"load balancer in no vSwitch", loadBalancer(func(lb *kinds.LoadBalancer) { lb.VSwitchID = "vsw-x" }),
		"LoadBalancer lb-1 refers to VSwitch vsw-x, which does not exist"},
	{"load balancer with an address of nobody", loadBalancer(func(lb *kinds.LoadBalancer) { lb.Address = "192.168.0.9" }),
		"LoadBalancer lb-1 uses 192.168.0.9, which is not allocated to it"},
	{"default group with a server twice", loadBalancer(func(lb *kinds.LoadBalancer) {
		lb.BackendServers = []kinds.BackendServer{{ServerID: "i-1"}, {ServerID: "i-1"}}
	}), "LoadBalancer lb-1 has i-1 twice on port 0"},
	{"default group with a weight", loadBalancer(func(lb *kinds.LoadBalancer) {
		lb.BackendServers = []kinds.BackendServer{{ServerID: "i-1", Weight: 101}}
	}), "LoadBalancer lb-1 has i-1 with weight 101"},
	{"group of no load balancer", vServerGroup(func(g *kinds.VServerGroup) { g.LoadBalancerID = "lb-x" }),
		"VServerGroup rsp-1 refers to LoadBalancer lb-x, which does not exist"},
	{"group with a server twice", vServerGroup(func(g *kinds.VServerGroup) {
		g.BackendServers = []kinds.BackendServer{{ServerID: "i-1", Port: 80}, {ServerID: "i-1", Port: 81}, {ServerID: "i-1", Port: 80}}
	}), "VServerGroup rsp-1 has i-1 twice on port 80"},
	{"group with a weight", vServerGroup(func(g *kinds.VServerGroup) {
		g.BackendServers = []kinds.BackendServer{{ServerID: "i-1", Port: 80, Weight: -1}}
	}), "VServerGroup rsp-1 has i-1 with weight -1"},
	{"listener without load balancer", func(tx *state.Tx) {
		kinds.Listeners.Put(tx, &kinds.Listener{Owner: hangzhou, LoadBalancerID: "lb-x", Port: 80, Status: kinds.ListenerRunning, Protocol: kinds.TCP})
	}, "Listener lb-x_tcp_80 refers to LoadBalancer lb-x, which does not exist"},
	{"listener without its certificate", listener(func(l *kinds.Listener) { l.ServerCertificateID = "x" }),
		"Listener lb-1_https_443 refers to ServerCertificate x, which does not exist"},
	{"listener without its CA certificate", listener(func(l *kinds.Listener) { l.CACertificateID = "x" }),
		"Listener lb-1_https_443 refers to CACertificate x, which does not exist"},
	{"listener without its ACL", listener(func(l *kinds.Listener) { l.AclIDs = []string{"acl-x"} }),
		"Listener lb-1_https_443 refers to AccessControlList acl-x, which does not exist"},
	{"listener without its group", listener(func(l *kinds.Listener) { l.VServerGroupID = "rsp-x" }),
		"Listener lb-1_https_443 refers to VServerGroup rsp-x, which does not exist"},
	{"listener with the group of another", listener(func(l *kinds.Listener) { l.VServerGroupID = "rsp-2" }),
		"Listener lb-1_https_443 forwards to VServerGroup rsp-2 of another load balancer"},
	{"listeners on one port", func(tx *state.Tx) {
		kinds.Listeners.Put(tx, &kinds.Listener{Owner: hangzhou, LoadBalancerID: "lb-1", Port: 443, Status: kinds.ListenerRunning, Protocol: kinds.TCP})
	}, "Listener lb-1_https_443 shares its port with lb-1_tcp_443"},
	{"domain extension without listener", domainExtension(func(d *kinds.DomainExtension) { d.ListenerPort = 444 }),
		"DomainExtension de-1 refers to Listener lb-1_https_444, which does not exist"},
	{"domain extension without certificate", domainExtension(func(d *kinds.DomainExtension) { d.ServerCertificateID = "x" }),
		"DomainExtension de-1 refers to ServerCertificate x, which does not exist"},
	{"rule without listener", rule(func(r *kinds.Rule) { r.ListenerID = "lb-1_http_80" }),
		"Rule rule-1 refers to Listener lb-1_http_80, which does not exist"},
	{"rule without group", rule(func(r *kinds.Rule) { r.VServerGroupID = "rsp-x" }),
		"Rule rule-1 refers to VServerGroup rsp-x, which does not exist"},
	{"rule of no listener", rule(func(r *kinds.Rule) { r.ListenerID = "" }), "Rule rule-1 belongs to no Listener"},
	{"rule of another load balancer", rule(func(r *kinds.Rule) { r.LoadBalancerID, r.VServerGroupID = "lb-2", "rsp-2" }),
		"Rule rule-1 belongs to LoadBalancer lb-2, and its listener to lb-1"},
	{"rule with the group of another", rule(func(r *kinds.Rule) { r.VServerGroupID = "rsp-2" }),
		"Rule rule-1 forwards to VServerGroup rsp-2 of another load balancer"},
	{"group of another region", vServerGroup(func(g *kinds.VServerGroup) { g.Owner = shanghai }),
		"VServerGroup rsp-1 refers to LoadBalancer lb-1, which belongs to another account or region"},
	{"listener of no status", listener(func(l *kinds.Listener) { l.Status = "resting" }),
		`Listener lb-1_https_443 has the status "resting", want one of ["starting" "running" "configuring" "stopping" "stopped"]`},
	{"listener on no port", func(tx *state.Tx) {
		kinds.Listeners.Put(tx, &kinds.Listener{Owner: hangzhou, LoadBalancerID: "lb-1", Status: kinds.ListenerRunning, Protocol: kinds.TCP})
	}, "Listener lb-1_tcp_0 has the port 0, want 1 to 65535"},
	{"listener of no protocol", func(tx *state.Tx) {
		kinds.Listeners.Put(tx, &kinds.Listener{Owner: hangzhou, LoadBalancerID: "lb-1", Port: 80, Status: kinds.ListenerRunning, Protocol: "sctp"})
	}, `Listener lb-1_sctp_80 has the protocol "sctp", want one of ["tcp" "udp" "http" "https"]`},
	{"tag of another region", func(tx *state.Tx) {
		state.SetTag(tx.In(shanghai), kinds.TagLoadBalancer, "lb-1", "k", "v")
	}, "Tag k of lb-1 belongs to another account or region than what it is on"},
	{"vSwitch without VPC", vSwitch(func(s *kinds.VSwitch) { s.VPCID = "vpc-x" }),
		"VSwitch vsw-bp1test refers to VPC vpc-x, which does not exist"},
	{"vSwitch without route table", vSwitch(func(s *kinds.VSwitch) { s.RouteTableID = "vtb-x" }),
		"VSwitch vsw-bp1test refers to RouteTable vtb-x, which does not exist"},
	{"route table without VPC", func(tx *state.Tx) {
		kinds.RouteTables.Put(tx, &kinds.RouteTable{Owner: hangzhou, ID: "vtb-2", VPCID: "vpc-x"})
	}, "RouteTable vtb-2 refers to VPC vpc-x, which does not exist"},
	{"route entry without table", func(tx *state.Tx) {
		kinds.RouteEntries.Put(tx, &kinds.RouteEntry{Owner: hangzhou, ID: "rte-1", RouteTableID: "vtb-x"})
	}, "RouteEntry rte-1 refers to RouteTable vtb-x, which does not exist"},
	{"EIP with an address of nobody", eip(func(e *kinds.EIP) { e.IPAddress = "198.18.0.9" }),
		"EIP eip-1 uses 198.18.0.9, which is not allocated to it"},
	{"EIP in use by nothing", eip(func(e *kinds.EIP) { e.InstanceID = "" }), `EIP eip-1 is InUse with instance ""`},
	{"EIP available and used", eip(func(e *kinds.EIP) { e.Status = kinds.EIPAvailable }), `EIP eip-1 is Available with instance "lb-1"`},
	{"EIP of a deleted load balancer", eip(func(e *kinds.EIP) { e.InstanceID = "lb-x" }),
		"EIP eip-1 refers to LoadBalancer lb-x, which does not exist"},
	{"instance without vSwitch", func(tx *state.Tx) {
		kinds.Instances.Put(tx, &kinds.Instance{Owner: hangzhou, ID: "i-1", VSwitchID: "vsw-x"})
	}, "Instance i-1 refers to VSwitch vsw-x, which does not exist"},
	{"instance without interface", networkInterface(func(n *kinds.NetworkInterface) { n.Type = kinds.NetworkInterfaceSecondary }),
		"Instance i-1 has no primary network interface"},
	{"interface without vSwitch", networkInterface(func(n *kinds.NetworkInterface) { n.VSwitchID = "vsw-x" }),
		"NetworkInterface eni-1 refers to VSwitch vsw-x, which does not exist"},
	{"interface without instance", networkInterface(func(n *kinds.NetworkInterface) { n.InstanceID = "i-x" }),
		"NetworkInterface eni-1 refers to Instance i-x, which does not exist"},
	{"interface with an address of nobody", networkInterface(func(n *kinds.NetworkInterface) {
		n.PrivateIPAddresses = []string{"192.168.0.11", "192.168.0.12"}
	}), "NetworkInterface eni-1 uses 192.168.0.12, which is not allocated to it"},
	{"security group without VPC", func(tx *state.Tx) {
		kinds.SecurityGroups.Put(tx, &kinds.SecurityGroup{Owner: hangzhou, ID: "sg-1", VPCID: "vpc-x"})
	}, "SecurityGroup sg-1 refers to VPC vpc-x, which does not exist"},
	{"address of a load balancer that does not use it", address("LoadBalancer", "lb-1"),
		"Address vsw-bp1test/192.168.0.10 is allocated to LoadBalancer lb-1, which does not use it"},
	{"address of a deleted EIP", address("EIP", "eip-x"),
		"Address vsw-bp1test/192.168.0.10 is allocated to EIP eip-x, which does not use it"},
	{"address of a deleted interface", address("NetworkInterface", "eni-x"),
		"Address vsw-bp1test/192.168.0.10 is allocated to NetworkInterface eni-x, which does not use it"},
	{"address of something that has none", address("VPC", vpcID),
		"Address vsw-bp1test/192.168.0.10 is allocated to VPC vpc-bp1test, which does not use it"},
	{"transition of something without a life", func(tx *state.Tx) {
		state.Schedule(tx, start.AddDate(1, 0, 0), state.Transition{Kind: kinds.VPCs.Kind(), ResourceID: vpcID, From: "busy"})
	}, "Transition VPC/vpc-bp1test/busy belongs to a VPC, which has no such stage"},
	{"clock that goes back", func(tx *state.Tx) {
		state.ClockSettings.Put(tx, &state.ClockSetting{ID: "clock", Emulated: start, Base: start, Scale: -1})
	}, "ClockSetting clock shows 2026-01-02T03:04:05Z and goes at -1"},
	{"clock after the last year", func(tx *state.Tx) {
		state.ClockSettings.Put(tx, &state.ClockSetting{ID: "clock", Emulated: start.AddDate(7500, 0, 0), Base: start, Scale: 1})
	}, "ClockSetting clock shows 9526-01-02T03:04:05Z and goes at 1"},
	{"address reserved for a deleted vSwitch", address("Reservation", "vsw-x"),
		"Address vsw-bp1test/192.168.0.10 is allocated to Reservation vsw-x, which does not use it"},
	{"tag on a deleted load balancer", func(tx *state.Tx) {
		kinds.LoadBalancers.Delete(tx, "lb-1")
	}, "Tag env of lb-1 is on something that does not exist"},
	{"tag on something that has none", func(tx *state.Tx) { state.SetTag(tx, "rocket", "r-1", "env", "test") },
		"Tag env of r-1 is on something that does not exist"},
}

func edit[T any](table *state.Table[T], id string, fn func(*T)) func(*state.Tx) {
	return func(tx *state.Tx) {
		if err := table.Edit(tx, id, func(r *T) error { fn(r); return nil }); err != nil {
			panic(err)
		}
	}
}

func loadBalancer(fn func(*kinds.LoadBalancer)) func(*state.Tx) {
	return edit(kinds.LoadBalancers, "lb-1", fn)
}
func vServerGroup(fn func(*kinds.VServerGroup)) func(*state.Tx) {
	return edit(kinds.VServerGroups, "rsp-1", fn)
}
func listener(fn func(*kinds.Listener)) func(*state.Tx) {
	return edit(kinds.Listeners, "lb-1_https_443", fn)
}
func domainExtension(fn func(*kinds.DomainExtension)) func(*state.Tx) {
	return edit(kinds.DomainExtensions, "de-1", fn)
}
func rule(fn func(*kinds.Rule)) func(*state.Tx)       { return edit(kinds.Rules, "rule-1", fn) }
func vSwitch(fn func(*kinds.VSwitch)) func(*state.Tx) { return edit(kinds.VSwitches, vSwitchID, fn) }
func eip(fn func(*kinds.EIP)) func(*state.Tx)         { return edit(kinds.EIPs, "eip-1", fn) }
func networkInterface(fn func(*kinds.NetworkInterface)) func(*state.Tx) {
	return edit(kinds.NetworkInterfaces, "eni-1", fn)
}
func address(holder state.Kind, id string) func(*state.Tx) {
	return func(tx *state.Tx) {
		kinds.Addresses.Put(tx, &kinds.Address{Pool: vSwitchID, IP: "192.168.0.10", Holder: holder, HolderID: id})
	}
}

func problems(t *testing.T, s *state.Store) []string {
	t.Helper()
	found, err := s.Check(t.Context())
	if err != nil {
		t.Fatalf("Check: %v", err)
	}
	return found
}

// Check finds nothing in a healthy state, and each kind of damage in a broken
// one.
func TestCheckFindsDamage(t *testing.T) {
	for _, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			s := open(t, &memory.Engine{})
			defer s.Close()
			update(t, s, hangzhou, func(tx *state.Tx) error {
				if err := plant(tx); err != nil {
					return err
				}
				return plantHealthy(tx)
			})
			if found := problems(t, s); len(found) != 0 {
				t.Fatalf("Check of a healthy state: %s", strings.Join(found, "\n"))
			}
			update(t, s, hangzhou, func(tx *state.Tx) error { d.damage(tx); return nil })
			if found := problems(t, s); !slices.Contains(found, d.want) {
				t.Errorf("Check does not say %q but\n%s", d.want, strings.Join(found, "\n"))
			}
		})
	}
}

// Check compares the working set with what the engine keeps.
func TestCheckComparesWithTheEngine(t *testing.T) {
	account := hangzhou.AccountID
	cases := []struct {
		name   string
		change engine.Change
		want   string
	}{
		{"more is kept", engine.Change{Table: "VPC", ID: "vpc-x", Value: []byte(`{"ID":"vpc-x"}`)},
			"VPC vpc-x is kept but not in the working set"},
		{"other is kept", engine.Change{Table: "Account", ID: account, Value: []byte(`{"ID":"` + account + `"}`)},
			"Account " + account + " differs between the working set and what is kept"},
		{"less is kept", engine.Change{Table: "Account", ID: account},
			"Account " + account + " is in the working set but not kept"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			e := &memory.Engine{}
			s := open(t, e)
			defer s.Close()
			update(t, s, state.Owner{}, plant)
			if err := e.Commit(t.Context(), []engine.ChangeSet{{c.change}}); err != nil {
				t.Fatal(err)
			}
			if found := problems(t, s); !slices.Equal(found, []string{c.want}) {
				t.Errorf("Check = %q, want %q", found, c.want)
			}
		})
	}
}
