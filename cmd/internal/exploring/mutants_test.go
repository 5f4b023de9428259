package exploring_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/cmd/internal/explore"
	"github.com/clbemu/clbemu/cmd/internal/exploring"
	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator/glob"
	"github.com/clbemu/clbemu/scenarios"
)

// folder is that of the reference controller, which reconciles once and ends.
const folder = "../../../examples/go/reconcile"

// mutant is the reference controller with a bug.
type mutant struct {
	name     string
	old, new string
	by       string // the kind of disturbance that shows it
	scenario string // creates if empty
}

// mutants are bugs that controllers have.
var mutants = []mutant{
	{name: "no token", by: "unseen", old: `c.name, "service-"+c.name`, new: `c.name, ""`},
	{name: "another token each time", by: "unseen", old: `"service-"+c.name`, new: `fmt.Sprint(time.Now().UnixNano())`},
	{name: "error swallowed", by: "throttled", old: `return fmt.Errorf("add servers: %w", err)`, new: `return nil`},
	{name: "failed read taken for nothing there", by: "throttled", old: `return "", fmt.Errorf("look at the server groups: %w", err)`, new: `found = slb.CreateDescribeVServerGroupsResponse()`, scenario: twice},
	{name: "retry without end", by: "condition", old: `	made, err := c.slb.CreateLoadBalancer(request)`,
		new: "	made, err := c.slb.CreateLoadBalancer(request)\n	for err != nil {\n		made, err = c.slb.CreateLoadBalancer(request)\n	}", scenario: soon},
	{name: "group not looked for", by: "lost", old: `if is.VServerGroupName == c.name {`, new: `if is.VServerGroupName == "" {`},
	{name: "stopped listener left", by: "lost", old: `if status[port] != "running" {`, new: `if status[port] == "" {`},
	{name: "creation assumed to work", by: "throttled", old: `			if _, err := c.slb.CreateLoadBalancerTCPListener(create); err != nil {
				return fmt.Errorf("create the listener: %w", err)
			}`, new: `			if _, err := c.slb.CreateLoadBalancerTCPListener(create); err != nil {
				return nil
			}`},
	{name: "stopped load balancer left", by: "stopped", old: `if is.LoadBalancerStatus == "inactive" {`, new: `if is.LoadBalancerStatus == "" {`},
	{name: "failed deletion taken for done", by: "throttled", old: `return fmt.Errorf("delete the load balancer: %w", err)`, new: `return nil`, scenario: deletes},
	{name: "everything deleted after an error", by: "throttled", old: `	if err := c.ensureServers(group); err != nil {
		return err`, new: `	if err := c.ensureServers(group); err != nil {
		_ = c.delete(id)
		return nil`},
	{name: "servers only added to an empty group", by: "emptied", old: `if len(missing) > 0 {`, new: `if len(present) == 0 {`},
}

// The scenarios of the controller. All but one let it end as late as a busy machine does.
const (
	creates = `about: The controller creates the load balancer of a Service.
explore: {within: 5m, timeout: 1s}
program:
  steps: [{start: true}]
`
	soon = `about: The controller creates the load balancer of a Service soon.
explore: {within: 10s, timeout: 1s}
program:
  steps: [{start: true}]
`
	twice = `about: The controller creates the load balancer of a Service, and looks again.
explore: {within: 5m, timeout: 1s}
program:
  steps: [{start: true}, {rest: {quiet: 1s}}, {start: true}]
`
	deletes = `about: The controller deletes the load balancer of a Service.
explore: {within: 5m, timeout: 1s}
given:
  state:
    - {action: CreateLoadBalancer, params: {LoadBalancerName: web, InstanceChargeType: PayByCLCU, Tag: [{Key: example.com/service, Value: web}]}}
program:
  steps: [{start: true}]
`
)

// exploreProgram explores what a program does.
func exploreProgram(t *testing.T, m mutant, program []string) *explore.Report {
	t.Helper()
	text := cmp.Or(m.scenario, creates)
	if text == deletes {
		program = append(program, "-delete")
	}
	c := exploring.Config("program.yaml", []byte(text), scenarios.ProgramPart)
	c.Program.Command, c.Parallel = program, 8
	c.First = m.name != ""
	if m.by != "" {
		c.Disturbances = glob.Split(m.by)
	}
	r, err := explore.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReference proves that explore finds nothing wrong with the reference controller. With
// -short it tries four kinds of disturbances, three of which the seed chooses.
func TestReference(t *testing.T) {
	by := ""
	if testing.Short() {
		kinds := explore.Kinds()
		binary.Chances(t, *seed, "-short").Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
		by = strings.Join([]string{"throttled", kinds[0][0], kinds[1][0], kinds[2][0]}, ",")
	}
	for _, scenario := range []string{creates, deletes} {
		m := mutant{scenario: scenario, by: by}
		r := exploreProgram(t, m, built(t, m))
		for _, f := range r.Findings {
			t.Errorf("%.60s: %s: %s: expected %s, saw %s", scenario, f.Rule, f.About, f.Expected, f.Seen)
		}
		for _, o := range r.Outcomes {
			if o.Verdict == explore.Broken || o.Verdict == explore.Idle {
				t.Errorf("%.60s: %s is %s: %s", scenario, o.ID, o.Verdict, o.Why)
			}
		}
		if len(r.Outcomes) != r.Planned || r.Planned == 0 || r.Planned < 10 && by == "" {
			t.Errorf("%.60s: %d of %d plays", scenario, len(r.Outcomes), r.Planned)
		}
	}
}

var seed = flag.Uint64("seed", 0, "repeat a run by its seed; 0 takes a new one")

// TestMutants proves that explore finds each of twelve bugs planted in the
// reference controller, by a kind of disturbance that TestReference tries too. With
// -short it tries three of them, which the seed chooses.
func TestMutants(t *testing.T) {
	if testing.Short() {
		binary.Chances(t, *seed, "-short").Shuffle(len(mutants), func(i, j int) { mutants[i], mutants[j] = mutants[j], mutants[i] })
		mutants = mutants[:3]
	}
	for _, m := range mutants {
		r := exploreProgram(t, m, built(t, m))
		if len(r.Findings) == 0 {
			t.Errorf("%s: not found by %s in %d plays", m.name, m.by, len(r.Outcomes))
			continue
		}
		f := r.Findings[0]
		if !strings.HasPrefix(f.About, m.by) {
			t.Errorf("%s: found by %s, not by %s", m.name, f.About, m.by)
		}
		t.Logf("%s: %s by %s after %d plays in %.1f s", m.name, f.Rule, f.About, len(r.Outcomes), r.Seconds)
	}
}

// built returns the program with the bug.
func built(t testing.TB, m mutant) (program []string) {
	t.Helper()
	source := filepath.Join(folder, "controller.go")
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(text), m.old) != 1 && m.old != "" {
		t.Fatalf("%s: the controller has its place %d times", m.name, strings.Count(string(text), m.old))
	}
	dir := t.TempDir()
	changed := filepath.Join(dir, "controller.go")
	if err := os.WriteFile(changed, []byte(strings.Replace(string(text), m.old, m.new, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	absolute, err := filepath.Abs(source)
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{absolute: changed}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "reconcile")
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-overlay", filepath.Join(dir, "overlay.json"), "-o", binary, folder).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", m.name, err, out)
	}
	return []string{binary}
}

// adds are scripts that add a backend to groups of both products.
var adds = map[string]string{
	"CLB": `about: A client adds a backend.
given:
  state:
    - {action: CreateLoadBalancer, params: {LoadBalancerName: web, InstanceChargeType: PayByCLCU}, save: {lb: LoadBalancerId}}
    - {action: CreateVServerGroup, params: {LoadBalancerId: "{{lb}}", VServerGroupName: web}, save: {group: VServerGroupId}}
client:
  steps:
    - {name: a step with a name, call: {action: AddVServerGroupBackendServers, params: {VServerGroupId: "{{group}}", BackendServers: [{ServerId: i-bp1clbemu0000000001, Port: 80}]}}}
    - {call: {action: AddBackendServers, params: {LoadBalancerId: "{{lb}}", BackendServers: [{ServerId: i-bp1clbemu0000000001}]}}}
`,
	"NLB": `about: A client adds a server.
given:
  state:
    - {product: Nlb, action: CreateServerGroup, params: {ServerGroupName: web, VpcId: vpc-bp1clbemu000000000001}, save: {group: ServerGroupId}}
client:
  steps:
    - {call: {product: Nlb, action: AddServersToServerGroup, params: {ServerGroupId: "{{group}}", Servers.1.ServerType: Ecs, Servers.1.ServerId: i-bp1clbemu0000000001, Servers.1.Port: 80}}}
`}

// TestConditions proves that each condition can be played at each call that it is for.
func TestConditions(t *testing.T) {
	for product, text := range adds {
		r, err := explore.Run(t.Context(), exploring.Config("adds.yaml", []byte(text), scenarios.ClientPart))
		if err != nil || r.Stopped != "" {
			t.Fatalf("%s: %+v, %v", product, r, err)
		}
		gone := 0
		for _, o := range r.Outcomes {
			if strings.HasPrefix(o.ID, "condition ") && o.Verdict != explore.Fine {
				t.Errorf("%s: %s is %s: %s %s", product, o.ID, o.Verdict, o.Why, o.Seen)
			}
			if strings.HasPrefix(o.ID, "condition nodeGone at Add") && o.Verdict == explore.Fine {
				gone++
			}
		}
		if gone != len(r.Calls) {
			t.Errorf("%s: the node is gone at %d of %d calls", product, gone, len(r.Calls))
		}
	}
}

// BenchmarkReference explores the reference controller with one disturbance each.
func BenchmarkReference(b *testing.B) {
	program := built(b, mutant{})
	for b.Loop() {
		c := exploring.Config("program.yaml", []byte(creates), scenarios.ProgramPart)
		c.Program.Command = program
		r, err := explore.Run(b.Context(), c)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(r.Outcomes)), "plays")
		b.ReportMetric(60*float64(len(r.Outcomes))/r.Seconds, "plays/min")
		b.ReportMetric(100*r.Waiting(), "%waiting")
	}
}
