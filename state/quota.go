package state

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// QuotaExceeded: the change would go over a quota. The error's Kind is the
// quota's name, its ID the holder.
const QuotaExceeded Fact = "QuotaExceeded"

// QuotaName names a quota as the cloud's quota centre does.
type QuotaName string

// quota is what an account may have unless it was told otherwise, and where what
// it has is counted.
type quota struct {
	position int
	limit    int
	sources  []Counted
}

// Counted is one way in which a holder uses a quota.
type Counted struct {
	held func(v *View, holder string, add func(n int) bool)
	all  func(v *View, add func(holder string, n int))
}

// NewQuota declares a quota with its usual limit and what counts.
func NewQuota(s *Schema, name QuotaName, limit int, sources ...Counted) QuotaName {
	s.quotas[name] = &quota{position: len(s.quotas), limit: limit, sources: sources}
	return name
}

// Of counts rows of which the holder's id is the first value of an index. Each
// calls add with the holders of a row and how much that is of them.
func Of[T any](x *Index[T], each func(r *T, add func(holder string, n int))) Counted {
	return counted(x.table, each, func(v *View, holder string) iter.Seq[*T] { return x.List(v, holder) })
}

// InRegion counts the rows of a region, found by an index of account and region.
func InRegion[T any](x *Index[T]) Counted {
	each := func(r *T, add func(string, int)) { add(ownerOf(r).RegionID, 1) }
	return counted(x.table, each, func(v *View, region string) iter.Seq[*T] { return x.List(v, v.scope.AccountID, region) })
}

// Within counts what the holder itself has in it.
func Within[T any](t *Table[T], size func(*T) int) Counted {
	each := func(r *T, add func(string, int)) { add(t.id(r), size(r)) }
	return counted(t, each, func(v *View, id string) iter.Seq[*T] {
		return func(yield func(*T) bool) {
			if r, ok := t.Find(v, id); ok {
				yield(r)
			}
		}
	})
}

func counted[T any](t *Table[T], each func(*T, func(string, int)), rows func(v *View, holder string) iter.Seq[*T]) Counted {
	return Counted{
		held: func(v *View, holder string, add func(int) bool) {
			for r := range rows(v, holder) {
				n := 0
				each(r, func(id string, more int) {
					if id == holder {
						n += more
					}
				})
				if !add(n) {
					return
				}
			}
		},
		all: func(v *View, add func(string, int)) {
			for r := range t.All(v) {
				each(r, add)
			}
		},
	}
}

// Quota is a limit that an account was given in place of the usual one.
type Quota struct {
	AccountID string
	Name      QuotaName
	Limit     int
}

// QuotaID is the id of a Quota.
func QuotaID(accountID string, name QuotaName) string { return accountID + "/" + string(name) }

// Quotas by QuotaID.
var Quotas = NewTable(kernel, "Quota", func(q *Quota) string { return QuotaID(q.AccountID, q.Name) }, Setting())

// Limit is the quota of the scope's account.
func (v *View) Limit(name QuotaName) int {
	if q, ok := Quotas.Find(v, QuotaID(v.scope.AccountID, name)); ok {
		return q.Limit
	}
	q, ok := v.schema.quotas[name]
	if !ok {
		panic("state: no quota " + string(name))
	}
	return q.limit
}

// Use refuses to let a holder have n more of what a quota limits than its account
// may.
func (v *View) Use(name QuotaName, holder string, n int) error {
	limit := v.Limit(name)
	if v.used(name, holder, limit+1-n)+n > limit {
		return &Error{Fact: QuotaExceeded, Kind: Kind(name), ID: holder}
	}
	return nil
}

// used is how much a holder has, counted no further than most.
func (v *View) used(name QuotaName, holder string, most int) (n int) {
	account := v.In(Owner{AccountID: v.scope.AccountID})
	for _, s := range v.schema.quotas[name].sources {
		s.held(account, holder, func(more int) bool {
			n += more
			return n < most
		})
	}
	return n
}

// QuotaUse is how much of a quota is used, and by whom.
type QuotaUse struct {
	Name    QuotaName
	Default int
	Limit   int
	Holders []QuotaHolder
}

// QuotaHolder is one that uses a quota.
type QuotaHolder struct {
	ID   string
	Used int
}

// QuotaUses lists the quotas of the scope's account, the greatest users first.
func QuotaUses(v *View) []QuotaUse {
	account := v.In(Owner{AccountID: v.scope.AccountID})
	names := v.schema.QuotaNames()
	list := make([]QuotaUse, len(names))
	for i, name := range names {
		q := v.schema.quotas[name]
		used := make(map[string]int)
		for _, s := range q.sources {
			s.all(account, func(holder string, n int) { used[holder] += n })
		}
		list[i] = QuotaUse{Name: name, Default: q.limit, Limit: account.Limit(name)}
		for id, n := range used {
			if n > 0 {
				list[i].Holders = append(list[i].Holders, QuotaHolder{id, n})
			}
		}
		slices.SortFunc(list[i].Holders, func(a, b QuotaHolder) int {
			return cmp.Or(cmp.Compare(b.Used, a.Used), cmp.Compare(a.ID, b.ID))
		})
	}
	return list
}

// QuotaNames lists the quotas in the order in which they were declared.
func (s *Schema) QuotaNames() []QuotaName {
	return slices.SortedFunc(maps.Keys(s.quotas), func(a, b QuotaName) int {
		return cmp.Compare(s.quotas[a].position, s.quotas[b].position)
	})
}
