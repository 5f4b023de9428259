package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the manual pages of all commands into a folder",
		Example: "  clbemu man /usr/local/share/man/man1",
		Args:    exactly(1, "the folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return cannot(err)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // the same of every build
			made, _ := time.Parse(time.RFC3339, version().Date)
			if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: programName, Date: &made}, args[0]); err != nil {
				return cannot(err)
			}
			return did(cmd, "the manual pages are in %s", args[0])
		},
	}
}
