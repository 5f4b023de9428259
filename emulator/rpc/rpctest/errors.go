package rpctest

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/rpc"
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

// MatchErrors makes the calls, each in a world of its own that plant sets up, and
// then checks that every row of the product's error table answered one of them,
// unless a filter on the command line left cases out.
func MatchErrors(t *testing.T, p *rpc.Product, plant func(*state.Tx) error, cases []ErrorCase) {
	t.Helper()
	ran := 0
	reached := make(map[int]bool)
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
			for i, row := range p.Errors.Rows() {
				if answers(row, c.Action, got) {
					reached[i] = true
				}
			}
		})
	}
	for i, row := range p.Errors.Rows() {
		if ran == len(cases) && !reached[i] {
			t.Errorf("no case reaches the error row %s %s %v: %d %s: %s", row.Fact, row.Kind, row.Actions, row.Status, row.Code, row.Message)
		}
	}
}

// answers tells whether the reply is what the row says.
func answers(row rpc.ErrorRow, action string, got Reply) bool {
	if row.Status != got.Status || row.Code != got.Code || row.Actions != nil && !slices.Contains(row.Actions, action) {
		return false
	}
	before, after, _ := strings.Cut(row.Message, "%s")
	return strings.HasPrefix(got.Message, before) && strings.HasSuffix(got.Message, after)
}

var (
	factConstant = regexp.MustCompile(`\sstate\.Fact\s*=\s*"(\w+)"`)
	factInTag    = regexp.MustCompile(`(?:missing|invalid)=(\w+)`)
)

// MatchFacts checks that every fact that the sources in a folder declare, or name
// in a tag, has a row in the product's error table.
func MatchFacts(t *testing.T, p *rpc.Product, folder string) {
	t.Helper()
	known := make(map[string]bool)
	for _, row := range p.Errors.Rows() {
		known[string(row.Fact)] = true
	}
	facts := factsIn(t, folder)
	if len(facts) == 0 {
		t.Errorf("the sources in %s declare no fact", folder)
	}
	for _, fact := range slices.Sorted(maps.Keys(facts)) {
		if !known[fact] {
			t.Errorf("%s: the fact %s has no row in the error table of %s", facts[fact], fact, p.Name)
		}
	}
}

// factsIn returns the file that has each fact.
func factsIn(t *testing.T, folder string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatalf("look for sources: %v", err)
	}
	facts := make(map[string]string)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("read a source: %v", err)
		}
		for _, expression := range []*regexp.Regexp{factConstant, factInTag} {
			for _, match := range expression.FindAllStringSubmatch(string(text), -1) {
				facts[match[1]] = file
			}
		}
	}
	return facts
}
