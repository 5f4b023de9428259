package state

import (
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/tidwall/btree"
)

// workingSet holds all rows with their indexes at one time. It does not change once a transaction
// has committed it: its trees share what they have in common with those before and after.
type workingSet struct {
	rows    []*rowTree             // by the position of the kind
	indexes []*keyTree             // by the position of the index
	tallies []*btree.BTreeG[tally] // by the position of the quota
	// copying guards the trees' own note of who may write into them, which a copy
	// changes on both sides.
	copying *sync.Mutex
}

type (
	rowTree = btree.Map[string, any] // the resources by their ids
	keyTree = btree.Map[string, struct{}]
)

// Trees have positions over all schemas, so that a table finds its own without
// asking whose schema it is in. Packages assign them while they initialise.
var rowTrees, indexTrees, tallyTrees int

// degree is half of what a node of a tree holds: more makes a change copy more,
// less makes the tree deeper.
const degree = 8

func newWorkingSet(s *Schema) *workingSet {
	w := &workingSet{rows: make([]*rowTree, rowTrees), indexes: make([]*keyTree, indexTrees),
		tallies: make([]*btree.BTreeG[tally], tallyTrees), copying: new(sync.Mutex)}
	for _, k := range s.kinds {
		w.rows[k.position] = btree.NewMap[string, any](degree)
		for _, at := range k.table.indexPositions() {
			w.indexes[at] = btree.NewMap[string, struct{}](degree)
		}
	}
	options := btree.Options{Degree: degree, NoLocks: true}
	for _, q := range s.quotas {
		w.tallies[q.position] = btree.NewBTreeGOptions(func(a, b tally) bool { return compareTallies(a, b) < 0 }, options)
	}
	return w
}

// txn reads a working set, and writes into copies of what it changes.
type txn struct {
	*workingSet
	base *workingSet // what it began with, whose trees are not its own
}

// reading returns a transaction that changes nothing.
func (w *workingSet) reading() txn { return txn{w, w} }

// writing returns a transaction on a copy.
func (w *workingSet) writing() txn {
	next := *w
	return txn{&next, w}
}

// committed returns what the transaction made, which it must not write to again.
func (t txn) committed() *workingSet { return t.workingSet }

// tree is a tree that copies in no time.
type tree[T any] interface {
	comparable
	Copy() T
}

// own returns a tree that the transaction may write into: its copy of the one in base. Before the
// first, it copies the list that holds the trees as well.
func own[T tree[T]](t txn, trees *[]T, base []T, at int) T {
	if &(*trees)[at] == &base[at] {
		*trees = slices.Clone(base)
	}
	if (*trees)[at] == base[at] {
		(*trees)[at] = copyOf(t.copying, base[at])
	}
	return (*trees)[at]
}

func copyOf[T tree[T]](copying *sync.Mutex, tree T) T {
	copying.Lock()
	defer copying.Unlock()
	return tree.Copy()
}

// frozen returns a tree that does not change during an iteration.
func frozen[T tree[T]](t txn, trees, base []T, at int) T {
	if trees[at] != base[at] {
		return copyOf(t.copying, trees[at])
	}
	return trees[at]
}

// get finds a row.
func (t txn) get(at int, id string) (any, bool) {
	return t.rows[at].Get(id)
}

// eachRow yields the rows in order of id.
func (t txn) eachRow(at int, yield func(value any) bool) {
	frozen(t, t.rows, t.base.rows, at).Scan(func(_ string, value any) bool { return yield(value) })
}

// eachID yields the ids of rows whose key in an index begins with a prefix, in
// order of key.
func (t txn) eachID(at int, prefix string, yield func(id string) bool) {
	frozen(t, t.indexes, t.base.indexes, at).Ascend(prefix, func(key string, _ struct{}) bool {
		return strings.HasPrefix(key, prefix) && yield(key[strings.LastIndexByte(key, 0)+1:])
	})
}

// upTo counts the keys of an index that come before a bound.
func (t txn) upTo(at int, bound string) int {
	tree := t.indexes[at]
	return sort.Search(tree.Len(), func(i int) bool {
		key, _, _ := tree.GetAt(i)
		return key >= bound
	})
}

// idAt returns the id in the key at a place of an index, counted from 0.
func (t txn) idAt(at, place int) string {
	key, _, _ := t.indexes[at].GetAt(place)
	return key[strings.LastIndexByte(key, 0)+1:]
}

// replace puts a row, nil to delete it, and returns what was there, or nil if nothing.
func (t txn) replace(at int, id string, value any) (old any) {
	if value == nil {
		old, _ = own(t, &t.rows, t.base.rows, at).Delete(id)
		return old
	}
	old, _ = own(t, &t.rows, t.base.rows, at).Set(id, value)
	return old
}

// rekey changes the keys of a row in an index.
func (t txn) rekey(at int, from, to []string) {
	for _, key := range from {
		if !slices.Contains(to, key) {
			own(t, &t.indexes, t.base.indexes, at).Delete(key)
		}
	}
	for _, key := range to {
		if !slices.Contains(from, key) {
			own(t, &t.indexes, t.base.indexes, at).Set(key, struct{}{})
		}
	}
}

// tallied returns how much a holder uses of a quota.
func (t txn) tallied(at int, of tally) int {
	found, _ := t.tallies[at].Get(of)
	return found.n
}

// tally adds to what a holder has of a quota, and forgets who has nothing.
func (t txn) tally(at int, change tally) {
	if change.n == 0 || t.tallies[at] == nil { // nil is a quota of another schema that shares the kind
		return
	}
	tree := own(t, &t.tallies, t.base.tallies, at)
	change.n += t.tallied(at, change)
	if change.n == 0 {
		tree.Delete(change)
		return
	}
	tree.Set(change)
}

// eachTally yields what an account's holders have of a quota, in order of holder.
func (t txn) eachTally(at int, account string, yield func(holder string, n int)) {
	frozen(t, t.tallies, t.base.tallies, at).Ascend(tally{account: account}, func(of tally) bool {
		if of.account != account {
			return false
		}
		yield(of.holder, of.n)
		return true
	})
}
