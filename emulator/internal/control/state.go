package control

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/state"
)

func (a *api) exportState(w http.ResponseWriter, _ *http.Request) {
	export, err := a.Store.Export()
	if err != nil {
		a.failInside(w, "export the state", err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if export.Write(w) != nil {
		panic(http.ErrAbortHandler) // a part of a state must not look like one
	}
}

func (a *api) importState(w http.ResponseWriter, r *http.Request) {
	export, err := a.Store.ReadExport(http.MaxBytesReader(w, r.Body, a.MaxImport))
	if err != nil {
		status := http.StatusBadRequest
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		fail(w, status, err.Error())
		return
	}
	var repaired []string
	err = a.Faults.Change(func() (err error) {
		repaired, err = a.Store.Import(export)
		return err
	})
	if err != nil {
		a.failChange(w, "import the state", err)
		return
	}
	a.changed(journal.KindState, "import the state")
	answer(w, http.StatusOK, controlapi.Status{Status: "imported", Warnings: repaired})
}

func (a *api) checkState(w http.ResponseWriter, r *http.Request) {
	problems, err := a.Store.Check(r.Context())
	if err != nil {
		a.failInside(w, "check the state", err)
		return
	}
	answer(w, http.StatusOK, controlapi.Problems{Problems: append([]string{}, problems...)})
}

func (a *api) resetState(w http.ResponseWriter, r *http.Request) {
	drop := false
	if text := r.URL.Query().Get("faults"); text != "" {
		var err error
		if drop, err = strconv.ParseBool(text); err != nil {
			fail(w, http.StatusUnprocessableEntity, fmt.Sprintf("faults: %q is not true or false", text))
			return
		}
	}
	if err := a.Faults.Reset(a.Plant, drop); err != nil {
		a.failInside(w, "reset the state", err)
		return
	}
	var also []string
	if drop {
		also = []string{"faults", "true"}
	}
	a.changed(journal.KindState, "reset the state", also...)
	answer(w, http.StatusOK, controlapi.Status{Status: "reset"})
}

// failChange answers for a change that was not made: because of what was asked, or
// because it can't be kept.
func (a *api) failChange(w http.ResponseWriter, doing string, err error) {
	if isInside(err) {
		a.failInside(w, doing, err)
		return
	}
	failQuestion(w, err)
}

// isInside reports whether no other call would have avoided the error.
func isInside(err error) bool {
	return errors.Is(err, state.ErrNotKept) || errors.Is(err, state.ErrClosed)
}

func (a *api) failInside(w http.ResponseWriter, doing string, err error) {
	a.Log.Error().Err(err).Msg(doing)
	fail(w, http.StatusInternalServerError, doing+": "+withoutFolders(err))
}

// withoutFolders is an error's text in which files have no folders: where this machine has
// them is for its log.
func withoutFolders(err error) string {
	text := err.Error()
	var visit func(error)
	visit = func(err error) {
		switch e := err.(type) {
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
