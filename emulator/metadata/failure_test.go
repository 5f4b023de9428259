package metadata_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/emulator/metadata"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// fullDisk is an engine that takes no more, once it is full, and says where.
type fullDisk struct {
	memory.Engine
	full bool
}

const fullPath = "/home/somebody/clbemu-data"

func (d *fullDisk) Commit(ctx context.Context, sets []engine.ChangeSet) error {
	if d.full {
		return errors.New("write " + fullPath + ": no space left on device")
	}
	return d.Engine.Commit(ctx, sets)
}

// Who reaches the service is not told of the machine that it is on; the log is.
func TestFailureTellsNoPath(t *testing.T) {
	disk, log := &fullDisk{}, &bytes.Buffer{}
	store, err := state.Open(t.Context(), state.Config{Schema: cloud.Schema, Engine: disk, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.Update(state.Owner{}, world.Default().Plant); err != nil {
		t.Fatal(err)
	}
	disk.full = true
	w := httptest.NewRecorder()
	metadata.New(metadata.Config{Store: store, Log: zerolog.New(log)}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, rolePath, nil))
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), fullPath) {
		t.Errorf("GET %s = %d %s, want 500 without the path", rolePath, w.Code, w.Body)
	}
	if !strings.Contains(log.String(), fullPath) {
		t.Errorf("the log is %s, want the path in it", log)
	}
}
