package state

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/clbemu/clbemu/state/engine"
)

// Kind names a table and what is in it.
type Kind string

// Owner says who owns a resource, and where it is. The zero Owner as a View's scope sees
// everything.
type Owner struct {
	AccountID string `json:",omitempty"`
	RegionID  string `json:",omitempty"`
}

// Belonging returns the Owner itself, for the resources that embed it.
func (o Owner) Belonging() Owner { return o }

// owned is a value that belongs to an owner.
type owned interface{ Belonging() Owner }

// Table holds the resources of one kind. Tables are immutable descriptions;
// the data is in the View or Tx that every method takes.
type Table[T any] struct {
	kind     Kind
	id       func(*T) string
	indexes  []*Index[T]
	declared *kind
}

// Index finds resources by a list of values, or by the first few of them.
type Index[T any] struct {
	position int
	name     string
	table    *Table[T]
	keys     func(*T) [][]string
}

// NewTable declares a kind in a schema; id must not be empty.
func NewTable[T any](s *Schema, name Kind, id func(*T) string, options ...Option) *Table[T] {
	if _, twice := s.kinds[name]; twice {
		panic(fmt.Sprintf("state: there are two kinds %s", name))
	}
	t := &Table[T]{kind: name, id: id}
	k := &kind{name: name, position: rowTrees, schema: s, table: t}
	rowTrees++
	t.declared = k
	s.kinds[name] = k
	return t.With(options...)
}

// With declares more of the kind, where the table itself is not enough
// because the one needs the other.
func (t *Table[T]) With(options ...Option) *Table[T] {
	for _, declare := range options {
		declare(t.declared)
	}
	return t
}

// Index adds an index; keys returns the lists of values under which a resource is found, or nil if
// under none.
func (t *Table[T]) Index(name string, keys func(*T) [][]string) *Index[T] {
	x := &Index[T]{position: indexTrees, name: name, table: t, keys: keys}
	indexTrees++
	t.indexes = append(t.indexes, x)
	return x
}

// Key returns the usual keys of an index: one list of values, or none if the first value is empty.
func Key(values ...string) [][]string {
	if values[0] == "" {
		return nil
	}
	return [][]string{values}
}

// Kind returns the table's name.
func (t *Table[T]) Kind() Kind { return t.kind }

// ID returns the id of a resource.
func (t *Table[T]) ID(r *T) string { return t.id(r) }

// Get returns the resource, or a NotFound fact if it does not exist or the scope does not see it.
func (t *Table[T]) Get(v *View, id string) (*T, error) {
	r, ok := t.Find(v, id)
	if !ok {
		return nil, &Error{Fact: NotFound, Kind: t.kind, ID: id}
	}
	return r, nil
}

// Find is like Get, for callers to whom absence is no error.
func (t *Table[T]) Find(v *View, id string) (*T, bool) {
	raw, ok := v.txn.get(t.declared.position, id)
	if !ok {
		return nil, false
	}
	r := raw.(*T)
	return r, v.sees(r)
}

// last returns the greatest id in the table, whoever owns it, or "" if there is none.
func (t *Table[T]) last(v *View) string {
	id, _, _ := v.txn.rows[t.declared.position].Max()
	return id
}

// Len returns the number of rows, of all owners.
func (t *Table[T]) Len(v *View) int { return v.txn.rows[t.declared.position].Len() }

// All yields every resource that the scope sees, in order of id.
func (t *Table[T]) All(v *View) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		v.txn.eachRow(t.declared.position, func(raw any) bool {
			r := raw.(*T)
			return !v.sees(r) || yield(r)
		})
	}
}

// Put stores the resource under its id, replacing the old one. The caller
// must not change it afterwards.
func (t *Table[T]) Put(tx *Tx, r *T) {
	id := t.id(r)
	if id == "" || strings.ContainsRune(id, 0) {
		panic(fmt.Sprintf("state: put a %s without a usable id", t.kind))
	}
	t.replace(tx.txn, id, r)
	tx.changed(t.kind, id, r)
}

// Edit replaces the resource by a changed copy. fn gets a shallow copy: it may
// assign fields, but must replace slices and maps instead of writing into them.
// An error of fn leaves the resource as it was.
func (t *Table[T]) Edit(tx *Tx, id string, fn func(*T) error) error {
	r, err := t.Get(tx.View, id)
	if err != nil {
		return err
	}
	edited := *r
	if err := fn(&edited); err != nil {
		return err
	}
	if t.id(&edited) != id {
		panic(fmt.Sprintf("state: edit changed the id of %s %s", t.kind, id))
	}
	t.Put(tx, &edited)
	return nil
}

// Delete removes the resource from the table, and nothing else. It is not an error if
// the resource does not exist.
func (t *Table[T]) Delete(tx *Tx, id string) {
	if _, ok := t.Find(tx.View, id); !ok {
		return
	}
	t.replace(tx.txn, id, nil)
	tx.changed(t.kind, id, nil)
}

// replace puts a row, or deletes it, with its keys in all indexes.
func (t *Table[T]) replace(txn txn, id string, r *T) {
	old, _ := txn.replace(t.declared.position, id, anyOf(r)).(*T)
	for _, x := range t.indexes {
		if from, to := x.listsOf(old), x.listsOf(r); !slices.EqualFunc(from, to, slices.Equal[[]string]) {
			txn.rekey(x.position, encodeKeys(id, from), encodeKeys(id, to))
		}
	}
	t.declared.recount(txn, anyOf(old), anyOf(r))
}

// anyOf returns r, or an untyped nil if r is nil.
func anyOf[T any](r *T) any {
	if r == nil {
		return nil
	}
	return r
}

// listsOf returns the lists of values under which readers find a row, or nil for no row.
func (x *Index[T]) listsOf(r *T) [][]string {
	if r == nil {
		return nil
	}
	return x.keys(r)
}

// encodeKeys returns the keys of a row, one for each list of values.
func encodeKeys(id string, lists [][]string) []string {
	keys := make([]string, len(lists))
	for i, values := range lists {
		keys[i] = encodeKey(id, values...)
	}
	return keys
}

// Remove deletes the resource with everything that belongs to it and its tags, and does
// what was declared for that. A missing one is no error.
func (t *Table[T]) Remove(tx *Tx, id string) {
	r, ok := t.Find(tx.View, id)
	if !ok {
		return
	}
	for _, remove := range t.declared.owned {
		remove(tx, id)
	}
	for _, do := range t.declared.removed {
		do(tx, r)
	}
	if t.declared.tag != "" {
		DeleteTagsOf(tx, t.declared.tag, id)
	}
	t.Delete(tx, id)
}

// InScope yields the resources of the View's account and region from an index that
// begins with these, and of the given values that follow them.
func (x *Index[T]) InScope(v *View, values ...string) iter.Seq[*T] {
	scope := v.Scope()
	return x.List(v, append([]string{scope.AccountID, scope.RegionID}, values...)...)
}

// List yields the resources under the given values, which may be fewer than the
// index has, in order of the remaining values and then of id. It is safe to
// change the table while it runs: the iteration is over what was there before.
func (x *Index[T]) List(v *View, values ...string) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		v.txn.eachID(x.position, encodeKey("", values...), func(id string) bool {
			r, ok := x.table.Find(v, id)
			return !ok || yield(r)
		})
	}
}

// Window returns at most size of what InScope yields, and how many that are in all: those that
// follow the first skip, or that follow one, if after has the last value and the id of it. Its
// cost does not grow with the list.
func (x *Index[T]) Window(v *View, after []string, skip, size int, values ...string) (part []*T, all int) {
	scope := v.Scope()
	prefix := encodeKey("", append([]string{scope.AccountID, scope.RegionID}, values...)...)
	first, end := v.txn.upTo(x.position, prefix), v.txn.upTo(x.position, prefix[:len(prefix)-1]+"\x01")
	from := first + min(skip, end-first)
	if after != nil {
		from = v.txn.upTo(x.position, prefix+strings.Join(after, "\x00")+"\x00")
	}
	for place := from; place < end && len(part) < size; place++ {
		if r, ok := x.table.Find(v, v.txn.idAt(x.position, place)); ok {
			part = append(part, r)
		}
	}
	return part, end - first
}

// OwnedBy declares that the rows belong to the resource whose id is the first value of
// the index: it must exist, and its removal removes them.
func OwnedBy[T, U any](x *Index[T], parent *Table[U]) Option {
	child := x.table.declared
	child.references = append(child.references, func(c *Checker, r any) {
		id := ""
		if keys := x.keys(r.(*T)); len(keys) > 0 {
			id = keys[0][0]
		}
		belongs(c, x.table, r.(*T), parent, id)
	})
	return func(k *kind) {
		tableOf[U](k)
		k.owned = append(k.owned, func(tx *Tx, id string) {
			if tx.schema.kinds[child.name] != child {
				return // declared in an extension of this schema
			}
			for r := range x.List(tx.View, id) {
				x.table.Remove(tx, x.table.id(r))
			}
		})
	}
}

// First returns the first resource that List yields.
func (x *Index[T]) First(v *View, values ...string) (*T, bool) {
	for r := range x.List(v, values...) {
		return r, true
	}
	return nil, false
}

// CountTo counts the resources that List yields, but no further than n.
func (x *Index[T]) CountTo(v *View, n int, values ...string) int {
	found := 0
	for range x.List(v, values...) {
		if found++; found >= n {
			break
		}
	}
	return found
}

// Count returns how many resources List yields.
func (x *Index[T]) Count(v *View, values ...string) int {
	n := 0
	for range x.List(v, values...) {
		n++
	}
	return n
}

// encodeKey ends every value with a zero byte, so that a list of values is
// found by its beginning and "ab" is not found by "a". The id comes last.
func encodeKey(id string, values ...string) string {
	size := len(id)
	for _, v := range values {
		size += len(v) + 1
	}
	var key strings.Builder
	key.Grow(size)
	for _, v := range values {
		key.WriteString(v)
		key.WriteByte(0)
	}
	key.WriteString(id)
	return key.String()
}

// anyTable is a table of any type, as the store needs it.
type anyTable interface {
	indexPositions() []int
	loadKeys(value any, add func(position int, key string))
	idOf(value any) string
	decode(value []byte) (r any, unknown, err error)
	name() Kind
	all(v *View) iter.Seq2[string, any]
	find(v *View, id string) (any, bool)
	delete(tx *Tx, id string)
	remove(tx *Tx, id string)
	insert(tx *Tx, value []byte) error
	follow(txn txn, id string, value []byte) error
	resource() reflect.Type
}

func (t *Table[T]) name() Kind { return t.kind }

func (t *Table[T]) resource() reflect.Type { return reflect.TypeFor[T]() }

func (t *Table[T]) all(v *View) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for r := range t.All(v) {
			if !yield(t.id(r), r) {
				return
			}
		}
	}
}

func (t *Table[T]) find(v *View, id string) (any, bool) {
	r, ok := t.Find(v, id)
	return r, ok
}

func (t *Table[T]) delete(tx *Tx, id string) { t.Delete(tx, id) }

func (t *Table[T]) remove(tx *Tx, id string) { t.Remove(tx, id) }

// insert is like Put, for an encoded resource that must be new.
func (t *Table[T]) insert(tx *Tx, value []byte) error {
	raw, unknown, err := t.decode(value)
	if err = cmp.Or(err, unknown); err != nil {
		return err
	}
	r := raw.(*T)
	if _, twice := t.Find(tx.View, t.id(r)); twice {
		return fmt.Errorf("there are two with id %s", t.id(r))
	}
	t.Put(tx, r)
	return nil
}

// follow does what another process did to a row: value is nil for a deletion.
func (t *Table[T]) follow(txn txn, id string, value []byte) error {
	if value == nil {
		t.replace(txn, id, nil)
		return nil
	}
	raw, _, err := t.decode(value)
	if err != nil {
		return err
	}
	t.replace(txn, id, raw.(*T))
	return nil
}

// decode reads a resource. A field that it does not have is passed over, and
// returned as unknown.
func (t *Table[T]) decode(value []byte) (_ any, unknown, err error) {
	r := new(T)
	// The newer package reads at twice the speed, and is no more lenient. What it does
	// not take is read, and told, by the older.
	if jsonv2.Unmarshal(value, r, jsonv2.RejectUnknownMembers(true)) != nil {
		r = new(T)
		d := json.NewDecoder(bytes.NewReader(value))
		d.DisallowUnknownFields()
		unknown = d.Decode(r)
	}
	if unknown != nil {
		r = new(T)
		if err := json.Unmarshal(value, r); err != nil {
			return nil, nil, fmt.Errorf("unreadable %s: %w", t.kind, err)
		}
	}
	if id := t.id(r); id == "" || strings.ContainsRune(id, 0) {
		return nil, nil, fmt.Errorf("%s without a usable id", t.kind)
	}
	return r, unknown, nil
}

func (t *Table[T]) indexPositions() []int {
	positions := make([]int, len(t.indexes))
	for i, x := range t.indexes {
		positions[i] = x.position
	}
	return positions
}

func (t *Table[T]) idOf(value any) string { return t.id(value.(*T)) }

func (t *Table[T]) loadKeys(value any, add func(position int, key string)) {
	r := value.(*T)
	for _, x := range t.indexes {
		for _, values := range x.keys(r) {
			add(x.position, encodeKey(t.id(r), values...))
		}
	}
}

// encode returns the change that makes an engine keep a resource, or delete it if r is nil.
func encode(kind Kind, id string, r any) (engine.Change, error) {
	change := engine.Change{Table: string(kind), ID: id}
	if r == nil {
		return change, nil
	}
	value, err := json.Marshal(r)
	if err != nil {
		return change, fmt.Errorf("encode %s %s: %w", kind, id, err)
	}
	change.Value = value
	return change, nil
}
