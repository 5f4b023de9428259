package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/stage"
	"github.com/clbemu/clbemu/scenarios"
)

// scenarioRun is one run of the command: its flags and what came of it.
type scenarioRun struct {
	server, api, token string
	keyID, keySecret   string
	kubeconfig, junit  string
	reset              bool
	asJSON, keepGoing  bool
	half               string
	set                []string
	out                io.Writer
	colour             bool
	results            []scenarios.Result
}

func newScenarioRun() *cobra.Command {
	r := &scenarioRun{}
	cmd := &cobra.Command{
		Use:   "run [FILE|DIR|NAME...]",
		Short: "Play scenarios, the whole library if none is named",
		Long: `Play scenarios, the whole library if none is named. Each has a private emulator in
memory to itself, unless --server names a running one; there, conditions and faults
are put back when a half is over, and resources stay as the scenario leaves them;
--reset empties it before each half.

Exit codes: 0 all passed, 1 one failed, 2 one could not be played.`,
		Example: `  clbemu scenario run
  clbemu scenario run arrears my-scenarios/ --junit report.xml --keep-going
  clbemu scenario run my.yaml --server http://127.0.0.1:9601 --kubeconfig ~/.kube/config`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := configure(cmd); err != nil {
				return err
			}
			return r.run(cmd, args)
		},
	}
	r.define(cmd.Flags())
	addSet(cmd, &r.set)
	return cmd
}

func (r *scenarioRun) define(flags *pflag.FlagSet) {
	flags.StringVar(&r.server, "server", "", "control API of a running emulator (default: a private one for each scenario)")
	flags.StringVar(&r.api, "api", defaultServer, "cloud's API of the running emulator")
	flags.StringVar(&r.token, "control-token", "", "token of the control API")
	flags.BoolVar(&r.reset, "reset", false, "delete everything on the running emulator before each half, and plant its world again")
	flags.StringVar(&r.keyID, "access-key-id", apiclient.AccessKeyID, "access key of the scripted client")
	flags.StringVar(&r.keySecret, "access-key-secret", apiclient.AccessKeySecret, "its secret")
	flags.StringVar(&r.kubeconfig, "kubeconfig", "", "cluster for the kubernetes halves; kubectl must be on the PATH")
	flags.StringVar(&r.half, "half", "", "play this half alone: client or kubernetes")
	flags.StringVar(&r.junit, "junit", "", "file to write a JUnit report to")
	flags.BoolVar(&r.asJSON, "json", false, "print the results as JSON, and no progress")
	flags.BoolVar(&r.keepGoing, "keep-going", false, "go on with the next scenario after one that failed")
}

// notPlayed gives an error the exit code of a scenario that could not be played.
func notPlayed(err error) error { return usage(err) }

func (r *scenarioRun) run(cmd *cobra.Command, args []string) error {
	if r.kubeconfig != "" && r.server == "" {
		return usage(errors.New("--kubeconfig needs --server: a controller in a cluster can't reach a private emulator"))
	}
	if r.reset && r.server == "" {
		return usage(errors.New("--reset needs --server: a private emulator is new each time"))
	}
	if r.half != "" && r.half != scenarios.ClientHalf && r.half != scenarios.KubernetesHalf {
		return usage(fmt.Errorf("--half %s is neither %s nor %s", r.half, scenarios.ClientHalf, scenarios.KubernetesHalf))
	}
	loaded, err := loadChecked(cmd, args, r.set)
	if err != nil {
		if coded := (*exitError)(nil); errors.As(err, &coded) {
			err = coded.err
		}
		return notPlayed(err)
	}
	r.out, r.colour = cmd.OutOrStdout(), isTerminal(cmd.OutOrStdout()) && os.Getenv("NO_COLOR") == ""
	r.playAll(cmd.Context(), loaded)
	if err := r.report(); err != nil {
		return notPlayed(err)
	}
	return r.verdict(len(loaded))
}

// playAll plays scenarios until one fails, or all of them.
func (r *scenarioRun) playAll(ctx context.Context, loaded []*scenarios.Scenario) {
	for _, s := range loaded {
		for _, half := range halvesOf(s) {
			if r.half != "" && r.half != half {
				continue
			}
			result := r.play(ctx, s, half)
			r.results = append(r.results, result)
			r.show(result)
			bad := result.Status == scenarios.Failed || result.Status == scenarios.Broken
			if bad && !r.keepGoing || ctx.Err() != nil {
				return
			}
		}
	}
}

// play plays a half on a stage of its own.
func (r *scenarioRun) play(ctx context.Context, s *scenarios.Scenario, half string) scenarios.Result {
	on := scenarios.Stage{Progress: r.progress}
	if half == scenarios.KubernetesHalf {
		if r.kubeconfig == "" {
			return scenarios.Result{Scenario: s.Name, File: s.File, Half: half, Status: scenarios.Skipped,
				Reason: "there is no cluster: name one by --kubeconfig"}
		}
		on.Cluster = stage.Kubectl{Kubeconfig: r.kubeconfig}
	}
	target, end, err := r.target(ctx)
	if err != nil {
		return scenarios.Result{Scenario: s.Name, File: s.File, Half: half, Status: scenarios.Broken,
			Failure: &scenarios.Failure{File: s.File, Line: 1, Step: half, Reason: err.Error()}}
	}
	on.Target = target
	r.say("%s, %s: %s\n", s.Name, half, s.About)
	result := scenarios.Play(ctx, s, half, on)
	if err := end(context.WithoutCancel(ctx)); err != nil {
		result.Notes = append(result.Notes, err.Error())
		if result.Status == scenarios.Passed {
			result.Status = scenarios.Broken
			result.Failure = &scenarios.Failure{File: s.File, Line: 1, Step: "end of " + half, Reason: err.Error()}
		}
	}
	return result
}

// target is a private emulator or a running one, with what ends its use.
func (r *scenarioRun) target(ctx context.Context) (scenarios.Target, func(context.Context) error, error) {
	if r.server == "" {
		local, err := stage.NewLocal(ctx)
		if err != nil {
			return nil, nil, err
		}
		return local, local.Close, nil
	}
	remote := &stage.Remote{API: r.api, Control: r.server, Token: r.token, AccessKeyID: r.keyID, AccessKeySecret: r.keySecret}
	if r.reset {
		if err := remote.Reset(ctx); err != nil {
			return nil, nil, err
		}
	}
	return remote, remote.Close, nil
}

// say prints progress, which is not for who reads JSON.
func (r *scenarioRun) say(format string, args ...any) {
	if !r.asJSON {
		fmt.Fprintf(r.out, format, args...)
	}
}

// The colours of a terminal.
const (
	green  = "\x1b[32m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	plain  = "\x1b[0m"
)

func (r *scenarioRun) coloured(colour, text string) string {
	if !r.colour {
		return text
	}
	return colour + text + plain
}

func (r *scenarioRun) progress(step scenarios.StepDone) {
	mark := r.coloured(green, "ok    ")
	if !step.Passed {
		mark = r.coloured(red, "failed")
	}
	r.say("  %s %4d  %s\n", mark, step.Line, step.Title)
}

var colourOf = map[scenarios.Status]string{
	scenarios.Passed: green, scenarios.Failed: red, scenarios.Broken: red, scenarios.Skipped: yellow,
}

// show tells how a half ended.
func (r *scenarioRun) show(result scenarios.Result) {
	status := r.coloured(colourOf[result.Status], string(result.Status))
	switch {
	case result.Failure != nil:
		r.say("%s: %s, %s\n%s", status, result.Scenario, result.Half, result.Failure)
	case result.Reason != "":
		r.say("%s: %s, %s (%s)\n", status, result.Scenario, result.Half, result.Reason)
	default:
		r.say("%s: %s, %s\n", status, result.Scenario, result.Half)
	}
	for _, note := range result.Notes {
		r.say("  note: %s\n", note)
	}
}

// report writes the results where they are wanted.
func (r *scenarioRun) report() error {
	if r.junit != "" {
		if err := writeJUnit(r.junit, r.results); err != nil {
			return err
		}
	}
	if r.asJSON {
		return scenarios.WriteJSON(r.out, r.results)
	}
	count := scenarios.Summary(r.results)
	r.say("%d passed, %d failed, %d could not be played, %d skipped\n",
		count[scenarios.Passed], count[scenarios.Failed], count[scenarios.Broken], count[scenarios.Skipped])
	return nil
}

func writeJUnit(name string, results []scenarios.Result) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(scenarios.WriteJUnit(f, results), f.Close())
}

// verdict is the exit code of the run.
func (r *scenarioRun) verdict(loaded int) error {
	count := scenarios.Summary(r.results)
	switch {
	case count[scenarios.Broken] > 0:
		return notPlayed(fmt.Errorf("%d of %d halves could not be played", count[scenarios.Broken], len(r.results)))
	case count[scenarios.Failed] > 0:
		return failed(fmt.Errorf("%d of %d halves failed", count[scenarios.Failed], len(r.results)))
	case count[scenarios.Passed] == 0:
		return notPlayed(fmt.Errorf("nothing was played of %d scenarios", loaded))
	}
	return nil
}
