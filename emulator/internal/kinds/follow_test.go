package kinds_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/memory"
)

func followed(t *testing.T, e engine.Followed) *state.Store {
	t.Helper()
	s, err := state.Follow(t.Context(), state.Config{Schema: kinds.Schema, Clock: state.NewManualClock(start), Seed: 2}, e)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { checkAndClose(t, s) })
	return s
}

// reaches waits until a follower is at the leader's revision.
func reaches(t *testing.T, s *state.Store, revision state.Revision) {
	t.Helper()
	await.Until(t, fmt.Sprintf("the follower is at the leader's revision %d", revision), func() bool { return s.Revision() == revision })
}

// A follower has, with all indexes and quotas, what the leader committed before and after
// it began; it refuses writes until it leads, and then writes on from there.
func TestFollow(t *testing.T) {
	e := &memory.Engine{}
	leader := open(t, e)
	update(t, leader, state.Owner{}, plant)
	update(t, leader, state.Owner{}, putAccount("before"))
	follower := followed(t, e)
	if _, follows := follower.Follows(); !follows {
		t.Error("the follower says that it does not follow")
	}
	if err := follower.Update(state.Owner{}, putAccount("mine")); !errors.Is(err, state.ErrFollows) {
		t.Errorf("a write of the follower = %v", err)
	}
	copied := make(map[string]string)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	events, stop := iter.Pull2(follower.Watch(ctx, 0))
	defer stop()
	for n := range 200 {
		id := fmt.Sprint("account-", rand.IntN(20))
		update(t, leader, state.Owner{}, func(tx *state.Tx) error {
			if _, ok := kinds.Accounts.Find(tx.View, id); ok && n%3 == 0 {
				kinds.Accounts.Delete(tx, id)
				return nil
			}
			kinds.Accounts.Put(tx, &kinds.Account{ID: id, Name: fmt.Sprint(n)})
			return nil
		})
	}
	reaches(t, follower, leader.Revision())
	for seen := state.Revision(0); seen != leader.Revision(); {
		event, err, _ := events()
		if err == nil {
			err = follow(copied, event)
		}
		if err != nil {
			t.Fatal(err)
		}
		seen = event.Revision
	}
	sameStores(t, leader, follower)
	if err := leader.Close(); err != nil {
		t.Fatal(err)
	}
	before := follower.Recovered()
	if err := follower.Lead(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, follows := follower.Follows(); follows || follower.Recovered() == before {
		t.Error("after Lead, the store follows, or does not say that its state may be another")
	}
	update(t, follower, state.Owner{}, putAccount("mine"))
	sameStores(t, followed(t, e), follower)
	if err := follower.Lead(t.Context()); err != nil {
		t.Errorf("Lead of a leader = %v", err)
	}
}

// sameStores compares what two stores export.
func sameStores(t *testing.T, want, got *state.Store) {
	t.Helper()
	if w, g := exported(t, want), exported(t, got); w != g {
		t.Errorf("the stores differ:\n%s\n%s", w, g)
	}
}

// broken is an engine whose feeds end after some commits.
type broken struct {
	*memory.Engine
	after int
}

func (b *broken) Follow(ctx context.Context) (engine.Reading, error) {
	r, err := b.Engine.Follow(ctx)
	return &brokenReading{r, b.after}, err
}

type brokenReading struct {
	engine.Reading
	after int
}

func (r *brokenReading) Commits(ctx context.Context) iter.Seq2[engine.Commit, error] {
	return func(yield func(engine.Commit, error) bool) {
		n := 0
		for c, err := range r.Reading.Commits(ctx) {
			if n++; n > r.after && err == nil {
				yield(engine.Commit{}, engine.ErrBehind)
				return
			}
			if !yield(c, err) {
				return
			}
		}
	}
}
