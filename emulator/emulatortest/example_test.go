package emulatortest_test

import (
	"testing"

	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"

	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// The cloud makes the load balancer and its answer gets lost: a client that asks
// again with the same ClientToken gets that one, and no second.
func TestLostReply(t *testing.T) {
	server := emulatortest.Start(t)
	server.World(t, "account.balance", "100")
	server.Fault(t, "{name: lost, match: {action: CreateLoadBalancer}, when: {times: 1}, effect: {afterCommit: reset}}")

	client, err := slb.NewClientWithAccessKey("cn-hangzhou", emulatortest.AccessKeyID, emulatortest.AccessKeySecret)
	if err != nil {
		t.Fatal(err)
	}
	client.Domain = server.Host()
	client.GetConfig().WithScheme("HTTP").WithAutoRetry(false)
	request := slb.CreateCreateLoadBalancerRequest()
	request.InstanceChargeType, request.ClientToken = "PayByCLCU", "service-uid"
	for _, lost := range []bool{true, false} {
		if _, err := client.CreateLoadBalancer(request); (err != nil) != lost {
			t.Errorf("CreateLoadBalancer = %v, want it lost: %v", err, lost)
		}
	}
	if all, err := client.DescribeLoadBalancers(slb.CreateDescribeLoadBalancersRequest()); err != nil || all.TotalCount != 1 {
		t.Errorf("there are %d load balancers (%v), want 1", all.TotalCount, err)
	}
	if calls := server.Calls(t, "action=Create*", "code=OK"); len(calls) != 2 {
		t.Errorf("%d calls made a load balancer, want the lost one and its repetition", len(calls))
	}
}
