// Package enginetest tests every storage engine against the same contract, and has an
// engine that fails, for tests of its users. It knows no resource.
package enginetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/clbemu/clbemu/state/engine"
)

// Run runs the suite. Open opens the engine on a new medium for each
// test; a second call in one test opens the same medium again, after a Close.
func Run(t *testing.T, open func(t *testing.T) engine.Engine) {
	tests := []struct {
		name string
		run  func(t *testing.T, open func(t *testing.T) engine.Engine)
	}{
		{"NewIsEmpty", newIsEmpty},
		{"LoadIsInOrder", loadIsInOrder},
		{"LaterChangesWin", laterChangesWin},
		{"Reopen", reopen},
		{"CallerKeepsItsBytes", callerKeepsItsBytes},
		{"LoadStopsOnError", loadStopsOnError},
		{"LoadIsCancelled", loadIsCancelled},
		{"LargeCommit", largeCommit},
		{"Revision", revision},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, open) })
	}
}

func put(table, id, value string) engine.Change {
	return engine.Change{Table: table, ID: id, Value: []byte(value)}
}

func commit(t *testing.T, e engine.Engine, sets ...engine.ChangeSet) {
	t.Helper()
	if err := e.Commit(t.Context(), sets); err != nil {
		t.Fatalf("Commit: %v", err)
	}
}

func closeEngine(t *testing.T, e engine.Engine) {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

// expect compares every stored value, as table/id=value in order.
func expect(t *testing.T, e engine.Engine, want ...string) {
	t.Helper()
	var got []string
	err := e.Load(t.Context(), func(table, id string, value []byte) error {
		got = append(got, fmt.Sprintf("%s/%s=%s", table, id, value))
		return nil
	})
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("Load gives %q, want %q", got, want)
	}
}

func newIsEmpty(t *testing.T, open func(t *testing.T) engine.Engine) {
	e := open(t)
	defer closeEngine(t, e)
	expect(t, e)
}

func loadIsInOrder(t *testing.T, open func(t *testing.T) engine.Engine) {
	e := open(t)
	defer closeEngine(t, e)
	commit(t, e,
		engine.ChangeSet{put("b", "1", "x"), put("a", "2", "x")},
		engine.ChangeSet{put("a", "10", "x"), put("a", "1", "x"), put("ab", "0", "x")})
	expect(t, e, "a/1=x", "a/10=x", "a/2=x", "ab/0=x", "b/1=x")
}

// Sets, and changes within a set, apply in order; deleting what is not there is
// no error.
func laterChangesWin(t *testing.T, open func(t *testing.T) engine.Engine) {
	e := open(t)
	defer closeEngine(t, e)
	gone := func(id string) engine.Change { return engine.Change{Table: "a", ID: id} }
	commit(t, e,
		engine.ChangeSet{put("a", "1", "old"), put("a", "2", "x"), put("a", "3", "x"), gone("3"), put("a", "3", "again")},
		engine.ChangeSet{put("a", "1", "new"), gone("2"), gone("never"), {Table: "none", ID: "never"}})
	expect(t, e, "a/1=new", "a/3=again")
}

func reopen(t *testing.T, open func(t *testing.T) engine.Engine) {
	e := open(t)
	commit(t, e, engine.ChangeSet{put("a", "1", "x"), put("a", "2", "x")})
	commit(t, e, engine.ChangeSet{{Table: "a", ID: "1"}})
	closeEngine(t, e)
	e = open(t)
	defer closeEngine(t, e)
	expect(t, e, "a/2=x")
	commit(t, e, engine.ChangeSet{put("a", "3", "x")})
	expect(t, e, "a/2=x", "a/3=x")
}

// A value that Load hands out stays right in the copy that the caller made,
// whatever commits later.
func callerKeepsItsBytes(t *testing.T, open func(t *testing.T) engine.Engine) {
	e := open(t)
	defer closeEngine(t, e)
	commit(t, e, engine.ChangeSet{put("a", "1", "before")})
	var kept []byte
	if err := e.Load(t.Context(), func(_, _ string, value []byte) error {
		kept = bytes.Clone(value)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	commit(t, e, engine.ChangeSet{put("a", "1", "after!")})
	if string(kept) != "before" {
		t.Errorf("the copy reads %q", kept)
	}
	expect(t, e, "a/1=after!")
}

func loadStopsOnError(t *testing.T, open func(t *testing.T) engine.Engine) {
	e := open(t)
	defer closeEngine(t, e)
	commit(t, e, engine.ChangeSet{put("a", "1", "x"), put("a", "2", "x"), put("b", "1", "x")})
	stop := errors.New("stop")
	calls := 0
	err := e.Load(t.Context(), func(string, string, []byte) error { calls++; return stop })
	if !errors.Is(err, stop) || calls != 1 {
		t.Errorf("Load = %v after %d calls, want the error of the first", err, calls)
	}
}

func loadIsCancelled(t *testing.T, open func(t *testing.T) engine.Engine) {
	e := open(t)
	defer closeEngine(t, e)
	commit(t, e, engine.ChangeSet{put("a", "1", "x")})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := e.Load(ctx, func(string, string, []byte) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Load = %v, want %v", err, context.Canceled)
	}
}

// The revision counts change sets, over a reopen and a recovery.
func revision(t *testing.T, open func(t *testing.T) engine.Engine) {
	e := open(t)
	expectRevision := func(want uint64) {
		t.Helper()
		if got, err := e.Revision(t.Context()); err != nil || got != want {
			t.Errorf("Revision = %d, %v, want %d", got, err, want)
		}
	}
	expectRevision(0)
	commit(t, e, engine.ChangeSet{put("a", "1", "x")})
	commit(t, e, engine.ChangeSet{put("a", "1", "y")}, engine.ChangeSet{{Table: "a", ID: "1"}})
	expectRevision(3)
	if err := e.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	expectRevision(3)
	closeEngine(t, e)
	e = open(t)
	defer closeEngine(t, e)
	expectRevision(3)
	commit(t, e, engine.ChangeSet{put("a", "2", "x")})
	expectRevision(4)
}

func largeCommit(t *testing.T, open func(t *testing.T) engine.Engine) {
	e := open(t)
	const n = 5000
	var sets []engine.ChangeSet
	for i := range n {
		sets = append(sets, engine.ChangeSet{put("a", fmt.Sprintf("%05d", i), fmt.Sprint(i))})
	}
	commit(t, e, sets...)
	closeEngine(t, e)
	e = open(t)
	defer closeEngine(t, e)
	next := 0
	err := e.Load(t.Context(), func(_, id string, value []byte) error {
		if id != fmt.Sprintf("%05d", next) || string(value) != fmt.Sprint(next) {
			return fmt.Errorf("%s=%s at place %d", id, value, next)
		}
		next++
		return nil
	})
	if err != nil || next != n {
		t.Errorf("Load = %v after %d of %d values", err, next, n)
	}
}

// Follow runs the test of engines that others can follow: a reading has what was kept at
// its moment, and yields each commit after it, as the last change of each place.
func Follow(t *testing.T, e engine.Followed) {
	defer closeEngine(t, e)
	commit(t, e, engine.ChangeSet{put("a", "1", "x"), put("b", "1", "x")})
	reading, err := e.Follow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	commit(t, e, engine.ChangeSet{put("a", "2", "x")}, engine.ChangeSet{put("a", "2", "y"), {Table: "b", ID: "1"}})
	commit(t, e, engine.ChangeSet{put("a", "3", "z")})
	var loaded []string
	if err := reading.Load(t.Context(), func(table, id string, value []byte) error {
		loaded = append(loaded, fmt.Sprintf("%s/%s=%s", table, id, value))
		return nil
	}); err != nil || !slices.Equal(loaded, []string{"a/1=x", "b/1=x"}) || reading.Revision() != 1 {
		t.Errorf("the reading has %q at revision %d, %v", loaded, reading.Revision(), err)
	}
	var seen []string
	for c, err := range reading.Commits(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range c.Changes {
			seen = append(seen, fmt.Sprintf("%d %s/%s=%s", c.Revision, change.Table, change.ID, change.Value))
		}
		if c.Revision == 4 {
			break
		}
	}
	if want := []string{"3 a/2=y", "3 b/1=", "4 a/3=z"}; !slices.Equal(seen, want) {
		t.Errorf("the commits are %q, want %q", seen, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range reading.Commits(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a feed that was cancelled yields %v", err)
		}
	}
}
