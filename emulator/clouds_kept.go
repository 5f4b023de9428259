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
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/bolt"
	"github.com/clbemu/clbemu/state/engine/durable"
)

// shelf is where durable clouds are kept, by their names.
type shelf interface {
	// list yields what is said about each cloud that is kept, or why that can't be read. It
	// deletes what a crash left of others.
	list(ctx context.Context, each func(name string, about []byte, err error)) error
	// begin begins a cloud, and open opens one that is kept, with the configuration that it
	// has there.
	begin(context.Context, string, Config) (engine.Engine, Config, error)
	open(context.Context, string, Config) (engine.Engine, Config, error)
	// keep makes a cloud one that list yields from then on.
	keep(ctx context.Context, name string, about []byte) error
	// forget deletes a cloud.
	forget(ctx context.Context, name string) error
}

// shelf returns where this emulator keeps durable clouds, nil if it keeps none.
func (cfg *Config) shelf() shelf {
	switch {
	case cfg.Replica != nil:
		return branches{cfg.Replica.State}
	case cfg.stateDir() != "":
		return folders{cfg.stateDir()}
	}
	return nil
}

// branches are kept beside the state that replicas share. The leader has them.
type branches struct{ of engine.Elected }

func (b branches) list(ctx context.Context, each func(string, []byte, error)) error {
	kept, err := b.of.Branches(ctx)
	for name, about := range kept {
		each(name, about, nil)
	}
	return err
}

func (b branches) begin(ctx context.Context, name string, cfg Config) (engine.Engine, Config, error) {
	branch, err := b.of.NewBranch(ctx, name)
	return branch, cfg, err
}

func (b branches) open(ctx context.Context, name string, cfg Config) (engine.Engine, Config, error) {
	branch, err := b.of.Branch(ctx, name)
	return branch, cfg, err
}

func (b branches) keep(ctx context.Context, name string, about []byte) error {
	return b.of.KeepBranch(ctx, name, about)
}

func (b branches) forget(ctx context.Context, name string) error { return b.of.DropBranch(ctx, name) }

// folders are within the state's folder, and like it. The file cloudFile is written last
// and removed first: a folder without it is what a crash left.
type folders struct{ dir string }

const (
	cloudsFolder = "clouds"
	cloudFile    = "cloud.json"
)

// CloudDir is the folder of a durable cloud in a data folder.
func CloudDir(dataDir, name string) string { return filepath.Join(dataDir, cloudsFolder, name) }

func (f folders) list(ctx context.Context, each func(string, []byte, error)) error {
	found, err := os.ReadDir(filepath.Join(f.dir, cloudsFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range found {
		name := entry.Name()
		text, err := os.ReadFile(filepath.Join(CloudDir(f.dir, name), cloudFile))
		if errors.Is(err, fs.ErrNotExist) {
			if err = f.forget(ctx, name); err == nil {
				continue
			}
		}
		each(name, text, err)
	}
	return err
}

func (f folders) begin(ctx context.Context, name string, cfg Config) (engine.Engine, Config, error) {
	dir := CloudDir(f.dir, name)
	if _, err := os.Lstat(dir); err == nil {
		return nil, cfg, fmt.Errorf("%s: %w", dir, fs.ErrExist)
	}
	return f.open(ctx, name, cfg)
}

func (f folders) open(_ context.Context, name string, cfg Config) (engine.Engine, Config, error) {
	cfg.Engine, cfg.DataDir = Bolt, CloudDir(f.dir, name)
	e, err := bolt.Open(cfg.DataDir)
	if err != nil {
		return nil, cfg, err
	}
	return e, cfg, nil
}

func (f folders) keep(_ context.Context, name string, about []byte) error {
	return durable.Write(filepath.Join(CloudDir(f.dir, name), cloudFile), func(w io.Writer) error {
		_, err := w.Write(about)
		return err
	})
}

func (f folders) forget(_ context.Context, name string) error {
	dir := CloudDir(f.dir, name)
	return errors.Join(durable.Discard(filepath.Join(dir, cloudFile)), os.RemoveAll(dir))
}

// keptCloud is what is said about a durable cloud.
type keptCloud struct {
	Made    controlapi.NewCloud `json:"made"`
	Created time.Time           `json:"created"`
	Expires time.Time           `json:"expires"`
	Port    string              `json:"port,omitempty"`
}

// beginKept copies a state into a new durable cloud, and opens the store there.
func (s *clouds) beginKept(ctx context.Context, name string, from *state.Store, f *forkedCloud) (store *state.Store, cfg Config, err error) {
	if s.shelf == nil {
		return nil, cfg, fmt.Errorf("%w: a durable cloud needs a data folder or etcd, and this emulator has its state in memory", control.ErrCloud)
	}
	e, cfg, err := s.shelf.begin(ctx, name, s.e.base.of(name))
	if errors.Is(err, fs.ErrExist) {
		return nil, cfg, fmt.Errorf("%w: %w", control.ErrTaken, err)
	}
	if err != nil {
		return nil, cfg, err
	}
	f.kept = true
	forked, err := from.Fork(state.ForkConfig{Seed: f.made.Seed})
	if err != nil {
		return nil, cfg, errors.Join(err, e.Close())
	}
	if err := errors.Join(forked.CopyTo(ctx, e), forked.Close()); err != nil {
		return nil, cfg, errors.Join(err, e.Close())
	}
	store, err = cfg.openStore(ctx, e)
	return store, cfg, err
}

// publish makes a durable cloud one that a restart finds.
func (s *clouds) publish(ctx context.Context, name string, f *forkedCloud) error {
	if !f.made.Durable {
		return nil
	}
	kept := keptCloud{Made: f.made, Created: f.created, Expires: f.expires}
	if f.port != nil {
		_, kept.Port, _ = net.SplitHostPort(f.port.listener.Addr().String()) // a listener's address has both
	}
	about, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	return s.shelf.keep(ctx, name, about)
}

// forget deletes what is kept of a cloud.
func (s *clouds) forget(ctx context.Context, name string, f *forkedCloud) error {
	if !f.kept {
		return nil
	}
	return s.shelf.forget(ctx, name)
}

// reopenAtOnce is how many durable clouds are opened at a time: etcd and disks take
// several calls while one waits.
const reopenAtOnce = 16

// reopen opens the durable clouds. One that can't be opened keeps its name until it is
// deleted; the list of clouds says why.
func (s *clouds) reopen(ctx context.Context) error {
	if s.shelf == nil {
		return nil
	}
	var opening sync.WaitGroup
	room := make(chan struct{}, reopenAtOnce)
	err := s.shelf.list(ctx, func(name string, about []byte, err error) {
		room <- struct{}{}
		opening.Go(func() {
			defer func() { <-room }()
			if err == nil {
				err = s.reopenOne(ctx, name, about)
			}
			if err != nil {
				s.e.cfg.Log.Warn().Err(err).Str("cloud", name).Msg("a durable cloud can't be opened")
				s.mu.Lock()
				defer s.mu.Unlock()
				s.unopened[name] = fmt.Errorf("the durable cloud %s could not be opened: %w", name, err)
			}
		})
	})
	opening.Wait()
	if err != nil {
		return fmt.Errorf("durable clouds: %w", err)
	}
	return nil
}

func (s *clouds) reopenOne(ctx context.Context, name string, about []byte) error {
	var kept keptCloud
	if err := errors.Join(json.Unmarshal(about, &kept), checkCloudName(name)); err != nil {
		return fmt.Errorf("what is kept about it can't be read: %w", err)
	}
	if kept.Made.From == name {
		return errors.New("it is said to be forked from itself") // its reset would wait for itself
	}
	if !kept.Expires.IsZero() && !kept.Expires.After(time.Now()) {
		return s.shelf.forget(ctx, name)
	}
	f := &forkedCloud{made: kept.Made, created: kept.Created, expires: kept.Expires, kept: true, calls: new(sync.WaitGroup)}
	e, cfg, err := s.shelf.open(ctx, name, s.e.base.of(name))
	if err != nil {
		return err
	}
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
