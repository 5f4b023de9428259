package kinds_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/memory"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

var (
	hangzhou = state.Owner{AccountID: "1234567890123456", RegionID: "cn-hangzhou"}
	shanghai = state.Owner{AccountID: "1234567890123456", RegionID: "cn-shanghai"}
	stranger = state.Owner{AccountID: "9999999999999999", RegionID: "cn-hangzhou"}
)

const (
	vpcID        = "vpc-bp1test"
	vSwitchID    = "vsw-bp1test"
	vSwitchCIDR  = "192.168.0.0/28"
	routeTableID = "vtb-bp1test"
)

// plant puts the least world that a load balancer can live in.
func plant(tx *state.Tx) error {
	kinds.Accounts.Put(tx, &kinds.Account{ID: hangzhou.AccountID, DefaultRegionID: hangzhou.RegionID})
	kinds.Accounts.Put(tx, &kinds.Account{ID: stranger.AccountID, DefaultRegionID: stranger.RegionID})
	kinds.VPCs.Put(tx, &kinds.VPC{Owner: hangzhou, ID: vpcID, CIDRBlock: "192.168.0.0/16"})
	kinds.RouteTables.Put(tx, &kinds.RouteTable{Owner: hangzhou, ID: routeTableID, VPCID: vpcID, Type: kinds.RouteTableSystem})
	kinds.VSwitches.Put(tx, &kinds.VSwitch{Owner: hangzhou, ID: vSwitchID, VPCID: vpcID, CIDRBlock: vSwitchCIDR, RouteTableID: routeTableID})
	return nil
}

// open opens a store on e without a cleanup.
func open(t testing.TB, e engine.Engine) *state.Store {
	t.Helper()
	s, err := state.Open(t.Context(), state.Config{Schema: kinds.Schema, Engine: e, Clock: state.NewManualClock(start), Seed: 1})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return s
}

// opened opens a store; the cleanup checks and closes it.
func opened(t testing.TB, e engine.Engine) *state.Store {
	t.Helper()
	s := open(t, e)
	t.Cleanup(func() { checkAndClose(t, s) })
	return s
}

// planted opens a store with the least world.
func planted(t testing.TB, e engine.Engine) *state.Store {
	t.Helper()
	s := opened(t, e)
	update(t, s, state.Owner{}, plant)
	return s
}

func checkAndClose(t testing.TB, s *state.Store) {
	t.Helper()
	problems, err := s.Check(context.Background())
	if err != nil {
		t.Errorf("Check: %v", err)
	}
	for _, p := range problems {
		t.Errorf("Check: %s", p)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func update(t testing.TB, s *state.Store, scope state.Owner, fn func(*state.Tx) error) {
	t.Helper()
	if err := s.Update(scope, fn); err != nil {
		t.Fatalf("Update: %v", err)
	}
}

func view(t testing.TB, s *state.Store, scope state.Owner, fn func(*state.View)) {
	t.Helper()
	fn(s.View(scope))
}

// putAccount puts a resource that refers to nothing.
func putAccount(id string) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		kinds.Accounts.Put(tx, &kinds.Account{ID: id})
		return nil
	}
}

func hasAccount(t testing.TB, s *state.Store, id string) (found bool) {
	t.Helper()
	view(t, s, state.Owner{}, func(v *state.View) { _, found = kinds.Accounts.Find(v, id) })
	return found
}

// gate is an engine whose commits, once it is shut, wait for a verdict.
type gate struct {
	memory.Engine
	shut    atomic.Bool
	verdict chan error
	// sizes are the numbers of change sets of the commits that passed.
	sizes  []int
	closed int
}

func newGate() *gate { return &gate{verdict: make(chan error)} }

func (g *gate) Commit(ctx context.Context, sets []engine.ChangeSet) error {
	if g.shut.Load() {
		if err := <-g.verdict; err != nil {
			return err
		}
		g.sizes = append(g.sizes, len(sets))
	}
	return g.Engine.Commit(ctx, sets)
}

func (g *gate) Close() error {
	g.closed++
	return g.Engine.Close()
}

// atWork is started of an Update that does its work when it may finish.
func atWork(s *state.Store, fn func(*state.Tx) error) (done <-chan error, finish chan struct{}) {
	finish = make(chan struct{})
	return started(s, func(tx *state.Tx) error {
		<-finish
		return fn(tx)
	}), finish
}

// gated tests a planted store whose commits wait at a gate.
func gated(t *testing.T, test func(t *testing.T, g *gate, s *state.Store)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		test(t, g, planted(t, g))
	})
}

// mustWait fails when the update has returned already.
func mustWait(t *testing.T, what string, done <-chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-done:
		t.Fatalf("%s returned before it was durable: %v", what, err)
	default:
	}
}

// A reader must never see a change that a crash could still take back.
func TestReaderSeesOnlyWhatIsDurable(t *testing.T) {
	gated(t, func(t *testing.T, g *gate, s *state.Store) {
		g.shut.Store(true)
		done := started(s, putAccount("1"))
		mustWait(t, "Update", done)
		if hasAccount(t, s, "1") {
			t.Error("View sees an account that is not durable")
		}
		g.verdict <- nil
		if err := <-done; err != nil {
			t.Fatalf("Update: %v", err)
		}
		g.shut.Store(false)
		if !hasAccount(t, s, "1") {
			t.Error("View does not see an account that was acknowledged")
		}
	})
}

// Durable writes return at once, also while another writer is at work.
func TestAnswerDoesNotWaitForTheNextWriter(t *testing.T) {
	gated(t, func(t *testing.T, g *gate, s *state.Store) {
		g.shut.Store(true)
		first := started(s, putAccount("1"))
		second, finish := atWork(s, putAccount("2"))
		g.verdict <- nil
		if err := <-first; err != nil { // hangs where it waits
			t.Fatalf("Update: %v", err)
		}
		if !hasAccount(t, s, "1") {
			t.Error("View does not see an account that was acknowledged")
		}
		close(finish)
		g.verdict <- nil
		if err := <-second; err != nil {
			t.Fatalf("Update: %v", err)
		}
		g.shut.Store(false)
	})
}

// A writer that is at work when a commit fails stands on what is in doubt.
func TestFailedCommitFailsTheWriterAtWork(t *testing.T) {
	gated(t, func(t *testing.T, g *gate, s *state.Store) {
		g.shut.Store(true)
		first := started(s, putAccount("1"))
		second, finish := atWork(s, putAccount("2"))
		g.verdict <- errors.New("the disk is full")
		close(finish)
		for what, done := range map[string]<-chan error{"first": first, "second": second} {
			if err := <-done; !errors.Is(err, state.ErrNotKept) {
				t.Errorf("the %s Update = %v, want ErrNotKept", what, err)
			}
		}
		for _, id := range []string{"1", "2"} {
			if hasAccount(t, s, id) {
				t.Errorf("account %s is there", id)
			}
		}
		g.shut.Store(false)
	})
}

// Writers that queue behind a commit share the next one: one fsync for all.
func TestWaitingWritersShareACommit(t *testing.T) {
	gated(t, func(t *testing.T, g *gate, s *state.Store) {
		g.shut.Store(true)
		first := started(s, putAccount("first"))
		var waiting []<-chan error
		for i := range 10 {
			waiting = append(waiting, started(s, putAccount(fmt.Sprintf("waiting-%d", i))))
		}
		g.verdict <- nil
		g.verdict <- nil
		for _, done := range append(waiting, first) {
			if err := <-done; err != nil {
				t.Errorf("Update: %v", err)
			}
		}
		g.shut.Store(false)
		if len(g.sizes) != 2 || g.sizes[0] != 1 || g.sizes[1] != 10 {
			t.Errorf("commits have %v change sets, want [1 10]", g.sizes)
		}
	})
}

// A failed commit takes back its batch and all that stood on it, and no more.
func TestFailedCommit(t *testing.T) {
	gated(t, func(t *testing.T, g *gate, s *state.Store) {
		update(t, s, state.Owner{}, putAccount("before"))
		g.shut.Store(true)
		diskFull := errors.New("disk full")

		lost := started(s, putAccount("lost"))
		stoodOnIt := started(s, func(tx *state.Tx) error {
			return kinds.Accounts.Edit(tx, "lost", func(a *kinds.Account) error {
				a.Name = "edited"
				return nil
			})
		})
		readIt := started(s, func(tx *state.Tx) error {
			_, err := kinds.Accounts.Get(tx.View, "lost")
			return err
		})
		g.verdict <- diskFull
		for name, done := range map[string]<-chan error{"writer": lost, "editor": stoodOnIt, "reader": readIt} {
			if err := <-done; !errors.Is(err, diskFull) {
				t.Errorf("Update of the %s = %v, want the engine's error", name, err)
			}
		}
		if hasAccount(t, s, "lost") || !hasAccount(t, s, "before") {
			t.Error("memory is not as it was before the failed commit")
		}
		g.shut.Store(false)
		update(t, s, state.Owner{}, func(tx *state.Tx) error {
			if _, found := kinds.Accounts.Find(tx.View, "lost"); found {
				t.Error("a later transaction sees what was lost")
			}
			kinds.Accounts.Put(tx, &kinds.Account{ID: "after"})
			return nil
		})
		if !hasAccount(t, s, "after") {
			t.Error("the store does not work after a failed commit")
		}
	})
}

// What a transaction read may be told only when it is durable, also when the
// transaction itself changed nothing or refused.
func TestUpdateWaitsForWhatItRead(t *testing.T) {
	refused := errors.New("refused")
	for name, outcome := range map[string]error{"nil": nil, "error": refused} {
		t.Run(name, func(t *testing.T) {
			gated(t, func(t *testing.T, g *gate, s *state.Store) {
				g.shut.Store(true)
				writer := started(s, putAccount("1"))
				reader := started(s, func(tx *state.Tx) error {
					if _, found := kinds.Accounts.Find(tx.View, "1"); !found {
						t.Error("a transaction does not see the one before it")
					}
					return outcome
				})
				mustWait(t, "the reading Update", reader)
				g.verdict <- nil
				g.shut.Store(false)
				if err := <-writer; err != nil {
					t.Errorf("the writing Update: %v", err)
				}
				if err := <-reader; !errors.Is(err, outcome) {
					t.Errorf("the reading Update = %v, want %v", err, outcome)
				}
			})
		})
	}
}

// An error and a panic both leave everything as it was, the sequence of ids too.
func TestRollback(t *testing.T) {
	refused := errors.New("refused")
	cases := map[string]func(*state.Tx) error{
		"error": func(*state.Tx) error { return refused },
		"panic": func(*state.Tx) error { panic(refused) },
	}
	for name, end := range cases {
		t.Run(name, func(t *testing.T) {
			s := planted(t, &memory.Engine{})
			var lost, next string
			err := recovered(func() error {
				return s.Update(hangzhou, func(tx *state.Tx) error {
					lost = tx.NewID(kinds.LoadBalancers.Kind())
					kinds.Accounts.Put(tx, &kinds.Account{ID: "1"})
					kinds.VPCs.Delete(tx, vpcID)
					return end(tx)
				})
			})
			if !errors.Is(err, refused) {
				t.Fatalf("Update = %v, want %v", err, refused)
			}
			update(t, s, hangzhou, func(tx *state.Tx) error {
				next = tx.NewID(kinds.LoadBalancers.Kind())
				_, err := kinds.VPCs.Get(tx.View, vpcID)
				return err
			})
			if hasAccount(t, s, "1") || next != lost {
				t.Errorf("account left behind: %v, id after the rollback %s, before %s", hasAccount(t, s, "1"), next, lost)
			}
		})
	}
}

// recovered turns fn's panic with an error into that error.
func recovered(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = p.(error)
		}
	}()
	return fn()
}

// Time stands still within a transaction and follows the clock between them.
func TestNow(t *testing.T) {
	clock := state.NewManualClock(start)
	s, err := state.Open(t.Context(), state.Config{Schema: kinds.Schema, Engine: &memory.Engine{}, Clock: clock, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer checkAndClose(t, s)
	update(t, s, state.Owner{}, func(tx *state.Tx) error {
		clock.Advance(time.Hour)
		if !tx.Now().Equal(start) {
			t.Errorf("Now moved to %v within a transaction", tx.Now())
		}
		return nil
	})
	view(t, s, state.Owner{}, func(v *state.View) {
		if want := start.Add(time.Hour); !v.Now().Equal(want) || !s.Now().Equal(want) {
			t.Errorf("Now = %v, %v, want %v", v.Now(), s.Now(), want)
		}
	})
}

// Open owns the engine: when it fails it says why and closes it.
func TestOpenRefusesWhatItCannotRead(t *testing.T) {
	cases := map[string]struct {
		change engine.Change
		want   string
	}{
		"unknown table":    {engine.Change{Table: "Rocket", ID: "1", Value: []byte("{}")}, `load the store: unknown table "Rocket"`},
		"unreadable value": {engine.Change{Table: "Account", ID: "1", Value: []byte("{")}, "load the store: Account 1: unreadable Account: unexpected end of JSON input"},
		"without an id":    {engine.Change{Table: "Account", ID: "1", Value: []byte("{}")}, "load the store: Account 1: Account without a usable id"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := newGate()
			if err := g.Commit(t.Context(), []engine.ChangeSet{{c.change}}); err != nil {
				t.Fatal(err)
			}
			_, err := state.Open(t.Context(), state.Config{Schema: kinds.Schema, Engine: g})
			if err == nil || err.Error() != c.want {
				t.Errorf("Open = %v, want %s", err, c.want)
			}
			if g.closed != 1 {
				t.Errorf("the engine was closed %d times, want once", g.closed)
			}
		})
	}
}

// A long load with a bad value in it must end, and name the value.
func TestOpenStopsAtTheFirstBadValue(t *testing.T) {
	e := &memory.Engine{}
	var set engine.ChangeSet
	for i := range 5000 {
		value := fmt.Appendf(nil, `{"ID":"%05d"}`, i)
		if i == 100 {
			value = []byte("garbage")
		}
		set = append(set, engine.Change{Table: "Account", ID: fmt.Sprintf("%05d", i), Value: value})
	}
	if err := e.Commit(t.Context(), []engine.ChangeSet{set}); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		_, err := state.Open(t.Context(), state.Config{Schema: kinds.Schema, Engine: e})
		want := "load the store: Account 00100: unreadable Account: invalid character 'g' looking for beginning of value"
		if err == nil || err.Error() != want {
			t.Errorf("Open = %v, want %s", err, want)
		}
	})
}

// Opening with a cancelled context loads nothing.
func TestOpenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e := &memory.Engine{}
	planted(t, e)
	cancel()
	if s, err := state.Open(ctx, state.Config{Schema: kinds.Schema, Engine: e}); !errors.Is(err, context.Canceled) {
		t.Errorf("Open = %v, %v, want %v", s, err, context.Canceled)
	}
}
