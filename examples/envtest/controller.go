// Package envtest is a controller for Services, written with controller-runtime. Its test is
// between the API server of envtest and clbemu.
package envtest

import (
	"context"
	"time"

	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const finalizer = "example.com/load-balancer"

// Reconciler gives each Service of type LoadBalancer a Classic Load Balancer of its own, and
// its address.
type Reconciler struct {
	client.Client
	SLB *slb.Client
}

// SetupWithManager lets a manager call Reconcile.
func (r *Reconciler) SetupWithManager(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).For(&corev1.Service{}).Complete(r)
}

// Reconcile makes the load balancer, or deletes it with the Service.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var service corev1.Service
	if err := r.Get(ctx, request.NamespacedName, &service); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if service.Spec.Type != corev1.ServiceTypeLoadBalancer {
		return ctrl.Result{}, nil
	}
	// The name says whose it is, also to a controller that missed the answer of the creation.
	name := "a" + string(service.UID)
	found, err := r.find(name)
	switch {
	case err != nil:
		return ctrl.Result{}, err
	case !service.DeletionTimestamp.IsZero() && found != nil:
		request := slb.CreateDeleteLoadBalancerRequest()
		request.LoadBalancerId = found.LoadBalancerId
		if _, err := r.SLB.DeleteLoadBalancer(request); err != nil {
			return ctrl.Result{}, err
		}
		fallthrough
	case !service.DeletionTimestamp.IsZero():
		if controllerutil.RemoveFinalizer(&service, finalizer) {
			return ctrl.Result{}, r.Update(ctx, &service)
		}
		return ctrl.Result{}, nil
	case controllerutil.AddFinalizer(&service, finalizer): // before there is something to delete
		return ctrl.Result{}, r.Update(ctx, &service)
	case found == nil:
		request := slb.CreateCreateLoadBalancerRequest()
		request.LoadBalancerName, request.ClientToken, request.InstanceChargeType = name, name, "PayByCLCU"
		if _, err := r.SLB.CreateLoadBalancer(request); err != nil {
			return ctrl.Result{}, err
		}
		if found, err = r.find(name); err != nil || found == nil {
			return ctrl.Result{RequeueAfter: time.Second}, err
		}
	}
	service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: found.Address}}
	return ctrl.Result{}, r.Status().Update(ctx, &service)
}

// find returns the load balancer with the name, or nil if there is none.
func (r *Reconciler) find(name string) (*slb.LoadBalancer, error) {
	request := slb.CreateDescribeLoadBalancersRequest()
	request.LoadBalancerName = name
	answer, err := r.SLB.DescribeLoadBalancers(request)
	if err != nil || len(answer.LoadBalancers.LoadBalancer) == 0 {
		return nil, err
	}
	return &answer.LoadBalancers.LoadBalancer[0], nil
}
