package durability_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
)

// TestEveryDiskWriteFailsAtStart proves that whichever write fails while a new
// database is made, the server says so and ends, or serves; and that the next start
// on the same folder, without failures, finds or makes a whole world.
func TestEveryDiskWriteFailsAtStart(t *testing.T) {
	mustTrace(t)
	t.Parallel()
	for _, f := range []failure{{"fdatasync", "EIO", false}, {"fsync", "EIO", false}, {"pwrite64", "ENOSPC", false}, {"ftruncate", "EIO", false}} {
		t.Run(f.String(), func(t *testing.T) {
			t.Parallel()
			n, each := 1, 1
			if testing.Short() {
				each = 4
			}
			for startAgainst(t, f, n) {
				n += each
			}
			if n == 1 {
				t.Error("no call failed")
			}
			t.Logf("of the first %d calls of each thread each %dth failed once", n-each, each)
		})
	}
}

// startAgainst starts a server on a new folder. It reports false when no call
// failed.
func startAgainst(t *testing.T, f failure, n int) bool {
	t.Helper()
	dir, log := t.TempDir(), filepath.Join(t.TempDir(), "strace")
	serve := binary.Command("--data-dir", dir)
	// With -D it is the server that is this process's child.
	args := append([]string{"-D", "-f", "-o", log}, f.nth(n)...)
	s, _ := binary.Launch(t, exec.Command("strace", append(args, serve.Args...)...))
	if s.API == "" {
		lines := strings.Split(strings.TrimSpace(s.Stderr.String()), "\n")
		if code, last := s.Cmd.ProcessState.ExitCode(), lines[len(lines)-1]; code != 3 || !strings.Contains(last, dir) {
			t.Errorf("%s, call %d: the server ended with %d and %q, want 3 and at last the file", f, n, code, lines)
		}
	} else {
		s.End(os.Kill)
	}
	again := binary.Serve(t, "--data-dir", dir)
	reply, err := again.Client().Call(ecsVersion, "DescribeInstances", nil)
	if list := rows(reply.Body, "Instances", "Instance"); err != nil || len(list) != 4 {
		t.Errorf("%s, call %d: after the restart there are %d instances (%v), want the world's 4", f, n, len(list), err)
	}
	if code := again.End(syscall.SIGTERM); code != 0 {
		t.Errorf("%s, call %d: exit code %d after the restart", f, n, code)
	}
	return len(f.failed(t, log)) > 0
}
