//go:build !unix

package listen

import "math"

// Descriptors returns how many files and connections the process may open. Here the
// system does not report a limit.
func Descriptors() int { return math.MaxInt32 }
