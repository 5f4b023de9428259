package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/clbemu/clbemu/state/engine"
)

// Check verifies that the working set and the engine hold the same, and every
// invariant of the resources. It returns one line a problem. Writers wait while
// it runs.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	for pending := s.newestPending(); pending != nil; pending = s.newestPending() {
		s.writing.Unlock()
		<-pending.done
		s.writing.Lock()
	}
	if s.closed {
		return nil, ErrClosed
	}
	v := s.view(s.visible.Load().reading(), Owner{})
	problems := s.problems(v)
	if s.engine == (discardEngine{}) {
		return problems, nil
	}
	kept, err := s.compareWithEngine(ctx, v)
	if errors.Is(err, engine.ErrDamaged) {
		return append(problems, err.Error()), nil
	}
	return append(problems, kept...), err
}

func (s *Store) compareWithEngine(ctx context.Context, v *View) ([]string, error) {
	memory := make(map[changeKey][]byte)
	for change, err := range s.encoded(v) {
		if err != nil {
			return nil, err
		}
		memory[changeKey{Kind(change.Table), change.ID}] = change.Value
	}
	upgrade := make(map[changeKey][]byte)
	for _, change := range s.upgrade {
		upgrade[changeKey{Kind(change.Table), change.ID}] = change.Value
	}
	var problems []string
	err := s.engine.Load(ctx, func(table, id string, value []byte) error {
		key := changeKey{Kind(table), id}
		if changed, ok := upgrade[key]; ok {
			if value = changed; value == nil {
				return nil
			}
		}
		got, ok := memory[key]
		if !ok {
			problems = append(problems, fmt.Sprintf("%s %s is kept but not in the working set", table, id))
		} else if !s.schema.sameValue(key.kind, id, got, value) {
			problems = append(problems, fmt.Sprintf("%s %s differs between the working set and what is kept", table, id))
		}
		delete(memory, key)
		return nil
	})
	for key := range memory {
		problems = append(problems, fmt.Sprintf("%s %s is in the working set but not kept", key.kind, key.id))
	}
	slices.Sort(problems)
	return problems, err
}

// sameValue reports whether the kept value equals the one in memory: to the byte, or as it
// is read, for a row written before a field was added.
func (s *Schema) sameValue(kind Kind, id string, memory, kept []byte) bool {
	if bytes.Equal(memory, kept) {
		return true
	}
	r, _, err := s.kinds[kind].table.decode(kept)
	if err != nil {
		return false
	}
	change, err := encode(kind, id, r)
	return err == nil && bytes.Equal(memory, change.Value)
}

// Checker collects what is wrong with a state.
type Checker struct {
	v        *View
	problems []string
}

// View returns the state to check. It sees everything.
func (c *Checker) View() *View { return c.v }

// Fail reports a problem.
func (c *Checker) Fail(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// refers checks that a resource, if it names another, names one that exists and
// belongs to the same account and region.
func refers[T, U any](c *Checker, from *Table[T], r *T, to *Table[U], id string) {
	if id == "" {
		return
	}
	target, ok := to.Find(c.v, id)
	if !ok {
		c.Fail("%s %s refers to %s %s, which does not exist", from.kind, from.id(r), to.kind, id)
		return
	}
	a, ok := any(r).(owned)
	if b, also := any(target).(owned); ok && also && !inReach(a.Belonging(), b.Belonging()) {
		c.Fail("%s %s refers to %s %s, which belongs to another account or region", from.kind, from.id(r), to.kind, id)
	}
}

// inReach reports whether a resource of one owner may name one of another, which may be
// of no region.
func inReach(from, to Owner) bool {
	return from.AccountID == to.AccountID && (from.RegionID == to.RegionID || to.RegionID == "")
}

// belongs is like refers, but fails if id is empty.
func belongs[T, U any](c *Checker, from *Table[T], r *T, to *Table[U], id string) {
	if id == "" {
		c.Fail("%s %s belongs to no %s", from.kind, from.id(r), to.kind)
	}
	refers(c, from, r, to, id)
}

// Among checks that a word is a known one.
func Among[T any, S ~string](c *Checker, from *Table[T], r *T, what string, word S, words ...S) {
	if !slices.Contains(words, word) {
		c.Fail("%s %s has the %s %q, want one of %q", from.kind, from.id(r), what, word, words)
	}
}

// Between checks that a number is within its bounds.
func Between[T any](c *Checker, from *Table[T], r *T, what string, n, least, most int) {
	if n < least || n > most {
		c.Fail("%s %s has the %s %d, want %d to %d", from.kind, from.id(r), what, n, least, most)
	}
}

// problems lists everything that is wrong with a state; v must see all of it.
func (s *Store) problems(v *View) []string { return append(checkInvariants(v), s.requires(v)...) }

// checkInvariants looks at every resource; v must see all of them.
func checkInvariants(v *View) []string {
	c := &Checker{v: v, problems: checkTallies(v)}
	for _, k := range v.schema.all() {
		if len(k.references) == 0 && len(k.checks) == 0 {
			continue
		}
		for _, r := range k.table.all(v) {
			for _, check := range k.references {
				check(c, r)
			}
			for _, check := range k.checks {
				check(c, r)
			}
		}
	}
	return c.problems
}

// DropUnsound removes each resource that breaks an invariant of its kind, with what belongs to it,
// until none does: what refers to what was never there goes. It calls dropped with the reason of
// each. The transaction must see all resources.
func (tx *Tx) DropUnsound(dropped func(kind Kind, id, reason string)) {
	for removed := true; removed; {
		removed = false
		for _, k := range tx.schema.all() {
			if k.setting || len(k.references)+len(k.checks) == 0 {
				continue
			}
			for id, r := range k.table.all(tx.View) {
				if reason := k.unsound(tx.View, r); reason != "" {
					dropped(k.name, id, reason)
					k.table.remove(tx, id)
					removed = true
				}
			}
		}
	}
}

// unsound returns the first invariant that a row breaks, or "" if there is none.
func (k *kind) unsound(v *View, r any) string {
	c := &Checker{v: v}
	for _, check := range append(k.references[:len(k.references):len(k.references)], k.checks...) {
		if check(c, r); len(c.problems) > 0 {
			return c.problems[0]
		}
	}
	return ""
}
