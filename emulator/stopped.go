package emulator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"

	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/pull"
	"github.com/clbemu/clbemu/emulator/internal/rules"
	"github.com/clbemu/clbemu/emulator/internal/snapshots"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/bolt"
)

// Access says what a caller does with the state of a stopped emulator.
type Access int

// The kinds of access. A caller that Creates may start with a folder without a state.
const (
	Reads Access = iota
	Writes
	Creates
)

// Stopped is the state of an emulator that does not run. Its Handler serves the control
// API without metrics, journal and fault rules.
type Stopped struct {
	http.Handler
	store *state.Store
}

// StoppedConfig names the state of a stopped emulator.
type StoppedConfig struct {
	DataDir string
	Access  Access
	// World is the world after a reset. If nil, it is the default world.
	World   *world.World
	Version controlapi.Version
	// Warn receives what the store mends or skips.
	Warn func(problem string)
}

// OpenStopped opens the state in a folder. While an emulator runs on it, the error is
// engine.ErrLocked; a folder without a state is fs.ErrNotExist, unless the caller Creates.
func OpenStopped(ctx context.Context, cfg StoppedConfig) (*Stopped, error) {
	if _, err := os.Stat(filepath.Join(cfg.DataDir, bolt.FileName)); errors.Is(err, fs.ErrNotExist) && cfg.Access != Creates {
		return nil, fmt.Errorf("no state in %s: %w", cfg.DataDir, fs.ErrNotExist)
	}
	if err := pull.Unfinished(cfg.DataDir); err != nil {
		return nil, err
	}
	open := bolt.Open
	if cfg.Access == Reads {
		open = bolt.OpenReadOnly
	}
	e, err := open(cfg.DataDir)
	if err != nil {
		return nil, err
	}
	store, err := state.Open(ctx, state.Config{Schema: kinds.Schema, Engine: e, Requires: rules.Requires, Warn: cfg.Warn})
	if err != nil {
		return nil, err
	}
	handler, err := control.NewOffline(control.Config{
		Store: store, Products: products.All(), Plant: cmp.Or(cfg.World, world.Default()).Plant, Snapshots: snapshots.New(cfg.DataDir),
		MaxImport: math.MaxInt64, Version: cfg.Version, Log: zerolog.Nop(),
	})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return &Stopped{handler, store}, nil
}

// Close closes the state.
func (s *Stopped) Close() error { return s.store.Close() }

// Actions lists the actions of all products, in order of product and action.
func Actions() []controlapi.Action { return control.Actions(products.All()) }
