package command

import (
	"testing"

	"github.com/clbemu/clbemu/scenarios"
)

// TestScenarioShow proves that show prints each scenario of the library as it is.
func TestScenarioShow(t *testing.T) {
	for _, name := range scenarios.LibraryNames() {
		text, _ := scenarios.LibraryText(name)
		if code, stdout, stderr := executed(t, "scenario", "show", name); code != 0 || stdout != string(text) {
			t.Errorf("show %s = %d %.200s %s, want its text", name, code, stdout, stderr)
		}
	}
}
