package state

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/jsonstream"
)

// Export is the whole state as one JSON document: tables by kind, in each the
// resources in order of id.
type Export struct {
	SchemaVersion int
	Tables        map[Kind]*jsonstream.Texts

	retired []changeKey // rows that an import drops
}

// add keeps a resource in its table.
func (e *Export) add(kind Kind, row json.RawMessage) {
	table := e.Tables[kind]
	if table == nil {
		table = &jsonstream.Texts{}
		e.Tables[kind] = table
	}
	table.Add(row)
}

// Write writes the document.
func (e *Export) Write(w io.Writer) error {
	b := bufio.NewWriter(w) // which keeps the error
	fmt.Fprintf(b, `{"SchemaVersion":%d,"Tables":{`, e.SchemaVersion)
	for i, kind := range slices.Sorted(maps.Keys(e.Tables)) {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, "%q:", kind)
		if err := e.Tables[kind].Write(b); err != nil {
			return err
		}
	}
	b.WriteString("}}\n")
	return b.Flush()
}

// Export returns everything that is durable now.
func (s *Store) Export() (*Export, error) {
	out := &Export{SchemaVersion: engine.SchemaVersion, Tables: make(map[Kind]*jsonstream.Texts)}
	for change, err := range s.encoded(s.View(Owner{})) {
		if err != nil {
			return nil, err
		}
		out.add(Kind(change.Table), change.Value)
	}
	return out, nil
}

// encoded returns each row of a view as the change that writes it.
func (s *Store) encoded(v *View) iter.Seq2[engine.Change, error] {
	return func(yield func(engine.Change, error) bool) {
		for _, k := range s.schema.all() {
			for id, r := range k.table.all(v) {
				if !yield(encode(k.name, id, r)) {
					return
				}
			}
		}
	}
}

// ReadExport reads an Export, refusing what this version does not know. It keeps
// no more of it than its rows, and stops at the first that is none.
func (s *Store) ReadExport(r io.Reader) (*Export, error) {
	e := &Export{Tables: make(map[Kind]*jsonstream.Texts)}
	document := jsonstream.New(r)
	err := document.Object(func(key string) error {
		switch key {
		case "SchemaVersion":
			return document.Value(&e.SchemaVersion)
		case "Tables":
			return document.Object(func(kind string) error { return e.readTable(s.schema, document, Kind(kind)) })
		}
		return fmt.Errorf("unknown field %.100q", key)
	})
	if err == nil {
		err = document.End()
	}
	if err != nil {
		return nil, fmt.Errorf("not an exported state: %w", jsonstream.InWords(err))
	}
	if e.SchemaVersion < 1 || e.SchemaVersion > engine.SchemaVersion {
		return nil, fmt.Errorf("the exported state has schema version %d, this clbemu reads 1 to %d", e.SchemaVersion, engine.SchemaVersion)
	}
	return e, nil
}

func (e *Export) readTable(schema *Schema, document *jsonstream.Reader, kind Kind) error {
	k, ok := schema.kinds[kind]
	_, gone := schema.retired[kind]
	if !ok && !gone {
		return fmt.Errorf("unknown table %.100q", kind)
	}
	n := 0
	return document.Array(func() error {
		var row json.RawMessage
		if err := document.Value(&row); err != nil {
			return err
		}
		if gone {
			id, err := retiredID(row)
			if err != nil {
				return fmt.Errorf("%s, entry %d: %w", kind, n, jsonstream.InWords(err))
			}
			e.retired = append(e.retired, changeKey{kind, id})
			n++
			return nil
		}
		r, unknown, err := k.table.decode(row)
		if err = cmp.Or(err, unknown); err != nil {
			return fmt.Errorf("%s, entry %d: %w", kind, n, jsonstream.InWords(err))
		}
		if k.retired != nil && k.retired(r) {
			e.retired = append(e.retired, changeKey{kind, k.table.idOf(r)})
		}
		e.add(kind, row)
		n++
		return nil
	})
}

// Import replaces everything by the exported state, in one transaction. A state
// that breaks an invariant is refused and changes nothing. Repaired has a line for
// each fault that it repaired, and each row that it dropped.
func (s *Store) Import(e *Export) (repaired []string, err error) {
	err = s.Update(Owner{}, func(tx *Tx) error {
		before, _ := Sequences.Find(tx.View, sequenceID)
		clearAll(tx)
		for _, k := range s.schema.all() {
			t := k.table
			n := 0
			for row := range e.Tables[t.name()].All() {
				if err := t.insert(tx, row); err != nil {
					return fmt.Errorf("%s, entry %d: %w", t.name(), n, err)
				}
				n++
			}
		}
		if _, ok := Sequences.Find(tx.View, sequenceID); !ok {
			return fmt.Errorf("the exported state has no %s", Sequences.kind)
		}
		repaired = tx.dropRetired(e.retired)
		if problems := s.problems(tx.View); len(problems) > 0 {
			return fmt.Errorf("the exported state is inconsistent: %s", problems[0])
		}
		if line := tx.catchUp(before); line != "" {
			repaired = append(repaired, line)
		}
		return nil
	})
	return repaired, err
}

// Reset deletes everything but the sequence, so that ids stay unique, and the
// rows of some kinds, and then runs plant to put a new world in place, all in one
// transaction. The emulated time is the base clock's again, also for plant.
func (s *Store) Reset(plant func(*Tx) error, kept ...Kind) error {
	return s.Update(Owner{}, func(tx *Tx) error {
		clearAll(tx, append(kept, Sequences.kind)...)
		tx.now = s.clock.Now()
		return plant(tx)
	})
}

func clearAll(tx *Tx, kept ...Kind) {
	for _, k := range tx.schema.all() {
		if slices.Contains(kept, k.name) {
			continue
		}
		t := k.table
		for id := range t.all(tx.View) {
			t.delete(tx, id)
		}
	}
}

// Empty reports whether nothing was ever put into the store, but for what only counts:
// fault rules are no part of a world.
func (v *View) Empty() bool {
	for _, k := range v.schema.all() {
		t := k.table
		if t.name() == Sequences.kind || k.counter {
			continue
		}
		for range t.all(v) {
			return false
		}
	}
	return true
}
