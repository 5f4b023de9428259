package control_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/snapshots"
	"github.com/clbemu/clbemu/state"
)

// namesOf returns the names in a list.
func namesOf(list controlapi.Snapshots) string {
	var names []string
	for _, s := range list.Snapshots {
		names = append(names, s.Name)
	}
	return strings.Join(names, " ")
}

// TestSnapshots proves that a state that was kept comes back, in memory and in a
// folder, that a name can be used again, and that a deleted one is gone.
func TestSnapshots(t *testing.T) {
	for name, dir := range map[string]string{"memory": "", "folder": filepath.Join(t.TempDir(), "data")} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, func(cfg *control.Config) { cfg.Snapshots = snapshots.New(dir) })
			lose := func() {
				if err := f.store.Update(state.Owner{}, func(tx *state.Tx) error {
					kinds.RouteEntries.Delete(tx, firstRouteEntry(tx.View))
					return nil
				}); err != nil {
					t.Fatal(err)
				}
			}
			exported := func() string { return f.send("GET", "/v1/state", "", nil).Body.String() }
			var got controlapi.Snapshots
			f.ask("GET", "/v1/snapshots", "", 200, &got)
			if got.Snapshots == nil || len(got.Snapshots) != 0 {
				t.Errorf("snapshots = %+v, want an empty list", got)
			}
			first := exported()
			f.ask("PUT", "/v1/snapshots/b", "", 200, nil)
			f.ask("PUT", "/v1/snapshots/a.1_x-Y", "", 200, &got)
			if namesOf(got) != "a.1_x-Y b" || got.Snapshots[0].Bytes < 1000 || got.Snapshots[0].Taken.IsZero() {
				t.Errorf("snapshots = %+v, want both with time and size", got)
			}
			lose()
			second := exported()
			f.ask("PUT", "/v1/snapshots/b", "", 200, nil)
			f.ask("POST", "/v1/snapshots/a.1_x-Y/restore", "", 200, nil)
			if exported() != first {
				t.Error("the restored state is not the one that was taken")
			}
			f.ask("POST", "/v1/snapshots/b/restore", "", 200, nil)
			if exported() != second {
				t.Error("the restored state is not the one that took the name over")
			}
			f.ask("DELETE", "/v1/snapshots/b", "", 200, &got)
			if namesOf(got) != "a.1_x-Y" {
				t.Errorf("snapshots after a deletion = %+v, want one", got)
			}
			f.mustRefuse("POST", "/v1/snapshots/b/restore", "", 404, "no such snapshot: b")
			f.mustRefuse("DELETE", "/v1/snapshots/b", "", 404, "no such snapshot: b")
		})
	}
}

// TestSnapshotFiles proves that snapshots are files that nobody else can read,
// that a restart finds them, and that what else is in the folder is not one.
func TestSnapshotFiles(t *testing.T) {
	dir := t.TempDir()
	inDir := func(cfg *control.Config) { cfg.Snapshots = snapshots.New(dir) }
	f := newFixture(t, inDir)
	f.ask("PUT", "/v1/snapshots/s", "", 200, nil)
	path := filepath.Join(dir, "snapshots", "s.json")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("Stat(%s) = %v, %v, want mode 0600", path, info, err)
	}
	for _, name := range []string{".taking-1", "readme.txt", "-x.json", "a b.json"} {
		if err := os.WriteFile(filepath.Join(dir, "snapshots", name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got controlapi.Snapshots
	f = newFixture(t, inDir)
	f.ask("GET", "/v1/snapshots", "", 200, &got)
	if namesOf(got) != "s" {
		t.Errorf("snapshots after a restart = %+v, want s alone", got)
	}
	f.ask("POST", "/v1/snapshots/s/restore", "", 200, nil)
}

// TestSnapshotLeftOvers proves that what a crash left of a snapshot is cleaned up,
// and nothing else is.
func TestSnapshotLeftOvers(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "snapshots")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".taking-1", ".s.json.77.unfinished", "s.json", ".mine"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := snapshots.New(dir).CleanUp(); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 2 || files[0].Name() != ".mine" || files[1].Name() != "s.json" {
		t.Errorf("left are %v (%v), want .mine and s.json", files, err)
	}
}

// TestSnapshotRefusals proves that a name is no path, and that a snapshot that
// is no sound state is refused and changes nothing.
func TestSnapshotRefusals(t *testing.T) {
	dir := t.TempDir()
	f := newFixture(t, func(cfg *control.Config) { cfg.Snapshots = snapshots.New(filepath.Join(dir, "data")) })
	if err := os.WriteFile(filepath.Join(dir, "outside.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"..%2F..%2Foutside", ".hidden", "-a", "a%20b", "a%00", strings.Repeat("a", 81)} {
		for _, call := range []string{"PUT /v1/snapshots/NAME", "POST /v1/snapshots/NAME/restore", "DELETE /v1/snapshots/NAME"} {
			method, path, _ := strings.Cut(strings.Replace(call, "NAME", name, 1), " ")
			if w := f.send(method, path, "", nil); w.Code < 300 || w.Code == 500 {
				t.Errorf("%s %s = %d %s, want a refusal", method, path, w.Code, w.Body)
			}
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("the folder holds %v, %v, want the file outside alone", files, err)
	}
	f.ask("PUT", "/v1/snapshots/s", "", 200, nil)
	export := f.send("GET", "/v1/state", "", nil).Body.String()
	inconsistent := strings.ReplaceAll(export, `"VPCID":"vpc-bp1clbemu000000000002"`, `"VPCID":"vpc-none"`)
	for text, want := range map[string]string{"{}": "schema version", inconsistent: "vpc-none"} {
		if err := os.WriteFile(filepath.Join(dir, "data", "snapshots", "s.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f.mustRefuse("POST", "/v1/snapshots/s/restore", "", 422, want)
	}
	if again := f.send("GET", "/v1/state", "", nil).Body.String(); again != export {
		t.Error("a refused restore changed the state")
	}
}

// TestSnapshotFailure proves that a folder that can't be written is an error of
// the emulator, and leaves nothing half made. It says which file, and not where it is.
func TestSnapshotFailure(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "snapshots"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, func(cfg *control.Config) { cfg.Snapshots = snapshots.New(dir) })
	f.mustRefuse("PUT", "/v1/snapshots/s", "", 500, "take a snapshot")
	f.mustRefuse("GET", "/v1/snapshots", "", 500, "list the snapshots")
	for _, call := range []string{"PUT /v1/snapshots/s", "GET /v1/snapshots"} {
		method, path, _ := strings.Cut(call, " ")
		if w := f.send(method, path, "", nil); strings.Contains(w.Body.String(), dir) || !strings.Contains(w.Body.String(), "snapshots") {
			t.Errorf("%s = %s, want the file without %s", call, w.Body, dir)
		}
	}
}
