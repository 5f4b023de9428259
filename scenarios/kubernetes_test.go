package scenarios_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/scenarios"
)

// TestKubectl proves what kubectl is told, and that what was applied is deleted
// in the end.
func TestKubectl(t *testing.T) {
	c := &fakeCluster{}
	result := play(t, `
values: {name: web}
kubernetes:
  steps:
    - kubectl: {apply: [{kind: Service, metadata: {name: "{{name}}"}}, {kind: Secret}]}
    - kubectl: {apply: "kind: Pod\n"}
    - kubectl: {patch: {object: service/web, namespace: prod, merge: {spec: {type: NodePort}}}}
    - kubectl: {delete: [{kind: Service, metadata: {name: "{{name}}"}}, {kind: Secret, metadata: {name: key, namespace: prod}}]}
`, scenarios.KubernetesHalf, scenarios.Setup{Target: &fake{}, Cluster: c})
	want := []string{
		"apply --filename - kind: Service|metadata: {name: \"web\"}|---|kind: Secret|",
		"apply --filename - kind: Pod|",
		"patch service/web --namespace prod --type merge --patch spec: {type: NodePort}",
		"delete Service web --namespace default --ignore-not-found --wait=false",
		"delete Secret key --namespace prod --ignore-not-found --wait=false",
		"delete --filename - --ignore-not-found --wait=false kind: Pod|",
		"delete --filename - --ignore-not-found --wait=false kind: Service|metadata: {name: \"web\"}|---|kind: Secret|",
	}
	flat := make([]string, len(c.did))
	for i, line := range c.did {
		flat[i] = strings.ReplaceAll(strings.ReplaceAll(line, "{kind", "kind"), "}|", "|")
	}
	if result.Status != scenarios.Passed || len(c.did) != len(want) {
		t.Fatalf("Play = %+v, kubectl was told\n%s", result, strings.Join(c.did, "\n"))
	}
	for i := range want {
		for _, word := range strings.Fields(strings.NewReplacer("|", " ", "{", " ", "}", " ", `"`, " ").Replace(want[i])) {
			if !strings.Contains(c.did[i], word) {
				t.Errorf("kubectl %d was told %q, want %q in it", i, c.did[i], word)
			}
		}
	}
	if !slices.ContainsFunc(flat, func(s string) bool { return strings.Contains(s, "---") }) {
		t.Errorf("two objects are not two documents: %q", c.did)
	}
}

// TestKubernetesExpectations proves of each expectation of the cluster that it
// holds and that it fails.
func TestKubernetesExpectations(t *testing.T) {
	tests := []struct{ expect, want string }{
		{"service: {name: web, fields: {status.loadBalancer.ingress.0.ip: 1.2.3.4}}", ""},
		{"service: {name: web, fields: {status.loadBalancer.ingress.0.ip: 4.3.2.1}}", `ip "4.3.2.1", saw status.loadBalancer.ingress.0.ip "1.2.3.4"`},
		{"service: {name: none, fields: {a: b}}", "expected service/none in the cluster, saw not found"},
		{"event: {object: Service/web, reason: Failed}", ""},
		{"event: {object: Service/web, reason: Failed, message: {matches: quota}}", ""},
		{"event: {object: Service/web, reason: Failed, message: {matches: money}}", "saw the events: Failed over quota"},
		{"event: {object: Service/web, reason: Ensured, absent: true}", ""},
		{"event: {object: Service/web, reason: Failed, absent: true}", "expected no such thing as an event Failed about Service/web"},
		{"finalizer: {object: service/web, name: service.k8s.alibaba/resources}", ""},
		{"finalizer: {object: service/web, name: other}", "expected the finalizer other on service/web, saw the finalizers: service.k8s.alibaba/resources"},
		{"finalizer: {object: service/none, name: other, absent: true}", ""},
		{"finalizer: {object: service/web, name: service.k8s.alibaba/resources, absent: true}", "expected no finalizer"},
	}
	for _, test := range tests {
		c := &fakeCluster{answers: map[string]string{
			"get service/web --namespace default": `{"metadata": {"finalizers": ["service.k8s.alibaba/resources"]}, "status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}}`,
			"get events --namespace default --output json --field-selector involvedObject.kind=Service,involvedObject.name=web": `{"items": [{"reason": "Failed", "message": "over quota"}]}`,
		}}
		result := play(t, "kubernetes:\n  expect:\n    - "+test.expect+"\n", scenarios.KubernetesHalf, scenarios.Setup{Target: &fake{}, Cluster: c})
		judge(t, test.expect, result, test.want)
	}
}

// TestNoCluster proves that a kubernetes half is not played without a cluster.
func TestNoCluster(t *testing.T) {
	f := &fake{}
	result := play(t, "kubernetes: {steps: [{set: {a: b}}]}\n", scenarios.KubernetesHalf, scenarios.Setup{Target: f})
	if result.Status != scenarios.Broken || len(f.did) > 0 {
		t.Errorf("Play = %+v and did %v, want it broken and nothing done", result, f.did)
	}
}

// TestGivenCluster proves that a scenario is not played in a cluster that has not
// what it says is there.
func TestGivenCluster(t *testing.T) {
	text := "given: {cluster: [{kind: Node, name: worker-1}]}\nkubernetes: {steps: [{set: {a: b}}]}\n"
	for answer, want := range map[string]scenarios.Status{"worker-1": scenarios.Passed, "": scenarios.Broken} {
		c := &fakeCluster{answers: map[string]string{"get Node " + answer: "{}"}}
		if answer == "" {
			c.answers = nil
		}
		if result := play(t, text, scenarios.KubernetesHalf, scenarios.Setup{Target: &fake{}, Cluster: c}); result.Status != want {
			t.Errorf("with %q in the cluster: %+v, want %s", answer, result, want)
		}
	}
}
