package rehearse

import (
	"testing"

	"github.com/clbemu/clbemu/cmd/internal/upgradecheck"
)

// TestRefusedAgain proves that a call that the cloud refuses the old version in one phase, and the new one in
// another, is no finding, and that one that succeeds in another phase is.
func TestRefusedAgain(t *testing.T) {
	change := func(what, message string) *Change {
		return &Change{Services: "a/b", Item: "443", Message: message, Change: upgradecheck.Change{Change: what}}
	}
	for _, c := range []struct {
		old, new *Change
		findings int
	}{
		{change("create listener", "there is no certificate"), change("create listener", "there is no certificate"), 0},
		{change("create listener", "there is no certificate"), change("delete listener", "there is no certificate"), 1},
		{change("create listener", "there is no certificate"), change("create listener", ""), 1},
		{change("create listener", ""), change("create listener", ""), 1},
	} {
		old := &play{drift: &Phase{Name: "drift", Changes: []*Change{c.old}}}
		r := &Report{Phases: []*Phase{{Name: "each Service is edited", Changes: []*Change{c.new}}}}
		if r.compare(old); r.Problems() != c.findings {
			t.Errorf("%s (%s), then %s (%s): %d findings, want %d", c.old.Change.Change, c.old.Message, c.new.Change.Change, c.new.Message, r.Problems(), c.findings)
		}
	}
}
