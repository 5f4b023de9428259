package durable_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/state/engine/durable"
)

// TestReplacesFilesAlone proves that a link and a folder keep their names, that what they lead
// to is as it was, and that nothing unfinished stays.
func TestReplacesFilesAlone(t *testing.T) {
	for name, create := range map[string]func(path, mine string) error{
		"link":   func(path, mine string) error { return os.Symlink(mine, path) },
		"folder": func(path, _ string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, mine := filepath.Join(dir, "named"), filepath.Join(t.TempDir(), "mine")
			if err := errors.Join(os.WriteFile(mine, []byte("mine"), 0o600), create(path, mine)); err != nil {
				t.Fatal(err)
			}
			before, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			err = durable.Write(path, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err })
			if err == nil || !strings.Contains(err.Error(), path+" is no regular file") {
				t.Errorf("the error is %v, want one that names %s", err, path)
			}
			if after, err := os.Lstat(path); err != nil || after.Mode() != before.Mode() {
				t.Errorf("it is %v now, %v, and was %v", after, err, before.Mode())
			}
			if text, err := os.ReadFile(mine); string(text) != "mine" {
				t.Errorf("the other file has %q, %v", text, err)
			}
			if files, err := os.ReadDir(dir); len(files) != 1 {
				t.Errorf("the folder has %v, %v", files, err)
			}
		})
	}
}

// TestPublishLeavesWhatIsThere proves that a name that is taken stays with what has it.
func TestPublishLeavesWhatIsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "named")
	for i, want := range []error{nil, fs.ErrExist} {
		f, err := durable.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(f, string(rune('0'+i)))
		if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
			t.Fatal(err)
		}
		if err := durable.Publish(f.Name(), path); !errors.Is(err, want) {
			t.Errorf("Publish returns %v, want %v", err, want)
		}
	}
	if text, err := os.ReadFile(path); string(text) != "0" {
		t.Errorf("the file has %q, %v, want what was there", text, err)
	}
}
