package binary

import (
	"math/rand/v2"
	"testing"
)

// Chances returns the random choices of a test by a seed, 0 for a random one, and logs how
// to replay them; flags are the other flags that the replay needs.
func Chances(t *testing.T, seed uint64, flags string) *rand.Rand {
	t.Helper()
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("replay with -run '^%s$' -seed %d %s", t.Name(), seed, flags)
	return rand.New(rand.NewPCG(seed, 0))
}
