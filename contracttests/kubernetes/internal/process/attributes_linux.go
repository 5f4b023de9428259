package process

import "syscall"

// attributes make a group of the program and what it starts, which the kernel
// ends when this process dies without having done so.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
