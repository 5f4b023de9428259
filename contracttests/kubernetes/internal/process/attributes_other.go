//go:build !linux

package process

import "syscall"

// attributes make a group of the program and what it starts.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// stopped does not look.
func stopped(int) bool { return true }
