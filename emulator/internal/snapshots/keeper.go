package snapshots

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/state/engine/durable"
)

// keeper stores snapshots. Names are valid. It has one caller at a time.
type keeper interface {
	list() ([]controlapi.Snapshot, error)
	put(name string, text []byte) error
	get(name string) ([]byte, error)
	remove(name string) error
	cleanUp() error
}

func noSnapshot(name string) error { return fmt.Errorf("%w: %s", ErrUnknown, name) }

func sorted(list []controlapi.Snapshot) []controlapi.Snapshot {
	slices.SortFunc(list, func(a, b controlapi.Snapshot) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// memory holds snapshots by name.
type memory map[string]snapshot

type snapshot struct {
	taken time.Time
	text  []byte
}

func (m memory) list() ([]controlapi.Snapshot, error) {
	list := []controlapi.Snapshot{}
	for name, s := range m {
		list = append(list, controlapi.Snapshot{Name: name, Taken: s.taken, Bytes: len(s.text)})
	}
	return sorted(list), nil
}

func (m memory) put(name string, text []byte) error {
	m[name] = snapshot{time.Now().UTC(), text}
	return nil
}

func (m memory) get(name string) ([]byte, error) {
	s, ok := m[name]
	if !ok {
		return nil, noSnapshot(name)
	}
	return s.text, nil
}

func (m memory) remove(name string) error {
	if _, ok := m[name]; !ok {
		return noSnapshot(name)
	}
	delete(m, name)
	return nil
}

func (m memory) cleanUp() error { return nil }

// folder holds snapshots as files, which `clbemu state import` reads too.
type folder string

const suffix = ".json"

// folderOf returns the folder of snapshots in a state's folder. It need not exist.
func folderOf(dir string) folder { return folder(filepath.Join(dir, "snapshots")) }

func (f folder) path(name string) string { return filepath.Join(string(f), name+suffix) }

func (f folder) list() ([]controlapi.Snapshot, error) {
	files, err := os.ReadDir(string(f))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	list := []controlapi.Snapshot{}
	for _, file := range files {
		name, ours := strings.CutSuffix(file.Name(), suffix)
		if !ours || checkName(name) != nil {
			continue
		}
		info, err := file.Info()
		if err != nil {
			return nil, err
		}
		list = append(list, controlapi.Snapshot{Name: name, Taken: info.ModTime().UTC(), Bytes: int(info.Size())})
	}
	return sorted(list), nil
}

func (f folder) put(name string, text []byte) error {
	if err := durable.MakeFolder(string(f)); err != nil {
		return err
	}
	return durable.Write(f.path(name), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// cleanUp removes what a crash left; versions before this one called it otherwise.
func (f folder) cleanUp() error {
	left, err := filepath.Glob(filepath.Join(string(f), ".taking-*"))
	for _, name := range left {
		err = errors.Join(err, durable.Discard(name))
	}
	return errors.Join(err, durable.CleanUp(string(f)))
}

func (f folder) get(name string) ([]byte, error) {
	text, err := os.ReadFile(f.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noSnapshot(name)
	}
	return text, err
}

func (f folder) remove(name string) error {
	err := os.Remove(f.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return noSnapshot(name)
	}
	return err
}
