package kubernetes_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aliyun/alibaba-cloud-sdk-go/sdk/requests"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/process"
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

// TestTwoClusters proves that Services of one namespace and name in two clusters can have
// their listeners on one load balancer, as names of listeners and groups have the id of the
// cluster, and that the deletion of one leaves the other's.
func TestTwoClusters(t *testing.T) {
	f := start(t)
	second := f.secondCluster("another")
	id := f.createLoadBalancer()
	reusing := func(port int32) func(*corev1.Service) {
		return func(s *corev1.Service) {
			s.Annotations[annotationID], s.Annotations[annotationOverride], s.Spec.Ports[0].Port = id, "true", port
		}
	}
	first, other := f.service("web", reusing(80)), second.service("web", reusing(81))
	const foreign = "tcp:9999 running []"
	has := func(what string, want ...string) {
		t.Helper()
		f.eventually(what, func() error {
			if got, err := f.listeners(id); err != nil || !slices.Equal(got, want) {
				return fmt.Errorf("%q (%v), want %q", got, err, want)
			}
			return nil
		})
	}
	one, two := expected(first, everywhere(nodes)), expected(other, everywhere(nodes))
	has("the listeners of both clusters", append(append(one, two...), foreign)...)
	f.deleteService("web")
	has("the listeners of the second cluster", append(two, foreign)...)
	second.deleteService("web")
	has("the listeners after both", foreign)
}

// secondCluster returns another cluster in the same cloud, with a controller for its Services.
func (f *fixture) secondCluster(id string) *fixture {
	f.Helper()
	plane := <-shared.free
	f.Cleanup(func() { shared.free <- plane })
	second := *f
	second.cluster, second.kubernetes, second.clusterID, second.dir = plane, plane.Client, id, filepath.Join(f.dir, id)
	if err := os.Mkdir(second.dir, 0o755); err != nil {
		f.Fatal(err)
	}
	command := second.controllerCommand()
	command.Args = slices.DeleteFunc(command.Args, func(arg string) bool {
		return strings.HasPrefix(arg, "--controllers=") || arg == "--configure-cloud-routes=true"
	})
	command.Args = append(command.Args, "--controllers=service", "--configure-cloud-routes=false")
	var err error
	if second.controller, err = process.Start(command); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(second.controller.Kill)
	namespaces := plane.Client.CoreV1().Namespaces()
	if _, err := namespaces.Create(f.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.namespace}}, metav1.CreateOptions{}); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = namespaces.Delete(f.ctx, f.namespace, metav1.DeleteOptions{}) }) // its plane is done with
	return &second
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
