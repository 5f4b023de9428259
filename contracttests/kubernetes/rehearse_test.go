package kubernetes_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/tools"
)

// TestRehearse proves that a rehearsal with the version that made the load balancers is clean, on a control
// plane of its own, with the uids by which the controller finds them; that it finds what was edited by hand,
// which the controller would undo; that preserved load balancers lose their listeners with their Services where
// the real CCM does that, as https://github.com/kubernetes/cloud-provider-alibaba-cloud/pull/491 says of NLB and a
// comment there of CLB, and that the driver, which keeps them, is clean; and that a manifest gets its load balancer.
func TestRehearse(t *testing.T) {
	f := start(t, withNLB)
	f.deploy(2)
	f.service("web", func(s *corev1.Service) {
		s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "tls", Port: 443})
	})
	f.service("local", func(s *corev1.Service) { s.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal })
	f.service("balanced", ofNLB)
	f.convergedNLB("balanced")
	id := f.converged("web", func() map[string]int { return everywhere(nodes) })
	f.awaitEvent(corev1.EventTypeNormal, "EnsuredLoadBalancer", "")
	objects, preserved := filepath.Join(f.dir, "cluster.json"), filepath.Join(f.dir, "preserving.json")
	kubectl := exec.CommandContext(f.ctx, f.cluster.Kubectl(), "--kubeconfig", f.cluster.Kubeconfig, "get", "services,endpointslices,nodes", "--namespace", f.namespace, "--output", "json")
	listed, err := kubectl.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(objects, listed, 0o600), os.WriteFile(preserved, preserving(t, listed), 0o600)); err != nil {
		t.Fatal(err)
	}
	rehearsal := f.rehearsal(t)
	if code, out := rehearsal("same", "--objects", objects); code != 0 || !strings.Contains(out, "a node leaves: ") || !strings.Contains(out, "changes nothing that it should not") || strings.Contains(out, "not played") {
		t.Errorf("the same version = %d, %s", code, out)
	}
	wantCode, wants := 0, []string{"the Services are deleted: ", "changes nothing that it should not"}
	if ccmBinary() != "" {
		wantCode, wants = 1, []string{"/web (" + id + ")\n    delete listener ", "    delete listener 80\n      clients notice: listener tcp 80 deleted", "/balanced (nlb-", "the Services are deleted: "}
	}
	code, out := rehearsal("preserved", "--objects", preserved)
	for _, want := range wants {
		if _, last, _ := strings.Cut(out, "one change is throttled: "); code != wantCode || !strings.Contains(last, want) {
			t.Errorf("preserved load balancers = %d, want %d and %q: %s", code, wantCode, want, out)
		}
	}
	manifest := filepath.Join(f.dir, "new.yaml")
	text := "apiVersion: v1\nkind: Service\nmetadata: {name: new, namespace: " + f.namespace + "}\nspec: {type: LoadBalancer, selector: {app: web}, ports: [{port: 80}]}\n"
	if err := os.WriteFile(manifest, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out := rehearsal("apply", "--objects", objects, "--apply", manifest); code != 0 || !strings.Contains(out, f.namespace+"/new: it gets ") || !strings.Contains(out, " tcp 80 running, 3 servers with a weight") {
		t.Errorf("a manifest = %d, %s", code, out)
	}
	f.controller.Kill()
	t.Cleanup(f.startController) // which the end of the test needs
	f.call("StopLoadBalancerListener", "LoadBalancerId="+id, "ListenerPort=80", "ListenerProtocol=tcp")
	if code, out := rehearsal("edited", "--objects", objects); code != 1 || !strings.Contains(out, "start listener 80") || !strings.Contains(out, f.namespace+"/web ("+id+")") {
		t.Errorf("a stopped listener = %d, %s", code, out)
	}
}

// rehearsal returns what runs clbemu rehearse with the controller, on a copy of the cloud as it is then.
func (f *fixture) rehearsal(t *testing.T) func(name string, args ...string) (int, string) {
	programs, err := tools.Cached()
	if err != nil {
		t.Fatal(err)
	}
	return func(name string, args ...string) (int, string) {
		t.Helper()
		state, err := f.cloud.Control(f.ctx, "state", "export")
		if err != nil {
			t.Fatal(err)
		}
		file, copied := filepath.Join(f.dir, name+".json"), filepath.Join(f.dir, name)
		if err := os.WriteFile(file, []byte(state), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := binary.Run(t, "state", "import", "--data-dir", copied, file); r.Code != 0 {
			t.Fatal(r.Stderr)
		}
		cmd := exec.CommandContext(context.WithoutCancel(f.ctx), binary.Path, append([]string{"rehearse", "--data-dir", copied, "--ccm", controllerBinary(), "--quiet", "5s"}, args...)...)
		cmd.Env = append(os.Environ(), "TEST_ASSET_ETCD="+programs.Path("server"), "TEST_ASSET_KUBE_APISERVER="+programs.Path("kube-apiserver"))
		r := binary.Finish(t, cmd)
		return r.Code, r.Stdout + r.Stderr
	}
}

// preserving returns a list of objects in which the Services preserve their load balancers.
func preserving(t *testing.T, listed []byte) []byte {
	t.Helper()
	var list map[string]any
	err := json.Unmarshal(listed, &list)
	for _, item := range list["items"].([]any) {
		o := item.(map[string]any)
		if o["kind"] == "Service" {
			metadata := o["metadata"].(map[string]any)
			annotations, has := metadata["annotations"].(map[string]any)
			if !has {
				annotations = make(map[string]any)
				metadata["annotations"] = annotations
			}
			annotations["service.beta.kubernetes.io/alibaba-cloud-loadbalancer-preserve-lb-on-delete"] = "true"
		}
	}
	changed, marshalErr := json.Marshal(list)
	if err := errors.Join(err, marshalErr); err != nil {
		t.Fatal(err)
	}
	return changed
}
