package cloud

import (
	"os"
	"strings"
	"testing"
)

// Mutant returns the setting of the environment that makes a program, if it is built with the
// mutants of contracttests/mutants, the one that PLAYS names for a test as NUMBER-PLAY=MUTANT.
func Mutant(t testing.TB) string {
	name, _ := strings.CutPrefix(t.Name(), "TestMutant/")
	for _, play := range strings.Fields(os.Getenv("PLAYS")) {
		if of, mutant, _ := strings.Cut(play, "="); of == name || strings.HasPrefix(name, of+"/") {
			return "MUTANT=" + mutant
		}
	}
	return "MUTANT="
}
