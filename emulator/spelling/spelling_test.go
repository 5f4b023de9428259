package spelling_test

import (
	"testing"

	"github.com/clbemu/clbemu/emulator/spelling"
)

// A mistyped name is told from one that is far off.
func TestNearest(t *testing.T) {
	names := []string{"CreateLoadBalancer", "DeleteLoadBalancer", "TagResources"}
	for name, want := range map[string]string{"CreateLoadBalancr": "CreateLoadBalancer", "tagresources": "TagResources", "Zzz": ""} {
		if got := spelling.Nearest(name, names); got != want {
			t.Errorf("Nearest(%s) = %q, want %q", name, got, want)
		}
	}
}
