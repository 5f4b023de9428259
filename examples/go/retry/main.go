// Command retry makes a load balancer, and tries again when no answer comes. Without
// -token it does so as many clients do, and gets two where an answer was lost.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"
)

func main() {
	token := flag.String("token", "", "ClientToken of the load balancer")
	flag.Parse()
	id, err := create(*token)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("made", id)
}

// create asks as often as it takes, at most three times.
func create(token string) (id string, err error) {
	client, err := slb.NewClientWithAccessKey(os.Getenv("ALIBABA_CLOUD_REGION_ID"), os.Getenv("ALIBABA_CLOUD_ACCESS_KEY_ID"), os.Getenv("ALIBABA_CLOUD_ACCESS_KEY_SECRET"))
	if err != nil {
		return "", err
	}
	// An SDK needs these two lines to call the emulator.
	client.Domain = os.Getenv("SLB_ENDPOINT")
	client.GetConfig().WithScheme("HTTP").WithAutoRetry(false)

	request := slb.CreateCreateLoadBalancerRequest()
	request.LoadBalancerName, request.AddressType, request.InstanceChargeType = "web", "internet", "PayByCLCU"
	request.ClientToken = token
	for range 3 {
		response, failed := client.CreateLoadBalancer(request)
		if failed == nil {
			return response.LoadBalancerId, nil
		}
		err = failed
		fmt.Println("no answer: once more")
	}
	return "", err
}
