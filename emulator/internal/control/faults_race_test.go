package control_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/state"
)

// TestRulesAtOnce proves that each rule that was acknowledged is in force, however
// many are added at once, and that none is that was deleted.
func TestRulesAtOnce(t *testing.T) {
	f := newFixture(t, withCloud)
	for round := range 10 {
		var wait sync.WaitGroup
		for n := range 32 {
			wait.Go(func() {
				name := fmt.Sprintf("r%d-%d", round, n)
				rule := "{name: " + name + ", effect: {reset: true}}"
				if _, err := f.faults.Add("", []byte(rule)); err != nil {
					t.Error(err)
				}
				armed := slices.ContainsFunc(f.faults.Injector.Rules(), func(s faults.Status) bool { return s.Rule.Name == name })
				if !armed {
					t.Errorf("%s was acknowledged and is not in force", name)
				}
				if n%2 == 1 {
					return
				}
				if err := f.faults.Delete(name); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if n := len(f.faults.Injector.Rules()); n != 16*(round+1) {
			t.Fatalf("round %d: %d rules are in force, want %d", round, n, 16*(round+1))
		}
	}
}

// TestCountersAndRestart proves that a count is not kept after the counters were set
// to nothing, and that no count is lost by a change of other rules: a rule strikes as
// often as it says.
func TestCountersAndRestart(t *testing.T) {
	f := newFixture(t, withCloud)
	f.ask("POST", "/v1/faults", "{name: some, match: {action: DescribeRegions}, when: {times: 100}, effect: {reset: true}}", 200, nil)
	call := faults.Request{Action: "DescribeRegions"}
	var struck atomic.Int64
	var wait sync.WaitGroup
	for n := range 8 {
		wait.Go(func() {
			for range 50 {
				if _, hit := f.faults.Injector.At(faults.Reply, call, f.store.Now()); hit {
					struck.Add(1)
				}
			}
		})
		wait.Go(func() {
			for i := range 10 {
				if _, err := f.faults.Add("", fmt.Appendf(nil, "{name: o%d-%d, match: {action: DeleteVpc}, effect: {reset: true}}", n, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if n := struck.Load(); n != 100 {
		t.Errorf("a rule for 100 calls struck %d", n)
	}
	for range 20 {
		for range 8 {
			wait.Go(func() { f.faults.Injector.At(faults.Reply, call, f.store.Now()) })
		}
		wait.Go(func() {
			if err := f.faults.ResetCounters(); err != nil {
				t.Error(err)
			}
		})
		wait.Wait()
		armed := f.faults.Injector.Rules()[0]
		var kept *kinds.Fault
		v := f.store.View(state.Owner{})
		kept, _ = kinds.Faults.Find(v, "some")
		if kept.Seen != armed.Seen || kept.Hits != armed.Hits {
			t.Errorf("%d calls of %d are kept, and %d of %d in force", kept.Hits, kept.Seen, armed.Hits, armed.Seen)
		}
	}
}
