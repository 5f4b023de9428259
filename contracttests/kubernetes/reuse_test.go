package kubernetes_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/aliyun/alibaba-cloud-sdk-go/sdk/requests"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	annotationID       = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-id"
	annotationOverride = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-force-override-listeners"
)

// TestReuse proves that a Service puts its listeners on the load balancer that
// it names, next to the owner's, and removes only its own.
func TestReuse(t *testing.T) {
	f := start(t)
	id := f.createLoadBalancer()
	f.service("web", func(s *corev1.Service) {
		s.Annotations[annotationID], s.Annotations[annotationOverride] = id, "true"
	})
	const foreign = "tcp:9999 running []"
	f.eventually("the reused load balancer", func() error {
		service, err := f.kubernetes.CoreV1().Services(f.namespace).Get(f.ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		want := append(expected(service, everywhere(nodes)), foreign)
		if got, err := f.listeners(id); err != nil || !slices.Equal(got, want) {
			return fmt.Errorf("has %q (%v), want %q", got, err, want)
		}
		if len(service.Status.LoadBalancer.Ingress) != 1 {
			return fmt.Errorf("is not the Service's address: %v", service.Status)
		}
		return nil
	})
	f.deleteService("web")
	f.eventually("the load balancer after its reuse", func() error {
		if got, err := f.listeners(id); err != nil || !slices.Equal(got, []string{foreign}) {
			return fmt.Errorf("has %q (%v), want %q", got, err, foreign)
		}
		return f.compareGroups(id, 1)
	})
}

// TestOnePort proves that two Services can't share a port of a load balancer that both name:
// with force-override-listeners, the later one takes it, and the deletion of the earlier one
// leaves it there.
func TestOnePort(t *testing.T) {
	f := start(t)
	id := f.createLoadBalancer()
	has := func(what string, service *corev1.Service) {
		t.Helper()
		want := []string{"tcp:9999 running []"}
		if service != nil {
			want = append(expected(service, everywhere(nodes)), want...)
		}
		f.eventually(what, func() error {
			if got, err := f.listeners(id); err != nil || !slices.Equal(got, want) {
				return fmt.Errorf("%q (%v), want %q", got, err, want)
			}
			return nil
		})
	}
	reusing := func(s *corev1.Service) {
		s.Annotations[annotationID], s.Annotations[annotationOverride] = id, "true"
	}
	has("the listeners of the earlier Service", f.service("earlier", reusing))
	later := f.service("later", reusing)
	has("the listeners of the later Service", later)
	f.deleteService("earlier")
	has("the listeners after the deletion of the earlier Service", later)
	f.deleteService("later")
	has("the listeners after both", nil)
}

// createLoadBalancer makes a load balancer with a listener, as an owner would
// that knows nothing of clusters.
func (f *fixture) createLoadBalancer() (id string) {
	f.Helper()
	create := slb.CreateCreateLoadBalancerRequest()
	create.AddressType, create.InstanceChargeType = "internet", "PayByCLCU"
	made, err := f.slb.CreateLoadBalancer(create)
	if err != nil {
		f.Fatal(err)
	}
	group := slb.CreateCreateVServerGroupRequest()
	group.LoadBalancerId, group.VServerGroupName = made.LoadBalancerId, "the owner's"
	grouped, err := f.slb.CreateVServerGroup(group)
	if err != nil {
		f.Fatal(err)
	}
	listener := slb.CreateCreateLoadBalancerTCPListenerRequest()
	listener.LoadBalancerId, listener.VServerGroupId = made.LoadBalancerId, grouped.VServerGroupId
	listener.ListenerPort, listener.Bandwidth = requests.NewInteger(9999), requests.NewInteger(-1)
	if _, err := f.slb.CreateLoadBalancerTCPListener(listener); err != nil {
		f.Fatal(err)
	}
	start := slb.CreateStartLoadBalancerListenerRequest()
	start.LoadBalancerId, start.ListenerPort, start.ListenerProtocol = made.LoadBalancerId, listener.ListenerPort, "tcp"
	if _, err := f.slb.StartLoadBalancerListener(start); err != nil {
		f.Fatal(err)
	}
	return made.LoadBalancerId
}
