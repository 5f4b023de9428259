package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/emulator/world"
)

func newWorld() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "world",
		Short: "Show or validate world files, and change the world of an emulator",
		Long: `A world file describes the cloud before the first call: accounts, regions, networks,
instances. clbemu serve plants it into an empty store. You can change conditions,
such as arrears, stock and quotas, while clients work.`,
		Args: noArgs,
		RunE: help,
	}
	cmd.AddCommand(newWorldShow(), newWorldValidate(), newWorldSet(), newWorldGet(), newWorldImport())
	return cmd
}

func newWorldShow() *cobra.Command {
	var network string
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the default world",
		Long: `Print the default world. With --network, the public addresses of load balancers are at
the top of a network, so that machines in the network reach load balancers of
clbemu serve --data-plane addresses without routes.`,
		Example: `  clbemu world show > world.yaml
  clbemu world show --network 172.18.0.0/16 > world.yaml`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			networks, err := prefixes(network)
			if err != nil {
				return usage(fmt.Errorf("--network: %w", err))
			}
			text, err := world.InNetwork(networks...)
			if err != nil {
				return usage(fmt.Errorf("--network: %w", err))
			}
			return printYAML(cmd, text)
		},
	}
	cmd.Flags().StringVar(&network, "network", "", "CIDR block of the network, such as a Docker network's; one of IPv4, one of IPv6 or both, separated by a comma")
	return cmd
}

func newWorldValidate() *cobra.Command {
	return &cobra.Command{
		Use:     "validate FILE",
		Short:   "Report all errors in a world file",
		Long:    "Report all errors in a world file, one per line. Exits with 1 when there is one.",
		Example: "  clbemu world validate world.yaml",
		Args:    one("the world file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := world.Load(args[0])
			if err != nil {
				return ofFile(err)
			}
			return printChange(cmd, "%s is valid", args[0])
		},
	}
}
