package explore

import (
	"testing"
	"time"

	"github.com/clbemu/clbemu/scenarios"
)

// TestRetry proves that a retry is measured from the call disturbed to the next of
// the client, before the next rest, and that one later than quiet is named.
func TestRetry(t *testing.T) {
	call := func(sequence uint64, at int, agent string, faults ...string) scenarios.JournalCall {
		return scenarios.JournalCall{Sequence: sequence, Time: time.Unix(int64(at), 0), UserAgent: agent, Faults: faults}
	}
	journal := []scenarios.JournalCall{call(1, 0, "ccm"), call(2, 1, "ccm", "disturbance"), call(3, 2, scenarios.ObserverAgent), call(4, 6, "ccm"), call(5, 60, "ccm")}
	e := &explorer{subject: subject{program: true}}
	for _, tt := range []struct {
		journal []scenarios.JournalCall
		rests   []uint64
		want    time.Duration
	}{{journal, nil, 5 * time.Second}, {journal, []uint64{1, 4}, 5 * time.Second}, {journal, []uint64{3}, 0}, {journal[2:], nil, 0}} {
		if got := e.retryIn(tt.journal, tt.rests); got != tt.want {
			t.Errorf("with rests at %d the retry came after %s, want %s", tt.rests, got, tt.want)
		}
	}
	r := &Report{Quiet: 4, Outcomes: []Outcome{{ID: "a", Retry: 3.9}, {ID: "b", Retry: 6}, {ID: "c", Retry: 5}}}
	if late := r.Late(); late == nil || late.ID != "b" {
		t.Errorf("late is %+v, want b", late)
	}
	if r.Quiet = 6; r.Late() != nil {
		t.Errorf("late is %+v, want none", r.Late())
	}
}
