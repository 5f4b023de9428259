package control

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/gorilla/mux"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/emulator/spelling"
	"github.com/clbemu/clbemu/state"
)

// Snapshots are exported states with names. They hold the secrets of access keys.
type Snapshots struct {
	mu   sync.Mutex
	kept snapshotStore
}

// NewSnapshots returns the snapshots in the data folder dir, or snapshots in memory if
// dir is "".
func NewSnapshots(dir string) *Snapshots {
	if dir == "" {
		return &Snapshots{kept: memorySnapshots{}}
	}
	return &Snapshots{kept: folderOf(dir)}
}

// checkName refuses a name that a snapshot can't have.
func checkName(name string) error {
	if err := spelling.CheckName("a snapshot", name); err != nil {
		return fmt.Errorf("%w: %w", ErrSnapshotName, err)
	}
	return nil
}

// What refusals of snapshots wrap.
var (
	ErrSnapshotName   = errors.New("the snapshot is not taken")
	ErrNoSnapshot     = errors.New("there is no such snapshot")
	ErrSnapshotBroken = errors.New("the snapshot can't be restored")
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

// Restore makes the store's state that of a snapshot. Repaired is what Import says.
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
		return nil, fmt.Errorf("%w: %s: %w", ErrSnapshotBroken, name, err)
	}
	return repaired, nil
}

func (s *Snapshots) text(name string) ([]byte, error) {
	if checkName(name) != nil {
		return nil, fmt.Errorf("%w: %s", ErrNoSnapshot, name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	text, err := s.kept.get(name)
	return text, s.meant(name, err)
}

// meant adds to an error about an unknown name the one that was meant.
func (s *Snapshots) meant(name string, err error) error {
	if !errors.Is(err, ErrNoSnapshot) {
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
		return fmt.Errorf("%w: %s", ErrNoSnapshot, name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.meant(name, s.kept.remove(name))
}

func (a *api) getSnapshots(w http.ResponseWriter, _ *http.Request) {
	list, err := a.Snapshots.List()
	if err != nil {
		a.failInside(w, "list the snapshots", err)
		return
	}
	answer(w, http.StatusOK, controlapi.Snapshots{Snapshots: list})
}

func (a *api) takeSnapshot(w http.ResponseWriter, r *http.Request) {
	name := mux.Vars(r)["name"]
	if err := a.Snapshots.Take(a.Store, name); err != nil {
		a.failSnapshot(w, "take a snapshot", err)
		return
	}
	a.changed(journal.KindState, "take snapshot", "name", name)
	a.getSnapshots(w, r)
}

func (a *api) restoreSnapshot(w http.ResponseWriter, r *http.Request) {
	name := mux.Vars(r)["name"]
	var repaired []string
	err := a.Faults.Change(func() (err error) {
		repaired, err = a.Snapshots.Restore(a.Store, name)
		return err
	})
	if err != nil {
		a.failSnapshot(w, "restore a snapshot", err)
		return
	}
	a.changed(journal.KindState, "restore snapshot", "name", name)
	answer(w, http.StatusOK, controlapi.Status{Status: "restored", Warnings: repaired})
}

func (a *api) deleteSnapshot(w http.ResponseWriter, r *http.Request) {
	name := mux.Vars(r)["name"]
	if err := a.Snapshots.Delete(name); err != nil {
		a.failSnapshot(w, "delete a snapshot", err)
		return
	}
	a.changed(journal.KindState, "delete snapshot", "name", name)
	a.getSnapshots(w, r)
}

func (a *api) failSnapshot(w http.ResponseWriter, doing string, err error) {
	switch {
	case isInside(err):
		a.failInside(w, doing, err)
	case errors.Is(err, ErrSnapshotName), errors.Is(err, ErrSnapshotBroken):
		fail(w, http.StatusUnprocessableEntity, err.Error())
	case errors.Is(err, ErrNoSnapshot):
		fail(w, http.StatusNotFound, err.Error())
	default:
		a.failInside(w, doing, err)
	}
}
