// Package testcontainers_test starts clbemu in a container, where there is Docker, and
// calls it as a client does. The image is made by `make image-archive` and
// `docker load --input bin/clbemu-image.tar`.
package testcontainers_test

import (
	"testing"

	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

const (
	image = "clbemu:latest"
	port  = "9600/tcp"
)

// start starts an emulator that ends with the test, and returns its host and port.
func start(t *testing.T) string {
	t.Helper()
	testcontainers.SkipIfProviderIsNotHealthy(t)
	emulator, err := testcontainers.Run(t.Context(), image,
		testcontainers.WithEnv(map[string]string{"CLBEMU_ENGINE": "memory"}),
		testcontainers.WithExposedPorts(port),
		testcontainers.WithWaitStrategy(wait.ForHTTP("/latest/meta-data/instance-id").WithPort(port)),
	)
	testcontainers.CleanupContainer(t, emulator)
	if err != nil {
		t.Fatal(err)
	}
	endpoint, err := emulator.PortEndpoint(t.Context(), port, "")
	if err != nil {
		t.Fatal(err)
	}
	return endpoint
}

// TestLoadBalancer proves that a load balancer that was made is there.
func TestLoadBalancer(t *testing.T) {
	client, err := slb.NewClientWithAccessKey("cn-hangzhou", "testid", "testsecret")
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
