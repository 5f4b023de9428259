package pull

import (
	"errors"
	"reflect"
	"strings"

	"github.com/clbemu/clbemu/state"
)

// read is a call about the account, or several: one for each page.
type read struct {
	product, action string
	// params go with the call. A value that begins with = is a path in the row that the call is
	// about.
	params map[string]string
	// list is the path of the list in the answer, or "" if the whole answer is read.
	list  string
	pages pages
}

// pages says how to ask for parts of a list: by a number and a size, or by a token and a size. The
// zero pages is for a list that comes whole.
type pages struct {
	number, size, token string
	most                int
}

// of returns the same pages with another size.
func (p pages) of(most int) pages {
	p.most = most
	return p
}

var (
	numbered = pages{number: "PageNumber", size: "PageSize", most: 50}
	byToken  = pages{token: "NextToken", size: "MaxResults", most: 100}
)

// detail is a read about each resource of a kind.
type detail struct {
	read
	// as is the name under which the row gets the list; without one it gets the fields of the
	// answer. Also is a field that it gets in addition.
	as, also string
	// when says for which rows. If nil, it is for all.
	when func(row) bool
	// needed leaves a resource out if this read of it fails.
	needed bool
}

// kind says how the resources of a kind are read, and how a field of an answer becomes a field of
// the kind.
type kind struct {
	name  state.Kind
	lists []read
	// of is the kind for each of whose resources the lists are asked for; "" asks once. When says
	// for which.
	of   state.Kind
	when func(row) bool
	// id is the path of the id in a row. For rows without one, idOf makes it.
	id   string
	idOf func(row) string
	// spread names objects of a row whose fields are the row's own.
	spread []string
	// joined lists reads that are made once, from each of which a row gets the entry with its id.
	joined  []detail
	details []detail
	// chosen reports whether to read a row. If nil, all are read. Foreign says why clbemu has
	// nothing like it, or returns "" if it has.
	chosen  func(p *Puller, r row) bool
	foreign func(row) string
	// unread are the fields that no answer has, with the reason.
	unread map[string]string
	// tags is the path of the resource's tags in a row, or "" if it can have none.
	tags string
	tag  state.TagResourceType

	rowOf reflect.Type
	put   func(b *builder, r row) (id string, err error)
}

// identify returns the id of a row.
func (k *kind) identify(r row) string {
	if k.idOf != nil {
		return k.idOf(r)
	}
	return r.text(k.id)
}

// reads lists all reads of a kind.
func (k *kind) reads() (all []read) {
	all = append(all, k.lists...)
	for _, d := range k.joined {
		all = append(all, d.read)
	}
	for _, d := range k.details {
		all = append(all, d.read)
	}
	return all
}

// errNoID is the error of a row that lacks what its id is made of.
var errNoID = errors.New("the answer has no id")

// of completes a kind with its table. Finish does what no field says; nil does nothing.
func of[T any](t *state.Table[T], k kind, finish func(b *builder, r *T, from row) error) *kind {
	k.name, k.rowOf = t.Kind(), reflect.TypeFor[T]()
	fields := fieldsOf(&k)
	k.put = func(b *builder, from row) (string, error) {
		r := new(T)
		made := reflect.ValueOf(r).Elem()
		if err := fill(made, fields, from); err != nil {
			return "", err
		}
		b.own(made)
		if finish != nil {
			if err := finish(b, r, from); err != nil {
				return "", err
			}
		}
		id := t.ID(r)
		if strings.Trim(id, "_-/0") == "" {
			return "", errNoID
		}
		t.Put(b.tx, r)
		b.take(t.Kind(), id, made)
		return id, nil
	}
	return &k
}

// allKinds returns the kinds that a pull reads, in the order in which it puts them: kinds that
// others need come first.
func allKinds() []*kind {
	var all []*kind
	for _, part := range [][]*kind{settingKinds(), networkKinds(), computeKinds(), certificateKinds(), clbKinds(), nlbKinds()} {
		all = append(all, part...)
	}
	return all
}
