//go:build !unix

package emulator

import "math"

// descriptors is how many files and connections the process may have open: nothing
// says so here.
func descriptors() int { return math.MaxInt32 }
