//go:build unix

package forward

import (
	"crypto/tls"
	"net"
	"syscall"
)

// waitReadable returns when the connection's socket has bytes or has ended, or
// with the error of the read deadline.
func waitReadable(c net.Conn) error {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	socket, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	peeked := false
	var failure error
	err = raw.Read(func(fd uintptr) bool {
		if peeked {
			return true
		}
		// An event before the wait does not end it.
		peeked = true
		var b [1]byte
		_, _, failure = syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK)
		return failure != syscall.EAGAIN
	})
	if err == nil && failure != syscall.EAGAIN {
		// A peek takes the error of a socket away from the read that follows.
		err = failure
	}
	return err
}
