package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// clusterWeight is the weight of each node when any node takes the Service's traffic.
const clusterWeight = 100

// weights are the weights of the instances that take a Service's traffic. With the
// Local policy a node weighs as much as it has ready pods, none is left out.
func (b *loadBalancer) weights(service *corev1.Service, nodes []*corev1.Node) (map[string]int, error) {
	pods, err := b.podsByNode(service)
	if err != nil {
		return nil, err
	}
	weights := make(map[string]int)
	for _, node := range nodes {
		_, instance, ok := strings.Cut(node.Spec.ProviderID, ".")
		if _, excluded := node.Labels[corev1.LabelNodeExcludeBalancers]; !ok || excluded {
			continue
		}
		weight := clusterWeight
		if isLocal(service) {
			weight = pods[node.Name]
		}
		if weight > 0 {
			weights[instance] = weight
		}
	}
	return weights, nil
}

func isLocal(service *corev1.Service) bool {
	return service.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

// podsByNode counts the ready endpoints of a Service.
func (b *loadBalancer) podsByNode(service *corev1.Service) (map[string]int, error) {
	list, err := b.slices.EndpointSlices(service.Namespace).List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: service.Name}))
	if err != nil {
		return nil, err
	}
	pods := make(map[string]int)
	for _, slice := range list {
		for _, endpoint := range slice.Endpoints {
			if endpoint.NodeName != nil && endpoint.Conditions.Ready != nil && *endpoint.Conditions.Ready {
				pods[*endpoint.NodeName]++
			}
		}
	}
	return pods, nil
}

// weightWatch follows the pods of Services with the Local policy: Kubernetes'
// service controller looks at Services and nodes alone.
type weightWatch struct {
	balancer *loadBalancer
	services corelisters.ServiceLister
	nodes    corelisters.NodeLister
	queue    workqueue.TypedRateLimitingInterface[cache.ObjectName]
}

func newWeightWatch(shared informers.SharedInformerFactory, balancer *loadBalancer) (*weightWatch, error) {
	w := &weightWatch{
		balancer: balancer,
		services: shared.Core().V1().Services().Lister(),
		nodes:    shared.Core().V1().Nodes().Lister(),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](100*time.Millisecond, 10*time.Second)),
	}
	_, err := shared.Discovery().V1().EndpointSlices().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    w.enqueue,
		UpdateFunc: func(_, slice any) { w.enqueue(slice) },
		DeleteFunc: w.enqueue,
	})
	return w, err
}

func (w *weightWatch) enqueue(object any) {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	if slice, ok := object.(*discoveryv1.EndpointSlice); ok {
		w.queue.Add(cache.NewObjectName(slice.Namespace, slice.Labels[discoveryv1.LabelServiceName]))
	}
}

// run works until the context ends.
func (w *weightWatch) run(ctx context.Context) { work(ctx, w.queue, w.update) }

// update sets the weights again. A Service without an address is one whose load
// balancer is being made, with the pods as they were: it comes back.
func (w *weightWatch) update(ctx context.Context, name cache.ObjectName) error {
	service, err := w.services.Services(name.Namespace).Get(name.Name)
	if errors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if service.Spec.Type != corev1.ServiceTypeLoadBalancer || !isLocal(service) || service.DeletionTimestamp != nil {
		return nil
	}
	if len(service.Status.LoadBalancer.Ingress) == 0 {
		return fmt.Errorf("service %s has no address yet", name)
	}
	nodes, err := w.nodes.List(labels.Everything())
	if err != nil {
		return err
	}
	return w.balancer.UpdateLoadBalancer(ctx, "", service, nodes)
}
