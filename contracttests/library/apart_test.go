package library_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/target/private"
	"github.com/clbemu/clbemu/scenarios"
)

// TestLibraryApart proves that each client part passes apart, whatever the emulator that plays
// it holds, and that nothing of it stands in that emulator.
func TestLibraryApart(t *testing.T) {
	e, err := emulator.New(t.Context(), emulator.Config{Seed: 1, Apart: private.Player{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	control := controlclient.InProcess(e.ControlHandler())
	used := "about: used\nclient:\n  steps:\n    - set: {account.balance: 100000, quota.slb_quota_instances_num: 50}\n"
	for i, name := range scenarios.LibraryNames()[:50] {
		used += fmt.Sprintf("    - call: {action: CreateLoadBalancer, params: {LoadBalancerName: %.80s}}\n", []string{name, "web", "demo"}[i%3])
	}
	if result, err := control.RunScenario(t.Context(), "", []byte(used)); err != nil || result.Status != scenarios.Passed {
		t.Fatalf("make load balancers: %v, %+v", err, result.Failure)
	}
	before, calls := exported(t, e), e.Journal().Query(journal.Query{}).Last
	played := 0
	for i, name := range scenarios.LibraryNames() {
		text, _ := scenarios.LibraryText(name)
		s, err := scenarios.Load(name, text, scenarios.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if testing.Short() && i%8 != 0 || !slices.Contains(s.PartNames(), scenarios.ClientPart) {
			continue
		}
		played++
		if result, err := control.RunScenarioApart(t.Context(), name, nil); err != nil || result.Status != scenarios.Passed {
			t.Errorf("%s: %v, %s, %+v", name, err, result.Status, result.Failure)
		}
	}
	added, changed := e.Journal().Query(journal.Query{}).Last-calls, exported(t, e) != before
	if played < 12 || added != 0 || changed {
		t.Errorf("%d parts left %d entries in the journal; the state changed: %t", played, added, changed)
	}
}

// exported returns the whole state as text.
func exported(t *testing.T, e *emulator.Emulator) string {
	t.Helper()
	export, err := e.Store().Export()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := export.Write(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
