package faults_test

import (
	"sync"
	"testing"

	"github.com/clbemu/clbemu/faults"
)

// TestRulesWhileCallsAreStruck proves that the counters which readers see never fall, and at the
// end have each call.
func TestRulesWhileCallsAreStruck(t *testing.T) {
	e := injector(t, "name: a\nmatch: {}\neffect: {error: {code: X}}")
	const callers, calls = 4, 500
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			before := uint64(0)
			for range calls {
				e.At(faults.BeforeCall, call(), start)
				now := e.Rules()[0].Hits
				if now <= before {
					t.Errorf("%d hits after %d and one call more", now, before)
				}
				before = now
			}
		})
	}
	group.Wait()
	if r := e.Rules()[0]; r.Seen != callers*calls || r.Hits != callers*calls {
		t.Errorf("seen %d, hits %d, want %d", r.Seen, r.Hits, callers*calls)
	}
}
