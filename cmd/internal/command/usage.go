package command

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/emulator/spelling"
)

// describeUsage prints the help after the description. It is no template, since a
// program with one keeps all methods of all its packages.
func describeUsage(cmd *cobra.Command) error {
	var b strings.Builder
	groups := cmd.HasAvailableSubCommands()
	b.WriteString("Usage:")
	if cmd.Runnable() {
		fmt.Fprintf(&b, "\n  %s", cmd.UseLine())
	}
	if groups {
		fmt.Fprintf(&b, "\n  %s [command]", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\n\nExamples:\n%s", cmd.Example)
	}
	if groups {
		b.WriteString("\n\nCommands:")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&b, "\n  %-*s  %s", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	if flags := cmd.LocalNonPersistentFlags(); flags.HasAvailableFlags() {
		b.WriteString(describeFlags(cmd))
	}
	if cmd.HasAvailableInheritedFlags() || cmd.HasAvailablePersistentFlags() {
		b.WriteString("\n\nFlags of every command:\n" + usageOf(cmd.Root().PersistentFlags()))
	}
	if groups {
		fmt.Fprintf(&b, "\n\nSee %s [command] --help for more of a command.", cmd.CommandPath())
	}
	_, err := fmt.Fprintln(cmd.OutOrStderr(), b.String())
	return err
}

func usageOf(flags *pflag.FlagSet) string { return strings.TrimRight(flags.FlagUsages(), " \n") }

// explainUsage makes help fit the terminal, and errors of the command line suggest what
// was meant.
func explainUsage(root *cobra.Command) {
	root.SetUsageFunc(describeUsage)
	usual := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		out := cmd.OutOrStdout()
		var text bytes.Buffer
		cmd.SetOut(&text)
		usual(cmd, args)
		cmd.SetOut(out)
		screen := terminal.New(out)
		screen.Printf("%s", screen.Fit(text.String(), terminal.LastColumn))
	})
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		unknown := (*pflag.NotExistError)(nil)
		if before := cmd.Flags().Args(); cmd.HasAvailableSubCommands() && len(before) > 0 {
			return noArgs(cmd, before) // the flag may belong to the intended command
		}
		if errors.As(err, &unknown) && negative(unknown.GetSpecifiedShortnames()) && cmd.Args != nil {
			if err := cmd.Args(cmd, []string{"-" + unknown.GetSpecifiedShortnames()}); err != nil {
				return usage(err)
			}
		}
		return usage(fmt.Errorf("%s: see %s --help", wrongFlag(cmd, err), cmd.CommandPath()))
	})
}

// wrongFlag describes what is wrong with a flag.
func wrongFlag(cmd *cobra.Command, err error) string {
	unknown, value := (*pflag.NotExistError)(nil), (*pflag.InvalidValueError)(nil)
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		if field := fieldOf(cmd, unknown.GetSpecifiedName()); field != "" {
			return fmt.Sprintf("unknown flag: --%s: say --where %s=VALUE", unknown.GetSpecifiedName(), field)
		}
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
		return "unknown flag: --" + unknown.GetSpecifiedName() + names.DidYouMean("--"+unknown.GetSpecifiedName(), known, "")
	case errors.As(err, &value):
		return "--" + wrongValue(value.GetFlag(), value.GetValue()).Error()
	}
	return err.Error()
}

// fieldOf returns the field for --where that the user typed as a flag, or "" if there is none.
func fieldOf(cmd *cobra.Command, name string) string {
	if cmd.Flags().Lookup("where") == nil {
		return ""
	}
	fields := journal.Fields()
	if at := slices.IndexFunc(fields, func(f string) bool { return strings.EqualFold(f, strings.ReplaceAll(name, "-", "")) }); at >= 0 {
		return fields[at]
	}
	return ""
}

// negative reports whether the letters of a flag are a number with a sign before it.
func negative(letters string) bool { return letters != "" && letters[0] >= '0' && letters[0] <= '9' }

// wants maps a type of flag to a description of its values.
var wants = map[string]string{
	"bool": "true or false", "int": "a whole number", "int64": "a whole number", "uint64": "a whole number from 0",
	"duration": "a duration, such as 90s or 5m", "float64": "a number",
}

// wrongValue refuses a value of a flag.
func wrongValue(f *pflag.Flag, value string) error {
	return fmt.Errorf("%s: want %s, not %q", f.Name, wants[f.Value.Type()], value)
}

// help runs a command that only groups others.
func help(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// noArgs refuses arguments: one of a command that groups others is a misspelt
// command.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasAvailableSubCommands() {
		return usage(fmt.Errorf("%s takes no arguments, got %q: see %s --help", cmd.Name(), args[0], cmd.CommandPath()))
	}
	var known []string
	for _, c := range cmd.Commands() {
		known = append(known, c.Name())
	}
	return usage(fmt.Errorf("%s has no command %q%s", cmd.CommandPath(), args[0], names.DidYouMean(args[0], known, "see "+cmd.CommandPath()+" --help")))
}

// refuseUnknown makes the commands that cobra adds refuse words that they do not know.
func refuseUnknown(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			cmd.Args, cmd.RunE = noArgs, help
		case "help":
			cmd.Run, cmd.RunE = nil, func(_ *cobra.Command, args []string) error {
				about, rest, err := root.Find(args)
				if err != nil || len(rest) > 0 {
					return noArgs(about, rest)
				}
				return about.Help()
			}
		}
	}
}

// one wants one argument.
func one(what string) cobra.PositionalArgs { return between(1, 1, what) }

// oneName wants the name that a person gives a thing.
func oneName(thing string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := one("the name of "+thing)(cmd, args); err != nil {
			return err
		}
		return usage(spelling.CheckName(thing, args[0]))
	}
}

// oneOrMore wants an argument, and takes more.
func oneOrMore(what string) cobra.PositionalArgs { return between(1, math.MaxInt, what) }

// atMost takes at most n arguments.
func atMost(n int, what string) cobra.PositionalArgs { return between(0, n, what) }

// between wants from least to most arguments, and says what they are and what to type.
func between(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		path := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
		switch {
		case len(args) < least:
			return usage(fmt.Errorf("%s needs %s: type %s", path, what, firstExample(cmd)))
		case len(args) > most:
			return usage(fmt.Errorf("%s takes %s, but got %q too: type %s", path, what, args[most], firstExample(cmd)))
		}
		return nil
	}
}

// firstExample returns the first example in a command's help.
func firstExample(cmd *cobra.Command) string {
	first, _, _ := strings.Cut(cmd.Example, "\n")
	return strings.TrimSpace(first)
}
