package kinds_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/bolt"
	"github.com/clbemu/clbemu/state/engine/enginetest"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// version1 are the databases that clbemu wrote when its schema had version 1: one
// with a resource of each kind, and others with the number of load balancers in their
// names, which have listeners, a rule, a server group and tags.
var version1 = []string{"all", "0", "8", "24"}

func unpacked(t *testing.T, name string) []byte {
	t.Helper()
	return unpackedFrom(t, filepath.Join("testdata", name))
}

func unpackedFrom(t *testing.T, path string) []byte {
	t.Helper()
	packed, err := os.Open(path)
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
	return text
}

// tablesOf returns the contents of an export, as comparable JSON.
func tablesOf(t *testing.T, text []byte) any {
	t.Helper()
	var e struct{ Tables any }
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatal(err)
	}
	return e.Tables
}

// A database of version 1 is read as it is by what only reads, and brought up to
// date by what writes; either way it holds what its clbemu exported of it.
func TestVersion1(t *testing.T) {
	for _, name := range version1 {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, bolt.FileName)
			before := unpacked(t, "version1-"+name+".db.gz")
			if err := os.WriteFile(path, before, 0o600); err != nil {
				t.Fatal(err)
			}
			want := tablesOf(t, unpacked(t, "version1-"+name+".json.gz"))
			upgraded(t, dir, before, func(t *testing.T, s *state.Store) {
				// The time of the file's transitions has come, but not on this clock.
				if got := exported(t, s); !reflect.DeepEqual(tablesOf(t, []byte(got)), want) {
					t.Errorf("the state is\n%s", got)
				}
			})
		})
	}
}

// upgraded opens a database of version 1 in turn to be read, to be written, and again.
func upgraded(t *testing.T, dir string, before []byte, look func(*testing.T, *state.Store)) {
	t.Helper()
	path := filepath.Join(dir, bolt.FileName)
	opens := []struct {
		name string
		open func(string) (*bolt.Engine, error)
	}{{"to be read", bolt.OpenReadOnly}, {"to be written", bolt.Open}, {"again", bolt.Open}}
	for _, o := range opens {
		t.Run(o.name, func(t *testing.T) {
			e, err := o.open(dir)
			if err != nil {
				t.Fatal(err)
			}
			s := open(t, e)
			look(t, s)
			checkAndClose(t, s)
			after, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if changed := !bytes.Equal(before, after); changed != (o.name != "to be read") {
				t.Errorf("the file was changed: %t", changed)
			}
		})
	}
}

// TestOlderRegions proves that a region of a state that does not say what it sells is one
// of today.
func TestOlderRegions(t *testing.T) {
	s := opened(t, &memory.Engine{})
	if err := imported(s, string(unpacked(t, "version1-all.json.gz"))); err != nil {
		t.Fatal(err)
	}
	v := s.View(state.Owner{})
	r, err := kinds.Regions.Get(v, "cn-hangzhou")
	if err == nil && (r.Year() != kinds.Today || r.ChargeType("slb.s1.small") != kinds.PayByCLCU) {
		t.Errorf("the region sells what %q sold, and a spec is %s, want today and PayByCLCU", r.Year(), r.ChargeType("slb.s1.small"))
	}
	if err != nil {
		t.Error(err)
	}
}

// A table of version 1 may have many pages.
func TestLargeVersion1(t *testing.T) {
	loadBalancers := 10_000
	if testing.Short() {
		loadBalancers = 500
	}
	kept := &memory.Engine{}
	s := open(t, kept)
	update(t, s, state.Owner{}, plant)
	update(t, s, hangzhou, func(tx *state.Tx) error {
		for n := range loadBalancers {
			id := tx.NewID(kinds.LoadBalancers.Kind())
			ip := fmt.Sprintf("10.0.%d.%d", n/256, n%256)
			kinds.LoadBalancers.Put(tx, &kinds.LoadBalancer{Owner: hangzhou, ID: id, Status: kinds.LoadBalancerActive, Address: ip})
			kinds.Addresses.Put(tx, &kinds.Address{Pool: "public", IP: ip, Holder: kinds.LoadBalancers.Kind(), HolderID: id})
			kinds.Listeners.Put(tx, &kinds.Listener{Owner: hangzhou, LoadBalancerID: id, Port: 80, Status: kinds.ListenerRunning, Protocol: kinds.UDP})
			state.SetTag(tx, kinds.TagLoadBalancer, id, "kubernetes", "yes")
		}
		return nil
	})
	want := exported(t, s)
	dir := t.TempDir()
	path := filepath.Join(dir, bolt.FileName)
	if err := enginetest.WriteVersion1(t.Context(), kept, path); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	upgraded(t, dir, before, func(t *testing.T, s *state.Store) {
		if exported(t, s) != want {
			t.Error("the state is not what it was")
		}
	})
}

// A state that version 1 exported imports.
func TestImportOfVersion1(t *testing.T) {
	for _, name := range version1 {
		text := unpacked(t, "version1-"+name+".json.gz")
		s := opened(t, &memory.Engine{})
		if err := imported(s, string(text)); err != nil {
			t.Fatal(err)
		}
		if got := exported(t, s); !reflect.DeepEqual(tablesOf(t, []byte(got)), tablesOf(t, text)) {
			t.Errorf("%s: the imported state is\n%s", name, got)
		}
	}
}

// A row from before a field was added is as good as one with it, and one with an
// unknown field comes with a warning.
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
	s, err := state.Open(t.Context(), state.Config{Schema: kinds.Schema, Engine: e, Warn: func(what string) { said = append(said, what) }})
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
