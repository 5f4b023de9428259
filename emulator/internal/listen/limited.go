package listen

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"sync"
	"time"
)

// limited is a listener; several share a limit of connections at once. It is netutil's LimitListener,
// but for NetConn: a connection that is to be reset must be the one of TCP. And where there is
// no room, clients that have asked nothing for a while make some.
type limited struct {
	net.Listener
	room   chan struct{}
	closed chan struct{}
	close  func() error

	mu     sync.Mutex
	silent []*limitedConn // those that have asked nothing yet, the oldest first
}

// patience is how long a client may ask nothing where others wait for its place.
const patience = time.Second

func newLimited(l net.Listener, room chan struct{}) *limited {
	closed := make(chan struct{})
	return &limited{Listener: l, room: room, closed: closed, close: sync.OnceValue(func() error {
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
	for {
		select {
		case l.room <- struct{}{}:
			return l.add(conn), nil
		case <-l.closed:
			return nil, errors.Join(net.ErrClosed, conn.Close())
		case <-time.After(l.drop()):
		}
	}
}

// add keeps a connection among those that have asked nothing.
func (l *limited) add(conn net.Conn) *limitedConn {
	c := &limitedConn{Conn: conn, since: time.Now()}
	c.asked = sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.silent = slices.DeleteFunc(l.silent, func(other *limitedConn) bool { return other == c })
	})
	c.leave = sync.OnceFunc(func() {
		c.asked()
		<-l.room
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silent = append(l.silent, c)
	return c
}

// drop closes the connection that has asked nothing for longest, if that is long enough and
// there is no room. It returns when to look again.
func (l *limited) drop() time.Duration {
	if len(l.room) < cap(l.room) {
		return patience
	}
	oldest := l.oldest()
	if oldest == nil {
		return patience
	}
	if left := patience - time.Since(oldest.since); left > 0 {
		return left
	}
	_ = oldest.Close()
	return patience
}

func (l *limited) oldest() *limitedConn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.silent) == 0 {
		return nil
	}
	return l.silent[0]
}

func (l *limited) Close() error { return l.close() }

// limitedConn frees its place when it is closed.
type limitedConn struct {
	net.Conn
	since time.Time
	asked func() // says that a whole request has come
	leave func()
}

func (c *limitedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// NetConn is the connection of the operating system.
func (c *limitedConn) NetConn() net.Conn { return c.Conn }

// connKey is the key of the limitedConn in the context of a request.
type connKey struct{}

// withConn keeps the connection in the context of its requests.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// asks notes that a request has come through its connection.
func asks(ctx context.Context) {
	if c, ok := ctx.Value(connKey{}).(*limitedConn); ok {
		c.asked()
	}
}
