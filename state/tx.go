package state

import (
	"time"

	"github.com/clbemu/clbemu/state/engine"
)

// View reads one consistent, durable state.
type View struct {
	txn    txn
	schema *Schema
	scope  Owner
	now    time.Time
	// pace takes the place of how long stages take otherwise.
	pace map[Stage]time.Duration
}

// Now is the emulated time of the transaction; it does not move within it.
func (v *View) Now() time.Time { return v.now }

// Schema is what the store holds.
func (v *View) Schema() *Schema { return v.schema }

// Scope is the account and region whose resources are seen.
func (v *View) Scope() Owner { return v.scope }

// In returns the same state as another account and region see it.
func (v *View) In(scope Owner) *View {
	other := *v
	other.scope = scope
	return &other
}

// sees tells whether r belongs to the scope. What has no owner is everybody's.
func (v *View) sees(r any) bool {
	o, ok := r.(owned)
	if !ok {
		return true
	}
	owner := o.Belonging()
	return (v.scope.AccountID == "" || owner.AccountID == "" || owner.AccountID == v.scope.AccountID) &&
		(v.scope.RegionID == "" || owner.RegionID == "" || owner.RegionID == v.scope.RegionID)
}

// Tx reads and writes. It sees its own writes, and those of transactions that
// are not durable yet: nothing that it learns may leave before Update returns.
type Tx struct {
	*View
	log *changeLog
}

func newTx(v *View) *Tx {
	return &Tx{View: v, log: &changeLog{last: make(map[changeKey]any)}}
}

// changeLog is what a transaction did. All scopes of it write to the same log.
type changeLog struct {
	last  map[changeKey]any
	order []changeKey
}

type changeKey struct {
	kind Kind
	id   string
}

func (tx *Tx) changed(kind Kind, id string, r any) {
	key := changeKey{kind, id}
	if _, ok := tx.log.last[key]; !ok {
		tx.log.order = append(tx.log.order, key)
	}
	tx.log.last[key] = r
}

// In returns the same transaction as another account and region see it.
func (tx *Tx) In(scope Owner) *Tx {
	other := *tx
	other.View = tx.View.In(scope)
	return &other
}

// Paced returns the same transaction, in which some stages take so long as said here.
func (tx *Tx) Paced(pace map[Stage]time.Duration) *Tx {
	if len(pace) == 0 {
		return tx
	}
	other := tx.In(tx.scope)
	other.pace = pace
	return other
}

func (tx *Tx) changeSet() (engine.ChangeSet, error) {
	set := make(engine.ChangeSet, 0, len(tx.log.order))
	for _, key := range tx.log.order {
		change, err := encode(key.kind, key.id, tx.log.last[key])
		if err != nil {
			return nil, err
		}
		set = append(set, change)
	}
	return set, nil
}
