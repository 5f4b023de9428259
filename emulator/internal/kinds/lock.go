package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// Lock is a lock that a change of a load balancer, or of a part of one, holds to
// exclude others.
type Lock struct {
	state.Owner
	LoadBalancerID string
	// Activity is Busy while a call holds it.
	Activity string `json:",omitempty"`
}

// Locks are the locks of a product's load balancers, by load balancer.
type Locks struct {
	*state.Table[Lock]
	// Held is the stage of a held lock.
	Held state.Stage
}

// NewLocks declares the locks of a product's load balancers as a kind of a schema, with the name of
// its stage: CLB-0500.
func NewLocks[T any](schema *state.Schema, kind state.Kind, stage state.Stage, loadBalancers *state.Table[T]) *Locks {
	table := state.NewTable(schema, kind, func(l *Lock) string { return l.LoadBalancerID }, state.Setting(),
		state.Life(func(l *Lock) *string { return &l.Activity }))
	owners := table.Index("loadbalancer", func(l *Lock) [][]string { return state.Key(l.LoadBalancerID) })
	loadBalancers.With(state.OwnedBy(owners, loadBalancers))
	return &Locks{Table: table, Held: table.Stage(stage, state.Busy, state.Idle, 20*time.Millisecond)}
}

// Take takes the lock of a load balancer, and reports whether no other change holds it.
func (locks *Locks) Take(tx *state.Tx, loadBalancerID string) bool {
	if l, ok := locks.Find(tx.View, loadBalancerID); ok && l.Activity == state.Busy {
		return false
	}
	if tx.Delay(locks.Held) > 0 {
		locks.Put(tx, &Lock{Owner: tx.Scope(), LoadBalancerID: loadBalancerID})
		state.Enter(tx, locks.Held, loadBalancerID)
	}
	return true
}
