package scenarios_test

import (
	"testing"
	"time"

	"github.com/clbemu/clbemu/scenarios"
)

// TestServed proves that what serves must go on to serve, by its id, its addresses and its
// listeners, from the first moment at which it does.
func TestServed(t *testing.T) {
	lb := func(id, name, address string, ready int) scenarios.LoadBalancerState {
		return scenarios.LoadBalancerState{ID: id, Name: name, Addresses: []string{address}, Ready: map[string]int{"tcp:80": ready}}
	}
	for _, tt := range []struct {
		name   string
		looks  [][]scenarios.LoadBalancerState // at the beginning, and each second
		except string
		want   string
		rule   string
	}{
		{"goes on", [][]scenarios.LoadBalancerState{{lb("1", "web", "a", 2)}, {lb("1", "web", "a", 1)}}, "", "", ""},
		{"not serving yet", [][]scenarios.LoadBalancerState{{lb("1", "web", "a", 0)}, {lb("2", "web", "b", 1)}}, "", "", ""},
		{"replaced", [][]scenarios.LoadBalancerState{{lb("1", "web", "a", 1)}, {lb("2", "web", "b", 1)}}, "", "the load balancer web, which served, to stay", "replaced"},
		{"deleted", [][]scenarios.LoadBalancerState{{lb("1", "web", "a", 1)}, nil}, "", "saw that it was deleted", "outage"},
		{"replaced later", [][]scenarios.LoadBalancerState{{lb("1", "web", "a", 1)}, nil, {lb("2", "web", "b", 1)}}, "", "and another one came", "replaced"},
		{"moved", [][]scenarios.LoadBalancerState{{lb("1", "web", "a", 1)}, {lb("1", "web", "b", 1)}}, "", "the load balancer web to keep its addresses", "replaced"},
		{"emptied", [][]scenarios.LoadBalancerState{{lb("1", "web", "a", 1)}, {lb("1", "web", "a", 0)}, {lb("1", "web", "a", 0)}, {lb("1", "web", "a", 1)}}, "", "saw none for 2s", "outage"},
		{"emptied for good", [][]scenarios.LoadBalancerState{{lb("1", "web", "a", 1)}, {lb("1", "web", "a", 0)}}, "", "never no ready backend of web tcp:80", "outage"},
		{"emptied as undisturbed", [][]scenarios.LoadBalancerState{{lb("1", "web", "a", 1)}, {lb("1", "web", "a", 0)}}, "except: web tcp:80", "", ""},
		{"deleted as undisturbed", [][]scenarios.LoadBalancerState{{lb("1", "web", "a", 1)}, nil}, "except: web", "", ""},
	} {
		f := &fake{balancers: tt.looks[0]}
		for i, look := range tt.looks[1:] {
			f.at(time.Duration(i+1)*time.Second, func() { f.balancers = look })
		}
		text := `client:
  expect:
    - served: {` + tt.except + `}
  steps: [{wait: {call: {action: Describe, expect: {fields: {Done: "yes"}}}, within: 10s, every: 100ms}}]
`
		f.answer = func(scenarios.APICall) scenarios.Answer {
			return scenarios.Answer{Status: 200, Body: map[string]any{"Done": map[bool]string{true: "yes"}[f.now >= 5*time.Second]}}
		}
		r := play(t, text, scenarios.ClientPart, scenarios.Setup{Target: f})
		judge(t, tt.name, r, tt.want)
		if tt.rule != "" && r.Failure != nil && r.Failure.Unmet[0].Rule != tt.rule {
			t.Errorf("%s: the rule is %s, want %s", tt.name, r.Failure.Unmet[0].Rule, tt.rule)
		}
	}
}

// TestRestOfPolls proves that a client which only repeats its reads is at rest, and that one
// which comes back later has to come to rest again.
func TestRestOfPolls(t *testing.T) {
	program := func(calls ...scenarios.JournalCall) (*fake, scenarios.Setup) {
		f := &fake{}
		p := &fakePrograms{fake: f, takes: time.Hour}
		p.does = func() {
			for n, c := range calls {
				if c.Action == "" {
					continue
				}
				f.at(time.Duration(n+1)*time.Second, func() {
					c.Sequence = uint64(len(f.journal) + 1)
					f.journal = append(f.journal, c)
				})
			}
		}
		return f, scenarios.Setup{Target: f, Programs: p, Program: scenarios.Program{Command: []string{"p"}}}
	}
	poll, other, refused := scenarios.JournalCall{Action: "Describe"}, scenarios.JournalCall{Action: "Set"}, scenarios.JournalCall{Action: "Describe", Code: "Throttling"}
	polls := []scenarios.JournalCall{poll, poll, poll, poll, poll, poll, poll, poll, poll, poll}
	for _, tt := range []struct {
		name, rest string
		calls      []scenarios.JournalCall
		want       time.Duration // 0 is never
	}{
		{"polls count", "quiet: 3s, within: 8s", polls, 0},
		{"polls named", "quiet: 3s, within: 8s, polls: Describe", polls, 3 * time.Second},
		{"polls learned", "quiet: 3s, within: 8s, polls: '*'", polls, 5 * time.Second},
		{"a refused poll counts", "quiet: 3s, within: 20s, polls: Describe", append([]scenarios.JournalCall{poll, poll, refused}, polls...), 6 * time.Second},
		{"another call counts", "quiet: 3s, within: 20s, polls: Describe", append([]scenarios.JournalCall{poll, poll, other}, polls...), 6 * time.Second},
		{"nothing comes later", "quiet: 1500ms, within: 20s, after: 5s", []scenarios.JournalCall{other}, 7500 * time.Millisecond},
		{"it comes back", "quiet: 1500ms, within: 20s, after: 5s", []scenarios.JournalCall{other, {}, {}, {}, {}, other, other, other}, 9500 * time.Millisecond},
	} {
		calls := tt.calls
		f, setup := program(calls...)
		r := play(t, "program: {steps: [{start: true}, {rest: {"+tt.rest+"}}]}", scenarios.ProgramPart, setup)
		if passed := r.Status == scenarios.Passed; passed != (tt.want > 0) || passed && (f.now < tt.want-time.Second || f.now > tt.want+time.Second) {
			t.Errorf("%s: %s at %s, want rest at %s: %v", tt.name, r.Status, f.now, tt.want, r.Failure)
		}
	}
}

// TestClusterGone proves that a part which loses its cluster could not run, and says nothing
// of the client.
func TestClusterGone(t *testing.T) {
	for _, expect := range []string{"service: {name: web, fields: {a: b}}", "ingress: {}", "finalizer: {object: service/web, name: a, custom: true}"} {
		c := &fakeCluster{gone: true}
		r := play(t, "kubernetes: {steps: [{set: {a: b}}], expect: [{"+expect+"}]}", scenarios.KubernetesPart, scenarios.Setup{Target: &fake{}, Cluster: c})
		if r.Status != scenarios.Broken {
			t.Errorf("%s: %s, want it not to run: %v", expect, r.Status, r.Failure)
		}
	}
}
