package emulator_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/emulatortest"
	"github.com/clbemu/clbemu/faults"
)

// mustRules reads fault rules.
func mustRules(t *testing.T, text string) []faults.Rule {
	t.Helper()
	rules, err := faults.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// TestFirstFaults proves what happens to the rules of a configuration: they strike the first
// call; over a restart those that are unchanged keep their counters, others begin again, a
// deleted one comes back, and rules from elsewhere stay; a reset keeps all rules or goes back
// to these; and forks have the rules of their origin.
func TestFirstFaults(t *testing.T) {
	const once, other = "{name: once, match: {action: DescribeRegions}, when: {times: 1}, effect: {error: {code: Busy%s}}}", "{name: other, match: {action: DescribeZones}, effect: {reset: true}}"
	dir := t.TempDir()
	started := func(rules string, use func(t *testing.T, e *emulator.Emulator, c *controlclient.Client)) {
		t.Helper()
		t.Run(rules, func(t *testing.T) {
			e, c := running(t, emulator.Config{DataDir: dir, Faults: mustRules(t, rules)})
			use(t, e, c)
		})
	}
	have := func(t *testing.T, c *controlclient.Client, want string) {
		t.Helper()
		list, err := c.Faults(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, f := range list.Faults {
			have = append(have, fmt.Sprintf("%s %d", f.Name, f.Hits))
		}
		if got := strings.Join(have, ", "); got != want {
			t.Errorf("the rules and their hits are %s, want %s", got, want)
		}
	}
	call := func(t *testing.T, e *emulator.Emulator, want string) {
		t.Helper()
		reply, err := (&emulatortest.Client{URL: "http://" + e.Addr()}).Call(emulatortest.Slb, "DescribeRegions", nil)
		if err != nil || reply.Text("Code") != want {
			t.Errorf("the call = %v, %v, want the code %q", reply, err, want)
		}
	}
	first := fmt.Sprintf(once, "")
	started(first, func(t *testing.T, e *emulator.Emulator, c *controlclient.Client) {
		call(t, e, "Busy")
		call(t, e, "")
		if _, err := c.AddFaults(t.Context(), "", []byte(other)); err != nil {
			t.Fatal(err)
		}
	})
	started(first, func(t *testing.T, e *emulator.Emulator, c *controlclient.Client) {
		have(t, c, "once 1, other 0")
		call(t, e, "")
	})
	started(fmt.Sprintf(once, "2"), func(t *testing.T, e *emulator.Emulator, c *controlclient.Client) {
		have(t, c, "once 0, other 0")
		call(t, e, "Busy2")
		mustFork(t, c, "a", controlapi.NewCloud{})
		have(t, within(c, "a"), "once 1, other 0")
		if err := c.ResetState(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		have(t, c, "once 1, other 0")
		for _, cloud := range []string{"", "a"} {
			if err := within(c, cloud).ResetState(t.Context(), true); err != nil {
				t.Fatal(err)
			}
			have(t, within(c, cloud), "once 0")
		}
		call(t, e, "Busy2")
		if _, err := c.DeleteFaults(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	started(first, func(t *testing.T, e *emulator.Emulator, c *controlclient.Client) {
		have(t, c, "once 0")
		call(t, e, "Busy")
	})
	// More rules than there may be are an error of the start, which leaves nothing behind.
	many := make([]faults.Rule, 10_001)
	rule := mustRules(t, other)[0]
	for i := range many {
		many[i] = rule
		many[i].Name = fmt.Sprint("rule", i)
	}
	if _, err := emulator.New(context.Background(), emulator.Config{DataDir: dir, Faults: many}); err == nil || !strings.Contains(err.Error(), "and 10000 may be") {
		t.Errorf("New with too many rules = %v", err)
	}
	started(first, func(t *testing.T, _ *emulator.Emulator, c *controlclient.Client) { have(t, c, "once 1") })
}
