// Package explore finds out how a client fails when the cloud does. It plays a scenario
// undisturbed, plans a play for each disturbance at each call, and judges the end of each
// by the end of the undisturbed one. Every play is a scenario in the library's form, which
// fails on its own for the same reason.
//
// A rule is an expectation that compose_expect.go adds to each play. judge.go ranks the rules
// that a play broke, and has those that compare states.
//
// It knows scenarios and fault rules. It must not know the emulator: a [Place] is where
// it plays.
package explore
