package scenarios_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/scenarios"
)

// fewNames are an action, its parameter, its field and a condition.
type fewNames struct{}

func (fewNames) Actions() []scenarios.Action {
	return []scenarios.Action{{Product: "Slb", Name: "DescribeRegions", Emulated: true, Parameters: []string{"AcceptLanguage"}, Fields: []string{"Regions.Region[].RegionId"}}}
}

func (fewNames) Quotas() []string { return []string{"slb_quota"} }

func (fewNames) ResolveFault(rule *faults.Rule) []faults.Problem {
	if rule.Match.Action != "DescribeRegions" {
		return []faults.Problem{{Path: []string{"match", "action"}, Reason: "no emulated action is called " + rule.Match.Action}}
	}
	return nil
}

func (fewNames) CheckConditionID(string) error { return nil }

func (fewNames) CheckID(string, string) error { return nil }

func (fewNames) CheckCondition(name, _ string) error {
	if name != "account.arrears" {
		return errors.New("there is no such condition")
	}
	return nil
}

// load reads a scenario called f.yaml, whose about is its first line.
func load(text string) (*scenarios.Scenario, error) {
	return scenarios.Load("dir/f.yaml", []byte("about: a\n"+text), scenarios.Options{Names: fewNames{}})
}

// TestProblems proves that errors of a file come with file, line, field and
// reason.
func TestProblems(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"Syntax":           {"client: {steps: [}\n", "dir/f.yaml:2: a value is missing, or a [ or { is not closed"},
		"TwoDocuments":     {"client: {steps: [{clock: {advance: 1s}}]}\n---\na: 1\n", "dir/f.yaml:4:1: there is a second document"},
		"UnknownKey":       {"client:\n  stepps: []\n", "dir/f.yaml:3:3: client.stepps: there is no such field: do you mean steps?"},
		"OtherStep":        {"client:\n  steps:\n    - sleep: 3s\n", "dir/f.yaml:4:7: client.steps[0].sleep: there is no such field: write clock: {advance: 3s}"},
		"UnknownStep":      {"client:\n  steps:\n    - cal: {action: DescribeRegions}\n", "dir/f.yaml:4:7: client.steps[0].cal: there is no such field: do you mean call?"},
		"KeyTwice":         {"client:\n  steps:\n    - mark: a\n      mark: b\n", "dir/f.yaml:5:7: client.steps[0].mark: it is here twice"},
		"NoPart":           {"", "dir/f.yaml:1:1: there is nothing to play"},
		"EmptyPart":        {"client: {}\n", "dir/f.yaml:2:9: client: there is nothing to play"},
		"TwoThings":        {"client:\n  steps:\n    - restart: true\n      kill: true\n", "dir/f.yaml:4:7: client.steps[0]: give exactly one of set, fault"},
		"Missing":          {"client:\n  steps:\n    - call: {params: {a: b}}\n", "dir/f.yaml:4:13: client.steps[0].call.action: it is missing"},
		"BadDuration":      {"client:\n  steps:\n    - clock: {advance: 5 minutes}\n", `dir/f.yaml:4:24: client.steps[0].clock.advance: "5 minutes" is not a duration: write 90s`},
		"NegativeDuration": {"client:\n  steps:\n    - clock: {advance: -5m}\n", `dir/f.yaml:4:24: client.steps[0].clock.advance: -5m is not above 0, and time only goes forward`},
		"BadNumber":        {"client:\n  expect:\n    - calls: {atLeast: many}\n", `dir/f.yaml:4:24: client.expect[0].calls.atLeast: "many" is not a whole number`},
		"BadBool":          {"client:\n  steps:\n    - restart: maybe\n", `dir/f.yaml:4:16: client.steps[0].restart: "maybe" is not true or false`},
		"NoList":           {"client:\n  steps: now\n", "dir/f.yaml:3:10: client.steps: want a list"},
		"NoFields":         {"client:\n  steps: [now]\n", "dir/f.yaml:3:11: client.steps[0]: want fields"},
		"NoNames":          {"client:\n  steps:\n    - call: {action: DescribeRegions, params: [a]}\n", "dir/f.yaml:4:47: client.steps[0].call.params: want names with values"},
		"NoText":           {"client:\n  steps:\n    - mark: [a]\n", "dir/f.yaml:4:13: client.steps[0].mark: want a text"},
		"Unquoted":         {"client:\n  steps:\n    - mark: {{a}}\n", `write a template in quotes, as "{{name}}"`},
		"UnquotedParam":    {"client:\n  steps:\n    - call: {action: DescribeRegions, params: {a: {{b}}}}\n", `write a template in quotes`},
		"Alias":            {"client:\n  steps:\n    - mark: &a m\n    - mark: *a\n", "dir/f.yaml:5:13: client.steps[1].mark: aliases are not taken"},
		"BadRegexp":        {"client:\n  steps:\n    - call: {action: DescribeRegions, expect: {code: {matches: '('}}}\n", "dir/f.yaml:4:64: client.steps[0].call.expect.code.matches: error parsing regexp"},
		"TwoMatchers":      {"client:\n  steps:\n    - call: {action: DescribeRegions, expect: {fields: {a: {equals: b, absent: true}}}}\n", "fields.a: give exactly one of equals, matches, absent and count"},
		"UnknownMatcher":   {"client:\n  steps:\n    - call: {action: DescribeRegions, expect: {fields: {a: {equal: b}}}}\n", "expect.fields.a.equal: there is no such field: do you mean equals?"},
		"LostWithCode":     {"client:\n  steps:\n    - call: {action: DescribeRegions, expect: {lost: true, status: 200}}\n", "dir/f.yaml:4:47: client.steps[0].call.expect: an answer that is lost has no status"},
		"WithinAndFor":     {"client:\n  expect:\n    - calls: {none: true}\n      within: 1s\n      for: 1s\n", "dir/f.yaml:4:7: client.expect[0]: give within or for, not both"},
		"TwoBounds":        {"client:\n  expect:\n    - calls: {none: true, exactly: 1}\n", "calls: give exactly one of atLeast or atMost, exactly, none and order"},
		"FreezeAndScale":   {"client:\n  steps:\n    - clock: {freeze: true, scale: 2}\n", "clock: give freeze or scale, not both"},
		"IdleClock":        {"client:\n  steps:\n    - clock: {}\n", "clock: give advance, freeze or scale"},
		"NoSuchProduct":    {"client:\n  steps:\n    - call: {product: Nlb, action: DescribeRegions}\n", "call.product: there is no product Nlb"},
		"NoSuchAction":     {"client:\n  steps:\n    - call: {action: DescribeRegion}\n", "dir/f.yaml:4:22: client.steps[0].call.action: no emulated action"},
		"NoSuchParam":      {"client:\n  expect:\n    - resource: {action: DescribeRegions, params: {Lang: a}}\n", "dir/f.yaml:4:58: client.expect[0].resource.params.Lang: DescribeRegions has no such parameter"},
		"NoSuchField":      {"client:\n  steps:\n    - call: {action: DescribeRegions, expect: {fields: {Region: {count: 0}}}}\n", "dir/f.yaml:4:65: client.steps[0].call.expect.fields.Region: DescribeRegions answers it not: there is no such field"},
		"NoSuchSave":       {"client:\n  steps:\n    - call: {action: DescribeRegions, save: {a: Region}}\n", "dir/f.yaml:4:49: client.steps[0].call.save.a: Region: there is no such field"},
		"NoSuchElement":    {"client:\n  steps:\n    - call: {action: DescribeRegions, save: {a: Regions.Region.Id=b.RegionId}}\n", "call.save.a: Regions.Region.Id=b.RegionId: there is no such field"},
		"NoSuchCondition":  {"given:\n  world:\n    account.arears: true\nclient: {steps: [{clock: {advance: 1s}}]}\n", "dir/f.yaml:4:21: given.world.account.arears: there is no such condition"},
		"FaultOnNothing":   {"client:\n  steps:\n    - fault:\n        name: f\n        match: {action: Fly}\n        effect: {reset: true}\n", "dir/f.yaml:6:25: client.steps[0].fault.match.action: no emulated action is called Fly"},
		"BadFault":         {"client:\n  steps:\n    - fault: {name: f, effect: {explode: true}}\n", "dir/f.yaml:4:33: client.steps[0].fault.effect.explode: there is no such field"},
		"FaultIsText":      {"client:\n  steps:\n    - fault: f\n", "dir/f.yaml:4:14: client.steps[0].fault: want fields"},
		"ClearsNothing":    {"client:\n  steps:\n    - clear: f\n", "dir/f.yaml:4:14: client.steps[0].clear: no earlier step adds a fault called f"},
		"NoSuchProtocol":   {"client:\n  steps: [{call: {action: DescribeRegions}}]\n  expect:\n    - loadBalancer: {name: a, listeners: {tpc:80: 1}}\n", `loadBalancer: listeners: "tpc:80" is not a protocol (tcp, udp, http, https, tcpssl, quic) and a port, such as tcp:80`},
		"NoSuchPort":       {"client:\n  steps: [{call: {action: DescribeRegions}}]\n  expect:\n    - loadBalancer: {name: a, listeners: {tcp:80-: 1}}\n", `loadBalancer: listeners: "80-" is not a port or a range of ports`},
		"AbsentListens":    {"client:\n  steps: [{call: {action: DescribeRegions}}]\n  expect:\n    - loadBalancer: {name: a, absent: true, listeners: {tcp:80: 1}}\n", "loadBalancer: an absent load balancer has no address and no listeners"},
		"BadAmount":        {"client:\n  steps: [{call: {action: DescribeRegions}}]\n  expect:\n    - loadBalancer: {name: a, listeners: {tcp:80: some}}\n", `"some" is not a number: write 3 for exactly three, 0 for none, or {atLeast: 1}`},
		"EmptyAmount":      {"client:\n  steps: [{call: {action: DescribeRegions}}]\n  expect:\n    - loadBalancer: {name: a, listeners: {tcp:80: {}}}\n", "give a number, atLeast or atMost"},
		"NoStatus":         {"client:\n  steps:\n    - traffic: {loadBalancer: lb-a, port: 80, expect: {statuses: {999: 1}}}\n", `"999" is no status: want one from 100 to 599`},
		"ManyAnswers":      {"client:\n  steps:\n    - traffic: {loadBalancer: lb-a, port: 80, requests: 2, expect: {statuses: {200: 3}}}\n", `3 answers of 200, but there are 2 requests`},
		"FewAnswers":       {"values: {b: lb-a}\nclient:\n  steps:\n    - traffic: {loadBalancer: '{{b}}', port: 80, requests: 9, expect: {failures: 2, statuses: {200: 3}}}\n", `with the failures they are 5 answers, but there are 9 requests`},
		"ToleranceOfNone":  {"client:\n  steps:\n    - traffic: {loadBalancer: lb-a, port: 80, expect: {tolerance: 3}}\n", `there are no shares that may differ`},
		"NegativeCount":    {"client:\n  expect:\n    - resource: {action: DescribeRegions, fields: {Regions.Region: {count: -1}}}\n", `fields.Regions.Region.count: no list has -1 elements`},
		"EqualList":        {"client:\n  expect:\n    - resource: {action: DescribeRegions, fields: {Regions.Region: cn-hangzhou}}\n", `it is a list: give its count, or name an element, such as Regions.Region.0`},
		"NegativeScale":    {"client:\n  steps:\n    - clock: {scale: -2}\n", `scale is a number above 0`},
		"NothingRepeated":  {"client:\n  steps:\n    - repeat: {times: 3, steps: []}\n", `client.steps[0].repeat.steps: there is nothing to repeat`},
		"LongPause":        {"client:\n  steps:\n    - wait: {call: {action: DescribeRegions}, within: 5s, every: 10s}\n", `every is longer than within`},
		"NoTries":          {"client:\n  steps:\n    - call: {action: DescribeRegions, tries: 0}\n", `client.steps[0].call.tries: no call is never made`},
		"StatusOfCode":     {"client:\n  steps:\n    - call: {action: DescribeRegions, expect: {status: 200, code: Throttling}}\n", `no answer has both the status 200 and the code Throttling`},
		"StatusOfSuccess":  {"client:\n  steps:\n    - call: {action: DescribeRegions, expect: {status: 400, code: OK}}\n", `no answer has both the status 400 and the code OK`},
		"ServerStatus":     {"given: {servers: [{id: i-a, status: 99}]}\nclient:\n  steps:\n    - restart: true\n", `status is 200 to 599`},
		"ServerTwice":      {"given: {servers: [{id: i-a}, {id: i-a}]}\nclient:\n  steps:\n    - restart: true\n", `given.servers[1].id: i-a is there twice`},
		"ExitStatus":       {"client:\n  steps:\n    - exec: {command: [a], exit: 300}\n", `client.steps[0].exec.exit: no program ends with the status 300`},
		"NegativeQuota":    {"client:\n  expect:\n    - quota: {name: slb_quota, used: -1}\n", `used and free are never less than 0`},
		"NegativeFree":     {"client:\n  expect:\n    - addresses: {vSwitch: vsw-a, free: -1}\n", `free is never less than 0`},
		"NoRequests":       {"client:\n  steps:\n    - traffic: {loadBalancer: lb-a, port: 80, requests: 0, expect: {statuses: {200: 1}}}\n", `dir/f.yaml:4:57: client.steps[0].traffic.requests: no request gets no answer`},
		"BigShare":         {"client:\n  steps:\n    - traffic: {loadBalancer: lb-a, port: 80, expect: {shares: {i-1: 101}}}\n", `i-1 has 101, but a share is 0 to 100 percent`},
		"BigShares":        {"client:\n  steps:\n    - traffic: {loadBalancer: lb-a, port: 80, expect: {shares: {i-1: 60, i-2: 60}}}\n", `together they are 120 percent`},
		"ManyFailures":     {"client:\n  steps:\n    - traffic: {loadBalancer: lb-a, port: 80, expect: {failures: 2}}\n", `2 of 1 requests can't fail`},
		"BigTolerance":     {"client:\n  steps:\n    - traffic: {loadBalancer: lb-a, port: 80, expect: {tolerance: 101}}\n", `0 to 100 percentage points`},
		"NoSuchMark":       {"client:\n  expect:\n    - calls: {none: true, since: m}\n", "dir/f.yaml:4:34: client.expect[0].calls.since: no earlier step makes a mark called m"},
		"UnknownName":      {"client:\n  steps:\n    - mark: \"{{lb}}\"\n", "dir/f.yaml:4:13: client.steps[0].mark: there is no value {{lb}} here"},
		"LaterName": {"client:\n  steps:\n    - call: {action: DescribeRegions, params: {AcceptLanguage: '{{lb}}'}}\n    - call: {action: DescribeRegions, save: {lb: Regions}}\n",
			"dir/f.yaml:4:64: client.steps[0].call.params.AcceptLanguage: there is no value {{lb}} here"},
		"NoTimes":          {"values: {t: x}\nclient:\n  steps:\n    - repeat: {times: '{{t}}', steps: [{clock: {advance: 1s}}]}\n", `dir/f.yaml:5:23: client.steps[0].repeat.times: "x" is not a number`},
		"NoDuration":       {"values: {t: x}\nclient:\n  steps:\n    - clock: {advance: '{{t}}'}\n", `dir/f.yaml:5:24: client.steps[0].clock.advance: "x" is not a duration`},
		"ValueUnused":      {"values: {t: x}\nclient: {steps: [{clock: {advance: 1s}}]}\n", "dir/f.yaml:2:13: values.t: nothing uses {{t}}"},
		"SavedUnused":      {"client:\n  steps:\n    - call: {action: DescribeRegions, save: {lb: Regions}}\n", "dir/f.yaml:4:50: client.steps[0].call.save.lb: nothing uses {{lb}}"},
		"MarkUnused":       {"client:\n  steps:\n    - mark: m\n", "dir/f.yaml:4:13: client.steps[0].mark: nothing uses the mark m"},
		"AdviceOfNothing":  {"advice: '{{a}}'\nclient: {steps: [{clock: {advance: 1s}}]}\n", "dir/f.yaml:1: advice: it can have values alone"},
		"UnusedHolder":     {"client:\n  expect:\n    - quota: {name: slb_quota, holder: lb-1, used: 0}\n", "quota.holder: one that is misspelt uses nothing either"},
		"UnusedLikeHolder": {"client:\n  steps:\n    - call: {action: DescribeRegions, save: {lb: Regions}}\n  expect:\n    - quota: {name: slb_quota, holder: '{{lb}}x', used: 0}\n", "quota.holder: one that is misspelt uses nothing either"},
		"AbsentName":       {"client:\n  steps: [{call: {action: DescribeRegions}}]\n  expect:\n    - loadBalancer: {name: web, absent: true}\n", "dir/f.yaml:5:28: client.expect[0].loadBalancer.name: one that is misspelt is absent too: save its id in an earlier step, and write {{name}}"},
		"AbsentLikeName":   {"client:\n  steps:\n    - call: {action: DescribeRegions, save: {lb: Regions}}\n  expect:\n    - loadBalancer: {name: '{{lb}}x', absent: true}\n", "loadBalancer.name: one that is misspelt is absent too"},
		"SavedTwice":       {"values: {lb: a}\nclient:\n  steps:\n    - call: {action: DescribeRegions, params: {AcceptLanguage: '{{lb}}'}, save: {lb: Regions}}\n", "save.lb: values has one of that name already"},
		"StartAlone":       {"client:\n  steps:\n    - start: true\n", "start: it is for the program part"},
		"ExecNothing":      {"client:\n  steps:\n    - exec: []\n", "exec: give the program and its arguments"},
		"ExecUnknown":      {"client:\n  steps:\n    - exec: {comand: [a]}\n", "exec.comand: there is no such field: do you mean command?"},
		"NameNearby":       {"values: {bucket: a}\nclient:\n  steps:\n    - mark: \"{{buket}}\"\n", "(do you mean bucket?)"},
		"NameOfOtherPart":  {"client:\n  steps:\n    - call: {action: DescribeRegions, save: {lb: Regions}}\nkubernetes:\n  steps:\n    - mark: \"{{lb}}\"\n", "dir/f.yaml:7:13: kubernetes.steps[0].mark: there is no value {{lb}}"},
		"CounterOutside":   {"client:\n  steps:\n    - repeat: {times: 2, steps: [{mark: '{{n}}'}]}\n    - mark: '{{n}}'\n", "dir/f.yaml:5:13: client.steps[1].mark: there is no value {{n}}"},
		"BadTemplate":      {"client:\n  steps:\n    - mark: \"{{a-b}}\"\n", "{{ opens no name"},
		"BadTimes":         {"client:\n  steps:\n    - repeat: {times: 0, steps: [{mark: m}]}\n", `dir/f.yaml:4:23: client.steps[0].repeat.times: "0" is not a number from 1 to`},
		"BadSave":          {"client:\n  steps:\n    - call: {action: DescribeRegions, save: {a-b: Regions}}\n", "save.a-b: it is not a name for a value"},
		"BadValueName":     {"values: {a-b: c}\nclient: {steps: [{clock: {advance: 1s}}]}\n", "dir/f.yaml:2:15: values.a-b: a name has letters"},
		"Cycle":            {"values:\n  a: \"{{b}}\"\n  b: \"{{c}}\"\n  c: \"{{a}}\"\nclient: {steps: [{clock: {advance: 1s}}]}\n", "dir/f.yaml:3:6: values.a: values use each other in a circle: a → b → c → a"},
		"CycleOfOne":       {"values:\n  a: \"{{a}}\"\nclient: {steps: [{clock: {advance: 1s}}]}\n", "in a circle: a → a"},
		"ValueOfNothing":   {"values:\n  a: \"{{b}}\"\nclient: {steps: [{clock: {advance: 1s}}]}\n", "dir/f.yaml:3:6: values.a: there is no value {{b}}"},
		"KubectlAlone":     {"client:\n  steps:\n    - kubectl: {apply: {kind: Service}}\n", "dir/f.yaml:4:16: client.steps[0].kubectl: it needs a cluster: put it in the kubernetes part"},
		"EventAlone":       {"client:\n  expect:\n    - event: {object: Service/a, reason: b}\n", "dir/f.yaml:4:7: client.expect[0]: it needs a cluster"},
		"TwoKubectls":      {"kubernetes:\n  steps:\n    - kubectl: {apply: {a: b}, delete: {a: b}}\n", "kubectl: give exactly one of apply, patch and delete"},
		"NoCalls":          {"explore: {calls: 0}\nclient: {steps: [{clock: {advance: 1s}}]}\n", "dir/f.yaml:2:18: explore.calls: 0 would be as if it were not there: leave it out, or give more"},
		"KnownByNothing":   {"explore: {known: [{rule: double, disturbance: losst, why: w}]}\nclient: {steps: [{clock: {advance: 1s}}]}\n", "explore: known: there is no disturbance losst: do you mean lost?"},
		"KnownAtNothing":   {"explore: {known: [{rule: double, call: DescribeRegion, why: w}]}\nclient: {steps: [{clock: {advance: 1s}}]}\n", "explore.known[0].call: no action is called DescribeRegion: do you mean DescribeRegions?"},
		"NoConnections":    {"client:\n  steps:\n    - traffic: {loadBalancer: lb-a, port: 80, connections: 0}\n", "traffic.connections: 0 would be as if it were not there"},
		"NoTimesOfFault":   {"client:\n  steps:\n    - fault: {name: f, when: {times: 0}, effect: {reset: true}}\n", "fault.when.times: 0 would be as if it were not there"},
		"RefusedWithField": {"client:\n  expect:\n    - resource: {action: DescribeRegions, code: Throttling, fields: {a: b}}\n", "a call that is refused answers no fields: give code or fields"},
		"NeverSoMany":      {"client:\n  steps: [{call: {action: DescribeRegions}}]\n  expect:\n    - loadBalancer: {name: a, listeners: {tcp:80: {atLeast: 3, atMost: 2}}}\n", "listeners.tcp:80: atLeast is more than atMost: that is never so"},
		"Fractions":        {"given: {servers: [{id: i-a}, {id: i-b}]}\nclient:\n  steps:\n    - traffic: {loadBalancer: lb-a, port: 80, requests: 4, expect: {shares: {i-a: 0.75, i-b: 0.25}}}\n", "shares: they are in percent: write 75, not 0.75"},
		"LateAnswer":       {"client:\n  steps:\n    - traffic: {loadBalancer: lb-a, port: 80, expect: {latency: 10s}}\n", "expect.latency: no answer takes longer than the timeout, which is 10s"},
		"MarkTwice":        {"client:\n  steps:\n    - mark: m\n    - mark: m\n  expect:\n    - calls: {none: true, since: m}\n", "dir/f.yaml:5:13: client.steps[1].mark: an earlier step makes a mark called m already"},
		"BadManifest":      {"kubernetes:\n  steps:\n    - kubectl: {apply: just words}\n", "dir/f.yaml:4:24: kubernetes.steps[0].kubectl.apply: it is no YAML of objects: write kind, metadata and the others"},
		"EmptyManifest":    {"kubernetes:\n  steps:\n    - kubectl: {apply: ''}\n", "kubectl.apply: there is no object"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := load(test.text)
			var problems scenarios.Problems
			if !errors.As(err, &problems) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Load(%q) = %v, want %q", test.text, err, test.want)
			}
		})
	}
}

// TestAllProblems proves that one reading reports everything that is wrong.
func TestAllProblems(t *testing.T) {
	_, err := load("clients: {}\nclient:\n  steps:\n    - clock: {advance: soon}\n    - call: {}\n")
	var problems scenarios.Problems
	if !errors.As(err, &problems) || len(problems) != 3 {
		t.Errorf("Load = %v, want three problems", err)
	}
}

// TestOnce proves that a problem within an expectation appears once, with the
// place of the element.
func TestOnce(t *testing.T) {
	_, err := load("client:\n  steps:\n    - expect:\n        - resource: {action: DescribeRegions, params: {AcceptLanguage: ['{{x}}']}}\n")
	want := "dir/f.yaml:5:73: client.steps[0].expect[0].resource.params.AcceptLanguage[0]: there is no value {{x}} here"
	var problems scenarios.Problems
	if !errors.As(err, &problems) || len(problems) != 1 || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Load = %v, want %q alone", err, want)
	}
}

// TestEmpty proves that a file of nothing is a problem and no panic.
func TestEmpty(t *testing.T) {
	for _, text := range []string{"", "# a comment\n", "null\n", "- a\n", "a\n"} {
		if _, err := scenarios.Load("f.yaml", []byte(text), scenarios.Options{}); err == nil {
			t.Errorf("Load(%q) succeeds, want a problem", text)
		}
	}
}

// TestValues proves that values use each other and that options win over the
// file.
func TestValues(t *testing.T) {
	text := "about: a\nvalues: {zone: g, name: 'cn-{{zone}}', both: '{{name}}/{{ zone }}'}\nclient: {steps: [{set: {a: '{{both}}'}}]}\n"
	s, err := scenarios.Load("dir/f.yml", []byte(text), scenarios.Options{Set: map[string]string{"zone": "h", "other": "x"}})
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "f" || s.Values["both"] != "cn-h/h" || len(s.Values) != 3 {
		t.Errorf("Load = %q with %v, want f with cn-h/h and no other value", s.Name, s.Values)
	}
}

// TestLibrary proves that every scenario of the library is read without a
// problem, says at its head what it is about and what a controller should do, and
// has a client part.
func TestLibrary(t *testing.T) {
	advises := regexp.MustCompile(`^(A controller|An operator) `)
	names := scenarios.LibraryNames()
	if len(names) < 45 {
		t.Fatalf("the library has %d scenarios, want 45 or more", len(names))
	}
	for _, name := range names {
		text, ok := scenarios.LibraryText(name)
		s, err := scenarios.Load(name+".yaml", text, scenarios.Options{})
		if !ok || err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.Client == nil || !strings.HasPrefix(string(text), "# ") || !advises.MatchString(s.Advice) {
			t.Errorf("%s: want a client part, a comment, and advice on what a controller or an operator should do", name)
		}
	}
	if _, ok := scenarios.LibraryText("none"); ok {
		t.Error("LibraryText(none) is there")
	}
}

// FuzzScenario proves that no text makes the loader panic, and that what it takes
// is taken again.
func FuzzScenario(f *testing.F) {
	for _, name := range scenarios.LibraryNames() {
		text, _ := scenarios.LibraryText(name)
		f.Add(text)
	}
	f.Add([]byte("about: a\nclient: {steps: [{repeat: {times: '{{a}}', steps: []}}]}\nvalues: {a: '{{a}}'}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := scenarios.Load("f.yaml", text, scenarios.Options{Names: fewNames{}})
		if err == nil && s.Client == nil && s.Kubernetes == nil {
			t.Errorf("Load(%q) = %+v, want a part to play", text, s)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "f.yaml:") {
			t.Errorf("Load(%q) = %v, want file and line", text, err)
		}
	})
}

// TestOnePartAlone proves that a scenario which was cut down to one of its parts can be
// read: what is given for the other one is used by none.
func TestOnePartAlone(t *testing.T) {
	const given = "given:\n  state: [{action: DescribeRegions, save: {lb: Regions}}]\n"
	const client = "client: {steps: [{call: {action: DescribeRegions, params: {AcceptLanguage: '{{lb}}'}}}]}\n"
	const program = "program: {command: [p], steps: [{start: true}]}\n"
	for _, text := range []string{given + client + program, given + client, given + program} {
		if _, err := load(text); err != nil {
			t.Errorf("%s\nis refused: %v", text, err)
		}
	}
	if _, err := load(strings.Replace(given, "lb:", "bl:", 1) + client); err == nil || !strings.Contains(err.Error(), "there is no value {{lb}} here") {
		t.Errorf("a misspelt name is answered with %v", err)
	}
}
