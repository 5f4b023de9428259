package library_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/contracttests/internal/mutate"
	"github.com/clbemu/clbemu/contracttests/record"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/emulator/target/private"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/scenarios"
)

// survival is why no play can notice some changes. scenario, kind and where are patterns, as
// matchesPath takes them.
type survival struct{ scenario, kind, where, why string }

// of reports whether a change of a scenario is among them.
func (s survival) of(scenario string, change mutate.Change) bool {
	return matchesPath(s.scenario, scenario) && matchesPath(s.kind, change.Kind) && matchesPath(s.where, change.Where)
}

// unnoticed lists the changes that no play can notice.
var unnoticed = []survival{
	{"*", "action", "*", "where no action is called, another is not called either; TestMutants holds the name"},
	{"expired-certificate", "without given clock", "*", "a private emulator's clock stands still by itself"},
	{"packets-*", "without given clock", "*", "only a running emulator's clock makes the play wait"},
	{"killed-in-mid-sync", "without kill", "*", "an end of the server must change nothing"},
	{"killed-in-mid-sync", "without restart", "*", "an end of the server must change nothing"},
	{"nlb-job-endless", "*", "client.steps[4]*", "the time that passes must change nothing"},
	{"packets-drain-clb", "*", "client.steps[15]*", "the time that passes must change nothing"},
	{"packets-update", "without *", "client.steps[6]*", "once the server is out of its group, its end must change nothing"},
	{"stale-reads", "without call", "client.steps[3]", "a call with the token of an earlier one must change nothing"},
	{"group-read-throttled", "without call", "client.steps[2]", "a server that is added twice must change nothing"},
	{"throttling-storm", "atLeast", "*", "a running emulator's clock goes on between the calls, so that fewer are refused"},
	{"*", "without fault", "program.*", "a program that does as it should leaves no trace of what struck it"},
}

var seed = flag.Uint64("seed", 0, "repeat a run by its seed; 0 takes a new one")

var updateMutants = flag.Bool("update-mutants", false, "record the changes of each part, and those that no play notices")

// valuesFile has the changes of each part; contracttests/seeds.md shows them.
const valuesFile = "../testdata/mutants/library.json"

// compareRecord compares what was tried with the record, or writes it.
func compareRecord(t *testing.T, parts map[string]mutate.Outcome) {
	t.Helper()
	for name, is := range parts {
		is.Sort()
		parts[name] = is
	}
	if *updateMutants {
		record.Write(t, valuesFile, parts, 1)
		return
	}
	if text, err := os.ReadFile(valuesFile); err != nil || !bytes.Equal(text, record.Text(t, parts, 1)) {
		t.Errorf("%s is stale (%v): go test ./contracttests/library -run Values -update-mutants", valuesFile, err)
	}
}

// TestValues proves that each value of an expectation of the library, each cure and each
// cause of trouble matters: it changes them one at a time, or takes them out, and wants the
// play to fail, or the scenario to be refused when it is loaded. It plays the parts that
// need no cluster; with -short an eighth of the changes, which the seed chooses.
func TestValues(t *testing.T) {
	every := 1
	if testing.Short() && !*updateMutants {
		every = 8
	}
	chosen := binary.Chances(t, *seed, "-short").IntN(every)
	names := target.NewNames(emulator.NamesIn(world.Default()))
	var mu sync.Mutex
	tried, listed := make(map[string]int), make(map[int]bool)
	parts, recorded := make(map[string]mutate.Outcome), record.Read[map[string]mutate.Outcome](t, valuesFile)
	t.Run("all", func(t *testing.T) {
		for _, name := range scenarios.LibraryNames() {
			for _, part := range []string{scenarios.ClientPart, scenarios.ProgramPart} {
				text, _ := scenarios.LibraryText(name)
				s, err := scenarios.Load(name+".yaml", text, scenarios.Options{Names: names})
				if err != nil {
					t.Fatal(err)
				}
				if s.Part(part) == nil {
					continue
				}
				t.Run(name+"/"+part, func(t *testing.T) {
					t.Parallel()
					begin := time.Now()
					if result := play(t, s, part, time.Minute); result.Status != scenarios.Passed {
						t.Fatalf("unchanged: %s", result.Failure)
					}
					limit := 3*time.Since(begin) + 5*time.Second
					changes := mutate.OfPart(t, name, part)
					if was := recorded[name+"/"+part].Run; was != len(changes) && !*updateMutants {
						t.Errorf("%s has %d changes of a scenario that has %d: go test ./contracttests/library -run Values -update-mutants", valuesFile, was, len(changes))
					}
					for i, change := range changes {
						if i%every != chosen {
							continue
						}
						row := slices.IndexFunc(unnoticed, func(row survival) bool { return row.of(name, change) })
						limit := limit
						if row >= 0 {
							limit = await.Patience // which passes, and a busy machine must not stop it
						}
						t.Run(fmt.Sprint(i), func(t *testing.T) {
							t.Parallel()
							noticed := slices.ContainsFunc(change.Texts, func(text []byte) bool {
								s, err := scenarios.Load(name+".yaml", text, scenarios.Options{Names: names})
								return err != nil || play(t, s, part, limit).Status != scenarios.Passed
							})
							mu.Lock()
							defer mu.Unlock()
							tried[change.Kind]++
							is := parts[name+"/"+part]
							is.Run++
							defer func() { parts[name+"/"+part] = is }()
							if noticed {
								return
							}
							if row >= 0 {
								listed[row] = true
								is.Survived = append(is.Survived, mutate.Survivor{Change: change.Kind + ": " + change.Where, Why: unnoticed[row].why})
								return
							}
							t.Errorf("%s.yaml:%d: %s: %s: the play passes all the same", name, change.Line, change.Kind, change.Where)
						})
					}
				})
			}
		}
	})
	all := 0
	for _, kind := range slices.Sorted(maps.Keys(tried)) {
		t.Logf("%5d %s", tried[kind], kind)
		all += tried[kind]
	}
	if t.Logf("%5d changes", all); all < 900/every {
		t.Errorf("%d changes were tried, want thousands", all)
	}
	if every > 1 {
		return // what is recorded is the whole
	}
	if !t.Failed() {
		compareRecord(t, parts)
	}
	for i, row := range unnoticed {
		if !listed[i] {
			t.Errorf("unnoticed lists %s %s %s, which each play notices", row.scenario, row.kind, row.where)
		}
	}
}

// play plays a part on an emulator of its own, with a program that does as it should. A
// play that takes longer than the limit fails.
func play(t *testing.T, s *scenarios.Scenario, part string, limit time.Duration) scenarios.Result {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	local, err := private.New(ctx)
	if err != nil {
		t.Error(err)
		return scenarios.Result{}
	}
	defer func() {
		if err := local.Close(context.WithoutCancel(ctx)); err != nil {
			t.Error(err)
		}
	}()
	return scenarios.Play(ctx, s, part, scenarios.Setup{Target: local, Programs: &creator{emulator: local}, Program: scenarios.Program{Command: []string{"creator"}}, For: time.Minute})
}

// creator is a program that creates a load balancer with a group and a backend. It makes a
// call again until it succeeds, one a second.
type creator struct {
	emulator *private.Emulator
	done     int // calls that succeeded
	balancer string
	group    string
}

var _ scenarios.Running = (*creator)(nil)

var _ scenarios.Programs = (*creator)(nil)

// Start implements scenarios.Programs.
func (c *creator) Start(context.Context, scenarios.Program) (scenarios.Running, error) {
	return c, nil
}

func (c *creator) next() (action string, params map[string]string) {
	switch c.done {
	case 0:
		return "DescribeLoadBalancers", map[string]string{"LoadBalancerName": "created"}
	case 1:
		return "CreateLoadBalancer", map[string]string{"AddressType": "intranet", "VSwitchId": "vsw-bp1clbemu000000000001", "InstanceChargeType": "PayByCLCU", "LoadBalancerName": "created", "ClientToken": "created"}
	case 2:
		return "CreateVServerGroup", map[string]string{"LoadBalancerId": c.balancer, "VServerGroupName": "created"}
	case 3:
		return "AddVServerGroupBackendServers", map[string]string{"VServerGroupId": c.group, "BackendServers": `[{"ServerId":"i-bp1clbemu0000000001","Port":80,"Weight":100}]`}
	}
	return "", nil
}

// Wait implements scenarios.Running: it makes the next call.
func (c *creator) Wait(ctx context.Context, most time.Duration) (ended bool, err error) {
	action, params := c.next()
	if action == "" {
		return true, nil
	}
	answer, err := c.emulator.Call(ctx, scenarios.APICall{Product: "Slb", Action: action, Params: params, UserAgent: "creator", Timeout: 200 * time.Millisecond}) // it calls again
	if err == nil && answer.Lost == "" && answer.Status == 200 {
		c.done++
		c.balancer, c.group = saved(answer, "LoadBalancerId", c.balancer), saved(answer, "VServerGroupId", c.group)
	}
	if most > 0 {
		err = c.emulator.Pass(ctx, most)
	}
	return false, err
}

// saved is a field of an answer, or else what it was.
func saved(answer scenarios.Answer, field, was string) string {
	if value, ok := answer.Body[field]; ok {
		return fmt.Sprint(value)
	}
	return was
}

func (c *creator) Exit() int      { return 0 }
func (c *creator) Output() string { return "" }
func (c *creator) Stop()          {}
func (c *creator) Kill()          {}
