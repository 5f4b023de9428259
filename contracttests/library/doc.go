// Package library holds the scenarios of the library to the names of the emulator. It
// has tests alone, which compute for long and start nothing: they run without the
// race detector.
package library
