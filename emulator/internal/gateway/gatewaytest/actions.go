package gatewaytest

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
)

// actionFacts holds the API's metadata about an action.
type actionFacts struct {
	Mutating bool            `json:"mutating"`
	Params   map[string]bool `json:"params"` // by name, whether required
	// Legacy parameters come from SDKs alone: an action may read them.
	Legacy   []string `json:"legacy"`
	Response []string `json:"response"`
}

// MatchActions compares a product's table with the file of facts about its API:
// the actions, what they read and which of it they require, whether they change
// anything, and what they answer.
//
// Exceptions give the reason for a known difference, by "Action" for a row that
// only one side has, "Action.Parameter", or "Action->Response.Path", which covers
// the paths below it too. One that nothing needs is an error.
//
// RegionId belongs to the gateway: an action that does not require it need not
// read it. An action that changes something need not read what it does not require: the
// gateway refuses that, unless the product says that it is idle. Rows that are not
// emulated need no facts.
func MatchActions(t *testing.T, p *gateway.Product, file string, exceptions map[string]string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("read the facts: %v", err)
	}
	var facts map[string]actionFacts
	if err := json.Unmarshal(text, &facts); err != nil {
		t.Fatalf("read the facts in %s: %v", file, err)
	}
	for _, d := range differences(p, facts, exceptions) {
		t.Error(d)
	}
}

// matcher collects differences, less those that have an exception.
type matcher struct {
	exceptions map[string]string
	used       map[string]bool
	found      []string
}

func differences(p *gateway.Product, facts map[string]actionFacts, exceptions map[string]string) []string {
	m := &matcher{exceptions: exceptions, used: make(map[string]bool)}
	seen := make(map[string]bool)
	for _, a := range p.Actions {
		seen[a.Name] = true
		want, ok := facts[a.Name]
		switch {
		case !ok && a.Emulated:
			m.differ(a.Name, "%s %s has action %s, which the API does not", p.Name, p.Version, a.Name)
		case a.Emulated:
			m.action(a, want)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		if !seen[name] {
			m.differ(name, "%s %s lacks action %s", p.Name, p.Version, name)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(exceptions)) {
		if !m.used[key] {
			m.found = append(m.found, fmt.Sprintf("exception %q (%s) is not needed: remove it", key, exceptions[key]))
		}
	}
	return m.found
}

func (m *matcher) differ(key, format string, args ...any) {
	if _, ok := m.exceptions[key]; ok {
		m.used[key] = true
		return
	}
	m.found = append(m.found, fmt.Sprintf(format, args...))
}

func (m *matcher) action(a gateway.Action, want actionFacts) {
	if a.Mutates != want.Mutating {
		m.found = append(m.found, fmt.Sprintf("%s: Mutates = %t, the API says %t", a.Name, a.Mutates, want.Mutating))
	}
	m.parameters(a, want)
	m.response(a, want)
}

func (m *matcher) parameters(a gateway.Action, want actionFacts) {
	read := make(map[string]bool)
	for _, p := range a.Parameters() {
		read[p.Name] = true
		key := a.Name + "." + p.Name
		required, known := want.Params[p.Name]
		switch {
		case !known && !slices.Contains(want.Legacy, p.Name):
			m.differ(key, "%s reads %s, which the API does not have", a.Name, p.Name)
		case p.Required != required:
			m.differ(key, "%s: required of %s = %t, the API says %t", a.Name, p.Name, p.Required, required)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want.Params)) {
		if read[name] || !want.Params[name] && (want.Mutating || name == "RegionId") {
			continue
		}
		m.differ(a.Name+"."+name, "%s does not read %s", a.Name, name)
	}
}

func (m *matcher) response(a gateway.Action, want actionFacts) {
	answers := a.ResponseFields()
	for _, path := range want.Response {
		if !slices.Contains(answers, path) {
			m.differPath(a.Name, path, "%s does not answer %s", a.Name, path)
		}
	}
	for _, path := range answers {
		if !slices.Contains(want.Response, path) {
			m.differPath(a.Name, path, "%s answers %s, which the API does not have", a.Name, path)
		}
	}
}

// differPath looks for an exception for the path or for anything above it.
func (m *matcher) differPath(action, path, format string, args ...any) {
	for above := path; above != ""; above = above[:max(strings.LastIndexByte(above, '.'), 0)] {
		for _, form := range []string{above, strings.TrimSuffix(above, "[]")} {
			if _, ok := m.exceptions[action+"->"+form]; ok {
				m.used[action+"->"+form] = true
				return
			}
		}
	}
	m.found = append(m.found, fmt.Sprintf(format, args...))
}
