package controller

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// settle is the time for which pods and nodes may go on to change before Services follow them.
const settle = 100 * time.Millisecond

// Watch makes the controller follow what informers see.
func (c *Controller) Watch(shared informers.SharedInformerFactory) error {
	for _, of := range []struct {
		informer cache.SharedIndexInformer
		handler  cache.ResourceEventHandler
	}{
		{shared.Core().V1().Services().Informer(), cache.ResourceEventHandlerFuncs{
			AddFunc: func(service any) { c.enqueue(service.(*corev1.Service)) },
			UpdateFunc: func(before, after any) {
				if after := after.(*corev1.Service); changed(before.(*corev1.Service), after) {
					c.enqueue(after)
				}
			},
		}},
		{shared.Core().V1().Nodes().Informer(), cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { c.enqueueAll() },
			DeleteFunc: func(any) { c.enqueueAll() },
			UpdateFunc: func(before, after any) {
				was, is := before.(*corev1.Node), after.(*corev1.Node)
				if was.Spec.Unschedulable != is.Spec.Unschedulable || was.Spec.ProviderID != is.Spec.ProviderID || !equality.Semantic.DeepEqual(was.Labels, is.Labels) {
					c.enqueueAll()
				}
			},
		}},
		{shared.Discovery().V1().EndpointSlices().Informer(), cache.ResourceEventHandlerFuncs{
			AddFunc:    c.enqueueOf,
			UpdateFunc: func(_, slice any) { c.enqueueOf(slice) },
			DeleteFunc: c.enqueueOf,
		}},
	} {
		if _, err := of.informer.AddEventHandler(of.handler); err != nil {
			return err
		}
	}
	return nil
}

func (c *Controller) enqueue(service *corev1.Service) {
	c.queue.Add(cache.NewObjectName(service.Namespace, service.Name))
}

func (c *Controller) enqueueAll() {
	services, err := c.Services.List(labels.Everything())
	if err != nil {
		return // the cache has no other error than that it is not there yet
	}
	for _, service := range services {
		if Wants(c.Product, service) {
			c.queue.AddAfter(cache.NewObjectName(service.Namespace, service.Name), settle)
		}
	}
}

// enqueueOf looks at the Service of an EndpointSlice.
func (c *Controller) enqueueOf(object any) {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	if slice, ok := object.(*discoveryv1.EndpointSlice); ok {
		c.queue.AddAfter(cache.NewObjectName(slice.Namespace, slice.Labels[discoveryv1.LabelServiceName]), settle)
	}
}
