// Package library tests that the library's scenarios use only names that the emulator
// has. Its tests compute for long and start nothing: they run without the race
// detector.
package library
