package state

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"
)

// Schema is the kinds of things that a store holds. Each has one declaration, where
// its type is: what it refers to and belongs to, its stages, its quotas, how its
// ids form. What the store does with all kinds alike follows from that:
// the check, removal, tags, life, quotas, metrics.
//
// Packages build it while they initialise, and nothing changes it later.
type Schema struct {
	kinds  map[Kind]*kind
	stages map[Stage]*stage
	quotas map[QuotaName]*quota
	tagged map[TagResourceType]*kind
	shapes shapes
	// retired are the kinds of older versions.
	retired map[Kind]retired
	// identifying lists the kinds whose ids calls name, and made the kinds that users create.
	identifying func() []*kind
	made        func() []*kind
}

// kernel declares what every store holds in addition to its resources.
var kernel = &Schema{
	kinds:  make(map[Kind]*kind),
	stages: make(map[Stage]*stage),
	quotas: make(map[QuotaName]*quota),
	tagged: make(map[TagResourceType]*kind),
	shapes: make(shapes),

	retired: make(map[Kind]retired),
}

// NewSchema returns a schema to declare kinds in.
func NewSchema() *Schema { return kernel.Extend() }

// Extend returns a schema that has all of this one, to declare more in.
func (s *Schema) Extend() *Schema {
	extended := &Schema{kinds: maps.Clone(s.kinds), stages: maps.Clone(s.stages), quotas: maps.Clone(s.quotas), tagged: maps.Clone(s.tagged), shapes: s.shapes.clone(), retired: maps.Clone(s.retired)}
	extended.identifying = sync.OnceValue(extended.identifiers)
	extended.made = sync.OnceValue(func() []*kind {
		return slices.DeleteFunc(extended.all(), func(k *kind) bool { return k.setting })
	})
	return extended
}

// all lists the kinds in order of name.
func (s *Schema) all() []*kind {
	return slices.SortedFunc(maps.Values(s.kinds), func(a, b *kind) int { return cmp.Compare(a.name, b.name) })
}

// Kinds lists what users make, in order of name: not the settings of the world,
// nor what the store keeps for itself.
func (s *Schema) Kinds() []Kind {
	var list []Kind
	for _, k := range s.made() {
		list = append(list, k.name)
	}
	return list
}

// AllKinds lists all kinds, in order of name.
func (s *Schema) AllKinds() (list []Kind) {
	for _, k := range s.all() {
		list = append(list, k.name)
	}
	return list
}

// StagesOf lists the stages of a kind with the status that a resource has in each.
func (s *Schema) StagesOf(name Kind) map[Stage]string {
	list := make(map[Stage]string)
	for stage, row := range s.stages {
		if row.kind.name == name {
			list[stage] = row.from
		}
	}
	return list
}

// Internal reports whether a kind is the world's or the store's own, and no resource of a
// client.
func (s *Schema) Internal(name Kind) bool {
	k := s.kinds[name]
	return k != nil && k.internal
}

// Stages lists the stages with what they take in the realistic profile.
func (s *Schema) Stages() map[Stage]time.Duration {
	list := make(map[Stage]time.Duration, len(s.stages))
	for name, row := range s.stages {
		list[name] = row.after
	}
	return list
}

// kind holds a kind's declaration, for the store to use without its type.
type kind struct {
	name     Kind
	position int // of its tree
	schema   *Schema
	table    anyTable
	form     *idForm
	// references must lead somewhere.
	references []func(c *Checker, r any)
	// owned removes what belongs to a resource, of one other kind each.
	owned []func(tx *Tx, id string)
	// removed runs when a resource goes, before it does.
	removed []func(tx *Tx, r any)
	checks  []func(c *Checker, r any)
	// setStatus changes a status from one to another, if it is the one.
	setStatus func(tx *Tx, id, from, to string)
	events    map[string]func(tx *Tx, t *Transition)
	tag       TagResourceType
	// tagProduct's tag actions call the kind tagWord.
	tagProduct, tagWord string
	setting             bool
	internal            bool
	counter             bool
	// retired reports whether this version no longer has a row. It is nil if it has all.
	retired func(r any) bool
	// counts say what a row counts in quotas.
	counts []count
}

// Option declares something of a kind.
type Option func(*kind)

// IDForm declares the cloud's form of the kind's ids: a prefix, the code of the region, and a
// number of digits and letters.
func IDForm(prefix string, length int) Option {
	return func(k *kind) { k.form = &idForm{prefix, length} }
}

// Setting marks a kind that belongs to the world or the store, and that no call creates.
func Setting() Option { return func(k *kind) { k.setting, k.internal = true, true } }

// Internal marks a kind that calls create and clients never see as a resource.
func Internal() Option { return func(k *kind) { k.internal = true } }

// Counter marks a kind whose changes are not changes of the cloud, since it only counts
// events.
func Counter() Option { return func(k *kind) { k.counter, k.setting, k.internal = true, true, true } }

// Tagged sets the resource type of the kind's tags, and the word by which a product's
// tag actions know the kind, which is empty where it has no such action.
func Tagged(t TagResourceType, product, word string) Option {
	return func(k *kind) {
		k.tag, k.tagProduct, k.tagWord = t, product, word
		k.schema.tagged[t] = k
	}
}

// Refers declares that a resource may name another by its id: the other must exist, in
// the same account and region.
func Refers[T, U any](to *Table[U], id func(*T) string) Option {
	return RefersAll(to, func(r *T) []string { return []string{id(r)} })
}

// RefersAll is like Refers, for several others.
func RefersAll[T, U any](to *Table[U], ids func(*T) []string) Option {
	return func(k *kind) {
		from := tableOf[T](k)
		k.references = append(k.references, func(c *Checker, r any) {
			for _, id := range ids(r.(*T)) {
				refers(c, from, r.(*T), to, id)
			}
		})
	}
}

// Belongs is like Refers, but the id must not be empty.
func Belongs[T, U any](to *Table[U], id func(*T) string) Option {
	return func(k *kind) {
		from := tableOf[T](k)
		k.references = append(k.references, func(c *Checker, r any) { belongs(c, from, r.(*T), to, id(r.(*T))) })
	}
}

// Checks declares an invariant of the kind.
func Checks[T any](check func(c *Checker, r *T)) Option {
	return func(k *kind) {
		tableOf[T](k)
		k.checks = append(k.checks, func(c *Checker, r any) { check(c, r.(*T)) })
	}
}

// Removed declares what else the removal of a resource does.
func Removed[T any](do func(tx *Tx, r *T)) Option {
	return func(k *kind) {
		tableOf[T](k)
		k.removed = append(k.removed, func(tx *Tx, r any) { do(tx, r.(*T)) })
	}
}

// Life declares the status that the kind's stages change.
func Life[T any, S ~string](status func(*T) *S) Option {
	return func(k *kind) {
		t := tableOf[T](k)
		k.setStatus = func(tx *Tx, id, from, to string) {
			r, ok := t.Find(tx.View, id)
			if !ok {
				return // what is gone has no status to change
			}
			if s := string(*status(r)); s == to || from != anyStatus && s != from {
				return
			}
			edited := *r
			*status(&edited) = S(to)
			t.Put(tx, &edited)
		}
	}
}

// On declares a transition that is more than a change of status: what happens to
// a resource that waited with the beginning that the transition has.
func On(from string, happen func(tx *Tx, t *Transition)) Option {
	return func(k *kind) {
		if k.events == nil {
			k.events = make(map[string]func(*Tx, *Transition))
		}
		k.events[from] = happen
	}
}

// tableOf returns the kind's table, which must hold the type that an option is about.
func tableOf[T any](k *kind) *Table[T] {
	t, ok := k.table.(*Table[T])
	if !ok {
		panic(fmt.Sprintf("state: an option of %s is about %T", k.name, *new(T)))
	}
	return t
}

// Options combines several options into one.
func Options(options ...Option) Option {
	return func(k *kind) {
		for _, declare := range options {
			declare(k)
		}
	}
}

// IDs lists the ids of all rows of a kind, whosever they are, in order.
func (v *View) IDs(kind Kind) (ids []string) {
	for _, k := range v.schema.all() {
		if k.name == kind {
			v.txn.eachRow(k.position, func(row any) bool {
				ids = append(ids, k.table.idOf(row))
				return true
			})
		}
	}
	return ids
}

// Counts yields how many rows each of Kinds has.
func (v *View) Counts() iter.Seq2[Kind, int] {
	return func(yield func(Kind, int) bool) {
		for _, k := range v.schema.made() {
			if !yield(k.name, v.txn.rows[k.position].Len()) {
				return
			}
		}
	}
}
