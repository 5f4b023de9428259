package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// An account that owes goes on for its days of grace; then its load balancers
// are locked, and some days later released. Paying in time undoes the lock. Classic and
// Network Load Balancers have days of their own.

const (
	fromOrdered    = "ordered"
	fromArrears    = "arrears"
	fromLocked     = "locked"
	fromNLBArrears = "nlb arrears"
	fromNLBLocked  = "nlb locked"
)

// MinimumBalance, in CNY, is the balance that a purchase needs.
const MinimumBalance = 100

// SetArrears puts an account into arrears, or ends them.
func SetArrears(tx *state.Tx, accountID string, owing bool) error {
	return Accounts.Edit(tx, accountID, func(a *Account) error {
		if owing == !a.ArrearsSince.IsZero() {
			return nil
		}
		if !owing {
			a.ArrearsSince = time.Time{}
			unlockAccount(tx, a)
			return nil
		}
		a.ArrearsSince = tx.Now()
		scheduleAccount(tx, a, fromArrears, a.GraceDays)
		scheduleAccount(tx, a, fromNLBArrears, a.OfNLB().GraceDays)
		return nil
	})
}

func scheduleAccount(tx *state.Tx, a *Account, from string, days int) {
	state.Schedule(tx, tx.Now().Add(time.Duration(days)*day), state.Transition{Kind: Accounts.Kind(), ResourceID: a.ID, From: from})
}

func scheduledID(accountID, from string) string {
	return string(Accounts.Kind()) + "/" + accountID + "/" + from
}

// ReleaseTime returns when an account that owes loses its Classic Load Balancers, if they
// are locked.
func ReleaseTime(v *state.View, accountID string) (at time.Time, ok bool) {
	t, ok := state.Transitions.Find(v.In(state.Owner{}), scheduledID(accountID, fromLocked))
	if !ok {
		return at, false
	}
	return t.Due, true
}

// whileOwing does what comes due in an account that still owes then.
func whileOwing(do func(tx *state.Tx, a *Account)) func(*state.Tx, *state.Transition) {
	return func(tx *state.Tx, t *state.Transition) {
		if a, ok := Accounts.Find(tx.View, t.ResourceID); ok && !a.ArrearsSince.IsZero() {
			do(tx, a)
		}
	}
}

func lockLoadBalancers(tx *state.Tx, a *Account) {
	for lb := range LoadBalancersByRegion.List(tx.View, a.ID) {
		if lb.Status != LoadBalancerLocked {
			locked := *lb
			locked.Status, locked.LockedFrom = LoadBalancerLocked, lb.Status
			LoadBalancers.Put(tx, &locked)
		}
	}
	scheduleAccount(tx, a, fromLocked, a.ReleaseDays)
}

func lockNLBs(tx *state.Tx, a *Account) {
	setNLBFinancialLocks(tx, a.ID, true)
	scheduleAccount(tx, a, fromNLBLocked, a.OfNLB().ReleaseDays)
}

func unlockAccount(tx *state.Tx, a *Account) {
	for _, from := range []string{fromArrears, fromLocked, fromNLBArrears, fromNLBLocked} {
		state.Transitions.Delete(tx.In(state.Owner{}), scheduledID(a.ID, from))
	}
	for lb := range LoadBalancersByRegion.List(tx.In(state.Owner{}).View, a.ID) {
		if lb.LockedFrom != "" {
			unlocked := *lb
			unlocked.Status, unlocked.LockedFrom = lb.LockedFrom, ""
			LoadBalancers.Put(tx, &unlocked)
		}
	}
	setNLBFinancialLocks(tx.In(state.Owner{}), a.ID, false)
}

// setNLBFinancialLocks locks or unlocks the Network Load Balancers of an account.
func setNLBFinancialLocks(tx *state.Tx, accountID string, locked bool) {
	for lb := range NLBLoadBalancersByRegion.List(tx.View, accountID) {
		if lb.FinancialLocked != locked {
			changed := *lb
			changed.FinancialLocked = locked
			NLBLoadBalancers.Put(tx, &changed)
		}
	}
}

func releaseLoadBalancers(tx *state.Tx, a *Account) {
	for lb := range LoadBalancersByRegion.List(tx.View, a.ID) {
		if lb.Status == LoadBalancerLocked {
			LoadBalancers.Remove(tx, lb.ID)
		}
	}
}

func releaseNLBs(tx *state.Tx, a *Account) {
	for lb := range NLBLoadBalancersByRegion.List(tx.View, a.ID) {
		if lb.FinancialLocked {
			NLBLoadBalancers.Remove(tx, lb.ID)
		}
	}
}

// OrderInternetSpec applies a change of a load balancer at its time.
func OrderInternetSpec(tx *state.Tx, lb *LoadBalancer, change *InternetSpecChange) {
	lb.Ineffective = change
	state.Schedule(tx, change.EffectiveAt, state.Transition{Kind: LoadBalancers.Kind(), ResourceID: lb.ID, From: fromOrdered})
}

func applyInternetSpec(tx *state.Tx, t *state.Transition) {
	// What is gone needs no change.
	_ = LoadBalancers.Edit(tx, t.ResourceID, func(lb *LoadBalancer) error {
		if change := lb.Ineffective; change != nil && !tx.Now().Before(change.EffectiveAt) {
			lb.InternetChargeType, lb.Bandwidth, lb.Ineffective = change.InternetChargeType, change.Bandwidth, nil
		}
		return nil
	})
}

var _ = Accounts.With(state.On(fromArrears, whileOwing(lockLoadBalancers)), state.On(fromLocked, whileOwing(releaseLoadBalancers)),
	state.On(fromNLBArrears, whileOwing(lockNLBs)), state.On(fromNLBLocked, whileOwing(releaseNLBs)))
