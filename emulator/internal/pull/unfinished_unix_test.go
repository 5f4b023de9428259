//go:build unix

package pull

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestUnfinished proves that a folder with the file of a pull is not finished, whatever that file
// is, and that a file in place of the folder is none.
func TestUnfinished(t *testing.T) {
	for name, tt := range map[string]struct {
		make func(path string) error
		want string
	}{
		"nothing":    {func(string) error { return nil }, ""},
		"a pull":     {func(path string) error { return os.WriteFile(path, []byte("{}\n"), 0o600) }, "did not finish"},
		"anonymised": {func(path string) error { return os.WriteFile(path, []byte(`{"anonymised": true}`), 0o600) }, "give it to no one"},
		"no JSON":    {func(path string) error { return os.WriteFile(path, []byte("\x00"), 0o600) }, "did not finish"},
		"a pipe":     {func(path string) error { return syscall.Mkfifo(path, 0o600) }, "did not finish"},
		"a link":     {func(path string) error { return os.Symlink("/dev/zero", path) }, "did not finish"},
	} {
		dir := t.TempDir()
		if err := tt.make(filepath.Join(dir, unfinished)); err != nil {
			t.Fatal(err)
		}
		if err := Unfinished(dir); (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Unfinished(file); err != nil {
		t.Errorf("a file: %v", err)
	}
}
