package kubernetes_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// beforeV2 is what the tests of this file need a CCM for.
const beforeV2 = "what the CCMs of 2018 to 2020 do"

// TestFirstWeights proves how CCMs before v2 weigh nodes under the Local policy: all by
// 100, and from v1.9.3.164 on by their share of the pods in percent, rounded down, so that
// the weights need not add up to 100.
func TestFirstWeights(t *testing.T) {
	requireCCM(t, beforeV2)
	f := startFirst(t)
	f.deploy(2) // which leave a node out
	f.service("web", func(s *corev1.Service) { s.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal })
	for _, pods := range []int32{2, 4, 7} {
		f.scale(pods)
		f.converged("web", f.nudging("web", f.firstWeights(int(pods))))
	}
	f.endFirst("web")
}

// nudging changes the Service every 10 seconds of looks at the weights. The CCM reads
// Endpoints from another cache than the one whose events wake it: one that is behind leaves
// the last change undone.
func (f *fixture) nudging(name string, weights func() map[string]int) func() map[string]int {
	looks := 0
	return func() map[string]int {
		if looks++; looks%int(10*time.Second/pollEvery) == 0 {
			f.change(name, func(s *corev1.Service) {
				metav1.SetMetaDataAnnotation(&s.ObjectMeta, "clbemu/looks", strconv.Itoa(looks))
			})
		}
		return weights()
	}
}

// startFirst is like start, for a CCM before v2. It skips the test for a newer one.
func startFirst(t *testing.T) *fixture {
	t.Helper()
	if !isFirstGeneration(t) {
		t.Skip("the CCM of CCM_BIN is newer")
	}
	return start(t)
}

// firstWeights returns the weights of so many pods.
func (f *fixture) firstWeights(pods int) func() map[string]int {
	count, shares := f.podsByInstance(pods), laterOfFirst(f.T)
	return func() map[string]int {
		weights := count()
		for id, n := range weights {
			switch {
			case !strings.HasPrefix(id, "i-"): // the pods are not there yet
			case shares:
				weights[id] = 100 * n / pods
			default:
				weights[id] = 100
			}
		}
		return weights
	}
}

// TestFirstEvents proves what CCMs before v2 say of a refusal, in the words that the
// documents quote: in an Event, on a Kubernetes that sets the selfLink by which they name
// what it is about; and the later ones only in their log.
func TestFirstEvents(t *testing.T) {
	requireCCM(t, beforeV2)
	f := startFirst(t)
	f.control("world", "set", "account.arrears=true")
	f.service("web")
	const refusal = " Status Code: 400 Code: ORDER.ARREARAGE Message: The account is arrearage."
	f.eventually("the refusal in the log, twice", func() error {
		if n := strings.Count(f.controller.Log(), refusal); n < 2 {
			return fmt.Errorf("it is there %d times", n)
		}
		return nil
	})
	if laterOfFirst(t) {
		if events := f.eventsEndingIn(refusal); len(events) > 0 {
			t.Errorf("the Events are %q", events)
		}
	} else {
		f.eventually("the Event, which is written after the log", func() error {
			if len(f.eventsEndingIn(refusal)) == 0 {
				return errors.New("not there")
			}
			return nil
		})
	}
	f.control("world", "set", "account.arrears=false")
	f.converged("web", func() map[string]int { return everywhere(nodes) })
	f.endFirst("web")
}

// eventsEndingIn lists the messages of Events about a creation that end in a text.
func (f *fixture) eventsEndingIn(text string) (messages []string) {
	f.Helper()
	list, err := f.kubernetes.CoreV1().Events(f.namespace).List(f.ctx, metav1.ListOptions{})
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range list.Items {
		if strings.HasPrefix(e.Message, "Error creating load balancer (will retry): ") && strings.HasSuffix(e.Message, text) {
			messages = append(messages, e.Message)
		}
	}
	return messages
}

// TestFirstSpec proves what CCMs before v2 ask for where a Service names no specification:
// those of 2018 a shared-resource instance, those of 2020 the smallest specification. In the
// cloud of 2024, which sells no shared-resource instances, the former are refused.
func TestFirstSpec(t *testing.T) {
	requireCCM(t, beforeV2)
	f := startFirst(t)
	f.service("web")
	f.converged("web", func() map[string]int { return everywhere(nodes) })
	creation := f.control("journal", "--where", "action=CreateLoadBalancer", "--json")
	want := "no specification"
	if laterOfFirst(t) {
		want = "slb.s1.small"
	}
	got := "no specification"
	if _, after, found := strings.Cut(creation, `"LoadBalancerSpec":"`); found {
		got, _, _ = strings.Cut(after, `"`)
	}
	if got != want || !strings.Contains(creation, `"CreateLoadBalancer"`) {
		t.Errorf("the CCM asks for %s, want %s: %s", got, want, creation)
	}
	f.control("world", "set", "cloud.year=2024")
	f.service("later")
	if laterOfFirst(t) {
		f.converged("later", func() map[string]int { return everywhere(nodes) })
	} else {
		f.eventually("the refusal in the log", func() error {
			if !strings.Contains(f.controller.Log(), " Status Code: 400 Code: ShareSlbHaltSales Message: The share instance has been discontinued.") {
				return errors.New("it is not there")
			}
			return nil
		})
	}
	f.deleteService("later")
	f.endFirst("web")
}

// TestFirstReuse proves that CCMs before v2 let Services share a load balancer. Those of 2018
// take another owner's listener there for one of an earlier CCM's, as it has no description,
// and delete it.
func TestFirstReuse(t *testing.T) {
	requireCCM(t, beforeV2)
	f := startFirst(t)
	id := f.createLoadBalancer()
	var want []string
	for i, name := range []string{"one", "two"} {
		service := f.service(name, func(s *corev1.Service) {
			s.Annotations[annotationID], s.Annotations[annotationOverride], s.Spec.Ports[0].Port = id, "true", int32(80+i)
		})
		want = append(want, expected(service, everywhere(nodes))...)
	}
	if laterOfFirst(t) {
		want = append(want, "tcp:9999 running []")
	}
	f.eventually("the listeners of both", func() error {
		if got, err := f.listeners(id); err != nil || !slices.Equal(got, want) {
			return fmt.Errorf("%q (%v), want %q", got, err, want)
		}
		return nil
	})
	if !laterOfFirst(t) {
		f.endFirst("two")
	}
}

// endFirst deletes a Service, and waits for the deletion of its load balancer, as nothing else
// does: Services have no finalizer yet. CCMs of 2018 panic instead, in their code for private
// zones, and leave the load balancer.
func (f *fixture) endFirst(name string) {
	f.deleteService(name)
	if laterOfFirst(f.T) {
		f.noLoadBalancer()
		return
	}
	f.leaves = 1
	f.eventually("the panic", func() error {
		if !strings.Contains(f.controller.Log(), "nil pointer dereference") {
			return errors.New("the CCM runs")
		}
		return nil
	})
}

// laterOfFirst reports whether the CCM is one of 2020: it has an annotation that those of 2018
// lack.
func laterOfFirst(t *testing.T) bool { return knows(t, "remove-unscheduled-backend") }
