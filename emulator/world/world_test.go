package world_test

import (
	"context"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// mustPlant opens a store with the world in it. The store is checked when the
// test ends.
func mustPlant(tb testing.TB, w *world.World) *state.Store {
	tb.Helper()
	store, err := state.Open(context.Background(), state.Config{
		Engine: &memory.Engine{},
		Clock:  state.NewManualClock(time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)),
		Seed:   1,
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		problems, err := store.Check(context.Background())
		if err != nil {
			tb.Error(err)
		}
		for _, p := range problems {
			tb.Errorf("Check: %s", p)
		}
		if err := store.Close(); err != nil {
			tb.Error(err)
		}
	})
	if err := store.Update(state.Owner{}, w.Plant); err != nil {
		tb.Fatalf("Plant = %v", err)
	}
	return store
}

func TestDefaultPlants(t *testing.T) {
	mustPlant(t, world.Default())
}
