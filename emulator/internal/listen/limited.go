package listen

import (
	"errors"
	"net"
	"sync"
)

// limited is a listener; several share a limit of connections at once. It is netutil's LimitListener,
// but for NetConn: a connection that is to be reset must be the one of TCP.
type limited struct {
	net.Listener
	room   chan struct{}
	closed chan struct{}
	close  func() error
}

func newLimited(l net.Listener, room chan struct{}) *limited {
	closed := make(chan struct{})
	return &limited{l, room, closed, sync.OnceValue(func() error {
		close(closed)
		return l.Close()
	})}
}

// Accept waits for a connection, and then for room: a listener without clients takes
// none.
func (l *limited) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	select {
	case l.room <- struct{}{}:
	case <-l.closed:
		return nil, errors.Join(net.ErrClosed, conn.Close())
	}
	return &limitedConn{conn, sync.OnceFunc(func() { <-l.room })}, nil
}

func (l *limited) Close() error { return l.close() }

// limitedConn frees its place when it is closed.
type limitedConn struct {
	net.Conn
	leave func()
}

func (c *limitedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// NetConn is the connection of the operating system.
func (c *limitedConn) NetConn() net.Conn { return c.Conn }
