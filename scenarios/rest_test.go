package scenarios_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/scenarios"
)

// TestTries proves that a call is made again until its answer is as expected, and no
// more often than it may be.
func TestTries(t *testing.T) {
	for _, tt := range []struct {
		tries   string
		made    int
		outcome scenarios.Status
	}{{"", 1, scenarios.Failed}, {", tries: 2", 2, scenarios.Failed}, {", tries: 3", 3, scenarios.Passed}, {", tries: 9", 3, scenarios.Passed}} {
		calls := 0
		f := &fake{answer: func(scenarios.APICall) scenarios.Answer {
			if calls++; calls < 3 {
				return scenarios.Answer{Lost: "reset"}
			}
			return scenarios.Answer{Status: 200}
		}}
		if r := play(t, "client: {steps: [{call: {action: Create"+tt.tries+"}}]}", scenarios.ClientPart, scenarios.Setup{Target: f}); r.Status != tt.outcome || calls != tt.made {
			t.Errorf("%q: %s after %d calls, want %s after %d", tt.tries, r.Status, calls, tt.outcome, tt.made)
		}
	}
}

// TestStateExpectation proves that a state compares with the beginning, and that a
// difference names the lines.
func TestStateExpectation(t *testing.T) {
	f := &fake{state: []string{"VPC a", "VPC b"}}
	f.answer = func(scenarios.APICall) scenarios.Answer {
		f.state = []string{"LoadBalancer web", "VPC a"}
		return scenarios.Answer{Status: 200}
	}
	for want, seen := range map[string]string{
		`["LoadBalancer web", "- VPC b"]`: "",
		`[]`:                              "nothing: - VPC b\nLoadBalancer web",
		`["LoadBalancer web", "- VPC b", "LoadBalancer two"]`: "LoadBalancer two: nothing more",
	} {
		f.state = []string{"VPC a", "VPC b"}
		r := play(t, "client: {steps: [{call: {action: Create}}], expect: [{state: "+want+"}]}", scenarios.ClientPart, scenarios.Setup{Target: f})
		got := ""
		if r.Failure != nil {
			got = r.Failure.Unmet[0].Expected + ": " + r.Failure.Unmet[0].Seen
		}
		if got != seen {
			t.Errorf("state %s: %q, want %q", want, got, seen)
		}
	}
}

// restless returns a program that makes calls for a while.
func restless(calls int, every time.Duration) (*fake, *fakePrograms) {
	f := &fake{}
	p := &fakePrograms{fake: f, takes: time.Hour}
	p.does = func() {
		for n := range calls {
			f.at(time.Duration(n+1)*every, func() {
				f.journal = append(f.journal, scenarios.JournalCall{Sequence: uint64(len(f.journal) + 1), Product: "Slb", Action: "Set"})
			})
		}
	}
	return f, p
}

// TestRest proves that a step waits until the client has been quiet for long enough, and
// fails when it never is.
func TestRest(t *testing.T) {
	f, p := restless(5, time.Second)
	setup := scenarios.Setup{Target: f, Programs: p, Program: scenarios.Program{Command: []string{"p"}}}
	if r := play(t, "program: {steps: [{start: true}, {rest: {quiet: 3s}}]}", scenarios.ProgramPart, setup); r.Status != scenarios.Passed || f.now < 8*time.Second || f.now > 9*time.Second {
		t.Errorf("rest = %s (%v) at %s, want it to pass 3s after the last of 5 calls", r.Status, r.Failure, f.now)
	}
	f, p = restless(100, time.Second)
	setup.Target, setup.Programs = f, p
	r := play(t, "program: {steps: [{start: true}, {rest: {quiet: 3s, within: 20s}}]}", scenarios.ProgramPart, setup)
	if r.Status != scenarios.Failed || !strings.Contains(r.Failure.String(), "that the client still calls") {
		t.Errorf("rest = %s (%v), want it to fail", r.Status, r.Failure)
	}
}

// TestRestarts proves that a program which fails is started again as often as it may be.
func TestRestarts(t *testing.T) {
	for failures, want := range map[int]scenarios.Status{0: scenarios.Passed, 2: scenarios.Passed, 3: scenarios.Failed} {
		f := &fake{}
		p := &fakePrograms{fake: f, exit: 1}
		p.does = func() {
			if len(p.did) > failures {
				p.exit = 0
			}
		}
		setup := scenarios.Setup{Target: f, Programs: p}
		r := play(t, "program: {command: [p], restarts: 2, steps: [{start: true}, {rest: {quiet: 1s}}]}", scenarios.ProgramPart, setup)
		if r.Status != want || len(p.did) != min(failures, 2)+1 {
			t.Errorf("after %d failures: %s with %d starts, want %s", failures, r.Status, len(p.did), want)
		}
	}
}

// TestRestartsWhileSteps proves that a program which fails is also started again while a
// step waits for what it is to do: one that is slow fails at another call than the step
// is about.
func TestRestartsWhileSteps(t *testing.T) {
	for step, expected := range map[string]string{
		"struck: {fault: f, within: 1m}":                              "the fault f to strike within 1m",
		"expect: [{calls: {action: Create, atLeast: 1}, within: 1m}]": "calls of Create",
	} {
		for failures, want := range map[int]scenarios.Status{0: scenarios.Passed, 2: scenarios.Passed, 3: scenarios.Failed} {
			f := &fake{}
			p := &fakePrograms{fake: f, exit: 1}
			p.does = func() {
				if len(p.did) > failures {
					p.exit = 0
					f.journal = append(f.journal, scenarios.JournalCall{Sequence: 1, Product: "Slb", Action: "Create"})
					f.rules[0].Hits = 1
				}
			}
			text := "program: {command: [p], restarts: 2, steps: [{fault: {name: f, match: {action: Create}, effect: {hang: true}}}, {start: true}, {" + step + "}]}"
			r := play(t, text, scenarios.ProgramPart, scenarios.Setup{Target: f, Programs: p})
			if r.Status != want || len(p.did) != min(failures, 2)+1 {
				t.Errorf("%s after %d failures: %s (%v) with %d starts, want %s", step, failures, r.Status, r.Failure, len(p.did), want)
			}
			if want == scenarios.Failed && !strings.Contains(r.Failure.String(), expected) {
				t.Errorf("%s: %v, want it to name %s", step, r.Failure, expected)
			}
		}
	}
}

// TestManyRestarts proves that the pause stays, however often a program starts again.
func TestManyRestarts(t *testing.T) {
	f := &fake{}
	p := &fakePrograms{fake: f, exit: 1}
	r := play(t, "program: {command: [p], restarts: 100, steps: [{start: true}, {rest: {quiet: 5m, within: 1h}}]}", scenarios.ProgramPart, scenarios.Setup{Target: f, Programs: p})
	if r.Status != scenarios.Failed || len(p.did) != 101 || f.now < 95*5*time.Second {
		t.Errorf("= %s with %d starts in %s, want 101 in some 8 minutes", r.Status, len(p.did), f.now)
	}
}

// TestRestartsCount proves that the pauses before a program starts again count towards the
// time that a step waits.
func TestRestartsCount(t *testing.T) {
	for _, step := range []string{"struck: {fault: f, within: 10s}", "expect: [{calls: {action: Create, atLeast: 1}, within: 10s}]", "rest: {quiet: 5s, within: 10s}"} {
		f := &fake{}
		p := &fakePrograms{fake: f, exit: 1}
		p.does = func() {
			f.journal = append(f.journal, scenarios.JournalCall{Sequence: uint64(len(f.journal) + 1), Product: "Slb", Action: "Describe"})
		}
		text := "program: {command: [p], restarts: 100, steps: [{fault: {name: f, match: {action: Create}, effect: {hang: true}}}, {start: true}, {" + step + "}]}"
		if r := play(t, text, scenarios.ProgramPart, scenarios.Setup{Target: f, Programs: p}); r.Status != scenarios.Failed || f.now < 10*time.Second || f.now > 20*time.Second {
			t.Errorf("%s of a program that always fails ends after %s: %s, want some 10s", step, f.now, r.Status)
		}
	}
}

// dies is a target whose client makes its call, and ends for it, right after another caller
// looked at the rules.
type dies struct {
	*fake
	programs *fakePrograms
}

func (d *dies) Faults(ctx context.Context) ([]faults.Status, error) {
	before, err := d.fake.Faults(ctx)
	before = slices.Clone(before)
	d.rules[0].Hits, d.programs.until = 1, 0
	return before, err
}

// TestStruckByTheLastCall proves that the call by which a program ends counts, and that it
// stays ended for the step that follows.
func TestStruckByTheLastCall(t *testing.T) {
	f := &fake{}
	p := &fakePrograms{fake: f, takes: time.Hour, exit: 1}
	text := "program: {command: [p], restarts: 1, steps: [{fault: {name: f, match: {action: Create}, effect: {hang: true}}}, {start: true}, {struck: {fault: f}}, {stop: true}]}"
	if r := play(t, text, scenarios.ProgramPart, scenarios.Setup{Target: &dies{f, p}, Programs: p}); r.Status != scenarios.Passed || len(p.did) != 2 {
		t.Errorf("= %s (%v) with %d starts, want it to pass with 2: the step and, after the stop, the end", r.Status, r.Failure, len(p.did))
	}
}

// TestStruckAndStop proves that a program is killed once a fault rule takes effect, and
// starts again.
func TestStruckAndStop(t *testing.T) {
	f := &fake{}
	p := &fakePrograms{fake: f, takes: time.Hour}
	p.does = func() {
		f.at(time.Second, func() {
			for i := range f.rules {
				f.rules[i].Hits = 1
			}
		})
	}
	steps := "program: {command: [p], steps: [{fault: {name: f, match: {action: Create}, effect: {hang: true}}}, {start: true}, {struck: {fault: f}}, {stop: true}, {start: true}, {rest: {quiet: 1s}}]}"
	if r := play(t, steps, scenarios.ProgramPart, scenarios.Setup{Target: f, Programs: p}); r.Status != scenarios.Passed || p.killed != 1 || len(p.did) != 2 {
		t.Errorf("= %s (%v), killed %d times and started %d times, want 1 and 2", r.Status, r.Failure, p.killed, len(p.did))
	}
	f, p = &fake{}, &fakePrograms{takes: time.Hour}
	p.fake = f
	r := play(t, steps, scenarios.ProgramPart, scenarios.Setup{Target: f, Programs: p})
	if r.Status != scenarios.Failed || !strings.Contains(r.Failure.String(), "the fault f to strike within 30s") {
		t.Errorf("= %s (%v), want that the fault never struck", r.Status, r.Failure)
	}
}

// TestMisplacedSteps proves that steps about a program fail where there is none.
func TestMisplacedSteps(t *testing.T) {
	for text, want := range map[string]string{
		"client: {steps: [{stop: true}]}":                                         "has no program to kill",
		"client: {steps: [{rest: {quiet: 1s}}]}":                                  "rests when its steps are over",
		"client: {command: [p], steps: [{set: {a: b}}]}":                          "runs programs by exec",
		"program: {steps: [{struck: {fault: f}}]}":                                "no earlier step adds a fault called f",
		"program: {restarts: 1000, steps: [{start: true}]}":                       "restarts is 0 to 100",
		"client: {steps: [{call: {action: A, tries: 1000}}]}":                     "tries is 1 to 100",
		"explore: {off: [stat]}\nclient: {steps: [{set: {a: b}}]}":                "there is no rule stat",
		"explore: {known: [{rule: x, why: y}]}\nclient: {steps: [{set: {a: b}}]}": "there is no rule x",
		"explore: {calls: 0.5}\nclient: {steps: [{set: {a: b}}]}":                 "calls is 1 or more",
	} {
		if _, err := scenarios.Load("f.yaml", []byte("about: a\n"+text), scenarios.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestRestOfSlowStart proves that a program which takes long to its first call is not
// taken for one at rest.
func TestRestOfSlowStart(t *testing.T) {
	for first, want := range map[time.Duration]time.Duration{10 * time.Second: 13 * time.Second, time.Hour: 33 * time.Second} {
		f, p := restless(1, first)
		setup := scenarios.Setup{Target: f, Programs: p, Program: scenarios.Program{Command: []string{"p"}}}
		r := play(t, "program: {steps: [{start: true}, {rest: {quiet: 3s}}]}", scenarios.ProgramPart, setup)
		if r.Status != scenarios.Passed || f.now < want-time.Second || f.now > want+time.Second {
			t.Errorf("with the first call after %s: %s (%v) at %s, want it to pass at about %s", first, r.Status, r.Failure, f.now, want)
		}
	}
}

// disturbedOnce returns a program whose first call is struck, and that calls again after its
// back-off, and then once more each second.
func disturbedOnce(backOff time.Duration, struck scenarios.JournalCall, later int) (*fake, *fakePrograms) {
	f := &fake{}
	p := &fakePrograms{fake: f, takes: time.Hour}
	call := func(at time.Duration, c scenarios.JournalCall) {
		f.at(at, func() {
			c.Sequence, c.Product, c.Action = uint64(len(f.journal)+1), "Slb", "Set"
			f.journal = append(f.journal, c)
		})
	}
	p.does = func() {
		call(time.Second, struck)
		for n := range later {
			call(time.Second+backOff+time.Duration(n)*time.Second, scenarios.JournalCall{})
		}
	}
	return f, p
}

// TestRestIsEarned proves that a client that was disturbed rests only after it has called
// again and been quiet for longer than its back-off, or when the time is over.
func TestRestIsEarned(t *testing.T) {
	const minute = "rest: {quiet: 1s, within: 1m, disturbed: {by: [f], quiet: 8s, again: true}}"
	struck, refused := scenarios.JournalCall{Faults: []string{"f"}}, scenarios.JournalCall{Code: "Throttling"}
	for _, tt := range []struct {
		name    string
		rest    string
		struck  scenarios.JournalCall
		backOff time.Duration
		later   int
		at      time.Duration // of the rest
	}{
		{"without", "rest: {quiet: 1s, within: 1m}", struck, 5 * time.Second, 2, 2 * time.Second},
		{"it calls again", minute, struck, 5 * time.Second, 2, 15 * time.Second},
		{"it calls again late", minute, struck, 30 * time.Second, 1, 39 * time.Second},
		{"it never calls again", minute, struck, 0, 0, time.Minute},
		{"it need not call again", "rest: {quiet: 1s, within: 1m, disturbed: {by: [f], quiet: 8s}}", struck, 30 * time.Second, 1, 9 * time.Second},
		{"by another rule", "rest: {quiet: 1s, within: 1m, disturbed: {by: [g], quiet: 8s, again: true}}", struck, 5 * time.Second, 2, 2 * time.Second},
		{"it is refused", minute, refused, 5 * time.Second, 2, 15 * time.Second},
		{"it is refused and gives up", minute, refused, 0, 0, 9 * time.Second},
	} {
		f, p := disturbedOnce(tt.backOff, tt.struck, tt.later)
		setup := scenarios.Setup{Target: f, Programs: p, Program: scenarios.Program{Command: []string{"p"}}}
		r := play(t, "program: {steps: [{start: true}, {"+tt.rest+"}]}", scenarios.ProgramPart, setup)
		if r.Status != scenarios.Passed || f.now < tt.at || f.now > tt.at+time.Second {
			t.Errorf("%s: rest = %s (%v) at %s, want it at %s", tt.name, r.Status, r.Failure, f.now, tt.at)
		}
	}
}

// TestStartedClientCalls proves that a client which was killed rests only after it has
// called since it was started again.
func TestStartedClientCalls(t *testing.T) {
	f := &fake{}
	p := &fakePrograms{fake: f, takes: time.Hour}
	p.does = func() {
		if len(p.did) > 1 {
			return
		}
		for i, at := range []time.Duration{time.Second, 1500 * time.Millisecond, 21 * time.Second} { // the second comes before the kill
			f.at(at, func() {
				f.journal = append(f.journal, scenarios.JournalCall{Sequence: uint64(i + 1), Product: "Slb", Action: "Set", Faults: []string{"f"}[:max(1-i, 0)]})
			})
		}
	}
	setup := scenarios.Setup{Target: f, Programs: p, Program: scenarios.Program{Command: []string{"p"}}}
	const steps = "program: {steps: [{start: true}, {expect: [{calls: {atLeast: 2}, within: 10s}]}, {stop: true}, {start: true}, {rest: {quiet: 1s, within: 1m, disturbed: {by: [f], quiet: 3s, again: true}}}]}"
	r := play(t, steps, scenarios.ProgramPart, setup)
	if r.Status != scenarios.Passed || f.now < 24*time.Second {
		t.Errorf("rest = %s (%v) at %s, want it after the call at 21s", r.Status, r.Failure, f.now)
	}
}

// TestStepKinds proves that a step of each kind, named with the titles of all others, is
// reported with its kind, where it passes and where it fails.
func TestStepKinds(t *testing.T) {
	titles := []string{"wait for rest", "expect state", "expect ingress", "call Create", "the program p", "condition", "nothing more", "repeat 2 times"}
	for kind, step := range map[string]string{
		"set": "set: {account.arrears: true}", "fault": "fault: {name: f, match: {action: Create}, effect: {hang: true}}", "clear": "clear: f",
		"call": "call: {action: Create}", "clock": "clock: {advance: 1s}", "exec": "exec: {command: [p]}",
		"rest": "rest: {quiet: 1s, within: 2s}", "wait": "wait: {call: {action: Create}, within: 1s}", "mark": "mark: m", "expect": "expect: [{calls: {action: Create, none: true}}]",
		"repeat": "repeat: {times: 2, steps: [{call: {action: Create}}]}", "start": "start: true",
	} {
		for _, title := range titles {
			for _, status := range []int{200, 400} {
				f := &fake{answer: func(scenarios.APICall) scenarios.Answer {
					return scenarios.Answer{Status: status, Body: map[string]any{"Code": "C", "Message": "400 D: nothing"}}
				}}
				var got []string
				setup := scenarios.Setup{Target: f, Programs: &fakePrograms{fake: f}, Program: scenarios.Program{Command: []string{"p"}},
					Progress: func(done scenarios.StepDone) { got = append(got, done.Kind) }}
				before, after := "", ""
				if kind == "mark" {
					after = ", expect: [{calls: {action: Never, none: true, since: m}}]"
				}
				if kind == "clear" {
					before = "{fault: {name: f, match: {action: Create}, effect: {hang: true}}}, "
				}
				r := play(t, "program: {steps: ["+before+"{name: "+title+", "+step+"}]"+after+"}", scenarios.ProgramPart, setup)
				if !slices.Contains(got, kind) {
					t.Errorf("a step %s named %q is reported as %q (%v)", kind, title, got, r.Failure)
				}
				if r.Status == scenarios.Failed && r.Failure.Unmet[0].Of == nil && (r.Failure.Unmet[0].Kind != kind && kind != "repeat" && kind != "clear" || kind == "call" && r.Failure.Unmet[0].Code != "C") {
					t.Errorf("a step %s named %q fails as %+v", kind, title, r.Failure.Unmet[0])
				}
			}
		}
	}
}

// TestMustCall proves that a part whose program never makes the call that it judges, though all
// its calls succeed, is not applicable, and fails where the setup says that it must.
func TestMustCall(t *testing.T) {
	for must, want := range map[bool]scenarios.Status{false: scenarios.NotApplicable, true: scenarios.Failed} {
		f := &fake{}
		p := &fakePrograms{fake: f}
		p.does = func() {
			f.journal = append(f.journal, scenarios.JournalCall{Sequence: uint64(len(f.journal) + 1), Product: "Slb", Action: "Describe"})
		}
		r := play(t, "program: {command: [p], expect: [{calls: {action: Create, exactly: 1}}]}", scenarios.ProgramPart, scenarios.Setup{Target: f, Programs: p, MustCall: must})
		if r.Status != want || (r.Failure != nil) != must {
			t.Errorf("with MustCall %t = %s (%v), want %s", must, r.Status, r.Failure, want)
		}
	}
}
