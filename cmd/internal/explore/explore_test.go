package explore_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/cmd/internal/explore"
	"github.com/clbemu/clbemu/cmd/internal/exploring"
	"github.com/clbemu/clbemu/emulator/glob"
	"github.com/clbemu/clbemu/emulator/target/private"
	"github.com/clbemu/clbemu/scenarios"
)

// script makes ten calls.
const script = `about: A client creates a load balancer with a group and a listener.
client:
  steps:
    - call: {action: DescribeLoadBalancers, params: {LoadBalancerName: web}}
    - call: {action: CreateLoadBalancer, params: {LoadBalancerName: web, AddressType: internet, InstanceChargeType: PayByCLCU}, save: {lb: LoadBalancerId}}
    - call: {action: SetLoadBalancerDeleteProtection, params: {LoadBalancerId: "{{lb}}", DeleteProtection: "on"}}
    - call: {action: CreateVServerGroup, params: {LoadBalancerId: "{{lb}}", VServerGroupName: g}, save: {group: VServerGroupId}}
    - call: {action: AddVServerGroupBackendServers, params: {VServerGroupId: "{{group}}", BackendServers: [{ServerId: i-bp1clbemu0000000001, Port: "80", Weight: "100"}]}}
    - call: {action: DescribeVServerGroupAttribute, params: {VServerGroupId: "{{group}}"}}
    - call: {action: CreateLoadBalancerTCPListener, params: {LoadBalancerId: "{{lb}}", ListenerPort: 80, Bandwidth: -1, VServerGroupId: "{{group}}"}}
    - call: {action: StartLoadBalancerListener, params: {LoadBalancerId: "{{lb}}", ListenerPort: 80, ListenerProtocol: tcp}}
    - call: {action: DescribeLoadBalancerAttribute, params: {LoadBalancerId: "{{lb}}"}}
    - call: {action: DescribeLoadBalancerListeners, params: {"LoadBalancerId.1": "{{lb}}"}}
`

// brief makes two calls.
const brief = `about: A client creates a load balancer.
client:
  steps:
    - call: {action: CreateLoadBalancer, params: {LoadBalancerName: web, AddressType: internet, InstanceChargeType: PayByCLCU}, save: {lb: LoadBalancerId}}
    - call: {action: CreateLoadBalancerTCPListener, params: {LoadBalancerId: "{{lb}}", ListenerPort: 80, Bandwidth: -1, BackendServerPort: 80}}
`

func config(text string) explore.Config {
	return exploring.Config("explored.yaml", []byte(text), scenarios.ClientPart)
}

// run explores, and expects every play to be possible.
func run(t *testing.T, c explore.Config) *explore.Report {
	t.Helper()
	report, err := explore.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range report.Outcomes {
		if o.Verdict == explore.Broken {
			t.Errorf("%s could not run: %s", o.ID, o.Why)
		}
	}
	if report.Stopped != "" || len(report.Outcomes) != report.Planned {
		t.Errorf("%d of %d plays were made: %s", len(report.Outcomes), report.Planned, report.Stopped)
	}
	return report
}

// found lists the violations as rule and play.
func found(r *explore.Report) (list []string) {
	for _, f := range r.Findings {
		for _, play := range f.Plays {
			list = append(list, f.Rule+": "+play)
		}
	}
	slices.Sort(list)
	return list
}

// again plays the scenario of a finding as clbemu scenario run does.
func again(t *testing.T, c explore.Config, f explore.Finding) scenarios.Result {
	t.Helper()
	s, err := c.Load("finding.yaml", []byte(f.Scenario))
	if err != nil {
		t.Fatalf("%v\n%s", err, f.Scenario)
	}
	place, err := private.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	result := scenarios.Play(t.Context(), s, scenarios.ClientPart, scenarios.Setup{Target: place})
	if err := place.Close(t.Context()); err != nil {
		t.Error(err)
	}
	return result
}

// TestScript proves that each call of a script is disturbed in each way, that what the
// script can't stand is found and nothing else, and that the printed scenarios fail for
// the same reason.
func TestScript(t *testing.T) {
	c := config(script)
	r := run(t, c)
	want := []string{"double: lost at CreateLoadBalancer", "ends: lost at CreateLoadBalancerTCPListener", "left: lost at CreateVServerGroup"}
	if got := found(r); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if len(r.Calls) != 10 || len(r.Outcomes) < 100 {
		t.Errorf("%d plays of %d calls, want more than 100 of 10", len(r.Outcomes), len(r.Calls))
	}
	for _, f := range r.Findings {
		result := again(t, c, f)
		if result.Status != scenarios.Failed || !strings.Contains(result.Failure.String(), strings.Split(f.Seen, "\n")[0]) {
			t.Errorf("the scenario of %s is %s, want it failed with %q:\n%v", f.About, result.Status, f.Seen, result.Failure)
		}
		if f.Rule == "double" && strings.Count(f.Scenario, "call:") != 1 {
			t.Errorf("the scenario of %s is not minimal:\n%s", f.About, f.Scenario)
		}
	}
	header, rows := r.Table()
	if len(rows) != 10 || rows[1][slices.Index(header, "LOST")] != "double" || rows[0][slices.Index(header, "LOST")] != "-" || rows[0][slices.Index(header, "STALE")] != "-" || rows[9][slices.Index(header, "STALE")] != "ok" {
		t.Errorf("the table is %q %q", header, rows)
	}
}

// TestSlowAnswers proves that a call which is slow in all plays, as on a busy machine, is
// not made twice when another call gets no answer.
func TestSlowAnswers(t *testing.T) {
	c := config(strings.Replace(brief, "  steps:\n", `  steps:
    - fault: {name: busy, match: {action: CreateLoadBalancer}, effect: {delay: {fixed: 500ms}}}
`, 1))
	c.Disturbances = glob.List{"hang"}
	r := run(t, c)
	if got := found(r); len(got) > 0 || r.Planned != 2 {
		t.Errorf("found %q in %d plays, want nothing in 2", got, r.Planned)
	}
}

// TestToken proves that a script with a ClientToken has no such violation.
func TestToken(t *testing.T) {
	c := config(strings.Replace(brief, "PayByCLCU", "PayByCLCU, ClientToken: web", 1))
	if got := found(run(t, c)); slices.Contains(got, "double: lost at CreateLoadBalancer") {
		t.Errorf("found %q", got)
	}
}

// TestKnown proves that a known violation does not count as new, and that a rule can be
// switched off.
func TestKnown(t *testing.T) {
	r := run(t, config(brief+`explore:
  off: [state]
  known:
    - {rule: double, call: CreateLoadBalancer, disturbance: lost, why: the script has no token}
    - {rule: ends, call: "*Listener", why: it is no controller}
`))
	if r.New() != 0 || len(r.Findings) != 2 || r.Count()[explore.Known] != 2 {
		t.Errorf("found %q, of which %d are new, want two known ones", found(r), r.New())
	}
}

// TestLeftAndOthers proves that what a client leaves, and what it changes of others, are
// found as such.
func TestLeftAndOthers(t *testing.T) {
	left := run(t, config(`about: A client cleans up.
client:
  steps:
    - call: {action: CreateLoadBalancer, params: {LoadBalancerName: web, InstanceChargeType: PayByCLCU}, save: {lb: LoadBalancerId}}
    - call: {action: DeleteLoadBalancer, params: {LoadBalancerId: "{{lb}}"}}
`))
	if got := found(left); !slices.Contains(got, "left: lost at CreateLoadBalancer") {
		t.Errorf("found %q", got)
	}
	others := run(t, config(`about: A client renames the newest load balancer.
given:
  state:
    - {action: CreateLoadBalancer, params: {LoadBalancerName: other}}
client:
  steps:
    - call: {action: CreateLoadBalancer, params: {LoadBalancerName: web, ClientToken: a}}
    - call: {action: DescribeLoadBalancers, save: {last: LoadBalancers.LoadBalancer.0.LoadBalancerId}}
    - call: {action: SetLoadBalancerName, params: {LoadBalancerId: "{{last}}", LoadBalancerName: mine}}
`))
	if got := found(others); !slices.ContainsFunc(got, func(f string) bool { return strings.Contains(f, "stale at DescribeLoadBalancers") }) {
		t.Errorf("found %q, want the stale read", got)
	}
}

// TestPairs proves that two disturbances find what one does not: a client that makes its
// call twice at most.
func TestPairs(t *testing.T) {
	c := config(`about: A client makes a call twice at most.
client:
  steps:
    - call: {action: DescribeLoadBalancers}
    - call: {action: CreateLoadBalancer, params: {LoadBalancerName: web, InstanceChargeType: PayByCLCU, ClientToken: a}, tries: 2}
`)
	if got := found(run(t, c)); got != nil {
		t.Errorf("one disturbance finds %q, want nothing", got)
	}
	c.Depth = 2
	got := found(run(t, c))
	if !slices.ContainsFunc(got, func(f string) bool {
		return strings.HasPrefix(f, "ends: ") && strings.Count(f, "CreateLoadBalancer") == 2
	}) {
		t.Errorf("two disturbances find %q, want that the client gives up", got)
	}
}

// TestPairsAtOneCall proves that pairs at one call strike twice, and have cells.
func TestPairsAtOneCall(t *testing.T) {
	c := config("about: A client creates a load balancer.\nclient: {steps: [{call: {action: CreateLoadBalancer, params: {LoadBalancerName: web, InstanceChargeType: PayByCLCU, ClientToken: a}}}]}\n")
	c.Depth, c.Disturbances = 2, glob.Split("throttled,lost,unavailable")
	r := run(t, c)
	if len(r.Outcomes) != 12 || r.Count()[explore.Fine] != 12 {
		t.Errorf("of %d plays %v, want 12 that are fine", len(r.Outcomes), r.Count())
	}
	for _, o := range r.Outcomes {
		struck := 0
		for _, line := range o.Journal {
			struck += len(line.Faults)
		}
		if struck != len(o.Disturbances) {
			t.Errorf("%s: %d calls were struck", o.ID, struck)
		}
	}
	if _, rows := r.Table(); len(rows) != 4 || rows[3][0] != "unavailable at CreateLoadBalancer, then at CreateLoadBalancer 2" || slices.Contains(rows[3], "-") {
		t.Errorf("the table is %q", rows)
	}
}

// TestChosen proves that explore tries the chosen disturbances at the chosen calls alone, and
// that a choice of nothing is no success.
func TestChosen(t *testing.T) {
	c := config(script)
	c.Calls, c.Disturbances = glob.Split("*VServerGroup,Describe*Attribute"), glob.Split("throttled, refused*")
	report := run(t, c)
	actions := make(map[string]bool)
	for _, o := range report.Outcomes {
		d := o.Disturbances[0]
		actions[d.At.Action] = true
		if d.Kind != "throttled" && d.Kind != "refused" {
			t.Errorf("%s was not chosen", o.ID)
		}
	}
	if want := map[string]bool{"CreateVServerGroup": true, "DescribeVServerGroupAttribute": true, "DescribeLoadBalancerAttribute": true}; !maps.Equal(actions, want) {
		t.Errorf("calls of %v were disturbed, want %v", actions, want)
	}
	c.Calls = glob.Split("DeleteLoadBalancer")
	if _, err := explore.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "no call at which") {
		t.Errorf("a choice of nothing: %v", err)
	}
}

// TestSameSeed proves that the seed alone chooses the plays.
func TestSameSeed(t *testing.T) {
	ids := func(seed uint64) (list []string) {
		c := config(brief)
		c.Plays, c.Seed = 10, seed
		for _, o := range run(t, c).Outcomes {
			list = append(list, o.ID)
		}
		return list
	}
	first := ids(1)
	if len(first) != 10 || !slices.Equal(first, ids(1)) || slices.Equal(first, ids(2)) {
		t.Errorf("the plays of a seed are %q", first)
	}
}

// TestFullDisk proves that results survive a failure to write them.
func TestFullDisk(t *testing.T) {
	c := config(brief)
	full := errors.New("no space left on device")
	c.Record = func(explore.Outcome) error { return full }
	r, err := explore.Run(t.Context(), c)
	if err != nil || !strings.Contains(r.Stopped, full.Error()) || len(r.Outcomes) == 0 {
		t.Errorf("= %d outcomes, %q, %v", len(r.Outcomes), r.Stopped, err)
	}
}

// TestUndisturbed proves that explore rejects a scenario that it can't judge.
func TestUndisturbed(t *testing.T) {
	for text, want := range map[string]string{
		"client: {steps: [{call: {action: DeleteLoadBalancer, params: {LoadBalancerId: lb-none}}}]}":                     "fails undisturbed",
		"client: {steps: [{set: {account.arrears: true}}], expect: [{quota: {name: slb_quota_instances_num, used: 0}}]}": "makes no call",
		"program: {steps: [{start: true}]}": "no client part",
	} {
		if _, err := explore.Run(t.Context(), config("about: a\n"+text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// varying is a place whose state ends differently each time.
type varying struct {
	explore.Place
	ends  string
	begun bool
}

func (p *varying) State(ctx context.Context) ([]string, error) {
	state, err := p.Place.State(ctx)
	if p.begun {
		state = append(state, p.ends)
	}
	p.begun = true
	return state, err
}

// TestVarying proves that nothing is explored of a client that ends differently on its own,
// and that the error says where.
func TestVarying(t *testing.T) {
	c := config(brief)
	open, n := c.Open, 0
	c.Open = func(ctx context.Context, worker int) (explore.Place, error) {
		place, err := open(ctx, worker)
		n++
		return &varying{Place: place, ends: fmt.Sprintf("LoadBalancer web Bandwidth=%d", n)}, err
	}
	if _, err := explore.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "differ at the end") || !strings.Contains(err.Error(), "Bandwidth=") {
		t.Errorf("%v, want that the end varies", err)
	}
}

// TestBrokenPlaces proves that a place that does not open ends the exploration.
func TestBrokenPlaces(t *testing.T) {
	c := config(script)
	open, n := c.Open, 0
	c.Parallel = 1
	c.Open = func(ctx context.Context, worker int) (explore.Place, error) {
		if n++; n > 5 {
			return nil, fmt.Errorf("the cluster is gone")
		}
		return open(ctx, worker)
	}
	r, err := explore.Run(t.Context(), c)
	if err != nil || !strings.Contains(r.Stopped, "the cluster is gone") || len(r.Outcomes) != 2 {
		t.Errorf("= %+v, %v", r, err)
	}
}

// replaces is a script that takes a backend away before it adds another one.
const replaces = `about: A client replaces a backend.
given:
  state:
    - {action: CreateLoadBalancer, params: {LoadBalancerName: web}, save: {lb: LoadBalancerId}}
    - {action: AddBackendServers, params: {LoadBalancerId: "{{lb}}", BackendServers: [{ServerId: i-bp1clbemu0000000001}]}}
    - {action: CreateLoadBalancerTCPListener, params: {LoadBalancerId: "{{lb}}", ListenerPort: 80, BackendServerPort: 80, Bandwidth: -1}}
    - {action: StartLoadBalancerListener, params: {LoadBalancerId: "{{lb}}", ListenerPort: 80}}
client:
  steps:
    - {call: {action: RemoveBackendServers, params: {LoadBalancerId: "{{lb}}", BackendServers: [{ServerId: i-bp1clbemu0000000001}]}}}
    - {call: {action: AddBackendServers, params: {LoadBalancerId: "{{lb}}", BackendServers: [{ServerId: i-bp1clbemu0000000002}]}}}
`

// TestUndisturbedRule proves that a rule which the script violates undisturbed, as its
// author wants it, is not held against the disturbances.
func TestUndisturbedRule(t *testing.T) {
	c := config(replaces)
	r := run(t, c)
	if got := found(r); got != nil || len(r.Calls) != 2 || r.Calls[1].N != 1 || r.Count()[explore.Idle] > 0 {
		t.Errorf("found %q with the calls %v and %v, want nothing, and no call of what is given", got, r.Calls, r.Count())
	}
	result := again(t, c, explore.Finding{Scenario: replaces + "  expect: [{backends: {}}]\n"})
	if result.Status != scenarios.Failed || !strings.Contains(result.Failure.String(), "never fewer than 1 ready backends of web tcp:80") {
		t.Errorf("the loss of the backend is %s: %v", result.Status, result.Failure)
	}
}

// BenchmarkScript explores a script of ten calls with one disturbance each.
func BenchmarkScript(b *testing.B) {
	for b.Loop() {
		report, err := explore.Run(b.Context(), config(script))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(report.Outcomes)), "plays")
		b.ReportMetric(60*float64(len(report.Outcomes))/report.Seconds, "plays/min")
		b.ReportMetric(100*report.Waiting(), "%waiting")
	}
}
