//go:build !linux

package dataplane

import (
	"errors"
	"syscall"
)

// setFilter needs Linux.
func setFilter(syscall.Conn, bool) error {
	return errors.New("a fault rule can make listeners deaf on Linux only")
}
