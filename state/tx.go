package state

import (
	"slices"
	"strings"
	"time"

	"github.com/clbemu/clbemu/state/engine"
)

// View reads one consistent, durable state.
type View struct {
	txn    txn
	schema *Schema
	scope  Owner
	now    time.Time
	// stageDelays overrides the duration of stages.
	stageDelays map[Stage]time.Duration
	// attached is Store.Attach's.
	attached any
}

// Attached returns what Store.Attach keeps with the store, or nil if it is nothing.
func (v *View) Attached() any { return v.attached }

// Now returns the emulated time of the transaction. It does not move within the transaction.
func (v *View) Now() time.Time { return v.now }

// Schema returns the store's schema.
func (v *View) Schema() *Schema { return v.schema }

// Scope returns the account and region of the visible resources.
func (v *View) Scope() Owner { return v.scope }

// In returns the same state as another account and region see it.
func (v *View) In(scope Owner) *View {
	other := *v
	other.scope = scope
	return &other
}

// sees reports whether r belongs to the scope. Rows without an owner belong to every scope.
func (v *View) sees(r any) bool {
	o, ok := r.(owned)
	if !ok {
		return true
	}
	owner := o.Belonging()
	return (v.scope.AccountID == "" || owner.AccountID == "" || owner.AccountID == v.scope.AccountID) &&
		(v.scope.RegionID == "" || owner.RegionID == "" || owner.RegionID == v.scope.RegionID)
}

// Tx reads and writes. It sees its own writes, and the writes of transactions that
// are not durable yet: nothing that it learns may leave before Update returns.
type Tx struct {
	*View
	log *changeLog
	// given are the ids that NewID returns next.
	given map[Kind]string
}

func newTx(v *View) *Tx {
	return &Tx{View: v, log: &changeLog{}}
}

// changeLog holds the changes of a transaction: the last one of each row, in the order
// in which the rows were first changed. All scopes of it write to the same log.
type changeLog struct {
	changes []rowChange
	at      map[changeKey]int // where a row is, once there are many
}

// rowChange holds a row after its change, nil for a deletion.
type rowChange struct {
	changeKey
	row any
}

type changeKey struct {
	kind Kind
	id   string
}

// many is from how many on a map finds them faster than a look at each.
const many = 16

func (tx *Tx) changed(kind Kind, id string, r any) {
	l, key := tx.log, changeKey{kind, id}
	if at, ok := l.find(key); ok {
		l.changes[at].row = r
		return
	}
	l.changes = append(l.changes, rowChange{key, r})
	switch {
	case l.at != nil:
		l.at[key] = len(l.changes) - 1
	case len(l.changes) > many:
		l.at = make(map[changeKey]int)
		for at, c := range l.changes {
			l.at[c.changeKey] = at
		}
	}
}

func (l *changeLog) find(key changeKey) (at int, ok bool) {
	if l.at != nil {
		at, ok = l.at[key]
		return at, ok
	}
	at = slices.IndexFunc(l.changes, func(c rowChange) bool { return c.changeKey == key })
	return at, at >= 0
}

// put reports whether the transaction left a row with the id, of whatever kind.
func (l *changeLog) put(id string) bool {
	return slices.ContainsFunc(l.changes, func(c rowChange) bool { return c.id == id && c.row != nil })
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
	other.stageDelays = pace
	return other
}

// Giving returns the same transaction, in which the next new id of each kind whose ids begin
// as this one does is this one.
func (tx *Tx) Giving(id string) *Tx {
	other := tx.In(tx.scope)
	other.given = make(map[Kind]string)
	for name, k := range tx.schema.kinds {
		if k.form != nil && strings.HasPrefix(id, k.form.prefix) {
			other.given[name] = id
		}
	}
	return other
}

func (tx *Tx) changeSet() (engine.ChangeSet, error) {
	set := make(engine.ChangeSet, len(tx.log.changes))
	for i, c := range tx.log.changes {
		var err error
		if set[i], err = encode(c.kind, c.id, c.row); err != nil {
			return nil, err
		}
	}
	return set, nil
}
