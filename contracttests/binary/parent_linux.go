package binary

import (
	"os/exec"
	"syscall"
)

// endWithParent makes the kernel end a command when this process dies, as it does when a
// test takes too long.
func endWithParent(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}
