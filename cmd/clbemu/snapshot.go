package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/clbemu/terminal"
	"github.com/clbemu/clbemu/emulator/control"
)

func newSnapshot() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Keep the state under a name, and come back to it",
		Long: `Keep the state under a name, and come back to it: of a running emulator, or of a
stopped one in its folder (--data-dir). Snapshots are files in the folder
snapshots of the data folder, and hold the secrets of access keys; those of a
state in memory are gone with it.`,
		Args: noArgs,
		RunE: help,
	}
	cmd.AddCommand(
		newSnapshotList(),
		newSnapshotChange("take", "Keep the state as it is under a name, in the place of what had it", target.takeSnapshot),
		newSnapshotChange("delete", "Delete a snapshot", target.deleteSnapshot),
		newSnapshotRestore(),
	)
	return cmd
}

func newSnapshotList() *cobra.Command {
	f := &stateFlags{}
	return f.addRunning(&cobra.Command{
		Use:   "list",
		Short: "List the snapshots",
		Example: `  clbemu snapshot list
  clbemu snapshot list --data-dir ./clbemu-data`,
		Args: noArgs,
	}, func(cmd *cobra.Command, _ []string, t target) error { return printSnapshots(cmd, t) })
}

// newSnapshotChange is a command that changes the list, and shows what there is
// then.
func newSnapshotChange(name, short string, change func(target, string) error) *cobra.Command {
	f := &stateFlags{}
	return f.addRunning(&cobra.Command{
		Use:     name + " NAME",
		Short:   short,
		Example: "  clbemu snapshot " + name + " before-upgrade",
		Args:    exactly(1, "the name of the snapshot"),
	}, func(cmd *cobra.Command, args []string, t target) error {
		progress := terminal.New(cmd.ErrOrStderr()).Transfer("snapshot "+name, 0)
		err := change(t, args[0])
		if progress.Stop(); err != nil {
			return err
		}
		return printSnapshots(cmd, t)
	})
}

func newSnapshotRestore() *cobra.Command {
	f := &stateFlags{}
	return f.addRunning(&cobra.Command{
		Use:     "restore NAME",
		Short:   "Make the state that of a snapshot, with its conditions, clock and fault rules",
		Example: "  clbemu snapshot restore before-upgrade",
		Args:    exactly(1, "the name of the snapshot"),
	}, func(cmd *cobra.Command, args []string, t target) error {
		progress := terminal.New(cmd.ErrOrStderr()).Transfer("restoring", 0)
		err := t.restoreSnapshot(args[0])
		if progress.Stop(); err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "the state is that of %s\n", args[0])
		return nil
	})
}

func printSnapshots(cmd *cobra.Command, t target) error {
	list, err := t.snapshots()
	if err != nil {
		return err
	}
	var rows [][]string
	for _, s := range list {
		rows = append(rows, []string{s.Name, s.Taken.Format(time.RFC3339), fmt.Sprint(s.Bytes)})
	}
	return cannot(terminal.Table(cmd.OutOrStdout(), []string{"SNAPSHOT", "TAKEN", "BYTES"}, rows))
}

func (l *local) snapshots() ([]control.Snapshot, error) {
	list, err := l.kept.List()
	return list, cannot(err)
}

func (l *local) takeSnapshot(name string) error { return snapshotError(l.kept.Take(l.store, name)) }

func (l *local) restoreSnapshot(name string) error {
	return snapshotError(l.kept.Restore(l.store, name))
}

func (l *local) deleteSnapshot(name string) error { return snapshotError(l.kept.Delete(name)) }

// snapshotError gives an error the exit code that the control API's answer gets.
func snapshotError(err error) error {
	switch {
	case errors.Is(err, control.ErrNoSnapshot):
		return usage(err)
	case errors.Is(err, control.ErrSnapshotName), errors.Is(err, control.ErrSnapshotBroken):
		return failed(err)
	}
	return cannot(err)
}

func (r *remote) snapshots() ([]control.Snapshot, error) {
	var got control.SnapshotList
	err := r.call(http.MethodGet, "/v1/snapshots", nil, decode(&got))
	return got.Snapshots, err
}

func (r *remote) takeSnapshot(name string) error {
	return r.call(http.MethodPut, snapshotPath(name), nil, discard)
}

func (r *remote) restoreSnapshot(name string) error {
	return r.call(http.MethodPost, snapshotPath(name)+"/restore", nil, discard)
}

func (r *remote) deleteSnapshot(name string) error {
	return r.call(http.MethodDelete, snapshotPath(name), nil, discard)
}

func snapshotPath(name string) string { return "/v1/snapshots/" + url.PathEscape(name) }
