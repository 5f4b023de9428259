package example_test

import (
	"testing"

	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"

	example "github.com/clbemu/clbemu/examples/go"

	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// client returns the cloud's own client, pointed at an emulator.
func client(t *testing.T, server *emulatortest.Server) *slb.Client {
	t.Helper()
	c, err := slb.NewClientWithAccessKey("cn-hangzhou", emulatortest.AccessKeyID, emulatortest.AccessKeySecret)
	if err != nil {
		t.Fatal(err)
	}
	c.Domain = server.Host()
	c.GetConfig().WithScheme("HTTP").WithAutoRetry(false)
	return c
}

// TestEnsure proves that a second time makes no second load balancer.
func TestEnsure(t *testing.T) {
	server := emulatortest.Start(t)
	c := client(t, server)
	first, err := example.Ensure(c, "web")
	if err != nil {
		t.Fatal(err)
	}
	if second, err := example.Ensure(c, "web"); err != nil || second != first {
		t.Errorf("Ensure again = %s, %v, want %s", second, err, first)
	}
}

// TestEnsureLost proves the same when the cloud makes it and the answer gets lost.
func TestEnsureLost(t *testing.T) {
	server := emulatortest.Start(t)
	server.Fault(t, "{name: lost, match: {action: CreateLoadBalancer}, when: {times: 1}, effect: {afterCommit: reset}}")
	c := client(t, server)
	if id, err := example.Ensure(c, "web"); err == nil {
		t.Errorf("Ensure = %s, want the answer lost", id)
	}
	id, err := example.Ensure(c, "web")
	if err != nil {
		t.Fatal(err)
	}
	if all, err := c.DescribeLoadBalancers(slb.CreateDescribeLoadBalancersRequest()); err != nil || all.TotalCount != 1 || all.LoadBalancers.LoadBalancer[0].LoadBalancerId != id {
		t.Errorf("there are %d load balancers (%v), want %s alone", all.TotalCount, err, id)
	}
}

// TestEnsureArrears proves that the controller reports an unpaid bill.
func TestEnsureArrears(t *testing.T) {
	server := emulatortest.Start(t)
	server.World(t, "account.arrears", "true")
	if id, err := example.Ensure(client(t, server), "web"); err == nil {
		t.Errorf("Ensure = %s, want a refusal", id)
	}
}
