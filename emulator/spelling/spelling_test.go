package spelling_test

import (
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/spelling"
)

// Nearest finds mistyped names, and nothing for names that are far off.
func TestNearest(t *testing.T) {
	names := []string{"CreateLoadBalancer", "DeleteLoadBalancer", "TagResources"}
	for name, want := range map[string]string{"CreateLoadBalancr": "CreateLoadBalancer", "tagresources": "TagResources", "Zzz": ""} {
		if got := spelling.Nearest(name, names); got != want {
			t.Errorf("Nearest(%s) = %q, want %q", name, got, want)
		}
	}
	for _, names := range [][]string{{"beta", "bets"}, {"bets", "beta"}} { // maps have no order
		if got := spelling.Nearest("betx", names); got != "beta" {
			t.Errorf("Nearest(betx) of %q = %q, want beta", names, got)
		}
	}
}

// TestCheckName proves that the error names the reason: the length, or the letters.
func TestCheckName(t *testing.T) {
	long := strings.Repeat("a", 81)
	for name, want := range map[string]string{
		"a.b_c-1": "", long[:80]: "",
		long:   `"aaaaaaaaaaaaaaaaaaaa"… has 81 letters, and the name of a rule at most 80`,
		"":     "a rule needs a name: write letters",
		"a b":  `"a b" is not a name for a rule: write letters, digits and . _ -, and begin with a letter or a digit`,
		"-a":   `"-a" is not a name for a rule: write letters`,
		"../a": `"../a" is not a name for a rule: write letters`,
		"ä":    `"ä" is not a name for a rule: write letters`,
	} {
		if err := spelling.CheckName("a rule", name); (err != nil) != (want != "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("CheckName(%q) = %v, want %q", name, err, want)
		}
	}
}
