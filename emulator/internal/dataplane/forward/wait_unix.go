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
	raw, err := rawConn(c)
	if raw == nil {
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

// peek reports whether the connection's socket has failed or ended, as far as that is known. It
// does not wait, so that it does not depend on the time that this process gets.
func peek(c net.Conn) (gone, known bool) {
	raw, err := rawConn(c)
	if raw == nil {
		return false, err != nil // it is closed here
	}
	err = raw.Control(func(fd uintptr) {
		var b [1]byte
		n, _, failure := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK)
		gone = n == 0 && failure == nil || failure != nil && failure != syscall.EAGAIN
	})
	return gone && err == nil, true
}

// rawConn returns the socket of a connection, also of one of TLS, or nil if it has none.
func rawConn(c net.Conn) (syscall.RawConn, error) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if socket, ok := c.(syscall.Conn); ok {
		return socket.SyscallConn()
	}
	return nil, nil
}
