package target_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/target/private"
	"github.com/clbemu/clbemu/scenarios"
)

// isCure reports whether a step is one that cures the symptom of its scenario.
func isCure(s scenarios.Step) bool { return strings.HasPrefix(s.Name, "cure:") }

// TestCures proves of each scenario that shows a cure that it fails without: a cure that
// changes nothing would prove nothing.
func TestCures(t *testing.T) {
	cures := 0
	for _, s := range loaded(t) {
		if s.Client == nil || !slices.ContainsFunc(s.Client.Steps, isCure) {
			continue
		}
		cures++
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			local, err := private.New(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			s.Client.Steps = slices.DeleteFunc(s.Client.Steps, isCure)
			for i := range s.Client.Steps { // what never comes need not be waited for
				for j := range s.Client.Steps[i].Expect {
					s.Client.Steps[i].Expect[j].Within = 0
				}
			}
			result := scenarios.Play(t.Context(), s, scenarios.ClientHalf, scenarios.Setup{Target: local})
			if result.Status != scenarios.Failed {
				t.Errorf("without its cure it is %s: %v", result.Status, result.Failure)
			}
			if err := local.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	if cures < 6 {
		t.Errorf("%d scenarios show a cure", cures)
	}
}
