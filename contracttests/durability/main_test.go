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

// chances returns the random choices of a test by the flag -seed.
func chances(t *testing.T, flags string) *rand.Rand {
	t.Helper()
	return binary.Chances(t, *seed, flags)
}
