// Command driver is the reference controller of the end-to-end tests: Kubernetes'
// own service controller over an implementation of its LoadBalancer that makes
// the calls of a cloud controller manager (CCM) for create, update, backends and
// delete.
//
// A controller of its own does the same for Services of Network Load Balancers.
//
// It is a test driver and nothing to run a cluster with: it knows TCP and UDP
// listeners, ECS backends, traffic policies and the reuse of load balancers by
// id, and of the CCM's annotations only those two that reuse needs, and the zones.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/cloud-provider/controllers/service"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/metrics/prometheus/controllers"
)

// workers is the number of Services reconciled at once, as many as a CCM's.
const workers = 3

type options struct {
	kubeconfig, endpoint, region, clusterID, vpcID string
}

func main() {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "how to reach the cluster")
	flag.StringVar(&o.endpoint, "endpoint", "127.0.0.1:9600", "host:port of the cloud's API, by HTTP")
	flag.StringVar(&o.region, "region", "cn-hangzhou", "region of the load balancers")
	flag.StringVar(&o.clusterID, "cluster-id", "e2e", "what the cluster is called in the cloud")
	flag.StringVar(&o.vpcID, "vpc-id", "", "VPC of Network Load Balancers")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 100, 200
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	api, err := newSLB(o, os.Getenv("ACCESS_KEY_ID"), os.Getenv("ACCESS_KEY_SECRET"))
	if err != nil {
		return err
	}
	return reconcile(ctx, client, api, o)
}

// reconcile runs the controllers until the context ends.
func reconcile(ctx context.Context, client kubernetes.Interface, api *slb.Client, o options) error {
	shared := informers.NewSharedInformerFactory(client, 10*time.Minute)
	balancer := &loadBalancer{slb: api, clusterID: o.clusterID, vpcID: o.vpcID, slices: shared.Discovery().V1().EndpointSlices().Lister()}
	controller, err := service.New(cloud{balancer}, client, shared.Core().V1().Services(), shared.Core().V1().Nodes(),
		o.clusterID, featuregate.NewFeatureGate())
	if err != nil {
		return err
	}
	watch, err := newWeightWatch(shared, balancer)
	if err != nil {
		return err
	}
	networks, err := newNLBController(ctx, client, shared, balancer)
	if err != nil {
		return err
	}
	shared.Start(ctx.Done())
	shared.WaitForCacheSync(ctx.Done())
	go watch.run(ctx)
	for range workers {
		go networks.run(ctx)
	}
	controller.Run(ctx, workers, controllers.NewControllerManagerMetrics("driver"))
	return nil
}
