package cloud

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// NLBLock is the lock that a change of a load balancer, or of a part of one, holds to
// exclude others.
type NLBLock struct {
	state.Owner
	LoadBalancerID string
	// Activity is Busy while it is held.
	Activity string `json:",omitempty"`
}

// NLBLocks by load balancer.
var NLBLocks = state.NewTable(Schema, "NLBLock", func(l *NLBLock) string { return l.LoadBalancerID }, state.Setting(),
	state.Life(func(l *NLBLock) *string { return &l.Activity }))

var nlbLocksByLoadBalancer = NLBLocks.Index("loadbalancer", func(l *NLBLock) [][]string { return state.Key(l.LoadBalancerID) })

var _ = NLBLoadBalancers.With(state.OwnedBy(nlbLocksByLoadBalancer, NLBLoadBalancers))

// StageNLBLocked is while a lock is held: NLB-0010.
var StageNLBLocked = NLBLocks.Stage("nlb.loadbalancer.locked", state.Busy, state.Idle, 20*time.Millisecond)

// LockNLB takes the lock of a load balancer, unless another change holds it.
func LockNLB(tx *state.Tx, loadBalancerID string) bool {
	if l, ok := NLBLocks.Find(tx.View, loadBalancerID); ok && l.Activity == state.Busy {
		return false
	}
	if tx.Delay(StageNLBLocked) > 0 {
		NLBLocks.Put(tx, &NLBLock{Owner: tx.Scope(), LoadBalancerID: loadBalancerID})
		state.Enter(tx, StageNLBLocked, loadBalancerID)
	}
	return true
}
