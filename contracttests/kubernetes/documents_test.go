package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/cloud"
	"github.com/clbemu/clbemu/emulator/explain"
)

// TestStatementsInCI proves that what contracttests/seeds.md says is played in CI needs no real CCM.
func TestStatementsInCI(t *testing.T) {
	_, statements, err := explain.Statements()
	if err != nil {
		t.Fatal(err)
	}
	skipped := testsThatSkip(t)
	for _, s := range statements {
		name, part, scenario := s.By.Scenario()
		test, ours := strings.CutPrefix(s.By.Name, "kubernetes_test.")
		if scenario && part == "kubernetes" && needsCCM[name] != "" || s.By.Kind == explain.ByTest && ours && skipped[test] {
			t.Errorf("%s is not played in CI, which contracttests/seeds.md says of %q", s.By.Name, s.Says)
		}
	}
}

// testsThatSkip returns the tests of this package that do nothing without a real CCM.
func testsThatSkip(t *testing.T) map[string]bool {
	t.Helper()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	skipped := make(map[string]bool)
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range strings.Split(string(text), "\nfunc ")[1:] {
			if name, _, ok := strings.Cut(body, "("); ok && strings.Contains(body, "\n\trequireCCM(") {
				skipped[name] = true
			}
		}
	}
	if !skipped["TestNodeInitialized"] {
		t.Fatalf("the tests that need a CCM are %v, want TestNodeInitialized among them", skipped)
	}
	return skipped
}

// TestNodePorts proves that the API server gives NodePorts of its range and no others, and
// that the servers of a load balancer follow a NodePort that changes.
func TestNodePorts(t *testing.T) {
	f := start(t)
	web := f.service("web")
	if port := web.Spec.Ports[0].NodePort; port < 30000 || port > 32767 {
		t.Errorf("the NodePort is %d, want one of 30000 to 32767", port)
	}
	f.converged("web", func() map[string]int { return everywhere(nodes) })
	other := int32(30000)
	if web.Spec.Ports[0].NodePort == other {
		other++
	}
	f.change("web", func(s *corev1.Service) { s.Spec.Ports[0].NodePort = other })
	f.converged("web", func() map[string]int { return everywhere(nodes) })
	outside := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "outside"},
		Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80, NodePort: 32768}}}}
	_, err := f.kubernetes.CoreV1().Services(f.namespace).Create(f.ctx, outside, metav1.CreateOptions{})
	if err == nil || !strings.Contains(err.Error(), "30000-32767") {
		t.Errorf("a NodePort of the local range: %v, want that the range is 30000-32767", err)
	}
}

// TestAddressTypeReused proves that a Service can't reuse a load balancer of another address
// type, and that it gets nothing there.
func TestAddressTypeReused(t *testing.T) {
	f := start(t)
	id := f.createLoadBalancer()
	f.service("web", func(s *corev1.Service) {
		s.Annotations[annotationID], s.Annotations[annotationOverride] = id, "true"
		s.Annotations[annotationPrefix+"address-type"] = "intranet"
	})
	f.awaitEvent(corev1.EventTypeWarning, "SyncLoadBalancerFailed", "AddressType")
	f.change("web", func(s *corev1.Service) { s.Annotations[annotationPrefix+"address-type"] = "internet" })
	f.awaitEvent(corev1.EventTypeNormal, "EnsuredLoadBalancer", id)
}

// TestServiceQuery proves that one query of Kubernetes has name, namespace, address and
// address type of the cluster's load balancers.
func TestServiceQuery(t *testing.T) {
	f := start(t)
	f.service("web", func(s *corev1.Service) { s.Annotations[annotationPrefix+"address-type"] = "intranet" })
	f.converged("web", func() map[string]int { return everywhere(nodes) })
	query := exec.CommandContext(f.ctx, f.cluster.Kubectl(), "--kubeconfig", f.cluster.Kubeconfig, "get", "services", "--all-namespaces", "--output", "json")
	out, err := query.Output()
	if err != nil {
		t.Fatal(err)
	}
	var list corev1.ServiceList
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatal(err)
	}
	for _, s := range list.Items {
		if s.Spec.Type != corev1.ServiceTypeLoadBalancer || s.Namespace != f.namespace {
			continue
		}
		got := fmt.Sprintf("%s %s %s", s.Name, s.Annotations[annotationPrefix+"address-type"], s.Status.LoadBalancer.Ingress[0].IP)
		if !strings.HasPrefix(got, "web intranet 192.168.") {
			t.Errorf("the query has %q, want web intranet and its address", got)
		}
		return
	}
	t.Errorf("the query has no Service of %s: %s", f.namespace, out)
}

// allowed are the permissions of a controller's role, with those that the upgrade to v2.11.2
// and v2.12.1 needs.
const allowed = `{"Version": "1", "Statement": [{"Effect": "Allow", "Resource": "*", "Action": ["slb:*", "ecs:Describe*", "vpc:Describe*", %s]}]}`

// TestPermissionsFirst proves that a controller which finds its permissions granted is
// refused nothing, and that one without them is.
func TestPermissionsFirst(t *testing.T) {
	for _, granted := range []bool{true, false} {
		t.Run(fmt.Sprint(granted), func(t *testing.T) {
			f := start(t, func(f *fixture) { f.accessKey = true })
			f.controller.Kill()
			actions := `"vpc:DeleteRouteEntries"`
			if granted {
				actions += `, "vpc:CreateRouteEntries"`
			}
			f.control("world", "set", "policy.key."+cloud.AccessKeyID+"="+fmt.Sprintf(allowed, actions))
			f.call("DeleteRouteEntries", "--product", "Vpc", "RouteEntries.1.RouteTableId="+cloud.RouteTable, "RouteEntries.1.DstCidrBlock="+node(1).PodCIDR, "RouteEntries.1.NextHop="+cloud.NewInstance(1).ID)
			f.control("journal", "mark", "upgraded")
			f.startController()
			f.service("web")
			f.converged("web", func() map[string]int { return everywhere(nodes) })
			refused := func() bool {
				return strings.Contains(f.control("journal", "--since-mark", "upgraded", "--where", "status=403"), "CreateRouteEntries")
			}
			if granted {
				f.awaitRoutes(nodes)
				if refused() {
					t.Error("a call was refused although its permission was there first")
				}
				return
			}
			f.eventually("a refusal", func() error {
				if !refused() {
					return fmt.Errorf("there is none")
				}
				return nil
			})
			f.control("world", "set", "policy.key."+cloud.AccessKeyID+"=none")
		})
	}
}
