//go:build unix

package target

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// ownGroup gives a program a group of processes, that its children end with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup asks the group to end, or ends it.
func endGroup(cmd *exec.Cmd, force bool) error {
	signal := syscall.SIGTERM
	if force {
		signal = syscall.SIGKILL
	}
	return syscall.Kill(-cmd.Process.Pid, signal)
}

// endMarked ends the processes that have a variable in their environment, whatever group or session they went
// to. It finds them on Linux, and not those that cleared their environment or are another user's.
func endMarked(mark string) {
	const most = 100 // rounds, as what is ended may take a while to go, and start another one meanwhile
	found := true
	for round := 0; found && round < most; round++ {
		found = false
		environments, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is one
		for _, path := range environments {
			text, err := os.ReadFile(path)
			if err != nil || !bytes.Contains(append([]byte{0}, text...), []byte("\x00"+mark+"\x00")) {
				continue
			}
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			found = err == nil && syscall.Kill(pid, syscall.SIGKILL) == nil || found
		}
	}
}
