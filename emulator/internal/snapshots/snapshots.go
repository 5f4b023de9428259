// Package snapshots keeps exported states by name, in the data folder or in memory. It
// must not know how calls reach it.
package snapshots

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/emulator/spelling"
	"github.com/clbemu/clbemu/state"
)

// Snapshots are exported states with names. They hold the secrets of access keys.
type Snapshots struct {
	mu   sync.Mutex
	kept keeper
}

// New returns the snapshots in the data folder dir, or snapshots in memory if
// dir is "".
func New(dir string) *Snapshots {
	if dir == "" {
		return &Snapshots{kept: memory{}}
	}
	return &Snapshots{kept: folderOf(dir)}
}

// checkName refuses a name that a snapshot can't have.
func checkName(name string) error {
	if err := spelling.CheckName("a snapshot", name); err != nil {
		return fmt.Errorf("%w: %w", ErrName, err)
	}
	return nil
}

// What refusals of snapshots wrap.
var (
	ErrName    = errors.New("the snapshot is not taken")
	ErrUnknown = errors.New("there is no such snapshot")
	ErrBroken  = errors.New("the snapshot can't be restored")
)

// CleanUp removes what a crash left of snapshots that were being taken.
func (s *Snapshots) CleanUp() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept.cleanUp()
}

// List lists the snapshots in order of name.
func (s *Snapshots) List() ([]controlapi.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept.list()
}

// Take saves the store's state under a name, replacing the snapshot that has it.
func (s *Snapshots) Take(store *state.Store, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	export, err := store.Export()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := export.Write(&text); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept.put(name, text.Bytes())
}

// Restore replaces the store's state with a snapshot. Repaired is as in Import.
func (s *Snapshots) Restore(store *state.Store, name string) (repaired []string, err error) {
	text, err := s.text(name)
	if err != nil {
		return nil, err
	}
	export, err := store.ReadExport(bytes.NewReader(text))
	if err == nil {
		repaired, err = store.Import(export)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrBroken, name, err)
	}
	return repaired, nil
}

func (s *Snapshots) text(name string) ([]byte, error) {
	if checkName(name) != nil {
		return nil, fmt.Errorf("%w: %s", ErrUnknown, name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	text, err := s.kept.get(name)
	return text, s.suggest(name, err)
}

// suggest adds to an error about an unknown name the one that was meant.
func (s *Snapshots) suggest(name string, err error) error {
	if !errors.Is(err, ErrUnknown) {
		return err
	}
	list, problem := s.kept.list()
	if problem != nil {
		return err
	}
	known := make([]string, len(list))
	for i, snapshot := range list {
		known[i] = snapshot.Name
	}
	return fmt.Errorf("%w%s", err, names.DidYouMean(name, known, "`clbemu snapshot list` shows them"))
}

// Delete removes a snapshot.
func (s *Snapshots) Delete(name string) error {
	if checkName(name) != nil {
		return fmt.Errorf("%w: %s", ErrUnknown, name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.suggest(name, s.kept.remove(name))
}
