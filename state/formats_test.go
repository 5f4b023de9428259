package state_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/bolt"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// version1 puts the database that clbemu wrote when its schema had version 1
// into a folder.
func version1(t *testing.T) (dir string) {
	t.Helper()
	packed, err := os.Open(filepath.Join("testdata", "version1.db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, bolt.FileName), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// tablesOf is what an export holds, as JSON that can be compared.
func tablesOf(t *testing.T, text []byte) any {
	t.Helper()
	var e struct{ Tables any }
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatal(err)
	}
	return e.Tables
}

func exportedVersion1(t *testing.T) any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "version1.json"))
	if err != nil {
		t.Fatal(err)
	}
	return tablesOf(t, text)
}

// A database of version 1 is read as it is by what only reads, and brought up to
// date by what writes; either way it holds what its clbemu exported of it.
func TestVersion1(t *testing.T) {
	dir := version1(t)
	path := filepath.Join(dir, bolt.FileName)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	opens := []struct {
		name string
		open func(string) (*bolt.Engine, error)
	}{{"to be read", bolt.OpenReadOnly}, {"to be written", bolt.Open}, {"again", bolt.Open}}
	for _, o := range opens {
		e, err := o.open(dir)
		if err != nil {
			t.Fatalf("%s: %v", o.name, err)
		}
		s := open(t, e)
		// The time of the file's transitions has come, but not on this clock.
		if got := exported(t, s); !reflect.DeepEqual(tablesOf(t, []byte(got)), exportedVersion1(t)) {
			t.Errorf("%s: the state is\n%s", o.name, got)
		}
		checkAndClose(t, s)
		if after, err := os.ReadFile(path); err != nil || o.name == "to be read" && !bytes.Equal(before, after) {
			t.Errorf("%s: the file was changed (%v)", o.name, err)
		}
	}
	if after, err := os.ReadFile(path); err != nil || bytes.Equal(before, after) {
		t.Errorf("the file was not brought up to date (%v)", err)
	}
}

// A state that version 1 exported can be imported.
func TestImportOfVersion1(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "version1.json"))
	if err != nil {
		t.Fatal(err)
	}
	s := opened(t, &memory.Engine{})
	if err := imported(s, string(text)); err != nil {
		t.Fatal(err)
	}
	if got := exported(t, s); !reflect.DeepEqual(tablesOf(t, []byte(got)), exportedVersion1(t)) {
		t.Errorf("the imported state is\n%s", got)
	}
}

// A row from before a field was added is as good as one with it, and one with a
// field that is not known here is served with a warning.
func TestRowsOfOtherVersions(t *testing.T) {
	e := &memory.Engine{}
	s := open(t, e)
	update(t, s, state.Owner{}, plant)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	account := hangzhou.AccountID
	rows := engine.ChangeSet{
		{Table: "Account", ID: account, Value: []byte(`{"ID":"` + account + `"}`)}, // without fields that are always written
		{Table: "Account", ID: "new", Value: []byte(`{"ID":"new","Shoe":7}`)},
		{Table: "Account", ID: "newer", Value: []byte(`{"ID":"newer","Shoe":8}`)},
	}
	if err := e.Commit(t.Context(), []engine.ChangeSet{rows}); err != nil {
		t.Fatal(err)
	}
	var said []string
	s, err := state.Open(t.Context(), state.Config{Schema: cloud.Schema, Engine: e, Warn: func(what string) { said = append(said, what) }})
	if err != nil {
		t.Fatal(err)
	}
	if len(said) != 1 || !strings.Contains(said[0], "Account") || !strings.Contains(said[0], `"Shoe"`) {
		t.Errorf("warnings = %q, want one of Account and Shoe", said)
	}
	if !hasAccount(t, s, "new") {
		t.Error("the row with an unknown field is not served")
	}
	checkAndClose(t, s)
}
