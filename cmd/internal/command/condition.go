package command

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/world/conditions"
)

// conditionFlags say whose conditions a command is about.
type conditionFlags struct {
	stateFlags
	where controlapi.Where
}

// addWhere gives a command the flags.
func (f *conditionFlags) addWhere(cmd *cobra.Command, do func(cmd *cobra.Command, args []string, c *controlclient.Client) error) *cobra.Command {
	f.addWriting(cmd, do)
	cmd.Flags().StringVar(&f.where.AccountID, "account", "", "account (the first)")
	cmd.Flags().StringVar(&f.where.RegionID, "region", "", "region (the account's)")
	return cmd
}

func newWorldSet() *cobra.Command {
	f := &conditionFlags{}
	return f.addWhere(&cobra.Command{
		Use:   "set NAME=VALUE...",
		Short: "Change conditions of the world while clients work",
		Long: "Change conditions of the world while clients work. If one change is refused, none is made.\n" +
			"A value that starts with @ is read from the file of that name.\n\n" + documentation(),
		Example: `  clbemu world set account.arrears=true
  clbemu world set quota.slb_quota_listeners_num=10 stock.cn-hangzhou-h=soldout
  clbemu world set vswitch.vsw-bp1clbemu000000000001.freeAddresses=0
  clbemu world set policy.key.testid=@policy.json`,
		Args:              oneOrMore("conditions with their values, as NAME=VALUE"),
		ValidArgsFunction: completeSetting,
	}, func(cmd *cobra.Command, args []string, c *controlclient.Client) error {
		change := controlapi.Change{Where: f.where}
		for _, arg := range args {
			name, value, ok := strings.Cut(arg, "=")
			if !ok {
				return usage(fmt.Errorf("%s has no value: write %s=VALUE", arg, arg))
			}
			if file, ok := strings.CutPrefix(value, "@"); ok {
				text, err := readFile(cmd, file)
				if err != nil {
					return err
				}
				value = string(text)
			}
			change.Settings = append(change.Settings, controlapi.Setting{Name: name, Value: value})
		}
		inForce, err := c.SetWorld(cmd.Context(), change)
		if err != nil {
			return conditionError(err)
		}
		defer warn(cmd, inForce.Warnings)
		// What is as at first again, such as quota.NAME=default, is in no list.
		for i, wanted := range change.Settings {
			change.Settings[i] = controlapi.Setting(conditions.Shown(conditions.Setting(wanted)))
			for _, s := range inForce.Conditions {
				if s.Name == wanted.Name {
					change.Settings[i] = s
				}
			}
		}
		return printConditions(cmd, change.Settings)
	})
}

// conditionError returns the error of conditions that were not set: a usage error if the emulator
// refused the request as wrong.
func conditionError(err error) error {
	if refused, ok := errors.AsType[*controlclient.Refused](err); ok && refused.Status == http.StatusBadRequest {
		return usage(err)
	}
	return err
}

// printConditions shows names with their values, as set takes them.
func printConditions(cmd *cobra.Command, list []controlapi.Setting) error {
	return printing(cmd).show(controlapi.Conditions{Conditions: append([]controlapi.Setting{}, list...)}, func(s *terminal.Screen) error {
		for _, c := range list {
			s.Printf("%s=%s\n", c.Name, c.Value)
		}
		return nil
	})
}

// documentation returns the table of conditions for a help text.
func documentation() string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, c := range conditions.All() {
		fmt.Fprintf(table, "  %s\tof the %s\t%s\n", c.Name, c.Scope, c.Help)
	}
	table.Flush()
	return "Conditions:\n" + strings.TrimRight(text.String(), "\n")
}

func newWorldGet() *cobra.Command {
	f := &conditionFlags{}
	return f.addWhere(&cobra.Command{
		Use:   "get [PREFIX]",
		Short: "Show the conditions of the world",
		Example: `  clbemu world get
  clbemu world get account`,
		Args:              atMost(1, "one beginning of names"),
		ValidArgsFunction: fromEmulator(conditionNames),
	}, func(cmd *cobra.Command, args []string, c *controlclient.Client) error {
		prefix := strings.Join(args, "")
		list, err := c.World(cmd.Context(), f.where)
		if err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(s controlapi.Setting) bool { return !strings.HasPrefix(s.Name, prefix) })
		if len(list) == 0 {
			if err := emulator.Names().CheckPrefix(prefix); err != nil {
				return usage(err)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "# no condition is set under %s\n", prefix)
		}
		return printConditions(cmd, list)
	})
}

func newClock() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "clock",
		Short: "Show or move the emulated time",
		Long: `Show or move the emulated time. It follows the machine's clock until you freeze,
advance or scale it, and never goes back. Signatures are always checked against
real time.`,
		Args: noArgs,
		RunE: help,
	}
	factor := func(n float64) *float64 { return &n }
	cmd.AddCommand(
		newClockChange("show", "Show the emulated time", noArgs, func([]string) (controlapi.ClockChange, error) {
			return controlapi.ClockChange{}, nil
		}),
		newClockChange("freeze", "Stop the emulated time", noArgs, func([]string) (controlapi.ClockChange, error) {
			return controlapi.ClockChange{Scale: factor(0)}, nil
		}),
		newClockChange("resume", "Run the emulated time at the speed of real time", noArgs, func([]string) (controlapi.ClockChange, error) {
			return controlapi.ClockChange{Scale: factor(1)}, nil
		}),
		newClockChange("advance DURATION", "Move the emulated time forward, such as by 168h", one("the duration"),
			func(args []string) (controlapi.ClockChange, error) {
				if d, err := time.ParseDuration(args[0]); err != nil || d < 0 {
					return controlapi.ClockChange{}, fmt.Errorf("clock advance: want a duration of 0 or more, such as 90s, 1h30m or 168h, not %q", args[0])
				}
				return controlapi.ClockChange{Advance: args[0]}, nil
			}),
		newClockChange("scale FACTOR", "Run the emulated time FACTOR times as fast as real time", one("the factor"),
			func(args []string) (controlapi.ClockChange, error) {
				n, err := strconv.ParseFloat(args[0], 64)
				if err != nil || n < 0 {
					return controlapi.ClockChange{}, fmt.Errorf("clock scale: want a number of 0 or more, such as 60, not %q", args[0])
				}
				return controlapi.ClockChange{Scale: &n}, nil
			}),
	)
	return cmd
}

// newClockChange returns a command that changes the clock, if told how, and shows the
// time.
func newClockChange(use, short string, args cobra.PositionalArgs, change func([]string) (controlapi.ClockChange, error)) *cobra.Command {
	f := &conditionFlags{}
	name, _, _ := strings.Cut(use, " ")
	example := "  clbemu clock " + name
	switch name {
	case "advance":
		example += " 168h"
	case "scale":
		example += " 60"
	}
	var wanted controlapi.ClockChange
	understood := func(cmd *cobra.Command, words []string) (err error) {
		if err := args(cmd, words); err != nil {
			return err
		}
		wanted, err = change(words)
		return usage(err)
	}
	return f.addWhere(&cobra.Command{Use: use, Short: short, Example: example, Args: understood},
		func(cmd *cobra.Command, _ []string, c *controlclient.Client) error {
			if wanted != (controlapi.ClockChange{}) {
				if err := c.SetClock(cmd.Context(), wanted); err != nil {
					return err
				}
			}
			status, err := c.Clock(cmd.Context())
			if err != nil {
				return err
			}
			return printing(cmd).show(status, func(s *terminal.Screen) error {
				s.Printf("%s  %s\n", status.Now.Format(time.RFC3339), clockPace(status.Scale))
				return nil
			})
		})
}

// clockPace says in words how the clock goes.
func clockPace(scale float64) string {
	switch scale {
	case 0:
		return "frozen"
	case 1:
		return "real time"
	}
	return strconv.FormatFloat(scale, 'f', -1, 64) + " times real time"
}
