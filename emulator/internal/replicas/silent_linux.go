package replicas

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// setSilenceTimeout ends a connection whose other end confirms nothing any more, such as one
// through a network that was cut: the kernel would go on for a quarter of an hour.
func setSilenceTimeout(_, _ string, c syscall.RawConn) error {
	var err error
	if failed := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silence.Milliseconds()))
	}); failed != nil {
		return failed
	}
	return err
}
