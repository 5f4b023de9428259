package faults

import (
	"bytes"
	"math"
	"reflect"
	"time"

	"go.yaml.in/yaml/v3"
	"golang.org/x/time/rate"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

// Where effects of most kinds can happen.
var (
	anywhere = []Point{BeforeCall, Accept, BeforeCommit, AfterCommit, Reply}
	answered = []Point{Reply, AfterCommit}
)

// The points of packets, and those that a connection passes.
var (
	ofPackets = []Point{Listen, Connect, Forward, Check}
	onTheWay  = []Point{Forward, Connect}
)

// kinds has a row for every kind of effect.
var kinds = []Kind{
	{
		Name: "error", About: "Return an error.", Points: anywhere, Value: reflect.TypeFor[ErrorEffect](),
		Templates: []Template{
			{"refuse", "Refuse once", "CreateLoadBalancer", "The next call fails, as in a cloud with problems. A client should try again.",
				"{code: ServiceUnavailable}", "{times: 1}"},
			{"some", "Refuse some", "*", "One call in ten fails, and always the same ones.",
				"{code: InternalError}", "{probability: 0.1, seed: 1}"},
		},
	},
	{
		Name: "delay", About: "Delay the call, in real time.", Points: anywhere, Value: reflect.TypeFor[Delay](),
		Templates: []Template{{"slow", "Answer slowly", "*", "Calls take as long as in a busy cloud, and a few of them very long.",
			"{lognormal: {median: 300ms, sigma: 1}}", ""}},
	},
	{
		Name: "throttle", About: "Reject calls beyond a rate with Throttling.User.", Points: []Point{BeforeCall, Accept}, Value: reflect.TypeFor[Throttle](),
		Templates: []Template{{"throttle", "Throttle", "Describe*", "Calls beyond two per second fail. A client should slow down.",
			"{qps: 2, burst: 2}", ""}},
	},
	{
		Name: "hang", About: "Send no answer for this long, or, if true, until the client disconnects.", Points: anywhere, Value: reflect.TypeFor[Hang](),
		Templates: []Template{{"hang", "Never answer", "DescribeLoadBalancerAttribute", "The next three calls get no answer, until the client gives up.",
			"{}", "{times: 3}"}},
	},
	{
		Name: "reset", About: "Reset the connection.", Points: []Point{Reply, Accept, BeforeCall, BeforeCommit, AfterCommit}, Value: reflect.TypeFor[Reset](),
		Templates: []Template{{"reset", "Reset the connection once", "Describe*", "The next call ends without an answer. A client should try again.",
			"true", "{times: 1}"}},
	},
	{
		Name: "empty", About: "Send an answer without a body.", Points: answered, Value: reflect.TypeFor[Empty](),
		Templates: []Template{{"empty", "Answer without a body once", "Describe*", "The next answer has a status and no body.",
			"true", "{times: 1}"}},
	},
	{
		Name: "truncate", About: "Cut the answer off.", Points: answered, Value: reflect.TypeFor[Truncate](),
		Templates: []Template{{"truncate", "Cut an answer once", "Describe*", "The next answer breaks off after 20 bytes.",
			"{bytes: 20}", "{times: 1}"}},
	},
	{
		Name: "malformed", About: "Send a body of the right length and type that is not JSON or XML.", Points: answered, Value: reflect.TypeFor[Malformed](),
		Templates: []Template{{"malformed", "Answer nonsense once", "DescribeLoadBalancers", "No client can read the next answer.",
			"true", "{times: 1}"}},
	},
	{
		Name: "afterCommit", About: "Make the change and lose the answer: reset, hang or empty.", Points: []Point{AfterCommit}, Value: reflect.TypeFor[Loss](),
		Templates: []Template{{"lost", "Lose the answer once", "CreateLoadBalancer", "The cloud makes the change, but the answer never arrives. A client without a ClientToken makes the change twice.",
			"reset", "{times: 1}"}},
	},
	{
		Name: "stale", About: "Return earlier state to reads.", Points: []Point{BeforeCall}, Only: Reads, Value: reflect.TypeFor[Stale](),
		Templates: []Template{{"stale", "Read stale state", "Describe*", "Reads return the state of five changes ago, like a lagging replica.",
			"{calls: 5}", ""}},
	},
	{
		Name: "life", About: "The duration of stages of life that the call starts, by name: {nlb.job.failing: 1s} makes an NLB job fail, {nlb.job: 87600h} keeps it from ending.",
		Points: []Point{BeforeCall}, Only: Writes, Value: reflect.TypeFor[Life](),
		Templates: []Template{{"life", "Fail a job once", "CreateListener", "The job of the next NLB call fails after a second.",
			"{nlb.job.failing: 1s}", "{times: 1}"}},
	},
	{
		Name: "crash", About: "End the emulator at once, as if it were killed.", Points: []Point{AfterCommit, Accept, BeforeCall, BeforeCommit, Reply}, Value: reflect.TypeFor[Crash](),
		Templates: []Template{{"crash", "End the emulator", "CreateLoadBalancer", "The emulator keeps the next change, and ends before it answers.",
			"true", "{times: 1}"}},
	},
	{
		Name: "refuse", About: "Refuse connections and requests, as a port without a listener does; packets of UDP are dropped.",
		Points: []Point{Forward, Connect, Check}, Value: reflect.TypeFor[Refuse](),
		Templates: []Template{{ID: "unreachable", Title: "Let a server refuse", About: "Servers refuse every second connection or request: clients see a reset, or 502.",
			Value: "true", When: "{every: 2}"}},
	},
	{
		Name: "cut", About: "Reset the connection after this many bytes of the answer.", Points: onTheWay, Value: reflect.TypeFor[Cut](),
		Templates: []Template{{ID: "cut", Title: "Cut connections", About: "Servers vanish in the middle of their answers.", Value: "{bytes: 1000}"}},
	},
	{
		Name: "stall", About: "Pass this many bytes of the answer, then nothing until a timeout.", Points: onTheWay, Value: reflect.TypeFor[Stall](),
		Templates: []Template{{ID: "stall", Title: "Stall connections", About: "Servers take connections and never answer: HTTP clients see 504 after the request timeout.",
			Value: "{bytes: 0}"}},
	},
	{
		Name: "slow", About: "Delay the first byte, limit the bytes a second, or both.", Points: onTheWay, Value: reflect.TypeFor[Slow](),
		Templates: []Template{{ID: "slow-packets", Title: "Slow down connections", About: "Answers begin a second late and come at 10 kB a second.",
			Value: "{delay: 1s, bytesPerSecond: 10000}"}},
	},
	{
		Name: "flap", About: "Refuse for the duration of down, then work for the duration of up, over and over, by the emulated clock. A listener that refuses is deaf.",
		Points: []Point{Forward, Check, Connect, Listen}, Value: reflect.TypeFor[Flap](),
		Templates: []Template{{ID: "flap", Title: "Let a server flap", About: "Servers refuse for ten seconds, then work for twenty, again and again.",
			Value: "{down: 10s, up: 20s}"}},
	},
	{
		Name: "deaf", About: "Take no packet: clients that connect get no answer at all. With a zone in match, a zone is gone.",
		Points: []Point{Listen}, Value: reflect.TypeFor[Deaf](),
		Templates: []Template{{ID: "deaf", Title: "Make listeners deaf", About: "Listeners answer nothing for a minute, as where a firewall drops packets.",
			Value: "true", When: "{for: 1m}"}},
	},
}

// ErrorEffect answers an error. At afterCommit the change is made all the same.
type ErrorEffect struct {
	Code       string `yaml:"code" required:"true" doc:"The code, which the action must be able to return."`
	Message    string `yaml:"message,omitempty" doc:"The message; the code's usual one if absent."`
	HTTPStatus int    `yaml:"httpStatus,omitempty" meant:"status,statusCode,http_status" doc:"The HTTP status; the code's usual one if absent."`
	Custom     bool   `yaml:"custom,omitempty" doc:"true: allow a code that the action does not know; it needs a message and a status."`
}

func (e ErrorEffect) problem() (p Problem, found bool) {
	switch {
	case e.Code == "":
		return wrong("code", "it is missing"), true
	case e.HTTPStatus != 0 && (e.HTTPStatus < 400 || e.HTTPStatus > 599):
		return wrong("httpStatus", "%d is not the HTTP status of an error", e.HTTPStatus), true
	case e.Custom && (e.HTTPStatus == 0 || e.Message == ""):
		return wrong("", "a custom code needs its httpStatus and message"), true
	}
	return p, false
}

func (e ErrorEffect) apply(c Call, _ chances) {
	c.Refuse(e.HTTPStatus, e.Code, e.Message)
}

// Delay delays a call, in real time.
type Delay struct {
	Fixed     Duration   `yaml:"fixed,omitempty" meant:"for,duration,seconds,ms" doc:"A fixed delay."`
	Uniform   []Duration `yaml:"uniform,omitempty,flow" doc:"A random delay between the two, as [1s, 3s]."`
	Lognormal *Lognormal `yaml:"lognormal,omitempty" doc:"Mostly short delays, and a few long ones."`
}

// Lognormal is a delay of which half are shorter than the median; the greater
// sigma, the longer the longest.
type Lognormal struct {
	Median Duration `yaml:"median" required:"true" doc:"The median delay."`
	Sigma  float64  `yaml:"sigma" required:"true" doc:"The spread: the greater, the longer the long delays."`
}

func (d Delay) problem() (p Problem, found bool) {
	set := 0
	for _, is := range []bool{d.Fixed > 0, d.Uniform != nil, d.Lognormal != nil} {
		if is {
			set++
		}
	}
	switch {
	case set != 1:
		return wrong("", "give one of fixed, uniform and lognormal"), true
	case d.Uniform != nil && (len(d.Uniform) != 2 || d.Uniform[0] > d.Uniform[1]):
		return wrong("uniform", "give the shortest and the longest, such as [1s, 3s]"), true
	case d.Lognormal != nil && (d.Lognormal.Median <= 0 || !(d.Lognormal.Sigma > 0 && d.Lognormal.Sigma < 10)):
		return wrong("lognormal", "give a median over 0 and a sigma between 0 and 10"), true
	}
	return p, false
}

func (d Delay) apply(c Call, by chances) {
	c.Wait(max(d.draw(by.draw(1), by.draw(2)), 1)) // 0 is without end
}

// maxDelay bounds what chance can make of a lognormal delay.
const maxDelay = time.Hour

// draw returns the delay for two random numbers between 0 and 1.
func (d Delay) draw(u, v float64) time.Duration {
	switch {
	case d.Uniform != nil:
		least, most := time.Duration(d.Uniform[0]), time.Duration(d.Uniform[1])
		return least + time.Duration(u*float64(most-least))
	case d.Lognormal != nil:
		normal := math.Sqrt(-2*math.Log(1-u)) * math.Cos(2*math.Pi*v)
		long := float64(d.Lognormal.Median) * math.Exp(d.Lognormal.Sigma*normal)
		return time.Duration(min(long, float64(maxDelay)))
	}
	return time.Duration(d.Fixed)
}

// Throttle refuses calls over a rate: QPS on average with Burst at once, or Burst
// in every Window.
type Throttle struct {
	QPS    float64  `yaml:"qps,omitempty" doc:"Calls per second on average, in bursts of up to burst."`
	Burst  int      `yaml:"burst,omitempty" doc:"Calls at once, or per window."`
	Window Duration `yaml:"window,omitempty" doc:"The length of a window."`
}

func (t Throttle) problem() (p Problem, found bool) {
	switch {
	case t.Window > 0 && (t.Burst < 1 || t.QPS != 0):
		return wrong("", "a window needs burst, and no qps"), true
	case t.Window == 0 && !(t.QPS > 0 && t.QPS < 1e9):
		return wrong("", "give qps, or burst and window"), true
	case t.Burst < 0:
		return wrong("burst", "it is negative"), true
	}
	return p, false
}

// allowance holds what a throttle has left in its window.
type allowance struct {
	limiter *rate.Limiter
	began   time.Time
}

// applies reports whether the allowance is used up.
func (t Throttle) applies(left *allowance, _ time.Duration, now time.Time) bool {
	if left.limiter == nil || t.Window > 0 && now.Sub(left.began) >= time.Duration(t.Window) {
		left.limiter, left.began = rate.NewLimiter(rate.Limit(t.QPS), max(t.Burst, 1)), now
	}
	return !left.limiter.AllowN(now, 1)
}

func (t Throttle) apply(c Call, _ chances) { c.Throttle() }

// Hang answers nothing: for so long, or until the client leaves.
type Hang struct {
	For Duration `yaml:"for,omitempty" doc:"The duration."`
}

// ReadYAML reads true as a hang without end.
func (h *Hang) ReadYAML(d *yamlfile.Decoder, node *yaml.Node, field string) {
	if node.Kind == yaml.ScalarNode {
		if node.Value != "true" {
			h.For.ReadYAML(d, node, field)
		}
		return
	}
	type plain Hang
	d.Decode(node, (*plain)(h), field)
}

// MarshalYAML writes a hang without end as true.
func (h Hang) MarshalYAML() (any, error) {
	if h.For == 0 {
		return true, nil
	}
	return h.For, nil
}

func (h Hang) problem() (p Problem, found bool) { return p, false }

func (h Hang) apply(c Call, _ chances) {
	c.Wait(time.Duration(h.For))
	c.Reset()
}

// Reset resets the connection.
type Reset bool

func (Reset) problem() (p Problem, found bool) { return p, false }

func (Reset) apply(c Call, _ chances) { c.Reset() }

// Empty answers without a body.
type Empty bool

func (Empty) problem() (p Problem, found bool) { return p, false }

func (Empty) apply(c Call, _ chances) { c.Rewrite(nothing) }

func nothing([]byte) []byte { return nil }

// Truncate sends the first Bytes of the answer and ends the connection.
type Truncate struct {
	Bytes int `yaml:"bytes" required:"true" doc:"So many bytes of the answer are sent."`
}

func (t Truncate) problem() (p Problem, found bool) {
	return wrong("bytes", "it is negative"), t.Bytes < 0
}

func (t Truncate) apply(c Call, _ chances) { c.Truncate(t.Bytes) }

// Malformed answers what is no JSON or XML, with the right length and type.
type Malformed bool

func (Malformed) problem() (p Problem, found bool) { return p, false }

func (Malformed) apply(c Call, _ chances) {
	c.Rewrite(func(body []byte) []byte { return bytes.Repeat([]byte(`{"`), len(body)/2+1) })
}

// Loss is the way in which the answer to a completed change gets lost.
type Loss string

// The losses.
const (
	lossReset Loss = "reset"
	lossHang  Loss = "hang"
	lossEmpty Loss = "empty"
)

func (l Loss) problem() (p Problem, found bool) {
	return wrong("", "%q: the reply is lost by reset, hang or empty", l), l != lossReset && l != lossHang && l != lossEmpty
}

func (l Loss) apply(c Call, _ chances) {
	switch l {
	case lossEmpty:
		c.Rewrite(nothing)
	case lossHang:
		c.Wait(0)
		fallthrough
	default:
		c.Reset()
	}
}

// Stale makes a read return the state of some changes or seconds ago.
type Stale struct {
	Calls   int `yaml:"calls,omitempty" doc:"So many changes ago."`
	Seconds int `yaml:"seconds,omitempty" doc:"So many seconds ago."`
}

func (s Stale) problem() (p Problem, found bool) {
	return wrong("", "give calls or seconds, and more than 0 of it"), (s.Calls > 0) == (s.Seconds > 0)
}

func (s Stale) apply(c Call, _ chances) { c.ReadPast(s.Calls, time.Duration(s.Seconds)*time.Second) }

// Life sets the duration of stages of life that the call starts, by name: an NLB job
// that takes years never ends.
type Life map[string]Duration

func (l Life) problem() (p Problem, found bool) {
	return wrong("", "give a stage and how long it takes, such as {nlb.job: 1h}"), len(l) == 0
}

func (l Life) apply(c Call, _ chances) {
	for stage, d := range l {
		c.Pace(stage, time.Duration(d))
	}
}

// Crash ends the emulator.
type Crash bool

func (Crash) problem() (p Problem, found bool) { return p, false }

func (Crash) apply(c Call, _ chances) { c.Crash() }
