package scenarios_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/scenarios"
)

// TestSteps proves that each kind of step does its thing to the target, in order
// and with its templates filled.
func TestSteps(t *testing.T) {
	f := &fake{mortal: true, answer: func(call scenarios.APICall) scenarios.Answer {
		return scenarios.Answer{Status: 200, Body: map[string]any{"List": []any{map[string]any{"Id": "lb-1"}}, "N": 2.0}}
	}}
	result := play(t, `
values: {zone: g}
given:
  world: {"stock.{{zone}}": soldout, account.arrears: true}
  clock: {advance: 1h, freeze: true}
  state:
    - {action: Create, save: {lb: List.0.Id}}
    - {action: Use, params: {Id: "{{lb}}"}}
client:
  steps:
    - set: {x: "{{lb}}"}
    - call: {product: Vpc, action: Do, params: {List: [{Id: "{{lb}}", Port: 80}], On: on}, save: {count: N}}
    - clock: {scale: 2}
    - restart: true
    - kill: true
    - repeat:
        times: "{{count}}"
        from: 5
        steps:
          - call: {action: Count, params: {N: "{{n}}"}, save: {last: List.0.Id}}
    - call: {action: After, params: {Id: "{{last}}"}}
`, scenarios.ClientPart, scenarios.Setup{Target: f})
	want := []string{"set stock.g=soldout", "set account.arrears=true", "clock 1h0m0s at 0", "call Slb/Create map[]", "call Slb/Use map[Id:lb-1]",
		"set x=lb-1", `call Vpc/Do map[List:[{"Id":"lb-1","Port":80}] On:on]`, "clock 0s at 2", "restart false", "restart true",
		"call Slb/Count map[N:5]", "call Slb/Count map[N:6]", "call Slb/After map[Id:lb-1]"}
	if result.Status != scenarios.Passed || !slices.Equal(f.did, want) {
		t.Errorf("Play = %+v (%v), and did\n%s\nwant\n%s", result, result.Failure, strings.Join(f.did, "\n"), strings.Join(want, "\n"))
	}
}

// TestElementByField proves that a path finds the element of a list by a field of its own.
func TestElementByField(t *testing.T) {
	answer := func(scenarios.APICall) scenarios.Answer {
		return scenarios.Answer{Status: 200, Body: map[string]any{"List": []any{"x", map[string]any{"Id": "a"}, map[string]any{"Id": "b", "Name": "k8s/b.c", "Port": 80.0}}}}
	}
	for path, want := range map[string]string{`List.Name=k8s/b\.c.Id`: "call Slb/Use map[Id:b]", "List.Port=80.Id": "call Slb/Use map[Id:b]", "List.Id=c.Id": "", "List.Other=.Id": "", "List.0=x.Id": ""} {
		f := &fake{answer: answer}
		result := play(t, "client:\n  steps:\n    - call: {action: Look, save: {id: '"+path+"'}}\n    - call: {action: Use, params: {Id: '{{id}}'}}\n", scenarios.ClientPart, scenarios.Setup{Target: f})
		if failed := result.Status != scenarios.Passed; failed != (want == "") || !failed && f.did[len(f.did)-1] != want {
			t.Errorf("%s: %+v (%v), and did %q", path, result, result.Failure, f.did)
		}
	}
}

// refusal returns an answer with a code.
func refusal(scenarios.APICall) scenarios.Answer {
	return scenarios.Answer{Status: 400, Body: map[string]any{"Code": "Bad.Luck", "Message": "no luck today"}}
}

func loss(scenarios.APICall) scenarios.Answer { return scenarios.Answer{Lost: "EOF"} }

// fields returns an answer with a list and a text.
func fields(scenarios.APICall) scenarios.Answer {
	return scenarios.Answer{Status: 200, Body: map[string]any{"List": []any{"a", "b"}, "Name": "web", "a.b": true}}
}

// TestReplies proves of each expectation of an answer that it holds and that it fails,
// and what a failure says.
func TestReplies(t *testing.T) {
	tests := []struct {
		expect string
		answer func(scenarios.APICall) scenarios.Answer
		want   string // of the failure
	}{
		{"{}", fields, ""},
		{"{}", refusal, "expected success, saw 400 Bad.Luck: no luck today"},
		{"{}", loss, "expected success, saw no answer: EOF"},
		{"{status: 200}", fields, ""},
		{"{status: 400}", refusal, ""},
		{"{status: 404}", refusal, "expected status 404, saw 400 Bad.Luck"},
		{"{code: Bad.Luck}", refusal, ""},
		{"{code: Bad.Luck}", fields, `expected code "Bad.Luck", saw success (200)`},
		{"{code: Good.Luck}", refusal, `expected code "Good.Luck", saw 400 Bad.Luck`},
		{"{code: Bad.Luck, message: {matches: luck}}", refusal, ""},
		{"{code: Bad.Luck, message: luck}", refusal, `message "luck", saw 400`},
		{"{lost: true}", loss, ""},
		{"{lost: true}", fields, "expected no answer, saw success (200)"},
		{"{fields: {Name: web, List: {count: 2}, List.1: b, None: {absent: true}, None.List: {count: 0}, 'a\\.b': true}}", fields, ""},
		{"{fields: {Name: {matches: ^w}}}", fields, ""},
		{"{fields: {Name: {matches: ^x}}}", fields, `expected Name a match of "^x", saw Name "web"`},
		{"{fields: {Name: {equals: web}}}", fields, ""},
		{"{fields: {Name: {equals: wob}}}", fields, `expected Name "wob", saw Name "web"`},
		{"{fields: {Name: wob}}", fields, `expected Name "wob", saw Name "web"`},
		{"{fields: {List.2: c}}", fields, `expected List.2 "c", saw List.2 nothing`},
		{"{fields: {List: {count: 1}}}", fields, `expected List 1 element, saw List 2 elements`},
		{"{fields: {Name: {count: 0}}}", fields, `expected Name 0 elements, saw Name "web"`},
		{"{fields: {Name: {absent: true}}}", fields, `expected Name nothing, saw Name "web"`},
	}
	for _, test := range tests {
		f := &fake{answer: test.answer}
		result := play(t, "client:\n  steps:\n    - call: {action: Do, expect: "+test.expect+"}\n", scenarios.ClientPart, scenarios.Setup{Target: f})
		judge(t, test.expect, result, test.want)
	}
}

// judge wants a pass, or a failure at the step's line with this text.
func judge(t *testing.T, what string, result scenarios.Result, want string) {
	t.Helper()
	if want == "" {
		if result.Status != scenarios.Passed {
			t.Errorf("%s: %s: %v, want it passed", what, result.Status, result.Failure)
		}
		return
	}
	if result.Status != scenarios.Failed {
		t.Errorf("%s: %s (%v), want it failed with %q", what, result.Status, result.Failure, want)
		return
	}
	if !strings.Contains(fmt.Sprint(result.Failure.Unmet), want) || result.Failure.Line != 4 || result.Failure.File != "dir/f.yaml" {
		t.Errorf("%s: %+v, want %q at line 4", what, result.Failure, want)
	}
}

// TestExpectations proves of each expectation, in the client part, that it holds and
// that it fails, and what a failure says.
func TestExpectations(t *testing.T) {
	tests := []struct{ expect, want string }{
		{"resource: {action: Describe, fields: {Name: web}}", ""},
		{"resource: {action: Describe, fields: {Name: wob}}", `expected Name "wob", saw Name "web"`},
		{"resource: {action: Describe, code: Gone}", `expected code "Gone", saw success`},
		{"calls: {action: 'A*', exactly: 2}", ""},
		{"calls: {action: 'A*', exactly: 1}", "expected exactly 1 call of A*, saw 2 calls"},
		{"calls: {action: 'Ab, B', exactly: 2}", ""},
		{"calls: {atLeast: 3}", ""},
		{"calls: {atLeast: 4}", "expected at least 4 calls of any action, saw 3 of 4 calls"},
		{"calls: {atLeast: 1, atMost: 3}", ""},
		{"calls: {atMost: 2}", "expected at most 2 calls of any action, saw 3 calls"},
		{"calls: {action: C, none: true}", ""},
		{"calls: {action: B, none: true}", "expected no calls of B, saw 1 call"},
		{"calls: {order: [Aa, B]}", ""},
		{"calls: {order: [Aa, B, Ab]}", "expected calls in the order Aa, B, Ab, saw no Ab after the first 2 of them in: Aa, Ab, B"},
		{"calls: {params: {P: {matches: x}}, exactly: 1}", ""},
		{"calls: {params: {P: {absent: true}}, exactly: 2}", ""},
		{"calls: {params: {P: y}, atLeast: 1}", `expected at least 1 call of any action with P "y", saw 0 of 1 call`},
		{"calls: {action: Aa, params: {P: {absent: true}, Q: {absent: true}}, none: true}", "expected no calls of Aa with P absent and Q absent, saw 1 call"},
		{"calls: {code: {absent: true}, exactly: 3}", ""},
		{"calls: {code: Bad, exactly: 3}", `expected exactly 3 calls of any action answered with "Bad", saw 0 of 3 calls`},
		{"calls: {code: OK, exactly: 3}", ""},
		{"calls: {since: m, exactly: 1}", ""},
		{"calls: {since: m, exactly: 3}", "expected exactly 3 calls of any action since m, saw 1 of 3 calls"},
		{"quota: {name: q, used: 3}", ""},
		{"quota: {name: q, used: 4}", "expected 4 used of q, saw 3"},
		{"quota: {name: q, holder: b, free: 8}", ""},
		{"quota: {name: q, holder: b, free: 9}", "expected 9 free of q, saw 8"},
		{"addresses: {vSwitch: v, free: 5}", ""},
		{"addresses: {vSwitch: v, free: 6}", "expected 6 free addresses in v, saw 5"},
		{"loadBalancer: {name: web, address: 10.0.0.2, listeners: {tcp:80: 3, http:443: 1}}", ""},
		{"loadBalancer: {name: web, listeners: {tcp:80: 3}}", "expected the listeners {tcp:80: 3}, saw {http:443: 1, tcp:80: 3}"},
		{"loadBalancer: {name: web, listeners: {tcp:80: 3, http:443: 1, udp:53: 0}}", "expected the listeners {http:443: 1, tcp:80: 3, udp:53: 0}, saw {http:443: 1, tcp:80: 3}"},
		{"loadBalancer: {name: web, listeners: {tcp:80: {atLeast: 2}, http:443: {atMost: 1}}}", ""},
		{"loadBalancer: {name: web, listeners: {tcp:80: {atLeast: 2}, http:443: 0}}", "expected the listeners {http:443: 0, tcp:80: at least 2}, saw {http:443: 1, tcp:80: 3}"},
		{"loadBalancer: {name: web, listeners: {tcp:80: 2, http:443: 1}}", "expected the listeners {http:443: 1, tcp:80: 2}, saw {http:443: 1, tcp:80: 3}"},
		{"loadBalancer: {name: web, listeners: {tcp:80: {atLeast: 1, atMost: 2}, http:443: 1}}", "expected the listeners {http:443: 1, tcp:80: 1 to 2}, saw {http:443: 1, tcp:80: 3}"},
		{"loadBalancer: {name: web, listeners: {tcp:80: 4, http:443: 1}}", "expected the listeners {http:443: 1, tcp:80: 4}, saw {http:443: 1, tcp:80: 3}"},
		{"loadBalancer: {name: web, listeners: {tcp:81: 3, http:443: 1}}", "expected the listeners {http:443: 1, tcp:81: 3}, saw {http:443: 1, tcp:80: 3}"},
		{"loadBalancer: {name: web, address: {matches: '^192'}}", "expected an address of web, a match of \"^192\", saw 10.0.0.1, 10.0.0.2"},
		{"loadBalancer: {name: twin}", "expected one load balancer twin, saw 2"},
		{"loadBalancer: {name: none}", "expected one load balancer none, saw 0"},
		{"loadBalancer: {name: '{{none}}', absent: true}", ""},
		{"loadBalancer: {name: '{{web}}', absent: true}", "expected no load balancer web, saw 1"},
	}
	for _, test := range tests {
		f := &fake{answer: fields, free: 5}
		mark := "    - mark: m\n"
		if !strings.Contains(test.expect, "since") {
			mark = ""
		}
		saved := ""
		for name, field := range map[string]string{"web": "Name", "none": "List.0"} {
			if strings.Contains(test.expect, "{{"+name+"}}") {
				saved = ", save: {" + name + ": " + field + "}"
			}
		}
		steps := "    - call: {action: Aa" + saved + "}\n    - call: {action: Ab, params: {P: x}}\n" + mark + "    - call: {action: B}\n"
		result := play(t, "client:\n  expect:\n    - "+test.expect+"\n  steps:\n"+steps, scenarios.ClientPart, scenarios.Setup{Target: f})
		judge(t, test.expect, result, test.want)
	}
}

// TestObserver proves that the looks that the runner takes itself are not counted
// as the client's calls, nor a script's as a controller's.
func TestObserver(t *testing.T) {
	f := &fake{answer: fields}
	text := "%s:\n  steps:\n    - call: {action: Do}\n    - expect: [{resource: {action: Do}}, {calls: {action: Do, exactly: %d}}]\n"
	judge(t, "client", play(t, fmt.Sprintf(text, "client", 1), scenarios.ClientPart, scenarios.Setup{Target: f}), "")
	judge(t, "kubernetes", play(t, fmt.Sprintf(text, "kubernetes", 0), scenarios.KubernetesPart, scenarios.Setup{Target: f, Cluster: &fakeCluster{}}), "")
}

// after answers with a name from a time on.
func after(f *fake, when time.Duration, name string) func(scenarios.APICall) scenarios.Answer {
	return func(scenarios.APICall) scenarios.Answer {
		if f.now < when {
			return scenarios.Answer{Status: 200, Body: map[string]any{"Name": "old"}}
		}
		return scenarios.Answer{Status: 200, Body: map[string]any{"Name": name}}
	}
}

// TestTime proves that within and wait stop as soon as it is so and fail in the
// end, that for fails as soon as it is not so, and that each takes the time that
// it says.
func TestTime(t *testing.T) {
	const within = "client:\n  expect:\n    - resource: {action: D, fields: {Name: new}}\n      within: 1m\n  steps: [{set: {a: b}}]\n"
	const wait = "client:\n  steps:\n    - wait: {call: {action: D, expect: {fields: {Name: new}}, save: {x: Name}}, within: 1m, every: 10s}\n    - call: {action: E, params: {X: '{{x}}'}}\n"
	const stays = "client:\n  expect:\n    - resource: {action: D, fields: {Name: old}}\n      for: 1m\n  steps: [{set: {a: b}}]\n"
	tests := []struct {
		name, text  string
		changes     time.Duration
		want        string
		least, most time.Duration
	}{
		{"within", within, 30 * time.Second, "", 30 * time.Second, 40 * time.Second},
		{"within, never", within, time.Hour, `expected Name "new" within 1m, saw Name "old"`, time.Minute, time.Minute},
		{"wait", wait, 30 * time.Second, "", 30 * time.Second, 30 * time.Second},
		{"wait, never", wait, time.Hour, `expected Name "new" within 1m, saw Name "old"`, time.Minute, time.Minute},
		{"for", stays, time.Hour, "", time.Minute, time.Minute},
		{"for, until then", stays, 30 * time.Second, `expected Name "old" for 1m, saw Name "new" after 30s`, 30 * time.Second, 31 * time.Second},
	}
	for _, test := range tests {
		f := &fake{}
		f.answer = after(f, test.changes, "new")
		judge(t, test.name, play(t, test.text, scenarios.ClientPart, scenarios.Setup{Target: f}), test.want)
		if f.now < test.least || f.now > test.most {
			t.Errorf("%s: it took %s, want %s to %s", test.name, f.now, test.least, test.most)
		}
	}
}

// TestFaults proves that a scenario fails whose fault never struck, also one that
// was taken away or replaced meanwhile, that it passes otherwise, and that no
// rule is left behind.
func TestFaults(t *testing.T) {
	const rule = "    - fault: {name: f, match: {action: Do}, effect: {reset: true}}\n"
	const head = "client:\n  steps:\n"
	strikes := func(f *fake) func(scenarios.APICall) scenarios.Answer {
		return func(call scenarios.APICall) scenarios.Answer {
			for i := range f.rules {
				f.rules[i].Hits++
			}
			return scenarios.Answer{Status: 200}
		}
	}
	const never = "expected the fault to strike at least once, saw that it never did: it matched 1 call"
	tests := []struct{ name, steps, want string }{
		{"struck", rule + "    - call: {action: Do}\n", ""},
		{"never", rule + "    - clock: {advance: 1s}\n", never},
		{"cleared in vain", rule + "    - clear: f\n    - call: {action: Do}\n", never},
		{"cleared after it struck", rule + "    - call: {action: Do}\n    - clear: [f]\n", ""},
		{"replaced in vain", rule + "    - fault: {name: f, effect: {empty: true}}\n    - call: {action: Do}\n", never},
	}
	for _, test := range tests {
		f := &fake{}
		f.answer = strikes(f)
		judge(t, test.name, play(t, head+test.steps, scenarios.ClientPart, scenarios.Setup{Target: f}), test.want)
		if len(f.rules) > 0 {
			t.Errorf("%s: %v is left behind", test.name, f.rules)
		}
	}
}

// TestBroken proves that what is wrong with the play is no verdict on the client:
// neither a pass nor a failure.
func TestBroken(t *testing.T) {
	const restart = "client:\n  steps:\n    - restart: true\n"
	tests := []struct {
		name, text, want string
		fake             fake
	}{
		{"restart of a running server", restart, "without --server", fake{}},
		{"crash of a running server", "client:\n  steps:\n    - repeat: {times: 1, steps: [{fault: {name: f, effect: {crash: true}}}]}\n", "without --server", fake{}},
		{"no answer of the target", "client:\n  steps:\n    - call: {action: Do}\n", "gone", fake{fails: map[string]error{"call": errors.New("gone")}}},
		{"given is refused", "given:\n  state: [{action: Do}]\nclient: {steps: [{clock: {advance: 1s}}]}\n", "", fake{answer: refusal}},
		{"condition is refused", "given:\n  world: {a: b}\nclient: {steps: [{clock: {advance: 1s}}]}\n", "no a", fake{fails: map[string]error{"set": errors.New("no a")}}},
		{"no quota", "client:\n  expect:\n    - quota: {name: none, used: 1}\n  steps: [{set: {a: b}}]\n", "there is no quota none", fake{}},
		{"no vSwitch", "client:\n  expect:\n    - addresses: {vSwitch: none, free: 1}\n  steps: [{set: {a: b}}]\n", "there is no vSwitch none", fake{}},
		{"no journal", "client:\n  expect:\n    - calls: {none: true}\n  steps: [{set: {a: b}}]\n", "forgotten", fake{fails: map[string]error{"calls": errors.New("forgotten")}}},
		{"times of no number", "client:\n  steps:\n    - call: {action: Do, save: {t: Name}}\n    - repeat: {times: '{{t}}', steps: [{clock: {advance: 1s}}]}\n", `"web" is not a number`, fake{answer: fields}},
		{"filled with nonsense", "client:\n  steps:\n    - call: {action: Do, save: {t: Name}}\n    - clock: {advance: '{{t}}'}\n", `"web" is not a duration`, fake{answer: fields}},
	}
	for _, test := range tests {
		result := play(t, test.text, scenarios.ClientPart, scenarios.Setup{Target: &test.fake})
		if result.Status != scenarios.Broken || !strings.Contains(result.Failure.Reason, test.want) {
			t.Errorf("%s: %s, %+v, want broken with %q", test.name, result.Status, result.Failure, test.want)
		}
	}
	f := &fake{}
	if play(t, restart, scenarios.ClientPart, scenarios.Setup{Target: f}); len(f.did) > 0 {
		t.Errorf("a scenario that can't be played did %v", f.did)
	}
}

// TestFailure proves what a failure shows: each expectation that does not hold with
// its place and both sides, the client's calls since the beginning with repeats
// folded, what became of the faults, and what the client should do.
func TestFailure(t *testing.T) {
	f := &fake{answer: func(call scenarios.APICall) scenarios.Answer {
		if call.Action == "Bad" {
			return refusal(call)
		}
		return fields(call)
	}}
	var steps []string
	result := play(t, `advice: "Try {{what}} again."
values: {what: Good}
client:
  steps:
    - fault: {name: f, match: {action: Bad}, effect: {reset: true}}
    - call: {action: Good}
    - repeat: {times: 20, steps: [{call: {action: Bad, params: {A: "{{n}}", B: same}, expect: {code: Bad.Luck}}}]}
    - call: {action: Good}
  expect:
    - calls: {action: Good, exactly: 2}
    - calls: {action: Good, none: true}
      within: 6m
    - resource: {action: Look, fields: {Name: web}}
      within: 6m
    - resource: {action: Look, fields: {Name: wob, a\.b: "false"}}
      within: 6m
`,
		scenarios.ClientPart, scenarios.Setup{Target: f, Progress: func(s scenarios.StepDone) {
			steps = append(steps, fmt.Sprint(s.Line, " ", s.Title, " ", s.Passed))
		}})
	want := `dir/f.yaml:12: expect calls of Good
  expected  no calls of Good within 6m
  saw       2 calls
dir/f.yaml:16: expect Look
  expected  Name "wob", a\.b "false"
  saw       Name "web", a\.b "true"
  calls     since the beginning:
            Slb Good → 200
            20 × Slb Bad B=same → 400 Bad.Luck, each with another A
            Slb Good → 200
  faults    f struck 0 of 1 calls that it matched
  to do     Try Good again.
`
	if result.Failure == nil || result.Failure.String() != want {
		t.Errorf("the failure says\n%s\nwant\n%s", result.Failure, want)
	}
	if got := strings.Join(steps, ", "); got != "6 fault f true, 7 call Good true, 8 repeat 20 times true, 9 call Good true, "+
		"11 expect calls of Good true, 12 expect calls of Good false, 14 expect Look true, 16 expect Look false" {
		t.Errorf("progress = %s", got)
	}
	if limit := 7 * time.Minute; f.now > limit {
		t.Errorf("it took %s, want the expectations after the first that failed looked at once", f.now)
	}
}

// TestNobodyCalled proves that a part that is about another client says so
// when there is none.
func TestNobodyCalled(t *testing.T) {
	text := "kubernetes:\n  steps: [{call: {action: Mine}}]\n  expect:\n    - calls: {action: Create, atLeast: 1}\n"
	f := &fake{}
	result := play(t, text, scenarios.KubernetesPart, scenarios.Setup{Target: f, Cluster: &fakeCluster{}})
	const want = "no client called this emulator: is the controller running, and pointed here?"
	if result.Failure == nil || !strings.Contains(result.Failure.String(), want) || len(result.Failure.Calls) > 0 {
		t.Errorf("Play = %+v, want the hint and no calls", result.Failure)
	}
	f.journal = nil
	f.answer = func(call scenarios.APICall) scenarios.Answer {
		f.journal = append(f.journal, scenarios.JournalCall{Sequence: 1, UserAgent: "ccm", Product: "Slb", Action: "Describe", Status: 200})
		return scenarios.Answer{Status: 200}
	}
	result = play(t, text, scenarios.KubernetesPart, scenarios.Setup{Target: f, Cluster: &fakeCluster{}})
	if result.Failure == nil || result.Failure.Hint != "" || len(result.Failure.Calls) != 1 {
		t.Errorf("Play = %+v, want a controller's call and no hint", result.Failure)
	}
}
