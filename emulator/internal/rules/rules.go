// Package rules keeps the fault rules: in the store, which a restart reads, and in the
// injector that the gateway asks. It checks rules that users write, and skips kept
// ones that this version can't read. It must not know how calls reach it.
package rules

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/state"
)

// Rules keeps the fault rules in the store and in the injector that the gateway
// asks, and checks those that are written.
type Rules struct {
	Injector *faults.Injector
	// First are the rules that the emulator was started with.
	First []faults.Rule

	store    *state.Store
	products []*gateway.Product

	parsed map[string]faults.Rule // those in force, by their texts
	// recovered counts the store's recoveries up to when the rules were armed.
	recovered atomic.Uint64

	mu      sync.Mutex
	skipped []controlapi.SkippedFault
}

// The bounds of all fault rules together, in number and in bytes of their texts.
const (
	maxRules     = 10_000
	maxRuleBytes = 16 << 20
)

// New arms an injector with the rules that the store holds, but for those that can't be
// armed.
func New(store *state.Store, products []*gateway.Product, injector *faults.Injector) *Rules {
	r := &Rules{Injector: injector, store: store, products: products}
	r.Injector.Record = r.record
	r.Injector.Change(r.load)
	return r
}

// Change runs commit, which changes the rules that the store holds, and arms what
// it then holds. One change waits for another, and calls that rules are about wait
// for it, so that the injector is never behind the store.
func (r *Rules) Change(commit func() error) (err error) {
	r.Injector.Change(func() {
		err = commit()
		r.load() // also after an error: what became of the change may not be known
	})
	return err
}

// Follow arms the rules again if the store has found out the outcome of a change that was unknown.
func (r *Rules) Follow() {
	if r.store.Recovered() != r.recovered.Load() {
		r.Injector.Change(r.load)
	}
}

// Skipped returns the rules of the store that are not in force, each with the reason.
func (r *Rules) Skipped() []controlapi.SkippedFault {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.skipped
}

// load brings the injector to what the store holds.
func (r *Rules) load() {
	r.recovered.Store(r.store.Recovered())
	var list []faults.Status
	var skipped []controlapi.SkippedFault
	parsed := make(map[string]faults.Rule, len(r.parsed))
	v := r.store.View(state.Owner{})
	kept := slices.SortedFunc(kinds.Faults.All(v), func(a, b *kinds.Fault) int { return cmp.Compare(a.Position, b.Position) })
	for _, k := range kept {
		rule, known := r.parsed[k.Rule]
		if !known || rule.Name != k.Name {
			var err error
			if rule, err = parse(k); err != nil {
				skipped = append(skipped, controlapi.SkippedFault{Name: k.Name, Rule: k.Rule, Problem: err.Error()})
				continue
			}
		}
		parsed[k.Rule] = rule
		list = append(list, faults.Status{Rule: rule, Text: k.Rule, Since: k.Since, Seen: k.Seen, Hits: k.Hits})
	}
	if err := r.Injector.Set(list); err != nil {
		panic(err) // each was parsed, and has the name of its row
	}
	r.parsed = parsed
	r.mu.Lock()
	defer r.mu.Unlock()
	r.skipped = skipped
}

// parse returns the rule of a row. It fails for a rule that a newer version wrote and this one does
// not know.
func parse(k *kinds.Fault) (faults.Rule, error) {
	rules, err := faults.Parse([]byte(k.Rule))
	switch {
	case err != nil:
		return faults.Rule{}, err
	case len(rules) != 1 || rules[0].Name != k.Name:
		return faults.Rule{}, fmt.Errorf("its text is not one rule of that name")
	}
	return rules[0], nil
}

// checkSize refuses more rules than there may be.
func checkSize(v *state.View) error {
	number, bytes := 0, 0
	for k := range kinds.Faults.All(v) {
		number, bytes = number+1, bytes+len(k.Rule)
	}
	switch {
	case number > maxRules:
		return fmt.Errorf("there would be %d fault rules, and %d may be: delete some", number, maxRules)
	case bytes > maxRuleBytes:
		return fmt.Errorf("all fault rules would have %d bytes, and may have %d: delete some", bytes, maxRuleBytes)
	}
	return nil
}

// record keeps counters, so that a restart does not forget them.
func (r *Rules) record(s faults.Status) {
	// A count that can't be kept is no reason to spare the call; the store's own
	// failure shows in every write.
	_ = r.store.Update(state.Owner{}, func(tx *state.Tx) error {
		kept, ok := kinds.Faults.Find(tx.View, s.Rule.Name)
		if !ok || kept.Seen >= s.Seen {
			return nil
		}
		counted := *kept
		counted.Seen, counted.Hits = s.Seen, s.Hits
		kinds.Faults.Put(tx, &counted)
		return nil
	})
}

// Add appends the rules of a text to the list, and returns them; file is its name in
// errors. A rule replaces one with the same name in its position, with new counters.
func (r *Rules) Add(file string, text []byte) ([]faults.Rule, error) {
	rules, err := faults.ParseFile(file, text, names.Of(r.store.Schema(), r.products).ResolveFault)
	if err != nil {
		return nil, err
	}
	return rules, r.update(func(tx *state.Tx) error { return put(tx, rules, false) })
}

// Begin adds the first rules. A rule that the store holds in the same words keeps its counters.
func (r *Rules) Begin() error {
	if len(r.First) == 0 {
		return nil
	}
	return r.update(func(tx *state.Tx) error { return put(tx, r.First, true) })
}

// put adds rules. With goOn, it keeps rules that are there in the same words. A rule that is only
// switched on or off keeps its counters.
func put(tx *state.Tx, rules []faults.Rule, goOn bool) error {
	next := 0
	for k := range kinds.Faults.All(tx.View) {
		next = max(next, k.Position+1)
	}
	for _, rule := range rules {
		fresh := &kinds.Fault{Name: rule.Name, Position: next, Rule: rule.String(), Since: tx.Now()}
		old, there := kinds.Faults.Find(tx.View, rule.Name)
		switch {
		case !there:
			next++
		case goOn && old.Rule == fresh.Rule:
			continue
		default:
			fresh.Position = old.Position
			if rule.Disabled = !rule.Disabled; rule.String() == old.Rule { // it is only switched
				fresh.Since, fresh.Seen, fresh.Hits = old.Since, old.Seen, old.Hits
			}
		}
		kinds.Faults.Put(tx, fresh)
	}
	return checkSize(tx.View)
}

// Reset resets the store and plants a world. It keeps the rules, which are the user's and not a
// part of the world, unless drop asks for those of the start.
func (r *Rules) Reset(plant func(*state.Tx) error, drop bool) error {
	var kept []state.Kind
	if !drop {
		kept = []state.Kind{kinds.Faults.Kind()}
	}
	return r.Change(func() error {
		return r.store.Reset(func(tx *state.Tx) error {
			for k := range kinds.Faults.All(tx.View) {
				if k.Since.After(tx.Now()) { // the time went back
					rule := *k
					rule.Since = tx.Now()
					kinds.Faults.Put(tx, &rule)
				}
			}
			if drop {
				return errors.Join(put(tx, r.First, false), plant(tx))
			}
			return plant(tx)
		}, kept...)
	})
}

// update is like Change, for a transaction.
func (r *Rules) update(change func(*state.Tx) error) error {
	return r.Change(func() error { return r.store.Update(state.Owner{}, change) })
}

// ErrUnknown is the answer about a rule that there is not.
var ErrUnknown = errors.New("there is no such fault rule")

// Delete removes rules by name, all when none is named.
func (r *Rules) Delete(rules ...string) error {
	return r.update(func(tx *state.Tx) error {
		var known []string
		for k := range kinds.Faults.All(tx.View) {
			known = append(known, k.Name)
			if len(rules) == 0 {
				kinds.Faults.Delete(tx, k.Name)
			}
		}
		for _, name := range rules {
			if !slices.Contains(known, name) {
				return fmt.Errorf("%w: %s%s", ErrUnknown, name, names.DidYouMean(name, known, "`clbemu fault list` shows them"))
			}
			kinds.Faults.Delete(tx, name)
		}
		return nil
	})
}

// ResetCounters sets the counters of all rules to nothing and their windows to now.
func (r *Rules) ResetCounters() error {
	return r.update(func(tx *state.Tx) error {
		for k := range kinds.Faults.All(tx.View) {
			fresh := *k
			fresh.Seen, fresh.Hits, fresh.Since = 0, 0, tx.Now()
			kinds.Faults.Put(tx, &fresh)
		}
		return nil
	})
}

// Requires returns a line for each thing without which no client can call, and for each rule that a
// start would skip. The view must see everything. It serves state.Config.
func Requires(v *state.View) []string {
	problems := kinds.Requires(v)
	for k := range kinds.Faults.All(v) {
		if _, err := parse(k); err != nil {
			problems = append(problems, fmt.Sprintf("fault rule %s: %s", k.Name, err))
		}
	}
	if err := checkSize(v); err != nil {
		problems = append(problems, err.Error())
	}
	return problems
}
