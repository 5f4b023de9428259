// Package binary builds clbemu and runs it as its users do: as a process of its
// own, seen through its output, its exit code, its listeners and its folder. It
// is for tests, which share one build.
package binary

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Path is the binary under test, once Main has built it.
var Path string

// timeout bounds every wait for a process.
const timeout = time.Minute

// Main is what a package's TestMain does: it builds the binary, runs the tests
// and returns their exit code.
func Main(m *testing.M) int {
	flag.Parse()
	// The settings of this environment are not those of the tests.
	for _, setting := range os.Environ() {
		if name, _, _ := strings.Cut(setting, "="); strings.HasPrefix(name, "CLBEMU_") {
			os.Unsetenv(name)
		}
	}
	dir, err := os.MkdirTemp("", "clbemu-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	Path = filepath.Join(dir, "clbemu")
	if out, err := exec.Command("go", "build", "-o", Path, "github.com/clbemu/clbemu/cmd/clbemu").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// Result is how a command ended.
type Result struct {
	Code           int
	Stdout, Stderr string
}

// Run runs a command of clbemu to its end.
func Run(t testing.TB, args ...string) Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return Finish(t, exec.CommandContext(ctx, Path, args...))
}

// Finish runs any command to its end.
func Finish(t testing.TB, cmd *exec.Cmd) Result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	return Result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}
