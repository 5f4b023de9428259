//go:build !linux

package dataplane

import (
	"errors"
	"syscall"
)

// setDeaf needs Linux.
func setDeaf(syscall.Conn, bool) error {
	return errors.New("a fault rule can make listeners deaf on Linux only")
}
