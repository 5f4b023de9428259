package kinds_test

import (
	"net/netip"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// admitted lists the clients that a frontend admits at a port.
func admitted(t *testing.T, s *state.Store, id string, port int, clients ...string) (list []string) {
	t.Helper()
	view(t, s, hangzhou, func(v *state.View) {
		f, ok := state.FindShown[topology.Frontend](v, id)
		if !ok {
			t.Fatalf("there is no frontend %s", id)
		}
		admission := f.Admission(port)
		for _, client := range clients {
			if admission.Admits(netip.MustParseAddr(client)) {
				list = append(list, client)
			}
		}
	})
	return list
}

func joined(list []string) (text string) {
	for _, one := range list {
		text += one + " "
	}
	return text
}

// An access control list admits or refuses its addresses, a white list without any admits
// all, and one that is off does nothing: CLB-0570.
func TestAdmissionByAccessControl(t *testing.T) {
	s := planted(t, &memory.Engine{})
	for name, c := range map[string]struct {
		listener kinds.Listener
		entries  []string
		want     string
	}{
		"off":             {kinds.Listener{AclStatus: kinds.Off, AclType: "white"}, []string{"10.0.0.0/8"}, "10.1.1.1 11.1.1.1 ::1 "},
		"white":           {kinds.Listener{AclStatus: kinds.On, AclType: "white"}, []string{"10.0.0.0/8", "::1"}, "10.1.1.1 ::1 "},
		"empty white":     {kinds.Listener{AclStatus: kinds.On, AclType: "white"}, nil, "10.1.1.1 11.1.1.1 ::1 "},
		"black":           {kinds.Listener{AclStatus: kinds.On, AclType: "black"}, []string{"10.0.0.0/8"}, "11.1.1.1 ::1 "},
		"older, white":    {kinds.Listener{WhiteListStatus: kinds.On, WhiteList: []string{"11.1.1.1"}}, nil, "11.1.1.1 "},
		"older, switched": {kinds.Listener{WhiteListStatus: kinds.Off, WhiteList: []string{"11.1.1.1"}}, nil, "10.1.1.1 11.1.1.1 ::1 "},
	} {
		t.Run(name, func(t *testing.T) {
			update(t, s, hangzhou, func(tx *state.Tx) error {
				list := &kinds.AccessControlList{Owner: hangzhou, ID: "acl-1"}
				for _, e := range c.entries {
					list.Entries = append(list.Entries, kinds.AccessControlListEntry{Entry: e})
				}
				kinds.AccessControlLists.Put(tx, list)
				kinds.LoadBalancers.Put(tx, &kinds.LoadBalancer{Owner: hangzhou, ID: "lb-1", Status: kinds.LoadBalancerActive})
				l := c.listener
				l.Owner, l.LoadBalancerID, l.Port, l.Protocol, l.Status, l.AclIDs = hangzhou, "lb-1", 80, kinds.TCP, kinds.ListenerRunning, []string{"acl-1"}
				kinds.Listeners.Put(tx, &l)
				return nil
			})
			if got := joined(admitted(t, s, "lb-1_tcp_80", 80, "10.1.1.1", "11.1.1.1", "::1")); got != c.want {
				t.Errorf("admitted %q, want %q", got, c.want)
			}
		})
	}
	update(t, s, hangzhou, func(tx *state.Tx) error {
		kinds.Listeners.Delete(tx, "lb-1_tcp_80")
		kinds.LoadBalancers.Delete(tx, "lb-1")
		return nil
	})
}

// The rule of security groups with the highest priority decides, a refusal before an
// admission, and a Network Load Balancer admits what no rule is about: NLB-0042.
func TestAdmissionBySecurityGroups(t *testing.T) {
	s := planted(t, &memory.Engine{})
	rule := func(policy, priority, protocol, ports, source string) kinds.SecurityGroupPermission {
		return kinds.SecurityGroupPermission{Direction: "ingress", Policy: policy, Priority: priority, IPProtocol: protocol, PortRange: ports, SourceCIDR: source}
	}
	for name, c := range map[string]struct {
		groups []string
		rules  []kinds.SecurityGroupPermission
		want   string
	}{
		"no group":  {nil, nil, "10.1.1.1 11.1.1.1 "},
		"no rule":   {[]string{"sg-1"}, nil, "10.1.1.1 11.1.1.1 "},
		"one block": {[]string{"sg-1"}, []kinds.SecurityGroupPermission{rule("Accept", "1", "TCP", "80/80", "10.0.0.0/8")}, "10.1.1.1 11.1.1.1 "},
		"white list": {[]string{"sg-1"}, []kinds.SecurityGroupPermission{
			rule("Accept", "1", "TCP", "80/80", "10.0.0.0/8"), rule("Drop", "100", "ALL", "-1/-1", "0.0.0.0/0")}, "10.1.1.1 "},
		"black list":       {[]string{"sg-1"}, []kinds.SecurityGroupPermission{rule("Drop", "1", "TCP", "80/80", "10.0.0.0/8")}, "11.1.1.1 "},
		"another port":     {[]string{"sg-1"}, []kinds.SecurityGroupPermission{rule("Drop", "1", "TCP", "81/90", "10.0.0.0/8")}, "10.1.1.1 11.1.1.1 "},
		"another protocol": {[]string{"sg-1"}, []kinds.SecurityGroupPermission{rule("Drop", "1", "UDP", "80/80", "10.0.0.0/8")}, "10.1.1.1 11.1.1.1 "},
		"all of all":       {[]string{"sg-1"}, []kinds.SecurityGroupPermission{rule("accept", "100", "ALL", "-1/-1", "0.0.0.0/0")}, "10.1.1.1 11.1.1.1 "},
		"refused first": {[]string{"sg-1"}, []kinds.SecurityGroupPermission{
			rule("Accept", "1", "ALL", "-1/-1", "0.0.0.0/0"), rule("Drop", "1", "TCP", "1/65535", "11.0.0.0/8")}, "10.1.1.1 "},
		"by priority": {[]string{"sg-1"}, []kinds.SecurityGroupPermission{
			rule("Drop", "2", "TCP", "1/65535", "11.0.0.0/8"), rule("Accept", "1", "ALL", "-1/-1", "0.0.0.0/0")}, "10.1.1.1 11.1.1.1 "},
		"outward": {[]string{"sg-1"}, []kinds.SecurityGroupPermission{{Direction: "egress", Policy: "Drop", Priority: "1", IPProtocol: "ALL", PortRange: "-1/-1", SourceCIDR: "0.0.0.0/0"}}, "10.1.1.1 11.1.1.1 "},
	} {
		t.Run(name, func(t *testing.T) {
			update(t, s, hangzhou, func(tx *state.Tx) error {
				kinds.SecurityGroups.Put(tx, &kinds.SecurityGroup{Owner: hangzhou, ID: "sg-1", VPCID: vpcID, Permissions: c.rules})
				kinds.NLBServerGroups.Put(tx, &kinds.NLBServerGroup{Owner: hangzhou, ID: "sgp-1", VPCID: vpcID, Status: kinds.NLBGroupAvailable})
				kinds.NLBLoadBalancers.Put(tx, &kinds.NLBLoadBalancer{Owner: hangzhou, ID: "nlb-1", VPCID: vpcID, Status: kinds.NLBActive, SecurityGroupIDs: c.groups})
				kinds.NLBListeners.Put(tx, &kinds.NLBListener{Owner: hangzhou, ID: "lsn-1", LoadBalancerID: "nlb-1", Protocol: kinds.NLBTCP, Port: 80,
					Status: kinds.NLBListenerRunning, ServerGroupID: "sgp-1"})
				return nil
			})
			if got := joined(admitted(t, s, "lsn-1", 80, "10.1.1.1", "11.1.1.1")); got != c.want {
				t.Errorf("admitted %q, want %q", got, c.want)
			}
		})
	}
	update(t, s, hangzhou, func(tx *state.Tx) error {
		kinds.NLBLoadBalancers.Remove(tx, "nlb-1")
		return nil
	})
}
