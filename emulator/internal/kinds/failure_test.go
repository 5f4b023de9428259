package kinds_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// sick is an engine whose commits fail: keeping what they should keep or not, as
// a disk does that fails to sync. It can be beyond recovery too.
type sick struct {
	memory.Engine
	fails, keeps, lost bool
	recoveries         int
}

var (
	errDisk = errors.New("input/output error")
	errLost = errors.New("the disk is gone")
)

func (e *sick) Commit(ctx context.Context, sets []engine.ChangeSet) error {
	if !e.fails {
		return e.Engine.Commit(ctx, sets)
	}
	if e.keeps {
		if err := e.Engine.Commit(ctx, sets); err != nil {
			return err
		}
	}
	return errDisk
}

func (e *sick) Recover(context.Context) error {
	e.recoveries++
	if e.lost {
		return errLost
	}
	return nil
}

// A write that the disk refused may be on it all the same. The writer gets an error,
// and from then on everybody sees what is kept: a later transaction can't give away
// what the refused one has.
func TestRefusedWriteThatWasKept(t *testing.T) {
	for _, keeps := range []bool{true, false} {
		e := &sick{keeps: keeps}
		s := planted(t, e)
		update(t, s, hangzhou, func(tx *state.Tx) error {
			return allocateLoadBalancer(tx, "lb-1")
		})
		before := addressesOf(t, s)
		e.fails = true
		err := s.Update(hangzhou, func(tx *state.Tx) error {
			kinds.LoadBalancers.Remove(tx, "lb-1")
			return nil
		})
		if !errors.Is(err, errDisk) || !errors.Is(err, state.ErrNotKept) {
			t.Errorf("keeps %v: Update = %v, want the engine's error", keeps, err)
		}
		e.fails = false
		if err := s.Failing(); err != nil {
			t.Errorf("keeps %v: Failing = %v after a recovery", keeps, err)
		}
		after := addressesOf(t, s)
		if keeps && len(after) != 0 || !keeps && after["lb-1"] != before["lb-1"] {
			t.Errorf("keeps %v: the addresses were %v and are %v", keeps, before, after)
		}
		update(t, s, hangzhou, func(tx *state.Tx) error { return allocateLoadBalancer(tx, "lb-2") })
		reopened := open(t, &e.Engine)
		if now, kept := addressesOf(t, s), addressesOf(t, reopened); len(now) != len(kept) || now["lb-2"] != kept["lb-2"] {
			t.Errorf("keeps %v: served is %v, kept is %v", keeps, now, kept)
		}
		checkAndClose(t, reopened)
	}
}

func allocateLoadBalancer(tx *state.Tx, id string) error {
	ip, err := kinds.AllocateAddress(tx, vSwitchID, vSwitchCIDR, "", kinds.LoadBalancers.Kind(), id)
	if err != nil {
		return err
	}
	kinds.LoadBalancers.Put(tx, &kinds.LoadBalancer{Owner: hangzhou, ID: id, Address: ip, VPCID: vpcID, VSwitchID: vSwitchID})
	return nil
}

func addressesOf(t testing.TB, s *state.Store) map[string]string {
	t.Helper()
	addresses := make(map[string]string)
	view(t, s, state.Owner{}, func(v *state.View) {
		for lb := range kinds.LoadBalancers.All(v) {
			addresses[lb.ID] = lb.Address
		}
	})
	return addresses
}

// While it can't be found out what is kept, writes are refused with the reason
// and reads are served what was acknowledged; the disk is looked at again from
// time to time, not with every call, and when it is well, so is everything.
func TestWritesRefusedUntilTheDiskIsWell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &sick{fails: false}
		var said []string
		s, err := state.Open(t.Context(), state.Config{Schema: kinds.Schema, Engine: e, Seed: 1, Warn: func(what string) { said = append(said, what) }})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { checkAndClose(t, s) }()
		update(t, s, state.Owner{}, putAccount("before"))
		e.fails, e.lost = true, true
		for n := range 3 {
			err := s.Update(state.Owner{}, putAccount("refused"))
			if !errors.Is(err, errLost) || !errors.Is(err, errDisk) || !errors.Is(err, state.ErrNotKept) {
				t.Errorf("Update = %v, want both errors of the engine", err)
			}
			// Only the first reached the engine.
			if unknown := strings.HasPrefix(err.Error(), "it is not known whether the change is kept: "); unknown != (n == 0) {
				t.Errorf("write %d = %v", n, err)
			}
		}
		if err := s.Failing(); !errors.Is(err, errLost) {
			t.Errorf("Failing = %v, want the reason", err)
		}
		if !hasAccount(t, s, "before") || hasAccount(t, s, "refused") {
			t.Error("reads do not see what was acknowledged, and no more")
		}
		if e.recoveries != 1 {
			t.Errorf("%d looks at the disk within a second, want 1", e.recoveries)
		}
		e.fails, e.lost = false, false
		time.Sleep(time.Second)
		update(t, s, state.Owner{}, putAccount("after"))
		if err := s.Failing(); err != nil || e.recoveries != 2 {
			t.Errorf("Failing = %v after %d looks, want it well after 2", err, e.recoveries)
		}
		if len(said) != 2 || !strings.HasPrefix(said[0], "a write failed, and it is not known whether it is kept: a restart may show it") || !strings.HasPrefix(said[1], "writes are taken again") {
			t.Errorf("the log says %q", said)
		}
	})
}

// What is due shows to readers though the store can't write, and costs no
// commit; the next write brings the same about.
func TestReadsNeedNoWrites(t *testing.T) {
	e := &sick{}
	clock := state.NewManualClock(start)
	s := openAt(t, e, clock)
	t.Cleanup(func() { checkAndClose(t, s) })
	for _, p := range []func(*state.Tx) error{plant, plantHealthy, plantStaged, profile(state.LifeRealistic)} {
		update(t, s, hangzhou, p)
	}
	enter(t, s, kinds.StageListenerStarting, listenerID)
	e.fails, e.lost = true, true
	if err := s.Update(state.Owner{}, putAccount("refused")); !errors.Is(err, errDisk) {
		t.Fatalf("Update = %v, want the engine's error", err)
	}
	clock.Advance(time.Hour)
	wantStatus(t, s, "due, with a disk that fails", listenerStatus, "running")
	wantStatus(t, s, "seen again", listenerStatus, "running")
	if _, err := s.Export(); err != nil {
		t.Errorf("Export: %v", err)
	}
	if status := s.ClockStatus(); !status.Now.Equal(start.Add(time.Hour)) {
		t.Errorf("ClockStatus = %v", status)
	}
	if n := e.recoveries; n != 1 {
		t.Errorf("reading looked at the disk %d times, want the one look of the failed write", n)
	}
	e.fails, e.lost = false, false
}
