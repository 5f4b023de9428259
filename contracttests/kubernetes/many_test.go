package kubernetes_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// manyServices returns the number of Services that TestManyServices makes.
func manyServices(t *testing.T) int {
	setting := os.Getenv("E2E_SERVICES")
	if setting == "" {
		return 100
	}
	n, err := strconv.Atoi(setting)
	if err != nil || n < 1 {
		t.Fatalf("E2E_SERVICES=%s is not a number of Services", setting)
	}
	return n
}

// TestManyServices proves that many Services at once all get what they say, and
// reports the time and the calls that it took.
func TestManyServices(t *testing.T) {
	n := manyServices(t)
	f := start(t)
	f.patience += time.Duration(n) * time.Second
	f.control("world", "set", "quota.slb_quota_instances_num=2000", "quota.slb_quota_backendserver_attached_num=100000")
	began := time.Now()
	for i := range n {
		f.service(fmt.Sprintf("web-%d", i))
	}
	f.eventually("addresses", func() error { return f.haveAddresses(n) })
	took := time.Since(began)
	calls, err := f.cloud.Calls(f.ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d Services have their addresses after %s: %.1f calls and %s for each",
		n, took.Round(time.Millisecond), float64(calls)/float64(n), (took / time.Duration(n)).Round(time.Millisecond))
	f.allConverged(n)
}

// TestManyServicesUnhurried proves that no rate limit, state or lock of the real cloud
// keeps the CCM from its usual work: with the realistic profiles, Services of both products
// come, change, and go. No call of theirs is refused.
func TestManyServicesUnhurried(t *testing.T) {
	each := max(1, manyServices(t)/20) // of each product: an NLB takes eight seconds to come
	f := start(t, withNLB)
	f.patience += time.Duration(each) * 20 * time.Second
	f.control("world", "set", "throttle.profile=realistic", "life.profile=realistic")
	began := time.Now()
	for i := range each {
		f.service(fmt.Sprintf("web-%d", i))
		f.service(fmt.Sprintf("net-%d", i), ofNLB)
	}
	f.eventually("addresses", func() error { return f.haveAddresses(2 * each) })
	t.Logf("%d Services have their addresses after %s", 2*each, time.Since(began).Round(time.Second))
	began = time.Now()
	for i := range each {
		f.change(fmt.Sprintf("web-%d", i), twoPorts)
		f.change(fmt.Sprintf("net-%d", i), twoPorts)
	}
	f.eventually("listeners", func() error { return f.haveListeners(4 * each) })
	t.Logf("their second ports have listeners after %s", time.Since(began).Round(time.Second))
	if refused := f.control("journal", "--where", "status=400", "--counts", "--limit", "0"); strings.Count(refused, "\n") > 1 {
		t.Errorf("calls were refused:\n%s", refused)
	}
	f.control("world", "set", "throttle.profile=off") // for the test's own calls
	f.allConverged(each)
	for i := range each {
		f.convergedNLB(fmt.Sprintf("net-%d", i))
	}
}

// control runs a command of clbemu that must succeed.
func (f *fixture) control(args ...string) string {
	f.Helper()
	out, err := f.cloud.Control(f.ctx, args...)
	if err != nil {
		f.Fatal(err)
	}
	return out
}

func (f *fixture) haveAddresses(n int) error {
	services, err := f.kubernetes.CoreV1().Services(f.namespace).List(f.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	have := 0
	for _, service := range services.Items {
		have += len(service.Status.LoadBalancer.Ingress)
	}
	if have != n {
		return fmt.Errorf("%d Services have one, want %d", have, n)
	}
	return nil
}

// haveListeners asks the control API, so that the test's questions take nothing from the
// rate limits of the account.
func (f *fixture) haveListeners(n int) error {
	out, err := f.cloud.Control(f.ctx, "get", "listeners")
	if err != nil {
		return err
	}
	if have := strings.Count(out, "\n") - 1; have != n {
		return fmt.Errorf("there are %d listeners, want %d", have, n)
	}
	return nil
}

// allConverged looks at each Service, and that there is one load balancer for
// each and no other.
func (f *fixture) allConverged(n int) {
	f.Helper()
	for i := range n {
		f.converged(fmt.Sprintf("web-%d", i), func() map[string]int { return everywhere(nodes) })
	}
	if made := len(f.ownLoadBalancers()); made != n {
		f.Errorf("%d Services have %d load balancers, want one each", n, made)
	}
}

// twoPorts is a Service whose reconciliation takes more calls.
func twoPorts(s *corev1.Service) {
	s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "dns", Port: 53, Protocol: corev1.ProtocolUDP})
}
