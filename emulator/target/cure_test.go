package target_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/clbemu/clbemu/emulator/target/private"
	"github.com/clbemu/clbemu/scenarios"
)

// TestCures proves of each cure that a client part shows that the part fails without it: a
// cure that changes nothing would prove nothing. The end-to-end tests do so for the
// kubernetes parts.
func TestCures(t *testing.T) {
	seen := 0
	for _, s := range loaded(t) {
		if s.Client == nil {
			continue
		}
		for n, cure := range s.Client.Cures() {
			seen++
			t.Run(fmt.Sprintf("%s/%d", s.Name, n+1), func(t *testing.T) {
				t.Parallel()
				without, part := *s, *s.Client
				without.Client = &part
				part.Steps = nil
				for i, step := range s.Client.Steps {
					if slices.Contains(cure, i) {
						continue
					}
					part.Steps = append(part.Steps, step)
				}
				local, err := private.New(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				result := scenarios.Play(t.Context(), &without, scenarios.ClientPart, scenarios.Setup{Target: local})
				if result.Status != scenarios.Failed {
					t.Errorf("without %q it is %s: %v", s.Client.Steps[cure[0]].Name, result.Status, result.Failure)
				}
				if err := local.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
	if seen < 18 {
		t.Errorf("the client parts show %d cures", seen)
	}
}
