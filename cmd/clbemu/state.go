package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/clbemu/terminal"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/state/engine"
)

// stateFlags say whose state a command is about.
type stateFlags struct {
	dataDir, server, token, world string
}

func newState() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "state",
		Short: "Export, import, check or reset the state",
		Long: `Work on the state as a whole: of a stopped emulator in its folder (--data-dir),
or of a running one by its control API (--server).`,
		Args: noArgs,
		RunE: help,
	}
	cmd.AddCommand(newStateExport(), newStateImport(), newStateCheck(), newStateReset())
	return cmd
}

// add gives a command the flags, and wraps what it does.
func (f *stateFlags) add(cmd *cobra.Command, do func(cmd *cobra.Command, args []string) error) *cobra.Command {
	flags := cmd.Flags()
	flags.StringVar(&f.dataDir, "data-dir", defaultDataDir, "folder of a stopped emulator's state")
	flags.StringVar(&f.server, "server", "", "control API of a running emulator, such as http://"+defaultControl)
	flags.StringVar(&f.token, "control-token", "", "token of the control API")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := configure(cmd); err != nil {
			return err
		}
		return do(cmd, args)
	}
	return cmd
}

// addRunning gives a command the flags of a state, which is a running emulator's
// unless a folder is named and no server. The folder may be named in the
// environment, for the server's own sake.
func (f *stateFlags) addRunning(cmd *cobra.Command, do func(cmd *cobra.Command, args []string, c *controlclient.Client) error) *cobra.Command {
	f.add(cmd, func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("data-dir") && !cmd.Flags().Changed("server") {
			f.server = ""
		}
		return f.with(cmd, writes, func(c *controlclient.Client) error { return do(cmd, args, c) })
	})
	server := cmd.Flags().Lookup("server")
	server.DefValue = "http://" + defaultControl
	f.server = server.DefValue
	return cmd
}

func newStateExport() *cobra.Command {
	f := &stateFlags{}
	return f.add(&cobra.Command{
		Use:   "export",
		Short: "Write the state to standard output as JSON",
		Long:  "Write the state to standard output as JSON. It holds the secrets of access keys.",
		Example: `  clbemu state export > state.json
  clbemu state export --server http://127.0.0.1:9601 > state.json`,
		Args: noArgs,
	}, func(cmd *cobra.Command, _ []string) error {
		return f.with(cmd, reads, func(c *controlclient.Client) error {
			out := cmd.OutOrStdout()
			if terminal.Is(out) { // it is what shows how far it is
				return export(cmd, c, out)
			}
			progress := terminal.New(cmd.ErrOrStderr()).Transfer("exporting", 0)
			defer progress.Stop()
			return export(cmd, c, progress.Writer(out))
		})
	})
}

func export(cmd *cobra.Command, c *controlclient.Client, out io.Writer) error {
	return c.ExportState(cmd.Context(), func(state io.Reader) error {
		_, err := io.Copy(out, state)
		return err
	})
}

func newStateImport() *cobra.Command {
	f := &stateFlags{}
	return f.add(&cobra.Command{
		Use:   "import FILE",
		Short: "Replace the state by an exported one",
		Long:  "Replace the state by an exported one; - reads standard input. A state that is inconsistent is refused, and changes nothing.",
		Example: `  clbemu state import state.json
  clbemu state import --server http://127.0.0.1:9601 state.json`,
		Args: exactly(1, "the file to import"),
	}, func(cmd *cobra.Command, args []string) error {
		return reading(cmd, args[0], func(from io.Reader) error {
			return f.with(cmd, creates, func(c *controlclient.Client) error { return c.ImportState(cmd.Context(), from) })
		})
	})
}

// reading runs do over a file, and shows how far it is; - is standard input.
func reading(cmd *cobra.Command, name string, do func(io.Reader) error) error {
	from, total := cmd.InOrStdin(), int64(0)
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return cannot(err)
		}
		defer file.Close()
		if info, err := file.Stat(); err == nil {
			total = info.Size()
		}
		from = file
	}
	progress := terminal.New(cmd.ErrOrStderr()).Transfer("importing", total)
	defer progress.Stop()
	return do(progress.Reader(from))
}

func newStateCheck() *cobra.Command {
	f := &stateFlags{}
	return f.add(&cobra.Command{
		Use:   "check",
		Short: "Verify the state's invariants",
		Long:  "Verify every invariant of the state, and that what is on disk is what is served. Exits with 1 when something is wrong.",
		Example: `  clbemu state check
  clbemu state check --server http://127.0.0.1:9601`,
		Args: noArgs,
	}, func(cmd *cobra.Command, _ []string) error {
		progress := terminal.New(cmd.ErrOrStderr()).Transfer("checking", 0)
		err := f.with(cmd, reads, func(c *controlclient.Client) error { return printProblems(cmd, c, progress.Stop) })
		progress.Stop()
		if errors.Is(err, engine.ErrDamaged) {
			return &exitError{exitFailed, err} // which is what was asked
		}
		return err
	})
}

func printProblems(cmd *cobra.Command, c *controlclient.Client, checked func()) error {
	problems, err := c.CheckState(cmd.Context())
	checked()
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	for _, problem := range problems {
		fmt.Fprintln(w, problem)
	}
	if len(problems) > 0 {
		return failed(fmt.Errorf("the state has %d problems", len(problems)))
	}
	fmt.Fprintln(w, "the state is consistent")
	return nil
}

func newStateReset() *cobra.Command {
	f := &stateFlags{}
	cmd := f.add(&cobra.Command{
		Use:   "reset",
		Short: "Delete everything and plant the world again",
		Long:  "Delete everything and plant the world again. A running emulator plants the world that it was started with.",
		Example: `  clbemu state reset --world world.yaml
  clbemu state reset --server http://127.0.0.1:9601`,
		Args: noArgs,
	}, func(cmd *cobra.Command, _ []string) error {
		if f.server != "" && f.world != "" {
			return usage(errors.New("--world and --server exclude each other: a running emulator has its world"))
		}
		return f.with(cmd, writes, func(c *controlclient.Client) error { return c.ResetState(cmd.Context()) })
	})
	cmd.Flags().StringVar(&f.world, "world", "", "world file (default: clbemu world show)")
	return cmd
}

func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usage(fmt.Errorf("%s takes one argument, %s: see %s --help", cmd.Name(), what, cmd.CommandPath()))
		}
		return nil
	}
}
