package journal_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/emulator/journal"
)

// readEntries returns the entries of a journal file.
func readEntries(t *testing.T, path string) (entries []journal.Entry) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e journal.Entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%s: %q: %v", path, lines.Text(), err)
		}
		entries = append(entries, e)
	}
	return entries
}

func modeOf(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// TestFile proves that every entry is a line of the file, behind what was there,
// and that only its owner can read the file.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	if err := os.WriteFile(path, []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	j := mustNew(t, journal.Config{Entries: 1, File: path})
	j.Record(call("a"), journal.Parameter{Name: "Name", Value: "n"}, journal.Parameter{Name: "PrivateKey", Value: "5ecr3t"})
	if _, err := j.Mark("m", start); err != nil {
		t.Fatal(err)
	}
	got := readEntries(t, path)
	if len(got) != 3 || got[1].Action != "a" || got[1].Parameters.Get("Name") != "n" || got[2].Kind != journal.KindMark {
		t.Errorf("the file holds %+v, want the old line, the call and the mark", got)
	}
	if text, err := os.ReadFile(path); err != nil || bytes.Contains(text, []byte("5ecr3t")) {
		t.Errorf("the file holds a secret, or can't be read: %v", err)
	}
	if mode := modeOf(t, path); mode != 0o600 {
		t.Errorf("mode = %v, want 0600", mode)
	}
}

// TestRotation proves that the file is bounded, that the older one has the
// entries before it without a gap, and that lines stay whole.
func TestRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	const limit = 2000
	j := mustNew(t, journal.Config{File: path, FileSize: limit})
	const n = 100
	for i := range n {
		j.Record(call(fmt.Sprint(i)))
	}
	var sequences []uint64
	for _, name := range []string{path + ".1", path} {
		info, err := os.Stat(name)
		if err != nil || info.Size() > limit || info.Mode().Perm() != 0o600 {
			t.Fatalf("Stat(%s) = %v, %v, want at most %d bytes with mode 0600", name, info, err, limit)
		}
		for _, e := range readEntries(t, name) {
			sequences = append(sequences, e.Sequence)
		}
	}
	for i, s := range sequences {
		if want := n - len(sequences) + i + 1; s != uint64(want) {
			t.Fatalf("sequences = %v, want the last ones up to %d", sequences, n)
		}
	}
	if len(sequences) < 10 {
		t.Errorf("%d entries are kept, want some", len(sequences))
	}
}

// TestLinkIsNotRotated proves that a link, such as /dev/stdout, is written through and stays.
func TestLinkIsNotRotated(t *testing.T) {
	dir := t.TempDir()
	target, path := filepath.Join(dir, "target"), filepath.Join(dir, "journal")
	if err := os.Symlink(target, path); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	j := mustNew(t, journal.Config{File: path, FileSize: 500})
	for i := range 20 {
		j.Record(call(fmt.Sprint(i)))
	}
	if to, err := os.Readlink(path); err != nil || to != target {
		t.Errorf("the link leads to %q, %v, want %q", to, err, target)
	}
	if got := readEntries(t, target); len(got) != 20 {
		t.Errorf("%d entries are in the file, want 20", len(got))
	}
}

// TestFileFails proves that a file that takes nothing costs no entry in memory,
// is reported once, and that its recovery is reported with the missing entries.
func TestFileFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "journal")
	var log bytes.Buffer
	j := mustNew(t, journal.Config{File: path, FileSize: 1, Log: zerolog.New(&log)}) // each entry needs a new file
	j.Record(call("written"))
	if err := os.Rename(dir, dir+"2"); err != nil {
		t.Fatal(err)
	}
	j.Record(call("lost"))
	j.Record(call("lost too"))
	if n := strings.Count(log.String(), "can't be written"); n != 1 {
		t.Errorf("the log tells %d times of the file, want once: %s", n, log.String())
	}
	if err := os.Rename(dir+"2", dir); err != nil {
		t.Fatal(err)
	}
	j.Record(call("written again"))
	if !strings.Contains(log.String(), `"missing":2`) {
		t.Errorf("the log does not report two missing entries: %s", log.String())
	}
	if got := readEntries(t, path); len(got) != 1 || got[0].Action != "written again" {
		t.Errorf("the file holds %+v, want the newest entry", got)
	}
	if p := j.Query(journal.Query{}); len(p.Entries) != 4 {
		t.Errorf("the memory holds %q, want all", actions(p))
	}
}

// TestFullDisk proves the same of a disk without room.
func TestFullDisk(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("this system has no " + full)
	}
	var log bytes.Buffer
	j := mustNew(t, journal.Config{File: full, Log: zerolog.New(&log)})
	j.Record(call("a"))
	j.Record(call("b"))
	if p := j.Query(journal.Query{}); actions(p) != "a b" || strings.Count(log.String(), "no space left") != 1 {
		t.Errorf("memory %q, log %s, want both entries and one complaint", actions(p), log.String())
	}
}

// TestFileRefusals proves that a file that can't be opened stops the start.
func TestFileRefusals(t *testing.T) {
	if _, err := journal.New(journal.Config{File: filepath.Join(t.TempDir(), "none", "journal")}); err == nil || !strings.Contains(err.Error(), "journal file") {
		t.Errorf("New = %v, want an error about the file", err)
	}
}
