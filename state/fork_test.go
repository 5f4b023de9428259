package state_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

type counted struct{ ID string }

// TestForkDuringCommits proves that a fork has what the store held at the fork's revision, while
// others change it: each change brings one row.
func TestForkDuringCommits(t *testing.T) {
	schema := state.NewSchema()
	rows := state.NewTable(schema, "Counted", func(c *counted) string { return c.ID })
	s, err := state.Open(t.Context(), state.Config{Schema: schema, Engine: &memory.Engine{}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	begin := s.Revision()
	const changes = 500
	var forks sync.WaitGroup
	for range 2 {
		forks.Go(func() {
			for held := 0; held < changes; {
				f, err := s.Fork(state.ForkConfig{})
				if err != nil {
					t.Error(err)
					return
				}
				held = rows.Len(f.View(state.Owner{}))
				if at := int(f.Revision() - begin); held != at {
					t.Errorf("a fork at change %d holds %d rows", at, held)
				}
				f.Close()
			}
		})
	}
	for n := range changes {
		err := s.Update(state.Owner{}, func(tx *state.Tx) error {
			rows.Put(tx, &counted{ID: fmt.Sprint(n)})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	forks.Wait()
}
