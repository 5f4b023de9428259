package control

import (
	"encoding/json"
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

func (a *api) putExploration(_ *http.Request, body io.Reader) (controlapi.Status, error) {
	text, err := io.ReadAll(body)
	if err != nil {
		return controlapi.Status{}, &refusal{err, http.StatusBadRequest}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil || object == nil {
		return controlapi.Status{}, refused(http.StatusBadRequest, "the results of an exploration are a JSON object")
	}
	a.exploration.mu.Lock()
	a.exploration.text = text
	a.exploration.mu.Unlock()
	a.changed(journal.KindState, "keep an exploration")
	return controlapi.Status{Status: "kept"}, nil
}
