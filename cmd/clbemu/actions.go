package main

import (
	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/clbemu/internal/terminal"
	"github.com/clbemu/clbemu/emulator"
)

func newActions() *cobra.Command {
	return &cobra.Command{
		Use:   "actions",
		Short: "List the API's actions and which of them are emulated",
		Example: `  clbemu actions
  clbemu actions --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows := emulator.Actions()
			return printing(cmd).show(list("actions", rows), func(s *terminal.Screen) error {
				var lines [][]string
				for _, row := range rows {
					lines = append(lines, []string{row.Product, row.Action, yesNo(row.Emulated)})
				}
				return s.Table([]string{"PRODUCT", "ACTION", "EMULATED"}, lines)
			})
		},
	}
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
