package bolt_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/bolt"
)

var (
	seed  = flag.Uint64("bolt.seed", 0, "seed of the random tests; 0 takes the time")
	flips = flag.Int("bolt.flips", 0, "how many flipped bits TestFlippedBits tries; 0 is 600, or 100 with -short")
)

// chance returns a source of chance whose seed a failure prints.
func chance(t *testing.T) *rand.Rand {
	t.Helper()
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("replay with -bolt.seed=%d", s)
		}
	})
	return rand.New(rand.NewPCG(s, 0))
}

// mixed makes some hundred changes, deletions among them, in tables. One table
// is small enough to be kept within the root.
func mixed(random *rand.Rand) (set engine.ChangeSet) {
	for range 20 + random.IntN(200) {
		c := engine.Change{Table: fmt.Sprint("Table", random.IntN(3)), ID: fmt.Sprint("id-", random.IntN(1500))}
		if random.IntN(3) > 0 {
			c.Value = bytes.Repeat([]byte{byte(random.Uint32())}, 1+random.IntN(300))
			if random.IntN(50) == 0 {
				c.Value = bytes.Repeat(c.Value, 40) // more than a page
			}
		}
		set = append(set, c)
	}
	return append(set, engine.Change{Table: "Small", ID: "only", Value: []byte{byte(random.Uint32())}})
}

// A database changed at random passes its check at every opening, and
// holds what it should.
func TestVerifyAcceptsWhatWasWritten(t *testing.T) {
	random := chance(t)
	dir := t.TempDir()
	model := make(map[string]string)
	for range 60 {
		e := mustOpen(t, dir)
		got, err := contents(e)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for key, value := range model {
			want = append(want, key+"="+value)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%d values are kept, want %d", len(got), len(want))
		}
		for range 1 + random.IntN(5) {
			set := mixed(random)
			if err := e.Commit(t.Context(), []engine.ChangeSet{set}); err != nil {
				t.Fatal(err)
			}
			for _, c := range set {
				key := c.Table + "/" + c.ID
				if delete(model, key); c.Value != nil {
					model[key] = string(c.Value)
				}
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Every single flipped bit is found when the file is read, or does no harm: what
// is kept is what was, and stays so when it is written to. Half of the flips are
// in the heads of pages, where bbolt's own pointers are.
func TestFlippedBits(t *testing.T) {
	if *flips == 0 {
		*flips = 600
		if testing.Short() {
			*flips = 100
		}
	}
	random := chance(t)
	dir, path := written(t)
	e := mustOpen(t, dir)
	for range 10 {
		if err := e.Commit(t.Context(), []engine.ChangeSet{mixed(random)}); err != nil {
			t.Fatal(err)
		}
	}
	want := keptBy(t, e)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	harmless := 0
	for n := range *flips {
		bit := random.IntN(8 * len(whole))
		if n%2 == 0 {
			bit = 8*page*random.IntN(len(whole)/page) + random.IntN(8*100)
		}
		flipped := bytes.Clone(whole)
		flipped[bit/8] ^= 1 << (bit % 8)
		if flip(t, flipped, want) {
			harmless++
		}
		if t.Failed() {
			t.Fatalf("bit %d of byte %d in page %d", bit%8, bit/8%page, bit/8/page)
		}
	}
	t.Logf("%d of %d flips were found, the others did no harm", *flips-harmless, *flips)
	if harmless == *flips {
		t.Error("no flip was found at all")
	}
}

// TestFlippedRevision proves the same of each bit of the revision, its key, and the numbers of
// the last transactions: none of them hides what was acknowledged last.
func TestFlippedRevision(t *testing.T) {
	dir, path := written(t)
	for n := range 4 { // numbers of transactions that differ in their last two bits
		e := mustOpen(t, dir)
		if err := e.Commit(t.Context(), []engine.ChangeSet{{{Table: "T", ID: fmt.Sprint(n), Value: []byte("v")}}}); err != nil {
			t.Fatal(err)
		}
		want := keptBy(t, e)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		bits := make(map[int]bool)
		for _, meta := range []int{0, os.Getpagesize()} {
			for bit := range 8 {
				bits[8*(meta+16+48)+bit] = true
			}
		}
		for at := 0; n == 0 && at < len(whole); at++ {
			if bytes.HasPrefix(whole[at:], []byte("revision")) {
				for bit := range 8 * (len("revision") + 16) {
					bits[8*at+bit] = true
				}
			}
		}
		for bit := range bits {
			flipped := bytes.Clone(whole)
			flipped[bit/8] ^= 1 << (bit % 8)
			if flip(t, flipped, want); t.Failed() {
				t.Fatalf("after %d commits, bit %d of byte %d", n+1, bit%8, bit/8)
			}
		}
	}
}

// kept is what an engine keeps.
type kept struct {
	values   []string
	revision uint64
}

// keptBy returns what an engine keeps, and closes it.
func keptBy(t *testing.T, e *bolt.Engine) kept {
	t.Helper()
	values, err := contents(e)
	revision, err2 := e.Revision(t.Context())
	if err := errors.Join(err, err2, e.Close()); err != nil {
		t.Fatal(err)
	}
	return kept{values, revision}
}

// flip reports whether the engine serves a damaged file; it must hold what it did then.
func flip(t *testing.T, file []byte, want kept) (served bool) {
	dir := t.TempDir()
	path := filepath.Join(dir, bolt.FileName)
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(path)
	e, err := bolt.Open(dir)
	if err != nil {
		if !errors.Is(err, engine.ErrDamaged) && !bytes.Contains([]byte(err.Error()), []byte(path)) {
			t.Errorf("Open = %v, want the file named", err)
		}
		return false
	}
	defer e.Close()
	got, err := contents(e)
	if err != nil {
		if !errors.Is(err, engine.ErrDamaged) {
			t.Errorf("Load = %v, want it to wrap ErrDamaged", err)
		}
		return false
	}
	if !slices.Equal(got, want.values) {
		t.Errorf("a damaged file is served with %d values, which are not the %d that were written", len(got), len(want.values))
	}
	if revision, err := e.Revision(t.Context()); err != nil || revision != want.revision {
		t.Errorf("a damaged file is served with revision %d (%v), want %d", revision, err, want.revision)
	}
	for n := range 3 {
		if err := e.Commit(t.Context(), []engine.ChangeSet{{{Table: "New", ID: fmt.Sprint(n), Value: bytes.Repeat([]byte("v"), 5000)}}}); err != nil {
			t.Errorf("Commit into a file that was served: %v", err)
		}
	}
	if after, err := contents(e); err != nil || len(after) != len(want.values)+3 {
		t.Errorf("after three commits there are %d values (%v), want %d", len(after), err, len(want.values)+3)
	}
	return true
}

// A file whose pages are overwritten under a running server makes its commits
// fail with a message; nothing panics, and closing it frees the lock.
func TestOverwrittenWhileOpen(t *testing.T) {
	page := os.Getpagesize()
	dir, path := written(t)
	e := mustOpen(t, dir)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	overwrite(2*page, int(info.Size())-2*page)(t, path)
	err = e.Commit(t.Context(), []engine.ChangeSet{{{Table: "Account", ID: "1", Value: []byte("x")}}})
	if err == nil {
		t.Error("Commit into overwritten pages succeeds")
	}
	if err := e.Recover(t.Context()); !errors.Is(err, engine.ErrDamaged) {
		t.Errorf("Recover = %v, want it damaged", err)
	}
	if err := e.Commit(t.Context(), nil); err == nil {
		t.Error("Commit after that succeeds")
	}
	if err := e.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if _, err := bolt.Open(dir); !errors.Is(err, engine.ErrDamaged) || errors.Is(err, engine.ErrLocked) {
		t.Errorf("Open = %v, want it damaged and not locked", err)
	}
}

// A database that is removed, replaced or overwritten by another while it is
// served is noticed by the next commit. Put back, it serves again.
func TestReplacedWhileOpen(t *testing.T) {
	other := func(t *testing.T) []byte {
		dir, path := written(t)
		e := mustOpen(t, dir)
		for range 5 {
			if err := errors.Join(e.Commit(t.Context(), []engine.ChangeSet{{{Table: "A", ID: "1", Value: []byte("x")}}})); err != nil {
				t.Fatal(err)
			}
		}
		e.Close()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	cases := map[string]func(t *testing.T, path string){
		"removed": func(t *testing.T, path string) {},
		"replaced": func(t *testing.T, path string) {
			if err := os.WriteFile(path, other(t), 0o600); err != nil {
				t.Fatal(err)
			}
		},
	}
	one := []engine.ChangeSet{{{Table: "Account", ID: "1", Value: []byte("x")}}}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			dir, path := written(t)
			e := mustOpen(t, dir)
			defer e.Close()
			if err := os.Rename(path, path+".away"); err != nil {
				t.Fatal(err)
			}
			change(t, path)
			if err := e.Commit(t.Context(), one); err == nil {
				t.Error("Commit succeeds")
			}
			if err := e.Recover(t.Context()); err == nil {
				t.Error("Recover succeeds")
			}
			if err := os.Rename(path+".away", path); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(e.Recover(t.Context()), e.Commit(t.Context(), one)); err != nil {
				t.Errorf("put back: %v", err)
			}
		})
	}
}

// A database that is overwritten in its place is not served, neither an older copy of
// it, which lacks what was acknowledged, nor another one. Put back, it serves again.
func TestOverwrittenByACopy(t *testing.T) {
	read := func(t *testing.T, path string) []byte {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	overwrite := func(t *testing.T, path string, text []byte) {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
		if err == nil {
			_, err = f.Write(text)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	one := func(id string) []engine.ChangeSet {
		return []engine.ChangeSet{{{Table: "Account", ID: id, Value: []byte("x")}}}
	}
	for name, commits := range map[string]int{"an older copy": 0, "another with more transactions": 20} {
		t.Run(name, func(t *testing.T) {
			dir, path := written(t)
			with := read(t, path)
			if commits > 0 {
				otherDir, otherPath := written(t)
				o := mustOpen(t, otherDir)
				for n := range commits {
					if err := o.Commit(t.Context(), one(fmt.Sprint("o", n))); err != nil {
						t.Fatal(err)
					}
				}
				if err := o.Close(); err != nil {
					t.Fatal(err)
				}
				with = read(t, otherPath)
			}
			e := mustOpen(t, dir)
			defer e.Close()
			for n := range 8 {
				if err := e.Commit(t.Context(), one(fmt.Sprint("n", n))); err != nil {
					t.Fatal(err)
				}
			}
			acknowledged := read(t, path)
			overwrite(t, path, with)
			if err := e.Commit(t.Context(), one("more")); err == nil {
				t.Fatal("Commit succeeds")
			}
			for range 3 {
				if err := e.Recover(t.Context()); err == nil || !strings.Contains(err.Error(), "replaced while it was served") {
					t.Fatalf("Recover = %v", err)
				}
			}
			overwrite(t, path, acknowledged)
			if err := errors.Join(e.Recover(t.Context()), e.Commit(t.Context(), one("more"))); err != nil {
				t.Errorf("put back: %v", err)
			}
			if got, err := contents(e); err != nil || len(got) != 509 {
				t.Errorf("%d values (%v), want 509", len(got), err)
			}
		})
	}
}

// growth returns 20,000 rows, and what leaves 33 of them.
func growth() (many, few engine.ChangeSet) {
	for n := range 20000 {
		id := fmt.Sprintf("%05d", n)
		many = append(many, engine.Change{Table: "Row", ID: id, Value: bytes.Repeat([]byte("x"), 1000)})
		if n >= 33 {
			few = append(few, engine.Change{Table: "Row", ID: id})
		}
	}
	return many, few
}

// A file that a link leads to stays where it is, as large as it is, and goes on.
func TestLinkIsNotReplaced(t *testing.T) {
	dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "elsewhere")
	path := filepath.Join(dir, bolt.FileName)
	if err := mustOpen(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(path, elsewhere), os.Symlink(elsewhere, path)); err != nil {
		t.Fatal(err)
	}
	e := mustOpen(t, dir)
	many, few := growth()
	for _, changes := range []engine.ChangeSet{many, few} {
		if err := e.Commit(t.Context(), []engine.ChangeSet{changes}); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(path); to != elsewhere {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	e = mustOpen(t, dir)
	defer e.Close()
	if got, err := contents(e); err != nil || len(got) != 33 {
		t.Errorf("%d values are kept, %v, want 33", len(got), err)
	}
}

// A file that is mostly free becomes as small as what it keeps, and goes on.
func TestCompaction(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, bolt.FileName)
	e := mustOpen(t, dir)
	many, few := growth()
	size := func() int64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	if err := e.Commit(t.Context(), []engine.ChangeSet{many}); err != nil {
		t.Fatal(err)
	}
	full := size()
	if err := e.Commit(t.Context(), []engine.ChangeSet{few}); err != nil {
		t.Fatal(err)
	}
	if size() > 1<<20 {
		t.Errorf("the file of %d bytes has %d bytes when it keeps 33 rows", full, size())
	}
	more := []engine.ChangeSet{{{Table: "Row", ID: "more", Value: []byte("y")}}}
	if err := e.Commit(t.Context(), more); err != nil {
		t.Fatal(err)
	}
	if _, err := bolt.Open(dir); !errors.Is(err, engine.ErrLocked) {
		t.Errorf("Open of the compacted file = %v, want it locked", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = mustOpen(t, dir)
	defer e.Close()
	if got, err := contents(e); err != nil || len(got) != 34 {
		t.Errorf("%d values (%v), want 34", len(got), err)
	}
	if files, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(files) > 0 {
		t.Errorf("left over: %q (%v)", files, err)
	}
}

// What a crash left unfinished goes at the next start.
func TestLeftOversAreCleanedUp(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, "."+bolt.FileName+".123.unfinished")
	replace(t, left, "half a file")
	kept := filepath.Join(dir, ".hidden")
	replace(t, kept, "somebody's")
	e := mustOpen(t, dir)
	defer e.Close()
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there (%v)", left, err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}
