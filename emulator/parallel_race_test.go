package emulator_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// TestControllersInParallel proves that clients which work on three load balancers at
// once, and on ten listeners of each, all get what they ask for, as a CCM's workers do.
func TestControllersInParallel(t *testing.T) {
	s := emulatortest.Start(t)
	var workers sync.WaitGroup
	var ids []string
	for service := range 3 {
		id := must(t, s.Client(), "CreateLoadBalancer", map[string]string{
			"AddressType": "internet", "InstanceChargeType": "PayByCLCU", "ClientToken": fmt.Sprint("token-", service),
		}).Text("LoadBalancerId")
		ids = append(ids, id)
		for n := range 10 {
			client := s.Client()
			workers.Go(func() {
				if err := forward(client, id, fmt.Sprint(80+n)); err != nil {
					t.Errorf("port %d: %v", 80+n, err)
				}
			})
		}
	}
	workers.Wait()
	for _, id := range ids {
		answer := must(t, s.Client(), "DescribeLoadBalancerListeners", map[string]string{"LoadBalancerId.1": id, "MaxResults": "100"})
		if listeners, _ := answer.Body["Listeners"].([]any); len(listeners) != 10 {
			t.Errorf("%s has %d listeners, want 10", id, len(listeners))
		}
	}
}

// forward makes a group with a server and a running listener that forwards to it.
func forward(c *emulatortest.Client, id, port string) error {
	group, err := succeed(c, "CreateVServerGroup", map[string]string{"LoadBalancerId": id, "VServerGroupName": "port-" + port})
	if err != nil {
		return err
	}
	for _, call := range []struct {
		action string
		params map[string]string
	}{
		{"AddVServerGroupBackendServers", map[string]string{"VServerGroupId": group.Text("VServerGroupId"),
			"BackendServers": `[{"ServerId":"i-bp1clbemu0000000001","Port":` + port + `,"Weight":100}]`}},
		{"CreateLoadBalancerTCPListener", map[string]string{"LoadBalancerId": id, "ListenerPort": port, "Bandwidth": "-1",
			"VServerGroupId": group.Text("VServerGroupId")}},
		{"StartLoadBalancerListener", map[string]string{"LoadBalancerId": id, "ListenerPort": port, "ListenerProtocol": "tcp"}},
	} {
		if _, err := succeed(c, call.action, call.params); err != nil {
			return err
		}
	}
	return nil
}

func must(t *testing.T, c *emulatortest.Client, action string, params map[string]string) emulatortest.Reply {
	t.Helper()
	reply, err := succeed(c, action, params)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

func succeed(c *emulatortest.Client, action string, params map[string]string) (emulatortest.Reply, error) {
	reply, err := c.Call(emulatortest.Slb, action, params)
	if err == nil && reply.Status != 200 {
		err = fmt.Errorf("%s = %v, want success", action, reply)
	}
	return reply, err
}
