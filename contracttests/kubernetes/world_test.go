package kubernetes_test

import (
	"crypto/tls"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/cloud"
)

// TestClusterWorld proves that a controller refuses to reuse the load balancers of
// examples/world/cluster.yaml that belong to the cluster, and reuses the one from the
// console (CLB-0459).
func TestClusterWorld(t *testing.T) {
	example, err := os.ReadFile("../../examples/world/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	// The example's cluster gets the ids that this one has.
	ids := []string{"vpc-cluster", cloud.VPC, "vsw-h", cloud.VSwitch, "vsw-i", cloud.VSwitch2, "vtb-cluster", cloud.RouteTable,
		"secret: testsecret", "secret: " + cloud.AccessKeySecret}
	for i, name := range []string{"i-node1", "i-node2", "i-master1"} {
		ids = append(ids, name, cloud.NewInstance(i+1).ID)
	}
	for i, address := range []string{"192.168.0.21", "192.168.1.21", "192.168.0.11"} {
		ids = append(ids, address, strings.Replace(cloud.NewInstance(i+1).Address, "192.168.0.", address[:len("192.168.0.")], 1))
	}
	world := filepath.Join(t.TempDir(), "cluster.yaml")
	if err := os.WriteFile(world, []byte(strings.NewReplacer(ids...).Replace(string(example))), 0o600); err != nil {
		t.Fatal(err)
	}
	f := start(t, func(f *fixture) { f.world, f.accessKey, f.leaves = world, true, 1 }) // the Ingress's
	before := f.clusterListeners()
	said := map[string]string{
		"lb-apiserver": "SyncLoadBalancerFailed: Error syncing load balancer [lb-apiserver]: alicloud: the loadbalancer lb-apiserver can not be reused, can not reuse loadbalancer created by kubernetes.",
		"lb-ingress":   "SyncLoadBalancerFailed: Error syncing load balancer [lb-ingress]: alicloud: the loadbalancer lb-ingress can not be reused, can not reuse loadbalancer created by kubernetes.",
		"lb-console":   "EnsuredLoadBalancer: Ensured load balancer [lb-console]",
	}
	for id := range said {
		f.service(id, func(s *corev1.Service) {
			s.Annotations[annotationID], s.Annotations[annotationOverride] = id, "true"
			s.Annotations[annotationPrefix+"address-type"] = "intranet"
		})
	}
	for id, want := range said {
		f.eventually("what the CCM says of "+id, func() error {
			events, err := f.kubernetes.CoreV1().Events(f.namespace).List(f.ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + id})
			var got []string
			for _, e := range events.Items {
				got = append(got, e.Reason+": "+strings.TrimSpace(strings.ReplaceAll(e.Message, "apply model error: update lb attribute error: ", "")))
			}
			if err != nil || !slices.Contains(got, want) {
				return fmt.Errorf("is %q (%v), want %q", got, err, want)
			}
			return nil
		})
	}
	if after := f.clusterListeners(); !maps.EqualFunc(after, before, slices.Equal) {
		t.Errorf("the cluster's load balancers have %q, had %q", after, before)
	}
	// A deleted load balancer of the API server does not come back.
	f.call("SetLoadBalancerDeleteProtection", "LoadBalancerId=lb-apiserver", "DeleteProtection=off")
	f.call("DeleteLoadBalancer", "LoadBalancerId=lb-apiserver")
	f.control("journal", "mark", "deleted")
	f.controller.Kill()
	f.startController()
	f.deleteService("lb-apiserver")
	f.service("another") // which the controller makes meanwhile
	f.converged("another", func() map[string]int { return everywhere(nodes) })
	if made := f.control("journal", "--since-mark", "deleted", "--where", "action=CreateLoadBalancer", "--counts"); strings.Count(made, "\n") > 2 {
		t.Errorf("after the deletion were made:\n%s", made)
	}
	if got := f.control("get", "lb"); strings.Contains(got, "lb-apiserver") {
		t.Errorf("the deleted load balancer is there: %s", got)
	}
}

// clusterListeners returns the listeners of the load balancers that belong to the cluster.
func (f *fixture) clusterListeners() map[string][]string {
	f.Helper()
	all := make(map[string][]string)
	for _, id := range []string{"lb-apiserver", "lb-ingress"} {
		listeners, err := f.listeners(id)
		if err != nil {
			f.Fatal(err)
		}
		all[id] = listeners
	}
	return all
}

// TestAPIServer proves that whoever reaches the API server by its load balancer gets no
// answer while the listener is stopped, and when the load balancer is gone.
func TestAPIServer(t *testing.T) {
	f := start(t)
	config, err := clientcmd.BuildConfigFromFlags("", f.cluster.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	master := cloud.NewInstance(1).ID
	f.control("world", "set", fmt.Sprintf("instance.%s.reachAt=%s", master, strings.TrimPrefix(config.Host, "https://")))
	id := strings.TrimSpace(f.call("CreateLoadBalancer", "VSwitchId="+cloud.VSwitch, "InstanceChargeType=PayByCLCU", "--field", "LoadBalancerId"))
	group := strings.TrimSpace(f.call("CreateVServerGroup", "LoadBalancerId="+id, `BackendServers=[{"ServerId":"`+master+`","Port":6443}]`, "--field", "VServerGroupId"))
	f.call("CreateLoadBalancerTCPListener", "LoadBalancerId="+id, "ListenerPort=6443", "Bandwidth=-1", "VServerGroupId="+group)
	listener := []string{"LoadBalancerId=" + id, "ListenerProtocol=tcp", "ListenerPort=6443"}
	f.call("StartLoadBalancerListener", listener...)
	config.Host = "https://" + f.hostOf(id)
	// Each request is a connection of its own: one that is open outlives the listener.
	config.Wrap(func(http.RoundTripper) http.RoundTripper {
		return &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	})
	config.Timeout = 5 * time.Second // it asks again
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	answers := func(want bool) func() error {
		return func() error {
			list, err := client.CoreV1().Nodes().List(f.ctx, metav1.ListOptions{})
			if got := err == nil && len(list.Items) == nodes; got != want {
				return fmt.Errorf("the API server answers: %t (%v)", got, err)
			}
			return nil
		}
	}
	f.eventually("the nodes", answers(true))
	f.call("StopLoadBalancerListener", listener...)
	f.eventually("no answer by a stopped listener", answers(false))
	f.call("StartLoadBalancerListener", listener...)
	f.eventually("the nodes again", answers(true))
	f.call("DeleteLoadBalancer", "LoadBalancerId="+id)
	f.eventually("no answer without the load balancer", answers(false))
}
