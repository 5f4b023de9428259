// Command reconcile makes a Service's load balancer what the flags say: one load balancer
// with its server group, backends and listeners. It ends once all is as it should be, and
// with status 1 when something failed: whoever runs it runs it again.
//
//	clbemu explore -- go run ./examples/go/reconcile
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"
)

func main() {
	c := &controller{}
	servers := flag.String("servers", "i-bp1clbemu0000000001,i-bp1clbemu0000000002", "instances behind the load balancer")
	ports := flag.String("ports", "80", "ports of the listeners")
	flag.StringVar(&c.name, "name", "web", "name of the Service")
	flag.BoolVar(&c.deleted, "delete", false, "delete the Service's load balancer")
	flag.Parse()
	c.servers = strings.Split(*servers, ",")
	for _, text := range strings.Split(*ports, ",") {
		port, err := strconv.Atoi(text)
		if err != nil {
			exit(fmt.Errorf("-ports: %w", err))
		}
		c.ports = append(c.ports, port)
	}
	if err := c.connect(); err != nil {
		exit(err)
	}
	if err := c.reconcile(); err != nil {
		exit(err)
	}
}

func exit(err error) {
	fmt.Fprintln(os.Stderr, "reconcile:", err)
	os.Exit(1)
}

// connect makes the SDK's client, with the variables that clbemu env prints.
func (c *controller) connect() (err error) {
	c.slb, err = slb.NewClientWithAccessKey(os.Getenv("ALIBABA_CLOUD_REGION_ID"), os.Getenv("ALIBABA_CLOUD_ACCESS_KEY_ID"), os.Getenv("ALIBABA_CLOUD_ACCESS_KEY_SECRET"))
	if err != nil {
		return err
	}
	c.slb.Domain = os.Getenv("SLB_ENDPOINT")
	c.slb.GetConfig().WithScheme("HTTP").WithAutoRetry(false).WithTimeout(timeout)
	c.slb.SetConnectTimeout(timeout)
	c.slb.SetReadTimeout(timeout)
	return nil
}
