package durability_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
)

var seed = flag.Uint64("seed", 0, "seed of the tests' choices (0: a random one)")

func TestMain(m *testing.M) { os.Exit(binary.Main(m)) }

// chances are the random choices of a test, which says how to make them again.
func chances(t *testing.T, flags string) *rand.Rand {
	t.Helper()
	chosen := *seed
	if chosen == 0 {
		chosen = rand.Uint64()
	}
	t.Logf("replay with -run '^%s$' -seed %d %s", t.Name(), chosen, flags)
	return rand.New(rand.NewPCG(chosen, 0))
}
