package dataplane

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// setFilter lets a socket drop all packets, as if they had not arrived, or none: clients
// that connect get no answer. Connections that it has accepted go on.
func setFilter(c syscall.Conn, deaf bool) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		if !deaf {
			failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0)
			return
		}
		nothing := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K}
		failed = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &nothing})
	})
	if err = errors.Join(err, failed); err != nil {
		return fmt.Errorf("a fault rule can't change what the listener hears: %w", err)
	}
	return nil
}
