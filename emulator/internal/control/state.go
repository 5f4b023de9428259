package control

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control/routes"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/state"
)

func (a *api) exportState(w http.ResponseWriter, _ *http.Request) {
	export, err := a.Store.Export()
	if err != nil {
		failed(w, a.inside("export the state", err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if export.Write(w) != nil {
		panic(http.ErrAbortHandler) // a part of a state must not look like one
	}
}

func (a *api) importState(_ *http.Request, body io.Reader) (controlapi.Status, error) {
	export, err := a.Store.ReadExport(body)
	if err != nil {
		return controlapi.Status{}, &refusal{err, http.StatusBadRequest}
	}
	var repaired []string
	err = a.Faults.Change(func() (err error) {
		repaired, err = a.Store.Import(export)
		return err
	})
	if err != nil {
		return controlapi.Status{}, a.ofChange("import the state", err)
	}
	a.changed(journal.KindState, "import the state")
	return controlapi.Status{Status: "imported", Warnings: repaired}, nil
}

func (a *api) checkState(r *http.Request) (controlapi.Problems, error) {
	problems, err := a.Store.Check(r.Context())
	if err != nil {
		return controlapi.Problems{}, a.inside("check the state", err)
	}
	return controlapi.Problems{Problems: append([]string{}, problems...)}, nil
}

func (a *api) resetState(_ *http.Request, of routes.OfReset) (controlapi.Status, error) {
	if err := a.Faults.Reset(a.Plant, of.Faults); err != nil {
		return controlapi.Status{}, a.inside("reset the state", err)
	}
	var also []string
	if of.Faults {
		also = []string{"faults", "true"}
	}
	a.changed(journal.KindState, "reset the state", also...)
	return controlapi.Status{Status: "reset"}, nil
}

// ofChange returns the error of a change that was not made, because of what was asked or because it
// can't be kept.
func (a *api) ofChange(doing string, err error) error {
	if isInside(err) {
		return a.inside(doing, err)
	}
	return err
}

// isInside reports whether no other call would have avoided the error.
func isInside(err error) bool {
	return errors.Is(err, state.ErrNotKept) || errors.Is(err, state.ErrClosed)
}

// inside logs an error that is not the caller's, and returns what the caller gets.
func (a *api) inside(doing string, err error) error {
	a.Log.Error().Err(err).Msg(doing)
	return refused(http.StatusInternalServerError, doing+": "+withoutFolders(err))
}

// withoutFolders returns an error's text with the names of files but not their folders: where this
// machine has them is for its log.
func withoutFolders(err error) string {
	text := err.Error()
	var visit func(error)
	visit = func(err error) {
		switch e := any(err).(type) { // of this error alone: visit unwraps
		case *fs.PathError:
			text = strings.ReplaceAll(text, e.Path, filepath.Base(e.Path))
		case *os.LinkError:
			text = strings.ReplaceAll(text, e.Old, filepath.Base(e.Old))
			text = strings.ReplaceAll(text, e.New, filepath.Base(e.New))
		case interface{ Unwrap() []error }:
			for _, inner := range e.Unwrap() {
				visit(inner)
			}
		}
		if inner := errors.Unwrap(err); inner != nil {
			visit(inner)
		}
	}
	visit(err)
	return text
}
