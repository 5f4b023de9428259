package durability_test

import (
	"fmt"
	"math/rand/v2"
)

// writer makes calls about its own contents, one after the other, and remembers what
// the answers promised.
type writer struct {
	// name is the prefix of its resources' names.
	name   string
	chance *rand.Rand
	made   int
	// ownsLoadBalancer says whether the writer has a load balancer or an EIP: the cloud
	// has not enough of either for all.
	ownsLoadBalancer bool

	// contents holds what it certainly has, before the calls in since. Those are kept
	// while something runs that concerns all, or was never answered.
	contents contents
	since    []answered
	// likely holds what it has if nothing but its own calls happened.
	likely contents
	// lost is the call that had no answer when the server died.
	lost *call
}

// note takes down an answer.
func (w *writer) note(a answered) {
	w.since = append(w.since, a)
	if a.succeeded() {
		w.likely = a.change(w.likely, a.reply)
	}
	if a.lost {
		w.lost = &a.call
	}
}

// settled notes what the writer has for sure.
func (w *writer) settled(e contents) {
	if e == nil {
		e = contents{}
	}
	w.contents, w.likely, w.since = e, e, nil
}

// explain works out what the writer has when nothing but its own calls happened,
// and they were all answered.
func (w *writer) explain() error {
	after := outcomes([]contents{w.contents}, w.since)
	if len(after) != 1 {
		return fmt.Errorf("%s has %v, and no answer may be such as one of %v", w.name, w.contents, w.since)
	}
	w.settled(after[0])
	return nil
}
