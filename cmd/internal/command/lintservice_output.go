package command

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator/annotations"
)

// The forms of findings, in addition to those of all commands.
const (
	formSARIF  = "sarif"
	formGitHub = "github"
)

// reused collects the Services of all texts, with their places.
type reused struct {
	services []*annotations.Service
	places   []serviceProblem
}

// print shows the findings in the format that the flags ask for.
func (f *serviceLint) print(cmd *cobra.Command, found []serviceProblem, services int, unread []error) error {
	switch printing(cmd).form {
	case formSARIF:
		return cannot(encode(cmd.OutOrStdout(), sarif(found, unread), "  "))
	case formGitHub:
		for i := range found {
			p := &found[i]
			fmt.Fprintln(cmd.OutOrStdout(), githubLine(p.level(), p.File, p.Line, p.sentence()))
		}
		for _, err := range unread {
			file, line, text := whereUnread(err)
			fmt.Fprintln(cmd.OutOrStdout(), githubLine("error", file, line, printable(text)))
		}
		return nil
	}
	return printing(cmd).show(list("problems", found), func(s *terminal.Screen) error {
		printServiceProblems(s, found)
		if len(found) == 0 && unread == nil {
			fmt.Fprintf(s, "%s, nothing is wrong\n", counted(services, "Service"))
		}
		return nil
	})
}

// level returns the severity of a problem, in the words of SARIF.
func (p *serviceProblem) level() string {
	switch {
	case p.Breaks:
		return "error"
	case p.Note:
		return "note"
	}
	return "warning"
}

// sentence returns a problem with its advice.
func (p *serviceProblem) sentence() string {
	text := p.Service + ": " + p.Key + ": " + p.Text
	if p.Advice != "" {
		text += ": " + p.Advice
	}
	return printable(text)
}

// githubLine returns a workflow command of GitHub, which annotates a line of a file.
func githubLine(level, file string, line int, text string) string {
	escape := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	place := ""
	if level == "note" {
		level = "notice"
	}
	if file != "" {
		place = fmt.Sprintf(" file=%s,line=%d", property.Replace(file), max(line, 1))
	}
	return "::" + level + place + "::" + escape.Replace(text)
}

// sarif returns the findings in SARIF 2.1.0, with a rule for each annotation or field, and what
// could not be checked as notifications.
func sarif(found []serviceProblem, unread []error) any {
	type object = map[string]any
	location := func(file string, line int) []object {
		return []object{{"physicalLocation": object{"artifactLocation": object{"uri": filepath.ToSlash(file)}, "region": object{"startLine": max(line, 1)}}}}
	}
	rules, results, notes := []object{}, []object{}, []object{}
	seen := make(map[string]bool)
	for i := range found {
		p := &found[i]
		rule := printable(p.Key[strings.LastIndex(p.Key, "/")+1:])
		if !seen[rule] {
			seen[rule] = true
			rules = append(rules, object{"id": rule})
		}
		result := object{"ruleId": rule, "level": p.level(), "message": object{"text": p.sentence()}}
		if p.File != "" {
			result["locations"] = location(p.File, p.Line)
		}
		results = append(results, result)
	}
	for _, err := range unread {
		file, line, text := whereUnread(err)
		note := object{"level": "error", "message": object{"text": printable(text)}}
		if file != "" {
			note["locations"] = location(file, line)
		}
		notes = append(notes, note)
	}
	return object{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{"tool": object{"driver": object{"name": "clbemu lint-service", "rules": rules}}, "results": results,
			"invocations": []object{{"executionSuccessful": unread == nil, "toolExecutionNotifications": notes}}}}}
}

// upgradeChange is something that an upgrade of the CCM changes for a Service.
type upgradeChange struct {
	// Change is begins, stops, breaks, mends or notes.
	Change string `json:"change"`
	serviceProblem
}

// upgrade says what an upgrade changes for the Services: what is a problem with one version
// alone.
func (f *serviceLint) upgrade(cmd *cobra.Command, texts []lintedText) error {
	if form := printing(cmd).form; form == formSARIF || form == formGitHub {
		return usage(fmt.Errorf("--output %s shows problems, not what an upgrade changes: leave it out", form))
	}
	before, after := *f, *f
	before.version, after.version = f.from, f.to
	old, services, unread := before.checkAll(cmd.Context(), texts)
	fresh, _, _ := after.checkAll(cmd.Context(), texts)
	if err := cmd.Context().Err(); err != nil {
		return cannot(err)
	}
	changes := changed(old, fresh)
	if err := printing(cmd).show(list("changes", changes), func(s *terminal.Screen) error {
		for i := range changes {
			fmt.Fprintf(s, "%s: %s\n", changes[i].Change, changes[i].sentence())
		}
		if len(changes) == 0 && unread == nil {
			fmt.Fprintf(s, "%s, the upgrade from %s to %s changes nothing that is known\n", counted(services, "Service"), f.from, f.to)
		}
		return nil
	}); err != nil {
		return err
	}
	if unread != nil {
		return cannot(errors.Join(unread...))
	}
	if n := len(slices.DeleteFunc(slices.Clone(changes), func(c upgradeChange) bool { return c.Change != "breaks" && c.Change != "stops" })); n > 0 {
		return failed(fmt.Errorf("%s would break or stop", counted(n, "setting")))
	}
	return nil
}

// changed compares the problems of two versions.
func changed(old, fresh []serviceProblem) (changes []upgradeChange) {
	same := func(list []serviceProblem, p *serviceProblem) bool {
		return slices.ContainsFunc(list, func(o serviceProblem) bool {
			return o.Service == p.Service && o.Key == p.Key && o.Note == p.Note && o.Breaks == p.Breaks
		})
	}
	for i := range fresh {
		if p := &fresh[i]; !same(old, p) {
			changes = append(changes, upgradeChange{map[string]string{"error": "breaks", "warning": "stops", "note": "notes"}[p.level()], *p})
		}
	}
	for i := range old {
		if p := &old[i]; !same(fresh, p) && !p.Note {
			begun := *p
			begun.Text, begun.Advice = "it takes effect with the new version; before, "+p.Text, ""
			changes = append(changes, upgradeChange{map[bool]string{true: "mends", false: "begins"}[p.Breaks], begun})
		}
	}
	slices.SortStableFunc(changes, func(a, b upgradeChange) int { return cmp.Compare(a.Service, b.Service) })
	return changes
}

func printServiceProblems(s *terminal.Screen, found []serviceProblem) {
	for i := range found {
		p := &found[i]
		if p.File != "" {
			fmt.Fprintf(s, "%s:%d: ", printable(p.File), p.Line)
		}
		fmt.Fprintf(s, "%s: %s: ", printable(p.Service), printable(p.Key))
		if p.Note {
			fmt.Fprint(s, "note: ")
		}
		fmt.Fprint(s, printable(p.Text))
		if p.Advice != "" {
			fmt.Fprintf(s, ": %s", printable(p.Advice))
		}
		fmt.Fprintln(s)
	}
}
