package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/explain"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/scenarios"
)

func newScenario() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "scenario",
		Short: "Run tests of cloud failures, written in YAML",
		Long: `Run tests of cloud failures, written in YAML: a given state, steps, and the expected
outcome. Name a scenario by its file, its folder (for all files in it), or its name
in the library that comes with clbemu.

The client part of a scenario is a scripted client, or runs your programs, against a
private emulator in memory or a running one. The kubernetes part watches a controller
in a cluster whose cloud is a running emulator; it is skipped without a cluster. The
program part judges a program that clbemu scenario watch runs.`,
		Args: noArgs,
		RunE: help,
	}
	cmd.AddCommand(newScenarioRun(), newScenarioWatch(), newScenarioList(), newScenarioLint(), newScenarioShow(), newScenarioSchema())
	return cmd
}

func newScenarioList() *cobra.Command {
	return &cobra.Command{
		Use:   "list [WORD...]",
		Short: "List the scenarios of the library, or the ones that words find",
		Long: `List the scenarios of the library, or the ones that words find, in English or Chinese: in
their text, or in what they play, as clbemu explain finds it. An Event or another error
finds the scenarios that play it.`,
		Example: `  clbemu scenario list
  clbemu scenario list vswitch
  clbemu scenario list evict master`,
		RunE: func(cmd *cobra.Command, words []string) error {
			names, err := scenariosWith(words)
			if err != nil {
				return err
			}
			if len(names) == 0 {
				return usage(fmt.Errorf("no scenario of the library contains %s: list all with clbemu scenario list", strings.Join(words, " and ")))
			}
			loaded, err := loadScenarios(names, scenarios.Options{})
			if err != nil {
				return cannot(err)
			}
			all := make([]controlapi.LibraryScenario, len(loaded))
			for i, s := range loaded {
				all[i] = controlapi.LibraryScenario{Name: s.Name, Parts: s.PartNames(), About: s.About}
			}
			return printing(cmd).show(list("scenarios", all), func(s *terminal.Screen) error {
				var rows [][]string
				for _, l := range all {
					rows = append(rows, []string{l.Name, strings.Join(l.Parts, ", "), l.About})
				}
				return s.Table([]string{"SCENARIO", "PARTS", "ABOUT"}, rows)
			})
		},
	}
}

// scenariosWith lists the scenarios that words find, or all.
func scenariosWith(words []string) ([]string, error) {
	if len(words) == 0 {
		return scenarios.LibraryNames(), nil
	}
	index, err := explain.NewIndex(knownNames())
	if err != nil {
		return nil, err
	}
	return index.Scenarios(strings.Join(words, " ")), nil
}

func newScenarioLint() *cobra.Command {
	var set []string
	var file string
	cmd := &cobra.Command{
		Use:   "lint [FILE|DIR|NAME...]",
		Short: "Report all errors in scenarios, without running them",
		Example: `  clbemu scenario lint my.yaml
  clbemu scenario lint`,
		ValidArgsFunction: completeScenario,
		RunE: func(cmd *cobra.Command, args []string) error {
			known, err := namesIn(file)
			if err != nil {
				return err
			}
			loaded, err := loadChecked(args, set, known)
			if err != nil {
				return err
			}
			warnings := 0
			for _, s := range loaded {
				for _, w := range s.Warnings() {
					warnings++
					fmt.Fprintln(cmd.ErrOrStderr(), "warning:", w)
				}
			}
			if warnings > 0 {
				return printChange(cmd, "%s, no errors, %s", counted(len(loaded), "scenario"), counted(warnings, "warning"))
			}
			return printChange(cmd, "%s, nothing is wrong", counted(len(loaded), "scenario"))
		},
	}
	addSet(cmd, &set)
	cmd.Flags().StringVar(&file, "world", "", "FILE: the world in which the scenarios run (default: the one with which clbemu starts)")
	return cmd
}

// namesIn returns the names of the emulated cloud, with the ids of a world file, or of the
// default world if there is none.
func namesIn(file string) (*names.Names, error) {
	if file == "" {
		return emulator.NamesIn(world.Default()), nil
	}
	w, err := world.Load(file)
	if err != nil {
		return nil, usage(err)
	}
	return emulator.NamesIn(w), nil
}

func addSet(cmd *cobra.Command, set *[]string) {
	cmd.Flags().StringArrayVar(set, "set", nil, "NAME=VALUE: override a value of the scenario")
}

func newScenarioShow() *cobra.Command {
	return &cobra.Command{
		Use:               "show NAME",
		Short:             "Print a scenario of the library",
		Example:           "  clbemu scenario show arrears > my.yaml",
		Args:              one("the name"),
		ValidArgsFunction: completeScenario,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, ok := scenarios.LibraryText(args[0])
			if !ok {
				return usage(unknownScenario(args[0]))
			}
			return printYAML(cmd, text)
		},
	}
}

func newScenarioSchema() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of scenario files, for editors",
		Example: "  clbemu scenario schema > scenario.schema.json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p := printing(cmd)
			return p.show(json.RawMessage(scenarios.Schema), func(*terminal.Screen) error {
				_, err := p.out.Write(scenarios.Schema)
				return err
			})
		},
	}
}

// loadChecked reads scenarios and checks them against the emulated cloud. Problems are
// a failed check.
func loadChecked(args, set []string, known *names.Names) (loaded []*scenarios.Scenario, err error) {
	values, err := parseSet(set)
	if err != nil {
		return nil, err
	}
	if loaded, err = loadScenarios(args, scenarios.Options{Set: values, Names: target.NewNames(known)}); err != nil {
		return nil, err
	}
	return loaded, unusedSet(values, loaded)
}

func parseSet(set []string) (map[string]string, error) {
	values := make(map[string]string, len(set))
	for _, s := range set {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return nil, usage(fmt.Errorf("--set is NAME=VALUE, not %q", s))
		}
		values[name] = value
	}
	return values, nil
}

// unusedSet refuses a value that no scenario has.
func unusedSet(values map[string]string, loaded []*scenarios.Scenario) error {
	var known []string
	for _, s := range loaded {
		known = slices.AppendSeq(known, maps.Keys(s.Values))
	}
	slices.Sort(known)
	for name := range values {
		if len(known) == 0 {
			return usage(fmt.Errorf("--set %s: no scenario has a value of that name: there are none", name))
		}
		if !slices.Contains(known, name) {
			return usage(fmt.Errorf("--set %s: no scenario has a value of that name%s", name, names.DidYouMean(name, known, "there are "+strings.Join(slices.Compact(known), ", "))))
		}
	}
	return nil
}

// loadScenarios reads the scenarios that the arguments name, the whole library if they
// name none. It reports all problems of all of them.
func loadScenarios(args []string, o scenarios.Options) (loaded []*scenarios.Scenario, err error) {
	if len(args) == 0 {
		args = scenarios.LibraryNames()
	}
	var problems scenarios.Problems
	for _, arg := range args {
		files, err := scenarioFiles(arg)
		if err != nil {
			return nil, usage(err)
		}
		for _, file := range files {
			s, err := scenarios.Load(file.name, file.text, o)
			if found := (scenarios.Problems)(nil); errors.As(err, &found) {
				problems = append(problems, found...)
			}
			loaded = append(loaded, s)
		}
	}
	if len(problems) > 0 {
		return nil, failed(problems)
	}
	return loaded, nil
}

// scenarioFile is a file before it is understood.
type scenarioFile struct {
	name string
	text []byte
}

// scenarioFiles reads what one argument names.
func scenarioFiles(arg string) ([]scenarioFile, error) {
	info, err := os.Stat(arg)
	if errors.Is(err, fs.ErrNotExist) {
		text, ok := scenarios.LibraryText(arg)
		if !ok {
			return nil, unknownScenario(arg)
		}
		return []scenarioFile{{arg + ".yaml", text}}, nil
	}
	if err != nil {
		return nil, err
	}
	names := []string{arg}
	if info.IsDir() {
		if names, err = yamlFiles(arg); err != nil {
			return nil, err
		}
	}
	var files []scenarioFile
	for _, name := range names {
		text, err := readPath(name)
		if err != nil {
			return nil, err
		}
		files = append(files, scenarioFile{name, text})
	}
	return files, nil
}

func yamlFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); !e.IsDir() && (ext == ".yaml" || ext == ".yml") {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	if names == nil {
		return nil, fmt.Errorf("there is no YAML file in %s", dir)
	}
	return names, nil
}

func unknownScenario(name string) error {
	return fmt.Errorf("there is no file and no scenario %s%s", name, names.DidYouMean(name, scenarios.LibraryNames(), "clbemu scenario list shows the library"))
}
