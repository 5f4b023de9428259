package main

import "github.com/spf13/cobra"

func newFidelity() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fidelity",
		Short: "Hold what is published about the cloud against the cloud itself",
		Args:  noArgs,
		RunE:  help,
	}
	cmd.AddCommand(newFidelityRun(), newFidelityClean())
	return cmd
}
