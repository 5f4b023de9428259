package clouds

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
	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/control"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/bolt"
	"github.com/clbemu/clbemu/state/engine/durable"
)

// Keeper keeps durable clouds, by their names.
type Keeper interface {
	// list yields the description of each kept cloud, or why it can't be read. It deletes leftovers
	// of a crash, and moves aside what it does not know.
	list(ctx context.Context, each func(name string, about []byte, err error)) error
	// begin begins a cloud, and open opens a kept one. Both return its engine, and the folder for
	// the rest, if it has one.
	begin(ctx context.Context, name string) (engine.Engine, string, error)
	open(ctx context.Context, name string) (engine.Engine, string, error)
	// keep makes a cloud one that list yields from then on.
	keep(ctx context.Context, name string, about []byte) error
	// forget deletes a cloud.
	forget(ctx context.Context, name string) error
}

// Branches keeps clouds next to the state that replicas share. The leader has them.
func Branches(of engine.Elected) Keeper { return branches{of} }

// Folders keeps clouds within the folder of the state.
func Folders(dir string) Keeper { return folders{dir} }

type branches struct{ of engine.Elected }

func (b branches) list(ctx context.Context, each func(string, []byte, error)) error {
	kept, err := b.of.Branches(ctx)
	for name, about := range kept {
		each(name, about, nil)
	}
	return err
}

func (b branches) begin(ctx context.Context, name string) (engine.Engine, string, error) {
	branch, err := b.of.NewBranch(ctx, name)
	return branch, "", err
}

func (b branches) open(ctx context.Context, name string) (engine.Engine, string, error) {
	branch, err := b.of.Branch(ctx, name)
	return branch, "", err
}

func (b branches) keep(ctx context.Context, name string, about []byte) error {
	return b.of.KeepBranch(ctx, name, about)
}

func (b branches) forget(ctx context.Context, name string) error { return b.of.DropBranch(ctx, name) }

// folders are within the state's folder, and like it. The file cloudFile is written last
// and removed first. A folder with partFile in its place is what a crash left of a cloud;
// one with neither is not known to be a cloud's, and nothing in it is deleted.
type folders struct{ dir string }

const (
	cloudsFolder = "clouds"
	cloudFile    = "cloud.json"
	partFile     = "cloud.part"
	asideFolder  = "set-aside"
)

// movedAside says where a folder is that is not known to be a cloud's.
type movedAside struct{ from, to string }

func (m *movedAside) Error() string {
	return fmt.Sprintf("%s has no %s, so that no cloud can be read from it: it is now %s", m.from, cloudFile, m.to)
}

// Dir returns the folder of a durable cloud in a data folder.
func Dir(dataDir, name string) string { return filepath.Join(dataDir, cloudsFolder, name) }

func (f folders) list(ctx context.Context, each func(string, []byte, error)) error {
	found, err := os.ReadDir(filepath.Join(f.dir, cloudsFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range found {
		name := entry.Name()
		text, err := os.ReadFile(filepath.Join(Dir(f.dir, name), cloudFile))
		if errors.Is(err, fs.ErrNotExist) {
			if err = f.tidy(ctx, name); err == nil {
				continue
			}
		}
		each(name, text, err)
	}
	return err
}

// tidy deletes what a crash left of a cloud, and moves any other folder aside.
func (f folders) tidy(ctx context.Context, name string) error {
	dir := Dir(f.dir, name)
	if _, err := os.Lstat(filepath.Join(dir, partFile)); err == nil {
		return f.forget(ctx, name)
	}
	aside := filepath.Join(f.dir, asideFolder)
	if err := durable.MakeFolder(aside); err != nil {
		return err
	}
	to := filepath.Join(aside, name)
	for n := 2; ; n++ {
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			break
		}
		to = filepath.Join(aside, fmt.Sprintf("%s-%d", name, n))
	}
	if err := durable.Replace(dir, to); err != nil {
		return fmt.Errorf("it has no %s, and can't be moved to %s: %w", cloudFile, to, err)
	}
	return &movedAside{dir, to}
}

func (f folders) begin(ctx context.Context, name string) (engine.Engine, string, error) {
	dir := Dir(f.dir, name)
	if _, err := os.Lstat(dir); err == nil {
		return nil, "", fmt.Errorf("%s: %w", dir, fs.ErrExist)
	}
	err := durable.MakeFolder(dir)
	if err == nil {
		err = durable.Write(filepath.Join(dir, partFile), func(io.Writer) error { return nil })
	}
	if err != nil {
		return nil, "", errors.Join(err, os.RemoveAll(dir))
	}
	e, dir, err := f.open(ctx, name)
	if err != nil {
		return nil, "", errors.Join(err, f.forget(ctx, name))
	}
	return e, dir, nil
}

func (f folders) open(_ context.Context, name string) (engine.Engine, string, error) {
	dir := Dir(f.dir, name)
	e, err := bolt.Open(dir)
	if err != nil {
		return nil, "", err // of the interface's type
	}
	return e, dir, nil
}

func (f folders) keep(_ context.Context, name string, about []byte) error {
	dir := Dir(f.dir, name)
	err := durable.Write(filepath.Join(dir, cloudFile), func(w io.Writer) error {
		_, err := w.Write(about)
		return err
	})
	if err != nil {
		return err
	}
	return durable.Discard(filepath.Join(dir, partFile))
}

func (f folders) forget(_ context.Context, name string) error {
	dir := Dir(f.dir, name)
	if err := durable.Replace(filepath.Join(dir, cloudFile), filepath.Join(dir, partFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(dir)
}

// keptCloud describes a durable cloud.
type keptCloud struct {
	Made    controlapi.NewCloud `json:"made"`
	Created time.Time           `json:"created"`
	Expires time.Time           `json:"expires"`
	Port    string              `json:"port,omitempty"`
}

// beginKept copies a state into a new durable cloud, and opens the store there.
func (s *Clouds) beginKept(ctx context.Context, cfg *cloud.Config, from *state.Store, f *forkedCloud) (*state.Store, error) {
	if s.cfg.Keep == nil {
		return nil, fmt.Errorf("%w: a durable cloud needs a data folder or etcd, and this emulator has its state in memory", control.ErrCloud)
	}
	e, dir, err := s.cfg.Keep.begin(ctx, cfg.Name)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%w: %w", control.ErrTaken, err)
	}
	if err != nil {
		return nil, err
	}
	f.kept, cfg.Dir = true, dir
	forked, err := from.Fork(state.ForkConfig{Seed: f.made.Seed})
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	if err := errors.Join(forked.CopyTo(ctx, e), forked.Close()); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return cfg.OpenStore(ctx, e)
}

// publish makes a durable cloud one that a restart finds.
func (s *Clouds) publish(ctx context.Context, name string, f *forkedCloud) error {
	if !f.made.Durable {
		return nil
	}
	kept := keptCloud{Made: f.made, Created: f.created, Expires: f.expires}
	if f.port != nil {
		_, kept.Port, _ = net.SplitHostPort(f.port.Addr()) // a listener's address has both
	}
	about, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	return s.cfg.Keep.keep(ctx, name, about)
}

// forget deletes the kept parts of a cloud.
func (s *Clouds) forget(ctx context.Context, name string, f *forkedCloud) error {
	if !f.kept {
		return nil
	}
	return s.cfg.Keep.forget(ctx, name)
}

// reopenAtOnce is the number of durable clouds that are opened at a time: etcd and disks take
// several calls while one waits.
const reopenAtOnce = 16

// A replica that takes over may find etcd without a leader for some seconds: it opens a cloud
// so often, with a pause, before it takes the cloud for broken.
const (
	reopenTries = 10
	reopenPause = 500 * time.Millisecond
)

// Reopen opens the durable clouds. One that can't be opened keeps its name until it is
// deleted; the list of clouds says why.
func (s *Clouds) Reopen(ctx context.Context) error {
	if s.cfg.Keep == nil {
		return nil
	}
	var opening sync.WaitGroup
	room := make(chan struct{}, reopenAtOnce)
	err := s.cfg.Keep.list(ctx, func(name string, about []byte, err error) {
		room <- struct{}{}
		opening.Go(func() {
			defer func() { <-room }()
			if err == nil {
				err = s.reopenOne(ctx, name, about)
			}
			for try := 1; err != nil && s.cfg.Shared && try < reopenTries; try++ {
				select {
				case <-time.After(reopenPause):
					err = s.reopenOne(ctx, name, about)
				case <-ctx.Done():
					err, try = errors.Join(err, ctx.Err()), reopenTries
				}
			}
			if aside := (*movedAside)(nil); errors.As(err, &aside) {
				s.cfg.Log.Warn().Str("cloud", name).Msg(aside.Error())
				return
			}
			if err != nil {
				s.cfg.Log.Warn().Err(err).Str("cloud", name).Msg("a durable cloud can't be opened")
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

func (s *Clouds) reopenOne(ctx context.Context, name string, about []byte) error {
	var kept keptCloud
	if err := errors.Join(json.Unmarshal(about, &kept), checkCloudName(name)); err != nil {
		return fmt.Errorf("what is kept about it can't be read: %w", err)
	}
	if kept.Made.From == name {
		return errors.New("it is said to be forked from itself") // its reset would wait for itself
	}
	if !kept.Expires.IsZero() && !kept.Expires.After(time.Now()) {
		return s.cfg.Keep.forget(ctx, name)
	}
	f := &forkedCloud{made: kept.Made, created: kept.Created, expires: kept.Expires, kept: true, calls: new(sync.WaitGroup)}
	cfg := s.configOf(name, f)
	e, dir, err := s.cfg.Keep.open(ctx, name)
	if err != nil {
		return err
	}
	cfg.Dir = dir
	store, err := cfg.OpenStore(ctx, e)
	if err != nil {
		return err
	}
	if f.Cloud, err = cloud.New(cfg, store, s); err != nil {
		return err
	}
	f.wanted = kept.Port
	s.admit(name, f)
	return nil
}
