package command

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/state/engine"
)

// stateFlags say whose state a command is about: a running emulator's, or that in the
// folder of a stopped one.
type stateFlags struct {
	connection
	dataDir, world string
	inFolder       bool
}

func newState() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "state",
		Short: "Export, import, check or reset the state, or copy it from a real account",
		Long: `Work on the whole state of a running emulator, or of a stopped one in its folder
(--data-dir).`,
		Args: noArgs,
		RunE: help,
	}
	cmd.AddCommand(newStateExport(), newStateImport(), newStateCheck(), newStateReset(), newStatePull())
	return cmd
}

// add gives a command the flags, and wraps what it does. The folder counts when it is
// typed: in the environment it may be for the server's own sake.
func (f *stateFlags) add(cmd *cobra.Command, do func(cmd *cobra.Command, args []string) error) *cobra.Command {
	flags := cmd.Flags()
	f.define(flags)
	flags.StringVar(&f.dataDir, "data-dir", "", "folder of a stopped emulator's state, such as "+defaultDataDir)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.inFolder = typed(cmd, "data-dir"); f.inFolder && typed(cmd, "server") {
			return usage(errors.New("--data-dir and --server can't be used together: one names a stopped emulator, the other a running one"))
		}
		return do(cmd, args)
	}
	return cmd
}

// addWriting gives a command the flags of a state that it may change.
func (f *stateFlags) addWriting(cmd *cobra.Command, do func(cmd *cobra.Command, args []string, c *controlclient.Client) error) *cobra.Command {
	return f.add(cmd, func(cmd *cobra.Command, args []string) error {
		return f.with(cmd, emulator.Writes, func(c *controlclient.Client) error { return do(cmd, args, c) })
	})
}

func newStateExport() *cobra.Command {
	f := &stateFlags{}
	return f.add(&cobra.Command{
		Use:   "export",
		Short: "Write the state to standard output as JSON",
		Long:  "Write the state to standard output as JSON. It holds the secrets of access keys.",
		Example: `  clbemu state export > state.json
  clbemu state export --data-dir ./clbemu-data > state.json`,
		Args: noArgs,
	}, func(cmd *cobra.Command, _ []string) error {
		return f.with(cmd, emulator.Reads, func(c *controlclient.Client) error {
			out := cmd.OutOrStdout()
			if terminal.Is(out) { // the output itself shows the progress
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
		Short: "Replace the state with an exported one",
		Long:  "Replace the state with an exported one; - reads standard input. An inconsistent state is rejected, and nothing changes.",
		Example: `  clbemu state import state.json
  clbemu state import --data-dir ./clbemu-data state.json`,
		Args: one("the file to import"),
	}, func(cmd *cobra.Command, args []string) error {
		return reading(cmd, args[0], func(from io.Reader) error {
			return f.with(cmd, emulator.Creates, func(c *controlclient.Client) error {
				repaired, err := c.ImportState(cmd.Context(), from)
				if err != nil {
					return err
				}
				warn(cmd, repaired)
				return printChange(cmd, "imported the state of %s", named(args[0]))
			})
		})
	})
}

// named returns the name of a file for messages; - is standard input.
func named(file string) string {
	if file == "-" {
		return "standard input"
	}
	return file
}

// reading runs do over a file, and shows how far it is; - is standard input.
func reading(cmd *cobra.Command, name string, do func(io.Reader) error) error {
	from, total := cmd.InOrStdin(), int64(0)
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return usage(err)
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
		Long:  "Verify every invariant of the state, and that the disk holds the state that is served. Exits with 1 when it finds a problem.",
		Example: `  clbemu state check
  clbemu state check --data-dir ./clbemu-data`,
		Args: noArgs,
	}, func(cmd *cobra.Command, _ []string) error {
		progress := terminal.New(cmd.ErrOrStderr()).Transfer("checking", 0)
		err := f.with(cmd, emulator.Reads, func(c *controlclient.Client) error { return printProblems(cmd, c, progress.Stop) })
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
	if err := printing(cmd).show(controlapi.Problems{Problems: problems}, func(s *terminal.Screen) error {
		for _, problem := range problems {
			s.Printf("%s\n", problem)
		}
		if len(problems) == 0 {
			s.Printf("the state is consistent\n")
		}
		return nil
	}); err != nil || len(problems) == 0 {
		return err
	}
	return failed(fmt.Errorf("the state has %s", counted(len(problems), "problem")))
}

func newStateReset() *cobra.Command {
	f := &stateFlags{}
	faults := false
	cmd := f.add(&cobra.Command{
		Use:   "reset",
		Short: "Delete everything but the fault rules and plant the world again",
		Long: `Delete everything that clients created, reset all conditions and the emulated time, and
plant the world again. Fault rules stay unless --faults is given. A running emulator
plants the world that it started with.`,
		Example: `  clbemu state reset
  clbemu state reset --faults
  clbemu state reset --data-dir ./clbemu-data --world world.yaml`,
		Args: noArgs,
	}, func(cmd *cobra.Command, _ []string) error {
		if !f.inFolder && f.world != "" {
			return usage(errors.New("--world needs --data-dir: a running emulator keeps its own world"))
		}
		return f.with(cmd, emulator.Writes, func(c *controlclient.Client) error {
			if err := c.ResetState(cmd.Context(), faults); err != nil {
				return err
			}
			if faults {
				return printChange(cmd, "everything is deleted, fault rules too, and the world is planted again")
			}
			return printChange(cmd, "everything but the fault rules is deleted, and the world is planted again")
		})
	})
	cmd.Flags().StringVar(&f.world, "world", "", "world file (default: clbemu world show)")
	cmd.Flags().BoolVar(&faults, "faults", false, "delete the fault rules too")
	return cmd
}
