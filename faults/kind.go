package faults

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

// Kind is a way in which calls or packets go wrong. Its row is all of its declaration: YAML, help,
// the JSON Schema, the page of the reference and the console's templates derive from it.
type Kind struct {
	// Name is its key in an effect.
	Name string
	// About says in a sentence what happens.
	About string
	// Points lists where it can happen, the usual point first.
	Points []Point
	// Only is the calls that it strikes; all if it is empty.
	Only Calls
	// Templates are rules to begin with.
	Templates []Template
	// Value is the type of its value, whose fields say in their tags what they are. The
	// value strikes the call or, if its points are of packets, afflicts those.
	Value reflect.Type
}

// Fields lists the names of what its value may say.
func (k Kind) Fields() (names []string) {
	if k.Value.Kind() == reflect.Struct {
		for i := range k.Value.NumField() {
			name, _, _ := strings.Cut(k.Value.Field(i).Tag.Get("yaml"), ",")
			names = append(names, name)
		}
	}
	return names
}

// Form returns how an effect of the kind is written, but for the values of its fields.
func (k Kind) Form() string {
	switch fields := k.Fields(); {
	case len(fields) > 0:
		return k.Name + ": {" + strings.Join(fields, ", ") + "}"
	case k.Value.Kind() == reflect.Bool:
		return k.Name + ": true"
	}
	return k.Name
}

// Calls are the calls that a kind of effect strikes.
type Calls string

// The calls.
const (
	Reads  Calls = "reads"
	Writes Calls = "writes"
)

// include reports whether a call is among them.
func (c Calls) include(call Request) bool { return c == "" || (c == Writes) == call.Write }

// OfPackets reports whether it is about packets, and not calls.
func (k Kind) OfPackets() bool { return k.Points[0].OfPackets() }

// Template is a rule to begin with. One about calls is for an action that its reader
// chooses, one about packets is for all of them until its reader adds a match.
type Template struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Action string `json:"action,omitempty"` // chosen first; none of packets
	About  string `json:"about"`
	Value  string `json:"value"`          // of its kind, in YAML
	When   string `json:"when,omitempty"` // in YAML
}

// Call lists what an effect can do to a call.
type Call interface {
	// Refuse answers the call with an error. If status is 0, it has the usual one.
	Refuse(status int, code, message string)
	// Throttle refuses the call as the cloud does when its account calls too often.
	Throttle()
	// Wait holds the call back for a real time. If that is 0, it waits until the client leaves.
	Wait(time.Duration)
	// ReadPast makes the call read the state of some changes, or some time, ago.
	ReadPast(changes int, age time.Duration)
	// Pace sets how long a stage of life takes that the call begins.
	Pace(stage string, d time.Duration)
	// Crash ends the emulator.
	Crash()
	// Rewrite sends another body.
	Rewrite(func(body []byte) []byte)
	// Truncate sends the first bytes of the answer and ends the connection.
	Truncate(bytes int)
	// Reset resets the connection.
	Reset()
}

// Packets lists what an effect can do to the connections of a client or a server.
type Packets interface {
	// Refuse refuses connections: clients see a reset, as from a port without a listener.
	Refuse()
	// Cut resets the connection after this many bytes of the server's answer.
	Cut(bytes int64)
	// Stall holds back everything after this many bytes of the server's answer.
	Stall(bytes int64)
	// Slow delays the first byte, and limits the bytes a second each way. 0 sets no limit.
	Slow(delay time.Duration, bytesPerSecond int)
}

// Value holds an effect, in the type of its kind. It is an onCall or onPackets.
type Value interface {
	problem() (p Problem, found bool)
}

type onCall interface{ apply(Call, chances) }

type onPackets interface{ applyPackets(Packets) }

// intermittent is an effect that comes and goes: on what is over an allowance, or by the
// time since its window began.
type intermittent interface {
	applies(left *allowance, age time.Duration, now time.Time) bool
}

// Effect describes what happens to a call: it holds the value of one kind.
type Effect struct{ Value Value }

// Kinds lists the kinds of effects.
func Kinds() []Kind { return slices.Clone(kinds) }

// Kind returns the effect's kind, or one without a name for an effect without a value.
func (e Effect) Kind() Kind {
	for _, k := range kinds {
		if k.Value == reflect.TypeOf(e.Value) {
			return k
		}
	}
	return Kind{Points: Points}
}

// ReadYAML reads the value of the one kind that a mapping names.
func (e *Effect) ReadYAML(d *yamlfile.Decoder, node *yaml.Node, field string) {
	if !d.Is(node, yaml.MappingNode, "fields, such as reset: true", field) {
		return
	}
	var given []Value
	for _, entry := range d.Entries(node, field) {
		at := yamlfile.Join(field, entry.Key.Value)
		i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == entry.Key.Value })
		if i < 0 {
			d.Unknown(entry.Key, at, kindNames(), otherEffects())
			continue
		}
		value := reflect.New(kinds[i].Value)
		d.Decode(entry.Value, value.Interface(), at)
		if value = value.Elem(); value.Kind() == reflect.Struct || !value.IsZero() {
			given = append(given, value.Interface().(Value))
		}
	}
	if len(given) == 1 {
		e.Value = given[0]
	}
}

// otherEffects returns, for names that are not effects, what to write instead: for points, and for
// words of other tools.
func otherEffects() map[string]string {
	meant := map[string]string{"latency": "delay: {fixed: 1s}", "sleep": "delay: {fixed: 1s}", "timeout": "hang: true", "drop": "hang: true", "abort": "reset: true", "status": "error: {code, httpStatus}", "code": "error: {code}"}
	for _, point := range Points {
		meant[string(point)] = "at: " + string(point) + " next to effect, and in effect what happens there, such as reset: true"
	}
	return meant
}

// MarshalYAML writes the value under the name of its kind.
func (e Effect) MarshalYAML() (any, error) { return map[string]any{e.Kind().Name: e.Value}, nil }

func (e Effect) problems() []Problem {
	if e.Value == nil {
		names := kindNames()
		last := len(names) - 1
		return []Problem{wrong("", "give exactly one of %s and %s", strings.Join(names[:last], ", "), names[last])}
	}
	if p, found := e.Value.problem(); found {
		return []Problem{p.at(e.Kind().Name)}
	}
	return nil
}

func kindNames() (names []string) {
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	return names
}
