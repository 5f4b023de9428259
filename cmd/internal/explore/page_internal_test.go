package explore

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/scenarios"
)

// TestLines proves what the journal of a play has of calls, and that it is bounded.
func TestLines(t *testing.T) {
	e := &explorer{subject: subject{program: true}}
	long := strings.Repeat("ä", 300)
	lines, omitted := e.linesOf([]scenarios.JournalCall{
		{Action: "A", Params: map[string]string{"Long": long}, Status: 200},
		{Action: "B", UserAgent: scenarios.ObserverAgent},
		{Action: "C", UserAgent: scenarios.ClientAgent, Code: "Busy", Faults: []string{"disturbance"}},
	})
	if len(lines) != 2 || omitted != 0 || len([]rune(lines[0].Params["Long"])) != maxParamText+1 || lines[0].Hand || !lines[1].Hand || lines[1].Code != "Busy" {
		t.Errorf("= %+v, %d", lines, omitted)
	}
	var many []scenarios.JournalCall
	for n := range 2000 {
		many = append(many, scenarios.JournalCall{Action: fmt.Sprint("A", n)})
	}
	lines, omitted = e.linesOf(many)
	if len(lines) != maxLines || omitted != 2000-maxLines || lines[0].Action != "A0" || lines[maxLines-1].Action != "A1999" {
		t.Errorf("of 2000 calls, %d are kept and %d omitted, from %s to %s", len(lines), omitted, lines[0].Action, lines[len(lines)-1].Action)
	}
}

// TestWaiting proves that the summary has the share of the time in which plays waited, also
// of none.
func TestWaiting(t *testing.T) {
	r := &Report{Outcomes: []Outcome{{Seconds: 3, Waited: 3}, {Seconds: 1}}, Seconds: 2}
	if got := r.Summary(); r.Waiting() != 0.75 || !strings.HasPrefix(got.String(), "2 plays in 2.0 s (60 a minute, 75 % of the time waiting)") {
		t.Errorf("= %v, %s", r.Waiting(), got)
	}
	if r = (&Report{}); r.Waiting() != 0 || !strings.HasPrefix(r.Summary().String(), "0 plays in 0.0 s (0 a minute, 0 %") {
		t.Errorf("of nothing = %v, %s", r.Waiting(), r.Summary())
	}
}

// TestPage proves that each cell names its plays, and that where there is no room for all
// journals, those of violations stay.
func TestPage(t *testing.T) {
	call := Call{Product: "Slb", Action: "CreateLoadBalancer", N: 1, Write: true}
	lines := make([]Line, maxLines)
	for i := range lines {
		lines[i] = Line{Action: strings.Repeat("a", 1000)}
	}
	r := &Report{Scenario: "web", Calls: []Call{call}, Findings: []Finding{{Rule: ruleDouble, Extra: []string{"LoadBalancer web A=1"}, Plays: []string{"lost at CreateLoadBalancer"}}}}
	for n := range 100 {
		d := Disturbance{Kind: "refused", What: fmt.Sprint(n), At: call}
		r.Outcomes = append(r.Outcomes, Outcome{ID: planned{d}.id(), Disturbances: planned{d}, Verdict: Fine, Journal: lines})
	}
	lost := Disturbance{Kind: "lost", At: call}
	r.Outcomes = append(r.Outcomes, Outcome{ID: planned{lost}.id(), Disturbances: planned{lost}, Verdict: Violated, Rule: ruleDouble, Journal: lines})
	p := r.Page()
	text, err := json.Marshal(p)
	if err != nil || len(text) > maxJournals+maxJournals/4 {
		t.Errorf("the page has %d bytes, %v", len(text), err)
	}
	if last := p.Plays[100]; len(last.Journal) != maxLines || last.Omitted != 0 {
		t.Errorf("the violation has %d lines, and %d are left out", len(last.Journal), last.Omitted)
	}
	if first, late := p.Plays[0], p.Plays[99]; len(first.Journal) == 0 || len(late.Journal) > 0 || late.Omitted != maxLines {
		t.Errorf("the first fine play has %d lines, the last %d and %d left out", len(first.Journal), len(late.Journal), late.Omitted)
	}
	if len(r.Outcomes[99].Journal) == 0 {
		t.Error("the page changes the report")
	}
	if len(p.Rows) != 1 || len(p.Columns) != 2 || p.Rows[0].Cells[0].Text != "ok" || len(p.Rows[0].Cells[0].Plays) != 100 || p.Rows[0].Cells[1].Text != ruleDouble || p.Findings[0].Difference[0].String() != "too much: LoadBalancer web" {
		t.Errorf("columns %q, rows %.300v, findings %v", p.Columns, p.Rows, p.Findings)
	}
	if brief, _ := json.Marshal(r.WithoutJournals()); strings.Contains(string(brief), "journal") {
		t.Error("the report has journals")
	}
}

// TestNamesInChinese proves that the console has each name of the page in Chinese, and no
// other.
func TestNamesInChinese(t *testing.T) {
	text, err := os.ReadFile("../../../emulator/internal/console/zh/words.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var chinese struct {
		Explored map[string]string `yaml:"explored"`
	}
	if err := yaml.Unmarshal(text, &chinese); err != nil {
		t.Fatal(err)
	}
	names := []string{scenarios.ScriptedClient, interrupted, planned{}.id(), atRestRow, againKind, "ok", "before", "during", "after", "missing", "too much", "gone", "expected", "saw"}
	for _, k := range kinds {
		names = append(names, k.name)
	}
	for _, c := range manualChanges {
		names = append(names, c.name)
	}
	for _, verdict := range []Verdict{Fine, Violated, Known, Idle, Broken} {
		names = append(names, string(verdict))
	}
	names = append(names, ranks...)
	for _, k := range Kinds() {
		if err := new(scenarios.Explore).CheckDisturbances(k[0]); err != nil {
			t.Error(err)
		}
	}
	for _, name := range names {
		if chinese.Explored[name] == "" {
			t.Errorf("zh/words.yaml has no %q of clbemu explore", name)
		}
	}
	for name := range chinese.Explored {
		if !slices.Contains(names, name) {
			t.Errorf("zh/words.yaml has %q, which clbemu explore does not say", name)
		}
	}
}
