package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/clbemu/clbemu/cmd/internal/exploring"
	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/emulator/target/private"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/scenarios"
)

// scenarioRun is one run of the command: its flags and what came of it.
type scenarioRun struct {
	clientFlags
	kubeconfig, junit  string
	reset, faults, tls bool
	failFast           bool
	printer            *printer
	part               string
	set                []string
	program            []string
	judgeAfter         time.Duration
	restarts           int
	screen             *terminal.Screen
	wait               *waitLine
	results            []scenarios.Result
}

// names returns the names that check scenarios. Only the world of a private
// emulator counts.
func (r *scenarioRun) names() *names.Names {
	if r.server != "" {
		return emulator.Names()
	}
	return emulator.NamesIn(world.Default())
}

func newScenarioRun() *cobra.Command {
	r := &scenarioRun{}
	cmd := &cobra.Command{
		Use:   "run [FILE|DIR|NAME...]",
		Short: "Run scenarios: the whole library by default",
		Long: `Run scenarios: the whole library by default. Each one gets its own emulator in memory,
unless --server names a running one (CLBEMU_SERVER does not count). On a running emulator, clbemu restores conditions
and fault rules after each part, and leaves resources as they are. --reset empties the
emulator before each part (fault rules stay unless --faults is given), and imports the
cluster's nodes as instances again.

Exit codes: 0 all passed or not applicable, 1 one failed, 2 one could not run.`,
		Example: `  clbemu scenario run
  clbemu scenario run arrears my-scenarios/ --junit report.xml
  clbemu scenario run my.yaml --server http://127.0.0.1:9601 --kubeconfig ~/.kube/config`,
		ValidArgsFunction: completeScenario,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() >= 0 {
				return errors.New("it runs no program: use clbemu scenario watch NAME -- COMMAND")
			}
			r.leaveUsed(cmd)
			return r.run(cmd, args)
		},
	}
	r.define(cmd.Flags())
	cmd.Flags().StringVar(&r.kubeconfig, "kubeconfig", "", "cluster for the kubernetes parts; kubectl must be on the PATH")
	partFlag(cmd.Flags(), &r.part, "run only this part: client, kubernetes or program")
	addSet(cmd, &r.set)
	return cmd
}

func (r *scenarioRun) define(flags *pflag.FlagSet) {
	r.clientFlags.define(flags)
	server := flags.Lookup("server")
	server.Usage, server.DefValue = "control API of a running emulator (default: a private one for each scenario)", ""
	r.server = ""
	flags.BoolVar(&r.reset, "reset", false, "before each part, delete everything but the fault rules on the running emulator and plant its world again")
	flags.BoolVar(&r.faults, "faults", false, "with --reset, delete the fault rules too")
	flags.BoolVar(&r.tls, "tls", false, "serve the API of a private emulator over HTTPS; programs trust it through SSL_CERT_FILE")
	flags.DurationVar(&r.judgeAfter, "for", 5*time.Minute, "how long the program of a program part may run before clbemu judges it")
	flags.IntVar(&r.restarts, "restarts", 0, "start the program of a program part again that ends with an error, as a unit or a Job would, so many times")
	flags.StringVar(&r.junit, "junit", "", "file to write a JUnit report to")
	flags.BoolVar(&r.failFast, "fail-fast", false, "stop after the first scenario that fails")
}

// leaveUsed leaves the emulator alone that clbemu env points commands at: scenarios change
// what they run on, so the user must name that one.
func (r *scenarioRun) leaveUsed(cmd *cobra.Command) {
	onlyTyped(cmd, "server", "cloud", "api", "access-key-id", "access-key-secret")
}

// notPlayed gives an error the exit code of a scenario that could not run.
func notPlayed(err error) error { return usage(err) }

func (r *scenarioRun) run(cmd *cobra.Command, args []string) error {
	if r.forked() != "" && r.server == "" {
		return usage(errors.New("--cloud needs --server: a private emulator has no clouds"))
	}
	if r.reset && r.server == "" {
		return usage(errors.New("--reset needs --server: a private emulator is new each time"))
	}
	if r.faults && !r.reset {
		return usage(errors.New("--faults needs --reset"))
	}
	if r.part != "" && !slices.Contains(scenarios.Parts, r.part) {
		return usage(fmt.Errorf("--part %s is none of %s", r.part, strings.Join(scenarios.Parts, ", ")))
	}
	loaded, err := loadChecked(args, r.set, r.names())
	if err != nil {
		if coded := (*exitError)(nil); errors.As(err, &coded) {
			err = coded.err
		}
		return notPlayed(err)
	}
	for _, s := range loaded {
		if r.kubeconfig != "" && r.server == "" && s.Kubernetes != nil && len(s.Kubernetes.Command) == 0 {
			return usage(errors.New("--kubeconfig needs --server: a controller in a cluster can't reach a private emulator"))
		}
	}
	return r.playAndReport(cmd, loaded)
}

func (r *scenarioRun) playAndReport(cmd *cobra.Command, loaded []*scenarios.Scenario) error {
	r.printer = printing(cmd)
	r.screen = r.printer.screen
	r.playAll(cmd.Context(), loaded)
	if err := r.report(); err != nil {
		return notPlayed(err)
	}
	return r.verdict(len(loaded))
}

// partFlag adds the flag --part, and the name that it had up to 0.1.0.
func partFlag(flags *pflag.FlagSet, part *string, usage string) {
	flags.StringVar(part, "part", "", usage)
	flags.StringVar(part, "half", "", usage)
	flags.Lookup("half").Hidden = true
}

// parts lists the parts of a scenario to play.
func (r *scenarioRun) parts(s *scenarios.Scenario) (names []string) {
	for _, part := range s.PartNames() {
		switch {
		case r.part == part, r.part == "" && (part != scenarios.ProgramPart || len(s.Program.Command) > 0):
			names = append(names, part)
		}
	}
	return names
}

// playAll plays scenarios until one fails, or all of them.
func (r *scenarioRun) playAll(ctx context.Context, loaded []*scenarios.Scenario) {
	for _, s := range loaded {
		for _, part := range r.parts(s) {
			result := r.play(ctx, s, part)
			r.results = append(r.results, result)
			r.show(result)
			bad := result.Status == scenarios.Failed || result.Status == scenarios.Broken
			if bad && r.failFast || ctx.Err() != nil {
				return
			}
		}
	}
}

// play plays a part on its own target.
func (r *scenarioRun) play(ctx context.Context, s *scenarios.Scenario, part string) scenarios.Result {
	on := scenarios.Setup{Progress: r.progress, Waiting: r.waiting, Program: scenarios.Program{Command: r.program}, For: r.judgeAfter, Restarts: r.restarts}
	if part == scenarios.KubernetesPart {
		if r.kubeconfig == "" {
			return scenarios.Result{Scenario: s.Name, File: s.File, Part: part, Status: scenarios.Skipped,
				Reason: "there is no cluster: name one with --kubeconfig"}
		}
		on.Cluster = target.Kubectl{Kubeconfig: r.kubeconfig}
	}
	if part == scenarios.ProgramPart && !r.printer.forPrograms() {
		on.Output = prefixed{r.screen}
	}
	on, end, err := r.target(ctx, on, s.RunsPrograms(part))
	if err != nil {
		return scenarios.Result{Scenario: s.Name, File: s.File, Part: part, Status: scenarios.Broken,
			Failure: &scenarios.Failure{File: s.File, Line: 1, Step: part, Reason: err.Error()}}
	}
	r.say("%s, %s: %s\n", s.Name, part, s.About)
	r.wait = newWaitLine(r.screen)
	before := r.beforeOf(ctx, on.Target)
	result := scenarios.Play(ctx, s, part, on)
	r.wait.clear()
	before.suggestReset(ctx, s, &result)
	if err := end(context.WithoutCancel(ctx)); err != nil {
		result.Notes = append(result.Notes, err.Error())
		if result.Status == scenarios.Passed {
			result.Status = scenarios.Broken
			result.Failure = &scenarios.Failure{File: s.File, Line: 1, Step: "end of " + part, Reason: err.Error()}
		}
	}
	return result
}

// target gives a setup a private emulator or a running one, with what ends its use.
func (r *scenarioRun) target(ctx context.Context, on scenarios.Setup, programs bool) (scenarios.Setup, func(context.Context) error, error) {
	if r.server == "" {
		if on.Cluster != nil {
			place, err := exploring.OnCluster(ctx, r.kubeconfig)
			if err != nil {
				return on, nil, err
			}
			on.Target, on.Programs, on.Program.Env = place, place, exploring.ClusterEnv(r.kubeconfig)
			return on, place.Close, nil
		}
		local, err := r.local(ctx, programs)
		if err != nil {
			return on, nil, err
		}
		local.AccessKeyID, local.AccessKeySecret = r.accessKeyID, r.accessKeySecret
		on.Target, on.Programs = local, local
		return on, local.Close, nil
	}
	api, over, err := r.cloudAPI(ctx)
	if err != nil {
		return on, nil, err
	}
	control, err := r.client()
	if err != nil {
		return on, nil, err
	}
	remote := &target.Remote{API: api.String(), Products: products.All(), HTTP: over, Control: control.URL, Token: r.token, AccessKeyID: r.keyID(), AccessKeySecret: r.accessKeySecret}
	if r.reset {
		if err := remote.Reset(ctx, r.faults); err != nil {
			return on, nil, err
		}
		if err := join(ctx, remote, on.Cluster); err != nil {
			return on, nil, err
		}
	}
	on.Target, on.Programs = remote, remote
	return on, remote.Close, nil
}

// join creates the instances of a cluster's nodes again, after a reset deleted them.
func join(ctx context.Context, remote *target.Remote, cluster scenarios.Cluster) error {
	if cluster == nil {
		return nil
	}
	nodes, err := cluster.Kubectl(ctx, "", "get", "nodes", "--output", "json")
	if err != nil {
		return err
	}
	return remote.ImportCluster(ctx, bytes.NewReader(nodes))
}

// local returns a private emulator.
func (r *scenarioRun) local(ctx context.Context, programs bool) (*private.Emulator, error) {
	if programs {
		return private.NewOpen(ctx, r.tls)
	}
	return private.New(ctx)
}

// verdict returns an error with the exit code of the run, or nil if all passed.
func (r *scenarioRun) verdict(loaded int) error {
	count := scenarios.Summary(r.results)
	switch {
	case count[scenarios.Broken] > 0:
		return notPlayed(fmt.Errorf("%s of %d could not run", counted(count[scenarios.Broken], "part"), len(r.results)))
	case count[scenarios.Failed] > 0:
		return failed(fmt.Errorf("%s of %d failed", counted(count[scenarios.Failed], "part"), len(r.results)))
	case count[scenarios.Passed]+count[scenarios.NotApplicable] == 0:
		return notPlayed(fmt.Errorf("nothing ran of %s", counted(loaded, "scenario")))
	}
	return nil
}
