package kinds_test

import (
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var balancerStatus = statusOf(kinds.LoadBalancers, "lb-1", func(lb *kinds.LoadBalancer) kinds.LoadBalancerStatus { return lb.Status })

// grace sets the days from arrears to the lock, and from there to the release.
func grace(lock, release int) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		return kinds.Accounts.Edit(tx, hangzhou.AccountID, func(a *kinds.Account) error {
			a.GraceDays, a.ReleaseDays = lock, release
			return nil
		})
	}
}

func status(s kinds.LoadBalancerStatus) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		loadBalancer(func(lb *kinds.LoadBalancer) { lb.Status = s })(tx)
		return nil
	}
}

func owe(t testing.TB, s *state.Store, owing bool) {
	t.Helper()
	update(t, s, hangzhou, func(tx *state.Tx) error { return kinds.SetArrears(tx, hangzhou.AccountID, owing) })
}

// An account that owes is locked when its grace is over, and loses its load
// balancers, with all that is theirs, some days later.
func TestArrears(t *testing.T) {
	s, clock := timed(t, grace(7, 3), status(kinds.LoadBalancerActive))
	owe(t, s, true)
	clock.Advance(7*day - 1)
	wantStatus(t, s, "just before the lock", balancerStatus, "active")
	owe(t, s, true) // is no new beginning
	clock.Advance(1)
	wantStatus(t, s, "after the grace", balancerStatus, "locked")
	clock.Advance(3*day - 1)
	wantStatus(t, s, "just before the release", balancerStatus, "locked")
	clock.Advance(1)
	wantStatus(t, s, "after the release", balancerStatus, gone)
	wantStatus(t, s, "after the release", listenerStatus, gone)
	wantStatus(t, s, "after the release", eipStatus, "Available")
}

// A Network Load Balancer has days of its own.
func TestArrearsOfNLB(t *testing.T) {
	s, clock := timed(t, grace(7, 3), func(tx *state.Tx) error { plantNLB(tx); return nil })
	shown := statusOf(kinds.NLBLoadBalancers, "net-1", (*kinds.NLBLoadBalancer).ShownStatus)
	owe(t, s, true)
	clock.Advance(day - 1)
	wantStatus(t, s, "just before the lock", shown, "Active")
	clock.Advance(1)
	wantStatus(t, s, "after a day", shown, "Inactive")
	clock.Advance(15*day - 1)
	wantStatus(t, s, "just before the release", shown, "Inactive")
	owe(t, s, false)
	wantStatus(t, s, "after paying", shown, "Active")
	owe(t, s, true)
	clock.Advance(16 * day)
	wantStatus(t, s, "after the release", shown, gone)
}

// Both ends of arrears that passed unseen happen one after the other, and none of
// it to a load balancer that has no time left to be locked.
func TestArrearsUnseen(t *testing.T) {
	for _, days := range [][2]int{{7, 3}, {0, 0}, {0, 10}} {
		s, clock := timed(t, grace(days[0], days[1]), status(kinds.LoadBalancerActive))
		owe(t, s, true)
		clock.Advance(10 * day)
		wantStatus(t, s, "after ten days", balancerStatus, gone)
	}
	s, _ := timed(t, grace(0, 1), status(kinds.LoadBalancerActive))
	owe(t, s, true)
	wantStatus(t, s, "without grace", balancerStatus, "locked")
}

// Paying gives each load balancer its status back, and what was to come does not.
func TestArrearsPaid(t *testing.T) {
	cases := []struct {
		name  string
		after time.Duration
	}{{"in the grace", 6 * day}, {"when locked", 8 * day}}
	for _, c := range cases {
		for _, before := range []kinds.LoadBalancerStatus{kinds.LoadBalancerActive, kinds.LoadBalancerInactive} {
			t.Run(c.name+" "+string(before), func(t *testing.T) {
				s, clock := timed(t, grace(7, 3), status(before))
				owe(t, s, true)
				clock.Advance(c.after)
				owe(t, s, false)
				wantStatus(t, s, "after paying", balancerStatus, string(before))
				clock.Advance(100 * day)
				wantStatus(t, s, "long after paying", balancerStatus, string(before))
				owe(t, s, true)
				clock.Advance(7*day - 1)
				wantStatus(t, s, "in a second grace", balancerStatus, string(before))
				clock.Advance(1)
				wantStatus(t, s, "after a second grace", balancerStatus, "locked")
			})
		}
	}
}

// One account's arrears are not another's.
func TestArrearsOfAnother(t *testing.T) {
	s, clock := timed(t, grace(1, 1), status(kinds.LoadBalancerActive))
	update(t, s, stranger, func(tx *state.Tx) error { return kinds.SetArrears(tx, stranger.AccountID, true) })
	clock.Advance(100 * day)
	wantStatus(t, s, "the load balancer of an account that pays", balancerStatus, "active")
	owe(t, s, true)
	clock.Advance(day)
	update(t, s, stranger, func(tx *state.Tx) error { return kinds.SetArrears(tx, stranger.AccountID, false) })
	wantStatus(t, s, "when the other account pays", balancerStatus, "locked")
	if err := s.Update(hangzhou, func(tx *state.Tx) error { return kinds.SetArrears(tx, "77", true) }); factOf(err) != state.NotFound {
		t.Errorf("SetArrears of no account = %v, want NotFound", err)
	}
}

// A change that was ordered takes effect at its time, the last order only, and
// never on what is gone.
func TestOrderInternetSpec(t *testing.T) {
	s, clock := timed(t)
	order := func(bandwidth int, after time.Duration) {
		update(t, s, hangzhou, func(tx *state.Tx) error {
			return kinds.LoadBalancers.Edit(tx, "lb-1", func(lb *kinds.LoadBalancer) error {
				kinds.OrderInternetSpec(tx, lb, &kinds.InternetSpecChange{Bandwidth: bandwidth, EffectiveAt: tx.Now().Add(after)})
				return nil
			})
		})
	}
	want := func(bandwidth int, ordered bool) {
		t.Helper()
		view(t, s, hangzhou, func(v *state.View) {
			if lb, _ := kinds.LoadBalancers.Find(v, "lb-1"); lb.Bandwidth != bandwidth || (lb.Ineffective != nil) != ordered {
				t.Errorf("bandwidth %d, ordered %v; want %d, ordered %t", lb.Bandwidth, lb.Ineffective, bandwidth, ordered)
			}
		})
	}
	order(10, day)
	order(20, 2*day)
	clock.Advance(2*day - 1)
	want(0, true)
	clock.Advance(1)
	want(20, false)
	order(30, day)
	update(t, s, hangzhou, removeFirst)
	clock.Advance(day)
	wantStatus(t, s, "a removed load balancer at the time of its order", balancerStatus, gone)
}

func removeFirst(tx *state.Tx) error {
	kinds.LoadBalancers.Remove(tx, "lb-1")
	return nil
}

// Nothing that is a load balancer's alone outlives it.
func TestRemoveLoadBalancer(t *testing.T) {
	s, clock := timed(t, func(tx *state.Tx) error {
		state.ClientTokens.Delete(tx, tokenID)
		kinds.Rules.Put(tx, &kinds.Rule{Owner: hangzhou, ID: "rule-1", LoadBalancerID: "lb-1", ListenerID: listenerID, VServerGroupID: "rsp-1"})
		state.SetTag(tx, kinds.TagListener, listenerID, "env", "test")
		state.SetTag(tx, kinds.TagVServerGroup, "rsp-1", "env", "test")
		return nil
	}, profile(state.LifeRealistic))
	enter(t, s, kinds.StageListenerStarting, listenerID)
	enter(t, s, kinds.StageVServerGroupProcessing, "rsp-1")
	update(t, s, hangzhou, removeFirst)
	clock.Advance(time.Hour)
	text := exported(t, s)
	for _, trace := range []string{"lb-1", "rsp-1", "rule-1", "de-1", "192.168.0.1\""} {
		if strings.Contains(text, trace) {
			t.Errorf("the state still has %s: %s", trace, text)
		}
	}
	for _, kept := range []string{"lb-2", "rsp-2", "eip-1", "certificate"} {
		if !strings.Contains(text, kept) {
			t.Errorf("%s is gone too", kept)
		}
	}
}
