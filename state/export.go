package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/clbemu/clbemu/state/engine"
)

// Export is the whole state as one JSON document: tables by kind, in each the
// resources in order of id.
type Export struct {
	SchemaVersion int
	Tables        map[Kind][]json.RawMessage
}

// Export returns everything that is durable now.
func (s *Store) Export() (*Export, error) {
	out := &Export{SchemaVersion: engine.SchemaVersion, Tables: make(map[Kind][]json.RawMessage)}
	err := s.View(Owner{}, func(v *View) error {
		for _, k := range s.schema.all() {
			t := k.table
			for id, r := range t.all(v) {
				change, err := encode(t.name(), id, r)
				if err != nil {
					return err
				}
				out.Tables[t.name()] = append(out.Tables[t.name()], change.Value)
			}
		}
		return nil
	})
	return out, err
}

// ReadExport reads an Export, refusing what this version does not know.
func (s *Store) ReadExport(r io.Reader) (*Export, error) {
	var e Export
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return nil, fmt.Errorf("not an exported state: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("not an exported state: there is more behind it")
	}
	if e.SchemaVersion < 1 || e.SchemaVersion > engine.SchemaVersion {
		return nil, fmt.Errorf("the exported state has schema version %d, this clbemu reads 1 to %d", e.SchemaVersion, engine.SchemaVersion)
	}
	for kind := range e.Tables {
		if _, ok := s.schema.kinds[kind]; !ok {
			return nil, fmt.Errorf("unknown table %q", kind)
		}
	}
	return &e, nil
}

// Import replaces everything by the exported state, in one transaction. A state
// that breaks an invariant is refused and changes nothing.
func (s *Store) Import(e *Export) error {
	return s.Update(Owner{}, func(tx *Tx) error {
		clearAll(tx)
		for _, k := range s.schema.all() {
			t := k.table
			for i, value := range e.Tables[t.name()] {
				if err := t.insert(tx, value); err != nil {
					return fmt.Errorf("%s, entry %d: %w", t.name(), i, err)
				}
			}
		}
		if _, ok := Sequences.Find(tx.View, sequenceID); !ok {
			return fmt.Errorf("the exported state has no %s", Sequences.kind)
		}
		if problems := checkInvariants(tx.View); len(problems) > 0 {
			return fmt.Errorf("the exported state is inconsistent: %s", problems[0])
		}
		return nil
	})
}

// Reset deletes everything but the sequence, so that no id is minted twice, and
// then runs plant to put a new world in place, all in one transaction.
func (s *Store) Reset(plant func(*Tx) error) error {
	return s.Update(Owner{}, func(tx *Tx) error {
		sequence, ok := Sequences.Find(tx.View, sequenceID)
		clearAll(tx)
		if ok {
			Sequences.Put(tx, sequence)
		}
		return plant(tx)
	})
}

func clearAll(tx *Tx) {
	for _, k := range tx.schema.all() {
		t := k.table
		for id := range t.all(tx.View) {
			t.delete(tx, id)
		}
	}
}

// Empty tells whether nothing was ever put into the store.
func (v *View) Empty() bool {
	for _, k := range v.schema.all() {
		t := k.table
		if t.name() == Sequences.kind {
			continue
		}
		for range t.all(v) {
			return false
		}
	}
	return true
}
