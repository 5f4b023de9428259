package faults

import (
	"math"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

// Effect is what happens to a call. Exactly one of its fields is set.
type Effect struct {
	Error       *ErrorEffect `yaml:"error,omitempty" doc:"The call is answered with an error."`
	Delay       *Delay       `yaml:"delay,omitempty" doc:"The call is held back, in real time."`
	Throttle    *Throttle    `yaml:"throttle,omitempty" doc:"Calls over a rate are refused with Throttling.User."`
	Hang        *Hang        `yaml:"hang,omitempty" doc:"Nothing is answered: for so long, or with true until the client leaves."`
	Reset       bool         `yaml:"reset,omitempty" doc:"The connection is reset."`
	Empty       bool         `yaml:"empty,omitempty" doc:"The answer has no body."`
	Truncate    *Truncate    `yaml:"truncate,omitempty" doc:"The answer ends in its midst."`
	Malformed   bool         `yaml:"malformed,omitempty" doc:"The body has the right length and type, and is no JSON or XML."`
	AfterCommit Loss         `yaml:"afterCommit,omitempty" doc:"The change is made, and its answer lost: reset, hang or empty."`
	Stale       *Stale       `yaml:"stale,omitempty" doc:"A read sees the state as it was."`
	Life        Life         `yaml:"life,omitempty" doc:"How long stages of life take that the call begins, by their names: a job of NLB fails by {nlb.job.failing: 1s}, and never ends by {nlb.job: 87600h}."`
	Crash       bool         `yaml:"crash,omitempty" doc:"The emulator ends at once, as if it were killed."`
}

// ErrorEffect answers an error. At afterCommit the change is made all the same.
type ErrorEffect struct {
	Code       string `yaml:"code" required:"true" doc:"The code, which must be one that the action can answer."`
	Message    string `yaml:"message,omitempty" doc:"The message, if it is not the usual one of the code."`
	HTTPStatus int    `yaml:"httpStatus,omitempty" doc:"The HTTP status, if it is not the usual one of the code."`
	Custom     bool   `yaml:"custom,omitempty" doc:"true: the code is one that the action does not know; it needs a message and a status."`
}

// Delay holds a call back, in real time.
type Delay struct {
	Fixed     Duration   `yaml:"fixed,omitempty" doc:"Always so long."`
	Uniform   []Duration `yaml:"uniform,omitempty,flow" doc:"Between the shortest and the longest, as [1s, 3s]."`
	Lognormal *Lognormal `yaml:"lognormal,omitempty" doc:"Mostly short, and now and then long."`
}

// Lognormal is a delay of which half are shorter than the median; the greater
// sigma, the longer the longest.
type Lognormal struct {
	Median Duration `yaml:"median" required:"true" doc:"Half of the delays are shorter."`
	Sigma  float64  `yaml:"sigma" required:"true" doc:"The greater, the longer the longest."`
}

// Throttle refuses calls over a rate: QPS on average with Burst at once, or Burst
// in every Window.
type Throttle struct {
	QPS    float64  `yaml:"qps,omitempty" doc:"Calls a second on average, with burst at once."`
	Burst  int      `yaml:"burst,omitempty" doc:"Calls at once; with a window, in each."`
	Window Duration `yaml:"window,omitempty" doc:"How long a window is."`
}

// Hang answers nothing: for so long, or until the client leaves.
type Hang struct {
	For Duration `yaml:"for,omitempty" doc:"How long."`
}

// Truncate sends the first Bytes of the answer and ends the connection.
type Truncate struct {
	Bytes int `yaml:"bytes" required:"true" doc:"So many bytes of the answer are sent."`
}

// Loss is how the answer to a change that was made gets lost.
type Loss string

// The losses.
const (
	LossReset Loss = "reset"
	LossHang  Loss = "hang"
	LossEmpty Loss = "empty"
)

// Stale lets a read see the state as it was: so many changes or seconds ago.
type Stale struct {
	Calls   int `yaml:"calls,omitempty" doc:"So many changes ago."`
	Seconds int `yaml:"seconds,omitempty" doc:"So many seconds ago."`
}

// Life is how long stages of life take that the call begins, by their names: a
// job of NLB that takes years never ends.
type Life map[string]Duration

// ReadYAML takes true for a hang without end.
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

// anyPoint is where an effect on the call itself can happen.
var anyPoint = []Point{BeforeCall, Accept, BeforeCommit, AfterCommit, Reply}

// Points are where the effect can happen; the first is its usual place.
func (e Effect) Points() []Point {
	switch {
	case e.AfterCommit != "":
		return []Point{AfterCommit}
	case e.Crash:
		return []Point{AfterCommit, Accept, BeforeCall, BeforeCommit, Reply}
	case e.Throttle != nil:
		return []Point{BeforeCall, Accept}
	case e.Stale != nil, e.Life != nil:
		return []Point{BeforeCall}
	case e.Empty, e.Truncate != nil, e.Malformed:
		return []Point{Reply, AfterCommit}
	case e.Reset:
		return []Point{Reply, Accept, BeforeCall, BeforeCommit, AfterCommit}
	}
	return anyPoint
}

// Kind is the effect's name.
func (e Effect) Kind() string {
	for _, k := range e.kinds() {
		if k.set {
			return k.name
		}
	}
	return ""
}

type effectKind struct {
	name string
	set  bool
}

func (e Effect) kinds() []effectKind {
	return []effectKind{
		{"error", e.Error != nil}, {"delay", e.Delay != nil}, {"throttle", e.Throttle != nil}, {"hang", e.Hang != nil},
		{"reset", e.Reset}, {"empty", e.Empty}, {"truncate", e.Truncate != nil}, {"malformed", e.Malformed},
		{"afterCommit", e.AfterCommit != ""}, {"stale", e.Stale != nil}, {"life", e.Life != nil}, {"crash", e.Crash},
	}
}

func (e Effect) problems() []Problem {
	set := 0
	for _, k := range e.kinds() {
		if k.set {
			set++
		}
	}
	if set != 1 {
		return []Problem{wrong("", "give exactly one of error, delay, throttle, hang, reset, empty, truncate, malformed, afterCommit, stale, life and crash")}
	}
	if p, ok := e.problem(); ok {
		return []Problem{p}
	}
	return nil
}

// problem is what is wrong with the one effect.
func (e Effect) problem() (p Problem, found bool) {
	switch {
	case e.Error != nil:
		return e.Error.problem()
	case e.Delay != nil:
		return e.Delay.problem()
	case e.Throttle != nil:
		return e.Throttle.problem()
	case e.Truncate != nil && e.Truncate.Bytes < 0:
		return wrong("truncate.bytes", "it is negative"), true
	case e.Stale != nil && (e.Stale.Calls > 0) == (e.Stale.Seconds > 0):
		return wrong("stale", "give calls or seconds, and more than 0 of it"), true
	case e.Life != nil && len(e.Life) == 0:
		return wrong("life", "give a stage and how long it takes, such as {nlb.job: 1h}"), true
	case e.AfterCommit != "" && e.AfterCommit != LossReset && e.AfterCommit != LossHang && e.AfterCommit != LossEmpty:
		return wrong("afterCommit", "%q: the reply is lost by reset, hang or empty", e.AfterCommit), true
	}
	return p, false
}

func (e *ErrorEffect) problem() (p Problem, found bool) {
	switch {
	case e.Code == "":
		return wrong("error.code", "it is missing"), true
	case e.HTTPStatus != 0 && (e.HTTPStatus < 400 || e.HTTPStatus > 599):
		return wrong("error.httpStatus", "%d is no status of an error", e.HTTPStatus), true
	case e.Custom && (e.HTTPStatus == 0 || e.Message == ""):
		return wrong("error", "a custom code needs its httpStatus and message"), true
	}
	return p, false
}

func (d *Delay) problem() (p Problem, found bool) {
	set := 0
	for _, is := range []bool{d.Fixed > 0, d.Uniform != nil, d.Lognormal != nil} {
		if is {
			set++
		}
	}
	switch {
	case set != 1:
		return wrong("delay", "give one of fixed, uniform and lognormal"), true
	case d.Uniform != nil && (len(d.Uniform) != 2 || d.Uniform[0] > d.Uniform[1]):
		return wrong("delay.uniform", "give the shortest and the longest, such as [1s, 3s]"), true
	case d.Lognormal != nil && (d.Lognormal.Median <= 0 || !(d.Lognormal.Sigma > 0 && d.Lognormal.Sigma < 10)):
		return wrong("delay.lognormal", "give a median over 0 and a sigma between 0 and 10"), true
	}
	return p, false
}

func (t *Throttle) problem() (p Problem, found bool) {
	switch {
	case t.Window > 0 && (t.Burst < 1 || t.QPS != 0):
		return wrong("throttle", "a window needs burst, and no qps"), true
	case t.Window == 0 && !(t.QPS > 0 && t.QPS < 1e9):
		return wrong("throttle", "give qps, or burst and window"), true
	case t.Burst < 0:
		return wrong("throttle.burst", "it is negative"), true
	}
	return p, false
}

// maxDelay bounds what chance can make of a lognormal delay.
const maxDelay = time.Hour

// draw is the delay for two chances between 0 and 1.
func (d *Delay) draw(u, v float64) time.Duration {
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
