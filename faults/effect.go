package faults

import (
	"errors"
	"fmt"
	"math"
	"time"

	"go.yaml.in/yaml/v3"
)

// Effect is what happens to a call. Exactly one of its fields is set.
type Effect struct {
	Error       *ErrorEffect `yaml:"error,omitempty"`
	Delay       *Delay       `yaml:"delay,omitempty"`
	Throttle    *Throttle    `yaml:"throttle,omitempty"`
	Hang        *Hang        `yaml:"hang,omitempty"`
	Reset       bool         `yaml:"reset,omitempty"`
	Empty       bool         `yaml:"empty,omitempty"`
	Truncate    *Truncate    `yaml:"truncate,omitempty"`
	Malformed   bool         `yaml:"malformed,omitempty"`
	AfterCommit Loss         `yaml:"afterCommit,omitempty"`
	Stale       *Stale       `yaml:"stale,omitempty"`
	Crash       bool         `yaml:"crash,omitempty"`
}

// ErrorEffect answers an error. At afterCommit the change is made all the same.
type ErrorEffect struct {
	Code       string `yaml:"code"`
	Message    string `yaml:"message,omitempty"`
	HTTPStatus int    `yaml:"httpStatus,omitempty"`
	// Custom lets Code be one that the API does not know for the action.
	Custom bool `yaml:"custom,omitempty"`
}

// Delay holds a call back, in real time.
type Delay struct {
	Fixed     Duration   `yaml:"fixed,omitempty"`
	Uniform   []Duration `yaml:"uniform,omitempty,flow"`
	Lognormal *Lognormal `yaml:"lognormal,omitempty"`
}

// Lognormal is a delay of which half are shorter than the median; the greater
// sigma, the longer the longest.
type Lognormal struct {
	Median Duration `yaml:"median"`
	Sigma  float64  `yaml:"sigma"`
}

// Throttle refuses calls over a rate: QPS on average with Burst at once, or Burst
// in every Window.
type Throttle struct {
	QPS    float64  `yaml:"qps,omitempty"`
	Burst  int      `yaml:"burst,omitempty"`
	Window Duration `yaml:"window,omitempty"`
}

// Hang answers nothing: for so long, or until the client leaves.
type Hang struct {
	For Duration `yaml:"for,omitempty"`
}

// Truncate sends the first Bytes of the answer and ends the connection.
type Truncate struct {
	Bytes int `yaml:"bytes"`
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
	Calls   int `yaml:"calls,omitempty"`
	Seconds int `yaml:"seconds,omitempty"`
}

// UnmarshalYAML takes true for a hang without end.
func (h *Hang) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		var yes bool
		if err := node.Decode(&yes); err == nil && yes {
			return nil
		}
		return h.For.UnmarshalYAML(node)
	}
	type plain Hang
	return decodeStrict(node, (*plain)(h))
}

// MarshalYAML writes a hang without end as true.
func (h Hang) MarshalYAML() (any, error) {
	if h.For == 0 {
		return true, nil
	}
	return h.For, nil
}

// anyPoint is where an effect on the call itself can happen; the first is its
// usual place.
var anyPoint = []Point{BeforeCall, Accept, BeforeCommit, AfterCommit, Reply}

// points are where the effect can happen.
func (e Effect) points() []Point {
	switch {
	case e.AfterCommit != "":
		return []Point{AfterCommit}
	case e.Crash:
		return []Point{AfterCommit, Accept, BeforeCall, BeforeCommit, Reply}
	case e.Throttle != nil:
		return []Point{BeforeCall, Accept}
	case e.Stale != nil:
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
		{"afterCommit", e.AfterCommit != ""}, {"stale", e.Stale != nil}, {"crash", e.Crash},
	}
}

func (e Effect) validate() error {
	set := 0
	for _, k := range e.kinds() {
		if k.set {
			set++
		}
	}
	if set != 1 {
		return errors.New("give exactly one of error, delay, throttle, hang, reset, empty, truncate, malformed, afterCommit, stale and crash")
	}
	switch {
	case e.Error != nil:
		return e.Error.validate()
	case e.Delay != nil:
		return e.Delay.validate()
	case e.Throttle != nil:
		return e.Throttle.validate()
	case e.Truncate != nil && e.Truncate.Bytes < 0:
		return errors.New("truncate.bytes: it is negative")
	case e.Stale != nil && (e.Stale.Calls > 0) == (e.Stale.Seconds > 0):
		return errors.New("stale: give calls or seconds, and more than 0 of it")
	case e.AfterCommit != "" && e.AfterCommit != LossReset && e.AfterCommit != LossHang && e.AfterCommit != LossEmpty:
		return fmt.Errorf("afterCommit: %q: the reply is lost by reset, hang or empty", e.AfterCommit)
	}
	return nil
}

func (e *ErrorEffect) validate() error {
	switch {
	case e.Code == "":
		return errors.New("error.code: it is missing")
	case e.HTTPStatus != 0 && (e.HTTPStatus < 400 || e.HTTPStatus > 599):
		return fmt.Errorf("error.httpStatus: %d is no status of an error", e.HTTPStatus)
	case e.Custom && (e.HTTPStatus == 0 || e.Message == ""):
		return errors.New("error: a custom code needs its httpStatus and message")
	}
	return nil
}

func (d *Delay) validate() error {
	set := 0
	for _, is := range []bool{d.Fixed > 0, d.Uniform != nil, d.Lognormal != nil} {
		if is {
			set++
		}
	}
	switch {
	case set != 1:
		return errors.New("delay: give one of fixed, uniform and lognormal")
	case d.Uniform != nil && (len(d.Uniform) != 2 || d.Uniform[0] > d.Uniform[1]):
		return errors.New("delay.uniform: give the shortest and the longest, such as [1s, 3s]")
	case d.Lognormal != nil && (d.Lognormal.Median <= 0 || !(d.Lognormal.Sigma > 0 && d.Lognormal.Sigma < 10)):
		return errors.New("delay.lognormal: give a median over 0 and a sigma between 0 and 10")
	}
	return nil
}

func (t *Throttle) validate() error {
	switch {
	case t.Window > 0 && (t.Burst < 1 || t.QPS != 0):
		return errors.New("throttle: a window needs burst, and no qps")
	case t.Window == 0 && !(t.QPS > 0 && t.QPS < 1e9):
		return errors.New("throttle: give qps, or burst and window")
	case t.Burst < 0:
		return errors.New("throttle.burst: it is negative")
	}
	return nil
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
