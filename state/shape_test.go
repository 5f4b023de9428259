package state_test

import (
	"slices"
	"testing"

	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// called is a shape that two kinds of the test show.
type called struct{ name string }

type fruit struct{ ID, Name string }

type stone struct {
	state.Owner
	ID   string
	Soft bool
}

var (
	shapely = state.NewSchema()
	fruits  = state.NewTable(shapely, "Fruit", func(f *fruit) string { return f.ID },
		state.Shows(func(_ *state.View, f *fruit) (called, bool) { return called{f.Name}, true }))
	stones = state.NewTable(shapely, "Stone", func(s *stone) string { return s.ID })
	rocky  = shapely.Extend()
	_      = state.NewTable(rocky, "Rock", func(s *stone) string { return s.ID },
		state.Shows(func(_ *state.View, s *stone) (called, bool) { return called{"rock"}, true }))
	_ = stones.With(state.Shows(func(_ *state.View, s *stone) (called, bool) { return called{s.ID}, !s.Soft }))
)

// Rows of all kinds that show a shape are read as it, as the scope sees them; a row
// may show none, and a kind of an extended schema shows it there alone.
func TestShown(t *testing.T) {
	s, err := state.Open(t.Context(), state.Config{Schema: shapely, Engine: &memory.Engine{}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	hangzhou := state.Owner{AccountID: "1", RegionID: "cn-hangzhou"}
	if err := s.Update(state.Owner{}, func(tx *state.Tx) error {
		fruits.Put(tx, &fruit{"f-1", "apple"})
		for _, r := range []*stone{{hangzhou, "s-1", false}, {hangzhou, "s-2", true}, {state.Owner{AccountID: "other"}, "s-3", false}} {
			stones.Put(tx, r)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	v := s.View(hangzhou)
	if got, want := slices.Collect(state.Shown[called](v)), []called{{"apple"}, {"s-1"}}; !slices.Equal(got, want) {
		t.Errorf("Shown = %v, want %v", got, want)
	}
	for id, want := range map[string]bool{"f-1": true, "s-1": true, "s-2": false, "s-3": false, "none": false} {
		if _, ok := state.FindShown[called](v, id); ok != want {
			t.Errorf("FindShown(%s) = %v, want %v", id, ok, want)
		}
	}
	for _, c := range []struct {
		kind state.Kind
		row  any
		want bool
	}{{"Fruit", &fruit{"f-2", "pear"}, true}, {"Stone", &stone{Soft: true}, false}, {"Rock", &stone{}, false}, {"None", &stone{}, false}} {
		if _, ok := state.ShownBy[called](v, c.kind, c.row); ok != c.want {
			t.Errorf("ShownBy(%s) = %v, want %v", c.kind, ok, c.want)
		}
	}
	if got := slices.Collect(state.Shown[int](v)); len(got) != 0 {
		t.Errorf("a shape that no kind shows = %v", got)
	}
}
