package state_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// names are the accounts of a state with their names.
func accountNames(v *state.View) map[string]string {
	names := make(map[string]string)
	for a := range cloud.Accounts.All(v) {
		names[a.ID] = a.Name
	}
	return names
}

// follow keeps a copy of the accounts by what a watch tells of them.
func follow(copied map[string]string, e state.Event) error {
	return e.View(state.Owner{}, func(v *state.View) error {
		if e.Snapshot {
			clear(copied)
			maps.Copy(copied, accountNames(v))
		}
		for _, c := range e.Changed {
			if c.Kind != cloud.Accounts.Kind() {
				continue
			}
			a, there := cloud.Accounts.Find(v, c.ID)
			if there == c.Deleted {
				return fmt.Errorf("revision %d: %s is deleted: %v, and is there: %v", e.Revision, c.ID, c.Deleted, there)
			}
			if c.Deleted {
				delete(copied, c.ID)
			} else {
				copied[c.ID] = a.Name
			}
		}
		if now := accountNames(v); !maps.Equal(copied, now) {
			return fmt.Errorf("revision %d: the copy has %v, the state %v", e.Revision, copied, now)
		}
		return nil
	})
}

// Who begins with a snapshot and does what each event says has, at each revision,
// what there is, and misses no revision, however many write meanwhile.
func TestWatch(t *testing.T) {
	s := planted(t, &memory.Engine{})
	update(t, s, state.Owner{}, putAccount("before"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const writers, writes = 8, 100
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for n := range writes {
				id := fmt.Sprint("account-", rand.IntN(20))
				if err := s.Update(state.Owner{}, func(tx *state.Tx) error {
					if rand.IntN(3) == 0 {
						cloud.Accounts.Delete(tx, id)
					} else {
						cloud.Accounts.Put(tx, &cloud.Account{ID: id, Name: fmt.Sprint(w, "-", n)})
					}
					return nil
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() {
		wait.Wait()
		// The last event that is waited for.
		if err := s.Update(state.Owner{}, putAccount("last")); err != nil {
			t.Error(err)
		}
	}()
	copied := make(map[string]string)
	var last state.Revision
	for e, err := range s.Watch(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Snapshot != (last == 0) || last != 0 && e.Revision != last+1 {
			t.Fatalf("revision %d (snapshot: %v) comes after %d", e.Revision, e.Snapshot, last)
		}
		last = e.Revision
		if err := follow(copied, e); err != nil {
			t.Fatal(err)
		}
		if _, done := copied["last"]; done {
			break
		}
	}
}

// A watch from the newest revision has no snapshot, and begins with what follows.
func TestWatchGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := planted(t, &memory.Engine{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var last state.Revision
		for e, err := range s.Watch(ctx, 0) {
			if err != nil {
				t.Fatal(err)
			}
			last = e.Revision
			break
		}
		done := make(chan state.Event, 1)
		go func() {
			for e, err := range s.Watch(ctx, last) {
				if err != nil {
					t.Error(err)
				}
				done <- e
				return
			}
		}()
		synctest.Wait()
		update(t, s, state.Owner{}, putAccount("more"))
		if e := <-done; e.Snapshot || e.Revision != last+1 || len(e.Changed) != 1 || e.Changed[0].ID != "more" {
			t.Errorf("a watch from %d goes on with %+v", last, e)
		}
	})
}

// A watch that is not read ends with ErrBehind instead of holding what it missed,
// as does one from a revision that is past, and one of a store that had to read
// its state again; a cancelled one ends with the context's error.
func TestWatchBehind(t *testing.T) {
	e := &sick{}
	s := planted(t, e)
	ctx, cancel := context.WithCancel(t.Context())
	slow, stop := iter.Pull2(s.Watch(ctx, 0))
	defer stop()
	snapshot, err, _ := slow()
	if err != nil || !snapshot.Snapshot {
		t.Fatalf("the first event is %+v, %v", snapshot, err)
	}
	for n := range 2000 {
		update(t, s, state.Owner{}, putAccount(fmt.Sprint("account-", n)))
	}
	if e, err, _ := slow(); !errors.Is(err, state.ErrBehind) {
		t.Errorf("a watch that missed 2000 transactions goes on with %d, %v", e.Revision, err)
	}
	for _, err := range s.Watch(ctx, snapshot.Revision) {
		if !errors.Is(err, state.ErrBehind) {
			t.Errorf("a watch from a past revision = %v", err)
		}
	}
	recovered, stopRecovered := iter.Pull2(s.Watch(ctx, 0))
	defer stopRecovered()
	if _, err, _ := recovered(); err != nil {
		t.Fatal(err)
	}
	e.fails = true
	if err := s.Update(state.Owner{}, putAccount("refused")); err == nil {
		t.Fatal("the engine did not fail")
	}
	e.fails = false
	if _, err, _ := recovered(); !errors.Is(err, state.ErrBehind) {
		t.Errorf("a watch over a recovery = %v", err)
	}
	cancelled, stopCancelled := iter.Pull2(s.Watch(ctx, 0))
	defer stopCancelled()
	if _, err, _ := cancelled(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err, _ := cancelled(); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled watch = %v", err)
	}
}
