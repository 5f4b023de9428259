package control

import (
	"errors"
	"net/http"

	"github.com/gorilla/mux"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/snapshots"
	"github.com/clbemu/clbemu/emulator/journal"
)

func (a *api) getSnapshots(*http.Request) (controlapi.Snapshots, error) {
	list, err := a.Snapshots.List()
	if err != nil {
		err = a.inside("list the snapshots", err)
	}
	return controlapi.Snapshots{Snapshots: list}, err
}

func (a *api) takeSnapshot(r *http.Request) (controlapi.Snapshots, error) {
	name := mux.Vars(r)["name"]
	if err := a.Snapshots.Take(a.Store, name); err != nil {
		return controlapi.Snapshots{}, a.ofSnapshot("take a snapshot", err)
	}
	a.changed(journal.KindState, "take snapshot", "name", name)
	return a.getSnapshots(r)
}

func (a *api) restoreSnapshot(r *http.Request) (controlapi.Status, error) {
	name := mux.Vars(r)["name"]
	var repaired []string
	err := a.Faults.Change(func() (err error) {
		repaired, err = a.Snapshots.Restore(a.Store, name)
		return err
	})
	if err != nil {
		return controlapi.Status{}, a.ofSnapshot("restore a snapshot", err)
	}
	a.changed(journal.KindState, "restore snapshot", "name", name)
	return controlapi.Status{Status: "restored", Warnings: repaired}, nil
}

func (a *api) deleteSnapshot(r *http.Request) (controlapi.Snapshots, error) {
	name := mux.Vars(r)["name"]
	if err := a.Snapshots.Delete(name); err != nil {
		return controlapi.Snapshots{}, a.ofSnapshot("delete a snapshot", err)
	}
	a.changed(journal.KindState, "delete snapshot", "name", name)
	return a.getSnapshots(r)
}

// ofSnapshot returns the error of a failed operation on a snapshot.
func (a *api) ofSnapshot(doing string, err error) error {
	switch {
	case isInside(err):
		return a.inside(doing, err)
	case errors.Is(err, snapshots.ErrName), errors.Is(err, snapshots.ErrBroken):
		return err
	case errors.Is(err, snapshots.ErrUnknown):
		return &refusal{err, http.StatusNotFound}
	}
	return a.inside(doing, err)
}
