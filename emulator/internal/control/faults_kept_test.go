package control_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

const always = `{name: always, match: {action: DescribeRegions}, effect: {error: {code: ServiceUnavailable}}}`

// exportedWith returns the state as an import takes it, with another table.
func (f *fixture) exportedWith(table, rows string) string {
	f.t.Helper()
	var export struct {
		SchemaVersion int
		Tables        map[string]json.RawMessage
	}
	f.ask("GET", "/v1/state", "", 200, &export)
	export.Tables[table] = json.RawMessage(rows)
	text, err := json.Marshal(export)
	if err != nil {
		f.t.Fatal(err)
	}
	return string(text)
}

// TestImportsThatCanNotBeServed proves that what a start needs is checked before an
// import is kept, and that a refused one changes nothing.
func TestImportsThatCanNotBeServed(t *testing.T) {
	f := newFixture(t, withCloud)
	f.ask("POST", "/v1/faults", always, 200, nil)
	rule := func(name, text string) string {
		return `[{"Name":"` + name + `","Position":0,"Rule":"` + text + `","Since":"2026-01-01T00:00:00Z","Seen":0,"Hits":0}]`
	}
	for _, test := range []struct{ table, rows, want string }{
		{"Fault", rule("x", "garbage"), "fault rule x: line 1:1: want fields"},
		{"Fault", rule("x", "{name: x, effect: {teleport: true}}"), "fault rule x: line 1:20: effect.teleport: there is no such field"},
		{"Fault", rule("x", "{name: y, effect: {reset: true}}"), "fault rule x: its text is not one rule of that name"},
		{"Account", "[]", "there is no Account"},
		{"AccessKey", "[]", "there is no AccessKey: no client could make a call"},
		{"Region", "[]", "there is no Region"},
	} {
		before := f.send("GET", "/v1/state", "", nil).Body.String()
		f.mustRefuse("PUT", "/v1/state", f.exportedWith(test.table, test.rows), 422, test.want)
		if after := f.send("GET", "/v1/state", "", nil).Body.String(); after != before {
			t.Errorf("an import without %s that was refused changed the state", test.table)
		}
		if code := f.describeRegions(); code != "ServiceUnavailable" {
			t.Errorf("the code of a call after a refused import = %q, want the rule at work", code)
		}
	}
}

// TestRulesThatCanNotBeRead proves that a start passes over a rule that it can't read,
// which a newer version may have written, says so wherever one looks, and arms the
// others; and that the rule can be deleted.
func TestRulesThatCanNotBeRead(t *testing.T) {
	store := newStore(t, func(tx *state.Tx) error {
		kinds.Faults.Put(tx, &kinds.Fault{Name: "newer", Position: 0, Rule: "{name: newer, effect: {teleport: true}}"})
		kinds.Faults.Put(tx, &kinds.Fault{Name: "always", Position: 1, Rule: always})
		return nil
	})
	f := fixtureOver(t, store, withCloud)
	const want = "the fault rule newer is not in force: line 1:24: effect.teleport: there is no such field"
	if code := f.describeRegions(); code != "ServiceUnavailable" {
		t.Errorf("the code of a call = %q, want the other rule at work", code)
	}
	var ready controlapi.Status
	f.ask("GET", "/readyz", "", 200, &ready)
	var found controlapi.Resources
	f.ask("GET", "/v1/resources?kind=lb", "", 200, &found)
	for where, warnings := range map[string][]string{"/readyz": ready.Warnings, "/v1/resources": found.Warnings} {
		if len(warnings) != 1 || !strings.HasPrefix(warnings[0], want) {
			t.Errorf("%s warns of %q, want %q", where, warnings, want)
		}
	}
	var list controlapi.FaultRules
	f.ask("GET", "/v1/faults", "", 200, &list)
	if len(list.Faults) != 1 || len(list.Skipped) != 1 || list.Skipped[0].Name != "newer" || !strings.Contains(list.Skipped[0].Rule, "teleport") {
		t.Errorf("the rules are %+v", list)
	}
	var problems controlapi.Problems
	f.ask("POST", "/v1/state/check", "", 200, &problems)
	if len(problems.Problems) != 1 || !strings.HasPrefix(problems.Problems[0], "fault rule newer: line 1:24: effect.teleport") {
		t.Errorf("the check finds %q", problems.Problems)
	}
	f.ask("DELETE", "/v1/faults/newer", "", 200, &list)
	var after controlapi.FaultRules
	f.ask("GET", "/v1/faults", "", 200, &after)
	if len(after.Faults) != 1 || len(after.Skipped) != 0 {
		t.Errorf("the rules are %+v after the bad one was deleted", after)
	}
}

// TestManyRules proves that there is a bound to rules, in number and in bytes, and that
// one too many changes nothing.
func TestManyRules(t *testing.T) {
	if testing.Short() {
		t.Skip("10,000 rules: make large")
	}
	f := newFixture(t, withCloud)
	add := func(from, to int, about string) string {
		var text strings.Builder
		for n := from; n < to; n++ {
			fmt.Fprintf(&text, "- {name: r%d, match: {action: %s}, effect: {reset: true}}\n", n, about)
		}
		return text.String()
	}
	f.ask("POST", "/v1/faults", add(0, 9_999, "DeleteVpc"), 200, nil)
	f.mustRefuse("POST", "/v1/faults", add(9_999, 10_001, "DeleteVpc"), 422, "there would be 10001 fault rules, and 10000 may be")
	f.ask("POST", "/v1/faults", strings.Replace(add(9_999, 10_000, "DescribeRegions"), "reset: true", "error: {code: ServiceUnavailable}", 1), 200, nil)
	f.ask("POST", "/v1/faults", add(7, 8, "DeleteVpc"), 200, nil) // in its place
	if n := len(f.faults.Injector.Rules()); n != 10_000 {
		t.Errorf("%d rules are armed", n)
	}
	if code := f.describeRegions(); code != "ServiceUnavailable" {
		t.Errorf("the code of a call = %q, want the last rule at work", code)
	}
	f.ask("DELETE", "/v1/faults", "", 200, nil)
	long := strings.Repeat("x", 1<<20-200)
	for n := range 16 {
		if _, err := f.faults.Add("", fmt.Appendf(nil, "{name: l%d, match: {userAgent: %s}, effect: {reset: true}}", n, long)); err != nil {
			t.Fatal(err)
		}
	}
	f.mustRefuse("POST", "/v1/faults", "{name: more, match: {userAgent: "+long+"}, effect: {reset: true}}", 422, "all fault rules would have")
}
