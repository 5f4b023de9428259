// Command wrong makes a load balancer with a listener and two servers, and is wrong in
// three ways, which clbemu explore finds:
//
//	go build -o wrong ./examples/go/wrong
//	clbemu explore -- ./wrong
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/aliyun/alibaba-cloud-sdk-go/sdk/requests"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "wrong:", err)
		os.Exit(1)
	}
}

func run() error {
	client, err := slb.NewClientWithAccessKey(os.Getenv("ALIBABA_CLOUD_REGION_ID"), os.Getenv("ALIBABA_CLOUD_ACCESS_KEY_ID"), os.Getenv("ALIBABA_CLOUD_ACCESS_KEY_SECRET"))
	if err != nil {
		return err
	}
	client.Domain = os.Getenv("SLB_ENDPOINT")
	client.GetConfig().WithScheme("HTTP").WithAutoRetry(false)

	look := slb.CreateDescribeLoadBalancersRequest()
	look.LoadBalancerName = "web"
	found, err := client.DescribeLoadBalancers(look)
	if err != nil {
		return err
	}
	if found.TotalCount > 0 {
		return nil // wrong: an earlier run may have stopped half-way
	}
	create := slb.CreateCreateLoadBalancerRequest() // wrong: without a ClientToken
	create.LoadBalancerName, create.AddressType, create.InstanceChargeType = "web", "internet", "PayByCLCU"
	made, err := client.CreateLoadBalancer(create)
	if err != nil {
		return err
	}
	listen := slb.CreateCreateLoadBalancerTCPListenerRequest()
	listen.LoadBalancerId, listen.ListenerPort, listen.BackendServerPort, listen.Bandwidth = made.LoadBalancerId, requests.NewInteger(80), requests.NewInteger(8080), requests.NewInteger(-1)
	if _, err := client.CreateLoadBalancerTCPListener(listen); err != nil {
		return err
	}
	start := slb.CreateStartLoadBalancerListenerRequest()
	start.LoadBalancerId, start.ListenerPort = made.LoadBalancerId, requests.NewInteger(80)
	if _, err := client.StartLoadBalancerListener(start); err != nil {
		return err
	}
	servers, err := json.Marshal([]map[string]any{{"ServerId": "i-bp1clbemu0000000001", "Weight": 100}, {"ServerId": "i-bp1clbemu0000000002", "Weight": 100}})
	if err != nil {
		return err
	}
	add := slb.CreateAddBackendServersRequest()
	add.LoadBalancerId, add.BackendServers = made.LoadBalancerId, string(servers)
	if _, err := client.AddBackendServers(add); err != nil {
		fmt.Println("will be added next time:", err) // wrong: exits with status 0
	}
	return nil
}
