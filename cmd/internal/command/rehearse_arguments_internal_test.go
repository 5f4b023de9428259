package command

import (
	"strings"
	"testing"

	"github.com/clbemu/clbemu/cmd/internal/cluster"
)

// TestRehearseArguments proves that a CCM gets each flag once: the one after --, else the Deployment's, else the
// default.
func TestRehearseArguments(t *testing.T) {
	for _, c := range []struct {
		deployment, given, want string
		notes                   int
	}{
		{want: "--controllers=service,nlb --configure-cloud-routes=false", notes: 1},
		{given: "--controllers=node,service", want: "--configure-cloud-routes=false --controllers=node,service", notes: 1},
		{given: "--controllers node", want: "--configure-cloud-routes=false --controllers node", notes: 1},
		{deployment: "--controllers=node --v=4 --cloud-config=x --leader-elect-lease-duration=5s --feature-gates=A=true", want: "--controllers=node --feature-gates=A=true"},
		{deployment: "--controllers node --v 4 --feature-gates=A=true", given: "--controllers service", want: "--feature-gates=A=true --controllers service"},
		{deployment: "--controllers=node --feature-gates=A=true", given: "--feature-gates=A=false", want: "--controllers=node --feature-gates=A=false"},
	} {
		u := upgrade{copied: &cluster.Copy{Args: strings.Fields(c.deployment)}, args: strings.Fields(c.given)}
		if got := strings.Join(u.arguments(), " "); got != c.want || len(u.copied.Notes) != c.notes {
			t.Errorf("the Deployment %q with %q after -- = %q and notes %q, want %q", c.deployment, c.given, got, u.copied.Notes, c.want)
		}
	}
}
