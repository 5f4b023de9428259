package listen

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Places are the connections that some listeners may have open at a time.
type Places struct {
	room chan struct{}

	mu   sync.Mutex
	open map[*limitedConn]bool
}

// NewPlaces returns places for n connections.
func NewPlaces(n int) *Places {
	return &Places{room: make(chan struct{}, max(n, 1)), open: make(map[*limitedConn]bool)}
}

// Taken returns how many connections are open.
func (p *Places) Taken() int { return len(p.room) }

// A limited listener has a place for each of its connections. Others wait until one is free;
// where none is, the connection whose client has said nothing for longest gives way.
type limited struct {
	net.Listener
	places *Places
	closed chan struct{}
	close  func() error
}

// patience is the time for which a connection may wait for its client while others wait for its
// place. A probe of Kubernetes waits a second, behind those that came before it.
const patience = 200 * time.Millisecond

// slowest is the number of bytes of a body that a client must send in a second, so that its
// connection does not count as one that waits for it.
const slowest = 4 << 10

func newLimited(l net.Listener, places *Places) *limited {
	closed := make(chan struct{})
	return &limited{Listener: l, places: places, closed: closed, close: sync.OnceValue(func() error {
		close(closed)
		return l.Close()
	})}
}

// Accept accepts a connection and waits for a place for it.
func (l *limited) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	for {
		select {
		case l.places.room <- struct{}{}:
			return l.places.add(conn), nil
		case <-l.closed:
			return nil, errors.Join(net.ErrClosed, conn.Close())
		case <-time.After(l.places.wait()):
		}
	}
}

// Close closes the listener, and not its connections.
func (l *limited) Close() error { return l.close() }

func (p *Places) add(conn net.Conn) *limitedConn {
	c := &limitedConn{Conn: conn, since: time.Now()}
	c.leave = sync.OnceFunc(func() {
		p.mu.Lock()
		delete(p.open, c)
		p.mu.Unlock()
		<-p.room
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[c] = true
	return c
}

// wait frees a place if there is none and one may be freed, and returns how long to wait
// until another may.
func (p *Places) wait() time.Duration {
	if len(p.room) < cap(p.room) {
		return patience
	}
	oldest, since := p.oldest()
	if oldest == nil {
		return patience
	}
	if left := patience - time.Since(since); left > 0 {
		return left
	}
	_ = oldest.Close()
	return patience
}

func (p *Places) oldest() (oldest *limitedConn, since time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		if at, waits := c.waits(); waits && (oldest == nil || at.Before(since)) {
			oldest, since = c, at
		}
	}
	return oldest, since
}

// A limitedConn leaves its place when it is closed.
type limitedConn struct {
	net.Conn
	leave func()

	mu    sync.Mutex
	busy  int       // requests that do not wait for the client
	since time.Time // when the last of them began to wait
}

// waits reports whether the connection waits for its client, and since when.
func (c *limitedConn) waits() (since time.Time, waits bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.since, c.busy == 0
}

// works says that a request has come, or that it goes on.
func (c *limitedConn) works() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy++
}

// rests says that a request waits for its client since a time, or has ended.
func (c *limitedConn) rests(since time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy--
	c.since = since
}

// Close closes the connection and frees its place.
func (c *limitedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// NetConn returns the connection that has the place.
func (c *limitedConn) NetConn() net.Conn { return c.Conn }

type connKey struct{}

// withConn lets requests find their connection, which TLS and tunnels may go over.
func withConn(ctx context.Context, c net.Conn) context.Context {
	for {
		over, ok := c.(interface{ NetConn() net.Conn })
		if _, found := c.(*limitedConn); found || !ok {
			return context.WithValue(ctx, connKey{}, c)
		}
		c = over.NetConn()
	}
}

var _ interface{ NetConn() net.Conn } = (*tls.Conn)(nil)

// serving lets the connection of a request work until done is called, but for the time that
// it waits for more of the body.
func serving(r *http.Request) (done func()) {
	c, ok := r.Context().Value(connKey{}).(*limitedConn)
	if !ok {
		return func() {}
	}
	c.works()
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &awaitedBody{r.Body, c, time.Now()}
	}
	return func() { c.rests(time.Now()) }
}

// An awaitedBody is a body for which its connection waits. The time since when grows with
// what comes, so that a client that sends a little at a time does not seem busy.
type awaitedBody struct {
	io.ReadCloser
	conn  *limitedConn
	since time.Time
}

// Read reads what the client sends.
func (b *awaitedBody) Read(p []byte) (int, error) {
	b.conn.rests(b.since)
	defer b.conn.works()
	n, err := b.ReadCloser.Read(p)
	b.since = b.since.Add(time.Duration(n) * (time.Second / slowest))
	if now := time.Now(); b.since.After(now) {
		b.since = now
	}
	return n, err
}
