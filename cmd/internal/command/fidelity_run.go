package command

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/fidelityrun"
	"github.com/clbemu/clbemu/cmd/internal/realcloud"
	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator/fidelity"
	"github.com/clbemu/clbemu/emulator/glob"
)

// realCloud is the only target of clbemu fidelity run.
const realCloud = "cloud"

// ledgerFlags say which account of the real cloud a command is about, and what it made there.
type ledgerFlags struct {
	cloudFlags
	ledger string
}

func (f *ledgerFlags) define(cmd *cobra.Command) {
	f.cloudFlags.define(cmd)
	cmd.Flags().StringVar(&f.ledger, "ledger", "clbemu-fidelity.jsonl", "file that lists what was created")
}

// cloud returns a client of the account.
func (f *ledgerFlags) cloud() (*fidelityrun.Cloud, error) {
	c, err := f.client("fidelity")
	if err != nil {
		return nil, err
	}
	return &fidelityrun.Cloud{Cloud: *c}, nil
}

// fidelityRun is one run of the command.
type fidelityRun struct {
	ledgerFlags
	target, report, record string
	changes, yes           bool
	places                 fidelityrun.Places
	done, planned          atomic.Int64
}

func newFidelityRun() *cobra.Command {
	r := &fidelityRun{}
	cmd := &cobra.Command{
		Use:   "run --target cloud --region REGION [STATEMENT...]",
		Short: "Play what is published against the real cloud, and report what held",
		Long: `Play what is published about CLB and NLB against the real cloud, and report what held.

Without --allow-changes, clbemu only reads. With it, clbemu also plays the cases that
create something, which the account is billed for: it prints what it will create, asks, and
deletes it after each case, at the end and after Ctrl-C. The ledger lists what it created; after a crash or
with an expired token, clbemu fidelity clean deletes the rest. clbemu never changes or
deletes what it did not create, never orders a subscription, and stays under half of the
published call limits.

STATEMENT chooses statements by their names, such as 'Slb/DescribeZones/*'. Cases name
things of clbemu's default world: --vpc, --vswitch, --zone, --instance and
--security-group say what stands for them in the account. Cases that need more are left
out, with the reason.

The credentials come from the environment: ` + keyVariables[0][0] + `,
` + keyVariables[0][1] + ` and ` + keyVariables[0][2] + `, or the
variables of Terraform or a CCM. In the report and the recording, placeholders stand for ids,
addresses, accounts and names. Read both before you publish them.

Exit codes: 0 everything that was played held, 1 a statement did not hold, 2 wrong usage,
3 the run did not finish, or what it created is not all deleted.`,
		Example: `  clbemu fidelity run --target cloud --region cn-hangzhou
  clbemu fidelity run --target cloud --region cn-hangzhou --report report.json --record recording.yaml 'Slb/Describe*/*'
  clbemu fidelity run --target cloud --region cn-beijing --allow-changes --vpc vpc-… --vswitch vsw-… --zone cn-beijing-h`,
		RunE:              r.run,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	r.define(cmd)
	flags := cmd.Flags()
	flags.StringVar(&r.target, "target", "", "what to play against: "+realCloud)
	flags.BoolVar(&r.changes, "allow-changes", false, "also play cases that create and change things")
	flags.BoolVar(&r.yes, "yes", false, "with --allow-changes: create without asking")
	flags.StringVar(&r.report, "report", "", "file to write the report to, as JSON")
	flags.StringVar(&r.record, "record", "", "new file to write the answers to, as YAML")
	flags.StringArrayVar(&r.places.VPC, "vpc", nil, "VPC to create load balancers in")
	flags.StringArrayVar(&r.places.VSwitches, "vswitch", nil, "vSwitch of that VPC; twice for cases that need two zones")
	flags.StringArrayVar(&r.places.Zones, "zone", nil, "zone of each --vswitch")
	flags.StringArrayVar(&r.places.Instances, "instance", nil, "instance to add as a backend server; up to three times")
	flags.StringArrayVar(&r.places.SecurityGroups, "security-group", nil, "security group for load balancers to join")
	completeFlag(cmd, "target", choices(realCloud))
	return cmd
}

func (r *fidelityRun) run(cmd *cobra.Command, args []string) error {
	if r.target != realCloud {
		return usage(errors.New("this calls the real cloud: say so by --target cloud"))
	}
	// A variable left over in a shell is no consent.
	if r.changes && !typed(cmd, "allow-changes") || r.yes && !typed(cmd, "yes") {
		return usage(errors.New("give --allow-changes and --yes on the command line: variables and files do not count"))
	}
	cloud, err := r.cloud()
	if err != nil {
		return usage(err)
	}
	mapping, err := fidelityrun.MakeMapping(r.region, r.places)
	if err != nil {
		return usage(err)
	}
	files, err := fidelity.Load(nil)
	if err != nil {
		return cannot(err)
	}
	plan, err := fidelityrun.MakePlan(fidelityrun.Choice{Files: files, Known: knownNames().Actions(), Match: glob.Split(strings.Join(args, ",")), Region: r.region, Mapping: mapping, Changes: r.changes})
	if err != nil {
		return usage(err)
	}
	screen := terminal.New(cmd.ErrOrStderr())
	showPlan(screen, plan, r.region)
	if plan.Changing() > 0 {
		if err := r.consent(cmd); err != nil {
			return usage(err)
		}
	}
	account, err := cloud.Account(cmd.Context())
	if err != nil {
		return cannot(err)
	}
	run := &fidelityrun.Run{Cloud: cloud, Plan: plan, Mapping: mapping, Account: account, Version: version().Version}
	if plan.Changing() > 0 {
		if run.Ledger, err = fidelityrun.OpenLedger(r.ledger, account, true); err != nil {
			return usage(err)
		}
		defer run.Ledger.Close()
	}
	if err := r.keepFiles(); err != nil {
		return usage(err)
	}
	if r.record != "" {
		run.Record = fidelityrun.NewRecording(r.region, time.Now().UTC().Format(time.DateOnly))
	}
	r.planned.Store(int64(len(plan.Cases)))
	run.Judged = func(_ fidelityrun.Judged, done, _ int) { r.done.Store(int64(done)) }
	stop := screen.Live(func() string { return fmt.Sprintf("%d of %d cases", r.done.Load(), r.planned.Load()) })
	report, cleaned, err := run.Do(cmd.Context())
	stop()
	return r.end(cmd, run, report, cleaned, err)
}

// keepFiles makes sure, before anything is created, that the files of the results can be
// written, and that no recording is lost.
func (r *fidelityRun) keepFiles() error {
	if info, err := os.Stat(r.record); r.record != "" && err == nil && info.Size() > 0 {
		return fmt.Errorf("--record %s: the file exists: name another one", r.record)
	}
	for _, path := range []string{r.report, r.record} {
		if path == "" {
			continue
		}
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		if err := file.Close(); err != nil {
			return err
		}
	}
	return nil
}

// end writes and prints what came of a run, and returns the error of the command.
func (r *fidelityRun) end(cmd *cobra.Command, run *fidelityrun.Run, report *fidelityrun.Report, cleaned fidelityrun.Cleaned, err error) error {
	var errs []error
	if r.report != "" {
		errs = append(errs, writeFile(r.report, func(text *bytes.Buffer) error { return encode(text, report, "  ") }))
	}
	if run.Record != nil {
		errs = append(errs, writeFile(r.record, func(text *bytes.Buffer) error { return run.Record.Write(text) }))
	}
	errs = append(errs, printing(cmd).show(report, func(s *terminal.Screen) error { return showReport(s, report) }))
	var left error
	if run.Ledger != nil && len(run.Ledger.Left()) > 0 {
		left = r.leftOver(cleaned, len(run.Ledger.Left()), err)
	}
	switch written := errors.Join(errs...); {
	case err != nil || left != nil || written != nil:
		if report.Stopped == "interrupted" {
			err = errors.New("interrupted")
		}
		return cannot(errors.Join(err, left, written))
	case report.Counts[fidelityrun.Failed] > 0:
		return failed(fmt.Errorf("%s did not hold in the cloud", counted(report.Counts[fidelityrun.Failed], "statement")))
	}
	return nil
}

// leftOver says how to delete the leftovers.
func (f *ledgerFlags) leftOver(cleaned fidelityrun.Cleaned, n int, because error) error {
	text := ""
	for _, l := range cleaned.Left {
		text += "\n  " + l
	}
	first := ""
	if rejected := (*realcloud.Rejected)(nil); errors.As(because, &rejected) {
		first = "set new credentials of the same account, and then "
	}
	return fmt.Errorf("%s of %s may still exist and be billed: %suse `clbemu fidelity clean --region %s --ledger %s`%s", counted(n, "thing"), f.ledger, first, f.region, f.ledger, text)
}

// showPlan says before the first call what will happen.
func showPlan(s *terminal.Screen, p *fidelityrun.Plan, region string) {
	changing := p.Changing()
	s.Printf("%s in %s: %d only read, %d create or change something; %d are left out\n", counted(len(p.Cases), "case"), region, len(p.Cases)-changing, changing, len(p.LeftOut))
	for _, r := range p.Reasons()[:min(len(p.Reasons()), 8)] {
		s.Printf("  %5s  %s\n", r[0], r[1])
	}
	if changing == 0 {
		return
	}
	s.Printf("These cases create, one after another, and delete again:\n")
	for _, what := range slices.Sorted(maps.Keys(p.Creates)) {
		s.Printf("  %5d  %s\n", p.Creates[what], what)
	}
	s.Printf("The account is billed for each of them, for load balancers by the hour.\n")
}

// consent asks for leave to create resources.
func (r *fidelityRun) consent(cmd *cobra.Command) error {
	if r.yes {
		return nil
	}
	if file, ok := cmd.InOrStdin().(*os.File); !ok || !terminal.Is(file) {
		return errors.New("nothing was sent: give --yes to create what is listed above")
	}
	fmt.Fprint(cmd.ErrOrStderr(), "Type yes to create them: ")
	answer := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(cmd.InOrStdin()).ReadString('\n') // no answer is none
		answer <- strings.TrimSpace(text)
	}()
	select {
	case text := <-answer:
		if text == "yes" {
			return nil
		}
	case <-cmd.Context().Done():
	}
	return errors.New("nothing was sent, as the answer was not yes")
}

// showReport prints what did not hold, and the counts.
func showReport(s *terminal.Screen, r *fidelityrun.Report) error {
	for _, j := range r.Statements {
		switch j.There {
		case fidelityrun.Failed:
			s.Printf("%s", s.Fit(fmt.Sprintf("failed     %s (%s here): %s\n  expected %s\n  saw      %s\n", j.Statement, j.Here, j.Says, j.Expected, j.Instead), 11))
		case fidelityrun.Undecided:
			s.Printf("%s", s.Fit(fmt.Sprintf("undecided  %s: %s\n", j.Statement, j.Reason), 11))
		}
	}
	s.Printf("%d held, %d failed, %d undecided, %d left out\n", r.Counts[fidelityrun.Held], r.Counts[fidelityrun.Failed], r.Counts[fidelityrun.Undecided], len(r.LeftOut))
	return nil
}

func newFidelityClean() *cobra.Command {
	f := &ledgerFlags{}
	cmd := &cobra.Command{
		Use:   "clean --region REGION",
		Short: "Delete what clbemu fidelity run left in the real cloud",
		Long: `Delete what clbemu fidelity run left in the real cloud: what the ledger lists, the newest
first, and nothing else. It looks for things whose answer was lost by the tag that they
were created with, and takes deletion protection off. It can be run again.

The credentials come from the environment, as for clbemu fidelity run, and must be of the
same account.`,
		Example: `  clbemu fidelity clean --region cn-hangzhou`,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.clean(cmd) },
	}
	f.define(cmd)
	return cmd
}

func (f *ledgerFlags) clean(cmd *cobra.Command) error {
	ctx := cmd.Context()
	cloud, err := f.cloud()
	if err != nil {
		return usage(err)
	}
	if _, err := os.Stat(f.ledger); err != nil {
		return usage(fmt.Errorf("--ledger: %w", err))
	}
	account, err := cloud.Account(ctx)
	if err != nil {
		return cannot(err)
	}
	ledger, err := fidelityrun.OpenLedger(f.ledger, account, false)
	if err != nil {
		return usage(err)
	}
	defer ledger.Close()
	cleaned, err := cloud.Clean(ctx, ledger)
	if shown := printing(cmd).show(cleaned, func(s *terminal.Screen) error {
		s.Printf("%s deleted, %d left\n", counted(cleaned.Gone, "thing"), len(ledger.Left()))
		return nil
	}); shown != nil {
		return shown
	}
	if n := len(ledger.Left()); n > 0 || err != nil {
		return cannot(errors.Join(err, f.leftOver(cleaned, n, err)))
	}
	return nil
}
