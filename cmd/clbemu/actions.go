package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

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
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "PRODUCT\tACTION\tEMULATED")
			for _, row := range rows {
				fmt.Fprintf(w, "%s\t%s\t%s\n", row.Product, row.Action, yesNo(row.Emulated))
			}
			return cannot(w.Flush())
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
