package state_test

import (
	"testing"

	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// TestViewPast proves that a view of the past lacks as many changes of the cloud as
// it looks back, that the counters of fault rules are none, and that there is
// nothing before what was loaded.
func TestViewPast(t *testing.T) {
	store := opened(t, &memory.Engine{})
	owner := state.Owner{AccountID: "1", RegionID: "cn-hangzhou"}
	put := func(put func(*state.Tx)) {
		t.Helper()
		if err := store.Update(owner, func(tx *state.Tx) error { put(tx); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	group := func(id string) func(*state.Tx) {
		return func(tx *state.Tx) {
			state.ResourceGroups.Put(tx, &state.ResourceGroup{AccountID: "1", ID: id})
		}
	}
	put(group("rg-a"))
	put(func(tx *state.Tx) { state.Faults.Put(tx, &state.Fault{Name: "f"}) })
	put(group("rg-b"))
	for hits := range uint64(100) {
		put(func(tx *state.Tx) { state.Faults.Put(tx, &state.Fault{Name: "f", Hits: hits + 1}) })
	}
	for changes, want := range []int{2, 1, 0, 0} {
		seen := 0
		if err := store.ViewPast(state.Past{Changes: changes}, owner, func(v *state.View) error {
			for range state.ResourceGroups.All(v) {
				seen++
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if seen != want {
			t.Errorf("%d changes ago there were %d resource groups, want %d", changes, seen, want)
		}
	}
}
