package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
)

// What tells a Service of a Network Load Balancer, and what keeps it until that is
// deleted.
const (
	nlbClass     = "alibabacloud.com/nlb"
	nlbFinalizer = "service.k8s.alibaba/nlb"
)

// nlbController looks after the Services of Network Load Balancers, which Kubernetes'
// own service controller leaves alone: their class is not its own.
type nlbController struct {
	balancer   *networkLoadBalancer
	kubernetes kubernetes.Interface
	services   corelisters.ServiceLister
	nodes      corelisters.NodeLister
	events     record.EventRecorder
	queue      workqueue.TypedRateLimitingInterface[cache.ObjectName]
}

func newNLBController(ctx context.Context, client kubernetes.Interface, shared informers.SharedInformerFactory, balancer *loadBalancer) (*nlbController, error) {
	broadcaster := record.NewBroadcaster()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	context.AfterFunc(ctx, broadcaster.Shutdown)
	c := &nlbController{
		balancer:   &networkLoadBalancer{balancer},
		kubernetes: client,
		services:   shared.Core().V1().Services().Lister(),
		nodes:      shared.Core().V1().Nodes().Lister(),
		events:     broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "nlb-controller"}),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](100*time.Millisecond, 10*time.Second)),
	}
	_, err := shared.Core().V1().Services().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    c.enqueue,
		UpdateFunc: func(_, service any) { c.enqueue(service) },
	})
	if err == nil {
		_, err = shared.Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { c.enqueueAll() },
			DeleteFunc: func(any) { c.enqueueAll() },
		})
	}
	return c, err
}

func (c *nlbController) enqueue(object any) {
	service, ok := object.(*corev1.Service)
	if ok && service.Spec.LoadBalancerClass != nil && *service.Spec.LoadBalancerClass == nlbClass {
		c.queue.Add(cache.NewObjectName(service.Namespace, service.Name))
	}
}

func (c *nlbController) enqueueAll() {
	services, err := c.services.List(labels.Everything())
	if err != nil {
		return // the cache has no other error than that it is not there yet
	}
	for _, service := range services {
		c.enqueue(service)
	}
}

// run works until the context ends.
func (c *nlbController) run(ctx context.Context) { work(ctx, c.queue, c.reconcile) }

// work does what is in a queue until the context ends. What fails comes again later.
func work(ctx context.Context, queue workqueue.TypedRateLimitingInterface[cache.ObjectName], do func(context.Context, cache.ObjectName) error) {
	context.AfterFunc(ctx, queue.ShutDown)
	for {
		name, quit := queue.Get()
		if quit {
			return
		}
		if err := do(ctx, name); err != nil {
			queue.AddRateLimited(name)
		} else {
			queue.Forget(name)
		}
		queue.Done(name)
	}
}

// reconcile brings a Service and its load balancer together, and reports what went
// wrong in an Event.
func (c *nlbController) reconcile(ctx context.Context, name cache.ObjectName) error {
	cached, err := c.services.Services(name.Namespace).Get(name.Name)
	if errors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	service := cached.DeepCopy()
	if service.DeletionTimestamp != nil {
		if err = c.balancer.remove(ctx, service); err == nil {
			return c.release(ctx, service)
		}
		c.events.Eventf(service, corev1.EventTypeWarning, "CleanLoadBalancerFailed", "Error deleting load balancer: %v", err)
		return err
	}
	if err := c.hold(ctx, service); err != nil {
		return err
	}
	nodes, err := c.nodes.List(labels.Everything())
	if err != nil {
		return err
	}
	hostname, err := c.balancer.ensure(ctx, service, nodes)
	if err != nil {
		c.events.Eventf(service, corev1.EventTypeWarning, "SyncLoadBalancerFailed", "Error syncing load balancer: %v", err)
		return err
	}
	return c.publish(ctx, service, hostname)
}

// hold keeps a Service until its load balancer is deleted.
func (c *nlbController) hold(ctx context.Context, service *corev1.Service) error {
	if slices.Contains(service.Finalizers, nlbFinalizer) {
		return nil
	}
	service.Finalizers = append(service.Finalizers, nlbFinalizer)
	held, err := c.kubernetes.CoreV1().Services(service.Namespace).Update(ctx, service, metav1.UpdateOptions{})
	if err == nil {
		*service = *held
	}
	return err
}

func (c *nlbController) release(ctx context.Context, service *corev1.Service) error {
	if !slices.Contains(service.Finalizers, nlbFinalizer) {
		return nil
	}
	service.Finalizers = slices.DeleteFunc(service.Finalizers, func(name string) bool { return name == nlbFinalizer })
	_, err := c.kubernetes.CoreV1().Services(service.Namespace).Update(ctx, service, metav1.UpdateOptions{})
	if errors.IsNotFound(err) {
		return nil
	}
	return err
}

// publish gives a Service the name of its load balancer.
func (c *nlbController) publish(ctx context.Context, service *corev1.Service, hostname string) error {
	if ingress := service.Status.LoadBalancer.Ingress; len(ingress) == 1 && ingress[0].Hostname == hostname {
		return nil
	}
	service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{Hostname: hostname}}
	_, err := c.kubernetes.CoreV1().Services(service.Namespace).UpdateStatus(ctx, service, metav1.UpdateOptions{})
	return err
}

// zoneMaps are the zones of the annotation, as parameters.
func zoneMaps(service *corev1.Service) (map[string]string, error) {
	params := make(map[string]string)
	for i, zone := range strings.Split(service.Annotations[annotationZoneMaps], ",") {
		parts := strings.Split(zone, ":")
		if len(parts) < 2 {
			return nil, fmt.Errorf("the annotation %s has %q, want zone:vSwitch", annotationZoneMaps, zone)
		}
		params[fmt.Sprintf("ZoneMappings.%d.ZoneId", i+1)] = parts[0]
		params[fmt.Sprintf("ZoneMappings.%d.VSwitchId", i+1)] = parts[1]
	}
	return params, nil
}
