package kubernetes_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/cloud"
	"github.com/clbemu/clbemu/contracttests/netns"
)

// nodePort is where nodes answer for the Service, as kube-proxy does.
const nodePort = 31080

// throughNodes lets a cloud put the addresses of load balancers on this machine, which is
// the router of a network of nodes, and lets nodes see who asks.
func throughNodes(f *fixture) {
	f.flags = []string{"--data-plane", "addresses", "--data-plane-source", "transparent", "--data-plane-direct", "192.168.0.0/24"}
}

// alone runs the rest of the test in a network of its own, next to other tests.
func alone(t *testing.T) bool {
	t.Helper()
	if !netns.Inside() {
		t.Parallel()
	}
	return netns.Isolated(t)
}

// TestAddresses proves that a Service is reached at its EXTERNAL-IP from the machine of the
// cloud, from a node and from another network, and that nodes and pods see the address of
// who asks. Machines are network namespaces, and nodes and pods are servers in them.
func TestAddresses(t *testing.T) {
	if !alone(t) {
		return
	}
	f := start(t, throughNodes)
	var machines []*netns.Namespace
	for n := 1; n <= nodes; n++ {
		machines = append(machines, f.machine(n))
	}
	client := netns.New(t, "9")
	ports := []corev1.ServicePort{{Name: "http", Port: 80, NodePort: nodePort}}
	f.service("web", func(s *corev1.Service) { s.Spec.Ports = ports })
	f.converged("web", func() map[string]int { return everywhere(nodes) })
	everyNode := answers{"node-1": true, "node-2": true, "node-3": true}
	f.answered("web", netns.Here(t), everyNode, "")
	f.answered("web", client, everyNode, "10.77.9.2")

	// Pods of a Service with the policy Local are on two nodes; the third is a client.
	f.service("local", func(s *corev1.Service) {
		s.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: 80, NodePort: nodePort + 1}}
		s.Spec.Selector = nil
		s.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
	})
	f.podsOn("local", "node-1", "node-2")
	withPods := answers{"node-1": true, "node-2": true}
	f.answered("local", client, withPods, "10.77.9.2")
	f.answered("local", machines[2], withPods, "10.77.3.2")
	// A node that is its own server does not get an answer, as in the cloud at layer 4.
	f.podsOn("local", "node-3")
	f.answered("local", client, answers{"node-3": true}, "10.77.9.2")
	own := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: machines[2].Dial}, Timeout: 5 * time.Second} // for what does not come
	if _, err := own.Get("http://" + f.address("local")); !os.IsTimeout(err) {
		t.Errorf("a client on its own server gets %v, want nothing", err)
	}

	address := f.address("web")
	f.deleteService("web")
	f.eventually("nobody at "+address, func() error {
		if got := client.Get("http://" + address); strings.HasPrefix(got, "node-") {
			return fmt.Errorf("%s answers", got)
		}
		return nil
	})
}

// TestPodAddresses proves the same of pods that are backends by their network interfaces.
func TestPodAddresses(t *testing.T) {
	if !alone(t) {
		return
	}
	f := start(t, throughNodes)
	want := make(answers)
	var endpoints []discoveryv1.Endpoint
	for n := 1; n <= 2; n++ {
		address := cloud.NewInstance(n).PodAddresses[0]
		machine := f.machine(n)
		machine.Run("ip", "addr", "add", address+"/32", "dev", "lo")
		netns.Run(t, "ip", "route", "add", address, "via", fmt.Sprintf("10.77.%d.2", n))
		f.answers(machine, fmt.Sprintf("pod-%d", n), address+":8080")
		want[fmt.Sprintf("pod-%d", n)] = true
		endpoints = append(endpoints, discoveryv1.Endpoint{Addresses: []string{address}})
	}
	client := netns.New(t, "9")
	f.service("web", func(s *corev1.Service) {
		s.Annotations = map[string]string{"service.beta.kubernetes.io/backend-type": "eni"}
		s.Spec.Selector = nil
		s.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)}}
	})
	f.slice("web", 8080, endpoints)
	f.answered("web", netns.Here(t), want, "")
	f.answered("web", client, want, "10.77.9.2")
}

// machine is the one of a node, of which the cloud's machine is the router: it answers at
// its node ports with the node's name and who asks.
func (f *fixture) machine(n int) *netns.Namespace {
	f.Helper()
	machine := netns.New(f.T, fmt.Sprint(n))
	address, cable := cloud.NewInstance(n).Address, fmt.Sprintf("netns%d", n)
	machine.Run("ip", "addr", "add", address+"/32", "dev", "lo")
	netns.Run(f.T, "ip", "route", "add", address, "via", fmt.Sprintf("10.77.%d.2", n))
	if n == 1 { // docs/packets.md has these
		netns.Run(f.T, "ip", "route", "add", "local", "default", "dev", "lo", "table", "96")
	}
	netns.Run(f.T, "ip", "rule", "add", "iif", cable, "lookup", "96")
	for _, port := range []int{nodePort, nodePort + 1} {
		f.answers(machine, node(n).Name, fmt.Sprintf("%s:%d", address, port))
	}
	return machine
}

// answers answers at an address with a name and who asks.
func (f *fixture) answers(machine *netns.Namespace, name, address string) {
	f.Helper()
	listener, err := machine.Listen("tcp", address)
	if err != nil {
		f.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, _, _ := net.SplitHostPort(r.RemoteAddr)
		io.WriteString(w, name+" "+from)
	})}
	go server.Serve(listener)
	f.Cleanup(func() { server.Close() })
}

// answers is who answers.
type answers map[string]bool

// answered waits until these answer who asks for a Service, and no other, each of whom sees
// an address; it may be any if it is empty.
func (f *fixture) answered(service string, client *netns.Namespace, want answers, seen string) {
	f.Helper()
	f.eventually("answers of "+service, func() error {
		address := f.address(service)
		if address == "" {
			return fmt.Errorf("no address")
		}
		got := make(answers)
		for range 4 * len(want) {
			text := client.Get("http://" + address)
			name, from, _ := strings.Cut(text, " ")
			if !want[name] || seen != "" && from != seen {
				return fmt.Errorf("%s answers %q, want of %v to %s", address, text, want, seen)
			}
			got[name] = true
		}
		if len(got) != len(want) {
			return fmt.Errorf("%v answer, want %v", got, want)
		}
		return nil
	})
}

// address returns the EXTERNAL-IP of a Service, or "" while there is none.
func (f *fixture) address(service string) string {
	f.Helper()
	s, err := f.kubernetes.CoreV1().Services(f.namespace).Get(f.ctx, service, metav1.GetOptions{})
	if err != nil {
		f.Fatal(err)
	}
	if len(s.Status.LoadBalancer.Ingress) == 0 {
		return ""
	}
	return s.Status.LoadBalancer.Ingress[0].IP
}

// podsOn puts a ready pod of a Service on each of the nodes, and on no other.
func (f *fixture) podsOn(service string, nodes ...string) {
	f.Helper()
	var list []discoveryv1.Endpoint
	for n, name := range nodes {
		list = append(list, discoveryv1.Endpoint{Addresses: []string{fmt.Sprintf("172.20.1.%d", n+1)}, NodeName: &name})
	}
	f.slice(service, 8080, list)
}

// slice makes or replaces the EndpointSlice of a Service that selects no pods.
func (f *fixture) slice(service string, port int32, list []discoveryv1.Endpoint) {
	f.Helper()
	ready, name := true, "http"
	list = slices.Clone(list)
	for i := range list {
		list[i].Conditions.Ready = &ready
	}
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: service + "-1", Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Name: &name, Port: &port}}, Endpoints: list,
	}
	slicesOf := f.kubernetes.DiscoveryV1().EndpointSlices(f.namespace)
	if _, err := slicesOf.Create(f.ctx, slice, metav1.CreateOptions{}); err == nil {
		return
	}
	if _, err := slicesOf.Update(f.ctx, slice, metav1.UpdateOptions{}); err != nil {
		f.Fatal(err)
	}
}
