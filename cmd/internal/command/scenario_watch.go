package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/scenarios"
)

func newScenarioWatch() *cobra.Command {
	r := &scenarioRun{part: scenarios.ProgramPart}
	cmd := &cobra.Command{
		Use:   "watch [FILE|DIR|NAME...] [-- COMMAND [ARGUMENT...]]",
		Short: "Test your program with scenarios",
		Long: `Test your program with the program parts of scenarios: by default, of all scenarios
of the library that have one. For each, clbemu starts the command in the environment
that clbemu env prints, makes the cloud fail as the scenario says, and judges the
program by its calls. The program should exit by itself with status 0; clbemu judges
one that keeps running, such as a controller, after --for, and then stops it. A part is
not applicable to a program that never makes the call which the part is about.

Without a command, each program part runs the command that stands in it.

Time is real here. Give --tls for programs that need HTTPS, such as Terraform.

Exit codes: 0 all passed or not applicable, 1 one failed, 2 one could not run.`,
		Example: `  clbemu scenario watch reply-lost-after-create -- go test ./...
  clbemu scenario watch arrears --restarts 3 --tls -- terraform apply -auto-approve
  clbemu scenario watch --fail-fast --for 2m -- ./my-controller`,
		ValidArgsFunction: completeScenario,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.leaveUsed(cmd)
			return r.watch(cmd, args)
		},
	}
	r.define(cmd.Flags())
	addSet(cmd, &r.set)
	return cmd
}

func (r *scenarioRun) watch(cmd *cobra.Command, args []string) error {
	dash := cmd.ArgsLenAtDash()
	if dash < 0 && len(args) > 0 { // the command of each file
		dash = len(args)
	} else if dash < 0 || dash == len(args) {
		return usage(errors.New("give the command after --, as in clbemu scenario watch arrears -- make test"))
	}
	if r.reset && r.server == "" {
		return usage(errors.New("--reset needs --server: a private emulator is new each time"))
	}
	names := args[:dash]
	r.program = args[dash:]
	own := len(r.program) == 0
	loaded, err := loadChecked(names, r.set, r.names())
	if err != nil {
		if coded := (*exitError)(nil); errors.As(err, &coded) {
			err = coded.err
		}
		return notPlayed(err)
	}
	var with []*scenarios.Scenario
	var without []string
	for _, s := range loaded {
		if own && s.Program != nil && len(s.Program.Command) == 0 {
			return usage(fmt.Errorf("the program part of %s has no command: give the command after --, as in clbemu scenario watch %s -- make test", s.Name, s.Name))
		}
		if s.Program == nil {
			without = append(without, s.Name)
		} else {
			with = append(with, s)
		}
	}
	if len(names) > 0 && len(without) > 0 {
		return usage(fmt.Errorf("%s has no program part: %s", strings.Join(without, ", "), watchable()))
	}
	return r.playAndReport(cmd, with)
}

// watchable says which scenarios of the library judge a program.
func watchable() string {
	loaded, err := loadScenarios(nil, scenarios.Options{})
	if err != nil {
		return err.Error()
	}
	var names []string
	for _, s := range loaded {
		if s.Program != nil {
			names = append(names, s.Name)
		}
	}
	return "scenarios of the library that have one: " + strings.Join(names, ", ")
}
