package kinds_test

import (
	"fmt"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
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
			kinds.ResourceGroups.Put(tx, &kinds.ResourceGroup{AccountID: "1", ID: id})
		}
	}
	put(group("rg-a"))
	put(func(tx *state.Tx) { kinds.Faults.Put(tx, &kinds.Fault{Name: "f"}) })
	put(group("rg-b"))
	for hits := range uint64(100) {
		put(func(tx *state.Tx) { kinds.Faults.Put(tx, &kinds.Fault{Name: "f", Hits: hits + 1}) })
	}
	for changes, want := range []int{2, 1, 0, 0} {
		seen := 0
		v := store.ViewPast(state.Past{Changes: changes}, owner)
		for range kinds.ResourceGroups.All(v) {
			seen++
		}
		if seen != want {
			t.Errorf("%d changes ago there were %d resource groups, want %d", changes, seen, want)
		}
	}
}

// TestPastIsBounded proves that a large change ends what can be looked back to, so
// that what it replaced does not stay in memory.
func TestPastIsBounded(t *testing.T) {
	store := opened(t, &memory.Engine{})
	groups := func(from, to int) {
		t.Helper()
		update(t, store, hangzhou, func(tx *state.Tx) error {
			for n := from; n < to; n++ {
				kinds.ResourceGroups.Put(tx, &kinds.ResourceGroup{AccountID: "1", ID: fmt.Sprint("rg-", n)})
			}
			return nil
		})
	}
	count := func(back int) (n int) {
		t.Helper()
		v := store.ViewPast(state.Past{Changes: back}, state.Owner{})
		for range kinds.ResourceGroups.All(v) {
			n++
		}
		return n
	}
	groups(0, 1)
	groups(1, 1<<15)
	groups(1<<15, 1<<15+1)
	for back, want := range []int{1<<15 + 1, 1 << 15, 1 << 15} {
		if got := count(back); got != want {
			t.Errorf("%d changes ago there were %d groups, want %d", back, got, want)
		}
	}
}
