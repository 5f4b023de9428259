package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/explain"
	"github.com/clbemu/clbemu/emulator/fidelity"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/scenarios"
)

func newExplain() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CODE|ACTION|TEXT...|-]",
		Short: "Explain an error, with its cure and how to cause and clear it here",
		Long: `Explain an error from any text that shows it: an Event of a Service, a line of kubectl
describe, the error of an SDK or of Terraform, a line of a log, or words in English or
Chinese. The answer says what happened, what cures it, how to cause and clear the error
here, which scenarios play it and where it is documented. Ids, addresses and numbers in
the text do not matter.

A code alone also shows the actions that return it and the evidence from the real cloud;
an action alone shows its parameters and the errors that it returns.

A symptom that operators see, such as pending, "503 while updating" or what curl shows,
lists its causes, the most frequent first, with their cures and the scenarios that play
them. Of a whole kubectl describe, the Events of the type Warning count. What follows
from the name of an unknown code alone is called a guess.

Without arguments, or with -, the text is read from standard input, up to 1 MiB.`,
		Example: `  clbemu explain ORDER.ARREARAGE
  clbemu explain DeleteVServerGroup
  clbemu explain there are vips associating with this vServer group
  clbemu explain 'Error syncing load balancer []: Message: The account is arrearage.'
  clbemu explain 配额
  clbemu explain pending
  kubectl describe service web | clbemu explain`,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := textOf(cmd, args)
			if err != nil {
				return err
			}
			e, err := controlapi.Explanation{}, errors.New("nothing known matches the text")
			if len(text) < longName && !strings.ContainsAny(text, " \n") {
				e, err = explain.Name(knownNames(), text)
			}
			if err != nil {
				return explainText(cmd, text, err)
			}
			about, err := answerFor(&e)
			if err != nil {
				return err
			}
			found := (&explain.Found{Best: *about, Others: []explain.Answer{{Causes: e.Causes}}}).For(text, locale())
			about, e.Causes = &found.Best, found.Others[0].Causes
			return printing(cmd).show(e, func(s *terminal.Screen) error {
				s.Printf("%s", s.Fit(explainedText(&e, about), labelWidth))
				return nil
			})
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return append(wholeCodes(), emulatedNames(emulator.Actions(), "")...), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// lookText lists the causes of a symptom with their cures, in the order in which to look.
func lookText(look []controlapi.SymptomCause) string {
	about := make(map[string]string)
	for _, head := range scenarios.LibraryHeads() {
		about[head.Name] = head.About
	}
	var b strings.Builder
	for _, cause := range look {
		b.WriteString(labelled("cause", cmp.Or(cause.About, about[cause.Scenario])) + labelled("cure", cause.Cure))
		if cause.Scenario != "" {
			b.WriteString(labelled("play", "clbemu scenario run "+cause.Scenario))
		}
	}
	return b.String()
}

// mostText is the most text that explain reads, and longName longer than any name.
const mostText, longName = 1 << 20, 200

// textOf returns the text that a person asks about: the arguments, or standard input.
func textOf(cmd *cobra.Command, args []string) (string, error) {
	text := strings.Join(args, " ")
	if text == "" || text == "-" {
		if file, ok := cmd.InOrStdin().(*os.File); ok && terminal.Is(file) {
			return "", usage(fmt.Errorf("explain needs a code, an action, or the text of an error: type %s", firstExample(cmd)))
		}
		read, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), mostText+1))
		if err != nil {
			return "", cannot(err)
		}
		text = string(read)
	}
	text = strings.TrimSpace(strings.ToValidUTF8(text, " "))
	switch {
	case text == "":
		return "", usage(fmt.Errorf("the text is empty: type %s", firstExample(cmd)))
	case len(text) > mostText:
		return "", usage(errors.New("the text is longer than 1 MiB: pass only the lines that show the error, such as those of tail -n 50"))
	}
	return text, nil
}

// answerFor returns further knowledge of a code.
func answerFor(e *controlapi.Explanation) (*explain.Answer, error) {
	if e.Action != nil {
		return &explain.Answer{}, nil
	}
	return explain.OfCode(knownNames(), e.Name)
}

// explainText shows what a text is about, or refuses it for a reason.
func explainText(cmd *cobra.Command, text string, reason error) error {
	index, err := explain.NewIndex(knownNames())
	if err != nil {
		return err
	}
	found, earned := index.Search(text)
	if !earned {
		return usage(fmt.Errorf("%w%s", reason, nearest(&found.Best)))
	}
	found = *found.For(text, locale())
	return printing(cmd).show(found, func(s *terminal.Screen) error {
		s.Printf("%s", s.Fit(answerText(&found.Best), labelWidth))
		for i := range found.Others {
			s.Printf("%s", s.Fit(labelled("or", headline(&found.Others[i])), labelWidth))
		}
		return nil
	})
}

// locale returns the language of the user's messages.
func locale() string { return cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_MESSAGES"), os.Getenv("LANG")) }

// nearest ends a refusal with the answer that is nearest to a text, if there is one.
func nearest(a *explain.Answer) string {
	if a.Happened == "" {
		return ""
	}
	return "; the nearest is " + strconv.Quote(headline(a))
}

// headline returns an answer in one line.
func headline(a *explain.Answer) string {
	return cmp.Or(strings.TrimSpace(a.Code+" "+a.Message), a.Title, a.Happened)
}

// answerText returns an answer for people.
func answerText(a *explain.Answer) string {
	var b strings.Builder
	title := cmp.Or(a.Message, a.Title)
	if a.Code != "" {
		title = terminal.Title.Render(a.Code) + "  "
		if a.Status > 0 {
			title += strconv.Itoa(a.Status) + " "
		}
		title += a.Message
	}
	if title != "" {
		b.WriteString(title + "\n")
	}
	if a.Guess {
		guess := "by the name of the code, as nothing more is known of it"
		if strings.ContainsFunc(a.Happened, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
			guess = "仅由错误码的名称推断，此外别无所知"
		}
		b.WriteString(labelled("guess", guess))
	}
	if a.Happened != a.Message && strings.TrimRight(a.Happened, ".。") != a.Title {
		b.WriteString(labelled("happened", a.Happened))
	}
	if len(a.Look) > 0 {
		b.WriteString(lookText(a.Look))
		return b.String()
	}
	b.WriteString(curesText(a))
	for i := range a.Causes[:min(len(a.Causes), mostCauses)] {
		b.WriteString(causeText(&a.Causes[i], a.Happened, ofAction(&a.Causes[i])))
	}
	b.WriteString(playsText(a))
	if a.Code != "" {
		b.WriteString(labelled("more", "clbemu explain "+a.Code))
	}
	return b.String()
}

// ofAction names the action of a cause that is about one.
func ofAction(c *controlapi.Cause) string {
	if c.Action == "" {
		return ""
	}
	return " (" + c.Action + ")"
}

func curesText(a *explain.Answer) string {
	var b strings.Builder
	for _, cure := range a.Cures {
		b.WriteString(labelled("cure", cure))
	}
	return b.String()
}

// playsText says what plays an answer, its documentation, and what a controller should do.
func playsText(a *explain.Answer) string {
	var b strings.Builder
	for _, advice := range a.Advice {
		b.WriteString(labelled("authors", advice))
	}
	if len(a.Scenarios) > 0 {
		b.WriteString(labelled("scenario", firstActions(a.Scenarios)))
	}
	if a.PlayedBy != "" {
		b.WriteString(labelled("played by", a.PlayedBy))
	}
	if a.Today != "" {
		b.WriteString(labelled("today", a.Today))
	}
	if a.Note != "" {
		b.WriteString(labelled("note", a.Note))
	}
	if len(a.Documented) > 0 {
		b.WriteString(labelled("said in", strings.Join(a.Documented, "; ")))
	}
	return b.String()
}

// wholeCodes returns the codes that a person can type: those without a place for the name of a
// parameter.
func wholeCodes() []string {
	return slices.DeleteFunc(knownNames().AllCodes(), func(code string) bool { return strings.Contains(code, "%") })
}

// knownNames returns the names of the emulated cloud.
func knownNames() *names.Names { return emulator.Names() }

// labelWidth is the column in which the text behind a label starts.
const labelWidth = 12

func labelled(label, text string) string { return fmt.Sprintf("  %-9s %s\n", label, text) }

// explainedText returns an explanation for people.
func explainedText(e *controlapi.Explanation, about *explain.Answer) string {
	var b strings.Builder
	b.WriteString(terminal.Title.Render(e.Name) + "\n")
	if e.Action != nil {
		b.WriteString(actionText(e.Action))
	}
	for i := range e.Answers {
		a := &e.Answers[i]
		what := fmt.Sprintf("%d %s: %s", a.Status, a.Code, a.Message)
		if e.Action == nil {
			what += " (" + cmp.Or(firstActions(a.Actions), "any action") + ", " + a.Product + ")"
		}
		if a.Evidence != "" && e.Action != nil {
			what += " (" + a.Evidence + ")"
		}
		b.WriteString(labelled("answer", what))
	}
	if len(e.Answers) == 0 && e.Action == nil {
		b.WriteString(labelled("answer", "from the gateway, for any action"))
	}
	if about.Code == e.Name {
		if len(about.Cures) > 0 && !about.Guess {
			b.WriteString(labelled("happened", about.Happened))
		}
		b.WriteString(curesText(about))
		if len(e.Causes) == 0 && len(about.Causes) > 0 {
			b.WriteString(causeText(&about.Causes[0], about.Happened, ""))
		}
	}
	for _, c := range e.Causes {
		b.WriteString(causeText(&c, about.Happened, afterCause(&c, e.Action != nil)))
	}
	if about.Code == e.Name {
		b.WriteString(playsText(about))
	}
	if e.Fault != "" {
		b.WriteString(labelled("fault", "the emulator returns it only when a fault rule says so:"))
		b.WriteString(labelled("", "echo '"+e.Fault+"' | clbemu fault add -"))
	}
	if e.Action == nil {
		for _, known := range e.Evidence {
			b.WriteString(labelled("evidence", fmt.Sprintf("%s, %s: %s Source: %s", known.ID, known.Confidence, known.Claim, known.Source)))
		}
	}
	b.WriteString(statementsText(e))
	return b.String()
}

// mostStatements limits the number of statements of an action or a code.
const mostStatements = 5

// statementsText counts the published statements, and shows those that do not hold here of an action,
// and what has a case of a code.
func statementsText(e *controlapi.Explanation) string {
	if len(e.Statements) == 0 {
		return ""
	}
	counts, shown := make(map[string]int), []string{}
	for _, s := range e.Statements {
		counts[s.Verdict]++
		if s.Verdict == string(fidelity.Unchecked) || e.Action != nil && s.Verdict == string(fidelity.Holds) {
			continue
		}
		says := s.Says
		if e.Action == nil {
			says = s.Action + ": " + says
		}
		if s.Reason != "" {
			says += " Here: " + s.Verdict + ", " + s.Reason
		}
		shown = append(shown, labelled("", says+" Source: "+s.Source))
	}
	var about []string
	for _, v := range []struct {
		of    fidelity.Verdict
		words string
	}{{fidelity.Holds, "held"}, {fidelity.Differs, "different on purpose"}, {fidelity.Open, "open"}, {fidelity.Unchecked, "without a case"}} {
		if n := counts[string(v.of)]; n > 0 {
			about = append(about, fmt.Sprintf("%d %s", n, v.words))
		}
	}
	return labelled("published", fmt.Sprintf("%s: %s (--json lists them)", counted(len(e.Statements), "statement"), strings.Join(about, ", "))) +
		strings.Join(shown[:min(len(shown), mostStatements)], "")
}

// firstActions returns the first of many actions.
func firstActions(actions []string) string {
	const most = 4
	if len(actions) > most {
		return strings.Join(actions[:most], ", ") + fmt.Sprintf(" and %d more", len(actions)-most)
	}
	return strings.Join(actions, ", ")
}

func actionText(a *controlapi.ExplainedAction) string {
	sort := "changes nothing"
	if a.Mutates {
		sort = "changes the state"
	}
	if !a.Emulated {
		return labelled("action", a.Product+" "+a.Version+", which the cloud has and clbemu does not emulate: it answers InvalidAction.NotEmulated")
	}
	var required, optional []string
	for _, p := range a.Parameters {
		if p.Required {
			required = append(required, p.Name)
		} else {
			optional = append(optional, p.Name)
		}
	}
	return labelled("action", a.Product+" "+a.Version+", "+sort) + labelled("requires", cmp.Or(strings.Join(required, ", "), "nothing")) +
		labelled("reads", cmp.Or(strings.Join(optional, ", "), "nothing else"))
}

// afterCause returns what the explained name leaves open: for an action the code of the
// cause, for a code the action.
func afterCause(c *controlapi.Cause, ofAction bool) string {
	if ofAction {
		return ": " + c.Code
	}
	return " (" + c.Action + ")"
}

// causeText shows a cause, without its name where the line above has it already.
func causeText(c *controlapi.Cause, happened, after string) string {
	because := ""
	if c.About != "" && c.About != happened {
		because = labelled("because", c.About+after)
	}
	return because + labelled("  begin", c.Begin) + labelled("  end", c.End)
}

// hint explains an error of a call: the causes that its action has for the code with the
// message, or that every action has.
func hint(code, message string, action names.Action) string {
	e, err := explain.Name(knownNames(), code)
	if err != nil {
		return ""
	}
	answers := func(of []string) bool { return of == nil || slices.Contains(of, action.Name) }
	differs := slices.ContainsFunc(e.Answers, func(a controlapi.ExplainedAnswer) bool { // with a message of its own
		return a.Product == action.Product && slices.Contains(a.Actions, action.Name)
	})
	var b strings.Builder
	causes := slices.DeleteFunc(e.Causes, func(c controlapi.Cause) bool {
		own := c.Product == action.Product && c.Action == action.Name
		return !sameMessage(c.Message, message) || !own && (differs || !slices.ContainsFunc(e.Answers, func(a controlapi.ExplainedAnswer) bool { return a.Actions == nil && a.Message == c.Message }))
	})
	for _, c := range causes[:min(len(causes), mostCauses)] {
		b.WriteString(causeText(&c, "", ""))
	}
	for _, a := range e.Answers {
		i := slices.IndexFunc(e.Evidence, func(known controlapi.Evidence) bool { return known.ID == a.Evidence })
		if i >= 0 && a.Product == action.Product && answers(a.Actions) {
			b.WriteString(labelled("evidence", fmt.Sprintf("%s, %s: %s", a.Evidence, e.Evidence[i].Confidence, e.Evidence[i].Claim)))
			break
		}
	}
	return b.String() + labelled("more", "clbemu explain "+code)
}

// varying matches what differs from one message of a refusal to the next: ids, names in brackets
// and numbers.
var varying = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<\w+>|\[[^\]]*\]|…|%s|\b[a-z]{2,4}-[0-9a-z-]+|[0-9]+`)
})

// sameMessage reports whether two messages are the same but for that.
func sameMessage(one, other string) bool {
	return varying().ReplaceAllString(one, "") == varying().ReplaceAllString(other, "")
}

// mostCauses is the most causes that hint shows.
const mostCauses = 3
