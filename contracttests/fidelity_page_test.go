package contracttests

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/fidelity"
)

const (
	fidelityPage    = "fidelity.md"
	fidelitySummary = "../docs/fidelity.md"
	// fidelityConsole is the page of the console that shows the share.
	fidelityConsole = "../emulator/internal/console/pages/symptoms.html"
)

// fidelityHead begins the page.
const fidelityHead = `<!-- written by make golden -->
# Fidelity

How much of what is published about the actions of CLB and NLB holds in clbemu. A *statement* is one thing that a source says of an
action: a parameter, a range, a default, an error, a field of the answer, a state, a limit, a rate. Each is in
[emulator/fidelity](../emulator/fidelity), with its source and a case, which a test plays from the default world
(` + "`go test ./contracttests -run TestFidelity`" + `). A statement that stops holding, or that holds although its file says otherwise, fails that test.

- **holds**: the case passes. It is known *by value or code* if the case compares a value or an error code, *by behaviour* if it looks at
  packets, and *by status alone* if it compares whether calls are accepted or refused.
- **differs**: clbemu does something else on purpose; the file has the reason.
- **open**: it does not hold, and should.
- **unchecked**: there is no case; the file has the reason.

` + "`ServiceManagedControl`" + ` is in no list of CLB's actions, and nothing is published about it: CLB-0528.

*Share* is what holds of all that is published. ` + "`clbemu actions --fidelity`" + ` prints the same, and ` + "`clbemu explain ACTION`" + ` the statements.

`

func fidelityRow(name string, s fidelity.Score) string {
	return fmt.Sprintf("| %s | %.1f %% | %d | %d | %d | %d | %d | %d | %d | %d |\n", name, s.Share(), s.Published, s.Holds, s.ByValue, s.ByBehaviour, s.ByStatus,
		s.Differs, s.Open, s.Unchecked)
}

func fidelityTable(b *strings.Builder, title string, rows map[string]fidelity.Score, order []string) {
	fmt.Fprintf(b, "| %s | share | statements | hold | by value or code | by behaviour | by status alone | differ | open | unchecked |\n|---|---|---|---|---|---|---|---|---|---|\n", title)
	for _, name := range order {
		if s, ok := rows[name]; ok {
			b.WriteString(fidelityRow(name, s))
		}
	}
	b.WriteString("\n")
}

// worst is how many actions the page begins with.
const worst = 10

// lowestFirst sorts actions by their share.
func lowestFirst(list []*fidelity.File) []*fidelity.File {
	slices.SortStableFunc(list, func(a, b *fidelity.File) int { return cmp.Compare(a.Score().Share(), b.Score().Share()) })
	return list
}

// fidelityActions writes the table of some actions, with their products where these differ.
func fidelityActions(b *strings.Builder, list []*fidelity.File, products bool) {
	rows, order := make(map[string]fidelity.Score), []string{}
	for _, f := range list {
		name := "`" + f.Action + "`"
		if products {
			name = f.Product + " " + name
		}
		rows[name] = f.Score()
		order = append(order, name)
	}
	fidelityTable(b, "action", rows, order)
}

// fidelitySummaryHead begins the page in docs.
const fidelitySummaryHead = `<!-- written by make golden -->
# How much of what is published holds

A *statement* is one thing that a source says of an action of CLB or NLB: a parameter, a range, a default, an error, a field of the
answer, a state, a limit, a rate. A test plays each that has a case, from the default world. It *holds*, *differs* on purpose, is *open*,
which is a defect, or is *unchecked*, without a case; the *share* is what holds of all that is published. [The tables of all
actions](../contracttests/fidelity.md) lead to the statements, their reasons, and what is accepted without effect, ` + "`clbemu actions --fidelity`" + ` prints the counts, and
` + "`clbemu explain ACTION`" + ` the statements. [How we know](evidence.md) says what else clbemu rests on.

`

// renderFidelity writes the page of all actions, and the one in docs.
func renderFidelity(files []*fidelity.File) (page, summary string) {
	var sum fidelity.Score
	products, classes, kinds := make(map[string]fidelity.Score), make(map[string]fidelity.Score), make(map[string]fidelity.Score)
	add := func(m map[string]fidelity.Score, key string, of *fidelity.Statement) {
		s := m[key]
		s.Count(of)
		m[key] = s
	}
	var open, differ, bare []string
	outside := 0
	byProduct := make(map[string][]*fidelity.File)
	for _, f := range files {
		byProduct[f.Product] = append(byProduct[f.Product], f)
		score := f.Score()
		outside += score.Outside
		sum.Used, sum.UsedHolds = sum.Used+score.Used, sum.UsedHolds+score.UsedHolds
		for i := range f.Statements {
			s := &f.Statements[i]
			v := s.Verdict()
			sum.Count(s)
			add(products, f.Product, s)
			add(classes, s.Class, s)
			add(kinds, f.Source(s).Kind, s)
			line := fmt.Sprintf("- `%s`: %s %s\n", f.Name(s), s.Says, s.Reason())
			var one fidelity.Score
			if one.Count(s); one.ByStatus > 0 {
				bare = append(bare, strings.TrimSuffix(line, " \n")+"\n")
			}
			switch v {
			case fidelity.Open:
				open = append(open, line)
			case fidelity.Differs:
				differ = append(differ, line)
			}
		}
	}
	var b strings.Builder
	b.WriteString(fidelityHead)
	b.WriteString("## What is worst\n\nThe " + fmt.Sprint(worst) + " actions of which the least holds:\n\n")
	fidelityActions(&b, lowestFirst(slices.Clone(files))[:worst], true)
	b.WriteString("## All\n\n")
	names := []string{"Slb", "Nlb", "all"}
	products["all"] = sum
	fidelityTable(&b, "product", products, names)
	sum.Outside = outside
	fmt.Fprintf(&b, "Not counted: %d fields and codes of older publications that the newest SDKs no longer have, with which the share is %.1f %%; and %d fields and codes that clients rely on, by the cases of other statements.\n\n",
		outside, sum.ShareOfAll(), sum.Leaning)
	fmt.Fprintf(&b, "By use, of %d parameters sent and fields read by the CCM and Terraform in plays, a statement about %.1f %% holds.\n\n", sum.Used, sum.ShareOfUse())
	summary = fidelitySummaryHead + strings.TrimPrefix(strings.TrimSpace(b.String()), strings.TrimSpace(fidelityHead)+"\n\n") + "\n"
	fidelityTable(&b, "class", classes, fidelity.Classes)
	fidelityTable(&b, "kind of source", kinds, fidelity.Kinds)
	for _, product := range names[:2] {
		fmt.Fprintf(&b, "## %s, by action\n\n", product)
		fidelityActions(&b, lowestFirst(byProduct[product]), false)
	}
	fmt.Fprintf(&b, "## Open\n\n%s\n## Differs on purpose\n\n%s\n## Known by status alone\n\nNo read shows the parameter, or no source has the code of the refusal:\n\n%s",
		strings.Join(open, ""), strings.Join(differ, ""), strings.Join(bare, ""))
	b.WriteString(effectlessTable())
	return b.String(), summary
}

// TestFidelityPage proves that fidelity.md has the statements' counts, docs/fidelity.md their
// sums, and the changelog one line. With -update it writes the pages.
func TestFidelityPage(t *testing.T) {
	files, err := fidelity.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	page, summary := renderFidelity(files)
	keepPage(t, fidelityPage, page)
	keepPage(t, fidelitySummary, summary)
	var sum fidelity.Score
	for _, f := range files {
		sum.Add(f.Score())
	}
	console, err := os.ReadFile(fidelityConsole)
	if err != nil {
		t.Fatal(err)
	}
	keepPage(t, fidelityConsole, regexp.MustCompile(`data-share="[^"]*"`).ReplaceAllString(string(console), fmt.Sprintf(`data-share="%.1f"`, sum.Share())))
	line := fmt.Sprintf("Of %d, %d hold (%.1f %%: %d by value or code, %d by behaviour, %d by status alone), %d differ on purpose, %d do not hold and should, and %d have no case.",
		sum.Published, sum.Holds, sum.Share(), sum.ByValue, sum.ByBehaviour, sum.ByStatus, sum.Differs, sum.Open, sum.Unchecked)
	changes, err := os.ReadFile("../CHANGELOG.md")
	if err != nil || !strings.Contains(strings.Join(strings.Fields(string(changes)), " "), line) {
		t.Errorf("CHANGELOG.md does not say %q (%v)", line, err)
	}
}
