package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// attributes make a group of the program and what it starts, which the kernel
// ends when this process dies without having done so.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// stopped reports whether no thread of a process runs: each is stopped, or has ended.
func stopped(pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return true
	}
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			continue // it has ended
		}
		stat := string(text)
		_, after, _ := strings.Cut(stat[max(0, strings.LastIndex(stat, ")")):], " ") // a name may have any character
		if state, _, _ := strings.Cut(after, " "); !strings.Contains("TtZX", state) {
			return false
		}
	}
	return true
}
