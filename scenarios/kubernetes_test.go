package scenarios_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/scenarios"
)

// TestKubectl proves what kubectl gets, and that applied objects are deleted at the
// end.
func TestKubectl(t *testing.T) {
	c := &fakeCluster{}
	result := play(t, `
values: {name: web}
kubernetes:
  steps:
    - kubectl: {apply: [{kind: Service, metadata: {name: "{{name}}"}}, {kind: Secret}]}
    - kubectl: {apply: "kind: Pod\n"}
    - kubectl: {patch: {object: service/web, namespace: prod, merge: {spec: {type: NodePort}}}}
    - kubectl: {patch: {object: service/web, namespace: prod, subresource: status, merge: {status: {loadBalancer: null}}}}
    - kubectl: {delete: [{kind: Service, metadata: {name: "{{name}}"}}, {kind: Secret, metadata: {name: key, namespace: prod}}]}
`, scenarios.KubernetesPart, scenarios.Setup{Target: &fake{}, Cluster: c})
	want := []string{
		"apply --filename - --output json kind: Service|metadata: {name: \"web\"}|---|kind: Secret|",
		"apply --filename - --output json kind: Pod|",
		"patch service/web --namespace prod --type merge --patch spec: {type: NodePort}",
		"patch service/web --namespace prod --type merge --patch status: {loadBalancer: null} --subresource status",
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

// TestControllerLetsGo proves that a controller that runs at the end of a scenario has time
// to let go of the objects, and that nothing waits for one that has ended.
func TestControllerLetsGo(t *testing.T) {
	for takes, want := range map[time.Duration]string{time.Hour: "--timeout 5s", 0: "--wait=false"} {
		c, f := &fakeCluster{}, &fake{}
		p := &fakePrograms{fake: f, takes: takes}
		stopped := -1
		c.deleted = func() { stopped = p.stopped }
		play(t, "kubernetes: {steps: [{kubectl: {apply: {kind: Service}}}, {kubectl: {delete: {kind: Service, metadata: {name: web}}}}]}", scenarios.KubernetesPart,
			scenarios.Setup{Target: f, Cluster: c, Programs: p, Program: scenarios.Program{Command: []string{"controller"}}})
		if last := c.did[len(c.did)-1]; !strings.HasPrefix(last, "delete --filename - --ignore-not-found "+want) || stopped != 0 || p.stopped != 1 {
			t.Errorf("with a controller that runs for %v: kubectl %s, after %d of %d stops", takes, last, stopped, p.stopped)
		}
	}
}

// TestKubernetesExpectations proves of each expectation of the cluster that it
// holds and that it fails.
func TestKubernetesExpectations(t *testing.T) {
	tests := []struct{ expect, want string }{
		{"service: {name: web, fields: {status.loadBalancer.ingress.0.ip: 1.2.3.4}}", ""},
		{"service: {name: web, fields: {status.loadBalancer.ingress.0.ip: 4.3.2.1}}", `ip "4.3.2.1", saw status.loadBalancer.ingress.0.ip "1.2.3.4"`},
		{"service: {name: none, fields: {a: b}}", "expected service/none in the cluster, saw Error from server (NotFound): not found"},
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
		result := play(t, "kubernetes:\n  expect:\n    - "+test.expect+"\n  steps: [{set: {a: b}}]\n", scenarios.KubernetesPart, scenarios.Setup{Target: &fake{}, Cluster: c})
		judge(t, test.expect, result, test.want)
	}
}

// TestBalancer proves that a step knows the load balancer of the Service that was
// applied by the name that Kubernetes gives it, and its refusals.
func TestBalancer(t *testing.T) {
	const text = `
kubernetes:
  steps:
    - kubectl: {apply: [{kind: Service, metadata: {name: web}}, {kind: Secret, metadata: {name: key}}], balancer: own}
    - call: {action: DescribeLoadBalancers, params: {LoadBalancerName: "{{own}}"}}
`
	var asked []string
	f := &fake{}
	f.answer = func(call scenarios.APICall) scenarios.Answer {
		asked = append(asked, call.Params["LoadBalancerName"])
		return scenarios.Answer{Status: 200}
	}
	const secret, service = `{"kind": "Secret", "metadata": {"name": "key", "uid": "1"}}`, `{"kind": "Service", "metadata": {"name": "web", "uid": "5e4dbfc9-c2ae-4642-b033-5607860aef6a"}}`
	c := &fakeCluster{answers: map[string]string{"apply": `{"kind": "List", "items": [` + secret + `, ` + service + `]}`}}
	result := play(t, text, scenarios.KubernetesPart, scenarios.Setup{Target: f, Cluster: c})
	if result.Status != scenarios.Passed || !slices.Equal(asked, []string{"a5e4dbfc9c2ae4642b0335607860aef6"}) {
		t.Errorf("Play = %+v, and asked for %q", result, asked)
	}
	c.answers["apply"] = secret
	result = play(t, text, scenarios.KubernetesPart, scenarios.Setup{Target: f, Cluster: c})
	if result.Status != scenarios.Broken || !strings.Contains(result.Failure.String(), "kubectl apply printed no Service with a uid") {
		t.Errorf("without a Service: Play = %+v", result)
	}
	for wrong, want := range map[string]string{
		"{delete: {kind: Service, metadata: {name: web}}, balancer: own}":                                          "balancer is about a Service that apply makes",
		"{apply: {kind: Secret, metadata: {name: web}}, balancer: own}":                                            "it is about one Service, and apply has 0",
		"{apply: [{kind: Service, metadata: {name: web}}, {kind: Service, metadata: {name: two}}], balancer: own}": "it is about one Service, and apply has 2",
		"{apply: {kind: Service, metadata: {name: web}}, balancer: 1x}":                                            "it is not a name for a value",
	} {
		_, err := scenarios.Load("f.yaml", []byte("about: a\nkubernetes:\n  steps:\n    - kubectl: "+wrong+"\n    - call: {action: D, params: {A: \"{{own}}\"}}\n"), scenarios.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is answered with %v, want %q", wrong, err, want)
		}
	}
}

// TestNoCluster proves that a kubernetes part is not played without a cluster.
func TestNoCluster(t *testing.T) {
	f := &fake{}
	result := play(t, "kubernetes: {steps: [{set: {a: b}}]}\n", scenarios.KubernetesPart, scenarios.Setup{Target: f})
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
		if result := play(t, text, scenarios.KubernetesPart, scenarios.Setup{Target: &fake{}, Cluster: c}); result.Status != want {
			t.Errorf("with %q in the cluster: %+v, want %s", answer, result, want)
		}
	}
}

// TestEventsOfThisPlay proves that an Event counts when it happened since the part
// began, to an object that the part applied: a cluster keeps those of earlier plays.
func TestEventsOfThisPlay(t *testing.T) {
	const text = "kubernetes:\n  steps: [{kubectl: {apply: {kind: Service, metadata: {name: web}}}}]\n  expect: [{event: {object: Service/web, reason: Failed}}]\n"
	const before, now = "get events --namespace default --output json", "get events --namespace default --output json --field-selector"
	event := func(version, object string) string {
		return `{"items": [{"metadata": {"uid": "e1", "resourceVersion": "` + version + `"}, "involvedObject": {"uid": "` + object + `"}, "reason": "Failed"}]}`
	}
	for name, test := range map[string]struct{ before, now, want string }{
		"new":                         {`{"items": []}`, event("1", "u2"), ""},
		"of an earlier play":          {event("1", "u2"), event("1", "u2"), "expected an event Failed about Service/web, saw the events: "},
		"of earlier, and again":       {event("1", "u2"), event("2", "u2"), ""},
		"of another of the same name": {`{"items": []}`, event("1", "u1"), "expected an event Failed about Service/web, saw the events: "},
		"of an object without uid":    {`{"items": []}`, event("1", ""), ""},
	} {
		c := &orderedCluster{fakeCluster{answers: map[string]string{
			now: test.now, "apply": `{"kind": "Service", "metadata": {"name": "web", "namespace": "default", "uid": "u2"}}`,
		}}, []string{before}, []string{test.before}}
		result := play(t, text, scenarios.KubernetesPart, scenarios.Setup{Target: &fake{}, Cluster: c})
		judge(t, name, result, test.want)
	}
}

// TestEventsSinceMark proves that an Event before a mark does not count after it.
func TestEventsSinceMark(t *testing.T) {
	const text = `kubernetes:
  expect:
    - event: {object: Service/web, reason: Failed, since: cured}
  steps:
    - kubectl: {apply: {kind: Service, metadata: {name: web}}}
    - expect: [{event: {object: Service/web, reason: Failed}}]
    - mark: cured
`
	const all, selected = "get events --namespace default --output json", "get events --namespace default --output json --field-selector"
	event := func(version string) string {
		return `{"items": [{"metadata": {"uid": "e1", "resourceVersion": "` + version + `"}, "involvedObject": {"uid": "u2"}, "reason": "Failed"}]}`
	}
	for atMark, want := range map[string]string{event("2"): "expected an event Failed about Service/web, saw the events: ", event("1"): ""} {
		c := &orderedCluster{fakeCluster{answers: map[string]string{
			selected: event("2"), "apply": `{"kind": "Service", "metadata": {"name": "web", "namespace": "default", "uid": "u2"}}`,
		}}, []string{all, all}, []string{`{"items": []}`, atMark}}
		result := play(t, text, scenarios.KubernetesPart, scenarios.Setup{Target: &fake{}, Cluster: c})
		judge(t, "at the mark "+atMark, result, want)
	}
}

// orderedCluster answers some commands by their whole text, once each.
type orderedCluster struct {
	fakeCluster
	commands, replies []string
}

func (c *orderedCluster) Kubectl(ctx context.Context, stdin string, args ...string) ([]byte, error) {
	if len(c.commands) > 0 && strings.Join(args, " ") == c.commands[0] {
		reply := c.replies[0]
		c.commands, c.replies = c.commands[1:], c.replies[1:]
		return []byte(reply), nil
	}
	return c.fakeCluster.Kubectl(ctx, stdin, args...)
}

// TestIdlePart proves that a part which could not fail is found: when it is read, as
// far as its form shows, and when it is played.
func TestIdlePart(t *testing.T) {
	const set, apply = "  steps: [{set: {a: b}}]\n", "  steps: [{kubectl: {apply: {kind: Service, metadata: {name: web}}}}]\n"
	const none, one = "  expect: [{calls: {action: Delete*, none: true}}]\n", "  expect: [{calls: {action: Delete*, exactly: 1}}]\n"
	for _, test := range []struct {
		text, part    string
		warned, noted bool
	}{
		{"client:\n" + set + none, scenarios.ClientPart, true, true},
		{"client:\n" + set + one, scenarios.ClientPart, false, false},
		{"client:\n  steps: [{call: {action: Describe}}]\n" + none, scenarios.ClientPart, false, false},
		{"client:\n" + set + "  expect: [{quota: {name: q, used: 3}}]\n", scenarios.ClientPart, false, true},
		{"kubernetes:\n" + apply + none, scenarios.KubernetesPart, true, true},
		{"kubernetes:\n" + apply + "  expect: [{event: {object: Service/web, reason: Failed, absent: true}}]\n", scenarios.KubernetesPart, true, true},
		{"kubernetes:\n" + apply + one, scenarios.KubernetesPart, false, false},
	} {
		s, err := scenarios.Load("f.yaml", []byte("about: a\n"+test.text), scenarios.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(s.Warnings()) > 0; got != test.warned {
			t.Errorf("%s\nhas the warnings %v, want some: %v", test.text, s.Warnings(), test.warned)
		}
		c := &fakeCluster{answers: map[string]string{"get events": `{"items": []}`}}
		result := scenarios.Play(t.Context(), s, test.part, scenarios.Setup{Target: &fake{}, Cluster: c})
		if got := len(result.Notes) > 0; got != test.noted {
			t.Errorf("%s\nhas the notes %q, want one: %v", test.text, result.Notes, test.noted)
		}
	}
	if _, err := scenarios.Load("f.yaml", []byte("about: a\nclient:\n"+none), scenarios.Options{}); err == nil || !strings.Contains(err.Error(), "client: it has no steps") {
		t.Errorf("a part without steps is answered with %v", err)
	}
}
