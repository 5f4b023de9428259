package explore

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/scenarios"
)

// TestJudge proves of each thing that a play may miss which rule it violates, which of two
// says more, that a rule that is off does not count, and that no title changes a verdict.
func TestJudge(t *testing.T) {
	// What people read says something else in each case.
	of := func(text string) scenarios.Unmet {
		u := scenarios.Unmet{Step: "expect state", Expected: "nothing", Seen: "400 Code: b", Of: &scenarios.Expectation{}}
		d := scenarios.NewDecoder("")
		if d.Decode(d.Document([]byte(text)), u.Of, ""); d.Err() != nil {
			t.Fatal(d.Err())
		}
		return u
	}
	unmet := func(all ...scenarios.Unmet) scenarios.Result {
		return scenarios.Result{Status: scenarios.Failed, Failure: &scenarios.Failure{Unmet: all}}
	}
	ingress, backends, refused, state, calls, rest := of("ingress: {}"), of("backends: {}"), of("refused: {}"), of("state: [LoadBalancer web]"), of("calls: {none: true}"), of("calls: {none: true, since: "+atRestMark+"}")
	deleted := of("calls: {none: true, since: " + againMark + "}")
	for _, tt := range []struct {
		result scenarios.Result
		off    []string
		want   string
	}{
		{scenarios.Result{Status: scenarios.Passed}, nil, ""},
		{unmet(ingress), nil, ruleStatus},
		{unmet(backends), nil, ruleBackends},
		{unmet(refused), nil, ruleRefused},
		{unmet(rest), nil, ruleRest},
		{unmet(backends, deleted), nil, ruleReplaced},
		{unmet(calls), nil, ruleCalls},
		{unmet(scenarios.Unmet{Kind: "call", Step: "expect ingress"}), nil, ruleEnds},
		{unmet(state, ingress), nil, ruleStatus},
		{unmet(state, backends), nil, ruleBackends},
		{unmet(refused, state), nil, ruleState},
		{unmet(ingress), []string{ruleStatus}, ""},
		{unmet(backends, refused), []string{ruleBackends}, ruleRefused},
	} {
		e := &explorer{base: &observed{}, subject: subject{Explore: scenarios.Explore{Off: tt.off}}}
		for _, title := range []string{"expect state", "expect ingress", "wait for rest", "call Create", "condition", "nothing more"} {
			if tt.result.Failure != nil {
				for i := range tt.result.Failure.Unmet {
					tt.result.Failure.Unmet[i].Step = title
				}
			}
			var o Outcome
			if e.judge(&o, &observed{result: tt.result}); o.Rule != tt.want || (o.Verdict == Violated) != (tt.want != "") {
				t.Errorf("%v without %q violates %q (%s), want %q", tt.result.Failure, tt.off, o.Rule, o.Verdict, tt.want)
			}
		}
	}
	for _, r := range scenarios.Rules {
		if rankOf(r[0]) < 0 {
			t.Errorf("the rule %s has no rank", r[0])
		}
	}
}

// service is a part with three rests.
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
	attached := Call{Product: "Ecs", Action: "DescribeNetworkInterfaces", N: 1, address: "10.0.0.2"}
	conditions := []Condition{{Name: "arrears", On: map[string]string{"account.arrears": "true"}, Off: map[string]string{"account.arrears": "false"}},
		{Name: "nodeGone", Refuses: map[string]string{add.Action: "{code: InvalidServerId.NotExist}"}}, {Name: "podWithoutInterface", Interface: true}}
	for _, tt := range []struct {
		play planned
		off  []string
		want map[string]int // how often the text has these
	}{
		{nil, nil, map[string]int{"ingress: {namespace: shop}": 2, "ingress: {namespace: shop, kinds: {web: [\"public\", \"name\"]}}": 1, "backends: {since: rest-1}": 1, "backends: {since: rest-2}": 1, "refused:": 1, "mark: rest-": 2,
			"served: {}": 1, `served: {since: rest-1, except: ["web tcp:80"]}`: 1, `served: {since: rest-2, except: ["web"]}`: 1}},
		{planned{{Kind: "stopped", What: "web", Rest: 1}}, nil, map[string]int{"backends: {since: rest-1}": 1, "rest-2": 0, "refused:": 1}},
		{nil, []string{ruleStatus, ruleBackends, ruleRefused}, map[string]int{"ingress:": 0, "backends:": 0, "refused:": 0, "mark: rest-": 0, "state:": 4, "rest: {": 0}},
		{planned{{Kind: conditionKind, What: "nodeGone", At: add, Skip: 1}}, nil, map[string]int{"code: InvalidServerId.NotExist": 1, "skip: 1}": 1, "clear: disturbance": 1, "name: condition": 1, "disturbed: {by: [disturbance], quiet: 8s, again: false}": 3}},
		{planned{{Kind: "lost", At: add}}, nil, map[string]int{"disturbed: {by: [disturbance], quiet: 8s, again: true}": 3, "within: 1m8s": 4, "after: 35s": 1}},
		{planned{{Kind: hangKind, At: add}}, nil, map[string]int{"disturbed: {by: [disturbance], quiet: 28s, again: true}": 3}},
		{planned{{Kind: conditionKind, What: "podWithoutInterface", At: look}}, nil, map[string]int{"DeleteNetworkInterface,": 1, "CreateNetworkInterface,": 1}},
		{planned{{Kind: conditionKind, What: "podWithoutInterface", At: attached}}, nil, map[string]int{"DetachNetworkInterface,": 1, "AttachNetworkInterface,": 1, "DeleteNetworkInterface": 0, "served:": 0}},
		{planned{{Kind: againKind, Rest: 1}}, nil, map[string]int{"{stop: true}": 1, "{start: true}": 1, "mark: again": 1, "backends: {since: again}": 1, "served: {since: again}": 1, "state:": 5, "backends: {since: rest-2}": 1}},
	} {
		e := &explorer{Config: Config{Text: []byte(service), Part: scenarios.KubernetesPart, Conditions: conditions}, subject: subject{program: true, Explore: scenarios.Explore{Off: tt.off}.WithDefaults(scenarios.KubernetesPart)},
			base: &observed{states: [][]string{{web}, {web}, nil, nil}, steps: []uint64{1, 2, 3, 4, 5, 6}, lost: [][]string{nil, {"web tcp:80"}, {"web"}},
				interfaces: []string{`NetworkInterface InstanceID="node-1" PrivateIPAddresses=["10.0.0.2"] Type="Secondary"`},
				ingress:    []map[string]map[string][]string{{"other": {"web": {"private"}}}, {"shop": {"web": {"public", "name"}}}}}}
		all, err := e.compose(tt.play, true)
		if err != nil {
			t.Fatal(err)
		}
		text := all.text
		if _, err := scenarios.Load("play.yaml", []byte(text), scenarios.Options{}); err != nil {
			t.Errorf("%v: %v\n%s", tt.play, err, text)
		}
		for part, n := range tt.want {
			if got := strings.Count(text, part); got != n {
				t.Errorf("%v has %q %d times, want %d:\n%s", tt.play, part, got, n, text)
			}
		}
	}
	own := Call{Product: "Ecs", Action: "DescribeNetworkInterfaces", N: 1, address: "10.0.0.9"}
	e := &explorer{Config: Config{Conditions: conditions}, subject: subject{program: true}, base: &observed{interfaces: []string{`NetworkInterface InstanceID="node-1" PrivateIPAddresses=["10.0.0.9"] Type="Primary"`}}}
	for call, want := range map[Call]string{add: "[arrears nodeGone]", look: "[podWithoutInterface]", own: "[]", {Action: "CreateLoadBalancer", Write: true}: "[arrears]", {Action: "DescribeRegions"}: "[]"} {
		if got := conditionNames(e, call); fmt.Sprint(got) != want || !slices.IsSorted(got) {
			t.Errorf("the conditions at %s are %q, want %s", call, got, want)
		}
	}
}

// TestRuleOfState proves of each kind of difference that its rule says what happened.
func TestRuleOfState(t *testing.T) {
	const web, stopped, group, byHand, other = `LoadBalancer web Status="active"`, `LoadBalancer web Status="inactive"`, `VServerGroup g LoadBalancerID="web"`, `LoadBalancer by-hand Status="active"`, `LoadBalancer theirs Status="active"`
	const otherStopped, otherIdle, listener = `LoadBalancer theirs Status="inactive"`, `LoadBalancer theirs Idle=true Status="inactive"`, `Listener LoadBalancerID="theirs" Port=80 Protocol="tcp"`
	for _, tt := range []struct {
		name                            string
		expected, given, missing, extra []string
		want                            string
	}{
		{"one more of its name", []string{web}, nil, nil, []string{web}, ruleDouble},
		{"one more of its name, which differs", []string{web}, nil, nil, []string{stopped}, ruleDouble},
		{"one more under another name", []string{web}, nil, nil, []string{byHand}, ruleLeft},
		{"another name", []string{web}, nil, []string{web}, []string{byHand}, ruleState},
		{"one where nothing should be", nil, nil, nil, []string{web}, ruleLeft},
		{"a group where nothing should be", nil, nil, nil, []string{group}, ruleLeft},
		{"a group too much", []string{web}, nil, nil, []string{group}, ruleLeft},
		{"a tag too much", []string{web}, nil, nil, []string{"Tag a"}, ruleState},
		{"a group instead of another", []string{web}, nil, []string{group}, []string{"VServerGroup h"}, ruleState},
		{"stopped", []string{web}, nil, []string{web}, []string{stopped}, ruleRuns},
		{"a VPC deleted", []string{web}, nil, nil, []string{"- VPC a"}, ruleOthers},
		{"a VPC deleted where nothing is left", nil, nil, nil, []string{"- VPC a"}, ruleOthers},
		{"another's deleted", []string{web, other}, []string{other}, []string{other}, nil, ruleOthers},
		{"another's deleted and its own double", []string{web, other}, []string{other}, []string{other}, []string{web}, ruleDouble},
		{"another's stopped", []string{other}, []string{other}, []string{other}, []string{otherStopped}, ruleOthers},
		{"another's without the own listener", []string{listener, other}, []string{other}, []string{listener, other}, []string{otherIdle}, ruleState},
		{"another's with an own listener too much", []string{otherIdle}, []string{otherIdle}, []string{otherIdle}, []string{listener, other}, ruleLeft},
		{"no group", []string{web, group}, nil, []string{group}, nil, ruleState},
		{"nothing", []string{web}, nil, []string{web}, nil, ruleState},
	} {
		if got := ruleOfState(tt.expected, tt.given, tt.missing, tt.extra); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestDifference proves that the difference of two states names what differs.
func TestDifference(t *testing.T) {
	whole := Finding{Rule: ruleStatus, Expected: "a load balancer at the address in the status of service/web within 45s", Seen: "192.0.2.1, which none has"}
	if got := whole.Difference(); len(got) != 2 || got[0].String() != "expected "+whole.Expected || got[1].String() != "saw "+whole.Seen {
		t.Errorf("what is no state differs by %q", got)
	}
	f := Finding{Rule: ruleState, Missing: []string{`Listener LoadBalancerID="web" Port=80 Protocol="tcp" Status="running"`, "VServerGroup g A=1"},
		Extra: []string{`Listener LoadBalancerID="web" Port=80 Protocol="tcp" Status="stopped"`, "- VPC a", "LoadBalancer two B=2"}}
	got := f.Difference()
	want := []string{`Listener web:80:tcp: Status is "stopped", want "running"`, "missing: VServerGroup g", "gone: VPC a", "too much: LoadBalancer two"}
	if len(got) != len(want) {
		t.Fatalf("= %q, want %q", got, want)
	}
	for i := range want {
		if got[i].String() != want[i] {
			t.Errorf("%d is %q, want %q", i, got[i], want[i])
		}
	}
}

// TestNamesChangeNothing proves that a rest is one under any name, also one that a condition
// adds: each state is expected after the rest at which it was seen.
func TestNamesChangeNothing(t *testing.T) {
	add := Call{Product: "Slb", Action: "AddVServerGroupBackendServers", N: 1, Write: true, sequence: 2}
	for _, name := range []string{"wait for rest", "condition", "expect state", "nothing"} {
		named := strings.Replace(service, "- rest:", "- name: "+name+"\n      rest:", 1)
		for _, play := range []planned{nil, {{Kind: conditionKind, What: "arrears", At: add}}} {
			var texts [2]composed
			for i, text := range []string{service, named} {
				e := &explorer{Config: Config{Text: []byte(text), Part: scenarios.KubernetesPart, Conditions: []Condition{{Name: "arrears", On: map[string]string{"account.arrears": "true"}, Off: map[string]string{"account.arrears": "false"}}}},
					subject: subject{program: true, Explore: scenarios.Explore{}.WithDefaults(scenarios.KubernetesPart)},
					base:    &observed{calls: []Call{add}, states: [][]string{{"LoadBalancer one"}, {"LoadBalancer two"}, nil, nil}, steps: []uint64{1, 2, 3, 4, 5, 6}}}
				var err error
				if texts[i], err = e.compose(play, true); err != nil {
					t.Fatal(err)
				}
			}
			if unnamed := strings.Replace(texts[1].text, "- name: "+name+"\n      rest:", "- rest:", 1); unnamed != texts[0].text || fmt.Sprint(texts[0].during) != fmt.Sprint(texts[1].during) {
				t.Errorf("%v with a rest named %q is\n%s, want\n%s", play, name, texts[1].text, texts[0].text)
			}
			if of := texts[0].during; play != nil && !slices.Contains([]bool{of[0], of[1], of[2], of[3]}, true) {
				t.Errorf("no rest of %v is under the condition:\n%s", play, texts[0].text)
			}
		}
	}
}

// TestTargets proves that nothing is tried by hand that the cloud refuses: a listener to which
// another forwards can't be deleted.
func TestTargets(t *testing.T) {
	const web, other = `Listener ForwardPort=443 LoadBalancerID="web" Port=80 Protocol="http"`, `Listener LoadBalancerID="other" Port=443 Protocol="https"`
	state := []string{web, other, `Listener LoadBalancerID="web" Port=443 Protocol="https"`}
	for _, h := range manualChanges {
		want := map[string][]string{"stopped": {"other:443:https", "web:443:https", "web:80:http"}, "deleted": {"other:443:https", "web:80:http"}}[h.name]
		if got := h.targets(state); h.kind == "Listener" && !slices.Equal(got, want) {
			t.Errorf("%s by hand: %q, want %q", h.name, got, want)
		}
	}
}

// TestByHand proves that a change by hand is made to the thing that it names, and to no other of
// the same load balancer.
func TestByHand(t *testing.T) {
	of := map[string][]string{
		"Listener":     {`Listener LoadBalancerID="web" Port=80 Protocol="tcp"`, `Listener LoadBalancerID="web" Port=80 Protocol="udp"`, `Listener LoadBalancerID="web" Port=81 Protocol="tcp"`},
		"NLBListener":  {`NLBListener LoadBalancerID="web" Port=80 Protocol="TCP"`, `NLBListener LoadBalancerID="web" Port=80 Protocol="UDP"`, `NLBListener LoadBalancerID="web" Port=81 Protocol="TCP"`},
		"VServerGroup": {`VServerGroup k8s/a.b BackendServers=[{"ServerID":"node-1"}] LoadBalancerID="web"`, `VServerGroup k8s/c BackendServers=[{"ServerID":"node-1"}] LoadBalancerID="web"`},
	}
	for _, h := range manualChanges {
		made := make(map[string]string) // the line, by the steps
		for _, line := range of[h.kind] {
			steps := h.steps(nameIn(strings.TrimPrefix(line, h.kind+" ")), line)
			if steps == "" || made[steps] != "" {
				t.Errorf("%s %s: the steps are those of %q:\n%s", h.name, line, made[steps], steps)
			}
			made[steps] = line
			if _, err := scenarios.Load("hand.yaml", []byte("about: a\nprogram:\n  command: [a]\n  steps:\n  "+strings.ReplaceAll(steps, "\n", "\n  ")), scenarios.Options{}); err != nil {
				t.Errorf("%s %s: %v\n%s", h.name, line, err, steps)
			}
		}
	}
}
