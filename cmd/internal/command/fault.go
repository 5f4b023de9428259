package command

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/faults"
)

func newFault() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fault",
		Short: "Make calls to a running emulator fail, and packets at its listeners",
		Long: `Make calls to a running emulator fail, and packets at its listeners, by rules in YAML:

  name: lost-reply
  match:
    action: CreateLoadBalancer
    params.LoadBalancerName: {matches: "^a"}
  when: {times: 1}
  effect: {afterCommit: reset}

match    of calls: action (a glob, or several separated by commas), region, accessKeyId,
         userAgent, params.<Name>, resource.<field>;
         of packets: loadBalancer, listener, port, protocol, address, zone, client,
         server, host, path;
         each equals a text, or {matches: regular expression} or {absent: true}
when     skip, times, every, probability with seed, after and for (emulated time)
at       of calls: accept, beforeCall, beforeCommit, afterCommit, reply;
         of packets: listen, connect, forward, check; each effect has a default point
disabled true keeps the rule, and affects nothing
effect   one of these:
` + effectHelp() + `

At each point, clbemu evaluates the rules of that point in order; the first match
decides. Rules and their counters survive a restart. An answer that a rule changed
carries the rule's name in the header X-Clbemu-Fault; the journal has an entry for each
connection or request that a rule struck.`,
		Args: noArgs,
		RunE: help,
	}
	cmd.AddCommand(newFaultList(), newFaultAdd(), newFaultDelete(), newFaultReset())
	return cmd
}

// effectHelp lists the kinds of effects.
func effectHelp() string {
	var b strings.Builder
	for _, kind := range faults.Kinds() {
		fmt.Fprintf(&b, "  %s\n", kind.Form())
		for line := range strings.SplitSeq(ansi.Wordwrap(kind.About, 70, ""), "\n") {
			fmt.Fprintf(&b, "         %s\n", line)
		}
	}
	return b.String()
}

// printFaults shows what rules there are after a call about them.
func printFaults(cmd *cobra.Command, rules controlapi.FaultRules, err error) error {
	if err != nil {
		return err
	}
	return printing(cmd).show(rules, func(s *terminal.Screen) error {
		var warnings []string
		for _, skipped := range rules.Skipped {
			warnings = append(warnings, skipped.String())
		}
		defer warn(cmd, warnings)
		if len(rules.Faults) == 0 {
			s.Printf("there are no fault rules\n")
			return nil
		}
		var rows [][]string
		for _, f := range rules.Faults {
			rows = append(rows, []string{f.Name, f.At, fmt.Sprint(f.Seen), fmt.Sprint(f.Hits), yesNo(f.Spent), yesNo(f.Disabled)})
		}
		return s.Table([]string{"RULE", "AT", "SEEN", "HITS", "SPENT", "DISABLED"}, rows)
	})
}

func newFaultList() *cobra.Command {
	whole := false
	cmd := addRemote(&cobra.Command{
		Use:   "list",
		Short: "List the fault rules with their counters, in evaluation order",
		Example: `  clbemu fault list
  clbemu fault list --yaml > faults.yaml`,
		Args: noArgs,
	}, func(cmd *cobra.Command, _ []string, c *controlclient.Client) error {
		list, err := c.Faults(cmd.Context())
		if !whole || err != nil {
			return printFaults(cmd, list, err)
		}
		for i, f := range list.Faults {
			if i > 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "---")
			}
			fmt.Fprint(cmd.OutOrStdout(), f.Rule)
		}
		return nil
	})
	cmd.Flags().BoolVar(&whole, "yaml", false, "print the rules as YAML, as add reads them")
	return cmd
}

func newFaultAdd() *cobra.Command {
	return addRemote(&cobra.Command{
		Use:   "add FILE",
		Short: "Add the rules of a file, replacing rules with the same name",
		Long:  "Add the rules of a YAML file, replacing rules with the same name; - reads standard input. If one rule is wrong, none is added.",
		Example: `  clbemu fault add faults.yaml
  echo '{name: busy, match: {action: Create*}, effect: {error: {code: ServiceUnavailable}}}' | clbemu fault add -`,
		Args: one("the file"),
	}, func(cmd *cobra.Command, args []string, c *controlclient.Client) error {
		text, err := readFile(cmd, args[0])
		if err != nil {
			return err
		}
		list, err := c.AddFaults(cmd.Context(), args[0], text)
		return printFaults(cmd, list, err)
	})
}

func newFaultDelete() *cobra.Command {
	all := false
	cmd := addRemote(&cobra.Command{
		Use:   "delete [NAME...]",
		Short: "Delete fault rules",
		Example: `  clbemu fault delete busy
  clbemu fault delete --all`,
		ValidArgsFunction: fromEmulator(faultNames),
	}, func(cmd *cobra.Command, args []string, c *controlclient.Client) error {
		if all == (len(args) > 0) {
			return usage(fmt.Errorf("name the rules to delete, or give --all"))
		}
		if all {
			left, err := c.DeleteFaults(cmd.Context())
			return printFaults(cmd, left, err)
		}
		var left controlapi.FaultRules
		for _, name := range args {
			var err error
			if left, err = c.DeleteFault(cmd.Context(), name); err != nil {
				return err
			}
		}
		return printFaults(cmd, left, nil)
	})
	cmd.Flags().BoolVar(&all, "all", false, "delete all rules")
	return cmd
}

func newFaultReset() *cobra.Command {
	return addRemote(&cobra.Command{
		Use:     "reset",
		Short:   "Reset the counters and start times of all rules",
		Example: "  clbemu fault reset",
		Args:    noArgs,
	}, func(cmd *cobra.Command, _ []string, c *controlclient.Client) error {
		list, err := c.ResetFaults(cmd.Context())
		return printFaults(cmd, list, err)
	})
}
