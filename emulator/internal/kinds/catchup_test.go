package kinds_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// minted makes n server groups and returns their ids.
func minted(t *testing.T, s *state.Store, n int) (ids []string) {
	t.Helper()
	update(t, s, hangzhou, func(tx *state.Tx) error {
		for range n {
			id := tx.NewID(kinds.AccessControlLists.Kind())
			kinds.AccessControlLists.Put(tx, &kinds.AccessControlList{Owner: hangzhou, ID: id, AddressIPVersion: "ipv4"})
			ids = append(ids, id)
		}
		return nil
	})
	return ids
}

// rewound returns an exported state with its sequence at another place.
func rewound(t *testing.T, text string, next uint64) *strings.Reader {
	t.Helper()
	var e struct {
		SchemaVersion int
		Tables        map[string][]json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		t.Fatal(err)
	}
	var sequence state.Sequence
	if err := json.Unmarshal(e.Tables["Sequence"][0], &sequence); err != nil {
		t.Fatal(err)
	}
	sequence.Next = next
	row, err := json.Marshal(sequence)
	if err != nil {
		t.Fatal(err)
	}
	e.Tables["Sequence"][0] = row
	again, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReader(string(again))
}

// An import whose sequence is behind its rows repairs itself and says so; no row is lost
// to the next new row.
func TestImportBehindItsRows(t *testing.T) {
	source := planted(t, &memory.Engine{})
	before := minted(t, source, 50)
	update(t, source, hangzhou, func(tx *state.Tx) error {
		for _, id := range before[5:45] { // with a gap
			kinds.AccessControlLists.Delete(tx, id)
		}
		return nil
	})
	text := exported(t, source)
	for _, seed := range []uint64{1, 99} { // the export's, and another
		s := openSeeded(t, seed)
		e, err := s.ReadExport(rewound(t, text, 0))
		if err != nil {
			t.Fatal(err)
		}
		repaired, err := s.Import(e)
		if err != nil || len(repaired) != 1 || !strings.Contains(repaired[0], "the sequence of ids was at 0, behind those that rows have: it goes on from 50") {
			t.Errorf("Import = %q, %v", repaired, err)
		}
		after := minted(t, s, 100)
		if slices.ContainsFunc(after, func(id string) bool { return slices.Contains(before, id) }) {
			t.Error("an id was minted twice")
		}
	}
	s := openSeeded(t, 1)
	for next, want := range map[uint64]string{1<<62 + 1: "Sequence ids is at 4611686018427387905, want at most", 1<<64 - 2: "Sequence ids is at 18446744073709551614"} {
		e, err := s.ReadExport(rewound(t, text, next))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Import(e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Import with the sequence at %d = %v", next, err)
		}
	}
}

// openSeeded returns a store whose ids come from a seed.
func openSeeded(t *testing.T, seed uint64) *state.Store {
	t.Helper()
	s, err := state.Open(t.Context(), state.Config{Schema: kinds.Schema, Engine: &memory.Engine{}, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { checkAndClose(t, s) })
	return s
}

// A state that comes back does not bring ids back that were minted since.
func TestRestoredStateMintsNoIDTwice(t *testing.T) {
	s := planted(t, &memory.Engine{})
	text := exported(t, s)
	before := minted(t, s, 20)
	if err := imported(s, text); err != nil {
		t.Fatal(err)
	}
	for _, id := range minted(t, s, 20) {
		if slices.Contains(before, id) {
			t.Errorf("%s was minted twice", id)
		}
	}
}

// A minted id is no row's, whatever the sequence says.
func TestMintedIDsAreFree(t *testing.T) {
	mints := map[string]func(*state.Tx) string{
		"NewID":                func(tx *state.Tx) string { return tx.NewID(kinds.AccessControlLists.Kind()) },
		"NewCertificateID":     func(tx *state.Tx) string { return tx.NewCertificateID(kinds.ServerCertificates.Kind()) },
		"NewCertificateNumber": func(tx *state.Tx) string { return fmt.Sprint(tx.NewCertificateNumber(kinds.UserCertificates.Kind())) },
		"NewSecretID":          func(tx *state.Tx) string { return tx.NewSecretID(kinds.AccessKeys.Kind(), "STS.", 24) },
	}
	for name, mint := range mints {
		t.Run(name, func(t *testing.T) {
			inTx(t, hangzhou, func(tx *state.Tx) {
				sequence, _ := state.Sequences.Find(tx.View, "ids")
				first := mint(tx)
				kinds.AccessControlLists.Put(tx, &kinds.AccessControlList{Owner: shanghai, ID: first})
				kinds.ServerCertificates.Put(tx, &kinds.ServerCertificate{Owner: shanghai, ID: first})
				kinds.AccessKeys.Put(tx, &kinds.AccessKey{ID: first})
				var number int64
				if fmt.Sscan(first, &number); number > 0 {
					kinds.UserCertificates.Put(tx, &kinds.UserCertificate{ID: number})
				}
				state.Sequences.Put(tx, sequence)
				if second := mint(tx); second == first {
					t.Errorf("%s was minted though a row has it", first)
				}
			})
		})
	}
}
