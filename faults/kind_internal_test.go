package faults

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// toy is the value of a kind that only a test has.
type toy struct {
	Loud int `yaml:"loud" required:"true" doc:"How loud."`
}

func (t toy) problem() (p Problem, found bool) { return wrong("loud", "it is negative"), t.Loud < 0 }

func (t toy) apply(c Call, _ chances) { c.Refuse(500+t.Loud, "Toy", "") }

// refused is a call that can only be refused.
type refused struct {
	Call
	status int
}

func (r *refused) Refuse(status int, _, _ string) { r.status = status }

// A row is all that a new kind needs: rules with it are read, written, checked and armed,
// and strike.
func TestNewKind(t *testing.T) {
	before := kinds
	kinds = append(slices.Clone(kinds), Kind{Name: "toy", About: "It makes noise.", Points: []Point{Reply}, Only: Writes, Value: reflect.TypeFor[toy]()})
	defer func() { kinds = before }()

	text := "name: a\neffect:\n  toy:\n    loud: 3\n"
	rules, err := Parse([]byte(text))
	if err != nil || rules[0].String() != text || rules[0].Point() != Reply {
		t.Fatalf("Parse(%q) = %v, %v at %s", text, rules, err, rules[0].Point())
	}
	for text, want := range map[string]string{
		"{toy: {loud: -1}}":            "line 1:32: effect.toy.loud: it is negative",
		"{toy: {quiet: 1}}":            "effect.toy.quiet: there is no such field",
		"{toy: {}}":                    "effect.toy.loud: it is missing",
		"{toi: {loud: 1}}":             "effect.toi: there is no such field: do you mean toy?",
		"{}":                           "deaf and toy",
		"{toy: {loud: 1}, hang: true}": "give exactly one of",
	} {
		if _, err := Parse([]byte("{name: a, effect: " + text + "}")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%s) = %v, want %q", text, err, want)
		}
	}

	e := &Injector{}
	if err := e.Set([]Status{{Rule: rules[0]}}); err != nil {
		t.Fatal(err)
	}
	if _, struck := e.At(Reply, Request{}, time.Now()); struck {
		t.Error("a read is struck")
	}
	v, struck := e.At(Reply, Request{Write: true}, time.Now())
	if !struck {
		t.Fatal("a write is not struck")
	}
	var call refused
	if v.Strike(&call); call.status != 503 {
		t.Errorf("the call is refused with %d, want 503", call.status)
	}
}

// Every kind says what it is, and has templates that are rules of it.
func TestKinds(t *testing.T) {
	ids := make(map[string]bool)
	for _, k := range kinds {
		_, packets := reflect.Zero(k.Value).Interface().(onPackets)
		_, call := reflect.Zero(k.Value).Interface().(onCall)
		for _, point := range k.Points {
			if point.OfPackets() != packets || point.OfPackets() == call {
				t.Errorf("%s happens at %s, and its value is of packets: %v, of calls: %v", k.Name, point, packets, call)
			}
		}
		if k.Name == "" || !strings.HasSuffix(k.About, ".") || len(k.Points) == 0 || len(k.Templates) == 0 {
			t.Errorf("the row of %q is not complete", k.Name)
		}
		for _, template := range k.Templates {
			match := fmt.Sprintf("{action: %q}", template.Action)
			if k.OfPackets() {
				match = "{}"
			}
			rules, err := Parse(fmt.Appendf(nil, "{name: %s, match: %s, when: %s, effect: {%s: %s}}",
				template.ID, match, "{"+strings.Trim(template.When, "{}")+"}", k.Name, template.Value))
			if (template.Action == "") != k.OfPackets() {
				t.Errorf("template %s: its action is %q", template.ID, template.Action)
			}
			if err != nil || rules[0].Effect.Kind().Name != k.Name {
				t.Errorf("template %s: %v, want a rule of %s", template.ID, err, k.Name)
			}
			if ids[template.ID] || template.Title == "" || template.About == "" {
				t.Errorf("template %s: want an id of its own, a title and what it does", template.ID)
			}
			ids[template.ID] = true
		}
	}
}
