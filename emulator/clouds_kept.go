package emulator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/bolt"
	"github.com/clbemu/clbemu/state/engine/durable"
)

// Each durable cloud has a folder within the state's folder, and like it. The
// file cloudFile is written last and removed first: a folder without it is what a crash
// left.
const (
	cloudsFolder = "clouds"
	cloudFile    = "cloud.json"
)

// CloudDir is the folder of a durable cloud in a data folder.
func CloudDir(dataDir, name string) string { return filepath.Join(dataDir, cloudsFolder, name) }

// keptCloud is the content of cloudFile.
type keptCloud struct {
	Made    controlapi.NewCloud `json:"made"`
	Created time.Time           `json:"created"`
	Expires time.Time           `json:"expires"`
	Port    string              `json:"port,omitempty"`
}

// keep makes the folder of a durable cloud and opens the store in it.
func (cfg Config) keep(ctx context.Context, name string, from *state.Store, f *forkedCloud) (store *state.Store, err error) {
	if cfg.stateDir() == "" {
		return nil, fmt.Errorf("%w: a durable cloud needs a data folder, and this emulator has its state in memory or in etcd", control.ErrCloud)
	}
	dir := CloudDir(cfg.stateDir(), name)
	if _, err := os.Lstat(dir); err == nil {
		return nil, fmt.Errorf("%w: the folder %s is in the way: it has a cloud that could not be opened", control.ErrTaken, dir)
	}
	f.dir = dir
	forked, err := from.Fork(state.ForkConfig{Seed: f.made.Seed})
	if err != nil {
		return nil, err
	}
	e, err := bolt.Open(dir)
	if err == nil {
		if err = forked.CopyTo(ctx, e); err != nil {
			err = errors.Join(err, e.Close())
		}
	}
	if err = errors.Join(err, forked.Close()); err != nil {
		return nil, errors.Join(err, f.forget())
	}
	if store, err = cfg.openStore(ctx, e); err != nil {
		return nil, errors.Join(err, f.forget())
	}
	return store, nil
}

// publish makes a durable cloud one that a restart finds.
func (f *forkedCloud) publish() error {
	if f.dir == "" {
		return nil
	}
	kept := keptCloud{Made: f.made, Created: f.created, Expires: f.expires}
	if f.port != nil {
		_, kept.Port, _ = net.SplitHostPort(f.port.listener.Addr().String()) // a listener's address has both
	}
	return durable.Write(filepath.Join(f.dir, cloudFile), func(w io.Writer) error { return json.NewEncoder(w).Encode(kept) })
}

// forget deletes the folder of a durable cloud.
func (f *forkedCloud) forget() error {
	if f.dir == "" {
		return nil
	}
	return deleteCloud(f.dir)
}

func deleteCloud(dir string) error {
	return errors.Join(durable.Discard(filepath.Join(dir, cloudFile)), os.RemoveAll(dir))
}

// reopen opens the durable clouds in the data folder. One that can't be opened stays
// where it is, with a warning.
func (s *clouds) reopen(ctx context.Context) error {
	if s.e.base.stateDir() == "" {
		return nil
	}
	folder := filepath.Join(s.e.base.stateDir(), cloudsFolder)
	found, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("durable clouds: %w", err)
	}
	for _, entry := range found {
		if err := s.reopenOne(ctx, entry.Name(), filepath.Join(folder, entry.Name())); err != nil {
			s.e.cfg.Log.Warn().Err(err).Str("cloud", entry.Name()).Msg("a durable cloud is not there")
		}
	}
	return nil
}

func (s *clouds) reopenOne(ctx context.Context, name, dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, cloudFile))
	if errors.Is(err, fs.ErrNotExist) {
		return deleteCloud(dir)
	}
	if err != nil {
		return err
	}
	var kept keptCloud
	if err := errors.Join(json.Unmarshal(text, &kept), checkCloudName(name)); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(dir, cloudFile), err)
	}
	if !kept.Expires.IsZero() && !kept.Expires.After(time.Now()) {
		return deleteCloud(dir)
	}
	f := &forkedCloud{made: kept.Made, created: kept.Created, expires: kept.Expires, dir: dir, calls: new(sync.WaitGroup)}
	e, err := bolt.Open(dir)
	if err != nil {
		return err
	}
	cfg := s.e.base.of(name, dir)
	store, err := cfg.openStore(ctx, e)
	if err != nil {
		return err
	}
	if f.emulated, err = newEmulated(cfg, name, store, s); err != nil {
		return err
	}
	f.wanted = kept.Port
	s.admit(name, f)
	return nil
}
