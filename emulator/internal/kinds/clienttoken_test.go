package kinds_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// attempt makes a security group once with the token.
func attempt(s *state.Store, scope state.Owner, token string, request any, outcome error) (id string, err error) {
	err = s.Update(scope, func(tx *state.Tx) (err error) {
		id, err = state.Once(tx, "Create", token, request, kinds.SecurityGroups, func() (string, error) {
			g := &kinds.SecurityGroup{Owner: scope, ID: tx.NewID(kinds.SecurityGroups.Kind())}
			kinds.SecurityGroups.Put(tx, g)
			return g.ID, outcome
		})
		return err
	})
	return id, err
}

// A token makes one resource, whatever comes between, and the same token of
// another account, or no token, makes another.
func TestOnce(t *testing.T) {
	s, clock := timed(t)
	refused := errors.New("refused")
	if _, err := attempt(s, hangzhou, "t", 1, refused); !errors.Is(err, refused) {
		t.Errorf("a call that is refused = %v", err)
	}
	first, err := attempt(s, hangzhou, "t", 1, nil)
	if err != nil {
		t.Fatalf("after a refused call: %v", err)
	}
	clock.Advance(state.ClientTokenLifetime - 1)
	for name, c := range map[string]struct {
		scope   state.Owner
		token   string
		request any
		same    bool
		fact    state.Fact
	}{
		"repeated":        {hangzhou, "t", 1, true, ""},
		"another request": {hangzhou, "t", 2, true, state.TokenConflict},
		"another token":   {hangzhou, "u", 1, false, ""},
		"another account": {stranger, "t", 1, false, ""},
		"no token":        {hangzhou, "", 1, false, ""},
	} {
		id, err := attempt(s, c.scope, c.token, c.request, nil)
		if factOf(err) != c.fact || (id == first) != c.same {
			t.Errorf("%s: %s, %v; the first was %s", name, id, err, first)
		}
	}
	update(t, s, hangzhou, func(tx *state.Tx) error { kinds.SecurityGroups.Delete(tx, first); return nil })
	if again, err := attempt(s, hangzhou, "t", 2, nil); err != nil || again == first {
		t.Errorf("after the deletion of %s: %s, %v, want another", first, again, err)
	}
}

// In the realistic profile a repeated call is refused for some time, as the first is
// still running.
func TestOnceProcessing(t *testing.T) {
	s, clock := timed(t, profile(state.LifeRealistic))
	first, err := attempt(s, hangzhou, "t", 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	clock.Advance(2*time.Second - 1)
	for _, request := range []int{1, 2} {
		if _, err := attempt(s, hangzhou, "t", request, nil); factOf(err) != state.TokenProcessing {
			t.Errorf("while the first call runs: %v, want TokenProcessing", err)
		}
	}
	clock.Advance(1)
	if again, err := attempt(s, hangzhou, "t", 1, nil); err != nil || again != first {
		t.Errorf("when it has ended: %s, %v, want %s", again, err, first)
	}
}

// An incomparable request is an error, not a new resource.
func TestOnceOfAnUnreadableRequest(t *testing.T) {
	s, _ := timed(t)
	if id, err := attempt(s, hangzhou, "t", func() {}, nil); err == nil {
		t.Errorf("Once made %s", id)
	}
}

// countTokens counts the stored tokens.
func countTokens(t testing.TB, s *state.Store) (n int) {
	t.Helper()
	view(t, s, state.Owner{}, func(v *state.View) {
		for range state.ClientTokens.All(v) {
			n++
		}
	})
	return n
}

// A token ends with its lifetime: it makes another resource then, and the next
// writes forget it and all others of its age.
func TestClientTokensExpire(t *testing.T) {
	s, clock := timed(t)
	first, err := attempt(s, hangzhou, "t", 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 200 {
		if _, err := attempt(s, hangzhou, fmt.Sprint("other-", n), 1, nil); err != nil {
			t.Fatal(err)
		}
	}
	clock.Advance(state.ClientTokenLifetime)
	if again, err := attempt(s, hangzhou, "t", 2, nil); err != nil || again == first {
		t.Errorf("after the token's lifetime: %s, %v, want another than %s", again, err, first)
	}
	for n := range 3 {
		update(t, s, state.Owner{}, putAccount(fmt.Sprint("account-", n)))
	}
	if n := countTokens(t, s); n != 1 {
		t.Errorf("%d tokens are kept, want the new one alone", n)
	}
}

// A token goes with its resource, so that creating and deleting leaves nothing.
func TestClientTokensGoWithTheirResource(t *testing.T) {
	s, _ := timed(t)
	before := countTokens(t, s)
	id, err := attempt(s, hangzhou, "t", 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := countTokens(t, s); n != before+1 {
		t.Fatalf("%d tokens after a call, want %d", n, before+1)
	}
	update(t, s, hangzhou, func(tx *state.Tx) error { kinds.SecurityGroups.Delete(tx, id); return nil })
	if n := countTokens(t, s); n != before {
		t.Errorf("%d tokens after the deletion, want %d", n, before)
	}
}
