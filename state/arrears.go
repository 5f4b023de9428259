package state

import "time"

// An account that owes goes on for its days of grace; then its load balancers
// are locked, and some days later released. Paying in time undoes the lock.

const (
	fromOrdered = "ordered"
	fromArrears = "arrears"
	fromLocked  = "locked"
)

// MinimumBalance in CNY is what a purchase needs.
const MinimumBalance = 100

// day is a day of grace.
const day = 24 * time.Hour

// SetArrears puts an account into arrears, or takes it out of them.
func SetArrears(tx *Tx, accountID string, owing bool) error {
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
		return nil
	})
}

func scheduleAccount(tx *Tx, a *Account, from string, days int) {
	Schedule(tx, tx.Now().Add(time.Duration(days)*day), Transition{Kind: Accounts.kind, ResourceID: a.ID, From: from})
}

// lockAccount comes when the days of grace are over.
func lockAccount(tx *Tx, t *Transition) {
	a, ok := Accounts.Find(tx.View, t.ResourceID)
	if !ok || a.ArrearsSince.IsZero() {
		return
	}
	for lb := range LoadBalancersByRegion.List(tx.View, a.ID) {
		if lb.Status != LoadBalancerLocked {
			locked := *lb
			locked.Status, locked.LockedFrom = LoadBalancerLocked, lb.Status
			LoadBalancers.Put(tx, &locked)
		}
	}
	scheduleAccount(tx, a, fromLocked, a.ReleaseDays)
}

func unlockAccount(tx *Tx, a *Account) {
	for _, from := range []string{fromArrears, fromLocked} {
		Transitions.Delete(tx.In(Owner{}), string(Accounts.kind)+"/"+a.ID+"/"+from)
	}
	for lb := range LoadBalancersByRegion.List(tx.In(Owner{}).View, a.ID) {
		if lb.LockedFrom != "" {
			unlocked := *lb
			unlocked.Status, unlocked.LockedFrom = lb.LockedFrom, ""
			LoadBalancers.Put(tx, &unlocked)
		}
	}
}

// releaseAccount comes when the locked load balancers are released.
func releaseAccount(tx *Tx, t *Transition) {
	a, ok := Accounts.Find(tx.View, t.ResourceID)
	if !ok || a.ArrearsSince.IsZero() {
		return
	}
	for lb := range LoadBalancersByRegion.List(tx.View, a.ID) {
		if lb.Status == LoadBalancerLocked {
			RemoveLoadBalancer(tx, lb)
		}
	}
}

// OrderInternetSpec puts a change of a load balancer into effect at its time.
func OrderInternetSpec(tx *Tx, lb *LoadBalancer, change *InternetSpecChange) {
	lb.Ineffective = change
	Schedule(tx, change.EffectiveAt, Transition{Kind: LoadBalancers.kind, ResourceID: lb.ID, From: fromOrdered})
}

func applyInternetSpec(tx *Tx, t *Transition) {
	// What is gone needs no change.
	_ = LoadBalancers.Edit(tx, t.ResourceID, func(lb *LoadBalancer) error {
		if change := lb.Ineffective; change != nil && !tx.Now().Before(change.EffectiveAt) {
			lb.InternetChargeType, lb.Bandwidth, lb.Ineffective = change.InternetChargeType, change.Bandwidth, nil
		}
		return nil
	})
}
