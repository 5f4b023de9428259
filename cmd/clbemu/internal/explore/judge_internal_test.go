package explore

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/scenarios"
)

// TestJudge proves of each thing that a play may miss which rule it violates, which of two
// says more, and that a rule that is off does not count.
func TestJudge(t *testing.T) {
	unmet := func(steps ...string) scenarios.Result {
		f := &scenarios.Failure{}
		for _, step := range steps {
			f.Unmet = append(f.Unmet, scenarios.Unmet{Step: step, Expected: "a", Seen: "b"})
		}
		return scenarios.Result{Status: scenarios.Failed, Failure: f}
	}
	for _, tt := range []struct {
		result scenarios.Result
		off    []string
		want   string
	}{
		{scenarios.Result{Status: scenarios.Passed}, nil, ""},
		{unmet("expect ingress"), nil, ruleStatus},
		{unmet("expect backends"), nil, ruleBackends},
		{unmet("expect refused calls"), nil, ruleRefused},
		{unmet("expect calls of " + writeGlobs), nil, ruleRest},
		{unmet("expect calls of any action"), nil, ruleCalls},
		{unmet("wait for rest"), nil, ruleEnds},
		{unmet("expect state", "expect ingress"), nil, ruleStatus},
		{unmet("expect state", "expect backends"), nil, ruleBackends},
		{unmet("expect refused calls", "expect state"), nil, ruleState},
		{unmet("expect ingress"), []string{ruleStatus}, ""},
		{unmet("expect backends", "expect refused calls"), []string{ruleBackends}, ruleRefused},
	} {
		e := &explorer{base: &observed{}, subject: subject{Explore: scenarios.Explore{Off: tt.off}}}
		var o Outcome
		if e.judge(&o, &observed{result: tt.result}); o.Rule != tt.want || (o.Verdict == Violated) != (tt.want != "") {
			t.Errorf("%v without %q violates %q (%s), want %q", tt.result.Failure, tt.off, o.Rule, o.Verdict, tt.want)
		}
	}
	for _, r := range scenarios.Rules {
		if rankOf(r[0]) < 0 {
			t.Errorf("the rule %s has no rank", r[0])
		}
	}
}

// service is a half with three rests.
const service = `about: A controller serves a Service.
kubernetes:
  steps:
    - kubectl: {apply: {apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}, spec: {type: LoadBalancer, ports: [{port: 80}]}}}
    - rest: {quiet: 1s}
    - kubectl: {patch: {object: service/web, namespace: shop, merge: {spec: {ports: [{port: 81}]}}}}
    - rest: {quiet: 1s}
    - kubectl: {delete: {kind: Service, metadata: {name: web, namespace: shop}}}
    - rest: {quiet: 1s}
`

// TestClusterRules proves where the plays of a cluster's controller expect what, and that
// each of them can be read.
func TestClusterRules(t *testing.T) {
	const web = "LoadBalancer web"
	add := Call{Product: "Slb", Action: "AddVServerGroupBackendServers", N: 2, Write: true}
	look := Call{Product: "Ecs", Action: "DescribeNetworkInterfaces", N: 1, address: "10.0.0.1"}
	conditions := []Condition{{Name: "arrears", On: map[string]string{"account.arrears": "true"}, Off: map[string]string{"account.arrears": "false"}},
		{Name: "nodeGone", Refuses: map[string]string{add.Action: "{code: InvalidServerId.NotExist}"}}, {Name: "podWithoutInterface", Interface: true}}
	for _, tt := range []struct {
		play planned
		off  []string
		want map[string]int // how often the text has these
	}{
		{nil, nil, map[string]int{"ingress: {namespace: shop}": 2, "ingress: {namespace: shop, kinds: {web: [\"public\", \"name\"]}}": 1, "backends: {since: rest-1}": 1, "backends: {since: rest-2}": 1, "refused:": 1, "mark: rest-": 2}},
		{planned{{Kind: "stopped", What: "web", Rest: 1}}, nil, map[string]int{"backends: {since: rest-1}": 1, "rest-2": 0, "refused:": 1}},
		{nil, []string{ruleStatus, ruleBackends, ruleRefused}, map[string]int{"ingress:": 0, "backends:": 0, "refused:": 0, "mark: rest-": 0, "state:": 3}},
		{planned{{Kind: conditionKind, What: "nodeGone", At: add}}, nil, map[string]int{"code: InvalidServerId.NotExist": 1, "skip: 1}": 1, "clear: disturbance": 1, "name: condition": 1}},
		{planned{{Kind: conditionKind, What: "podWithoutInterface", At: look}}, nil, map[string]int{"DeleteNetworkInterface,": 1, "CreateNetworkInterface,": 1}},
	} {
		e := &explorer{Config: Config{Text: []byte(service), Half: scenarios.KubernetesHalf, Conditions: conditions}, subject: subject{program: true, Explore: scenarios.Explore{Off: tt.off}.WithDefaults()},
			base: &observed{states: [][]string{{web}, {web}, nil, nil}, steps: []uint64{1, 2, 3, 4, 5, 6},
				ingress: []map[string]map[string][]string{{"other": {"web": {"private"}}}, {"shop": {"web": {"public", "name"}}}}}}
		text, err := e.compose(tt.play, true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := scenarios.Load("play.yaml", []byte(text), scenarios.Options{}); err != nil {
			t.Errorf("%v: %v\n%s", tt.play, err, text)
		}
		for part, n := range tt.want {
			if got := strings.Count(text, part); got != n {
				t.Errorf("%v has %q %d times, want %d:\n%s", tt.play, part, got, n, text)
			}
		}
	}
	e := &explorer{Config: Config{Conditions: conditions}, subject: subject{program: true}}
	for call, want := range map[Call]string{add: "[arrears nodeGone]", look: "[podWithoutInterface]", {Action: "CreateLoadBalancer", Write: true}: "[arrears]", {Action: "DescribeRegions"}: "[]"} {
		if got := conditionNames(e, call); fmt.Sprint(got) != want || !slices.IsSorted(got) {
			t.Errorf("the conditions at %s are %q, want %s", call, got, want)
		}
	}
}

// TestRuleOfState proves of each kind of difference which rule it violates.
func TestRuleOfState(t *testing.T) {
	const web, stopped, group = `LoadBalancer web Status="active"`, `LoadBalancer web Status="inactive"`, `VServerGroup g LoadBalancerID="web"`
	for _, tt := range []struct {
		empty          bool
		missing, extra []string
		want           string
	}{
		{false, nil, []string{web}, ruleDouble},
		{true, nil, []string{web}, ruleLeft},
		{true, nil, []string{group}, ruleLeft},
		{false, nil, []string{group}, ruleState}, // at a rest before the end
		{false, []string{web}, []string{stopped}, ruleRuns},
		{false, nil, []string{"- VPC a"}, ruleOthers},
		{true, nil, []string{"- VPC a"}, ruleOthers},
		{false, []string{group}, nil, ruleState},
		{false, []string{web}, nil, ruleState},
	} {
		if got := ruleOfState(tt.empty, tt.missing, tt.extra); got != tt.want {
			t.Errorf("missing %q and too much %q where nothing should be, %v: %s, want %s", tt.missing, tt.extra, tt.empty, got, tt.want)
		}
	}
}

// TestDifference proves that the difference of two states names what differs.
func TestDifference(t *testing.T) {
	whole := Finding{Rule: ruleStatus, Expected: "a load balancer at the address in the status of service/web within 45s", Seen: "192.0.2.1, which none has"}
	if got := whole.Difference(); len(got) != 2 || got[0] != "expected "+whole.Expected || got[1] != "saw "+whole.Seen {
		t.Errorf("what is no state differs by %q", got)
	}
	f := Finding{Rule: ruleState, Expected: `Listener LoadBalancerID="web" Port=80 Protocol="tcp" Status="running"` + "\n" + `VServerGroup g A=1 within 1m`,
		Seen: `Listener LoadBalancerID="web" Port=80 Protocol="tcp" Status="stopped"` + "\n- VPC a\nLoadBalancer two B=2"}
	got := f.Difference()
	want := []string{`Listener web:80:tcp: Status is "stopped", want "running"`, "missing: VServerGroup g", "gone: VPC a", "too much: LoadBalancer two"}
	if len(got) != len(want) {
		t.Fatalf("= %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d is %q, want %q", i, got[i], want[i])
		}
	}
}
