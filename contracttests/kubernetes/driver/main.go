// Command driver is the reference controller of the end-to-end tests, and an example for
// authors of controllers: it follows Services and nodes, and makes the load balancers and
// routes that a Cloud Controller Manager (CCM) makes, by the same calls. It takes a CCM's
// flags and file, and reads the address of the cloud in SLB_ENDPOINT, so that it can stand
// in for a CCM.
//
// It is nothing to run a cluster with. Each concern is a package: openapi calls the cloud,
// annotation reads Services, backends finds servers, clb and nlb make load balancers, routes
// keeps routes, controller decides when, and dryrun reports what would change.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/record"

	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/backends"
	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/clb"
	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/controller"
	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/dryrun"
	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/nlb"
	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/openapi"
	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/routes"
)

// workers is the number of Services reconciled at once, as many as a CCM's.
const workers = 3

// What holds a Service until its load balancer is deleted.
const (
	clbFinalizer = "service.k8s.alibaba/resources"
	nlbFinalizer = "service.k8s.alibaba/nlb"
)

// ignored are flags of a CCM that mean nothing here.
var ignored = []string{"allocate-node-cidrs", "cluster-cidr", "configure-cloud-routes", "health-probe-bind-addr", "leader-elect",
	"metrics-bind-addr", "network", "v"}

type options struct {
	kubeconfig, cloudConfig, controllers string
	dryRun                               bool
}

func main() {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "how to reach the cluster")
	flag.StringVar(&o.cloudConfig, "cloud-config", "", "the file of a CCM that says where the cluster is")
	flag.StringVar(&o.controllers, "controllers", "service,nlb", "which of service, nlb and route to run")
	flag.BoolVar(&o.dryRun, "dry-run", false, "report in an Event what would change, and end")
	for _, name := range ignored {
		flag.BoolFunc(name, "taken and ignored", func(string) error { return nil })
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(1)
	}
}

// driver holds what its controllers share.
type driver struct {
	*config
	client    kubernetes.Interface
	cloud     *openapi.Client
	informers informers.SharedInformerFactory
	backends  *backends.Finder
}

func run(ctx context.Context, o options) error {
	d, err := newDriver(o)
	if err != nil {
		return err
	}
	product := &clb.Product{Cloud: d.cloud, Backends: d.backends, ClusterID: d.ClusterID, VPC: d.VPCID, VSwitch: d.vSwitch()}
	if o.dryRun {
		services := d.informers.Core().V1().Services().Lister()
		d.start(ctx)
		all, err := services.List(labels.Everything())
		if err != nil {
			return err
		}
		return dryrun.Run(ctx, d.client, product, all, clbFinalizer)
	}
	broadcaster := record.NewBroadcaster()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: d.client.CoreV1().Events("")})
	context.AfterFunc(ctx, broadcaster.Shutdown)
	var runs []func(context.Context)
	names := strings.Split(o.controllers, ",")
	for _, kind := range []struct {
		name, component, finalizer string
		product                    controller.Product
	}{
		{"service", "service-controller", clbFinalizer, product},
		{"nlb", "nlb-controller", nlbFinalizer, &nlb.Product{Cloud: d.cloud, Backends: d.backends, ClusterID: d.ClusterID, VPC: d.VPCID}},
	} {
		if !slices.Contains(names, kind.name) {
			continue
		}
		c := controller.New(kind.product, kind.finalizer, d.client, d.informers.Core().V1().Services().Lister(),
			broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: kind.component}))
		if err := c.Watch(d.informers); err != nil {
			return err
		}
		runs = append(runs, slices.Repeat([]func(context.Context){c.Run}, workers)...)
	}
	if slices.Contains(names, "route") {
		keeper := &routes.Keeper{Cloud: d.cloud, Table: d.RouteTableIDs, Nodes: d.backends.Nodes, Changed: make(chan struct{}, 1)}
		if _, err := d.informers.Core().V1().Nodes().Informer().AddEventHandler(keeper.Handler()); err != nil {
			return err
		}
		runs = append(runs, keeper.Run)
	}
	d.start(ctx)
	for _, run := range runs {
		go run(ctx)
	}
	<-ctx.Done()
	return nil
}

func newDriver(o options) (*driver, error) {
	kubeconfig, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return nil, err
	}
	kubeconfig.QPS, kubeconfig.Burst = 100, 200
	client, err := kubernetes.NewForConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	c, err := readConfig(o.cloudConfig)
	if err != nil {
		return nil, err
	}
	cloud, err := openapi.New(os.Getenv("SLB_ENDPOINT"), c.Region, c.AccessKeyID, c.AccessKeySecret)
	if err != nil {
		return nil, err
	}
	shared := informers.NewSharedInformerFactory(client, 10*time.Minute)
	return &driver{config: c, client: client, cloud: cloud, informers: shared, backends: &backends.Finder{
		Cloud: cloud, VPC: c.VPCID, Nodes: shared.Core().V1().Nodes().Lister(), Slices: shared.Discovery().V1().EndpointSlices().Lister()}}, nil
}

// start fills the caches. What is watched must be known before.
func (d *driver) start(ctx context.Context) {
	d.informers.Start(ctx.Done())
	d.informers.WaitForCacheSync(ctx.Done())
}
