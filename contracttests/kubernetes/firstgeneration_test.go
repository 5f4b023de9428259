package kubernetes_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// beforeV2 is what the tests of this file need a CCM for.
const beforeV2 = "what the CCMs of 2018 to 2020 do"

// TestFirstWeights proves how CCMs before v2 weigh nodes under the Local policy: all by
// 100, and from v1.9.3.164 on by their share of the pods in percent, rounded down, so that
// the weights need not add up to 100.
func TestFirstWeights(t *testing.T) {
	requireCCM(t, beforeV2)
	if !isFirstGeneration(t) {
		t.Skip("the CCM of CCM_BIN is newer")
	}
	f := start(t)
	f.deploy(4)
	f.service("web", func(s *corev1.Service) { s.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal })
	f.converged("web", f.firstWeights(4))
	f.scale(7)
	f.converged("web", f.firstWeights(7))
	f.deleteService("web")
	f.noLoadBalancer() // which nothing waits for: Services have no finalizer yet
}

// firstWeights returns the weights of so many pods.
func (f *fixture) firstWeights(pods int) func() map[string]int {
	count, shares := f.podsByInstance(pods), knows(f.T, "remove-unscheduled-backend") // an annotation of the later ones
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

// TestFirstEvents proves that CCMs before v2 write no Event on Kubernetes of today: it no
// longer sets the selfLink by which they name what an Event is about.
func TestFirstEvents(t *testing.T) {
	requireCCM(t, beforeV2)
	if !isFirstGeneration(t) {
		t.Skip("the CCM of CCM_BIN is newer")
	}
	f := start(t)
	f.service("web")
	f.converged("web", func() map[string]int { return everywhere(nodes) })
	if events := f.heard(); len(events) > 0 {
		t.Errorf("the Events are %q", events)
	}
	if !strings.Contains(f.controller.Log(), "Could not construct reference") {
		t.Error("the CCM does not log why it writes no Event")
	}
	f.deleteService("web")
	f.noLoadBalancer()
}
