package example

import (
	"fmt"

	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"
)

// Ensure makes the load balancer of a service unless there is one. The token makes a
// call that is repeated, because its answer was lost, come to the same load balancer.
func Ensure(client *slb.Client, service string) (id string, err error) {
	find := slb.CreateDescribeLoadBalancersRequest()
	find.LoadBalancerName = service
	found, err := client.DescribeLoadBalancers(find)
	if err != nil {
		return "", fmt.Errorf("find the load balancer of %s: %w", service, err)
	}
	if found.TotalCount > 0 {
		return found.LoadBalancers.LoadBalancer[0].LoadBalancerId, nil
	}
	create := slb.CreateCreateLoadBalancerRequest()
	create.LoadBalancerName, create.ClientToken = service, service
	create.AddressType, create.InstanceChargeType = "internet", "PayByCLCU"
	made, err := client.CreateLoadBalancer(create)
	if err != nil {
		return "", fmt.Errorf("make the load balancer of %s: %w", service, err)
	}
	return made.LoadBalancerId, nil
}
