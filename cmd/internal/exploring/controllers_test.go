package exploring_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/cmd/internal/explore"
	"github.com/clbemu/clbemu/cmd/internal/exploring"
	"github.com/clbemu/clbemu/emulator/glob"
	"github.com/clbemu/clbemu/scenarios"
)

// The scenarios of the bank of controllers: in each there is a load balancer of another
// owner.
const (
	make1 = `about: A controller makes a load balancer.
explore: {quiet: 1s, within: 10s, timeout: 2s}
given:
  state:
    - {action: CreateLoadBalancer, params: {LoadBalancerName: theirs, InstanceChargeType: PayByCLCU}}
program:
  steps: [{start: true}]
`
	delete1 = `about: A controller deletes a load balancer.
explore: {quiet: 1s, within: 10s, timeout: 2s}
given:
  state:
    - {action: CreateLoadBalancer, params: {LoadBalancerName: web, InstanceChargeType: PayByCLCU, Tag: [{Key: example.com/service, Value: web}]}}
program:
  steps: [{start: true}]
`
)

// planted is a controller of the bank.
type planted struct {
	name string
	// rule is the rule that names the bug, and by and at a disturbance that shows it and the
	// actions at which; they are empty for a right controller. or is the rule that names the bug
	// on a machine too slow for so many calls.
	rule, or, by, at string
	deletes          bool
}

// bank is contracttests/controllers.
var bank = []planted{
	{name: "polling"},
	{name: "adopting"},
	{name: "token"},
	{name: "once"},
	{name: "event"},
	{name: "double", rule: "double", by: "lost", at: "CreateLoadBalancer"},
	{name: "new-token", rule: "double", by: "unseen", at: "CreateLoadBalancer"},
	{name: "late", rule: "double", by: "lost", at: "CreateLoadBalancer"},
	{name: "leak", rule: "left", by: "throttled", at: "CreateLoadBalancerTCPListener"},
	{name: "renamed", rule: "left", by: "renamed"},
	{name: "wrong-order", rule: "left", by: "throttled", at: "DeleteLoadBalancer", deletes: true},
	{name: "foreign", rule: "others", by: "throttled", at: "AddVServerGroupBackendServers"},
	{name: "replaced", rule: "replaced", by: "throttled", at: "DescribeLoadBalancerAttribute"},
	{name: "emptied", rule: "outage", by: "again"},
	{name: "lost-update", rule: "state", by: "stale", at: "DescribeVServerGroupAttribute"},
	{name: "stale-read", rule: "state", by: "stale", at: "DescribeLoadBalancers"},
	{name: "missing-retry", rule: "state", by: "throttled", at: "AddVServerGroupBackendServers"},
	{name: "stuck", rule: "state", by: "killed", at: "AddVServerGroupBackendServers"},
	{name: "hot-loop", rule: "calls", or: "ends", by: "condition soldOut", at: "CreateLoadBalancer"},
	{name: "restless", rule: "ends", by: "throttled", at: "CreateVServerGroup"},
}

// TestControllers proves that explore finds each planted bug by the rule that names it, and
// nothing in the right controllers. With -short, it makes the plays that show a bug, and eight
// of a right controller's, the same each time unless -seed chooses others; else all.
func TestControllers(t *testing.T) {
	program := filepath.Join(t.TempDir(), "controllers")
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "../../../contracttests/controllers").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, p := range bank {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			c := configOf(program, p)
			r, err := explore.Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			rules := make(map[string][]string)
			for _, f := range r.Findings {
				rules[f.Rule] = append(rules[f.Rule], f.Plays...)
			}
			for _, o := range r.Outcomes {
				if o.Verdict == explore.Broken {
					t.Errorf("%s could not run: %s", o.ID, o.Why)
				}
			}
			switch {
			case r.Stopped != "" || r.Planned == 0:
				t.Errorf("%d of %d plays were made: %s", len(r.Outcomes), r.Planned, r.Stopped)
			case p.rule == "":
				for _, f := range r.Findings {
					t.Errorf("%s: %s: expected %s, saw %s", f.Rule, f.About, f.Expected, f.Seen)
				}
			case !slices.ContainsFunc(slices.Concat(rules[p.rule], rules[p.or]), func(play string) bool { return strings.HasPrefix(play, p.by) }):
				t.Errorf("not found by %s and named %s: %v", p.by, p.rule, rules)
			}
			t.Logf("%d plays in %.1f s: %v", len(r.Outcomes), r.Seconds, rules)
		})
	}
}

// configOf returns what to explore of a controller.
func configOf(program string, p planted) explore.Config {
	text, command := make1, []string{program, p.name}
	if p.deletes {
		text, command = delete1, []string{program, "-delete", p.name}
	}
	within, late := "10s", ""
	if testing.Short() {
		within, late = "5s", ", late: 4s"
		command = append([]string{program, "-late", "2s"}, command[1:]...)
	}
	// A busy machine may be late, which shows no bug. Of all its plays, a wrong controller may end some late.
	if p.rule == "" || testing.Short() && p.rule != "ends" && p.or != "ends" {
		within = "5m"
	}
	text = strings.Replace(text, "within: 10s", "within: "+within+late, 1)
	c := exploring.Config("controllers.yaml", []byte(text), scenarios.ProgramPart)
	c.Program.Command = command
	if !testing.Short() {
		return c
	}
	if p.rule == "" {
		c.Plays, c.Seed = shortPlays, *seed
		return c
	}
	c.Disturbances = glob.Split(p.by)
	if p.at != "" {
		c.Calls = glob.Split(p.at)
	}
	return c
}

// shortPlays is how many plays of a right controller are made with -short.
const shortPlays = 8
