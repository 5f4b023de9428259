// Package library tests that the library's scenarios use only names that the emulator
// has, and that their plays notice each change of a value, a cure or a cause. Its tests
// compute for long and run nothing concurrent in one emulator: they run without the race
// detector.
package library
