package kinds_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// Ids have the cloud's form: the prefix of the kind, the code of the region.
func TestNewID(t *testing.T) {
	cases := []struct {
		kind  state.Kind
		scope state.Owner
		want  string
	}{
		{kinds.LoadBalancers.Kind(), hangzhou, `^lb-bp1[0-9a-z]{18}$`},
		{kinds.LoadBalancers.Kind(), shanghai, `^lb-uf6[0-9a-z]{18}$`},
		{kinds.LoadBalancers.Kind(), state.Owner{RegionID: "xx-nowhere-1"}, `^lb-[0-9a-z]{21}$`},
		{kinds.VServerGroups.Kind(), hangzhou, `^rsp-bp1[0-9a-z]{10}$`},
		{kinds.AccessControlLists.Kind(), hangzhou, `^acl-bp1[0-9a-z]{18}$`},
		{kinds.VPCs.Kind(), hangzhou, `^vpc-bp1[0-9a-z]{18}$`},
		{kinds.Instances.Kind(), hangzhou, `^i-bp1[0-9a-z]{17}$`},
		{kinds.NetworkInterfaces.Kind(), hangzhou, `^eni-bp1[0-9a-z]{16}$`},
	}
	for _, c := range cases {
		inTx(t, c.scope, func(tx *state.Tx) {
			if id := tx.NewID(c.kind); !regexp.MustCompile(c.want).MatchString(id) {
				t.Errorf("NewID(%s) in %s = %s, want %s", c.kind, c.scope.RegionID, id, c.want)
			}
		})
	}
}

// TestGivenID proves that a given id serves once, for the kind whose ids begin so.
func TestGivenID(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		kind := kinds.LoadBalancers.Kind()
		given := tx.Giving("lb-given")
		if id := given.NewID(kinds.VServerGroups.Kind()); id == "lb-given" {
			t.Errorf("NewID of another kind = %s", id)
		}
		if id := given.In(shanghai).NewID(kind); id != "lb-given" {
			t.Errorf("NewID = %s, want the given id", id)
		}
		if id := given.NewID(kind); id == "lb-given" {
			t.Errorf("the second NewID = %s, want another id", id)
		}
		if id := tx.NewID(kind); id == "lb-given" {
			t.Errorf("NewID of the transaction itself = %s, want another id", id)
		}
	})
}

func TestNewCertificateID(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		form := regexp.MustCompile(`^1234567890123456_[0-9a-f]{11}_-?[0-9]+_-?[0-9]+$`)
		if id := tx.NewCertificateID(kinds.ServerCertificates.Kind()); !form.MatchString(id) {
			t.Errorf("NewCertificateID = %s, want %s", id, form)
		}
	})
}

func TestNewSecret(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		form := regexp.MustCompile(`^[0-9a-z]{40}$`)
		first, second := tx.NewSecret(40), tx.NewSecret(40)
		if !form.MatchString(first) || first == second {
			t.Errorf("NewSecret = %s, then %s", first, second)
		}
	})
}

// UUIDs are in order of their making, all different, also when the table has forgotten
// those before or holds ids of another form, and cost no draw.
func TestNextUUID(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
		var made []string
		before, _ := state.Sequences.Find(tx.View, "ids")
		for range 300 {
			id := state.NextUUID(tx, kinds.NLBJobs.Table)
			kinds.NLBJobs.Put(tx, &kinds.Job{Owner: hangzhou, ID: id, Status: kinds.JobSucceeded})
			if made = append(made, id); !form.MatchString(id) {
				t.Errorf("NextUUID = %s, want %s", id, form)
			}
		}
		if !slices.IsSorted(made) || len(slices.Compact(slices.Clone(made))) != len(made) {
			t.Errorf("the UUIDs are not in the order in which they were made, or not all different: %v", made)
		}
		if after, _ := state.Sequences.Find(tx.View, "ids"); *after != *before {
			t.Errorf("the sequence was at %d and is at %d", before.Next, after.Next)
		}
		kinds.NLBJobs.Put(tx, &kinds.Job{Owner: hangzhou, ID: "z-imported", Status: kinds.JobSucceeded})
		if id := state.NextUUID(tx, kinds.NLBJobs.Table); !form.MatchString(id) || slices.Contains(made, id) {
			t.Errorf("beside an id of another form NextUUID = %s, want a new one", id)
		}
	})
}

func mint(t *testing.T, s *state.Store, n int) (ids []string) {
	t.Helper()
	update(t, s, hangzhou, func(tx *state.Tx) error {
		for range n {
			ids = append(ids, tx.NewID(kinds.LoadBalancers.Kind()))
		}
		return nil
	})
	return ids
}

// The same seed gives the same ids, another seed others, and none comes twice,
// also over a restart and a Reset.
func TestIDsAreRepeatableAndUnique(t *testing.T) {
	e := &memory.Engine{}
	s := open(t, e)
	ids := mint(t, s, 10)
	checkAndClose(t, s)

	s = open(t, e)
	ids = append(ids, mint(t, s, 10)...)
	if err := s.Reset(plant); err != nil {
		t.Fatalf("Reset: %v", err)
	}
	ids = append(ids, mint(t, s, 10)...)
	checkAndClose(t, s)

	twin := open(t, &memory.Engine{})
	defer checkAndClose(t, twin)
	if again := mint(t, twin, 30); !slices.Equal(ids, again) {
		t.Errorf("the same seed gives\n%v\nand then\n%v", ids, again)
	}
	slices.Sort(ids)
	if unique := slices.Compact(slices.Clone(ids)); len(unique) != 30 {
		t.Errorf("%d different ids of 30", len(unique))
	}

	for _, seed := range []uint64{0, 2} {
		other, err := state.Open(t.Context(), state.Config{Schema: kinds.Schema, Engine: &memory.Engine{}, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if id := mint(t, other, 1)[0]; slices.Contains(ids, id) {
			t.Errorf("seed %d repeats an id of seed 1", seed)
		}
		checkAndClose(t, other)
	}
}

// A kind whose ids have no known form is a programming error.
func TestNewIDOfAKindWithoutForm(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		defer func() {
			if p := recover(); p != "state: no form for the ids of Account" {
				t.Errorf("NewID panicked with %v", p)
			}
		}()
		t.Errorf("NewID = %s, want a panic", tx.NewID(kinds.Accounts.Kind()))
	})
}
