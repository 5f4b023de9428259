package faults_test

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clbemu/clbemu/faults"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func parse(t *testing.T, text string) faults.Rule {
	t.Helper()
	rules, err := faults.Parse([]byte(text))
	if err != nil {
		t.Fatalf("parse: %v", err)
	}
	return rules[0]
}

func injector(t *testing.T, rules ...string) *faults.Injector {
	t.Helper()
	var list []faults.Status
	for _, text := range rules {
		list = append(list, faults.Status{Rule: parse(t, text), Since: start})
	}
	e := &faults.Injector{}
	if err := e.Set(list); err != nil {
		t.Fatal(err)
	}
	return e
}

// call returns a CreateLoadBalancer with parameters, given as name, value.
func call(pairs ...string) faults.Request {
	params := make(map[string]string)
	for i := 0; i < len(pairs); i += 2 {
		params[pairs[i]] = pairs[i+1]
	}
	return faults.Request{
		Action: "CreateLoadBalancer", RegionID: "cn-hangzhou", AccessKeyID: "testid", UserAgent: "ack.ccm/2.9", Write: true,
		Params: func(name string) (string, bool) {
			value, ok := params[name]
			return value, ok
		},
		Resource: func(field string) (string, bool) { return "active", field == "status" },
	}
}

// every rule of the vocabulary, one effect and one matcher each at least.
var vocabulary = []string{
	"name: error\nmatch:\n  action: Create*,Delete*\neffect:\n  error:\n    code: ServiceUnavailable\n    httpStatus: 503\n",
	"name: custom\nat: afterCommit\neffect:\n  error:\n    code: Moon\n    message: it is full\n    httpStatus: 418\n    custom: true\n",
	"name: fixed\nmatch:\n  region: cn-hangzhou\neffect:\n  delay:\n    fixed: 20s\n",
	"name: uniform\nmatch:\n  accessKeyId: testid\neffect:\n  delay:\n    uniform: [1s, 3s]\n",
	"name: lognormal\nmatch:\n  userAgent:\n    matches: ack.ccm\neffect:\n  delay:\n    lognormal:\n      median: 1s\n      sigma: 0.5\n",
	"name: throttle\neffect:\n  throttle:\n    qps: 10\n    burst: 20\n",
	"name: window\neffect:\n  throttle:\n    burst: 5\n    window: 1m0s\n",
	"name: hang\nat: accept\neffect:\n  hang: true\n",
	"name: hang-for\neffect:\n  hang: 20s\n",
	"name: reset\nmatch:\n  params.Address:\n    absent: true\neffect:\n  reset: true\n",
	"name: empty\nmatch:\n  resource.status: active\neffect:\n  empty: true\n",
	"name: truncate\neffect:\n  truncate:\n    bytes: 20\n",
	"name: malformed\neffect:\n  malformed: true\n",
	"name: lost\nmatch:\n  params.LoadBalancerName: web\nwhen:\n  skip: 1\n  times: 2\n  every: 3\n  probability: 0.5\n  seed: 7\n  after: 10s\n  for: 5m0s\neffect:\n  afterCommit: reset\n",
	"name: stale\nmatch:\n  action: Describe*\neffect:\n  stale:\n    calls: 3\n",
	"name: stale-for\neffect:\n  stale:\n    seconds: 5\n",
	"name: life\nmatch:\n  action: CreateListener\neffect:\n  life:\n    nlb.job.failing: 1s\n",
	"name: crash\nat: beforeCommit\neffect:\n  crash: true\n",
	"name: refuse\nmatch:\n  client:\n    matches: ^127\\.\n  port: \"80\"\n  protocol: tcp\neffect:\n  refuse: true\n",
	"name: refused-check\nmatch:\n  server: i-1\nat: check\neffect:\n  refuse: true\n",
	"name: cut\nmatch:\n  host: example.com\n  path: /a\neffect:\n  cut:\n    bytes: 1000\n",
	"name: stall\nat: connect\neffect:\n  stall: {}\n",
	"name: slow\neffect:\n  slow:\n    delay: 1s\n    bytesPerSecond: 10\n",
	"name: flap\nmatch:\n  listener: lb-1_tcp_80\n  loadBalancer: lb-1\nat: listen\neffect:\n  flap:\n    down: 10s\n    up: 20s\n",
	"name: deaf\nmatch:\n  address: 198.18.0.1\n  zone: cn-hangzhou-h\nwhen:\n  after: 10s\n  for: 1m0s\neffect:\n  deaf: true\n",
}

// A rule prints as the YAML that it was, and that parses back to it.
func TestRulesPrintAsTheyParse(t *testing.T) {
	for _, text := range vocabulary {
		rule := parse(t, text)
		if got := rule.String(); got != text {
			t.Errorf("rule prints as\n%s, want\n%s", got, text)
		}
		if again := parse(t, rule.String()); !reflect.DeepEqual(again, rule) {
			t.Errorf("%s parses back as %+v, want %+v", rule.Name, again, rule)
		}
	}
	all, err := faults.Parse([]byte(strings.Join(vocabulary, "---\n")))
	if err != nil || len(all) != len(vocabulary) {
		t.Errorf("documents: %d rules, %v, want %d", len(all), err, len(vocabulary))
	}
	list, err := faults.Parse([]byte("- name: a\n  effect: {reset: true}\n- name: b\n  effect: {crash: true}\n"))
	if err != nil || len(list) != 2 || list[1].Name != "b" {
		t.Errorf("a list: %v, %v", list, err)
	}
}

// What is no rule is refused with its place and the reason.
func TestRefusedRules(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"Empty", "", "no rule"},
		{"NotYAML", "name: [", "line"},
		{"NoName", "effect: {reset: true}", "line 1:1: name: it is missing"},
		{"BadName", "name: 'a b'\neffect: {reset: true}", `line 1:7: name: "a b" is not a name for a rule: write letters`},
		{"UnknownKey", "name: a\nefect: {reset: true}", "efect"},
		{"UnknownEffect", "name: a\neffect: {explode: true}", "explode"},
		{"NoEffect", "name: a", "line 1:1: effect: it is missing"},
		{"EmptyEffect", "name: a\neffect: {}", "line 2:9: effect: give exactly one of error"},
		{"TwoEffects", "name: a\neffect: {reset: true, crash: true}", "exactly one"},
		{"OtherPoint", "name: a\nmatch: {action: X}\neffect: {beforeCall: reset}", "effect.beforeCall: there is no such field: write at: beforeCall next to effect"},
		{"OtherPlace", "name: a\nmatch: {action: X}\neffect: {reset: true, times: 2}", "effect.times: there is no such field: it belongs in when"},
		{"OtherPlaceUp", "name: a\nmatch: {action: X}\nwhen: {at: reply}\neffect: {reset: true}", "when.at: there is no such field: it belongs next to when"},
		{"OtherPlaceDown", "name: a\ntimes: 2\neffect: {reset: true}", "times: there is no such field: it belongs in when"},
		{"NoMatch", "name: a\naction: X\neffect: {reset: true}", "action: there is no such field: write match"},
		{"MatchInEffect", "name: a\neffect: {action: X}", "effect.action: there is no such field: it belongs in match"},
		{"TimesInMatch", "name: a\nmatch: {times: 3}\neffect: {reset: true}", "match.times: there is no such field: it belongs in when"},
		{"EffectInMatch", "name: a\nmatch: {reset: true}\neffect: {reset: true}", "match.reset: there is no such field: it belongs in effect"},
		{"InItself", "name: a\nwhen: {when: {times: 1}}\neffect: {reset: true}", "when.when: there is no such field: it belongs one level up, where it is already"},
		{"Nameless", "name: a\n'': 1\neffect: {reset: true}", "there are at, disabled, effect"},
		{"NoEffectAround", "name: a\nreset: true", "reset: there is no such field: write effect"},
		{"TextForMatch", "name: a\nmatch: X\neffect: {reset: true}", "match: want conditions by name, such as action: Create*"},
		{"TextForEffect", "name: a\neffect: {error: Busy}", "effect.error: want fields, such as code: …"},
		{"CodeOfEffect", "name: a\neffect: {code: Busy}", "effect.code: there is no such field: write error: {code}"},
		{"OtherStatus", "name: a\nmatch: {action: X}\neffect: {error: {code: Busy, status: 503}}", "effect.error.status: there is no such field: write httpStatus"},
		{"OtherEffect", "name: a\nmatch: {action: X}\neffect: {latency: 3s}", "effect.latency: there is no such field: write delay: {fixed: 1s}"},
		{"UnknownField", "name: a\nmatch: {regoin: x}\neffect: {reset: true}", "do you mean region?"},
		{"UnknownMatcher", "name: a\nmatch: {region: {like: x}}\neffect: {reset: true}", "like"},
		{"TwoMatchers", "name: a\nmatch: {region: {equals: x, absent: true}}\neffect: {reset: true}", "one of equals"},
		{"BadPattern", "name: a\nmatch: {action: '['}\neffect: {reset: true}", "not a pattern"},
		{"BadExpression", "name: a\nmatch: {region: {matches: '('}}\neffect: {reset: true}", "matches"},
		{"BadDuration", "name: a\nwhen: {after: soon}\neffect: {reset: true}", "not a duration"},
		{"NegativeDuration", "name: a\nwhen: {after: -1s}\neffect: {reset: true}", "not a duration"},
		{"BadProbability", "name: a\nwhen: {probability: 2}\neffect: {reset: true}", "between 0 and 1"},
		{"SeedAlone", "name: a\nwhen: {seed: 2}\neffect: {reset: true}", "probability"},
		{"WrongPoint", "name: a\nat: accept\neffect: {truncate: {bytes: 1}}", "can happen at reply"},
		{"UnknownPoint", "name: a\nat: lunch\neffect: {reset: true}", "can happen at"},
		{"NoCode", "name: a\neffect: {error: {message: x}}", "error.code"},
		{"BadStatus", "name: a\neffect: {error: {code: X, httpStatus: 200}}", "not the HTTP status of an error"},
		{"CustomIncomplete", "name: a\neffect: {error: {code: X, custom: true}}", "needs its httpStatus"},
		{"NoDelay", "name: a\neffect: {delay: {}}", "one of fixed"},
		{"BadUniform", "name: a\neffect: {delay: {uniform: [3s, 1s]}}", "shortest"},
		{"BadLognormal", "name: a\neffect: {delay: {lognormal: {median: 1s, sigma: -1}}}", "sigma"},
		{"BadThrottle", "name: a\neffect: {throttle: {burst: 1}}", "qps"},
		{"BadWindow", "name: a\neffect: {throttle: {window: 1s}}", "needs burst"},
		{"BadTruncate", "name: a\neffect: {truncate: {bytes: -1}}", "negative"},
		{"BadLoss", "name: a\neffect: {afterCommit: fire}", "reset, hang or empty"},
		{"BadStale", "name: a\neffect: {stale: {calls: 1, seconds: 1}}", "calls or seconds"},
		{"BadLife", "name: a\neffect: {life: {}}", "give a stage"},
		{"BadStage", "name: a\neffect: {life: {nlb.job: long}}", "not a duration"},
		{"NoSlow", "name: a\neffect: {slow: {}}", "give delay, bytesPerSecond"},
		{"NegativeSlow", "name: a\neffect: {slow: {delay: 1s, bytesPerSecond: -1}}", "more than 0"},
		{"BadFlap", "name: a\neffect: {flap: {down: 1s, up: 0s}}", "give down and up"},
		{"BadCut", "name: a\neffect: {cut: {bytes: -1}}", "negative"},
		{"BadStall", "name: a\neffect: {stall: {bytes: -1}}", "negative"},
		{"ActionOfPackets", "name: a\nmatch: {action: Create*}\neffect: {refuse: true}", "line 2:17: match.action: packets have no action"},
		{"CallFieldOfPackets", "name: a\nmatch: {region: x}\neffect: {deaf: true}", "match.region: there is none at the point listen"},
		{"PacketFieldOfCalls", "name: a\nmatch: {listener: x}\neffect: {reset: true}", "match.listener: there is none at the point reply: it is for listen, connect, forward, check"},
		{"ClientOfCheck", "name: a\nat: check\nmatch: {client: x}\neffect: {refuse: true}", "match.client: there is none at the point check"},
		{"BadPort", "name: a\nmatch: {port: http}\neffect: {refuse: true}", `line 2:15: match.port: "http" is not a port`},
		{"BadProtocol", "name: a\nmatch: {protocol: TCP}\neffect: {refuse: true}", `"TCP" is not one of tcp, udp`},
		{"BadClient", "name: a\nmatch: {client: '127.0.0.1:80'}\neffect: {refuse: true}", "is not an IP address"},
		{"CountedState", "name: a\nwhen: {times: 1}\neffect: {deaf: true}", "line 2:7: when: at the point listen there is nothing to count"},
		{"CallEffectOfPackets", "name: a\nat: forward\neffect: {reset: true}", "can happen at reply"},
		{"BadHang", "name: a\neffect: {hang: often}", "not a duration"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := faults.Parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Parse(%q) = %v, want an error with %q", c.text, err, c.want)
			}
		})
	}
	twice := faults.Status{Rule: parse(t, vocabulary[0])}
	if err := (&faults.Injector{}).Set([]faults.Status{twice, twice}); err == nil {
		t.Error("two rules of one name are taken")
	}
}

// Each matcher looks at what it says.
func TestMatchers(t *testing.T) {
	for _, c := range []struct {
		match string
		call  faults.Request
		want  bool
	}{
		{"{}", call(), true},
		{"{action: Create*}", call(), true},
		{"{action: 'Delete*, CreateLoadBalancer'}", call(), true},
		{"{action: Describe*}", call(), false},
		{"{region: cn-hangzhou}", call(), true},
		{"{region: cn-beijing}", call(), false},
		{"{accessKeyId: testid}", call(), true},
		{"{userAgent: {matches: '^ack\\.ccm/'}}", call(), true},
		{"{userAgent: {matches: '^curl/'}}", call(), false},
		{"{params.VSwitchId: vsw-1}", call("VSwitchId", "vsw-1"), true},
		{"{params.VSwitchId: vsw-1}", call("VSwitchId", "vsw-2"), false},
		{"{params.VSwitchId: vsw-1}", call(), false},
		{"{params.VSwitchId: {absent: true}}", call(), true},
		{"{params.VSwitchId: {absent: true}}", call("VSwitchId", "vsw-1"), false},
		{"{resource.status: active}", call(), true},
		{"{resource.status: locked}", call(), false},
		{"{resource.name: {absent: true}}", call(), true},
		{"{action: Create*, region: cn-hangzhou, params.A: b}", call("A", "b"), true},
		{"{action: Create*, region: cn-hangzhou, params.A: b}", call("A", "c"), false},
	} {
		e := injector(t, "name: a\nmatch: "+c.match+"\neffect: {error: {code: X}}")
		if _, got := e.At(faults.BeforeCall, c.call, start); got != c.want {
			t.Errorf("match %s = %v, want %v", c.match, got, c.want)
		}
	}
}

// strikes says of each of n calls whether it was struck.
func strikes(e *faults.Injector, n int, now time.Time) string {
	var pattern strings.Builder
	for range n {
		if _, struck := e.At(faults.BeforeCall, call(), now); struck {
			pattern.WriteByte('x')
		} else {
			pattern.WriteByte('.')
		}
	}
	return pattern.String()
}

// The schedule lets some calls be.
func TestSchedule(t *testing.T) {
	for _, c := range []struct{ when, want string }{
		{"{}", "xxxxxxxx"},
		{"{times: 2}", "xx......"},
		{"{skip: 3}", "...xxxxx"},
		{"{skip: 1, times: 1}", ".x......"},
		{"{every: 3}", "..x..x.."},
		{"{skip: 1, every: 2, times: 2}", "..x.x..."},
		{"{probability: 0}", "........"},
		{"{probability: 1}", "xxxxxxxx"},
		{"{after: 1s}", "........"},
	} {
		if got := strikes(injector(t, "name: a\nwhen: "+c.when+"\neffect: {error: {code: X}}"), 8, start); got != c.want {
			t.Errorf("when %s strikes %s, want %s", c.when, got, c.want)
		}
	}
	text := "name: a\nwhen: {probability: 0.3, seed: 7}\neffect: {error: {code: X}}"
	first := strikes(injector(t, text), 1000, start)
	if again := strikes(injector(t, text), 1000, start); again != first {
		t.Error("the same seed strikes other calls the second time")
	}
	if n := strings.Count(first, "x"); n < 250 || n > 350 {
		t.Errorf("probability 0.3 strikes %d of 1000 calls", n)
	}
	if other := strikes(injector(t, strings.Replace(text, "7", "8", 1)), 1000, start); other == first {
		t.Error("another seed strikes the same calls")
	}
	window := injector(t, "name: a\nwhen: {after: 10s, for: 5s}\neffect: {error: {code: X}}")
	for at, want := range map[time.Duration]string{9 * time.Second: ".", 10 * time.Second: "x", 14 * time.Second: "x", 15 * time.Second: "."} {
		if got := strikes(window, 1, start.Add(at)); got != want {
			t.Errorf("after %s = %s, want %s", at, got, want)
		}
	}
}

// The first rule that matches at a point decides, even when its schedule lets the
// call be; a spent one makes way, and stays listed with its counts.
func TestFirstMatchWins(t *testing.T) {
	e := injector(t,
		"name: first\nwhen: {times: 2, every: 2}\neffect: {error: {code: A}}",
		"name: reply\neffect: {malformed: true}",
		"name: second\neffect: {error: {code: B}}")
	var got []string
	for range 6 {
		v, _ := e.At(faults.BeforeCall, call(), start)
		got = append(got, v.Rule)
	}
	if want := []string{"", "first", "", "first", "second", "second"}; !reflect.DeepEqual(got, want) {
		t.Errorf("verdicts = %q, want %q", got, want)
	}
	list := e.Rules()
	if s := list[0]; s.Seen != 4 || s.Hits != 2 || !s.Spent() {
		t.Errorf("the first rule = %+v, want it spent after 2 hits of 4 calls", s)
	}
	if v, ok := e.At(faults.Reply, call(), start); !ok || v.Rule != "reply" || v.Point != faults.Reply {
		t.Errorf("at the reply = %+v, want the rule of that point", v)
	}
	if err := e.Set(list); err != nil {
		t.Fatal(err)
	}
	if v, _ := e.At(faults.BeforeCall, call(), start); v.Rule != "second" {
		t.Errorf("after the counters came back = %q, want the spent rule to stay spent", v.Rule)
	}
}

// Each effect has a usual point, which at changes.
func TestPoints(t *testing.T) {
	want := map[string]faults.Point{
		"error": faults.BeforeCall, "custom": faults.AfterCommit, "fixed": faults.BeforeCall, "throttle": faults.BeforeCall, "hang": faults.Accept,
		"reset": faults.Reply, "empty": faults.Reply, "truncate": faults.Reply, "malformed": faults.Reply, "lost": faults.AfterCommit,
		"stale": faults.BeforeCall, "life": faults.BeforeCall, "crash": faults.BeforeCommit,
		"refuse": faults.Forward, "refused-check": faults.Check, "cut": faults.Forward, "stall": faults.Connect, "slow": faults.Forward,
		"flap": faults.Listen, "deaf": faults.Listen,
	}
	for _, text := range vocabulary {
		rule := parse(t, text)
		if point, ok := want[rule.Name]; ok && rule.Point() != point {
			t.Errorf("%s happens at %s, want %s", rule.Name, rule.Point(), point)
		}
	}
}

// packets returns what a rule may look at of packets with some fields.
func packets(fields map[string]string) faults.Request {
	return faults.Request{Packets: func(name string) (string, bool) {
		value, ok := fields[name]
		return value, ok
	}}
}

// afflicted records what happens to packets.
type afflicted struct{ did string }

func (a *afflicted) Refuse()           { a.did += "refuse" }
func (a *afflicted) Cut(bytes int64)   { a.did += fmt.Sprint("cut ", bytes) }
func (a *afflicted) Stall(bytes int64) { a.did += fmt.Sprint("stall ", bytes) }
func (a *afflicted) Slow(delay time.Duration, bytesPerSecond int) {
	a.did += fmt.Sprint("slow ", delay, " ", bytesPerSecond)
}

// Packets are afflicted as the rule says, where its fields match, and calls are not.
func TestPackets(t *testing.T) {
	for _, c := range []struct {
		text string
		at   faults.Point
		want string
	}{
		{"effect: {refuse: true}", faults.Forward, "refuse"},
		{"at: check\neffect: {refuse: true}", faults.Check, "refuse"},
		{"effect: {cut: {bytes: 7}}", faults.Forward, "cut 7"},
		{"at: connect\neffect: {stall: {}}", faults.Connect, "stall 0"},
		{"effect: {slow: {delay: 1s, bytesPerSecond: 8}}", faults.Forward, "slow 1s 8"},
		{"effect: {flap: {down: 1s, up: 1s}}", faults.Forward, "refuse"},
		{"effect: {deaf: true}", faults.Listen, ""},
	} {
		e := injector(t, "name: a\nmatch: {port: '80'}\n"+c.text)
		for _, point := range faults.Points {
			if got := e.Idle(point); got != (point != c.at) {
				t.Errorf("%s: Idle(%s) = %v", c.text, point, got)
			}
		}
		if _, struck := e.At(c.at, packets(map[string]string{"port": "81"}), start); struck {
			t.Errorf("%s strikes another port", c.text)
		}
		v, struck := e.At(c.at, packets(map[string]string{"port": "80"}), start)
		if !struck {
			t.Errorf("%s strikes nothing", c.text)
			continue
		}
		var got afflicted
		if v.Afflict(&got); got.did != c.want {
			t.Errorf("%s does %q, want %q", c.text, got.did, c.want)
		}
	}
}

// A flap is down first, then up, and down again, in its window; to look at it counts
// nothing.
func TestFlap(t *testing.T) {
	e := injector(t, "name: a\nat: listen\nwhen: {after: 5s, for: 1m}\neffect: {flap: {down: 10s, up: 20s}}")
	for after, want := range map[int]bool{0: false, 4: false, 5: true, 14: true, 15: false, 34: false, 35: true, 44: true, 45: false, 64: false, 66: false} {
		if got := e.Holds(faults.Listen, packets(nil), start.Add(time.Duration(after)*time.Second)); got != want {
			t.Errorf("after %d s it holds: %v, want %v", after, got, want)
		}
	}
	if s := e.Rules()[0]; s.Seen != 0 {
		t.Errorf("a look is counted: %+v", s)
	}
	if _, struck := e.At(faults.Listen, packets(nil), start.Add(16*time.Second)); struck {
		t.Error("it strikes while it is up")
	}
	if _, struck := e.At(faults.Listen, packets(nil), start.Add(6*time.Second)); !struck {
		t.Error("it does not strike while it is down")
	}
}

// A change of the rules is reported once they are in force.
func TestChanged(t *testing.T) {
	e := &faults.Injector{}
	var idle []bool
	e.Changed = func() { idle = append(idle, e.Idle(faults.Listen)) }
	for _, list := range [][]faults.Status{{{Rule: parse(t, "name: a\neffect: {deaf: true}")}}, nil} {
		if err := e.Set(list); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(idle, []bool{false, true}) {
		t.Errorf("the changes found it idle: %v, want false and true", idle)
	}
}

// A throttle refuses what is over its rate and nothing else.
func TestThrottle(t *testing.T) {
	rate := injector(t, "name: a\neffect: {throttle: {qps: 2, burst: 3}}")
	if got := strikes(rate, 5, start); got != "...xx" {
		t.Errorf("a burst of 3 = %s", got)
	}
	if got := strikes(rate, 4, start.Add(time.Second)); got != "..xx" {
		t.Errorf("2 a second = %s", got)
	}
	window := injector(t, "name: a\neffect: {throttle: {burst: 2, window: 10s}}")
	if got := strikes(window, 3, start) + strikes(window, 1, start.Add(9*time.Second)) + strikes(window, 3, start.Add(10*time.Second)); got != "..xx..x" {
		t.Errorf("2 in every 10 s = %s", got)
	}
}

// waiting is a call that only waits.
type waiting struct {
	faults.Call
	waited time.Duration
}

func (w *waiting) Wait(d time.Duration) { w.waited = d }

// Delays take their time, and the same again with the same seed.
func TestDelays(t *testing.T) {
	delays := func(text string) (list []time.Duration) {
		e := injector(t, "name: a\neffect: {delay: "+text+"}")
		for range 200 {
			v, _ := e.At(faults.BeforeCall, call(), start)
			var struck waiting
			v.Strike(&struck)
			list = append(list, struck.waited)
		}
		return list
	}
	if got := delays("{fixed: 20s}")[0]; got != 20*time.Second {
		t.Errorf("fixed = %s, want 20s", got)
	}
	if got := delays("{uniform: [0s, 0s]}")[0]; got <= 0 {
		t.Error("a delay of nothing has no end")
	}
	different := make(map[time.Duration]bool)
	for _, d := range delays("{uniform: [1s, 3s]}") {
		different[d] = true
		if d < time.Second || d > 3*time.Second {
			t.Errorf("uniform gives %s, want 1s to 3s", d)
		}
	}
	if len(different) < 100 {
		t.Errorf("uniform gives %d values in 200 draws", len(different))
	}
	short := 0
	for _, d := range delays("{lognormal: {median: 1s, sigma: 1}}") {
		if d < time.Second {
			short++
		}
	}
	if short < 70 || short > 130 {
		t.Errorf("%d of 200 delays are under the median, want about half", short)
	}
	if a, b := delays("{uniform: [1s, 3s]}"), delays("{uniform: [1s, 3s]}"); !reflect.DeepEqual(a, b) {
		t.Error("the same rule draws other delays the second time")
	}
}

// Stale is about reads, and life about writes, as a read begins no stage.
func TestEffectsOfOneSort(t *testing.T) {
	for effect, strikesWrites := range map[string]bool{"{stale: {calls: 1}}": false, "{life: {nlb.job: 1h}}": true} {
		e := injector(t, "name: a\neffect: "+effect)
		write, read := call(), call()
		read.Write = false
		if _, struck := e.At(faults.BeforeCall, write, start); struck != strikesWrites {
			t.Errorf("%s strikes a write: %t", effect, struck)
		}
		if _, struck := e.At(faults.BeforeCall, read, start); struck == strikesWrites {
			t.Errorf("%s strikes a read: %t", effect, struck)
		}
	}
}

// Counters are recorded before the verdict is given, and are exact when many
// calls come at once.
func TestCountersUnderConcurrency(t *testing.T) {
	e := injector(t, "name: a\nwhen: {times: 50}\neffect: {error: {code: X}}")
	var mu sync.Mutex
	var most uint64
	e.Record = func(s faults.Status) {
		mu.Lock()
		defer mu.Unlock()
		most = max(most, s.Hits)
	}
	var wg sync.WaitGroup
	hits := make([]int, 16)
	for i := range hits {
		wg.Go(func() {
			for range 10 {
				if _, struck := e.At(faults.BeforeCall, call(), start); struck {
					hits[i]++
				}
			}
		})
	}
	wg.Wait()
	total := 0
	for _, n := range hits {
		total += n
	}
	if total != 50 || most != 50 {
		t.Errorf("%d calls are struck and %d recorded, want 50", total, most)
	}
}

// The zero engine lets every call be.
func TestIdle(t *testing.T) {
	var e faults.Injector
	if _, struck := e.At(faults.BeforeCall, call(), start); struck || !e.Idle(faults.BeforeCall) {
		t.Error("an engine without rules strikes")
	}
}

// No text makes the parser panic, and what it takes prints as what it parses
// back to.
func FuzzParse(f *testing.F) {
	for _, text := range vocabulary {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := faults.Parse([]byte(text))
		if err != nil {
			return
		}
		for _, rule := range rules {
			again, err := faults.Parse([]byte(rule.String()))
			if err != nil || len(again) != 1 || again[0].String() != rule.String() {
				t.Fatalf("%q prints as %q, which parses as %v, %v", text, rule, again, err)
			}
		}
	})
}

// TestOff proves that a rule that is off is kept, strikes nothing and counts nothing, and does
// not keep a later rule from striking.
func TestOff(t *testing.T) {
	rules, err := faults.Parse([]byte("{name: off, effect: {error: {code: A}}, disabled: true}\n---\n{name: other, match: {action: X}, effect: {error: {code: B}}}"))
	if err != nil || !rules[0].Disabled || !strings.Contains(rules[0].String(), "disabled: true") {
		t.Fatalf("Parse = %+v, %v", rules, err)
	}
	for _, off := range []bool{true, false} {
		rules[0].Disabled = off
		var e faults.Injector
		if err := e.Set([]faults.Status{{Rule: rules[0]}, {Rule: rules[1]}}); err != nil {
			t.Fatal(err)
		}
		want := map[bool]string{true: "other", false: "off"}[off]
		if got, _ := e.At(rules[0].Point(), faults.Request{Action: "X"}, time.Now()); got.Rule != want {
			t.Errorf("off is %v, and %q strikes, want %s", off, got.Rule, want)
		}
		if got := e.Rules(); len(got) != 2 || (got[0].Seen == 0) != off {
			t.Errorf("off is %v, and the rules are %+v", off, got)
		}
	}
	rules[0].Disabled = true
	var e faults.Injector
	if err := e.Set([]faults.Status{{Rule: rules[0]}}); err != nil || !e.Idle(rules[0].Point()) {
		t.Errorf("with a rule that is off alone, Set = %v, and its point is not idle", err)
	}
}

// TestEffectsAround proves that the refusal of each kind of effect next to effect says where it
// belongs.
func TestEffectsAround(t *testing.T) {
	for _, k := range faults.Kinds() {
		if _, err := faults.Parse([]byte("name: a\nmatch: {action: X}\n" + k.Name + ": {}")); err == nil || !strings.Contains(err.Error(), k.Name+": there is no such field: write effect") {
			t.Errorf("%s next to effect: %v", k.Name, err)
		}
	}
}
