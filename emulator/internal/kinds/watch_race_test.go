package kinds_test

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
	"time"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/bolt"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// names are the accounts of a state with their names.
func accountNames(v *state.View) map[string]string {
	names := make(map[string]string)
	for a := range kinds.Accounts.All(v) {
		names[a.ID] = a.Name
	}
	return names
}

// follow keeps a copy of the accounts from a watch's events.
func follow(copied map[string]string, e state.Event) error {
	v := e.View(state.Owner{})
	if e.Snapshot {
		clear(copied)
		maps.Copy(copied, accountNames(v))
	}
	for _, c := range e.Changes {
		if c.Kind != kinds.Accounts.Kind() {
			continue
		}
		before, existed := c.Before.(*kinds.Account)
		if name, known := copied[c.ID]; known != existed || known && name != before.Name {
			return fmt.Errorf("revision %d: %s was %+v before, the copy has %q", e.Revision, c.ID, before, name)
		}
		if after, exists := c.After.(*kinds.Account); exists {
			copied[c.ID] = after.Name
		} else {
			delete(copied, c.ID)
		}
	}
	if now := accountNames(v); !maps.Equal(copied, now) {
		return fmt.Errorf("revision %d: the copy has %v, the state %v", e.Revision, copied, now)
	}
	return nil
}

// A watcher that starts with a snapshot and applies each event has, at each revision,
// the state of the store, and misses no revision, however many write meanwhile.
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
						kinds.Accounts.Delete(tx, id)
					} else {
						kinds.Accounts.Put(tx, &kinds.Account{ID: id, Name: fmt.Sprint(w, "-", n)})
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
		// The last event waited for.
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
		if e := <-done; e.Snapshot || e.Revision != last+1 || len(e.Changes) != 1 || e.Changes[0].ID != "more" {
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

// What becomes due gets written at its time while a watch is open, and is a transaction
// of its own, also before a later one that finds it due.
func TestWatchTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, clock := timed(t, lasting(kinds.StageListenerStarting))
		next, stop := iter.Pull2(s.Watch(t.Context(), 0))
		defer stop()
		snapshot, err, _ := next()
		if err != nil {
			t.Fatal(err)
		}
		want := func(after state.Event, cause state.Cause, from, to kinds.ListenerStatus) state.Event {
			t.Helper()
			e, err, _ := next()
			if err != nil || e.Cause != cause || e.Revision != after.Revision+1 {
				t.Fatalf("the event after %d is %+v, %v, want one by %s", after.Revision, e, err, cause)
			}
			for _, c := range e.Changes {
				before, _ := c.Before.(*kinds.Listener)
				now, _ := c.After.(*kinds.Listener)
				if before != nil && now != nil && before.Status == from && now.Status == to {
					return e
				}
			}
			t.Fatalf("the event by %s changes %+v, want a listener from %s to %s", cause, e.Changes, from, to)
			return e
		}
		stopIt := func(tx *state.Tx) error {
			return kinds.Listeners.Edit(tx, listenerID, func(l *kinds.Listener) error { l.Status = kinds.ListenerStopped; return nil })
		}
		update(t, s, hangzhou, stopIt)
		e := want(snapshot, state.ByUpdate, kinds.ListenerRunning, kinds.ListenerStopped)
		enter(t, s, kinds.StageListenerStarting, listenerID)
		e = want(e, state.ByUpdate, kinds.ListenerStopped, kinds.ListenerStarting)
		synctest.Wait() // the alarm waits
		clock.Advance(time.Minute)
		e = want(e, state.ByTime, kinds.ListenerStarting, kinds.ListenerRunning)

		// An update that comes before the alarm does finds the listener running.
		update(t, s, hangzhou, stopIt)
		e = want(e, state.ByUpdate, kinds.ListenerRunning, kinds.ListenerStopped)
		enter(t, s, kinds.StageListenerStarting, listenerID)
		e = want(e, state.ByUpdate, kinds.ListenerStopped, kinds.ListenerStarting)
		clock.Advance(time.Minute)
		update(t, s, hangzhou, stopIt)
		e = want(e, state.ByTime, kinds.ListenerStarting, kinds.ListenerRunning)
		want(e, state.ByUpdate, kinds.ListenerRunning, kinds.ListenerStopped)
	})
}

// A clock that is set ahead or goes faster wakes the alarm, as one that the machine's
// own time brings there does.
func TestWatchTimeByClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openAt(t, &memory.Engine{}, &state.SystemClock{})
		t.Cleanup(func() { checkAndClose(t, s) })
		update(t, s, state.Owner{}, plant)
		for _, p := range []func(*state.Tx) error{plantHealthy, plantStaged, lasting(kinds.StageListenerStarting)} {
			update(t, s, hangzhou, p)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		byTime := make(chan time.Time)
		go func() {
			for e := range s.Watch(ctx, 0) {
				if e.Cause == state.ByTime {
					byTime <- time.Now()
				}
			}
		}()
		stage := kinds.Schema.Stages()[kinds.StageListenerStarting]
		for _, test := range []struct {
			name    string
			advance time.Duration
			scale   float64
			want    time.Duration
		}{
			{"by itself", 0, 1, stage},
			{"ten times as fast", 0, 10, stage / 10},
			{"set ahead", day, 1, 0},
		} {
			enter(t, s, kinds.StageListenerStarting, listenerID)
			synctest.Wait()
			began := time.Now()
			if err := s.AdjustClock(test.advance, test.scale); err != nil {
				t.Fatal(err)
			}
			if took := (<-byTime).Sub(began); took < test.want || took > test.want+time.Millisecond { // in a bubble
				t.Errorf("%s: the listener ran after %s, want %s", test.name, took, test.want)
			}
		}
	})
}

// Revisions grow over restarts, and a watch goes on from the newest of an earlier
// process without a write since.
func TestRevisionsGrow(t *testing.T) {
	dir := t.TempDir()
	open := func() *state.Store {
		e, err := bolt.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		return openAt(t, e, nil)
	}
	s := open()
	for n := range 3 {
		update(t, s, state.Owner{}, putAccount(fmt.Sprint("account-", n)))
	}
	last := s.Revision()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	defer s.Close()
	if s.Revision() != last || last != 3 {
		t.Errorf("after a restart the revision is %d, before it was %d, want 3", s.Revision(), last)
	}
	next, stop := iter.Pull2(s.Watch(t.Context(), last))
	defer stop()
	go func() {
		if err := s.Update(state.Owner{}, putAccount("more")); err != nil {
			t.Error(err)
		}
	}()
	if e, err, _ := next(); err != nil || e.Snapshot || e.Revision != last+1 {
		t.Errorf("a watch from %d goes on with %+v, %v", last, e, err)
	}
}
