package explore_test

import (
	"context"
	"testing"

	"github.com/clbemu/clbemu/cmd/internal/explore"
)

// TestResume proves that an exploration that was stopped goes on where it was.
func TestResume(t *testing.T) {
	c := config(brief)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(map[string]explore.Outcome)
	c.Parallel = 1
	c.Record = func(o explore.Outcome) error {
		if done[o.ID] = o; len(done) == 5 {
			cancel()
		}
		return nil
	}
	r, err := explore.Run(ctx, c)
	if err != nil || r.Stopped == "" || len(r.Outcomes) < 5 || len(r.Outcomes) >= r.Planned {
		t.Fatalf("stopped: %d of %d plays, %q, %v", len(r.Outcomes), r.Planned, r.Stopped, err)
	}
	c.Done, c.Parallel = done, 4
	before := len(done)
	fresh := 0
	c.Done = make(map[string]explore.Outcome)
	for id, o := range done {
		c.Done[id] = o
	}
	c.Record = func(explore.Outcome) error { fresh++; return nil }
	if r = run(t, c); fresh != r.Planned-before || len(found(r)) != 2 {
		t.Errorf("resumed: %d new plays of %d with %d done, and %q", fresh, r.Planned, before, found(r))
	}
}
