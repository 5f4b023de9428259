package state

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/btree"
)

// workingSet is all rows with their indexes as they are at one time. It is not
// changed any more once a transaction has committed it: its trees share what they
// have in common with those before and after.
type workingSet struct {
	rows    []*btree.BTreeG[row]    // by the position of the kind
	indexes []*btree.BTreeG[string] // by the position of the index
	tallies []*btree.BTreeG[tally]  // by the position of the quota
	// copying guards the trees' own note of who may write into them, which a copy
	// changes on both sides.
	copying *sync.Mutex
}

// row is a resource under its id.
type row struct {
	id    string
	value any
}

// Trees have positions over all schemas, so that a table finds its own without
// asking whose schema it is in. They are given while packages are initialised.
var rowTrees, indexTrees, tallyTrees int

// degree is half of what a node of a tree holds: more makes a change copy more,
// less makes the tree deeper.
const degree = 8

func newWorkingSet(s *Schema) *workingSet {
	w := &workingSet{rows: make([]*btree.BTreeG[row], rowTrees), indexes: make([]*btree.BTreeG[string], indexTrees),
		tallies: make([]*btree.BTreeG[tally], tallyTrees), copying: new(sync.Mutex)}
	options := btree.Options{Degree: degree, NoLocks: true}
	for _, k := range s.kinds {
		w.rows[k.position] = btree.NewBTreeGOptions(func(a, b row) bool { return a.id < b.id }, options)
		for _, at := range k.table.indexPositions() {
			w.indexes[at] = btree.NewBTreeGOptions(cmp.Less[string], options)
		}
	}
	for _, q := range s.quotas {
		w.tallies[q.position] = btree.NewBTreeGOptions(func(a, b tally) bool { return compareTallies(a, b) < 0 }, options)
	}
	return w
}

// txn reads a working set, and writes into copies of what it changes.
type txn struct {
	*workingSet
	// own tell which trees the transaction has copied; nil for one that only reads.
	ownRows, ownIndexes, ownTallies []bool
}

// reading returns a transaction that changes nothing.
func (w *workingSet) reading() txn { return txn{workingSet: w} }

// writing returns a transaction on a copy.
func (w *workingSet) writing() txn {
	next := &workingSet{slices.Clone(w.rows), slices.Clone(w.indexes), slices.Clone(w.tallies), w.copying}
	return txn{next, make([]bool, len(w.rows)), make([]bool, len(w.indexes)), make([]bool, len(w.tallies))}
}

// committed returns what the transaction made, which it must not write to again.
func (t txn) committed() *workingSet { return t.workingSet }

// own is a tree that the transaction may write into.
func own[T any](t txn, trees []*btree.BTreeG[T], own []bool, at int) *btree.BTreeG[T] {
	if !own[at] {
		trees[at] = copyOf(t.copying, trees[at])
		own[at] = true
	}
	return trees[at]
}

func copyOf[T any](copying *sync.Mutex, tree *btree.BTreeG[T]) *btree.BTreeG[T] {
	copying.Lock()
	defer copying.Unlock()
	return tree.Copy()
}

// still is a tree that does not change under an iteration.
func still[T any](t txn, own []bool, at int, tree *btree.BTreeG[T]) *btree.BTreeG[T] {
	if own != nil && own[at] {
		return copyOf(t.copying, tree)
	}
	return tree
}

// get finds a row.
func (t txn) get(at int, id string) (any, bool) {
	r, ok := t.rows[at].Get(row{id: id})
	return r.value, ok
}

// eachRow yields the rows in order of id.
func (t txn) eachRow(at int, yield func(value any) bool) {
	still(t, t.ownRows, at, t.rows[at]).Scan(func(r row) bool { return yield(r.value) })
}

// eachID yields the ids of rows whose key in an index begins with a prefix, in
// order of key.
func (t txn) eachID(at int, prefix string, yield func(id string) bool) {
	still(t, t.ownIndexes, at, t.indexes[at]).Ascend(prefix, func(key string) bool {
		return strings.HasPrefix(key, prefix) && yield(key[strings.LastIndexByte(key, 0)+1:])
	})
}

// replace puts a row, nil to delete it, and changes its keys from some to others.
func (t txn) replace(at int, id string, value any) {
	if value == nil {
		own(t, t.rows, t.ownRows, at).Delete(row{id: id})
		return
	}
	own(t, t.rows, t.ownRows, at).Set(row{id, value})
}

// rekey changes the keys of a row in an index.
func (t txn) rekey(at int, from, to []string) {
	for _, key := range from {
		if !slices.Contains(to, key) {
			own(t, t.indexes, t.ownIndexes, at).Delete(key)
		}
	}
	for _, key := range to {
		if !slices.Contains(from, key) {
			own(t, t.indexes, t.ownIndexes, at).Set(key)
		}
	}
}

// tallied is how much a holder has of a quota.
func (t txn) tallied(at int, of tally) int {
	found, _ := t.tallies[at].Get(of)
	return found.n
}

// tally adds to what a holder has of a quota, and forgets who has nothing.
func (t txn) tally(at int, change tally) {
	if change.n == 0 || t.tallies[at] == nil { // nil is a quota of another schema that shares the kind
		return
	}
	tree := own(t, t.tallies, t.ownTallies, at)
	change.n += t.tallied(at, change)
	if change.n == 0 {
		tree.Delete(change)
		return
	}
	tree.Set(change)
}

// eachTally yields what an account's holders have of a quota, in order of holder.
func (t txn) eachTally(at int, account string, yield func(holder string, n int)) {
	still(t, t.ownTallies, at, t.tallies[at]).Ascend(tally{account: account}, func(of tally) bool {
		if of.account != account {
			return false
		}
		yield(of.holder, of.n)
		return true
	})
}
