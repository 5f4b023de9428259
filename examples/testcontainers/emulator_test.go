// Package testcontainers_test starts clbemu in a container, where there is Docker, and
// calls it as a client does.
package testcontainers_test

import (
	"strings"
	"testing"

	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"
	"github.com/testcontainers/testcontainers-go"

	"github.com/clbemu/clbemu/deploy/clbemucontainer"
)

const image = "ghcr.io/clbemu/clbemu:0.1.0"

// start starts an emulator that ends with the test, and returns its host and port.
func start(t *testing.T) string {
	t.Helper()
	testcontainers.SkipIfProviderIsNotHealthy(t)
	emulator, err := clbemucontainer.Run(t.Context(), image)
	testcontainers.CleanupContainer(t, emulator)
	if err != nil {
		t.Fatal(err)
	}
	url, err := emulator.APIURL(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(url, "http://")
}

// TestLoadBalancer proves that a load balancer that was made is there.
func TestLoadBalancer(t *testing.T) {
	client, err := slb.NewClientWithAccessKey(clbemucontainer.Region, clbemucontainer.AccessKeyID, clbemucontainer.AccessKeySecret)
	if err != nil {
		t.Fatal(err)
	}
	client.Domain = start(t)
	client.GetConfig().WithScheme("HTTP")
	request := slb.CreateCreateLoadBalancerRequest()
	request.LoadBalancerName, request.AddressType, request.InstanceChargeType = "web", "internet", "PayByCLCU"
	made, err := client.CreateLoadBalancer(request)
	if err != nil {
		t.Fatal(err)
	}
	all, err := client.DescribeLoadBalancers(slb.CreateDescribeLoadBalancersRequest())
	if err != nil || all.TotalCount != 1 || all.LoadBalancers.LoadBalancer[0].LoadBalancerId != made.LoadBalancerId {
		t.Errorf("there are %+v (%v), want %s alone", all, err, made.LoadBalancerId)
	}
}
