package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/clbemu/terminal"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/control"
)

func newActions() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "actions",
		Short: "List the API's actions and which of them are emulated",
		Example: `  clbemu actions
  clbemu actions --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows := control.Actions(emulator.Products())
			if asJSON {
				return cannot(json.NewEncoder(cmd.OutOrStdout()).Encode(rows))
			}
			var lines [][]string
			for _, row := range rows {
				lines = append(lines, []string{row.Product, row.Action, yesNo(row.Emulated)})
			}
			return cannot(terminal.Table(cmd.OutOrStdout(), []string{"PRODUCT", "ACTION", "EMULATED"}, lines))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
