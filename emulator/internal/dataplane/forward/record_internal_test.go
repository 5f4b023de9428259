package forward

import "testing"

type cutFlow bool

func (f *cutFlow) abort() { *f = true }

// TestReleaseAtOnce proves that a drain without a timeout has cut what was open when the
// plan is in force: clients that send next meet another member.
func TestReleaseAtOnce(t *testing.T) {
	var r record
	var open cutFlow
	r.flows.add(&open)
	r.follow(&Plan{Drain: Drain{On: true}}, nil)
	if !open {
		t.Error("the flow goes on after its member left, want it cut")
	}
}
