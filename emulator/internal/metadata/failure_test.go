package metadata_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/metadata"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/enginetest"
)

// Who reaches the service learns nothing of the machine that it is on; the log says it.
func TestFailureTellsNoPath(t *testing.T) {
	disk, log := &enginetest.FullDisk{}, &bytes.Buffer{}
	store, err := state.Open(t.Context(), state.Config{Schema: kinds.Schema, Engine: disk, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.Update(state.Owner{}, world.Default().Plant); err != nil {
		t.Fatal(err)
	}
	disk.Full = true
	w := httptest.NewRecorder()
	metadata.New(metadata.Config{Store: store, Log: zerolog.New(log)}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, rolePath, nil))
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), enginetest.FullPath) {
		t.Errorf("GET %s = %d %s, want 500 without the path", rolePath, w.Code, w.Body)
	}
	if !strings.Contains(log.String(), enginetest.FullPath) {
		t.Errorf("the log is %s, want the path in it", log)
	}
}
