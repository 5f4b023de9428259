// Package binary builds clbemu and runs it as its users do: as a process of its
// own, seen through its output, its exit code, its listeners and its folder. It
// is for tests, also in the other modules. All packages of a clone share one build.
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
	"sync"
	"testing"

	"github.com/gofrs/flock"

	"github.com/clbemu/clbemu/contracttests/await"
)

// Path is the binary under test, once Main has built it.
var Path string

var replica = sync.OnceValues(func() (path string, err error) { return build("clbemu-replica") })

// Replica builds clbemu-replica and returns its path.
func Replica(t testing.TB) string {
	t.Helper()
	path, err := replica()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// timeout bounds every wait for a process.
const timeout = await.Patience

// Main runs a package's TestMain: it prepares, runs the tests and returns their exit code.
func Main(m *testing.M) int {
	flag.Parse()
	if err := Prepare(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Prepare builds the binary, for a TestMain that does more than Main, and unsets the
// settings of this environment, which the tests don't use.
func Prepare() (err error) {
	for _, setting := range os.Environ() {
		if name, _, _ := strings.Cut(setting, "="); strings.HasPrefix(name, "CLBEMU_") {
			os.Unsetenv(name)
		}
	}
	Path, err = build("clbemu")
	return err
}

// built is the folder in which make test has just built clbemu, "" without make test. The go
// command needs more than a second of each package to find out that it is up to date.
var built = os.Getenv("CLBEMU_TEST_BUILT")

// build builds a command into the clone's bin folder. The go command leaves it alone
// when it is up to date, so that only the first package that starts it links it. One with an
// overlay, as of contracttests/mutants, is another one.
func build(name string) (path string, err error) {
	overlaid := strings.Contains(os.Getenv("GOFLAGS"), "-overlay")
	if path = filepath.Join(built, name); built != "" && name == "clbemu" && !overlaid {
		_, err = os.Stat(path)
		return path, err
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	root := strings.TrimSpace(string(out))
	dir := filepath.Join(root, "bin", "test")
	if overlaid {
		dir = filepath.Join(root, "bin", "mutants")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	unlock, err := Lock(filepath.Join(dir, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	path = filepath.Join(dir, name)
	return path, compile(filepath.Join(root, "cmd", name), nil, "-o", path)
}

// Release builds the command of a folder, which may be of another module, as it is
// released: static, and without tables for debuggers.
func Release(folder, path string, env ...string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	return compile(folder, append(env, "CGO_ENABLED=0"), "-trimpath", "-tags", "grpcnotrace", "-ldflags", "-s -w", "-o", path)
}

func compile(folder string, env []string, args ...string) error {
	cmd := exec.Command("go", append([]string{"build"}, args...)...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build in %s: %w\n%s", folder, err, out)
	}
	return nil
}

const module = "github.com/clbemu/clbemu"

// Lock keeps test binaries that run side by side from building the same at once.
func Lock(path string) (unlock func(), err error) {
	l := flock.New(path)
	if err := l.Lock(); err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { l.Close() }, nil
}

// Result describes how a command ended.
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
