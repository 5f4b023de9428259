package explore

import (
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/scenarios"
)

// TestSkipped proves which call the rule of a disturbance waits for: one after the change is
// made sees no refused call, and the rule of the second of a pair does not see the calls that the first decides.
func TestSkipped(t *testing.T) {
	call := func(action string, n int, code string) Call {
		return Call{Action: action, N: n, Code: code, Write: true}
	}
	create := func(n int) Call { return call("Create", n, "") }
	calls := []Call{call("Create", 1, "Throttling"), create(2), call("Add", 1, ""), create(3), create(4)}
	for _, tt := range []struct {
		first, second Disturbance
		alone, after  int
	}{
		{Disturbance{Kind: "throttled", At: create(1)}, Disturbance{Kind: "throttled", At: create(2)}, 1, 0},
		{Disturbance{Kind: "throttled", At: create(1)}, Disturbance{Kind: "throttled", At: create(4)}, 3, 2},
		{Disturbance{Kind: "throttled", At: create(1)}, Disturbance{Kind: "lost", At: create(2)}, 0, 0},
		{Disturbance{Kind: "throttled", At: create(1)}, Disturbance{Kind: "lost", At: create(3)}, 1, 1},
		{Disturbance{Kind: "lost", At: create(2)}, Disturbance{Kind: "throttled", At: create(3)}, 2, 2},
		{Disturbance{Kind: "lost", At: create(2)}, Disturbance{Kind: "lost", At: create(3)}, 1, 0},
		{Disturbance{Kind: killKind, What: "before", At: create(2)}, Disturbance{Kind: "throttled", At: create(4)}, 3, 1},
		{Disturbance{Kind: killKind, What: "after", At: create(2)}, Disturbance{Kind: "unseen", At: create(4)}, 2, 1},
		{Disturbance{Kind: "throttled", At: call("Add", 1, "")}, Disturbance{Kind: "throttled", At: create(4)}, 3, 3},
	} {
		if alone, after := tt.second.skipped(calls, true), tt.second.skippedAfter(tt.first, calls, true); alone != tt.alone || after != tt.after {
			t.Errorf("%s skips %d calls, and %d after %s, want %d and %d", tt.second, alone, after, tt.first, tt.alone, tt.after)
		}
	}
}

// TestPolls proves that reads that repeat at the end are polls, and those of one round not,
// and that a disturbed play tries the first round alone.
func TestPolls(t *testing.T) {
	begin := time.Unix(0, 0)
	var calls []Call
	add := func(write bool, asks string, after time.Duration) {
		calls = append(calls, Call{Action: strings.Fields(asks)[0], asks: asks, Write: write, at: begin.Add(after)})
	}
	add(false, "List a", 0)
	add(true, "Create", time.Second)
	for round := range 4 {
		add(false, "List a", time.Duration(2*round+2)*time.Second)
		add(false, "Get", time.Duration(2*round+2)*time.Second)
	}
	actions, every := pollsOf(&observed{calls: calls})
	if strings.Join(actions, " ") != "Get List" || every != 2*time.Second {
		t.Errorf("polls are %q each %s, want Get and List each 2s", actions, every)
	}
	if left := withoutRounds(calls, actions); len(left) != 4 {
		t.Errorf("%d calls are left, want 4: %v", len(left), left)
	}
	for name, o := range map[string]*observed{"one that ended": {calls: calls, ended: true}, "one round": {calls: calls[:4]}, "one that writes": {calls: append(calls, Call{Action: "Set", Write: true})}} {
		if actions, _ := pollsOf(o); actions != nil {
			t.Errorf("%s polls %q", name, actions)
		}
	}
}

// TestUnsettled proves that a client whose last call before a rest was refused is no measure.
func TestUnsettled(t *testing.T) {
	ok, refused := Call{Action: "Get"}, Call{Action: "Set", Code: "Busy"}
	at := func(sequence uint64, c Call) Call { c.sequence = sequence; return c }
	for name, tt := range map[string]struct {
		o    observed
		want string
	}{
		"all well":           {observed{calls: []Call{at(1, refused), at(2, ok)}, rests: []uint64{3}}, ""},
		"refused at the end": {observed{calls: []Call{at(1, ok), at(2, ok), at(5, refused)}, rests: []uint64{3, 6}}, "its last call before rest 2, Set, was refused with Busy"},
		"refused and again":  {observed{calls: []Call{at(1, refused), at(5, ok)}, rests: []uint64{3, 6}}, "before rest 1"},
		"a rest of no call":  {observed{calls: []Call{at(1, ok)}, rests: []uint64{3, 6}}, ""},
	} {
		if got := tt.o.unsettled(); !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestOwnFault proves that a step by hand that fails is no verdict on a program, and that a
// pair which did not happen is not idle, and says why.
func TestOwnFault(t *testing.T) {
	e := &explorer{base: &observed{}, subject: subject{program: true}}
	pair := planned{{Kind: "throttled", At: Call{Action: "Create", N: 1}}, {Kind: "lost", At: Call{Action: "Create", N: 2}}}
	idleRule := func(name string) *scenarios.Failure {
		return &scenarios.Failure{Unmet: []scenarios.Unmet{{Kind: "fault"}}, Faults: []scenarios.FaultHits{{Name: name, Seen: 1}}}
	}
	for _, tt := range []struct {
		play    planned
		failure *scenarios.Failure
		want    Verdict
		why     string
	}{
		{pair[:1], &scenarios.Failure{Unmet: []scenarios.Unmet{{Kind: "call", Step: "call DetachNetworkInterface", Seen: "403"}}}, Broken, "a step by hand failed, call DetachNetworkInterface"},
		{pair[:1], idleRule("disturbance"), Idle, "throttled at Create did not happen"},
		{pair, idleRule("disturbance"), Broken, "throttled at Create did not happen"},
		{pair, idleRule("second-disturbance"), Broken, "lost at Create 2 did not happen: its rule saw 1 calls of Create"},
	} {
		o := Outcome{Disturbances: tt.play}
		if e.judge(&o, &observed{result: scenarios.Result{Status: scenarios.Failed, Failure: tt.failure}}); o.Verdict != tt.want || !strings.Contains(o.Why, tt.why) {
			t.Errorf("%v is %s: %s, want %s: %s", tt.play, o.Verdict, o.Why, tt.want, tt.why)
		}
	}
}

// TestAlike proves that violations which differ in ids, addresses and times are one.
func TestAlike(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		one  bool
	}{
		{"lb-bp1k11cqoie7azbeghjr7 at 47.97.0.2 for 1.5s", "lb-bp1uml5rfirzuaaaaaaaa at 47.97.0.9 for 2s", true},
		{"uid 6b2a1f00-0000-4000-8000-0123456789ab", "uid 11111111-0000-4000-8000-0123456789ab", true},
		{"a6b2a1f0000004000800001234567", "a6b2a1f0000004000800001234568", false}, // no name of a Service's
		{"a0123456789abcdef0123456789abcde", "aff23456789abcdef0123456789abcde", true},
		{"web tcp:80", "web tcp:81", false},
	} {
		if got := alike(tt.a) == alike(tt.b); got != tt.one {
			t.Errorf("%q and %q are one: %v", tt.a, tt.b, got)
		}
	}
}
