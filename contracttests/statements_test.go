package contracttests

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/contracttests/internal/mutate"
	"github.com/clbemu/clbemu/contracttests/mutants"
	"github.com/clbemu/clbemu/emulator/explain"
	"github.com/clbemu/clbemu/scenarios"
)

// statementsPage is written from the statements of the documents about Services.
const (
	statementsPage    = "seeds.md"
	statementsSummary = "../docs/seeds.md"
)

// judge knows everything that can play a statement.
type judge struct {
	documents []explain.Document
	tests     map[string]bool
	evidence  map[string]evidence
	checks    []string
}

func newJudge(t *testing.T) (*judge, []explain.Statement) {
	t.Helper()
	documents, statements, err := explain.Statements()
	if err != nil {
		t.Fatal(err)
	}
	return &judge{documents, testNames(t, sources(t)), entries(t), kindChecks(t)}, statements
}

// problems says what is wrong with a statement.
func (j *judge) problems(s *explain.Statement) (all []string) {
	if s.Says == "" || s.Section == "" || len(s.In) == 0 {
		all = append(all, "it has no text, section or document")
	}
	last := -1
	for _, id := range s.In {
		at := slices.IndexFunc(j.documents, func(d explain.Document) bool { return d.ID == id })
		if at <= last {
			all = append(all, fmt.Sprintf("document %s is unknown, or not in order", id))
		}
		last = at
	}
	if s.By.Name == "" {
		return append(all, "it has no way to play it, and no reason")
	}
	if s.Note+s.Today != "" && !played(s) {
		all = append(all, "it has a note, or differs today, and is not played")
	}
	switch s.By.Kind {
	case explain.ByScenario:
		return append(all, badPart(s.By)...)
	case explain.ByTest, explain.ByCCM:
		if !j.tests[s.By.Name] {
			all = append(all, "there is no test "+s.By.Name)
		}
	case explain.ByEvidence:
		if _, known := j.evidence[s.By.Name]; !known {
			all = append(all, "there is no evidence "+s.By.Name)
		}
	case explain.ByCommand: // the tests of the pages know the rest
		if !strings.HasPrefix(s.By.Name, "clbemu ") {
			all = append(all, s.By.Name+" is no command of clbemu")
		}
	case explain.ByKind:
		if !slices.Contains(j.checks, s.By.Name) {
			all = append(all, "make e2e-kind has no check "+s.By.Name)
		}
	case explain.ByNothing, explain.Open:
	default:
		all = append(all, "there is no way "+s.By.Kind)
	}
	return all
}

// played reports whether something plays a statement.
func played(s *explain.Statement) bool {
	return s.By.Kind != explain.ByNothing && s.By.Kind != explain.Open
}

// kindChecks returns the checks that make e2e-kind plays.
func kindChecks(t *testing.T) []string {
	text, err := os.ReadFile("../deploy/kind/e2e.sh")
	if err != nil {
		t.Fatal(err)
	}
	checks := regexp.MustCompile(`(?m)^checks=\$\{CHECKS:-(.+)\}$`).FindSubmatch(text)
	if checks == nil {
		t.Fatal("e2e.sh does not say which checks it plays")
	}
	return strings.Fields(string(checks[1]))
}

// badPart says what is wrong with the part of a scenario.
func badPart(by explain.Way) []string {
	name, part, _ := by.Scenario()
	text, known := scenarios.LibraryText(name)
	if !known {
		return []string{"there is no scenario " + name}
	}
	s, err := scenarios.Load(name+".yaml", text, scenarios.Options{})
	if err != nil {
		return []string{err.Error()}
	}
	if !slices.Contains(s.PartNames(), part) {
		return []string{fmt.Sprintf("the scenario %s has no %s part", name, part)}
	}
	return nil
}

// plain returns a text without the differences between two spellings of one statement.
func plain(text string) string {
	return strings.ToLower(regexp.MustCompile(`[^\pL\pN]+`).ReplaceAllString(text, " "))
}

// TestStatements proves that each statement of the documents about Services is there once,
// with one way to play it that exists, or the reason why nothing does.
func TestStatements(t *testing.T) {
	j, statements := newJudge(t)
	seen := make(map[string]bool)
	for i := range statements {
		s := &statements[i]
		for _, problem := range j.problems(s) {
			t.Errorf("%s: %q: %s", s.Section, s.Says, problem)
		}
		if text := plain(s.Says); seen[text] {
			t.Errorf("%s: %q is there twice", s.Section, s.Says)
		} else {
			seen[text] = true
		}
	}
	if len(statements) < 200 {
		t.Errorf("there are %d statements, want five documents", len(statements))
	}
	for _, d := range j.documents {
		if !slices.ContainsFunc(statements, func(s explain.Statement) bool { return slices.Contains(s.In, d.ID) }) {
			t.Errorf("no statement is in %s", d.ID)
		}
	}
}

// TestStatementProblems proves that each thing that can be wrong with a statement is found.
func TestStatementProblems(t *testing.T) {
	j, _ := newJudge(t)
	good := explain.Statement{Section: "Here", Says: "This is so.", In: []string{"faq-2025", "faq-ja"}, By: explain.Way{Kind: explain.ByScenario, Name: "arrears/kubernetes"}}
	if problems := j.problems(&good); problems != nil {
		t.Errorf("a good one has the problems %q", problems)
	}
	by := func(text string) func(*explain.Statement) {
		return func(s *explain.Statement) {
			if err := yaml.Unmarshal([]byte(text), &s.By); err != nil {
				t.Fatal(err)
			}
		}
	}
	for want, change := range map[string]func(*explain.Statement){
		"no text":                              func(s *explain.Statement) { s.Says = "" },
		"no text, section or document":         func(s *explain.Statement) { s.In = nil },
		"document faq-2024 is unknown":         func(s *explain.Statement) { s.In = []string{"faq-2024"} },
		"not in order":                         func(s *explain.Statement) { s.In = []string{"faq-ja", "faq-2025"} },
		"no way to play it, and no reason":     by("none"),
		"it has a note, or differs today":      func(s *explain.Statement) { by("open so")(s); s.Note = "so" },
		"there is no way magic":                by("magic so"),
		"no scenario arears":                   by("scenario arears/client"),
		"packets-drain has no kubernetes part": by("scenario packets-drain/kubernetes"),
		"arrears has no  part":                 by("scenario arrears"),
		"no test forward_test.TestNo":          by("test forward_test.TestNo"),
		"no evidence CLB-999":                  by("evidence CLB-999"),
		"kubectl get is no command":            by("command kubectl get"),
		"make e2e-kind has no check nowhere":   by("kind nowhere"),
	} {
		s := good
		change(&s)
		if got := strings.Join(j.problems(&s), "\n"); !strings.Contains(got, want) {
			t.Errorf("%+v has the problems %q, want %q", s, got, want)
		}
	}
}

// TestStatementsPage proves that seeds.md has the statements, and docs/seeds.md their sums.
// With -update it writes both.
func TestStatementsPage(t *testing.T) {
	documents, statements, err := explain.Statements()
	if err != nil {
		t.Fatal(err)
	}
	keepPage(t, statementsPage, statementsText(documents, statements, mutantsOf(t), linesOf(t)))
	keepPage(t, statementsSummary, statementsSummaryHead+sumsOf(documents, statements))
}

// keepPage wants a page to have a text. With -update it writes the page.
func keepPage(t *testing.T, name, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if page, err := os.ReadFile(name); err != nil || string(page) != want {
		t.Errorf("%s is stale (%v): run make golden", name, err)
	}
}

// mutantsOf reads the records of the changes under which what plays a statement was run. The
// packages of the mutants record them; those of kind are counted by deploy/kind.
func mutantsOf(t *testing.T) map[string]mutate.Outcome {
	t.Helper()
	all := make(map[string]mutate.Outcome)
	for _, file := range []string{"library", "kubernetes", "values", "kind"} {
		text, err := os.ReadFile("testdata/mutants/" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var of map[string]mutate.Outcome
		if err := json.Unmarshal(text, &of); err != nil {
			t.Fatalf("%s.json: %v", file, err)
		}
		for name, m := range of {
			if file == "kind" {
				name = explain.ByKind + " " + name
			} else {
				name = explain.ByScenario + " " + name
			}
			was := all[name] // cures and causes, and values, of a kubernetes part
			all[name] = mutate.Outcome{Run: was.Run + m.Run, Survived: append(was.Survived, m.Survived...)}
		}
	}
	return all
}

// linesOf reads the record of the changes of clbemu, by the mutant's name what noticed it.
func linesOf(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("testdata/mutants/lines.json")
	if err != nil {
		t.Fatal(err)
	}
	var record map[string]struct{ By []string }
	if err := json.Unmarshal(text, &record); err != nil {
		t.Fatal(err)
	}
	all := make(map[string][]string)
	for name, is := range record {
		all[name] = is.By
	}
	return all
}

// noticedLines returns the mutants of a statement that what plays it noticed; of a command and of
// evidence their tests.
func noticedLines(s *explain.Statement, lines map[string][]string) string {
	var names []string
	for _, name := range s.Mutants {
		by := mutants.Play(s.By)
		if slices.Contains(lines[name], by) || by == "" && len(lines[name]) > 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// TestStatementsHaveMutants proves that each statement that CI plays names lines of clbemu which
// its play must notice, and that it noticed one, where it needs no control plane: those plays are
// recorded where there is one.
func TestStatementsHaveMutants(t *testing.T) {
	_, statements, err := explain.Statements()
	if err != nil {
		t.Fatal(err)
	}
	lines := linesOf(t)
	for i := range statements {
		s := &statements[i]
		if where := s.By.Where(); len(s.Mutants) == 0 && strings.HasPrefix(where, "CI") || where == "CI" && noticedLines(s, lines) == "" {
			t.Errorf("%s: %q has no mutant that %s noticed", s.Section, s.Says, s.By)
		}
	}
}

// noticed says how many mutants of what plays a statement it noticed.
func noticed(m mutate.Outcome) string {
	if m.Run == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", m.Run-len(m.Survived), m.Run)
}

// TestSurvivors proves that each change that nothing notices has a reason.
func TestSurvivors(t *testing.T) {
	for of, m := range mutantsOf(t) {
		for _, survivor := range m.Survived {
			if survivor.Why == "" {
				t.Errorf("%s survives %q without a reason", of, survivor.Change)
			}
		}
	}
}

// tally counts statements by what becomes of them.
type tally struct{ said, ci, ccm, alone, kind, not, open, differ int }

func (c *tally) add(s *explain.Statement) {
	c.said++
	switch s.By.Where() {
	case "CI, CCM":
		c.ccm++
		c.ci++
	case "CI":
		c.ci++
	case "CCM":
		c.alone++
	case "kind":
		c.kind++
	}
	switch {
	case s.By.Kind == explain.ByNothing:
		c.not++
	case s.By.Kind == explain.Open:
		c.open++
	case s.Today != "":
		c.differ++
	}
}

func (c *tally) row(title string) string {
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d | %d | %d |\n", title, c.said, c.ci, c.ccm, c.alone, c.kind, c.not, c.open, c.differ)
}

// statementsHead is the page before its first table.
const statementsHead = `<!-- written by make golden -->
# What the documents about Services say

clbemu exists to play what these documents say about Services of type LoadBalancer in Container Service for Kubernetes (ACK): symptoms,
limits, error messages and cures. This page has each statement that could be checked, and what plays it. The words are ours; error
messages and names of annotations are the documents' own. A statement of several documents is there once.

- A **scenario** of the library: ` + "`clbemu scenario run NAME --part PART`" + `. A kubernetes part needs a cluster with a controller.
- A **test** of this repository.
- **Evidence**, which clbemu follows: [how we know](../docs/evidence.md#evidence).
- A **command** of clbemu.
- A **check** of ` + "`make e2e-kind`" + `, which plays it in a [kind cluster](../docs/kind.md), with a real CCM, kubelet and kube-proxy.
- **Nothing**: nothing here could play it, for the reason given.
- **Nothing yet**: it could be played, and is open.

*Where* says who plays it. In CI there is no Cloud Controller Manager (CCM), so the
[reference controller](kubernetes/driver) plays what a controller does; *CI, CCM* is also played with a real CCM, of
which [its versions](ccm-versions.md) say what passes; *CCM* needs a real one of 2018 to 2020; *kind* is a cluster with a real one. *Today* says
whether the statement still holds, or what the CCM of today, or Kubernetes, says or does instead.

*Mutants* says with how many changes what plays the statement was run, and how many made it fail: a cure or a cause taken out of a
scenario or a check, or a value of it changed. *Notices* names lines of clbemu that were changed, each of which made it fail:
[mutants.yaml](mutants/mutants.yaml) has them. CI runs the changes of client parts; the others were run on request
(` + "`make mutants`, `make mutants-scenarios`" + `, and ` + "`make mutants-kind`" + ` in kind) and recorded.

` + "`clbemu explain WORD...`" + ` finds statements by their text, and ` + "`clbemu scenario list WORD...`" + ` the scenarios that play them.

`

// statementsSummaryHead is the page in docs before its table.
const statementsSummaryHead = `<!-- written by make golden -->
# What the documents about Services say

clbemu exists to play what these documents say about Services of type LoadBalancer in Container Service for Kubernetes (ACK): symptoms,
limits, error messages and cures. [The table of all statements](../contracttests/seeds.md) has each, with what plays it. ` + "`clbemu explain WORD...`" + `
finds statements by their text, and ` + "`clbemu scenario list WORD...`" + ` the scenarios that play them. In CI a
[reference controller](../contracttests/kubernetes/driver) stands for a Cloud Controller Manager (CCM).

`

// sumsOf returns the table of the documents.
func sumsOf(documents []explain.Document, statements []explain.Statement) string {
	var all tally
	of := make(map[string]*tally)
	for _, d := range documents {
		of[d.ID] = &tally{}
	}
	for i := range statements {
		s := &statements[i]
		all.add(s)
		for _, id := range s.In {
			of[id].add(s)
		}
	}
	var b strings.Builder
	b.WriteString("| document | statements | played in CI | and with a real CCM | with a real CCM alone | in kind | by nothing | open | differ today |\n" +
		"|---|---|---|---|---|---|---|---|---|\n")
	for _, d := range documents {
		b.WriteString(of[d.ID].row("`" + d.ID + "`: " + d.Title))
	}
	b.WriteString(all.row("each statement once"))
	return b.String()
}

// statementsText returns the page of all statements.
func statementsText(documents []explain.Document, statements []explain.Statement, changed map[string]mutate.Outcome, lines map[string][]string) string {
	ways := make(map[string]int)
	for i := range statements {
		if s := &statements[i]; played(s) {
			ways[s.By.Kind]++
		}
	}
	var b strings.Builder
	b.WriteString(statementsHead)
	b.WriteString(sumsOf(documents, statements))
	b.WriteString("\n| played by | statements |\n|---|---|\n")
	for _, kind := range slices.Sorted(maps.Keys(ways)) {
		fmt.Fprintf(&b, "| %s | %d |\n", kind, ways[kind])
	}
	section := ""
	for i := range statements {
		s := &statements[i]
		if s.Section != section {
			section = s.Section
			fmt.Fprintf(&b, "\n## %s\n\n| statement | documents | played by | where | mutants | notices | today |\n|---|---|---|---|---|---|---|\n", section)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", cell(s.Says), strings.Join(s.In, ", "), cell(by(s)), s.By.Where(),
			noticed(changed[s.By.Kind+" "+s.By.Name]), noticedLines(s, lines), cell(today(s)))
	}
	b.WriteString(survivors(statements, changed))
	return b.String()
}

// survivors returns the part of the page about mutants that nothing noticed.
func survivors(statements []explain.Statement, changed map[string]mutate.Outcome) string {
	var b strings.Builder
	told := make(map[string]bool)
	for i := range statements {
		by := &statements[i].By
		m := changed[by.Kind+" "+by.Name]
		if told[by.Name] || len(m.Survived) == 0 {
			continue
		}
		told[by.Name] = true
		for _, survivor := range m.Survived {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(by.String()), strings.ReplaceAll(cell(survivor.Change), "<", `\<`), cell(survivor.Why))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n## Mutants that survive\n\nNothing notices these, for the reason given.\n\n| of | mutant | because |\n|---|---|---|\n" + b.String()
}

// cell returns a text in a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// by is what plays a statement, with its note, as Markdown.
func by(s *explain.Statement) string {
	text := s.By.String()
	switch name, _, _ := strings.Cut(s.By.Name, "/"); s.By.Kind {
	case explain.ByScenario, explain.ByTest, explain.ByCCM:
		text = strings.Replace(text, name, "`"+name+"`", 1)
	case explain.ByCommand:
		text = "`" + text + "`"
	case explain.ByKind:
		text = fmt.Sprintf("check `%s`", s.By.Name)
	case explain.Open:
		text = "**" + strings.Replace(text, ":", "**:", 1)
	}
	if year := yearOf(&s.By); year != "" {
		text += ", on `cloud.year=" + year + "`"
	}
	if s.Note != "" {
		text += "; " + s.Note
	}
	return text
}

// yearOf returns the year of the cloud that a scenario is given, or "" for today's.
func yearOf(by *explain.Way) string {
	name, _, ok := by.Scenario()
	if !ok {
		return ""
	}
	text, _ := scenarios.LibraryText(name)
	if found := regexp.MustCompile(`(?m)^  world: .*cloud\.year: (\d+)`).FindSubmatch(text); found != nil {
		return string(found[1])
	}
	return ""
}

// today says whether a statement that is played holds.
func today(s *explain.Statement) string {
	switch {
	case s.Today != "":
		return "differs: " + s.Today
	case played(s):
		return "holds"
	}
	return ""
}
