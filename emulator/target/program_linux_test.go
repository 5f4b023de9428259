package target_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/scenarios"
)

func init() {
	leave = func() {
		left := exec.Command(os.Args[0])
		left.Env = append(os.Environ(), "CLBEMU_TEST_PROGRAM=sleep")
		left.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := left.Start(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("left", left.Process.Pid)
	}
}

// TestNothingIsLeft proves that what a program starts in a session of its own ends when it is stopped, also when
// the program ended before.
func TestNothingIsLeft(t *testing.T) {
	local := newOpen(t, false)
	for name, end := range map[string]func(scenarios.Running){"stopped": scenarios.Running.Stop, "killed": scenarios.Running.Kill} {
		running, err := local.Start(t.Context(), program("leave"))
		do(t, err)
		if ended, err := running.Wait(t.Context(), await.Patience); !ended || err != nil {
			t.Fatalf("%s: it does not end: %v", name, err)
		}
		var pid int
		if _, err := fmt.Sscanf(running.Output(), "left %d", &pid); err != nil {
			t.Fatalf("%s: %v: %s", name, err, running.Output())
		}
		if !alive(pid) {
			t.Fatalf("%s: it ended on its own", name)
		}
		end(running)
		await.Until(t, "its child ends", func() bool { return !alive(pid) })
	}
}

// alive reports whether a process runs; one that nothing has waited for does not.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(text), ") Z ")
}
