package command

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state/engine"
)

// with runs do on the state that the flags name: of a running emulator, or of a
// stopped one, by the handlers that would answer if it ran.
func (f *stateFlags) with(cmd *cobra.Command, a emulator.Access, do func(*controlclient.Client) error) error {
	if !f.inFolder {
		c, err := f.client()
		if err != nil {
			return err
		}
		err = do(c)
		if unreachable := (*controlclient.Unreachable)(nil); errors.As(err, &unreachable) {
			return cannot(fmt.Errorf("%w: for a stopped one, give its folder with --data-dir", err))
		}
		return withExitCode(err)
	}
	stopped, err := f.open(cmd, a)
	if err != nil {
		return cannot(err)
	}
	return errors.Join(withExitCode(do(controlclient.InProcess(stopped))), cannot(stopped.Close()))
}

// loadWorld returns the world that a reset plants.
func (f *stateFlags) loadWorld() (*world.World, error) {
	if f.world == "" {
		return nil, nil
	}
	w, err := world.Load(f.world)
	return w, ofFile(err)
}

// open opens the state in a folder.
func (f *stateFlags) open(cmd *cobra.Command, a emulator.Access) (*emulator.Stopped, error) {
	w, err := f.loadWorld()
	if err != nil {
		return nil, err
	}
	dir := f.dataDir
	if cloud := f.forked(); cloud != "" {
		dir = emulator.CloudDir(dir, cloud)
	}
	stopped, err := emulator.OpenStopped(cmd.Context(), emulator.StoppedConfig{
		DataDir: dir, Access: a, World: w, Version: version(),
		Warn: func(problem string) { fmt.Fprintln(cmd.ErrOrStderr(), "warning:", problem) },
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no state in %s: is it the right folder?", dir)
	case errors.Is(err, engine.ErrLocked):
		return nil, fmt.Errorf("%s is in use by a running emulator: leave out --data-dir, or give the address of its control API with --server", dir)
	}
	return stopped, err
}
