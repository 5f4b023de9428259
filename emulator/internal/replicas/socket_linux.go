package replicas

import (
	"errors"
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

// closedByPeer reports whether the other end has closed a connection and all that it sent is read,
// or the connection has ended otherwise.
func closedByPeer(c syscall.RawConn) bool {
	var n int
	var err error
	// Not by Read, which would wait for the reader of the connection.
	if failed := c.Control(func(fd uintptr) {
		n, _, err = unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
	}); failed != nil {
		return true // it is closed here
	}
	return n == 0 && err == nil || err != nil && !errors.Is(err, unix.EAGAIN)
}
