package gatewaytest

import (
	"context"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// Start is the initial time of a test's store.
var Start = time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC)

// All does several changes in turn.
func All(changes ...func(*state.Tx) error) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		for _, change := range changes {
			if err := change(tx); err != nil {
				return err
			}
		}
		return nil
	}
}

// Store opens a store in memory with a clock that stands at Start and with seed
// 1, and plants what the functions put into it. When the test ends, the store
// must pass its own Check.
func Store(t testing.TB, plant ...func(*state.Tx) error) *state.Store {
	t.Helper()
	return StoreAt(t, state.NewManualClock(Start), plant...)
}

// StoreAt is like Store, with a clock that the test can move.
func StoreAt(t testing.TB, clock state.Clock, plant ...func(*state.Tx) error) *state.Store {
	t.Helper()
	return StoreWith(t, state.Config{Clock: clock}, plant...)
}

// StoreWith is like Store, with the other settings that the test wants.
func StoreWith(t testing.TB, cfg state.Config, plant ...func(*state.Tx) error) *state.Store {
	t.Helper()
	cfg.Schema, cfg.Engine, cfg.Seed = kinds.Schema, &memory.Engine{}, 1
	store, err := state.Open(context.Background(), cfg)
	if err != nil {
		t.Fatalf("open a store in memory: %v", err)
	}
	t.Cleanup(func() { closeChecked(t, store) })
	for _, fn := range plant {
		if err := store.Update(state.Owner{}, fn); err != nil {
			t.Fatalf("plant the store: %v", err)
		}
	}
	return store
}

func closeChecked(t testing.TB, store *state.Store) {
	t.Helper()
	problems, err := store.Check(context.Background())
	if err != nil {
		t.Errorf("check the store: %v", err)
	}
	for _, problem := range problems {
		t.Errorf("the store is inconsistent: %s", problem)
	}
	if err := store.Close(); err != nil {
		t.Errorf("close the store: %v", err)
	}
}
