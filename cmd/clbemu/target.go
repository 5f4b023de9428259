package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/control"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/bolt"
)

// access is what a command does with a folder: some only read it, and some may
// start with one that holds nothing.
type access int

const (
	reads access = iota
	writes
	creates
)

func (a access) open(dir string) (*bolt.Engine, error) {
	if a == reads {
		return bolt.OpenReadOnly(dir)
	}
	return bolt.Open(dir)
}

// with runs do on the state that the flags name: of a running emulator, or of a
// stopped one, by the handlers that would answer if it ran.
func (f *stateFlags) with(cmd *cobra.Command, a access, do func(*controlclient.Client) error) error {
	if !f.inFolder {
		c, err := f.client()
		if err != nil {
			return err
		}
		err = do(c)
		if unreachable := (*controlclient.Unreachable)(nil); errors.As(err, &unreachable) {
			return cannot(fmt.Errorf("%w: for a stopped one, give its folder with --data-dir", err))
		}
		return answered(err)
	}
	w, err := f.loadWorld()
	if err != nil {
		return cannot(err)
	}
	store, err := f.open(cmd, a)
	if err != nil {
		return cannot(err)
	}
	handler, err := control.NewOffline(control.Config{
		Store: store, Products: emulator.Products(), Plant: w.Plant, Snapshots: control.NewSnapshots(f.dataDir),
		MaxImport: math.MaxInt64, Version: version(), Log: zerolog.Nop(),
	})
	if err != nil {
		return cannot(errors.Join(err, store.Close()))
	}
	return errors.Join(answered(do(controlclient.InProcess(handler))), cannot(store.Close()))
}

// loadWorld is the world that a reset plants.
func (f *stateFlags) loadWorld() (*world.World, error) {
	if f.world == "" {
		return world.Default(), nil
	}
	w, err := world.Load(f.world)
	return w, ofFile(err)
}

// open opens the state in a folder.
func (f *stateFlags) open(cmd *cobra.Command, a access) (*state.Store, error) {
	path := filepath.Join(f.dataDir, bolt.FileName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && a != creates {
		return nil, fmt.Errorf("there is no state in %s: is it the right folder?", f.dataDir)
	}
	e, err := a.open(f.dataDir)
	if errors.Is(err, engine.ErrLocked) {
		err = fmt.Errorf("%s is in use by a running emulator: leave out --data-dir, or give the address of its control API with --server", f.dataDir)
	}
	if err != nil {
		return nil, err
	}
	return state.Open(cmd.Context(), state.Config{Schema: cloud.Schema, Engine: e, Requires: control.Requires, Warn: func(what string) { fmt.Fprintln(cmd.ErrOrStderr(), "warning:", what) }})
}
