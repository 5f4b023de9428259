package kubernetes_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/cloud"
)

// TestService proves that a load balancer follows its Service through its life:
// ports that come and go, a type that changes and changes back, the end.
func TestService(t *testing.T) {
	f := start(t)
	all := func() map[string]int { return everywhere(nodes) }
	f.deploy(2)
	f.service("web")
	first := f.converged("web", all)

	f.change("web", func(s *corev1.Service) {
		s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "dns", Port: 53, Protocol: corev1.ProtocolUDP})
	})
	f.converged("web", all)
	f.change("web", func(s *corev1.Service) { s.Spec.Ports[0].Port = 8080 })
	f.converged("web", all)
	f.change("web", func(s *corev1.Service) { s.Spec.Ports = s.Spec.Ports[1:] })
	if id := f.converged("web", all); id != first {
		t.Errorf("the load balancer is %s after changes of ports, want %s as before", id, first)
	}

	f.change("web", func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeClusterIP })
	f.noLoadBalancer()
	// The CCM empties the status after it has deleted the load balancer. A Service that is of the
	// type LoadBalancer again before that names a load balancer which is gone, and gets none.
	f.eventually("a Service without an address", func() error {
		service, err := f.kubernetes.CoreV1().Services(f.namespace).Get(f.ctx, "web", metav1.GetOptions{})
		if err == nil && len(service.Status.LoadBalancer.Ingress) > 0 {
			err = fmt.Errorf("it has %v", service.Status.LoadBalancer.Ingress)
		}
		return err
	})
	f.change("web", func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeLoadBalancer })
	if id := f.converged("web", all); id == first {
		t.Errorf("the load balancer is still %s, want a new one after the Service was a ClusterIP", id)
	}

	f.deleteService("web")
	f.noLoadBalancer()
}

// deleteService deletes a Service and waits until the controller lets go of it.
func (f *fixture) deleteService(name string) {
	f.Helper()
	services := f.kubernetes.CoreV1().Services(f.namespace)
	if err := services.Delete(f.ctx, name, metav1.DeleteOptions{}); err != nil {
		f.Fatal(err)
	}
	f.eventually("the deleted Service", func() error {
		if _, err := services.Get(f.ctx, name, metav1.GetOptions{}); !errors.IsNotFound(err) {
			return fmt.Errorf("there (%v)", err)
		}
		return nil
	})
}

func (f *fixture) noLoadBalancer() {
	f.Helper()
	f.eventually("load balancers", func() error {
		if ids := f.ownLoadBalancers(); len(ids) > 0 {
			return fmt.Errorf("there: %v", ids)
		}
		return nil
	})
}

// TestTrafficPolicy proves that with the Local policy the nodes weigh as much as
// they have pods, and follow them, and that with the Cluster policy they weigh
// the same.
func TestTrafficPolicy(t *testing.T) {
	f := start(t)
	f.deploy(4)
	f.service("web", func(s *corev1.Service) { s.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal })
	f.converged("web", f.podsByInstance(4))
	f.scale(1)
	f.converged("web", f.podsByInstance(1))
	f.scale(7)
	f.converged("web", f.podsByInstance(7))
	f.change("web", func(s *corev1.Service) { s.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyCluster })
	f.converged("web", func() map[string]int { return everywhere(nodes) })
}

// podsByInstance counts the pods on each node's instance; while there are not as
// many as wanted, it counts on something that never is.
func (f *fixture) podsByInstance(want int) func() map[string]int {
	return func() map[string]int {
		pods, err := f.kubernetes.CoreV1().Pods(f.namespace).List(f.ctx, metav1.ListOptions{})
		if err != nil || len(pods.Items) != want {
			return map[string]int{"pods that are not there yet": want}
		}
		weights := make(map[string]int)
		for _, pod := range pods.Items {
			var n int
			if _, err := fmt.Sscanf(pod.Spec.NodeName, "node-%d", &n); err != nil {
				return map[string]int{"a pod that is not scheduled yet": want}
			}
			weights[cloud.NewInstance(n).ID]++
		}
		return weights
	}
}
