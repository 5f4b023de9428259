package emulator_test

import (
	"net/netip"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// TestAutoENI proves that the network interface of a pod's address is made when
// it is looked up, once, and can be a backend server, and that no other address
// gets one.
func TestAutoENI(t *testing.T) {
	s := emulatortest.Start(t, func(cfg *emulator.Config) {
		cfg.AutoENI = []netip.Prefix{netip.MustParsePrefix("10.244.0.0/16"), netip.MustParsePrefix("192.168.0.0/24")}
	})
	lookUp := func(vpcID, ip string) (id, instance string) {
		t.Helper()
		reply, err := s.Client().Call(emulatortest.Ecs, "DescribeNetworkInterfaces", map[string]string{
			"VpcId": vpcID, "PrivateIpAddress.1": ip, "Status": "InUse",
		})
		if err != nil || reply.Status != 200 {
			t.Fatalf("DescribeNetworkInterfaces of %s = %v, %v", ip, reply, err)
		}
		found := reply.Body["NetworkInterfaceSets"].(map[string]any)["NetworkInterfaceSet"].([]any)
		if len(found) == 0 {
			return "", ""
		}
		n := found[0].(map[string]any)
		return n["NetworkInterfaceId"].(string), n["InstanceId"].(string)
	}
	const kubernetes = "vpc-bp1clbemu000000000001"
	pod, node := lookUp(kubernetes, "10.244.1.7")
	if pod == "" || node == "" {
		t.Fatalf("10.244.1.7 belongs to %q on %q, want an interface on an instance", pod, node)
	}
	if again, _ := lookUp(kubernetes, "10.244.1.7"); again != pod {
		t.Errorf("10.244.1.7 belongs to %q, and then to %q", pod, again)
	}
	if own, _ := lookUp(kubernetes, "192.168.0.11"); own != "eni-bp1clbemu000000001" {
		t.Errorf("192.168.0.11 belongs to %q, want node-1's", own)
	}
	call := func(action string, params map[string]string) emulatortest.Reply {
		t.Helper()
		reply, err := s.Client().Call(emulatortest.Slb, action, params)
		if err != nil || reply.Status != 200 {
			t.Fatalf("%s = %v, %v", action, reply, err)
		}
		return reply
	}
	lb := call("CreateLoadBalancer", map[string]string{"AddressType": "intranet", "VpcId": kubernetes,
		"VSwitchId": "vsw-bp1clbemu000000000001", "Address": "192.168.0.77", "InstanceChargeType": "PayByCLCU"}).Text("LoadBalancerId")
	for _, c := range []struct{ vpcID, ip string }{
		{kubernetes, "10.245.0.1"}, {kubernetes, "pod"}, {"", "10.244.1.8"}, {"vpc-none", "10.244.1.8"},
		{kubernetes, "192.168.0.0"}, {kubernetes, "192.168.0.255"}, {kubernetes, "10.244.32.0"}, // the cloud's own
		{kubernetes, "192.168.0.77"}, // the load balancer's
	} {
		if id, _ := lookUp(c.vpcID, c.ip); id != "" {
			t.Errorf("%s in %q belongs to %s, want to none", c.ip, c.vpcID, id)
		}
	}

	call("CreateVServerGroup", map[string]string{"LoadBalancerId": lb,
		"BackendServers": `[{"ServerId":"` + pod + `","ServerIp":"10.244.1.7","Port":"80","Weight":"100","Type":"eni"}]`})
}
