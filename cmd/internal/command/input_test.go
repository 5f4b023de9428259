package command

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// endless is a stream without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// TestBoundedInput proves that a stream without end is refused, and that commands read what
// users name in no other way: /proc alone, which the kernel bounds, is read whole.
func TestBoundedInput(t *testing.T) {
	if text, err := readAll(endless{}, "-"); err == nil || !strings.Contains(err.Error(), "standard input has more than 64 MiB") || text != nil {
		t.Errorf("readAll = %d bytes, %v", len(text), err)
	}
	unbounded := regexp.MustCompile(`os\.ReadFile\(([^)]*)|io\.ReadAll\(([^)]*)`)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range unbounded.FindAllString(string(text), -1) {
			if !strings.HasSuffix(name, "_test.go") && !strings.Contains(found, "/proc/") && !strings.Contains(found, "localPortFile") && !strings.Contains(found, "LimitReader") {
				t.Errorf("%s: %s) reads without bound: use readAll or readPath", name, found)
			}
		}
	}
}

// TestReadFileEnds proves that a command which waits for standard input ends when it is
// interrupted.
func TestReadFileEnds(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	never, _ := io.Pipe()
	cmd := &cobra.Command{}
	cmd.SetContext(ctx)
	cmd.SetIn(never)
	if _, err := readFile(cmd, "-"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was interrupted", err)
	}
}
