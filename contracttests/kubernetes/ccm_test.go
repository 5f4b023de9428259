package kubernetes_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aliyun/alibaba-cloud-sdk-go/services/vpc"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/cloud"
	"github.com/clbemu/clbemu/emulator/annotations"
)

const annotationPrefix = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"

// TestAnnotations proves that a load balancer and its listeners are what the
// annotations say, at first and after a change.
func TestAnnotations(t *testing.T) {
	f := start(t)
	f.control("world", "set", "cloud.year=2024") // which sells specs
	f.service("web", func(s *corev1.Service) {
		for name, value := range map[string]string{
			"address-type": "intranet", "protocol-port": "http:80", "spec": "slb.s2.small", "instance-charge-type": "PayBySpec",
		} {
			s.Annotations[annotationPrefix+name] = value
		}
	})
	f.awaitBalancer("intranet slb.s2.small http:80")
	f.change("web", func(s *corev1.Service) { s.Annotations[annotationPrefix+"spec"] = "slb.s3.small" })
	f.awaitBalancer("intranet slb.s3.small http:80")
}

// TestListenerAnnotations proves that the annotations of a drain and of a certificate reach
// the listeners.
func TestListenerAnnotations(t *testing.T) {
	f := start(t)
	certificate := f.certificate(annotations.CLB, "web")
	service := f.service("web", func(s *corev1.Service) {
		s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "https", Port: 443})
		for name, value := range map[string]string{
			"connection-drain": "on", "connection-drain-timeout": "30", "protocol-port": "https:443", "cert-id": certificate,
		} {
			s.Annotations[annotationPrefix+name] = value
		}
	})
	var id string
	f.eventually("the listeners", func() error {
		balancer, err := f.find(service)
		if err != nil {
			return err
		}
		id = balancer.LoadBalancerId
		got, err := f.listeners(id)
		if err != nil || len(got) != 2 || !strings.HasPrefix(got[0], "https:443 running ") || !strings.HasPrefix(got[1], "tcp:80 running ") {
			return fmt.Errorf("are %q (%v), want https:443 and tcp:80", got, err)
		}
		return nil
	})
	for listener, want := range map[string][]string{
		"TCP 80":    {`"ConnectionDrain": "on"`, `"ConnectionDrainTimeout": 30,`},
		"HTTPS 443": {`"ServerCertificateId": "` + certificate + `"`},
	} {
		protocol, port, _ := strings.Cut(listener, " ")
		got := f.call("DescribeLoadBalancer"+protocol+"ListenerAttribute", "LoadBalancerId="+id, "ListenerPort="+port)
		for _, field := range want {
			if !strings.Contains(got, field) {
				t.Errorf("%s is %s, want %s", listener, got, field)
			}
		}
	}
}

// awaitBalancer waits until the load balancer of the Service web is as described.
func (f *fixture) awaitBalancer(want string) {
	f.Helper()
	f.eventually("the load balancer", func() error {
		service, err := f.kubernetes.CoreV1().Services(f.namespace).Get(f.ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		balancer, err := f.find(service)
		if err != nil {
			return err
		}
		listeners, err := f.listeners(balancer.LoadBalancerId)
		if err != nil {
			return err
		}
		got := fmt.Sprintf("%s %s %s", balancer.AddressType, balancer.LoadBalancerSpec, strings.Join(listeners, " "))
		if !strings.HasPrefix(got, want+" running ") {
			return fmt.Errorf("is %q, want %q", got, want)
		}
		return nil
	})
}

// TestEvents proves that a refusal of the cloud is a warning of the Service in the
// cloud's words, and that the controller recovers on its own.
func TestEvents(t *testing.T) {
	f := start(t)
	f.control("world", "set", "account.arrears=true")
	f.service("web")
	f.awaitEvent(corev1.EventTypeWarning, "SyncLoadBalancerFailed", "Message: The account is arrearage.")
	f.control("world", "set", "account.arrears=false")
	f.converged("web", func() map[string]int { return everywhere(nodes) })
	f.awaitEvent(corev1.EventTypeNormal, "EnsuredLoadBalancer", "Ensured load balancer [lb-")
}

func (f *fixture) awaitEvent(of, reason, words string) {
	f.Helper()
	f.eventually("the event "+reason, func() error {
		events, err := f.kubernetes.CoreV1().Events(f.namespace).List(f.ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		var seen []string
		for _, event := range events.Items {
			if event.Type == of && event.Reason == reason && strings.Contains(event.Message, words) && event.Source.Component == "service-controller" {
				return nil
			}
			seen = append(seen, event.Type+" "+event.Reason+" from "+event.Source.Component+": "+event.Message)
		}
		return fmt.Errorf("is not among %q, want %q", seen, words)
	})
}

// TestRoutes proves that each node's pods have a route, and a node that comes and
// goes takes its own with it.
func TestRoutes(t *testing.T) {
	f := start(t)
	f.awaitRoutes(nodes)
	f.addNode(nodes + 1)
	f.awaitRoutes(nodes + 1)
	f.removeNode(node(nodes + 1).Name)
	f.awaitRoutes(nodes)
}

func (f *fixture) awaitRoutes(n int) {
	f.Helper()
	var want []string
	for i := 1; i <= n; i++ {
		want = append(want, node(i).PodCIDR+" "+cloud.NewInstance(i).ID)
	}
	client, err := f.cloud.VPC()
	if err != nil {
		f.Fatal(err)
	}
	request := vpc.CreateDescribeRouteEntryListRequest()
	request.RouteTableId, request.RouteEntryType = cloud.RouteTable, "Custom"
	f.eventually("routes", func() error {
		response, err := client.DescribeRouteEntryList(request)
		if err != nil {
			return err
		}
		var got []string
		for _, entry := range response.RouteEntrys.RouteEntry {
			got = append(got, entry.DestinationCidrBlock+" "+entry.NextHops.NextHop[0].NextHopId)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			return fmt.Errorf("are %q, want %q", got, want)
		}
		return nil
	})
}

// TestENI proves that pods are backends by their network interfaces.
func TestENI(t *testing.T) {
	f := start(t)
	service := f.service("web", func(s *corev1.Service) {
		s.Annotations["service.beta.kubernetes.io/backend-type"] = "eni"
		s.Spec.Selector, s.Spec.Ports[0].TargetPort = nil, intstr.FromInt32(8080) // the endpoints are this test's
	})
	want := f.endpoints(service.Name)
	f.eventually("pods as backends", func() error {
		balancer, err := f.find(service)
		if err != nil {
			return err
		}
		got, err := f.listeners(balancer.LoadBalancerId)
		if line := fmt.Sprintf("tcp:80 running %v", want); err != nil || !slices.Equal(got, []string{line}) {
			return fmt.Errorf("are %q (%v), want %q", got, err, line)
		}
		return nil
	})
}

// endpoints gives a Service two pods without running any, and returns how they
// look as backends.
func (f *fixture) endpoints(service string) (want []string) {
	f.Helper()
	port, name, ready := int32(8080), "http", true
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: service + "-1", Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: &name, Port: &port}},
	}
	for _, instance := range instances()[:2] {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
			Addresses: instance.PodAddresses, Conditions: discoveryv1.EndpointConditions{Ready: &ready},
		})
		want = append(want, fmt.Sprintf("%s:%d=100", instance.NetworkInterface, port))
	}
	if _, err := f.kubernetes.DiscoveryV1().EndpointSlices(f.namespace).Create(f.ctx, slice, metav1.CreateOptions{}); err != nil {
		f.Fatal(err)
	}
	return want
}

// TestNodeInitialized proves that a node whose instance is in the cloud loses the
// taint of the beginning and gets the labels of its instance.
func TestNodeInitialized(t *testing.T) {
	requireCCM(t, "nodes that are initialized")
	f := start(t)
	fresh := node(nodes + 1)
	fresh.Taints = []corev1.Taint{{Key: "node.cloudprovider.kubernetes.io/uninitialized", Value: "true", Effect: corev1.TaintEffectNoSchedule}}
	t.Cleanup(func() { f.removeNode(fresh.Name) })
	if err := f.cluster.AddNode(f.ctx, fresh); err != nil {
		t.Fatal(err)
	}
	f.eventually("the node", func() error {
		got, err := f.kubernetes.CoreV1().Nodes().Get(f.ctx, fresh.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if zone := got.Labels[corev1.LabelTopologyZone]; len(got.Spec.Taints) > 0 || zone != "cn-hangzhou-h" {
			return fmt.Errorf("has the taints %v and is in zone %q, want none and cn-hangzhou-h", got.Spec.Taints, zone)
		}
		return nil
	})
}

// TestCordonedRemoved proves that a cordoned node is no backend of a Service that
// says so.
func TestCordonedRemoved(t *testing.T) {
	f := start(t)
	f.addNode(nodes + 1)
	f.service("web", func(s *corev1.Service) { s.Annotations[annotationPrefix+"remove-unscheduled-backend"] = "on" })
	f.converged("web", func() map[string]int { return everywhere(nodes + 1) })
	f.changeNode(node(nodes+1).Name, func(n *corev1.Node) { n.Spec.Unschedulable = true })
	f.converged("web", func() map[string]int { return everywhere(nodes) })
}
