// Package durability has the tests of what clbemu promises when it is killed,
// when its disk fails, when many ask at once, and when it runs for long. They see
// the binary from outside, and change nothing in it.
package durability
