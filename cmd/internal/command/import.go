package command

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
)

func newWorldImport() *cobra.Command {
	f := &conditionFlags{}
	return f.addWhere(&cobra.Command{
		Use:   "import FILE",
		Short: "Import a Kubernetes cluster's nodes and pods as instances and network interfaces",
		Long: `Import a Kubernetes cluster's nodes and pods as instances and network interfaces, in
the form that kubectl get -o json prints; - reads standard input.

A node becomes the instance that its providerID names (<region>.<instance id>), with
its InternalIP as its address. A pod becomes a network interface with its address on
the instance of its node: import the nodes first. If no vSwitch contains an address,
clbemu creates one, and a VPC if that is missing too.

Importing again updates only addresses that changed. Nodes and pods that left the
cluster stay.`,
		Example: `  kubectl get nodes -o json | clbemu world import -
  kubectl get pods -A -o json | clbemu world import -`,
		Args: one("the file to import"),
	}, func(cmd *cobra.Command, args []string, c *controlclient.Client) error {
		return reading(cmd, args[0], func(from io.Reader) error {
			done, err := c.ImportCluster(cmd.Context(), f.where, from)
			if err != nil {
				return err
			}
			return printing(cmd).show(done, func(s *terminal.Screen) error {
				printImported(s, done)
				return nil
			})
		})
	})
}

func printImported(w io.Writer, done controlapi.Imported) {
	none := controlapi.Count{}
	if done.Instances != none || done.NetworkInterfaces == none {
		fmt.Fprintf(w, "instances: %s\n", done.Instances)
	}
	if done.NetworkInterfaces != none {
		fmt.Fprintf(w, "network interfaces: %s\n", done.NetworkInterfaces)
	}
	if done.VPCs+done.VSwitches > 0 {
		fmt.Fprintf(w, "created for them: %d VPCs, %d vSwitches\n", done.VPCs, done.VSwitches)
	}
	if done.SkippedPods > 0 {
		fmt.Fprintf(w, "skipped pods without their own address: %d\n", done.SkippedPods)
	}
}
