//go:build !unix

package emulator

import "math"

// descriptors returns how many files and connections the process may open. Here the
// system does not report a limit.
func descriptors() int { return math.MaxInt32 }
