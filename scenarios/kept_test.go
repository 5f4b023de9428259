package scenarios_test

import (
	"cmp"
	"testing"
	"time"

	"github.com/clbemu/clbemu/scenarios"
)

// TestKeptBackends proves that a listener that loses backends which it gets back is found,
// and one that loses or gets them for good is not.
func TestKeptBackends(t *testing.T) {
	for _, tt := range []struct {
		name  string
		ready []int // at the beginning, and each second
		want  string
	}{
		{"a dip", []int{3, 1, 1, 3}, "expected never fewer than 3 ready backends of web tcp:80, saw 1 for a while"},
		{"scaled down by a dip", []int{3, 0, 2, 2}, "expected never fewer than 2 ready backends of web tcp:80, saw 0 for a while"},
		{"scaled down", []int{3, 2, 1, 1}, ""},
		{"scaled up", []int{1, 2, 3, 3}, ""},
		{"new", []int{0, 0, 2, 2}, ""},
		{"gone", []int{2, 1, 0, 0}, ""},
	} {
		f := &fake{}
		set := func(n int) {
			f.balancers = []scenarios.LoadBalancerState{{Name: "web", Ready: map[string]int{"tcp:80": n}}}
		}
		set(tt.ready[0])
		for i, n := range tt.ready[1:] {
			f.at(time.Duration(i+1)*time.Second, func() { set(n) })
		}
		text := `client:
  expect:
    - backends: {since: before}
    - backends: {}
  steps:
    - {mark: before}
    - wait: {call: {action: Describe, expect: {fields: {Done: "yes"}}}, within: 10s, every: 500ms}
`
		f.answer = func(scenarios.APICall) scenarios.Answer {
			return scenarios.Answer{Status: 200, Body: map[string]any{"Done": map[bool]string{true: "yes"}[f.now >= 4*time.Second]}}
		}
		judge(t, tt.name, play(t, text, scenarios.ClientPart, scenarios.Setup{Target: f}), tt.want)
	}
}

// TestIngress proves that an address that no load balancer has is found, of the Services
// that the part applied alone.
func TestIngress(t *testing.T) {
	const services = `{"items": [
		{"metadata": {"name": "web"}, "status": {"loadBalancer": {"ingress": [{"ip": "10.0.0.1"}, {"hostname": "nlb.example.com"}]}}},
		{"metadata": {"name": "other"}, "status": {"loadBalancer": {"ingress": [{"ip": "10.0.0.9"}]}}}]}`
	const text = `kubernetes:
  expect:
    - ingress: {}
  steps: [{kubectl: {apply: {kind: Service, metadata: {name: web}}}}]
`
	for addresses, want := range map[string]string{
		"nlb.example.com": "",
		"none":            "expected a load balancer at the address in the status of service/web, saw nlb.example.com, which none has",
	} {
		f := &fake{balancers: []scenarios.LoadBalancerState{{Addresses: []string{"10.0.0.1"}}, {Addresses: []string{addresses}}}}
		c := &fakeCluster{answers: map[string]string{
			"apply":        `{"kind": "Service", "metadata": {"name": "web", "uid": "a"}}`,
			"get services": services,
		}}
		judge(t, addresses, play(t, text, scenarios.KubernetesPart, scenarios.Setup{Target: f, Cluster: c}), want)
	}
}

// TestIngressKinds proves that who can reach an address matters, that none is not enough,
// and that Services which are not named may have any.
func TestIngressKinds(t *testing.T) {
	text := func(kinds string) string {
		return "kubernetes:\n  expect:\n    - ingress: {kinds: " + kinds + "}\n  steps: [{kubectl: {apply: {kind: Service, metadata: {name: web}}}}]\n"
	}
	for status, tests := range map[string]map[string]string{
		`[{"ip": "47.0.0.1"}]`: {
			"{web: [public]}":           "",
			"{other: [name]}":           "",
			"{web: [private]}":          "expected addresses in the status of service/web that are private, saw public [47.0.0.1]",
			"{web: [public, public]}":   "that are public, public, saw public [47.0.0.1]",
			"{web: [name], other: [a]}": "that are name, saw public [47.0.0.1]",
		},
		`[{"ip": "192.168.0.9"}, {"ip": "fd00::1"}, {"hostname": "nlb.example.com"}, {"ip": "2408:4000::1"}]`: {
			"{web: [private, private, name, public]}": "",
		},
		`[]`: {"{web: [public]}": "that are public, saw none []"},
	} {
		f := &fake{balancers: []scenarios.LoadBalancerState{{Addresses: []string{"47.0.0.1", "192.168.0.9", "fd00::1", "nlb.example.com", "2408:4000::1"}}}}
		c := &fakeCluster{answers: map[string]string{
			"apply":        `{"kind": "Service", "metadata": {"name": "web", "uid": "a"}}`,
			"get services": `{"items": [{"metadata": {"name": "web"}, "status": {"loadBalancer": {"ingress": ` + status + `}}}, {"metadata": {"name": "none"}}]}`,
		}}
		for kinds, want := range tests {
			judge(t, status+" "+kinds, play(t, text(kinds), scenarios.KubernetesPart, scenarios.Setup{Target: f, Cluster: c}), want)
		}
		is, err := scenarios.IngressKinds(t.Context(), c, "")
		if _, has := is["web"]; err != nil || has != (status != "[]") || len(is) > 1 {
			t.Errorf("the kinds of %s are %v (%v)", status, is, err)
		}
	}
}

// TestRefused proves that a refused call must be made again, or be in an Event.
func TestRefused(t *testing.T) {
	refused := func(action, code string) scenarios.JournalCall {
		return scenarios.JournalCall{Product: "Slb", Action: action, Code: code}
	}
	for _, tt := range []struct {
		name   string
		calls  []scenarios.JournalCall
		events string
		want   string
	}{
		{"none", []scenarios.JournalCall{refused("CreateA", "")}, "", ""},
		{"made again", []scenarios.JournalCall{refused("CreateA", "Busy"), refused("DescribeA", ""), refused("CreateA", "")}, "", ""},
		{"refused at last", []scenarios.JournalCall{refused("CreateA", ""), refused("CreateA", "Busy")}, "", "saw CreateA was refused with Busy"},
		{"a read", []scenarios.JournalCall{refused("DescribeA", "Busy")}, "", ""},
		{"told", []scenarios.JournalCall{refused("CreateA", "Busy")}, `{"items": [{"metadata": {"uid": "e"}, "involvedObject": {"uid": "a"}}]}`, ""},
		{"in an Event of another", []scenarios.JournalCall{refused("CreateA", "Busy")}, `{"items": [{"metadata": {"uid": "e"}, "involvedObject": {"uid": "b"}}]}`, "saw CreateA was refused with Busy"},
	} {
		f := &fake{}
		for i := range tt.calls {
			tt.calls[i].Sequence = uint64(i + 1)
		}
		f.at(0, func() { f.journal = tt.calls })
		c := &fakeCluster{answers: map[string]string{"apply": `{"kind": "Service", "metadata": {"name": "web", "uid": "a"}}`}}
		c.answers["get events --namespace default --output json --field-selector type=Warning"] = cmp.Or(tt.events, `{"items": []}`)
		text := `kubernetes:
  expect:
    - refused: {action: "Create*"}
  steps:
    - kubectl: {apply: {kind: Service, metadata: {name: web}}}
    - rest: {quiet: 1s}
`
		judge(t, tt.name, play(t, text, scenarios.KubernetesPart, scenarios.Setup{Target: f, Cluster: c}), tt.want)
	}
}
