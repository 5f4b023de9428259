package upgradecheck_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/cmd/internal/upgradecheck"
	"github.com/clbemu/clbemu/emulator/journal"
)

// before returns a state with a load balancer, its listener and its group.
func before(_ *journal.Entry, action string, params map[string]string) map[string]any {
	switch asked := fmt.Sprint(action, " ", params["LoadBalancerId"], params["VServerGroupId"], " ", params["ListenerPort"]); asked {
	case "DescribeLoadBalancerAttribute lb-a ":
		return map[string]any{"LoadBalancerName": "web", "LoadBalancerSpec": "slb.s1.small", "Bandwidth": 5.0}
	case "DescribeLoadBalancerTCPListenerAttribute lb-a 80":
		return map[string]any{"Scheduler": "rr", "Bandwidth": -1.0, "VServerGroupId": "rsp-a", "ConnectionDrain": "off"}
	case "DescribeLoadBalancerHTTPListenerAttribute lb-a 81":
		return map[string]any{"Scheduler": "rr", "Gzip": "on"}
	case "DescribeVServerGroupAttribute rsp-a ":
		return map[string]any{"LoadBalancerId": "lb-a", "VServerGroupName": "group"}
	default:
		return nil
	}
}

func changes(action string) bool { return !strings.HasPrefix(action, "Describe") }

// call returns an entry of the journal; pairs are names and values in turn.
func call(action string, pairs ...string) *journal.Entry {
	e := &journal.Entry{Kind: journal.KindCall, Action: action, Parameters: journal.Parameters{{Name: "RegionId", Value: "cn-hangzhou"}}}
	for pair := range slices.Chunk(pairs, 2) {
		e.Parameters.Add(pair[0], pair[1])
	}
	return e
}

// TestCheck proves that each kind of change is found, under its load balancer, in
// ACK's words, with just the parameters that are not as stored.
func TestCheck(t *testing.T) {
	for _, test := range []struct {
		call *journal.Entry
		want string // load balancer (name): change port: differences
	}{
		{call("CreateLoadBalancer", "LoadBalancerName", "new"), " (): create a new load balancer : LoadBalancerName <new"},
		{call("DeleteLoadBalancer", "LoadBalancerId", "lb-a"), "lb-a (web): delete the load balancer :"},
		{call("ModifyLoadBalancerInstanceSpec", "LoadBalancerId", "lb-a", "LoadBalancerSpec", "slb.s2.small"),
			"lb-a (web): modify the slb instance spec : LoadBalancerSpec slb.s1.small<slb.s2.small"},
		{call("ModifyLoadBalancerInternetSpec", "LoadBalancerId", "lb-a", "Bandwidth", "5", "InternetChargeType", "paybybandwidth"),
			"lb-a (web): modify the slb internet spec : InternetChargeType <paybybandwidth"},
		{call("ModifyLoadBalancerInstanceChargeType", "LoadBalancerId", "lb-a", "InstanceChargeType", "PayByCLCU"),
			"lb-a (web): modify loadbalancer instance charge type : InstanceChargeType <PayByCLCU"},
		{call("AddBackendServers", "LoadBalancerId", "lb-a", "BackendServers", "[]"), "lb-a (web): add backend servers : BackendServers <[]"},
		{call("RemoveBackendServers", "LoadBalancerId", "lb-a", "BackendServers", "[]"), "lb-a (web): remove backend servers : BackendServers <[]"},
		{call("CreateLoadBalancerTCPListener", "LoadBalancerId", "lb-a", "ListenerPort", "443", "Scheduler", "rr"),
			"lb-a (web): create listener 443: Scheduler <rr"},
		{call("SetLoadBalancerTCPListenerAttribute", "LoadBalancerId", "lb-a", "ListenerPort", "80", "Scheduler", "wrr", "Bandwidth", "-1", "ConnectionDrain", "off", "VServerGroup", "on", "VServerGroupId", "rsp-a"),
			"lb-a (web): update listener 80: Scheduler rr<wrr"},
		{call("SetLoadBalancerTCPListenerAttribute", "LoadBalancerId", "lb-a", "ListenerPort", "80", "VServerGroup", "off"),
			"lb-a (web): update listener 80: VServerGroup on<off"},
		{call("SetLoadBalancerHTTPListenerAttribute", "LoadBalancerId", "lb-a", "ListenerPort", "81", "Gzip", "on", "VServerGroup", "on", "VServerGroupId", "rsp-a"),
			"lb-a (web): update listener 81: VServerGroup off<on VServerGroupId <rsp-a"},
		{call("StartLoadBalancerListener", "LoadBalancerId", "lb-a", "ListenerPort", "80", "ListenerProtocol", "tcp"), "lb-a (web): start listener 80:"},
		{call("StopLoadBalancerListener", "LoadBalancerId", "lb-a", "ListenerPort", "80"), "lb-a (web): stop listener 80:"},
		{call("DeleteLoadBalancerListener", "LoadBalancerId", "lb-a", "ListenerPort", "80"), "lb-a (web): delete listener 80:"},
		{call("CreateVServerGroup", "LoadBalancerId", "lb-a", "VServerGroupName", "n"), "lb-a (web): create VServerGroup : VServerGroupName <n"},
		{call("DeleteVServerGroup", "VServerGroupId", "rsp-a"), "lb-a (web): delete VServerGroup :"},
		{call("AddVServerGroupBackendServers", "VServerGroupId", "rsp-a", "BackendServers", "[]"), "lb-a (web): add VServerGroup backends : BackendServers <[]"},
		{call("RemoveVServerGroupBackendServers", "VServerGroupId", "rsp-new", "BackendServers", "[]"), "lb-new (): remove VServerGroup backends : BackendServers <[]"},
		{call("SetVServerGroupAttribute", "VServerGroupId", "rsp-a", "VServerGroupName", "other"), "lb-a (web): update VServerGroup : VServerGroupName group<other"},
		{call("TagResources", "ResourceType", "instance", "ResourceId.1", "lb-a", "Tag.1.Key", "k"), "lb-a (web): TagResources : Tag.1.Key <k"},
		{call("DescribeLoadBalancers"), ""},
	} {
		found := upgradecheck.Check([]*journal.Entry{test.call}, changes, before, map[string]string{"rsp-new": "lb-new"})
		var got string
		for _, lb := range found {
			for _, c := range lb.Changes {
				got += fmt.Sprintf("%s (%s): %s %s:", lb.ID, lb.Name, c.Change, c.Port)
				for _, d := range c.Differences {
					got += fmt.Sprintf(" %s %s<%s", d.Parameter, d.Stored, d.Sent)
				}
			}
		}
		if got != test.want {
			t.Errorf("%s is reported as %q, want %q", test.call.Action, got, test.want)
		}
	}
}

// TestCheckGroups proves that changes are together by load balancer in the order
// of the calls, refused ones with their code, and that what is no call is none.
func TestCheckGroups(t *testing.T) {
	refused := call("StopLoadBalancerListener", "LoadBalancerId", "lb-b", "ListenerPort", "1")
	refused.Code, refused.Sequence = "ListenerNotFound", 7
	found := upgradecheck.Check([]*journal.Entry{
		{Kind: journal.KindWorld, Action: "set conditions"},
		refused, call("DeleteLoadBalancer", "LoadBalancerId", "lb-a"), call("DeleteLoadBalancer", "LoadBalancerId", "lb-b"),
	}, changes, before, nil)
	if len(found) != 2 || found[0].ID != "lb-b" || len(found[0].Changes) != 2 || found[1].ID != "lb-a" || len(found[1].Changes) != 1 {
		t.Fatalf("found %+v, want two changes at lb-b and one at lb-a", found)
	}
	if c := found[0].Changes[0]; c.Code != "ListenerNotFound" || c.Sequence != 7 {
		t.Errorf("the refused call is %+v", c)
	}
}

// TestOfNLB proves that the settings of a Network Load Balancer's listener are compared with what is stored.
func TestOfNLB(t *testing.T) {
	update := call("UpdateListenerAttribute", "ListenerId", "lsn-a", "IdleTimeout", "77", "ListenerDescription", "ours")
	update.Product = "Nlb"
	got := upgradecheck.Of(update, func(_ *journal.Entry, action string, params map[string]string) map[string]any {
		if action != "GetListenerAttribute" || params["ListenerId"] != "lsn-a" {
			t.Errorf("asked %s of %v", action, params)
		}
		return map[string]any{"IdleTimeout": 77.0, "ListenerDescription": "edited"}
	})
	if want := []upgradecheck.Difference{{Parameter: "ListenerDescription", Stored: "edited", Sent: "ours"}}; !slices.Equal(got.Differences, want) {
		t.Errorf("the differences are %v, want %v", got.Differences, want)
	}
}
