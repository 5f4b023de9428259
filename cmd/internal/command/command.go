// Package command owns the command line of clbemu: flags, configuration, exit codes and
// signals. It must not know how clbemu emulates anything.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/state/engine"
)

const programName = "clbemu"

// Program is a program with all commands.
type Program struct {
	Name string
	// OpenEtcd opens the state that replicas share. It is nil in a program that does not
	// link etcd's client.
	OpenEtcd func(context.Context, Etcd) (engine.Elected, error)
}

// The exit codes.
const (
	exitOK = iota
	exitFailed
	exitUsage
	exitCannot
)

// exitCodes say what each means.
var exitCodes = [...]string{
	exitOK:     "success, also after SIGTERM and SIGINT",
	exitFailed: "a check found a problem, a change or a call was refused, or a wait timed out",
	exitUsage:  "wrong usage: an unknown flag, argument or name, a file that can't be read, or a scenario that could not run",
	exitCannot: "could not start, or could not do the work, for example because no emulator answers",
}

// exitCodesText lists them for help.
func exitCodesText() string {
	text := "Exit codes:"
	for code, means := range exitCodes {
		text += fmt.Sprintf("\n  %d  %s", code, means)
	}
	return text
}

// exitError is an error with the exit code that it leads to.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }

func (e *exitError) Unwrap() error { return e.err }

func failed(err error) error { return withCode(exitFailed, err) }

func usage(err error) error { return withCode(exitUsage, err) }

func cannot(err error) error { return withCode(exitCannot, err) }

// ofFile gives an error of a file that the command line names its exit code: wrong usage
// if the file is unreadable, a wrong file otherwise.
func ofFile(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return usage(err)
	}
	return failed(err)
}

// withCode gives an error its exit code, unless it has one.
func withCode(code int, err error) error {
	if coded := (*exitError)(nil); err == nil || errors.As(err, &coded) {
		return err
	}
	return &exitError{code, err}
}

// Main executes the command line of this process, and ends the process.
func (p Program) Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the next signal ends the process, whatever it does
	code := p.run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run executes one command line.
func (p Program) run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := p.newRoot()
	refuseUnknown(root)
	root.SetArgs(args)
	root.SetOut(terminal.Guarded(stdout))
	root.SetErr(terminal.Guarded(stderr))
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	text := err.Error()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		text = "interrupted"
	}
	screen := terminal.New(stderr)
	screen.Printf("%s", screen.Fit(fmt.Sprintf("%s: %s\n", p.Name, text), 0))
	if coded := (*exitError)(nil); errors.As(err, &coded) {
		return coded.code
	}
	return exitUsage // cobra's own errors are about the command line
}

func (p Program) newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   p.Name,
		Short: "A local emulator of Alibaba Cloud's Classic and Network Load Balancer API (CLB and NLB)",
		Long: `clbemu is a local server that behaves like the control plane of Alibaba Cloud's
Classic Load Balancer (CLB) and Network Load Balancer (NLB), so that an unmodified
Cloud Controller Manager, Terraform provider, SDK or CLI runs against it. Its load
balancers answer at ports of this machine, or at their own addresses.

` + exitCodesText(),
		Example: `  clbemu serve
  clbemu call DescribeLoadBalancers
  eval "$(clbemu env)"`,
		Args: noArgs,
		RunE: help,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkForm(cmd); err != nil {
				return err
			}
			return configure(cmd)
		},
		Version:       version().Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	outputFlags(root)
	explainUsage(root)
	root.AddCommand(newServe(p.OpenEtcd), newEnv(), newCall(), newGet(), newURL(), newTraffic(), newExplain(), newWait(), newDoctor(), newState(), newWorld(), newQuota(), newClock(), newFault(), newJournal(), newSnapshot(), newCloud(), newScenario(), newExplore(), newUpgradeCheck(), newRehearse(), newLintService(), newActions(), newFidelity(), newMCP(), newVersion())
	completeFlag(root, "output", choices(forms...))
	completeEverywhere(root)
	return root
}
