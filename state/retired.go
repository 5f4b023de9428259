package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/clbemu/clbemu/state/engine"
)

// retired is a kind of older versions.
type retired struct {
	tag  TagResourceType
	drop func(tx *Tx, id string)
}

// Retire declares a kind that older versions had and this one does not. A state that is
// opened or imported loses its rows, with their tags and transitions; drop takes out what
// other rows have of one, and may be nil.
func (s *Schema) Retire(name Kind, tag TagResourceType, drop func(tx *Tx, id string)) Kind {
	s.retired[name] = retired{tag, drop}
	return name
}

// Retire declares rows of the kind that this version no longer has. A state that is opened
// or imported loses them, as by Remove.
func (t *Table[T]) Retire(is func(*T) bool) *Table[T] {
	t.declared.retired = func(r any) bool { return is(r.(*T)) }
	return t
}

// dropRetired takes retired rows out of the state, and returns a line for each. The
// transaction sees everything.
func (tx *Tx) dropRetired(rows []changeKey) (lines []string) {
	if len(rows) == 0 {
		return nil
	}
	for t := range Transitions.All(tx.View) {
		if _, ok := tx.schema.retired[t.Kind]; ok {
			Transitions.Delete(tx, t.ID)
		}
	}
	for _, row := range rows {
		lines = append(lines, fmt.Sprintf("%s %s is dropped: this version does not emulate it", row.kind, row.id))
		gone, ok := tx.schema.retired[row.kind]
		if !ok {
			tx.schema.kinds[row.kind].table.remove(tx, row.id)
			continue
		}
		DeleteTagsOf(tx, gone.tag, row.id)
		tx.forgetTokensOf(row.id)
		if gone.drop != nil {
			gone.drop(tx, row.id)
		}
	}
	return lines
}

// retire drops the retired rows of a state that was loaded. It keeps what that changes in
// upgrade, for the engine, and says what went.
func (s *Store) retire(loaded *workingSet, rows []changeKey) (*workingSet, error) {
	s.upgrade = nil
	if len(rows) == 0 {
		return loaded, nil
	}
	txn := loaded.writing()
	tx := newTx(s.view(txn, Owner{}))
	for _, line := range tx.dropRetired(rows) {
		s.warn(line)
	}
	set, err := tx.changeSet()
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if _, ok := s.schema.retired[row.kind]; ok {
			set = append(set, engine.Change{Table: string(row.kind), ID: row.id})
		}
	}
	s.upgrade = set
	return txn.committed(), nil
}

// writeUpgrade gives the engine what opening the state dropped, before anything else. The
// caller holds the lock of writers.
func (s *Store) writeUpgrade() {
	if s.upgrade == nil {
		return
	}
	now := s.view(s.newest.reading(), Owner{}).now
	b := s.enqueue(s.upgrade, snapshot{s.newest, now, len(s.upgrade), ByTime})
	b.upgrade, s.upgrade = s.upgrade, nil
}

// upgraded leaves of an upgrade what another process did not write.
func upgraded(upgrade, written engine.ChangeSet) engine.ChangeSet {
	left := slices.DeleteFunc(slices.Clone(upgrade), func(c engine.Change) bool {
		return slices.ContainsFunc(written, func(w engine.Change) bool { return w.Table == c.Table && w.ID == c.ID })
	})
	if len(left) == 0 {
		return nil
	}
	return left
}

// retiredID returns the id in an exported row of a retired kind.
func retiredID(row []byte) (string, error) {
	var r struct{ ID string }
	if err := json.Unmarshal(row, &r); err != nil {
		return "", err
	}
	if r.ID == "" {
		return "", errors.New("no ID")
	}
	return r.ID, nil
}
