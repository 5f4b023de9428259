package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/clbemu/internal/terminal"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/explain"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/scenarios"
)

func newExplain() *cobra.Command {
	return &cobra.Command{
		Use:   "explain CODE|ACTION|WORD...",
		Short: "Explain why calls fail, and how to cause and clear the error",
		Long: `Explain an error code: its message and the actions that return it, the evidence from
the real cloud, how to cause the error here, and how to clear it. For an action: its
parameters, and the errors that it returns.

Words find the errors whose message, cause or condition has all of them, and the
scenarios that cause them: paste a message, or the part of it that you know. They also
find what the documents about Services say, with what plays it.`,
		Example: `  clbemu explain ORDER.ARREARAGE
  clbemu explain DeleteVServerGroup
  clbemu explain there are vips associating with this vServer group
  clbemu explain arrears
  clbemu explain alibaba-cloud-loadbalancer-backend-label`,
		Args: oneOrMore("a code, an action or words of a message"),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := explain.Name(knownNames(), strings.Join(args, " "))
			if err != nil {
				return explainWords(cmd, strings.Fields(strings.Join(args, " ")), err)
			}
			return printing(cmd).show(e, func(s *terminal.Screen) error {
				s.Printf("%s", s.Fit(explainedText(&e), labelWidth))
				return nil
			})
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return append(wholeCodes(), emulatedNames(emulator.Actions(), "")...), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// found is a refusal that words find.
type found struct {
	controlapi.Cause
	Scenarios []string `json:"scenarios"`
}

// foundByWords is everything that words find.
type foundByWords struct {
	Refusals   []found             `json:"refusals"`
	Statements []explain.Statement `json:"statements"`
}

// mostFound limits how many refusals are shown with their causes, and how many statements
// with their documents; more get one line each.
const mostFound = 8

// explainWords shows what words find, or refuses them for a reason.
func explainWords(cmd *cobra.Command, words []string, reason error) error {
	causes, err := explain.Search(knownNames(), words)
	if err != nil {
		return err
	}
	statements, err := explain.SearchStatements(words)
	if err != nil {
		return err
	}
	if len(causes)+len(statements) == 0 {
		return usage(reason)
	}
	all := foundByWords{make([]found, len(causes)), append([]explain.Statement{}, statements...)}
	for i, c := range causes {
		all.Refusals[i] = found{c, append([]string{}, scenarios.LibraryWith(c.Code)...)}
	}
	return printing(cmd).show(all, func(s *terminal.Screen) error {
		showRefusals(s, all.Refusals)
		showStatements(s, all.Statements)
		return nil
	})
}

func showRefusals(s *terminal.Screen, all []found) {
	brief, printed := len(all) > mostFound, make(map[string]bool)
	for _, f := range all {
		line := fmt.Sprintf("%s  %d %s\n", terminal.Title.Render(f.Code), f.Status, f.Message)
		if brief && printed[line] {
			continue // of another action
		}
		printed[line] = true
		s.Printf("%s", s.Fit(line, 2))
		if brief {
			continue
		}
		if f.About != "" {
			s.Printf("%s", s.Fit(causeText(&f.Cause, " ("+f.Action+")"), labelWidth))
		}
		if len(f.Scenarios) > 0 {
			s.Printf("%s", s.Fit(labelled("scenario", strings.Join(f.Scenarios, ", ")), labelWidth))
		}
	}
	if len(all) > 0 {
		s.Printf("%s", labelled("more", "clbemu explain CODE"))
	}
}

// showStatements shows what documents say, and what plays it.
func showStatements(s *terminal.Screen, all []explain.Statement) {
	for i := range all {
		said := &all[i]
		s.Printf("%s", s.Fit(said.Says+"\n", 2))
		s.Printf("%s", s.Fit(labelled("played by", said.By.String()), labelWidth))
		if len(all) > mostFound {
			continue
		}
		if said.Note != "" {
			s.Printf("%s", s.Fit(labelled("note", said.Note), labelWidth))
		}
		s.Printf("%s", s.Fit(labelled("said in", strings.Join(said.In, ", ")), labelWidth))
	}
}

// wholeCodes are the codes that a person can type: without those that have a place for
// the name of a parameter.
func wholeCodes() []string {
	return slices.DeleteFunc(knownNames().AllCodes(), func(code string) bool { return strings.Contains(code, "%") })
}

// knownNames returns the names of the emulated cloud.
func knownNames() *names.Names { return emulator.Names() }

// labelWidth is the column in which the text behind a label starts.
const labelWidth = 12

func labelled(label, text string) string { return fmt.Sprintf("  %-10s%s\n", label, text) }

// explainedText is an explanation for people.
func explainedText(e *controlapi.Explanation) string {
	var b strings.Builder
	b.WriteString(terminal.Title.Render(e.Name) + "\n")
	if e.Action != nil {
		b.WriteString(actionText(e.Action))
	}
	for i := range e.Answers {
		a := &e.Answers[i]
		what := fmt.Sprintf("%d %s: %s", a.Status, a.Code, a.Message)
		if e.Action == nil {
			what += " (" + cmp.Or(few(a.Actions), "any action") + ", " + a.Product + ")"
		}
		if a.Evidence != "" && e.Action != nil {
			what += " (" + a.Evidence + ")"
		}
		b.WriteString(labelled("answer", what))
	}
	if len(e.Answers) == 0 && e.Action == nil {
		b.WriteString(labelled("answer", "from the gateway, for any action"))
	}
	for _, c := range e.Causes {
		b.WriteString(causeText(&c, afterCause(&c, e.Action != nil)))
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
	return b.String()
}

// few are the first of many actions.
func few(actions []string) string {
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

func causeText(c *controlapi.Cause, after string) string {
	return labelled("because", c.About+after) + labelled("  begin", c.Begin) + labelled("  end", c.End)
}

// hint explains an error of a call: the causes that its action has for the code, or
// that every action has.
func hint(code string, action names.Action) string {
	e, err := explain.Name(knownNames(), code)
	if err != nil {
		return ""
	}
	answers := func(of []string) bool { return of == nil || slices.Contains(of, action.Name) }
	var b strings.Builder
	causes := slices.DeleteFunc(e.Causes, func(c controlapi.Cause) bool {
		own := c.Product == action.Product && c.Action == action.Name
		return !own && !slices.ContainsFunc(e.Answers, func(a controlapi.ExplainedAnswer) bool { return a.Actions == nil && a.Message == c.Message })
	})
	for _, c := range causes[:min(len(causes), mostCauses)] {
		b.WriteString(causeText(&c, ""))
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

// mostCauses is the most causes that hint shows.
const mostCauses = 3
