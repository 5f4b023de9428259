package cloud_test

import (
	"net/netip"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
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
		listener cloud.Listener
		entries  []string
		want     string
	}{
		"off":             {cloud.Listener{AclStatus: cloud.Off, AclType: "white"}, []string{"10.0.0.0/8"}, "10.1.1.1 11.1.1.1 ::1 "},
		"white":           {cloud.Listener{AclStatus: cloud.On, AclType: "white"}, []string{"10.0.0.0/8", "::1"}, "10.1.1.1 ::1 "},
		"empty white":     {cloud.Listener{AclStatus: cloud.On, AclType: "white"}, nil, "10.1.1.1 11.1.1.1 ::1 "},
		"black":           {cloud.Listener{AclStatus: cloud.On, AclType: "black"}, []string{"10.0.0.0/8"}, "11.1.1.1 ::1 "},
		"older, white":    {cloud.Listener{WhiteListStatus: cloud.On, WhiteList: []string{"11.1.1.1"}}, nil, "11.1.1.1 "},
		"older, switched": {cloud.Listener{WhiteListStatus: cloud.Off, WhiteList: []string{"11.1.1.1"}}, nil, "10.1.1.1 11.1.1.1 ::1 "},
	} {
		t.Run(name, func(t *testing.T) {
			update(t, s, hangzhou, func(tx *state.Tx) error {
				list := &cloud.AccessControlList{Owner: hangzhou, ID: "acl-1"}
				for _, e := range c.entries {
					list.Entries = append(list.Entries, cloud.AccessControlListEntry{Entry: e})
				}
				cloud.AccessControlLists.Put(tx, list)
				cloud.LoadBalancers.Put(tx, &cloud.LoadBalancer{Owner: hangzhou, ID: "lb-1", Status: cloud.LoadBalancerActive})
				l := c.listener
				l.Owner, l.LoadBalancerID, l.Port, l.Protocol, l.Status, l.AclIDs = hangzhou, "lb-1", 80, cloud.TCP, cloud.ListenerRunning, []string{"acl-1"}
				cloud.Listeners.Put(tx, &l)
				return nil
			})
			if got := joined(admitted(t, s, "lb-1_tcp_80", 80, "10.1.1.1", "11.1.1.1", "::1")); got != c.want {
				t.Errorf("admitted %q, want %q", got, c.want)
			}
		})
	}
	update(t, s, hangzhou, func(tx *state.Tx) error {
		cloud.Listeners.Delete(tx, "lb-1_tcp_80")
		cloud.LoadBalancers.Delete(tx, "lb-1")
		return nil
	})
}

// The rule of security groups with the highest priority decides, a refusal before an
// admission, and a Network Load Balancer admits what no rule is about: NLB-0042.
func TestAdmissionBySecurityGroups(t *testing.T) {
	s := planted(t, &memory.Engine{})
	rule := func(policy, priority, protocol, ports, source string) cloud.SecurityGroupPermission {
		return cloud.SecurityGroupPermission{Direction: "ingress", Policy: policy, Priority: priority, IPProtocol: protocol, PortRange: ports, SourceCIDR: source}
	}
	for name, c := range map[string]struct {
		groups []string
		rules  []cloud.SecurityGroupPermission
		want   string
	}{
		"no group":  {nil, nil, "10.1.1.1 11.1.1.1 "},
		"no rule":   {[]string{"sg-1"}, nil, "10.1.1.1 11.1.1.1 "},
		"one block": {[]string{"sg-1"}, []cloud.SecurityGroupPermission{rule("Accept", "1", "TCP", "80/80", "10.0.0.0/8")}, "10.1.1.1 11.1.1.1 "},
		"white list": {[]string{"sg-1"}, []cloud.SecurityGroupPermission{
			rule("Accept", "1", "TCP", "80/80", "10.0.0.0/8"), rule("Drop", "100", "ALL", "-1/-1", "0.0.0.0/0")}, "10.1.1.1 "},
		"black list":       {[]string{"sg-1"}, []cloud.SecurityGroupPermission{rule("Drop", "1", "TCP", "80/80", "10.0.0.0/8")}, "11.1.1.1 "},
		"another port":     {[]string{"sg-1"}, []cloud.SecurityGroupPermission{rule("Drop", "1", "TCP", "81/90", "10.0.0.0/8")}, "10.1.1.1 11.1.1.1 "},
		"another protocol": {[]string{"sg-1"}, []cloud.SecurityGroupPermission{rule("Drop", "1", "UDP", "80/80", "10.0.0.0/8")}, "10.1.1.1 11.1.1.1 "},
		"all of all":       {[]string{"sg-1"}, []cloud.SecurityGroupPermission{rule("accept", "100", "ALL", "-1/-1", "0.0.0.0/0")}, "10.1.1.1 11.1.1.1 "},
		"refused first": {[]string{"sg-1"}, []cloud.SecurityGroupPermission{
			rule("Accept", "1", "ALL", "-1/-1", "0.0.0.0/0"), rule("Drop", "1", "TCP", "1/65535", "11.0.0.0/8")}, "10.1.1.1 "},
		"by priority": {[]string{"sg-1"}, []cloud.SecurityGroupPermission{
			rule("Drop", "2", "TCP", "1/65535", "11.0.0.0/8"), rule("Accept", "1", "ALL", "-1/-1", "0.0.0.0/0")}, "10.1.1.1 11.1.1.1 "},
		"outward": {[]string{"sg-1"}, []cloud.SecurityGroupPermission{{Direction: "egress", Policy: "Drop", Priority: "1", IPProtocol: "ALL", PortRange: "-1/-1", SourceCIDR: "0.0.0.0/0"}}, "10.1.1.1 11.1.1.1 "},
	} {
		t.Run(name, func(t *testing.T) {
			update(t, s, hangzhou, func(tx *state.Tx) error {
				cloud.SecurityGroups.Put(tx, &cloud.SecurityGroup{Owner: hangzhou, ID: "sg-1", VPCID: vpcID, Permissions: c.rules})
				cloud.NLBServerGroups.Put(tx, &cloud.NLBServerGroup{Owner: hangzhou, ID: "sgp-1", VPCID: vpcID, Status: cloud.NLBGroupAvailable})
				cloud.NLBLoadBalancers.Put(tx, &cloud.NLBLoadBalancer{Owner: hangzhou, ID: "nlb-1", VPCID: vpcID, Status: cloud.NLBActive, SecurityGroupIDs: c.groups})
				cloud.NLBListeners.Put(tx, &cloud.NLBListener{Owner: hangzhou, ID: "lsn-1", LoadBalancerID: "nlb-1", Protocol: cloud.NLBTCP, Port: 80,
					Status: cloud.NLBListenerRunning, ServerGroupID: "sgp-1"})
				return nil
			})
			if got := joined(admitted(t, s, "lsn-1", 80, "10.1.1.1", "11.1.1.1")); got != c.want {
				t.Errorf("admitted %q, want %q", got, c.want)
			}
		})
	}
	update(t, s, hangzhou, func(tx *state.Tx) error {
		cloud.NLBLoadBalancers.Remove(tx, "nlb-1")
		return nil
	})
}
