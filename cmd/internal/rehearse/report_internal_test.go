package rehearse

import (
	"testing"

	"github.com/clbemu/clbemu/cmd/internal/upgradecheck"
)

// TestRefusedAgain proves that a call that the old version never gets done is no finding where the new one
// makes it in another phase, and that one is that succeeded, was disturbed, or is refused otherwise.
func TestRefusedAgain(t *testing.T) {
	change := func(what, code string, meant bool) *Change {
		return &Change{Services: "a/b", Item: "443", Change: upgradecheck.Change{Change: what, Code: code}, Verdict: Verdict{Meant: meant}}
	}
	refused := change("create listener", "ResourceNotFound", false)
	for name, c := range map[string]struct {
		old      []*Change
		new      *Change
		findings int
	}{
		"refused in both":            {[]*Change{refused}, refused, 0},
		"refused in the new":         {nil, refused, 1},
		"another call":               {[]*Change{refused}, change("delete listener", "ResourceNotFound", false), 1},
		"another code":               {[]*Change{refused}, change("create listener", "Throttling.User", false), 1},
		"done in the new":            {[]*Change{refused}, change("create listener", "", false), 1},
		"done by the old in the end": {[]*Change{refused, change("create listener", "", true)}, refused, 1},
		"disturbed in the old":       {[]*Change{change("create listener", "ResourceNotFound", true)}, refused, 1},
	} {
		is := *c.new
		old := &play{drift: &Phase{Name: "drift", Changes: c.old}}
		r := &Report{Phases: []*Phase{{Name: "each Service is edited", Changes: []*Change{&is}}}}
		if r.compare(old); r.Problems() != c.findings {
			t.Errorf("%s: %d findings, want %d", name, r.Problems(), c.findings)
		}
	}
}
