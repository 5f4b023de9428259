package listen_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/listen"
)

// TestLinksAreNotReplaced proves that no new certificate replaces something else
// than a file, and that none of its files is written then.
func TestLinksAreNotReplaced(t *testing.T) {
	made := t.TempDir()
	if _, err := listen.GenerateTLS(made, []string{"a.test"}); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(made)
	if err != nil || len(files) != 3 {
		t.Fatalf("%d files are made: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(file.Name(), func(t *testing.T) {
			dir, target := t.TempDir(), filepath.Join(t.TempDir(), "mine")
			if err := os.WriteFile(target, []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
			link := filepath.Join(dir, file.Name())
			if err := os.Symlink(target, link); err != nil {
				t.Skip(err)
			}
			if _, err := listen.GenerateTLS(dir, []string{"a.test"}); err == nil || !strings.Contains(err.Error(), file.Name()) {
				t.Errorf("the error is %v, want one that names %s", err, file.Name())
			}
			if text, err := os.ReadFile(link); string(text) != "mine" {
				t.Errorf("the link leads to %q, %v", text, err)
			}
			if is, err := os.ReadDir(dir); len(is) != 1 {
				t.Errorf("the folder has %v, %v, want the link alone", is, err)
			}
		})
	}
}
