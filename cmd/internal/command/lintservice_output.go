package command

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator/annotations"
	"github.com/clbemu/clbemu/emulator/target"
)

// The forms of findings, in addition to those of all commands.
const (
	formSARIF  = "sarif"
	formGitHub = "github"
)

// lintedText is a text to check, with its file, which is empty for a cluster.
type lintedText struct {
	file string
	text []byte
}

// reused collects the Services of all texts, with their places.
type reused struct {
	services []*annotations.Service
	places   []serviceProblem
}

// texts reads the files, those of folders, and the cluster.
func (f *serviceLint) texts(cmd *cobra.Command, files []string) (texts []lintedText, err error) {
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			inside, err := manifestsIn(file)
			if err != nil {
				return nil, cannot(err)
			}
			texts = append(texts, inside...)
			continue
		}
		text, err := readFile(cmd, file)
		if err != nil {
			return nil, err
		}
		texts = append(texts, lintedText{file, text})
	}
	if f.kubeconfig != "" {
		text, err := target.Kubectl{Kubeconfig: f.kubeconfig}.Kubectl(cmd.Context(), "", "get", "services", "--all-namespaces", "--output", "json")
		if err != nil {
			return nil, cannot(err)
		}
		texts = append(texts, lintedText{"", text})
	}
	return texts, nil
}

// manifestsIn reads the files in YAML and JSON of a folder and its folders. Of those with
// templates of Helm it reads none: a chart is rendered first.
func manifestsIn(folder string) (texts []lintedText, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != folder && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case !entry.Type().IsRegular() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)):
			return nil
		}
		text, err := readPath(path)
		if err == nil && strings.Contains(string(text), "kind: Service") && strings.Contains(string(text), "{{") {
			return fmt.Errorf("%s is a template of Helm: helm template . | clbemu lint-service -", path)
		}
		if err == nil && (strings.Contains(string(text), "Service") || mentionsCCM(string(text))) {
			texts = append(texts, lintedText{path, text})
		}
		return err
	})
	return texts, err
}

// checkAll checks the Services of all texts, and those that reuse a load balancer together.
func (f *serviceLint) checkAll(texts []lintedText) (found []serviceProblem, services int, err error) {
	found = []serviceProblem{}
	var shared reused
	for _, t := range texts {
		n, problems, err := f.checkText(t.file, t.text, &shared)
		if err != nil {
			return nil, 0, err
		}
		services, found = services+n, append(found, problems...)
	}
	for i, s := range shared.services {
		for _, p := range s.Shares(shared.services[:i]) {
			place := shared.places[i]
			place.Service, place.Problem = s.Namespace+"/"+s.Name, p
			found = append(found, place)
		}
	}
	return found, services, nil
}

// print shows the findings in the format that the flags ask for.
func (f *serviceLint) print(cmd *cobra.Command, found []serviceProblem, services int) error {
	switch printing(cmd).form {
	case formSARIF:
		return cannot(encode(cmd.OutOrStdout(), sarif(found), "  "))
	case formGitHub:
		for i := range found {
			fmt.Fprintln(cmd.OutOrStdout(), githubLine(&found[i]))
		}
		return nil
	}
	return printing(cmd).show(list("problems", found), func(s *terminal.Screen) error {
		printServiceProblems(s, found, services)
		return nil
	})
}

// level is how bad a problem is, in the words of SARIF.
func (p *serviceProblem) level() string {
	switch {
	case p.Breaks:
		return "error"
	case p.Note:
		return "note"
	}
	return "warning"
}

// sentence is a problem with its advice.
func (p *serviceProblem) sentence() string {
	text := p.Service + ": " + p.Key + ": " + p.Text
	if p.Advice != "" {
		text += ": " + p.Advice
	}
	return printable(text)
}

// githubLine is a problem as a workflow command of GitHub.
func githubLine(p *serviceProblem) string {
	escape := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	level, place := p.level(), ""
	if level == "note" {
		level = "notice"
	}
	if p.File != "" {
		place = fmt.Sprintf(" file=%s,line=%d", property.Replace(p.File), max(p.Line, 1))
	}
	return "::" + level + place + "::" + escape.Replace(p.sentence())
}

// sarif is the findings in SARIF 2.1.0, with a rule for each annotation or field.
func sarif(found []serviceProblem) any {
	type object = map[string]any
	rules, results := []object{}, []object{}
	seen := make(map[string]bool)
	for i := range found {
		p := &found[i]
		rule := p.Key[strings.LastIndex(p.Key, "/")+1:]
		if !seen[rule] {
			seen[rule] = true
			rules = append(rules, object{"id": rule})
		}
		result := object{"ruleId": rule, "level": p.level(), "message": object{"text": p.sentence()}}
		if p.File != "" {
			result["locations"] = []object{{"physicalLocation": object{"artifactLocation": object{"uri": filepath.ToSlash(p.File)}, "region": object{"startLine": max(p.Line, 1)}}}}
		}
		results = append(results, result)
	}
	return object{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{"tool": object{"driver": object{"name": "clbemu lint-service", "rules": rules}}, "results": results}}}
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
	old, services, err := before.checkAll(texts)
	if err != nil {
		return cannot(err)
	}
	fresh, _, err := after.checkAll(texts)
	if err != nil {
		return cannot(err)
	}
	changes := changed(old, fresh)
	if err := printing(cmd).show(list("changes", changes), func(s *terminal.Screen) error {
		for i := range changes {
			fmt.Fprintf(s, "%s: %s\n", changes[i].Change, changes[i].sentence())
		}
		if len(changes) == 0 {
			fmt.Fprintf(s, "%s, the upgrade from %s to %s changes nothing that is known\n", counted(services, "Service"), f.from, f.to)
		}
		return nil
	}); err != nil {
		return err
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

func printServiceProblems(s *terminal.Screen, found []serviceProblem, services int) {
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
	if len(found) == 0 {
		fmt.Fprintf(s, "%s, nothing is wrong\n", counted(services, "Service"))
	}
}
