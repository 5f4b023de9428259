package kinds_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// exported returns the store's Export as text.
func exported(t testing.TB, s *state.Store) string {
	t.Helper()
	e, err := s.Export()
	if err != nil {
		t.Fatalf("Export: %v", err)
	}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// imported reads and imports the text.
func imported(s *state.Store, text string) error {
	e, err := s.ReadExport(strings.NewReader(text))
	if err != nil {
		return err
	}
	_, err = s.Import(e)
	return err
}

// An exported state, imported elsewhere, replaces all that was there, and is
// still the same after a reopening.
func TestExportImport(t *testing.T) {
	source := planted(t, &memory.Engine{})
	update(t, source, hangzhou, plantHealthy)
	text := exported(t, source)

	e := &memory.Engine{}
	target := open(t, e)
	update(t, target, state.Owner{}, plant)
	update(t, target, state.Owner{}, putAccount("gone"))
	if err := imported(target, text); err != nil {
		t.Fatalf("Import: %v", err)
	}
	if hasAccount(t, target, "gone") || exported(t, target) != text {
		t.Errorf("the imported state is\n%s\nwant\n%s", exported(t, target), text)
	}
	checkAndClose(t, target)
	reopened := opened(t, e)
	if got := exported(t, reopened); got != text {
		t.Errorf("the reopened state is\n%s\nwant\n%s", got, text)
	}
}

// A refused import says what is wrong and changes nothing.
func TestImportRefuses(t *testing.T) {
	const sequence = `"Sequence":[{"ID":"ids","Seed":1,"Next":0}]`
	document := func(tables string) string {
		return fmt.Sprintf(`{"SchemaVersion":1,"Tables":{%s}}`, tables)
	}
	cases := []struct{ name, text, want string }{
		{"not JSON", "state", "not an exported state: invalid character 's' looking for beginning of value"},
		{"nothing", "", "not an exported state: unexpected EOF"},
		{"cut off", `{"SchemaVersion":1,"Tables":{`, "not an exported state: unexpected EOF"},
		{"more behind it", document(sequence) + "{}", "not an exported state: there is more behind it"},
		{"another document", `{"kind":"Pod"}`, `not an exported state: unknown field "kind"`},
		{"newer version", `{"SchemaVersion":3}`, "the exported state has schema version 3, this clbemu reads 1 to 2"},
		{"no version", `{"Tables":{}}`, "the exported state has schema version 0, this clbemu reads 1 to 2"},
		{"unknown table", document(`"Rocket":[]`), `not an exported state: unknown table "Rocket"`},
		{"no sequence", document(``), "the exported state has no Sequence"},
		{"wrong type", document(sequence + `,"Account":[{"ID":"1"},{"ID":1}]`),
			"not an exported state: Account, entry 1: ID can't be of the kind number"},
		{"unknown field", document(sequence + `,"Account":[{"ID":"1","Nmae":"x"}]`), `not an exported state: Account, entry 0: json: unknown field "Nmae"`},
		{"null", document(sequence + `,"Account":[null]`), "not an exported state: Account, entry 0: Account without a usable id"},
		{"the same twice", document(sequence + `,"Account":[{"ID":"1"},{"ID":"1"}]`), "Account, entry 1: there are two with id 1"},
		{"impossible transition", document(sequence + `,"Transition":[{"ID":"Rocket/r-1/on","Kind":"Rocket","ResourceID":"r-1","From":"on"}]`),
			"the exported state is inconsistent: Transition Rocket/r-1/on belongs to a Rocket, which has no such stage"},
		{"inconsistent", document(sequence + `,"VSwitch":[{"ID":"vsw-1","VPCID":"vpc-1"}]`),
			"the exported state is inconsistent: VSwitch vsw-1 refers to VPC vpc-1, which does not exist"},
	}
	s := planted(t, &memory.Engine{})
	before := exported(t, s)
	for _, c := range cases {
		if err := imported(s, c.text); err == nil || err.Error() != c.want {
			t.Errorf("%s: import = %v, want %s", c.name, err, c.want)
		}
		if exported(t, s) != before {
			t.Fatalf("%s: a refused import changed the state", c.name)
		}
	}
}

// Reset replaces everything by the new world; a world that can't be planted
// changes nothing.
func TestReset(t *testing.T) {
	s := planted(t, &memory.Engine{})
	update(t, s, hangzhou, plantHealthy)
	before := exported(t, s)
	if err := s.Reset(func(tx *state.Tx) error { return state.Refuse("NoWorld") }); err == nil || exported(t, s) != before {
		t.Errorf("a failed Reset = %v", err)
	}
	if err := s.Reset(plant); err != nil {
		t.Fatalf("Reset: %v", err)
	}
	fresh := planted(t, &memory.Engine{})
	if got := exported(t, s); got != exported(t, fresh) {
		t.Errorf("after the Reset:\n%s", got)
	}
}

func TestEmpty(t *testing.T) {
	s := opened(t, &memory.Engine{})
	empty := func() (yes bool) {
		view(t, s, state.Owner{}, func(v *state.View) { yes = v.Empty() })
		return yes
	}
	if !empty() {
		t.Error("a new store is not empty")
	}
	update(t, s, state.Owner{}, plant)
	if empty() {
		t.Error("a planted store is empty")
	}
}

// FuzzImport proves that no document makes Import panic or leaves a state that
// breaks an invariant.
func FuzzImport(f *testing.F) {
	s := planted(f, &memory.Engine{})
	update(f, s, hangzhou, plantHealthy)
	healthy := exported(f, s)
	f.Add([]byte(healthy))
	f.Add([]byte(strings.ReplaceAll(healthy, "lb-1", "lb-2")))
	f.Add([]byte(`{"SchemaVersion":1,"Tables":{"Sequence":[{"ID":"ids"}],"Transition":[{"ID":"EIP/eip-1/Associating","Kind":"EIP",` +
		`"ResourceID":"eip-1","From":"Associating","To":"InUse","Due":"2020-01-01T00:00:00Z"}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := s.ReadExport(bytes.NewReader(text))
		if err != nil {
			return
		}
		target := planted(t, &memory.Engine{})
		before := exported(t, target)
		if _, err := target.Import(e); err != nil && exported(t, target) != before {
			t.Error("a refused import changed the state")
		}
	})
}
