package control

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/journal"
)

// maxExploration limits what an exploration may take.
const maxExploration = 32 << 20

// exploration holds the results of the last clbemu explore that sent some, as JSON. Only
// that command and the console know what is in them.
type exploration struct {
	mu   sync.Mutex
	text []byte
}

func (a *api) getExploration(w http.ResponseWriter, _ *http.Request) {
	a.exploration.mu.Lock()
	text := a.exploration.text
	a.exploration.mu.Unlock()
	if text == nil {
		text = []byte("{}")
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // a client that is gone needs none
}

func (a *api) putExploration(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxExploration))
	switch tooLarge := (*http.MaxBytesError)(nil); {
	case errors.As(err, &tooLarge):
		fail(w, http.StatusRequestEntityTooLarge, err.Error())
		return
	case err != nil:
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil || object == nil {
		fail(w, http.StatusBadRequest, "the results of an exploration are a JSON object")
		return
	}
	a.exploration.mu.Lock()
	a.exploration.text = text
	a.exploration.mu.Unlock()
	a.changed(journal.KindState, "keep an exploration")
	answer(w, http.StatusOK, controlapi.Status{Status: "kept"})
}
