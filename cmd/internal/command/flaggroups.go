package command

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGroups annotates a command whose help shows its flags in groups: a line for each, with
// a title and the names.
const flagGroups = "clbemu_flag_groups"

// describeFlags returns the flags of a command as its help shows them.
func describeFlags(cmd *cobra.Command) string {
	const heading = "each also an environment variable (--data-dir is CLBEMU_DATA_DIR):"
	flags := cmd.LocalNonPersistentFlags()
	if cmd.Annotations[flagGroups] == "" {
		return "\n\nFlags, " + heading + "\n" + usageOf(flags)
	}
	var b strings.Builder
	b.WriteString("\n\nFlags, " + heading)
	for line := range strings.Lines(cmd.Annotations[flagGroups]) {
		title, names, _ := strings.Cut(strings.TrimSpace(line), ": ")
		group := pflag.NewFlagSet("", pflag.ContinueOnError)
		group.SortFlags = false
		for name := range strings.FieldsSeq(names) {
			group.AddFlag(flags.Lookup(name))
		}
		b.WriteString("\n\n  " + title + "\n" + usageOf(group))
	}
	return b.String()
}
