package scenarios_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/scenarios"
)

// fakePrograms runs nothing: a program does what the test says, and takes its time
// on the fake's clock.
type fakePrograms struct {
	fake    *fake
	did     []string
	does    func() // when it is started
	takes   time.Duration
	exit    int
	output  string
	refused error
	stopped int
	killed  int
	until   time.Duration
}

func (f *fakePrograms) Start(_ context.Context, p scenarios.Program) (scenarios.Running, error) {
	f.did = append(f.did, fmt.Sprint(p.Command, p.Dir, p.Env))
	f.until = f.fake.now + f.takes
	if f.does != nil {
		f.does()
	}
	return f, f.refused
}

func (f *fakePrograms) Wait(_ context.Context, most time.Duration) (bool, error) {
	if f.fake.now+most < f.until {
		f.fake.now += most
		return false, nil
	}
	f.fake.now = max(f.fake.now, f.until)
	return true, nil
}

func (f *fakePrograms) Exit() int      { return f.exit }
func (f *fakePrograms) Output() string { return f.output }
func (f *fakePrograms) Stop()          { f.stopped++ }
func (f *fakePrograms) Kill()          { f.killed++ }

// TestExec proves of each end of a program that the step holds it against what is
// expected, and that its output is shown where it fails.
func TestExec(t *testing.T) {
	tests := []struct {
		exec string
		fake fakePrograms
		want string
	}{
		{"[go, test, ./...]", fakePrograms{}, ""},
		{"[go, test, ./...]", fakePrograms{exit: 1}, "expected exit status 0, saw 1"},
		{"{command: [go], exit: 1}", fakePrograms{exit: 1}, ""},
		{"{command: [go], exit: 1}", fakePrograms{}, "expected exit status 1, saw 0"},
		{"{command: [go], timeout: 1m}", fakePrograms{takes: 59 * time.Second}, ""},
		{"{command: [go], timeout: 1m}", fakePrograms{takes: 2 * time.Minute}, "expected the end of go within 1m, saw that it still runs"},
		{"{command: [go], output: {matches: o+ps}}", fakePrograms{output: "ooops"}, ""},
		{"{command: [go], output: {matches: o+ps}}", fakePrograms{output: "well"}, `expected output that is a match of "o+ps"`},
	}
	for _, test := range tests {
		f := &fake{}
		test.fake.fake = f
		result := play(t, "client:\n  steps:\n    - exec: "+test.exec+"\n", scenarios.ClientPart, scenarios.Setup{Target: f, Programs: &test.fake})
		judge(t, test.exec, result, test.want)
		if test.want != "" && !strings.Contains(result.Failure.String(), test.fake.output) {
			t.Errorf("%s: the failure says %s, want the output", test.exec, result.Failure)
		}
		if test.fake.stopped != 1 {
			t.Errorf("%s: the program was ended %d times, want once", test.exec, test.fake.stopped)
		}
	}
	f := &fake{}
	programs := &fakePrograms{fake: f}
	play(t, "values: {a: b}\nclient:\n  steps:\n    - exec: {command: [run, '{{a}}'], dir: d, env: {A: '{{a}}'}}\n", scenarios.ClientPart, scenarios.Setup{Target: f, Programs: programs})
	if want := []string{"[run b]dmap[A:b]"}; !slices.Equal(programs.did, want) {
		t.Errorf("%q was run, want %q", programs.did, want)
	}
}

// TestExecClient proves that the calls of a program count as those of the client,
// and that one that makes none gets a hint.
func TestExecClient(t *testing.T) {
	text := "client:\n  steps: [{exec: [run]}]\n  expect: [{calls: {action: Create, exactly: 1}}]\n"
	for _, calls := range []int{0, 1} {
		f := &fake{}
		programs := &fakePrograms{fake: f, does: func() {
			for range calls {
				f.journal = append(f.journal, scenarios.JournalCall{Sequence: 1, UserAgent: "sdk", Product: "Slb", Action: "Create", Status: 200})
			}
		}}
		result := play(t, text, scenarios.ClientPart, scenarios.Setup{Target: f, Programs: programs})
		switch {
		case calls == 1 && result.Status != scenarios.Passed:
			t.Errorf("with a call: %s, %s", result.Status, result.Failure)
		case calls == 0 && (result.Status != scenarios.Failed || !strings.Contains(result.Failure.Hint, "no client called this emulator")):
			t.Errorf("without a call: %+v, want the hint", result.Failure)
		}
		if result.Client != "programs of the scenario" {
			t.Errorf("the client is %q", result.Client)
		}
	}
	if result := play(t, text, scenarios.ClientPart, scenarios.Setup{Target: &fake{}}); result.Status != scenarios.Broken {
		t.Errorf("where programs can't be run: %+v, want it broken", result)
	}
}

// TestProgramPart proves when the program is started, that its exit status counts,
// that one that does not end is judged as it runs and then ended, and that nothing
// is waited for when it has ended.
func TestProgramPart(t *testing.T) {
	const call = "\n  expect: [{calls: {action: Create, atLeast: 1}, within: 2m}]\n"
	tests := []struct {
		name, text string
		fake       fakePrograms
		calls      int
		want       string // of the failure
		most       time.Duration
	}{
		{"passes", "program:\n  steps: [{set: {a: b}}]" + call, fakePrograms{takes: time.Second}, 1, "", 2 * time.Second},
		{"exit status", "program:\n  steps: [{set: {a: b}}]" + call, fakePrograms{exit: 3}, 1, "the program run: expected exit status 0, saw 3", 0},
		{"both", "program:\n  steps: [{set: {a: b}}]" + call, fakePrograms{exit: 3}, 0, "saw 3 expect calls of Create: expected at least 1 call", time.Second},
		{"no call after its end", "program:\n  steps: [{set: {a: b}}]" + call, fakePrograms{}, 0, "saw 0 of 1 call", time.Second},
		{"goes on", "program:\n  steps: [{set: {a: b}}]" + call, fakePrograms{takes: time.Hour}, 1, "", 21 * time.Second},
		{"started before", "program:\n  steps: [{start: true}, {set: {a: b}}]" + call, fakePrograms{}, 1, "", time.Second},
	}
	for _, test := range tests {
		f := &fake{}
		test.fake.fake = f
		test.fake.does = func() {
			_ = f.do("start")
			for range test.calls {
				f.journal = append(f.journal, scenarios.JournalCall{Sequence: 1, UserAgent: "sdk", Product: "Slb", Action: "Create", Status: 200})
			}
		}
		result := play(t, test.text, scenarios.ProgramPart, scenarios.Setup{Target: f, Programs: &test.fake,
			Program: scenarios.Program{Command: []string{"run"}}, For: 20 * time.Second})
		if test.want == "" && result.Status != scenarios.Passed {
			t.Errorf("%s: %s, %s", test.name, result.Status, result.Failure)
		}
		if test.want != "" && (result.Status != scenarios.Failed || !strings.Contains(fmt.Sprint(result.Failure.Unmet), test.want)) {
			t.Errorf("%s: %+v, want %q", test.name, result.Failure, test.want)
		}
		if hint := "restarted 0 times: `--restarts N` restarts it"; test.fake.exit != 0 && test.calls > 0 && !strings.Contains(result.Failure.Hint, hint) {
			t.Errorf("%s: the hint is %q, want %q", test.name, result.Failure.Hint, hint)
		}
		if test.fake.stopped != 1 || f.now > test.most {
			t.Errorf("%s: it was ended %d times and took %s, want once and %s at most", test.name, test.fake.stopped, f.now, test.most)
		}
		order := []string{"set a=b", "start"}
		if test.name == "started before" {
			slices.Reverse(order)
		}
		if !slices.Equal(f.did, order) {
			t.Errorf("%s: did %q, want %q", test.name, f.did, order)
		}
		if result.Client != "run" {
			t.Errorf("%s: the client is %q, want the program", test.name, result.Client)
		}
	}
	f := &fake{}
	result := play(t, tests[0].text, scenarios.ProgramPart, scenarios.Setup{Target: f, Program: scenarios.Program{Command: []string{"run"}}, Programs: &fakePrograms{fake: f, refused: errors.New("no such program")}})
	if result.Status != scenarios.Broken || !strings.Contains(result.Failure.Reason, "no such program") {
		t.Errorf("a program that can't be started: %+v, want it broken", result)
	}
}

// TestWaiting proves that a wait reports its progress and what it sees, and that it looks
// often at first.
func TestWaiting(t *testing.T) {
	var told []string
	f := &fake{}
	play(t, "kubernetes:\n  steps: [{set: {a: b}}]\n  expect: [{calls: {action: Create, atLeast: 1}, within: 6m}]\n", scenarios.KubernetesPart, scenarios.Setup{Target: f, Cluster: &fakeCluster{},
		Waiting: func(w scenarios.Waiting) { told = append(told, fmt.Sprint(w.Passed, " of ", w.Limit, ": ", w.Seen)) }})
	if len(told) != 80 || told[2] != "200ms of 6m0s: saw 0 of 1 call" || told[60] != "4m4.55s of 6m0s: saw 0 of 1 call" {
		t.Errorf("%d times was told %q, want each look of 6 minutes", len(told), told)
	}
}
