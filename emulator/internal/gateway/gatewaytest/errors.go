package gatewaytest

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/state"
)

// ErrorCase is a call that must fail.
type ErrorCase struct {
	Name   string
	Action string
	Params Params
	// Plant changes the world of this case.
	Plant  func(*state.Tx) error
	Status int
	Code   string
}

// elementNumber finds the number of an element of a list in a code.
var elementNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.[1-9][0-9]*(\.|$)`) })

// MatchErrors makes the calls of all groups, each in its own world that plant sets up, and
// wants codes that the action has. It then checks that every row of the
// product's error table answered one of them, or is proven by a published statement, unless
// a filter on the command line left cases out.
func MatchErrors(t *testing.T, p *gateway.Product, plant func(*state.Tx) error, groups ...[]ErrorCase) {
	t.Helper()
	codes := make(map[string][]string)
	for _, a := range names.Of(kinds.Schema, []*gateway.Product{p}).Actions() {
		codes[a.Name] = a.Codes()
	}
	ran := 0
	reached := make(map[int]bool)
	cases := slices.Concat(groups...)
	for _, c := range cases {
		t.Run(c.Action+"/"+c.Name, func(t *testing.T) {
			ran++
			plants := []func(*state.Tx) error{plant}
			if c.Plant != nil {
				plants = append(plants, c.Plant)
			}
			got := NewClient(t, Store(t, plants...), p).Call(c.Action, c.Params)
			if got.Status != c.Status || got.Code != c.Code {
				t.Errorf("%s(%v) = %d %s (%s), want %d %s", c.Action, c.Params, got.Status, got.Code, got.Message, c.Status, c.Code)
			}
			if !slices.Contains(codes[c.Action], elementNumber().ReplaceAllString(got.Code, ".N$1")) {
				t.Errorf("%s is refused with %s, which is none of its codes", c.Action, got.Code)
			}
			for i, row := range p.Errors.Rows() {
				if answers(row, c.Action, got) {
					reached[i] = true
				}
			}
		})
	}
	for i, row := range p.Errors.Rows() {
		if ran == len(cases) && !reached[i] && !stated(p, &row) {
			t.Errorf("no case and no statement reaches the error row %s %s %v: %d %s: %s", row.Fact, row.Kind, row.Actions, row.Status, row.Code, row.Message)
		}
	}
}

// answers reports whether the reply is as the row says.
func answers(row gateway.ErrorRow, action string, got Reply) bool {
	if row.Status != got.Status || row.Code != got.Code || row.Actions != nil && !slices.Contains(row.Actions, action) {
		return false
	}
	before, after, _ := strings.Cut(row.Message, "%s")
	return strings.HasPrefix(got.Message, before) && strings.HasSuffix(got.Message, after)
}

// MatchTags checks that every refusal that a tag of a request names is one of the
// product's, and that an action is declared with those that its request names and no
// others, if any action is declared with them.
func MatchTags(t *testing.T, p *gateway.Product) {
	t.Helper()
	known := make(map[state.Fact]bool)
	for _, row := range p.Errors.Rows() {
		known[row.Fact] = true
	}
	declared := make(map[state.Fact]bool)
	for _, a := range p.Actions {
		for _, r := range a.Refuses() {
			declared[r.Fact()] = true
		}
	}
	seen := 0
	for _, a := range p.Actions {
		named := a.TagRefusals()
		for _, name := range named {
			seen++
			if !known[name] {
				t.Errorf("a tag of %s names the refusal %s, which %s does not have", a.Name, name, p.Name)
			}
			if declared[name] && !refuses(a, name) {
				t.Errorf("a tag of %s names the refusal %s, with which it is not declared", a.Name, name)
			}
		}
		for _, r := range a.Refuses() {
			if !slices.Contains(named, r.Fact()) {
				t.Errorf("%s is declared with the refusal %s, which no tag of its request names", a.Name, r.Fact())
			}
		}
	}
	if seen == 0 {
		t.Errorf("no tag of %s names a refusal", p.Name)
	}
}

// refuses reports whether an action's declaration has a refusal.
func refuses(a gateway.Action, name state.Fact) bool {
	return slices.ContainsFunc(a.Refuses(), func(r gateway.Refusal) bool { return r.Fact() == name })
}
