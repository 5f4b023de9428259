package state

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// QuotaExceeded: the change would go over a quota. The error's Kind is the
// quota's name, its ID the holder.
const QuotaExceeded Fact = "QuotaExceeded"

// QuotaName names a quota as the cloud's quota centre does.
type QuotaName string

// quota declares a quota: its limit, unless the account has another one.
type quota struct {
	position int // of its tree, and in lists
	limit    int
	former   QuotaName // under which older states hold limits of it
	sum      *sum      // nil if rows count
}

// sum returns what holders use where that is in rows of several kinds.
type sum struct {
	of   func(v *View, holder string) int
	each func(v *View, yield func(holder string, n int))
}

// Counted is a way in which holders use a quota: by the rows of a kind, or by a sum.
type Counted struct {
	kind *kind
	each func(r any, add func(holder string, n int))
	sum  *sum
}

// NewQuota declares a quota with its usual limit and what counts. What each holder
// has is kept with the rows, so that to ask costs the same however much there is.
func NewQuota(s *Schema, name QuotaName, limit int, sources ...Counted) QuotaName {
	q := &quota{position: tallyTrees, limit: limit}
	tallyTrees++
	s.quotas[name] = q
	for _, c := range sources {
		if c.sum != nil {
			q.sum = c.sum
			continue
		}
		c.kind.counts = append(c.kind.counts, count{q.position, c.each})
	}
	return name
}

// Renamed declares that a quota had another name in older states.
func Renamed(s *Schema, from, to QuotaName) QuotaName {
	s.quotas[to].former = from
	return to
}

// Of counts rows. Each calls add with the holders of a row, and what the row counts for
// them.
func Of[T any](t *Table[T], each func(r *T, add func(holder string, n int))) Counted {
	return Counted{kind: t.declared, each: func(r any, add func(string, int)) { each(r.(*T), add) }}
}

// Summed counts what a row has through others, as a load balancer has the servers of the
// groups that its listeners forward to. It is summed up whenever it is asked for.
func (t *Table[T]) Summed(has func(*View, *T) int) Counted {
	return Counted{sum: &sum{
		of: func(v *View, holder string) int {
			if r, ok := t.Find(v, holder); ok {
				return has(v, r)
			}
			return 0
		},
		each: func(v *View, yield func(string, int)) {
			for r := range t.All(v) {
				if n := has(v, r); n > 0 {
					yield(t.id(r), n)
				}
			}
		},
	}}
}

// InRegion counts the rows of each region.
func InRegion[T any](t *Table[T]) Counted {
	return Of(t, func(r *T, add func(string, int)) { add(ownerOf(r).RegionID, 1) })
}

// Within counts what the holder itself has in it.
func Within[T any](t *Table[T], size func(*T) int) Counted {
	return Of(t, func(r *T, add func(string, int)) { add(t.id(r), size(r)) })
}

// count declares how the rows of a kind count in a quota.
type count struct {
	position int
	each     func(r any, add func(holder string, n int))
}

// tally counts what a holder in an account uses.
type tally struct {
	account, holder string
	n               int
}

// quotaCount is a count on its way into a tally.
type quotaCount struct {
	position int
	tally    tally
}

func compareTallies(a, b tally) int {
	return cmp.Or(strings.Compare(a.account, b.account), strings.Compare(a.holder, b.holder))
}

// eachTally yields what a row counts in quotas, nothing for nil.
func (k *kind) eachTally(r any, yield func(position int, t tally)) {
	if r == nil {
		return
	}
	account, position := ownerOf(r).AccountID, 0
	add := func(holder string, n int) { yield(position, tally{account, holder, n}) }
	for _, c := range k.counts {
		position = c.position
		c.each(r, add)
	}
}

// recount takes a row out of the tallies, and another into them. Either may be nil. Most changes of
// a row leave its counts as they were, and with them the trees.
func (k *kind) recount(txn txn, from, to any) {
	if len(k.counts) == 0 {
		return
	}
	var room [8]quotaCount
	changes := room[:0]
	note := func(position int, t tally) {
		at := slices.IndexFunc(changes, func(c quotaCount) bool {
			return c.position == position && c.tally.holder == t.holder && c.tally.account == t.account
		})
		if at < 0 {
			changes = append(changes, quotaCount{position, t})
			return
		}
		changes[at].tally.n += t.n
	}
	k.eachTally(to, note)
	k.eachTally(from, func(position int, t tally) { t.n = -t.n; note(position, t) })
	for _, c := range changes {
		txn.tally(c.position, c.tally)
	}
}

// Quota is an account's own limit in place of the usual one.
type Quota struct {
	AccountID string
	Name      QuotaName
	Limit     int
}

// QuotaID returns the id of a Quota.
func QuotaID(accountID string, name QuotaName) string { return accountID + "/" + string(name) }

// Quotas by QuotaID.
var Quotas = NewTable(kernel, "Quota", func(q *Quota) string { return QuotaID(q.AccountID, q.Name) }, Setting())

// Limit returns the limit of a quota for the scope's account.
func (v *View) Limit(name QuotaName) int {
	q, ok := v.schema.quotas[name]
	if !ok {
		panic("state: no quota " + string(name))
	}
	for _, of := range []QuotaName{name, q.former} {
		if given, ok := Quotas.Find(v, QuotaID(v.scope.AccountID, of)); ok {
			return given.Limit
		}
	}
	return q.limit
}

// Use refuses to let a holder have n more of what a quota limits than its account
// may.
func (v *View) Use(name QuotaName, holder string, n int) error {
	limit := v.Limit(name)
	if v.used(name, holder)+n > limit {
		return &Error{Fact: QuotaExceeded, Kind: Kind(name), ID: holder}
	}
	return nil
}

// used returns how much a holder uses, in all regions of the scope's account.
func (v *View) used(name QuotaName, holder string) int {
	q := v.schema.quotas[name]
	if q.sum != nil {
		return q.sum.of(v, holder)
	}
	return v.txn.tallied(q.position, tally{account: v.scope.AccountID, holder: holder})
}

// eachHolder yields what each holder in the scope's account uses. The view covers all its regions.
func (q *quota) eachHolder(account *View, yield func(holder string, n int)) {
	if q.sum != nil {
		q.sum.each(account, yield)
		return
	}
	account.txn.eachTally(q.position, account.scope.AccountID, yield)
}

// QuotaUse is the use of a quota, and its holders.
type QuotaUse struct {
	Name    QuotaName
	Default int
	Limit   int
	Holders []QuotaHolder
}

// QuotaHolder is a resource that uses a quota.
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
		list[i] = QuotaUse{Name: name, Default: q.limit, Limit: account.Limit(name)}
		q.eachHolder(account, func(holder string, n int) {
			list[i].Holders = append(list[i].Holders, QuotaHolder{holder, n})
		})
		slices.SortFunc(list[i].Holders, func(a, b QuotaHolder) int {
			return cmp.Or(cmp.Compare(b.Used, a.Used), cmp.Compare(a.ID, b.ID))
		})
	}
	return list
}

// quotaPeak is a quota with what its greatest holder uses of it.
type quotaPeak struct {
	Name        QuotaName
	Limit, Used int
}

// QuotaPeaks lists the quotas of the scope's account.
func QuotaPeaks(v *View) []quotaPeak {
	account := v.In(Owner{AccountID: v.scope.AccountID})
	names := v.schema.QuotaNames()
	list := make([]quotaPeak, len(names))
	for i, name := range names {
		list[i] = quotaPeak{Name: name, Limit: account.Limit(name)}
		v.schema.quotas[name].eachHolder(account, func(_ string, n int) { list[i].Used = max(list[i].Used, n) })
	}
	return list
}

// QuotaNames lists the quotas in the order of declaration.
func (s *Schema) QuotaNames() []QuotaName {
	return slices.SortedFunc(maps.Keys(s.quotas), func(a, b QuotaName) int {
		return cmp.Compare(s.quotas[a].position, s.quotas[b].position)
	})
}

// checkTallies recounts each quota and compares the result with the stored count.
func checkTallies(v *View) (problems []string) {
	recounted := newWorkingSet(v.schema).writing()
	for _, k := range v.schema.all() {
		if len(k.counts) == 0 {
			continue
		}
		for _, r := range k.table.all(v) {
			k.recount(recounted, nil, r)
		}
	}
	for _, name := range v.schema.QuotaNames() {
		at := v.schema.quotas[name].position
		kept, counted := v.txn.tallies[at].Items(), recounted.tallies[at].Items()
		if !slices.Equal(kept, counted) {
			problems = append(problems, fmt.Sprintf("quota %s is stored as %v, but counts as %v", name, kept, counted))
		}
	}
	return problems
}
