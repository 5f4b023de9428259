// Package controller brings Services and their load balancers together: it follows
// Services, nodes and pods, holds Services by a finalizer, and reports in Events and in the
// status. It must not know how a load balancer is made.
package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// How long a Service waits after a failure; each further one doubles it.
const (
	firstRetry = 500 * time.Millisecond
	lastRetry  = 20 * time.Second
)

// Note is something to report about a Service in an Event.
type Note struct{ Type, Reason, Text string }

// Outcome is the state of a Service's load balancer after a try, also after an error.
type Outcome struct {
	ID      string
	Ingress corev1.LoadBalancerIngress
	Notes   []Note
	// Changed reports whether there was anything to do.
	Changed bool
}

// Product makes load balancers of one kind.
type Product interface {
	// Serves reports whether a Service of type LoadBalancer gets one of them.
	Serves(*corev1.Service) bool
	// Ensure makes the load balancer of a Service what the Service says. Known is a
	// Service for which it succeeded, and that did not change since.
	Ensure(ctx context.Context, service *corev1.Service, known bool) (Outcome, error)
	// Remove ends what the Service has in the cloud.
	Remove(context.Context, *corev1.Service) (Outcome, error)
}

// Controller looks after the Services of one product.
type Controller struct {
	Product   Product
	Finalizer string
	Client    kubernetes.Interface
	Services  corelisters.ServiceLister
	Events    record.EventRecorder

	queue workqueue.TypedRateLimitingInterface[cache.ObjectName]
	mu    sync.Mutex
	seen  map[types.UID]memory
}

// memory holds what the controller learnt about a Service from its last tries.
type memory struct {
	done    string // what it said when the last try succeeded
	failing bool
}

// New returns a controller that does nothing yet.
func New(product Product, finalizer string, client kubernetes.Interface, services corelisters.ServiceLister, events record.EventRecorder) *Controller {
	return &Controller{Product: product, Finalizer: finalizer, Client: client, Services: services, Events: events,
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](firstRetry, lastRetry)),
		seen: make(map[types.UID]memory)}
}

// Run works until the context ends. What fails comes again later.
func (c *Controller) Run(ctx context.Context) {
	context.AfterFunc(ctx, c.queue.ShutDown)
	for {
		name, quit := c.queue.Get()
		if quit {
			return
		}
		if err := c.reconcile(ctx, name); err != nil {
			klog.Errorf("%s: %v", name, err)
			c.queue.AddRateLimited(name)
		} else {
			c.queue.Forget(name)
		}
		c.queue.Done(name)
	}
}

// Wants reports whether a Service is to have a load balancer of a product.
func Wants(product Product, service *corev1.Service) bool {
	return service.Spec.Type == corev1.ServiceTypeLoadBalancer && service.DeletionTimestamp == nil && product.Serves(service)
}

// reconcile brings a Service and its load balancer together.
func (c *Controller) reconcile(ctx context.Context, name cache.ObjectName) error {
	cached, err := c.Services.Services(name.Namespace).Get(name.Name)
	if errors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	service := cached.DeepCopy()
	if !Wants(c.Product, service) {
		return c.clean(ctx, service)
	}
	if err := c.hold(ctx, service); err != nil {
		return err
	}
	says, before := fingerprint(service), c.recall(service)
	done, err := c.Product.Ensure(ctx, service, before.done == says)
	c.report(service, done.Notes)
	if err != nil {
		c.remember(service, memory{before.done, true})
		c.Events.Eventf(service, corev1.EventTypeWarning, "SyncLoadBalancerFailed", "Error syncing load balancer [%s]: %v", done.ID, err)
		return err
	}
	if err := c.publish(ctx, service, done.Ingress); err != nil {
		return err
	}
	if done.Changed || before.failing || before.done != says {
		c.Events.Eventf(service, corev1.EventTypeNormal, "EnsuredLoadBalancer", "Ensured load balancer [%s]", done.ID)
	}
	c.remember(service, memory{done: says})
	return nil
}

// clean ends what a Service has that is deleted, or of another type or class now.
func (c *Controller) clean(ctx context.Context, service *corev1.Service) error {
	if !slices.Contains(service.Finalizers, c.Finalizer) {
		return nil
	}
	done, err := c.Product.Remove(ctx, service)
	c.report(service, done.Notes)
	if err != nil {
		c.Events.Eventf(service, corev1.EventTypeWarning, "CleanLoadBalancerFailed", "Error deleting load balancer [%s]: %v", done.ID, err)
		return err
	}
	c.Events.Eventf(service, corev1.EventTypeNormal, "CleanLoadBalancer", "Clean load balancer [%s]", done.ID)
	c.mu.Lock()
	delete(c.seen, service.UID)
	c.mu.Unlock()
	if service.Spec.Type != corev1.ServiceTypeLoadBalancer && len(service.Status.LoadBalancer.Ingress) > 0 {
		service.Status.LoadBalancer = corev1.LoadBalancerStatus{}
		updated, err := c.Client.CoreV1().Services(service.Namespace).UpdateStatus(ctx, service, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		service = updated
	}
	return c.release(ctx, service)
}

// fingerprint returns a Service's settings in a form that can be compared.
func fingerprint(service *corev1.Service) string {
	text, err := json.Marshal(struct {
		Spec        corev1.ServiceSpec
		Annotations map[string]string
	}{service.Spec, service.Annotations})
	if err != nil {
		panic(fmt.Sprintf("marshal a Service: %v", err)) // it came as JSON
	}
	return string(text)
}

func (c *Controller) recall(service *corev1.Service) memory {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen[service.UID]
}

func (c *Controller) remember(service *corev1.Service, is memory) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[service.UID] = is
}

func (c *Controller) report(service *corev1.Service, notes []Note) {
	for _, note := range notes {
		c.Events.Event(service, note.Type, note.Reason, note.Text)
	}
}

// hold keeps a Service until its load balancer is deleted.
func (c *Controller) hold(ctx context.Context, service *corev1.Service) error {
	if slices.Contains(service.Finalizers, c.Finalizer) {
		return nil
	}
	service.Finalizers = append(service.Finalizers, c.Finalizer)
	held, err := c.Client.CoreV1().Services(service.Namespace).Update(ctx, service, metav1.UpdateOptions{})
	if err == nil {
		*service = *held
	}
	return err
}

func (c *Controller) release(ctx context.Context, service *corev1.Service) error {
	service.Finalizers = slices.DeleteFunc(service.Finalizers, func(name string) bool { return name == c.Finalizer })
	_, err := c.Client.CoreV1().Services(service.Namespace).Update(ctx, service, metav1.UpdateOptions{})
	if errors.IsNotFound(err) {
		return nil
	}
	return err
}

// publish gives a Service the address of its load balancer.
func (c *Controller) publish(ctx context.Context, service *corev1.Service, is corev1.LoadBalancerIngress) error {
	wanted := corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{is}}
	if has := service.Status.LoadBalancer.Ingress; len(has) == 1 && has[0].IP == is.IP && has[0].Hostname == is.Hostname {
		return nil
	}
	service.Status.LoadBalancer = wanted
	_, err := c.Client.CoreV1().Services(service.Namespace).UpdateStatus(ctx, service, metav1.UpdateOptions{})
	return err
}

// changed reports whether a Service says something else than before, and is to be looked
// at. Its status is the controller's own word.
func changed(before, after *corev1.Service) bool {
	return !equality.Semantic.DeepEqual(before.Spec, after.Spec) || !equality.Semantic.DeepEqual(before.Annotations, after.Annotations) ||
		!equality.Semantic.DeepEqual(before.Labels, after.Labels) || before.DeletionTimestamp != after.DeletionTimestamp
}
