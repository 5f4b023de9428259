package bolt_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	bbolt "go.etcd.io/bbolt"

	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/bolt"
	"github.com/clbemu/clbemu/state/engine/enginetest"
	"github.com/clbemu/clbemu/state/engine/memory"
)

func TestEngine(t *testing.T) {
	media := make(map[string]string)
	enginetest.Run(t, func(t *testing.T) engine.Engine {
		if media[t.Name()] == "" {
			media[t.Name()] = t.TempDir()
		}
		return mustOpen(t, media[t.Name()])
	})
}

func mustOpen(t *testing.T, dir string) *bolt.Engine {
	t.Helper()
	e, err := bolt.Open(dir)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return e
}

// written returns a folder with a database that has some hundred values.
func written(t *testing.T) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	e := mustOpen(t, dir)
	var set engine.ChangeSet
	for i := range 500 {
		set = append(set, engine.Change{Table: "Account", ID: strings.Repeat("i", i+1), Value: []byte(strings.Repeat("v", 100))})
	}
	if err := errors.Join(e.Commit(t.Context(), []engine.ChangeSet{set}), e.Close()); err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Join(dir, bolt.FileName)
}

// The state holds secrets of access keys: only its owner may read it.
func TestOnlyTheOwnerReadsTheFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data", "deep")
	if err := mustOpen(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{dir: fs.ModeDir | 0o700, filepath.Join(dir, bolt.FileName): 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode() != want {
			t.Errorf("%s: mode %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
}

func TestLocked(t *testing.T) {
	dir := t.TempDir()
	e := mustOpen(t, dir)
	_, err := bolt.Open(dir)
	if !errors.Is(err, engine.ErrLocked) || !strings.Contains(err.Error(), "choose another --data-dir") {
		t.Errorf("Open of a locked folder = %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := mustOpen(t, dir).Close(); err != nil {
		t.Errorf("Close after the lock was free: %v", err)
	}
}

// update changes the file behind the engine's back.
func update(t *testing.T, path string, fn func(*bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(fn), db.Close()); err != nil {
		t.Fatal(err)
	}
}

func setFormat(format string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		update(t, path, func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte("meta")).Put([]byte("format"), []byte(format))
		})
	}
}

func truncateTo(share float64) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, int64(share*float64(info.Size()))); err != nil {
			t.Fatal(err)
		}
	}
}

func overwrite(offset, size int) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteAt([]byte(strings.Repeat("\xff", size)), int64(offset))
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// Open rejects an unusable file with the reason, and leaves it
// as it was, byte for byte.
func TestRefusedFiles(t *testing.T) {
	page := os.Getpagesize()
	cases := []struct {
		name   string
		damage func(t *testing.T, path string)
		want   string
	}{
		{"text", func(t *testing.T, path string) { replace(t, path, "not a database\n") }, "is truncated or not a clbemu database"},
		{"long text", func(t *testing.T, path string) { replace(t, path, strings.Repeat("not a database\n", 10000)) },
			"is not a clbemu database"},
		{"another bbolt database", foreign, "this bbolt file was not written by clbemu"},
		{"newer schema", setFormat(`{"SchemaVersion":3}`), "schema version 3 and this clbemu reads up to 2"},
		{"schema of no version", setFormat(`{"SchemaVersion":0}`), "unknown schema version 0"},
		{"unreadable format", setFormat(`{`), "unreadable format record"},
		{"empty", truncateTo(0), "is empty, which clbemu never leaves"},
		{"cut to a page", truncateTo(0.01), "is truncated"},
		{"cut in the middle", truncateTo(0.3), "is truncated"},
		{"both meta pages overwritten", overwrite(0, 2*page), "is not a clbemu database"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir, path := written(t)
			c.damage(t, path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			e, err := bolt.Open(dir)
			if err == nil {
				e.Close()
				t.Fatalf("Open = nil, want %q", c.want)
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("Open = %v, want %q and the path", err, c.want)
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
				t.Errorf("Open changed the file it refused (%v)", err)
			}
		})
	}
}

func replace(t *testing.T, path, text string) {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func foreign(t *testing.T, path string) {
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	update(t, path, func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket([]byte("somebody else's"))
		return err
	})
}

// Going back to the older meta page would lose what was acknowledged, so a bad
// one is passed over only when it is the older. The newer one says its number
// at an offset of 64 bytes; any other flip leaves that.
func TestOneBadMetaPage(t *testing.T) {
	for n := range 2 {
		dir, path := written(t)
		newest := newestMeta(t, path)
		overwrite(n*os.Getpagesize()+16+32, 1)(t, path) // of its freelist
		e, err := bolt.Open(dir)
		if n == newest {
			if !errors.Is(err, engine.ErrDamaged) {
				t.Errorf("Open with the newest meta page bad = %v, want it damaged", err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("Open with the older meta page bad: %v", err)
		}
		values := 0
		err = e.Load(t.Context(), func(string, string, []byte) error { values++; return nil })
		if err := errors.Join(err, e.Close()); err != nil || values != 500 {
			t.Errorf("with the older meta page bad: %d values, %v", values, err)
		}
	}
}

// newestMeta returns the number of the meta page that counts.
func newestMeta(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	txid := func(n int) uint64 { return binary.NativeEndian.Uint64(text[n*os.Getpagesize()+16+48:]) }
	if txid(0) > txid(1) {
		return 0
	}
	return 1
}

// Pages of data that were overwritten make an error, not a crash.
func TestDamagedPages(t *testing.T) {
	page := os.Getpagesize()
	dir, path := written(t)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	overwrite(2*page, int(info.Size())-2*page)(t, path)
	e, err := bolt.Open(dir)
	if err == nil {
		err = errors.Join(e.Load(t.Context(), func(string, string, []byte) error { return nil }), e.Close())
	}
	if err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("a database of overwritten pages gives %v", err)
	}
}

// A place that takes no folder is an error that names it.
func TestUnusablePlaces(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	replace(t, file, "")
	if _, err := bolt.Open(file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("Open of a file as folder = %v", err)
	}
	if _, err := bolt.Open(filepath.Join(file, "below")); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("Open below a file = %v", err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, bolt.FileName), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := bolt.Open(dir); err == nil || !strings.Contains(err.Error(), "is a folder, not a database") {
		t.Errorf("Open where the database is a folder = %v", err)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root writes everywhere")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := bolt.Open(dir); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), dir) {
		t.Errorf("Open in a read-only folder = %v", err)
	}
}

// A commit that bbolt refuses keeps none of its sets, and the engine goes on
// after Recover.
func TestRefusedCommitKeepsNothing(t *testing.T) {
	dir := t.TempDir()
	e := mustOpen(t, dir)
	defer e.Close()
	good := engine.ChangeSet{{Table: "Account", ID: "1", Value: []byte("x")}}
	bad := engine.ChangeSet{{Table: "Account", ID: "", Value: []byte("x")}}
	if err := e.Commit(t.Context(), []engine.ChangeSet{good, bad}); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("Commit = %v, want an error that names the file", err)
	}
	if err := e.Recover(t.Context()); err != nil {
		t.Fatalf("Recover: %v", err)
	}
	expectValues(t, e)
	if err := e.Commit(t.Context(), []engine.ChangeSet{good}); err != nil {
		t.Errorf("Commit after Recover: %v", err)
	}
	expectValues(t, e, "Account/1=x")
}

// expectValues compares every stored value.
func expectValues(t *testing.T, e engine.Engine, want ...string) {
	t.Helper()
	if got, err := contents(e); err != nil || !slices.Equal(got, want) {
		t.Errorf("kept is %q (%v), want %q", got, err, want)
	}
}

func contents(e engine.Engine) (got []string, err error) {
	err = e.Load(context.Background(), func(table, id string, value []byte) error {
		got = append(got, fmt.Sprintf("%s/%s=%s", table, id, value))
		return nil
	})
	return got, err
}

// What is opened to be read gives everything that the folder has and changes
// nothing in it; it is not to be had while a process holds it, of nothing, or of
// what is no database.
func TestOpenReadOnly(t *testing.T) {
	dir := t.TempDir()
	e := mustOpen(t, dir)
	one := []engine.ChangeSet{{{Table: "A", ID: "1", Value: []byte("one")}, {Table: "B", ID: "2", Value: []byte("two")}}}
	if err := e.Commit(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	if _, err := bolt.OpenReadOnly(dir); !errors.Is(err, engine.ErrLocked) {
		t.Errorf("reading what is served = %v, want it locked", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, bolt.FileName)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := bolt.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	expectValues(t, r, "A/1=one", "B/2=two")
	copied := &memory.Engine{}
	if err := engine.CopyTo(t.Context(), r, copied); err != nil {
		t.Fatal(err)
	}
	expectValues(t, copied, "A/1=one", "B/2=two")
	for what, err := range map[string]error{"Commit": r.Commit(t.Context(), one), "Recover": r.Recover(t.Context())} {
		if !errors.Is(err, engine.ErrReadOnly) {
			t.Errorf("%s = %v, want it refused", what, err)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("reading changed the database (%v)", err)
	}
	if _, err := bolt.OpenReadOnly(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("reading nothing = %v, want it missing", err)
	}
	replace(t, path, strings.Repeat("text ", 10000))
	if _, err := bolt.OpenReadOnly(dir); err == nil {
		t.Error("reading a text succeeds")
	}
}

// What comes after all that a table has, commit for commit or all at once, fills
// the pages; what comes in between finds room.
func TestPagesAreFull(t *testing.T) {
	const rows, size = 2000, 200
	at := func(i int) engine.Change {
		return engine.Change{Table: "Row", ID: fmt.Sprintf("%06d", i), Value: bytes.Repeat([]byte("v"), size)}
	}
	cases := map[string]struct {
		next   func(i int) engine.Change
		commit int // rows each
		least  float64
	}{
		"some at a time": {at, 7, 0.85},
		"all at once":    {at, rows, 0.85},
		"in between":     {func(i int) engine.Change { return at(i * 7919 % rows) }, 7, 0.5},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			e := mustOpen(t, dir)
			for i := 0; i < rows; i += c.commit {
				var set engine.ChangeSet
				for j := i; j < min(i+c.commit, rows); j++ {
					set = append(set, c.next(j))
				}
				if err := e.Commit(t.Context(), []engine.ChangeSet{set}); err != nil {
					t.Fatal(err)
				}
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			var pages bbolt.BucketStats
			update(t, filepath.Join(dir, bolt.FileName), func(tx *bbolt.Tx) error {
				pages = tx.Bucket([]byte("Row")).Stats()
				return nil
			})
			if full := float64(pages.LeafInuse) / float64(pages.LeafAlloc); pages.KeyN != rows || full < c.least {
				t.Errorf("%d rows, pages are full to %.2f, want %d and %.2f", pages.KeyN, full, rows, c.least)
			}
			e = mustOpen(t, dir)
			if got, err := contents(e); err != nil || len(got) != rows {
				t.Errorf("%d values, %v", len(got), err)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A commit writes a row once, however many of its transactions change it.
func TestARowIsWrittenOnce(t *testing.T) {
	e := mustOpen(t, t.TempDir())
	defer e.Close()
	large := bytes.Repeat([]byte("v"), 1<<20)
	sets := make([]engine.ChangeSet, 100)
	for i := range sets {
		sets[i] = engine.ChangeSet{{Table: "Row", ID: "same", Value: large}}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := e.Commit(t.Context(), sets); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 50 {
		t.Errorf("the commit of a row of 1 MiB, 100 times, took %d MiB of memory", got)
	}
}
