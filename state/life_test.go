package state_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// clocked is a store with the healthy state and a clock to move. The stages take
// what the profile and the delays say.
func clocked(t *testing.T, profile string, delays map[state.Stage]time.Duration) (*state.Store, *state.ManualClock) {
	t.Helper()
	clock := state.NewManualClock(start)
	s, err := state.Open(t.Context(), state.Config{Engine: &memory.Engine{}, Clock: clock, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { checkAndClose(t, s) })
	update(t, s, hangzhou, func(tx *state.Tx) error {
		state.LifeCycles.Put(tx, &state.LifeCycle{ID: state.LifeCycleID, Profile: profile, Delays: delays})
		if err := plant(tx); err != nil {
			return err
		}
		return plantHealthy(tx)
	})
	return s, clock
}

func enter(t *testing.T, s *state.Store, stage state.Stage, id string, then ...string) {
	t.Helper()
	update(t, s, hangzhou, func(tx *state.Tx) error { state.Enter(tx, stage, id, then...); return nil })
}

// listenerStatus is the status that a reader sees now.
func listenerStatus(t *testing.T, s *state.Store) (status state.ListenerStatus) {
	t.Helper()
	view(t, s, hangzhou, func(v *state.View) {
		if l, ok := state.Listeners.Find(v, "lb-1_https_443"); ok {
			status = l.Status
		}
	})
	return status
}

// A stage ends at its own second, for readers and writers alike, with nobody but
// the clock to see to it.
func TestStage(t *testing.T) {
	s, clock := clocked(t, state.LifeRealistic, nil)
	enter(t, s, state.StageListenerStarting, "lb-1_https_443")
	if got := listenerStatus(t, s); got != state.ListenerStarting {
		t.Errorf("status %s, want starting", got)
	}
	clock.Advance(2*time.Second - time.Nanosecond)
	if got := listenerStatus(t, s); got != state.ListenerStarting {
		t.Errorf("status just before the end: %s", got)
	}
	clock.Advance(time.Nanosecond)
	if got := listenerStatus(t, s); got != state.ListenerRunning {
		t.Errorf("status at the end: %s, want running", got)
	}
	enter(t, s, state.StageListenerStopping, "lb-1_https_443")
	clock.Advance(2 * time.Second)
	update(t, s, hangzhou, func(tx *state.Tx) error {
		if l, _ := state.Listeners.Find(tx.View, "lb-1_https_443"); l.Status != state.ListenerStopped {
			t.Errorf("a writer finds it %s, want stopped", l.Status)
		}
		return nil
	})
}

// A stage takes no time, its profile's, or its own.
func TestDelays(t *testing.T) {
	cases := []struct {
		name    string
		profile string
		delays  map[state.Stage]time.Duration
		want    time.Duration
	}{
		{"instant", state.LifeInstant, nil, 0},
		{"realistic", state.LifeRealistic, nil, 2 * time.Second},
		{"own", state.LifeInstant, map[state.Stage]time.Duration{state.StageListenerStarting: time.Minute}, time.Minute},
		{"own and none", state.LifeRealistic, map[state.Stage]time.Duration{state.StageListenerStarting: 0}, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, _ := clocked(t, c.profile, c.delays)
			enter(t, s, state.StageListenerStarting, "lb-1_https_443")
			want := state.ListenerStarting
			if c.want == 0 {
				want = state.ListenerRunning
			}
			if got := listenerStatus(t, s); got != want {
				t.Errorf("status %s, want %s", got, want)
			}
			view(t, s, hangzhou, func(v *state.View) {
				if got := v.Delay(state.StageListenerStarting); got != c.want {
					t.Errorf("Delay = %v, want %v", got, c.want)
				}
			})
		})
	}
}

// A stage without an end of its own goes back to where the resource came from.
func TestStageGoesBack(t *testing.T) {
	s, clock := clocked(t, state.LifeRealistic, nil)
	enter(t, s, state.StageListenerConfiguring, "lb-1_https_443", string(state.ListenerRunning))
	if got := listenerStatus(t, s); got != state.ListenerConfiguring {
		t.Errorf("status %s, want configuring", got)
	}
	clock.Advance(time.Second)
	if got := listenerStatus(t, s); got != state.ListenerRunning {
		t.Errorf("status %s, want running", got)
	}
}

// What has moved on meanwhile is left alone, and what is gone stays gone.
func TestStageOfWhatMovedOn(t *testing.T) {
	s, clock := clocked(t, state.LifeRealistic, nil)
	enter(t, s, state.StageListenerStarting, "lb-1_https_443")
	update(t, s, hangzhou, func(tx *state.Tx) error {
		listener(func(l *state.Listener) { l.Status = state.ListenerStopped })(tx)
		return nil
	})
	clock.Advance(time.Minute)
	if got := listenerStatus(t, s); got != state.ListenerStopped {
		t.Errorf("status %s, want stopped", got)
	}
	enter(t, s, state.StageListenerStarting, "lb-1_https_443")
	update(t, s, hangzhou, func(tx *state.Tx) error {
		l, err := state.Listeners.Get(tx.View, "lb-1_https_443")
		if err == nil {
			state.RemoveListener(tx, l)
		}
		return err
	})
	clock.Advance(time.Minute)
	if got := listenerStatus(t, s); got != "" {
		t.Errorf("a deleted listener is %s", got)
	}
}

// A route entry is gone when its deletion ends; an EIP is free, without its
// instance, when its unassociation does.
func TestStagesWithConsequences(t *testing.T) {
	s, clock := clocked(t, state.LifeRealistic, nil)
	update(t, s, hangzhou, func(tx *state.Tx) error {
		state.RouteEntries.Put(tx, &state.RouteEntry{Owner: hangzhou, ID: "rte-1", RouteTableID: routeTableID})
		state.Enter(tx, state.StageRouteEntryDeleting, "rte-1")
		state.Enter(tx, state.StageEIPUnassociating, "eip-1")
		return nil
	})
	seen := func() (route bool, e *state.EIP) {
		view(t, s, hangzhou, func(v *state.View) {
			_, route = state.RouteEntries.Find(v, "rte-1")
			e, _ = state.EIPs.Find(v, "eip-1")
		})
		return route, e
	}
	if route, e := seen(); !route || e.Status != state.EIPUnassociating || e.InstanceID != "lb-1" {
		t.Errorf("meanwhile: route %v, EIP %+v", route, e)
	}
	clock.Advance(3 * time.Second)
	if route, e := seen(); route || e.Status != state.EIPAvailable || e.InstanceID != "" {
		t.Errorf("afterwards: route %v, EIP %+v", route, e)
	}
}

// Nobody has looked for a day: everything happened at its own time, in order.
func TestSettlingInOrder(t *testing.T) {
	s, clock := clocked(t, state.LifeInstant, nil)
	update(t, s, hangzhou, func(tx *state.Tx) error {
		schedule := func(after time.Duration, from, to state.ListenerStatus) {
			state.Schedule(tx, tx.Now().Add(after), state.Transition{Kind: state.Listeners.Kind(), ResourceID: "lb-1_https_443",
				From: string(from), To: string(to)})
		}
		schedule(3*time.Hour, state.ListenerRunning, state.ListenerStopping)
		schedule(2*time.Hour, state.ListenerStarting, state.ListenerRunning)
		schedule(time.Hour, state.ListenerStopped, state.ListenerStarting)
		listener(func(l *state.Listener) { l.Status = state.ListenerStopped })(tx)
		return nil
	})
	clock.Advance(24 * time.Hour)
	if got := listenerStatus(t, s); got != state.ListenerStopping {
		t.Errorf("status %s, want stopping", got)
	}
}

// An unknown stage is a programming error.
func TestUnknownStage(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		defer func() {
			if p := recover(); p != "state: unknown stage rocket.launching" {
				t.Errorf("Enter panicked with %v", p)
			}
		}()
		state.Enter(tx, "rocket.launching", "r-1")
		t.Error("no panic")
	})
}

// loadBalancers are the statuses of the load balancers by id.
func loadBalancers(t *testing.T, s *state.Store) map[string]state.LoadBalancerStatus {
	t.Helper()
	statuses := make(map[string]state.LoadBalancerStatus)
	view(t, s, hangzhou, func(v *state.View) {
		for lb := range state.LoadBalancers.All(v) {
			statuses[lb.ID] = lb.Status
		}
	})
	return statuses
}

// owing is a store whose account has two days of grace, and goes into arrears.
func owing(t *testing.T) (*state.Store, *state.ManualClock) {
	t.Helper()
	s, clock := clocked(t, state.LifeInstant, nil)
	update(t, s, hangzhou, func(tx *state.Tx) error {
		edit(state.Accounts, hangzhou.AccountID, func(a *state.Account) { a.GraceDays, a.ReleaseDays = 2, 7 })(tx)
		loadBalancer(func(lb *state.LoadBalancer) { lb.Status = state.LoadBalancerInactive })(tx)
		return state.SetArrears(tx, hangzhou.AccountID, true)
	})
	return s, clock
}

func pay(t *testing.T, s *state.Store) {
	t.Helper()
	update(t, s, hangzhou, func(tx *state.Tx) error { return state.SetArrears(tx, hangzhou.AccountID, false) })
}

const dayOfGrace = 24 * time.Hour

// Arrears lock the load balancers after the days of grace, and release them later;
// then their addresses are free and their EIPs too.
func TestArrears(t *testing.T) {
	s, clock := owing(t)
	clock.Advance(2*dayOfGrace - time.Second)
	if got := loadBalancers(t, s); got["lb-1"] != state.LoadBalancerInactive {
		t.Errorf("within the grace: %v", got)
	}
	clock.Advance(time.Second)
	if got := loadBalancers(t, s); got["lb-1"] != state.LoadBalancerLocked || got["lb-2"] != state.LoadBalancerLocked {
		t.Errorf("after the grace: %v", got)
	}
	clock.Advance(7 * dayOfGrace)
	if got := loadBalancers(t, s); len(got) != 0 {
		t.Errorf("after the release: %v", got)
	}
	view(t, s, hangzhou, func(v *state.View) {
		e, _ := state.EIPs.Find(v, "eip-1")
		if vSwitch, _ := state.VSwitches.Find(v, vSwitchID); e.Status != state.EIPAvailable || state.AvailableAddresses(v, vSwitch) != 11 {
			t.Errorf("the EIP is %s, %d addresses are free", e.Status, state.AvailableAddresses(v, vSwitch))
		}
	})
}

// Paying undoes the lock, and what was to come does not.
func TestPayingInTime(t *testing.T) {
	for _, days := range []time.Duration{1, 3} {
		s, clock := owing(t)
		clock.Advance(days * dayOfGrace)
		pay(t, s)
		clock.Advance(30 * dayOfGrace)
		got := loadBalancers(t, s)
		if got["lb-1"] != state.LoadBalancerInactive || got["lb-2"] != state.LoadBalancerActive || len(got) != 2 {
			t.Errorf("paid after %d days: %v", days, got)
		}
	}
}

// An order takes effect at its time and not before.
func TestOrderInternetSpec(t *testing.T) {
	s, clock := clocked(t, state.LifeInstant, nil)
	update(t, s, hangzhou, func(tx *state.Tx) error {
		return state.LoadBalancers.Edit(tx, "lb-1", func(lb *state.LoadBalancer) error {
			lb.InternetChargeType, lb.Bandwidth = state.PayByBandwidth, 10
			state.OrderInternetSpec(tx, lb, &state.InternetSpecChange{
				InternetChargeType: state.PayByTraffic, Bandwidth: 20, EffectiveAt: start.Add(time.Hour)})
			return nil
		})
	})
	spec := func() (lb *state.LoadBalancer) {
		view(t, s, hangzhou, func(v *state.View) { lb, _ = state.LoadBalancers.Find(v, "lb-1") })
		return lb
	}
	clock.Advance(time.Hour - time.Second)
	if lb := spec(); lb.InternetChargeType != state.PayByBandwidth || lb.Bandwidth != 10 || lb.Ineffective == nil {
		t.Errorf("before: %+v", lb)
	}
	clock.Advance(time.Second)
	if lb := spec(); lb.InternetChargeType != state.PayByTraffic || lb.Bandwidth != 20 || lb.Ineffective != nil {
		t.Errorf("after: %+v", lb)
	}
}

// The emulated clock goes forward, faster, slower or not at all; never back.
func TestAdjustClock(t *testing.T) {
	s, clock := clocked(t, state.LifeInstant, nil)
	adjust := func(advance time.Duration, scale float64) {
		t.Helper()
		if err := s.AdjustClock(advance, scale); err != nil {
			t.Fatalf("AdjustClock(%v, %v): %v", advance, scale, err)
		}
	}
	expect := func(want time.Duration, scale float64) {
		t.Helper()
		status, err := s.ClockStatus()
		if err != nil || status.Now.Sub(start) != want || status.Scale != scale || !s.Now().Equal(status.Now) {
			t.Errorf("the clock shows start+%v at scale %v, %v; want +%v at %v", status.Now.Sub(start), status.Scale, err, want, scale)
		}
	}
	expect(0, 1)
	adjust(time.Hour, 1)
	expect(time.Hour, 1)
	clock.Advance(time.Minute)
	expect(time.Hour+time.Minute, 1)
	adjust(0, 60)
	clock.Advance(time.Minute)
	expect(2*time.Hour+time.Minute, 60)
	adjust(0, 0)
	clock.Advance(time.Hour)
	expect(2*time.Hour+time.Minute, 0)
	adjust(time.Minute, 0)
	expect(2*time.Hour+2*time.Minute, 0)
	clock.Advance(-24 * time.Hour)
	adjust(0, 1)
	expect(2*time.Hour+2*time.Minute, 1)
}

// What would turn the time back, or into nonsense, is refused and changes
// nothing.
func TestAdjustClockRefuses(t *testing.T) {
	s, _ := clocked(t, state.LifeInstant, nil)
	before := exported(t, s)
	for _, c := range []struct {
		advance time.Duration
		scale   float64
	}{{-time.Second, 1}, {0, -1}, {0, math.NaN()}, {0, math.Inf(1)}, {0, 1e7}} {
		if err := s.AdjustClock(c.advance, c.scale); !errors.Is(err, state.ErrClock) {
			t.Errorf("AdjustClock(%v, %v) = %v, want ErrClock", c.advance, c.scale, err)
		}
	}
	var err error
	for range 100 {
		if err = s.AdjustClock(math.MaxInt64, 1); err != nil {
			break
		}
	}
	if !errors.Is(err, state.ErrClock) {
		t.Errorf("the clock goes on for ever: %v, %v", s.Now(), err)
	}
	if err := s.AdjustClock(0, 0); err != nil || exported(t, s) == before {
		t.Errorf("AdjustClock(0, 0) = %v", err)
	}
}
