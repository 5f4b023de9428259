package command

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
)

func newSnapshot() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Save the state under a name, and restore it",
		Long: `Save the state of an emulator under a name, and restore it later. The emulator runs,
or is stopped and named by its folder (--data-dir). Snapshots are files in the
folder "snapshots" of the data folder, and hold the secrets of access keys.
Snapshots of a state in memory are lost when the emulator ends.`,
		Args: noArgs,
		RunE: help,
	}
	cmd.AddCommand(
		newSnapshotList(),
		newSnapshotChange("take", "Save the state under a name, replacing the snapshot that has it", (*controlclient.Client).TakeSnapshot),
		newSnapshotChange("delete", "Delete a snapshot", (*controlclient.Client).DeleteSnapshot),
		newSnapshotRestore(),
	)
	return cmd
}

func newSnapshotList() *cobra.Command {
	f := &stateFlags{}
	return f.addWriting(&cobra.Command{
		Use:   "list",
		Short: "List the snapshots",
		Example: `  clbemu snapshot list
  clbemu snapshot list --data-dir ./clbemu-data`,
		Args: noArgs,
	}, func(cmd *cobra.Command, _ []string, c *controlclient.Client) error { return printSnapshots(cmd, c) })
}

// newSnapshotChange returns a command that changes the list of snapshots, and then shows it.
func newSnapshotChange(name, short string, change func(*controlclient.Client, context.Context, string) error) *cobra.Command {
	f := &stateFlags{}
	return f.addWriting(&cobra.Command{
		Use:               name + " NAME",
		Short:             short,
		Example:           "  clbemu snapshot " + name + " before-upgrade",
		Args:              oneName("a snapshot"),
		ValidArgsFunction: fromEmulator(snapshotNames),
	}, func(cmd *cobra.Command, args []string, c *controlclient.Client) error {
		progress := terminal.New(cmd.ErrOrStderr()).Transfer("snapshot "+name, 0)
		err := change(c, cmd.Context(), args[0])
		if progress.Stop(); err != nil {
			return err
		}
		return printSnapshots(cmd, c)
	})
}

func newSnapshotRestore() *cobra.Command {
	f := &stateFlags{}
	return f.addWriting(&cobra.Command{
		Use:               "restore NAME",
		Short:             "Restore the state of a snapshot, with its conditions, clock and fault rules",
		Example:           "  clbemu snapshot restore before-upgrade",
		Args:              oneName("a snapshot"),
		ValidArgsFunction: fromEmulator(snapshotNames),
	}, func(cmd *cobra.Command, args []string, c *controlclient.Client) error {
		progress := terminal.New(cmd.ErrOrStderr()).Transfer("restoring", 0)
		repaired, err := c.RestoreSnapshot(cmd.Context(), args[0])
		if progress.Stop(); err != nil {
			return err
		}
		warn(cmd, repaired)
		return printChange(cmd, "restored the state of %s", args[0])
	})
}

func printSnapshots(cmd *cobra.Command, c *controlclient.Client) error {
	list, err := c.Snapshots(cmd.Context())
	if err != nil {
		return err
	}
	return printing(cmd).show(controlapi.Snapshots{Snapshots: append([]controlapi.Snapshot{}, list...)}, func(s *terminal.Screen) error {
		if len(list) == 0 {
			s.Printf("there are no snapshots\n")
			return nil
		}
		var rows [][]string
		for _, kept := range list {
			rows = append(rows, []string{kept.Name, kept.Taken.Format(time.RFC3339), fmt.Sprint(kept.Bytes)})
		}
		return s.Table([]string{"SNAPSHOT", "TAKEN", "BYTES"}, rows)
	})
}
