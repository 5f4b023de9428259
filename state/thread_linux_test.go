package state_test

import (
	"os"
	"testing"

	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// A store that is closed ends no thread. The kernel tells children with a parent-death
// signal that their parent is gone when the thread ends that started them, and the process
// may be another test.
func TestCloseEndsNoThread(t *testing.T) {
	var open []*state.Store
	for range 10 {
		s, err := state.Open(t.Context(), state.Config{Schema: state.NewSchema(), Engine: &memory.Engine{}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Update(state.Owner{}, func(*state.Tx) error { return nil }); err != nil {
			t.Fatal(err)
		}
		open = append(open, s)
	}
	before, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range open {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, thread := range before {
		if _, err := os.Stat("/proc/self/task/" + thread.Name()); err != nil {
			t.Errorf("the thread %s has ended", thread.Name())
		}
	}
}
