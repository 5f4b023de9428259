package control

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gorilla/mux"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/gateway"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

// Faults keeps the fault rules in the store and in the injector that the gateway
// asks, and checks those that are written.
type Faults struct {
	Injector *faults.Injector

	store    *state.Store
	products []*gateway.Product

	parsed map[string]faults.Rule // those in force, by their texts
	// recovered is how often the store had recovered when the rules were armed.
	recovered atomic.Uint64

	mu      sync.Mutex
	skipped []controlapi.SkippedFault
}

// The bounds of all fault rules together, in number and in bytes of their texts.
const (
	maxRules     = 10_000
	maxRuleBytes = 16 << 20
)

// NewFaults arms the rules that the store holds, but for those that can't be armed.
func NewFaults(store *state.Store, products []*gateway.Product) *Faults {
	f := &Faults{Injector: &faults.Injector{}, store: store, products: products}
	f.Injector.Record = f.record
	f.Injector.Change(f.arm)
	return f
}

// Change runs commit, which changes the rules that the store holds, and arms what
// it then holds. One change waits for another, and calls that rules are about wait
// for it, so that the injector is never behind the store.
func (f *Faults) Change(commit func() error) (err error) {
	f.Injector.Change(func() {
		err = commit()
		f.arm() // also after an error: what became of the change may not be known
	})
	return err
}

// Follow arms the rules again if the store has found out since what became of a change
// that nobody knew to be kept.
func (f *Faults) Follow() {
	if f.store.Recovered() != f.recovered.Load() {
		f.Injector.Change(f.arm)
	}
}

// Skipped are the rules of the store that are not in force, with the reason.
func (f *Faults) Skipped() []controlapi.SkippedFault {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.skipped
}

// arm brings the injector to what the store holds.
func (f *Faults) arm() {
	f.recovered.Store(f.store.Recovered())
	var list []faults.Status
	var skipped []controlapi.SkippedFault
	parsed := make(map[string]faults.Rule, len(f.parsed))
	// The function returns no error, so neither does View.
	_ = f.store.View(state.Owner{}, func(v *state.View) error {
		kept := slices.SortedFunc(cloud.Faults.All(v), func(a, b *cloud.Fault) int { return cmp.Compare(a.Position, b.Position) })
		for _, k := range kept {
			rule, known := f.parsed[k.Rule]
			if !known || rule.Name != k.Name {
				var err error
				if rule, err = ruleKept(k); err != nil {
					skipped = append(skipped, controlapi.SkippedFault{Name: k.Name, Rule: k.Rule, Problem: err.Error()})
					continue
				}
			}
			parsed[k.Rule] = rule
			list = append(list, faults.Status{Rule: rule, Text: k.Rule, Since: k.Since, Seen: k.Seen, Hits: k.Hits})
		}
		return nil
	})
	if err := f.Injector.Set(list); err != nil {
		panic(err) // each was parsed, and has the name of its row
	}
	f.parsed = parsed
	f.mu.Lock()
	defer f.mu.Unlock()
	f.skipped = skipped
}

// ruleKept is the rule of a row. A newer version may have written one that this
// one does not know.
func ruleKept(k *cloud.Fault) (faults.Rule, error) {
	rules, err := faults.Parse([]byte(k.Rule))
	switch {
	case err != nil:
		return faults.Rule{}, err
	case len(rules) != 1 || rules[0].Name != k.Name:
		return faults.Rule{}, fmt.Errorf("its text is not one rule of that name")
	}
	return rules[0], nil
}

// roomForRules refuses more rules than there may be.
func roomForRules(v *state.View) error {
	number, bytes := 0, 0
	for k := range cloud.Faults.All(v) {
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
func (f *Faults) record(s faults.Status) {
	// A count that can't be kept is no reason to spare the call; the store's own
	// failure shows in every write.
	_ = f.store.Update(state.Owner{}, func(tx *state.Tx) error {
		kept, ok := cloud.Faults.Find(tx.View, s.Rule.Name)
		if !ok || kept.Seen >= s.Seen {
			return nil
		}
		counted := *kept
		counted.Seen, counted.Hits = s.Seen, s.Hits
		cloud.Faults.Put(tx, &counted)
		return nil
	})
}

// Add appends the rules of a text to the list, and returns them; file is its name in
// errors. A rule replaces one with the same name in its position, with new counters.
func (f *Faults) Add(file string, text []byte) ([]faults.Rule, error) {
	rules, err := faults.ParseFile(file, text, names.Of(f.store.Schema(), f.products).ResolveFault)
	if err != nil {
		return nil, err
	}
	return rules, f.update(func(tx *state.Tx) error {
		next := 0
		for k := range cloud.Faults.All(tx.View) {
			next = max(next, k.Position+1)
		}
		for _, rule := range rules {
			position := next
			if old, ok := cloud.Faults.Find(tx.View, rule.Name); ok {
				position = old.Position
			} else {
				next++
			}
			cloud.Faults.Put(tx, &cloud.Fault{Name: rule.Name, Position: position, Rule: rule.String(), Since: tx.Now()})
		}
		return roomForRules(tx.View)
	})
}

// Reset resets the store and plants a world, and keeps the rules, unless they are to be
// dropped: the user's, and not a part of the world.
func (f *Faults) Reset(plant func(*state.Tx) error, drop bool) error {
	var kept []state.Kind
	if !drop {
		kept = []state.Kind{cloud.Faults.Kind()}
	}
	return f.Change(func() error {
		return f.store.Reset(func(tx *state.Tx) error {
			for k := range cloud.Faults.All(tx.View) {
				if k.Since.After(tx.Now()) { // the time went back
					rule := *k
					rule.Since = tx.Now()
					cloud.Faults.Put(tx, &rule)
				}
			}
			return plant(tx)
		}, kept...)
	})
}

// update is Change by a transaction.
func (f *Faults) update(change func(*state.Tx) error) error {
	return f.Change(func() error { return f.store.Update(state.Owner{}, change) })
}

// errNoRule is the answer about a rule that there is not.
var errNoRule = errors.New("there is no such fault rule")

// Delete removes rules by name, all when none is named.
func (f *Faults) Delete(rules ...string) error {
	return f.update(func(tx *state.Tx) error {
		var known []string
		for k := range cloud.Faults.All(tx.View) {
			known = append(known, k.Name)
			if len(rules) == 0 {
				cloud.Faults.Delete(tx, k.Name)
			}
		}
		for _, name := range rules {
			if !slices.Contains(known, name) {
				return fmt.Errorf("%w: %s%s", errNoRule, name, names.DidYouMean(name, known, "`clbemu fault list` shows them"))
			}
			cloud.Faults.Delete(tx, name)
		}
		return nil
	})
}

// Restart sets the counters of all rules to nothing and their windows to now.
func (f *Faults) Restart() error {
	return f.update(func(tx *state.Tx) error {
		for k := range cloud.Faults.All(tx.View) {
			fresh := *k
			fresh.Seen, fresh.Hits, fresh.Since = 0, 0, tx.Now()
			cloud.Faults.Put(tx, &fresh)
		}
		return nil
	})
}

func ruleOf(s faults.Status) controlapi.FaultRule {
	return controlapi.FaultRule{Name: s.Rule.Name, Rule: s.Text, At: string(s.Rule.Point()), Since: s.Since, Seen: s.Seen, Hits: s.Hits, Spent: s.Spent()}
}

func (a *api) answerFaults(w http.ResponseWriter) {
	list := []controlapi.FaultRule{}
	for _, s := range a.Faults.Injector.Rules() {
		list = append(list, ruleOf(s))
	}
	answer(w, http.StatusOK, controlapi.FaultRules{Faults: list, Skipped: a.Faults.Skipped()})
}

func (a *api) getFaults(w http.ResponseWriter, _ *http.Request) {
	a.Faults.Follow()
	a.answerFaults(w)
}

// addFaults takes rules as YAML, of which JSON is a part.
func (a *api) addFaults(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		fail(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body must not exceed %d bytes", maxRequest))
		return
	}
	rules, err := a.Faults.Add(r.URL.Query().Get("file"), text)
	if err != nil {
		a.failChange(w, "add fault rules", err)
		return
	}
	var added []string
	for _, rule := range rules {
		added = append(added, rule.Name, rule.String())
	}
	a.changed(journal.KindFault, "add fault rules", added...)
	a.answerFaults(w)
}

func (a *api) deleteFaults(w http.ResponseWriter, r *http.Request) {
	var names []string
	if name := mux.Vars(r)["name"]; name != "" {
		names = []string{name}
	}
	switch err := a.Faults.Delete(names...); {
	case errors.Is(err, errNoRule):
		fail(w, http.StatusNotFound, err.Error())
	case err != nil:
		a.failInside(w, "delete fault rules", err)
	default:
		a.changed(journal.KindFault, "delete fault rules", "name", cmp.Or(mux.Vars(r)["name"], "all"))
		a.answerFaults(w)
	}
}

func (a *api) restartFaults(w http.ResponseWriter, _ *http.Request) {
	if err := a.Faults.Restart(); err != nil {
		a.failInside(w, "restart the fault rules", err)
		return
	}
	a.changed(journal.KindFault, "reset fault rules")
	a.answerFaults(w)
}
