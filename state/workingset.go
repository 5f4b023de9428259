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
var rowTrees, indexTrees int

// degree is half of what a node of a tree holds: more makes a change copy more,
// less makes the tree deeper.
const degree = 16

func newWorkingSet(s *Schema) *workingSet {
	w := &workingSet{rows: make([]*btree.BTreeG[row], rowTrees), indexes: make([]*btree.BTreeG[string], indexTrees), copying: new(sync.Mutex)}
	options := btree.Options{Degree: degree, NoLocks: true}
	for _, k := range s.kinds {
		w.rows[k.position] = btree.NewBTreeGOptions(func(a, b row) bool { return a.id < b.id }, options)
		for _, at := range k.table.indexPositions() {
			w.indexes[at] = btree.NewBTreeGOptions(cmp.Less[string], options)
		}
	}
	return w
}

// txn reads a working set, and writes into copies of what it changes.
type txn struct {
	*workingSet
	// own tell which trees the transaction has copied; nil for one that only reads.
	ownRows, ownIndexes []bool
}

// reading returns a transaction that changes nothing.
func (w *workingSet) reading() txn { return txn{workingSet: w} }

// writing returns a transaction on a copy.
func (w *workingSet) writing() txn {
	next := &workingSet{rows: slices.Clone(w.rows), indexes: slices.Clone(w.indexes), copying: w.copying}
	return txn{next, make([]bool, len(w.rows)), make([]bool, len(w.indexes))}
}

// committed returns what the transaction made, which it must not write to again.
func (t txn) committed() *workingSet { return t.workingSet }

func (t txn) ownRow(at int) *btree.BTreeG[row] {
	if !t.ownRows[at] {
		t.rows[at] = copyOf(t.copying, t.rows[at])
		t.ownRows[at] = true
	}
	return t.rows[at]
}

func (t txn) ownIndex(at int) *btree.BTreeG[string] {
	if !t.ownIndexes[at] {
		t.indexes[at] = copyOf(t.copying, t.indexes[at])
		t.ownIndexes[at] = true
	}
	return t.indexes[at]
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
		t.ownRow(at).Delete(row{id: id})
		return
	}
	t.ownRow(at).Set(row{id, value})
}

// rekey changes the keys of a row in an index.
func (t txn) rekey(at int, from, to []string) {
	for _, key := range from {
		if !slices.Contains(to, key) {
			t.ownIndex(at).Delete(key)
		}
	}
	for _, key := range to {
		if !slices.Contains(from, key) {
			t.ownIndex(at).Set(key)
		}
	}
}
