package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/cmd/internal/upgradecheck"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/products"
)

func newUpgradeCheck() *cobra.Command {
	var dataDir, sinceMark string
	check := dryRun{}
	cmd := addRemote(&cobra.Command{
		Use:     "upgrade-check",
		Aliases: []string{"upgradecheck"},
		Short:   "Report what a new version of a controller would change",
		Long: `Report what a new version of a Cloud Controller Manager (CCM) would change, in the
words of the check that ACK runs before it upgrades the CCM of a cluster.

With --ccm, clbemu runs the new version with --dry-run=true, as ACK does, against a
copy of the emulator's state, in memory, and shows the findings that it writes into
an Event of the cluster. clbemu copies the running emulator's state, or a stopped
one's with --data-dir. The CCM names one finding for each Service, listener and server
group. Up to v2.14.0 it checks the attributes of CLB load balancers, their listeners
and server groups, without weights, Network Load Balancers (NLB) or routes. By its
release notes v2.15.0 checks NLBs too; clbemu has not tried that version. It lists
every finding of a report, by its code if ACK documents no text. clbemu rehearse runs
any version for real, and reports NLBs, weights and routes too.

Without --ccm, clbemu reports the changes that any client tried to make since a mark
of the journal, with the parameters that differ from the stored ones. Serve a copy
of a stopped emulator's state, run the new version against it, and compare:

  clbemu serve --fork ./clbemu-data &
  clbemu journal mark before
  # start the new version, and wait until it is idle
  clbemu upgrade-check --since-mark before --data-dir ./clbemu-data

A client that meets an error may stop before its other changes; calls that failed
count as well. Exits with 1 when there is any change, and with 3 when the journal
did not keep all calls.`,
		Example: `  clbemu upgrade-check --ccm ./cloud-controller-manager --kubeconfig ~/.kube/config
  clbemu upgrade-check --since-mark before
  clbemu upgrade-check --data-dir ./clbemu-data --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() == 0 && check.ccm != "" {
				return nil
			}
			return noArgs(cmd, args)
		},
	}, func(cmd *cobra.Command, args []string, c *controlclient.Client) error {
		if check.ccm != "" {
			if check.args = args; cmd.Flags().Changed("data-dir") {
				check.dataDir = dataDir
			}
			return check.show(cmd, c)
		}
		return showChanges(cmd, c, dataDir, sinceMark)
	})
	flags := cmd.Flags()
	flags.StringVar(&dataDir, "data-dir", defaultDataDir, "folder of a stopped emulator's state")
	flags.StringVar(&sinceMark, "since-mark", "", "calls after this mark (default: all)")
	flags.StringVar(&check.ccm, "ccm", "", "program of the new version; arguments after -- are passed to it")
	flags.StringVar(&check.kubeconfig, "kubeconfig", "", "kubeconfig of the cluster")
	flags.StringVar(&check.clusterID, "cluster-id", "", "id of the cluster (default: the tag ack.aliyun.com of load balancers)")
	flags.StringVar(&check.cloudConfig, "cloud-config", "", "the CCM's file about its cloud (default: written from the state)")
	flags.DurationVar(&check.timeout, "timeout", 5*time.Minute, "how long the dry run may take")
	cmd.MarkFlagsRequiredTogether("ccm", "kubeconfig")
	cmd.MarkFlagsMutuallyExclusive("ccm", "since-mark")
	completeFlag(cmd, "since-mark", fromEmulator(markNames))
	return cmd
}

// showChanges prints what clients tried to change since a mark, and fails if that is anything.
func showChanges(cmd *cobra.Command, c *controlclient.Client, dataDir, sinceMark string) error {
	found, err := checkUpgrade(cmd.Context(), c, dataDir, sinceMark)
	if err != nil {
		return err
	}
	if err := printing(cmd).show(list("loadBalancers", found), func(s *terminal.Screen) error {
		printChanges(s, found)
		return nil
	}); err != nil {
		return err
	}
	return verdictOf(found)
}

func verdictOf(found []upgradecheck.LoadBalancer) error {
	changes := 0
	for _, lb := range found {
		changes += len(lb.Changes)
	}
	if changes == 0 {
		return nil
	}
	return failed(fmt.Errorf("the client tried %s", counted(changes, "change")))
}

func printChanges(w io.Writer, found []upgradecheck.LoadBalancer) {
	if len(found) == 0 {
		fmt.Fprintln(w, "the client tried no changes")
	}
	for _, lb := range found {
		switch {
		case lb.ID == "":
			fmt.Fprintln(w, "not of an existing load balancer")
		case lb.Name == "":
			fmt.Fprintln(w, printable(lb.ID))
		default:
			fmt.Fprintf(w, "%s (%s)\n", printable(lb.ID), printable(lb.Name))
		}
		for _, c := range lb.Changes {
			fmt.Fprintf(w, "  %s", printable(c.Change))
			if c.Port != "" {
				fmt.Fprintf(w, " %s", printable(c.Port))
			}
			if c.Code != "" {
				fmt.Fprintf(w, ", refused with %s", printable(c.Code))
			}
			fmt.Fprintln(w)
			for _, d := range c.Differences {
				fmt.Fprintf(w, "    %s: %s", printable(d.Parameter), short(d.Sent))
				if d.Stored != "" {
					fmt.Fprintf(w, ", stored: %s", short(d.Stored))
				}
				fmt.Fprintln(w)
			}
		}
	}
}

// checkUpgrade compares the calls of a running emulator with a stopped one's state.
func checkUpgrade(ctx context.Context, c *controlclient.Client, dataDir, sinceMark string) ([]upgradecheck.LoadBalancer, error) {
	calls, groups, err := callsSince(ctx, c, sinceMark)
	if err != nil {
		return nil, err
	}
	stored, err := emulator.New(ctx, emulator.Config{
		Fork: dataDir, Listen: "127.0.0.1:0", ControlListen: "127.0.0.1:0", Journal: journal.Config{Entries: -1},
	})
	if err != nil {
		return nil, cannot(fmt.Errorf("open the state that was forked: %w", err))
	}
	if err := stored.Start(); err != nil {
		return nil, cannot(errors.Join(err, stored.Close(ctx)))
	}
	found, err := compare(calls, groups, func(caller *journal.Entry, action string, params map[string]string) (int, map[string]any, error) {
		client := &apiclient.Client{URL: "http://" + stored.Addr(), AccessKeyID: caller.AccessKeyID}
		reply, err := client.CallContext(ctx, emulator.Version("Slb"), action, params)
		return reply.Status, reply.Body, err
	})
	return found, cannot(errors.Join(err, stored.Close(ctx)))
}

// changesOf compares the calls to a cloud with what another one holds, such as the one that it
// was forked from.
func changesOf(ctx context.Context, c, before *controlclient.Client, sinceMark string) (any, error) {
	calls, groups, err := callsSince(ctx, c, sinceMark)
	if err != nil {
		return nil, err
	}
	found, err := compare(calls, groups, func(_ *journal.Entry, action string, params map[string]string) (int, map[string]any, error) {
		answer, err := before.MakeCall(ctx, controlapi.CloudCall{Product: "Slb", Action: action, Parameters: params, ReadOnly: true, Caller: "upgrade-check"})
		return answer.Status, answer.Body, err
	})
	return list("loadBalancers", found), err
}

// callsSince returns the calls of CLB to a cloud since a mark, all for "", and the load balancer
// of each server group, as a call may name the group alone.
func callsSince(ctx context.Context, c *controlclient.Client, mark string) (calls []*journal.Entry, groups map[string]string, err error) {
	q := url.Values{"limit": {"0"}, "kind": {string(journal.KindCall)}, "product": {"Slb"}}
	if mark != "" {
		q.Set("sinceMark", mark)
	}
	page, err := c.Journal(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	if page.Missed > 0 {
		return nil, nil, cannot(fmt.Errorf("the journal dropped %d of the entries, so their changes are unknown: set a later mark", page.Missed))
	}
	listed, err := c.Resources(ctx, controlclient.Wanted{Kind: "group"})
	if err != nil {
		return nil, nil, err
	}
	groups = make(map[string]string)
	for _, g := range listed.Resources {
		groups[g.ID] = g.LoadBalancer
	}
	return page.Entries, groups, nil
}

// compare checks calls against the state that read reads, as the caller of each would.
func compare(calls []*journal.Entry, groups map[string]string, read func(caller *journal.Entry, action string, params map[string]string) (int, map[string]any, error)) ([]upgradecheck.LoadBalancer, error) {
	mutates := mutatingActions()
	var broken error
	describe := func(caller *journal.Entry, action string, params map[string]string) map[string]any {
		params["RegionId"] = caller.Region
		status, body, err := read(caller, action, params)
		if err != nil {
			broken = errors.Join(broken, err)
		}
		if err != nil || status != http.StatusOK {
			return nil
		}
		return body
	}
	found := upgradecheck.Check(calls, func(action string) bool { return mutates["Slb "+action] }, describe, groups)
	return found, broken
}

// mutatingActions returns the actions that can change something, each behind its product.
func mutatingActions() map[string]bool {
	mutates := make(map[string]bool)
	for _, p := range products.All() {
		for _, a := range p.Actions {
			mutates[p.Name+" "+a.Name] = a.Mutates
		}
	}
	return mutates
}
