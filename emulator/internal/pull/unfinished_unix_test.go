//go:build unix

package pull

import (
	"errors"
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
	for name, replace := range map[string]func(path, target string) error{
		"a link": func(path, target string) error { return os.Symlink(target, path) },
		"a pipe": func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		dir, target := t.TempDir(), filepath.Join(t.TempDir(), "target")
		const whole = "{\"Account\":\"1\",\"Region\":\"r\"}\n{"
		if err := errors.Join(os.WriteFile(target, []byte(whole), 0o600), replace(filepath.Join(dir, unfinished), target)); err != nil {
			t.Fatal(err)
		}
		_, err := openAnswers(dir, scope{Account: "1", Region: "r"}, true)
		if text, readErr := os.ReadFile(target); err == nil || !strings.Contains(err.Error(), "is no regular file") || readErr != nil || string(text) != whole {
			t.Errorf("resumed at %s: %v, and its target is %q, %v", name, err, text, readErr)
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
