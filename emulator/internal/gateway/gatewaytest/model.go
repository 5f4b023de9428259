package gatewaytest

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the model tests; 0 takes a new one")

// Rand returns the source of chance of a model test. A failure prints how to replay it.
func Rand(t *testing.T) *rand.Rand {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("replay with -seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// Choose returns any key, or now and then an unknown one.
func Choose[T any](chance *rand.Rand, m map[string]T) string {
	if len(m) == 0 || chance.IntN(12) == 0 {
		return "none"
	}
	return slices.Sorted(maps.Keys(m))[chance.IntN(len(m))]
}

// Outcome is a class of answers.
type Outcome string

// The classes that every product has.
const (
	OK       Outcome = "ok"
	NotFound Outcome = "not found"
	OverUsed Outcome = "over quota"
	InUse    Outcome = "in use"
	Conflict Outcome = "conflict"
	Unpaid   Outcome = "in arrears"
)

// Known returns the class of an answer by its code, and of an unknown code one of its
// own.
func (r Reply) Known(outcomes map[string]Outcome) Outcome {
	if o, known := outcomes[r.Code]; known {
		return o
	}
	return Outcome(fmt.Sprintf("%d %s", r.Status, r.Code))
}

// Check is a reason to refuse a call.
type Check struct {
	fails bool
	with  Outcome
}

// If returns a check that fails with an outcome.
func If(fails bool, with Outcome) Check { return Check{fails, with} }

// First returns the outcome of the first check that fails.
func First(checks ...Check) Outcome {
	for _, c := range checks {
		if c.fails {
			return c.with
		}
	}
	return OK
}

// Step is a call, what it should come to, and what it then changes in the model.
type Step struct {
	action string
	params Params
	want   Outcome
	done   func(Reply)
}

// NewStep returns a call that should come to an outcome. If that is OK, done follows.
func NewStep(action string, params Params, want Outcome, done func(Reply)) Step {
	return Step{action, params, want, done}
}

// PlayModel makes n calls, each as next returns it, and more, up to ten times as many, until each
// class of answers was seen. It fails at the first with another outcome than expected, and when a
// class was never seen.
func PlayModel(t *testing.T, client *Client, n int, next func() Step, outcomeOf func(Reply) Outcome, classes ...Outcome) {
	t.Helper()
	seen := make(map[Outcome]int)
	unseen := func(o Outcome) bool { return seen[o] == 0 }
	for i := 0; i < n || i < 10*n && slices.ContainsFunc(classes, unseen); i++ {
		s := next()
		reply := client.Call(s.action, s.params)
		got := outcomeOf(reply)
		if got != s.want {
			t.Fatalf("call %d: %s(%v) = %s (%s: %s), want %s", i, s.action, s.params, got, reply.Code, reply.Message, s.want)
		}
		if got == OK {
			s.done(reply)
		}
		seen[got]++
	}
	for _, o := range classes {
		if unseen(o) {
			t.Errorf("no call was answered %q: %v", o, seen)
		}
	}
}
