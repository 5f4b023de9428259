// Package mutants proves that the tests which docs/seeds.md names notice when what they
// prove breaks: each mutant changes one line of the code under test, in a build of its own.
package mutants
