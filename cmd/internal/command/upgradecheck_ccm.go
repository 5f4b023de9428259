package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator/products"

	"github.com/clbemu/clbemu/cmd/internal/upgradecheck"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/scenarios"
	"github.com/clbemu/clbemu/state"
)

// dryRun is the dry run of a Cloud Controller Manager against a copy of a state.
type dryRun struct {
	ccm, kubeconfig, clusterID, cloudConfig string
	timeout                                 time.Duration
	// dataDir is the folder of a stopped emulator, empty for the running one.
	dataDir string
	args    []string
	// output takes what the program writes, nil to keep its end alone.
	output io.Writer
}

// show prints the report. Any finding is a failure.
func (d *dryRun) show(cmd *cobra.Command, running *controlclient.Client) error {
	report, err := d.report(cmd.Context(), running)
	if err != nil {
		return err
	}
	if err := printing(cmd).show(report, func(s *terminal.Screen) error {
		printReport(s, &report)
		return nil
	}); err != nil {
		return err
	}
	if n := len(report.Findings) + report.Untold; n > 0 {
		return failed(fmt.Errorf("the controller would make %s", counted(n, "change")))
	}
	return nil
}

// report runs the program and reads its report.
func (d *dryRun) report(ctx context.Context, running *controlclient.Client) (upgradecheck.Report, error) {
	program, err := exec.LookPath(d.ccm)
	if err != nil {
		return upgradecheck.Report{}, usage(fmt.Errorf("--ccm: %w", err))
	}
	kubectl := target.Kubectl{Kubeconfig: d.kubeconfig}
	// The program lists all Services and writes an Event: say now what it may not.
	if _, err := kubectl.Kubectl(ctx, "", "get", "services", "--all-namespaces", "--output", "name"); err != nil {
		return upgradecheck.Report{}, cannot(fmt.Errorf("list the Services of the cluster of %s: %w", d.kubeconfig, err))
	}
	before, err := reportEvent(ctx, kubectl)
	if err != nil {
		return upgradecheck.Report{}, cannot(err)
	}
	copied, err := d.copyOf(ctx, running)
	if err != nil {
		return upgradecheck.Report{}, err
	}
	report, err := d.run(ctx, copied, program, func() (string, error) {
		after, err := reportEvent(ctx, kubectl)
		switch {
		case err != nil:
			return "", err
		case after.Metadata.ResourceVersion == before.Metadata.ResourceVersion:
			return "", fmt.Errorf("it wrote no Event %s/%s", upgradecheck.ReportNamespace, upgradecheck.ReportEvent)
		}
		return after.Message, nil
	})
	return report, errors.Join(err, copied.Close(ctx))
}

// copyOf starts an emulator in this process, in memory, with the state to check.
func (d *dryRun) copyOf(ctx context.Context, running *controlclient.Client) (*emulator.Emulator, error) {
	copied, err := emulator.New(ctx, emulator.Config{
		Fork: d.dataDir, Listen: "127.0.0.1:0", ControlListen: "127.0.0.1:0",
	})
	if err != nil {
		return nil, cannot(fmt.Errorf("open the state: %w", err))
	}
	if err = copied.Start(); err == nil && d.dataDir == "" {
		to := &controlclient.Client{URL: "http://" + copied.ControlAddr()}
		err = running.ExportState(ctx, func(state io.Reader) error {
			_, err := to.ImportState(ctx, state)
			return err
		})
	}
	if err != nil {
		return nil, errors.Join(err, copied.Close(ctx))
	}
	return copied, nil
}

// run runs the program against a copy of the state, to its end.
func (d *dryRun) run(ctx context.Context, copied *emulator.Emulator, program string, message func() (string, error)) (upgradecheck.Report, error) {
	control := &controlclient.Client{URL: "http://" + copied.ControlAddr()}
	dir, err := os.MkdirTemp("", "clbemu-upgrade-check-")
	if err != nil {
		return upgradecheck.Report{}, cannot(err)
	}
	defer os.RemoveAll(dir)
	config, err := d.config(copied, dir)
	if err != nil {
		return upgradecheck.Report{}, cannot(err)
	}
	environment := target.Remote{API: "http://" + copied.Addr(), Control: control.URL, Products: products.All()}
	process, err := environment.Start(ctx, scenarios.Program{Output: d.output, Command: append([]string{program,
		"--dry-run=true", "--kubeconfig=" + d.kubeconfig, "--cloud-config=" + config, "--controllers=service", "--configure-cloud-routes=false", "--leader-elect=false",
		"--metrics-bind-addr=127.0.0.1:0", "--health-probe-bind-addr=127.0.0.1:0"}, d.args...)})
	if err != nil {
		return upgradecheck.Report{}, cannot(err)
	}
	defer process.Stop()
	ended, err := process.Wait(ctx, d.timeout)
	switch {
	case err != nil:
		return upgradecheck.Report{}, cannot(err)
	case !ended:
		return upgradecheck.Report{}, cannot(fmt.Errorf("%s did not end within %s: does this version know --dry-run? It last wrote:\n%s", d.ccm, d.timeout, lastLines(process.Output())))
	case process.Exit() != 0:
		return upgradecheck.Report{}, cannot(fmt.Errorf("%s ended with status %d. It last wrote:\n%s", d.ccm, process.Exit(), lastLines(process.Output())))
	}
	if tried, err := changesIn(ctx, control); err != nil || tried != "" {
		return upgradecheck.Report{}, cannot(errors.Join(err, fmt.Errorf("%s made changes to the copy of the state, such as %s: this version makes no dry run", d.ccm, tried)))
	}
	text, err := message()
	if err != nil {
		return upgradecheck.Report{}, cannot(fmt.Errorf("%s ended, and %w. It last wrote:\n%s", d.ccm, err, lastLines(process.Output())))
	}
	report, err := upgradecheck.ReadReport(text)
	return report, cannot(err)
}

// config returns the file that describes the cloud to the program.
func (d *dryRun) config(copied *emulator.Emulator, dir string) (file string, err error) {
	if d.cloudConfig != "" {
		return filepath.Abs(d.cloudConfig)
	}
	config, err := target.CloudConfig(copied.Store().View(state.Owner{}), d.clusterID)
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, "cloud-config.json")
	return file, os.WriteFile(file, config, 0o600)
}

// changesIn returns the first change that the copy of the state saw, or "" for none.
func changesIn(ctx context.Context, control *controlclient.Client) (action string, err error) {
	page, err := control.Journal(ctx, map[string][]string{"limit": {"0"}, "kind": {string(journal.KindCall)}})
	if err != nil {
		return "", err
	}
	changes := mutatingActions()
	for _, call := range page.Entries {
		if changes[call.Product+" "+call.Action] {
			return call.Action, nil
		}
	}
	return "", nil
}

// event holds the fields read from an Event.
type event struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Message string `json:"message"`
}

// reportEvent reads the Event of the last dry run, which may be absent.
func reportEvent(ctx context.Context, kubectl target.Kubectl) (e event, err error) {
	text, err := kubectl.Kubectl(ctx, "", "get", "event", upgradecheck.ReportEvent, "--namespace", upgradecheck.ReportNamespace,
		"--ignore-not-found", "--output", "json")
	if err != nil || len(text) == 0 {
		return e, err
	}
	return e, json.Unmarshal(text, &e)
}

// lastLines returns the last ten lines of a program's output.
func lastLines(output string) string {
	const most = 10
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for i := range lines {
		lines[i] = "  " + printable(lines[i])
	}
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}

// printReport lists the findings by Service.
func printReport(s *terminal.Screen, report *upgradecheck.Report) {
	if len(report.Findings)+report.Untold == 0 {
		fmt.Fprintln(s, "the controller would change nothing")
	}
	last := ""
	for _, f := range report.Findings {
		if at := f.Service + f.LoadBalancer; at != last {
			last = at
			fmt.Fprint(s, printable(f.Service))
			if f.LoadBalancer != "" {
				fmt.Fprintf(s, " (%s)", printable(f.LoadBalancer))
			}
			fmt.Fprintln(s)
		}
		fmt.Fprintf(s, "  %s", printable(f.Change))
		if f.Item != "" {
			fmt.Fprintf(s, " %s", printable(f.Item))
		}
		fmt.Fprintln(s)
		for _, text := range []string{f.Detail, f.Advice} {
			if text != "" {
				fmt.Fprintf(s, "    %s\n", printable(text))
			}
		}
	}
	if report.Untold > 0 {
		fmt.Fprintf(s, "%s that the controller counted and did not name\n", counted(report.Untold, "finding"))
	}
}
