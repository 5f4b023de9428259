package durability_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// failure is which system calls fail, and how.
type failure struct {
	call, errno string
	// forever lets all fail from the first that does.
	forever bool
}

func (f failure) String() string {
	if f.forever {
		return f.call + "-" + f.errno + "-for-good"
	}
	return f.call + "-" + f.errno
}

// nth returns strace's arguments that make the n-th of the calls fail, counted by thread.
func (f failure) nth(n int) []string {
	when := fmt.Sprint(n)
	if f.forever {
		when += "+"
	}
	return []string{"-e", "trace=" + f.call, "-e", fmt.Sprintf("inject=%s:error=%s:when=%s", f.call, f.errno, when)}
}

// strike makes the n-th system call fail with which a server writes its database.
func (f failure) strike(c *cloud, n int, log string) (*exec.Cmd, error) {
	return strace(log, c.server.Cmd.Process.Pid, append(f.nth(n), "-P", filepath.Join(c.dir, "clbemu.db"))...)
}

// failed returns which of the calls failed, counted from 1, by strace's log.
func (f failure) failed(t *testing.T, log string) (positions []int) {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	// A call that another thread's interrupts has a line for its beginning and one
	// for its end.
	ends := regexp.MustCompile(`(?m)^\d+ +(` + f.call + `\(|<\.\.\. ` + f.call + ` resumed>).* = .*$`)
	for i, line := range ends.FindAllString(string(text), -1) {
		if strings.HasSuffix(line, "(INJECTED)") {
			positions = append(positions, i+1)
		}
	}
	return positions
}

// strace looks at a process that runs, from its next system call on. It ends with
// the process.
func strace(log string, pid int, args ...string) (*exec.Cmd, error) {
	cmd := exec.Command("strace", append([]string{"-f", "-o", log, "-p", fmt.Sprint(pid)}, args...)...)
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	if err == nil && strings.Contains(line, " attached") {
		return cmd, nil
	}
	cmd.Process.Kill()
	return nil, errors.Join(fmt.Errorf("strace says %q", line), err, cmd.Wait())
}

// mustTrace skips a test where strace can't be used on a process that it has not
// started.
func mustTrace(t *testing.T) {
	t.Helper()
	sleeper := exec.Command("sleep", "60")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer sleeper.Wait()
	defer sleeper.Process.Kill()
	tracer, err := strace(os.DevNull, sleeper.Process.Pid)
	if err != nil {
		t.Skipf("the disk can't be made to fail here: %v", err)
	}
	sleeper.Process.Kill()
	tracer.Wait()
}
