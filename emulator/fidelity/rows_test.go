package fidelity_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/fidelity"
	"github.com/clbemu/clbemu/scenarios"
)

const sources = "sources: {page: {title: none, date: 2026, kind: page}}\n"

// From a row of a parameter follow the values, the bounds, what lies beyond them, the default
// and that it is required.
func TestRows(t *testing.T) {
	f, err := fidelity.Read("slb/CreateIt.yaml", []byte(sources+`
base:
  before: [{action: MakeIt}]
  call: {params: {Id: a, Kind: b}, save: {made: Id}}
  reads: [{action: ReadIt, params: {Id: "{{made}}"}}]
parameters:
  Id: {source: page, required: MissingId}
  Kind: {source: page, read: Kind, values: [OneOf, "b"], other: InvalidKind, default: b}
  AgeLimit: {source: page, read: Age, with: {Kind: OneOf}, without: [Id], range: 1..9, below: Low, above: unpublished}
  Name: {source: page, read: Names.0.Name, length: 2..4, fill: /, shorter: Short, longer: Long}
answers:
  - source: page
    call: {params: {Id: a}}
    fields: {Rules.0.CreateTime: {matches: "^\\d+$"}, Rules.0.Kind: b}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range f.Statements {
		s := &f.Statements[i]
		line := s.ID + " " + s.Class + " " + s.Code + ":"
		for _, step := range s.Case {
			call := step.Value.(*scenarios.CallStep)
			line += " " + call.Action
			for _, name := range []string{"AgeLimit", "Id", "Kind", "Name"} {
				if value, ok := call.Params[name]; ok {
					line += " " + name + "=" + string(value)
				}
			}
			if e := call.Expect; e != nil {
				line += " -> " + e.String()
				for path, m := range e.Fields {
					line += " " + path + " " + m.String()
				}
			}
		}
		got = append(got, line)
	}
	want := []string{
		`id-required parameter : MakeIt CreateIt Kind=b -> code "MissingId"`,
		`kind-one-of parameter : MakeIt CreateIt Id=a Kind=OneOf ReadIt Id={{made}} -> Kind "OneOf"`,
		`kind-b parameter : MakeIt CreateIt Id=a Kind=b ReadIt Id={{made}} -> Kind "b"`,
		`kind-other range : MakeIt CreateIt Id=a Kind=neither -> code "InvalidKind"`,
		`kind-default default : MakeIt CreateIt Id=a ReadIt Id={{made}} -> Kind "b"`,
		`age-limit-least range : MakeIt CreateIt AgeLimit=1 Kind=OneOf ReadIt Id={{made}} -> Age "1"`,
		`age-limit-most range : MakeIt CreateIt AgeLimit=9 Kind=OneOf ReadIt Id={{made}} -> Age "9"`,
		`age-limit-below range : MakeIt CreateIt AgeLimit=0 Kind=OneOf -> code "Low"`,
		`age-limit-above range unpublished: MakeIt CreateIt AgeLimit=10 Kind=OneOf -> status 400`,
		`name-longest range : MakeIt CreateIt Id=a Kind=b Name=/aaa ReadIt Id={{made}} -> Names.0.Name "/aaa"`,
		`name-too-long range : MakeIt CreateIt Id=a Kind=b Name=/aaaa -> code "Long"`,
		`name-too-short range : MakeIt CreateIt Id=a Kind=b Name=/ -> code "Short"`,
		`answers-rules-create-time field : CreateIt Id=a -> Rules.0.CreateTime a match of "^\\d+$"`,
		`answers-rules-kind field : CreateIt Id=a -> Rules.0.Kind "b"`,
	}
	for i, line := range want {
		if i >= len(got) || !strings.HasPrefix(got[i], line[:strings.Index(line, "->")]) || !strings.Contains(got[i], line[strings.Index(line, "-> ")+3:]) {
			t.Errorf("statement %d is %v, want %s", i, got[min(i, len(got)-1)], line)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d statements follow, want %d", len(got), len(want))
	}
}

// A file is refused whose cases would pass whatever the cloud answers.
func TestProvesNothing(t *testing.T) {
	statement := func(class, more, expect string) string {
		return "statements:\n  - {id: a, class: " + class + ", says: Name is required., source: page, " + more + "case: [{call: {action: A, expect: " + expect + "}}]}\n"
	}
	for name, c := range map[string]struct{ text, want string }{
		"any text":         {statement("field", "", `{fields: {Name: {matches: "^"}}}`), "any text matches"},
		"any text, longer": {statement("field", "", `{fields: {Name: {matches: "(?s)^.*$"}}}`), "any text matches"},
		"some text":        {statement("field", "", `{fields: {Name: {matches: "^.+$"}}}`), ""},
		"no code":          {statement("parameter", "", "{status: 400}"), "expect the code of the refusal"},
		"an article":       {strings.Replace(statement("range", "", "{code: IllegalParam}"), "Name is", "A name is", 1), "say of which words"},
		"unpublished":      {statement("parameter", "code: unpublished, ", "{status: 400}"), ""},
		"another code":     {statement("parameter", "code: InvalidName, ", "{status: 400}"), "is not unpublished"},
		"code of none":     {statement("parameter", "code: unpublished, ", "{fields: {Name: a}}"), "no refusal of the case lacks its code"},
		"about nothing":    {statement("state", "code: unpublished, ", "{status: 400}"), "say of which words"},
		"about none":       {statement("state", "about: [lock], ", "{fields: {Name: a}}"), "no call of the case is to be refused"},
		"an empty row":     {"parameters: {Name: {source: page}}\n", "nothing follows from it"},
		"a row backwards":  {"parameters: {Name: {source: page, range: 9..1}}\n", "is not a range"},
	} {
		_, err := fidelity.Read("slb/A.yaml", []byte(sources+c.text), nil)
		if got := ""; err != nil {
			got = err.Error()
			if c.want == "" || !strings.Contains(got, c.want) {
				t.Errorf("%s: %s, want %q", name, got, c.want)
			}
		} else if c.want != "" {
			t.Errorf("%s is taken, want %q", name, c.want)
		}
	}
}

// A refusal proves a statement that it names, by its code or its message.
func TestProven(t *testing.T) {
	f, err := fidelity.Read("slb/A.yaml", []byte(sources+`
parameters: {Config.Name: {source: page, required: unpublished, length: ..4, longer: InvalidParameter}}
statements:
  - {id: locked, class: state, says: A locked one stays., source: page, code: unpublished, about: [lock], case: [{call: {action: A, expect: {status: 400}}}]}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	of := func(id string) *fidelity.Statement {
		return &f.Statements[slices.IndexFunc(f.Statements, func(s fidelity.Statement) bool { return s.ID == id })]
	}
	for _, c := range []struct {
		id, code, message string
		want              bool
	}{
		{"config-name-required", "MissingName", "", true},
		{"config-name-required", "InvalidParameter", "the name is needed", true},
		{"config-name-required", "AccountIsOnHoliday", "no word was looked at", false},
		{"config-name-too-long", "InvalidParameter", "no word was looked at", false},
		{"config-name-longest", "", "", true},
		{"locked", "OperationDenied", "it is Locked", true},
		{"locked", "OperationDenied", "no", false},
	} {
		if got := of(c.id).Proven(func(action string) string {
			return map[string]string{"A": c.code + " " + c.message, "B": "MissingName lock"}[action]
		}); got != c.want {
			t.Errorf("%s by %s %q = %t, want %t", c.id, c.code, c.message, got, c.want)
		}
	}
	if of("locked").Proven(func(string) string { return "" }) {
		t.Error("no refusal proves one")
	}
}
