package control

import (
	"errors"
	"net/http"

	"github.com/gorilla/mux"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/snapshots"
	"github.com/clbemu/clbemu/emulator/journal"
)

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
	case errors.Is(err, snapshots.ErrName), errors.Is(err, snapshots.ErrBroken):
		fail(w, http.StatusUnprocessableEntity, err.Error())
	case errors.Is(err, snapshots.ErrUnknown):
		fail(w, http.StatusNotFound, err.Error())
	default:
		a.failInside(w, doing, err)
	}
}
