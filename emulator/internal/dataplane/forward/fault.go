package forward

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// A Fault says what goes wrong with an event. The zero Fault is nothing.
type Fault struct {
	// Rule names it in reasons and events.
	Rule    string
	refused bool
	ending  ending
	after   int64 // bytes of the answer
	delay   time.Duration
	rate    int
}

// ending says how an answer ends too early.
type ending int

const (
	whole ending = iota
	cut
	stalled
)

// Refuse refuses the connection.
func (f *Fault) Refuse() { f.refused = true }

// Cut resets the connection after that many bytes of the answer.
func (f *Fault) Cut(bytes int64) { f.ending, f.after = cut, bytes }

// Stall passes nothing after that many bytes of the answer.
func (f *Fault) Stall(bytes int64) { f.ending, f.after = stalled, bytes }

// Slow delays the first byte, and limits the bytes a second each way; 0 is no limit.
func (f *Fault) Slow(delay time.Duration, bytesPerSecond int) {
	f.delay, f.rate = delay, bytesPerSecond
}

// err returns an error that names the fault rule.
func (f *Fault) err(what error) error { return fmt.Errorf("%w (fault rule %s)", what, f.Rule) }

// limit returns what a fault leaves of the bandwidth, or nil if that is all.
func (f *Fault) limit() *limit {
	if f.rate == 0 {
		return nil
	}
	rate := float64(f.rate)
	return &limit{rate: rate, in: bucket{rate: rate}, out: bucket{rate: rate}}
}

// A faultySide is one side of a faulty answer: how much of it is left, and when it goes
// on.
type faultySide struct {
	*Fault
	mu   sync.Mutex
	left int64
	once sync.Once
}

// take returns how many of n bytes of the answer pass; ok is false where none does.
func (s *faultySide) take(n int) (passing int, ok bool) {
	if s.ending == whole {
		return n, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return int(min(int64(n), s.left)), s.left > 0
}

func (s *faultySide) passed(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left -= int64(n)
}

// wait waits for the delay of the first byte.
func (s *faultySide) wait(ctx context.Context) {
	s.once.Do(func() { pause(ctx, s.delay) })
}

// pause waits for a time; the error is ctx's if that ends first.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A faultyConn is a connection with a fault. The answer is what is written to a client,
// or read from a member.
type faultyConn struct {
	net.Conn
	faultySide
	ofMember bool
	limit    *limit
	ctx      context.Context // until Close
	cancel   context.CancelFunc
	gone     chan struct{} // closed when the client has ended its side
	goneOnce sync.Once

	deadlines sync.Mutex
	read      time.Time
	write     time.Time
}

func (s *Server) newFaultyConn(c net.Conn, f *Fault, ofMember bool) *faultyConn {
	fc := &faultyConn{Conn: c, ofMember: ofMember, limit: f.limit(), gone: make(chan struct{})}
	fc.Fault, fc.left = f, f.after
	fc.ctx, fc.cancel = context.WithCancel(s.ctx)
	return fc
}

// Read reads what the other end sends.
func (c *faultyConn) Read(p []byte) (int, error) {
	c.wait(c.ctx)
	if !c.ofMember {
		n, err := c.Conn.Read(p)
		if err != nil && !timedOut(err) {
			c.leave()
		}
		return n, c.paced(n, err, true)
	}
	n, ok := c.take(len(p))
	if !ok {
		return 0, c.end(&c.read)
	}
	n, err := c.Conn.Read(p[:n])
	c.passed(n)
	return n, c.paced(n, err, false)
}

// Write sends to the other end.
func (c *faultyConn) Write(p []byte) (int, error) {
	c.wait(c.ctx)
	if err := c.paced(len(p), nil, c.ofMember); err != nil {
		return 0, err
	}
	if c.ofMember {
		return c.Conn.Write(p)
	}
	n, ok := c.take(len(p))
	if !ok {
		return 0, c.end(&c.write)
	}
	sent, err := c.Conn.Write(p[:n])
	c.passed(sent)
	if err == nil && sent < len(p) {
		err = c.end(&c.write)
	}
	return sent, err
}

// paced waits until n bytes may have passed on the way in, or out.
func (c *faultyConn) paced(n int, err error, in bool) error {
	if err != nil || c.limit == nil {
		return err
	}
	way := &c.limit.out
	if in {
		way = &c.limit.in
	}
	return buckets{way}.wait(c.ctx, n)
}

// end ends the answer: with a reset, or with nothing until a deadline or the client's
// end.
func (c *faultyConn) end(deadline *time.Time) error {
	if c.ending == cut {
		reset(c.Conn)
		return c.err(syscall.ECONNRESET)
	}
	c.deadlines.Lock()
	until := *deadline
	c.deadlines.Unlock()
	ctx, cancel := c.ctx, context.CancelFunc(func() {})
	if !until.IsZero() {
		ctx, cancel = context.WithDeadline(c.ctx, until)
	}
	defer cancel()
	select {
	case <-ctx.Done():
	case <-c.gone:
		return c.err(io.ErrUnexpectedEOF)
	}
	if c.ctx.Err() != nil {
		return net.ErrClosed
	}
	return os.ErrDeadlineExceeded
}

func (c *faultyConn) leave() { c.goneOnce.Do(func() { close(c.gone) }) }

// SetDeadline, SetReadDeadline and SetWriteDeadline keep how long to stall.
func (c *faultyConn) SetDeadline(t time.Time) error {
	c.keep(t, &c.read, &c.write)
	return c.Conn.SetDeadline(t)
}

// SetReadDeadline is like SetDeadline, for reads.
func (c *faultyConn) SetReadDeadline(t time.Time) error {
	c.keep(t, &c.read)
	return c.Conn.SetReadDeadline(t)
}

// SetWriteDeadline is like SetDeadline, for writes.
func (c *faultyConn) SetWriteDeadline(t time.Time) error {
	c.keep(t, &c.write)
	return c.Conn.SetWriteDeadline(t)
}

func (c *faultyConn) keep(t time.Time, deadlines ...*time.Time) {
	c.deadlines.Lock()
	defer c.deadlines.Unlock()
	for _, d := range deadlines {
		*d = t
	}
}

// CloseWrite ends what the other end reads.
func (c *faultyConn) CloseWrite() error {
	if c.ofMember {
		c.leave()
	}
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// SetLinger lets Close reset the connection.
func (c *faultyConn) SetLinger(seconds int) error {
	if l, ok := c.Conn.(interface{ SetLinger(int) error }); ok {
		return l.SetLinger(seconds)
	}
	return nil
}

// Close closes the connection.
func (c *faultyConn) Close() error {
	c.cancel()
	return c.Conn.Close()
}

// A faultyBody is the body of an HTTP answer with a fault.
type faultyBody struct {
	io.ReadCloser
	faultySide
	exchange *exchange
	ctx      context.Context
	limit    *limit
}

// faulty lets a request go wrong before it reaches the member; nil is not yet.
func (x *exchange) faulty(ctx context.Context, f *Fault) error {
	pause(ctx, f.delay)
	switch {
	case f.refused:
		x.web.server.countFailure(x.target.record)
		return &dialError{x.target.Key, x.target.Addr, f.err(syscall.ECONNREFUSED)}
	case f.ending == cut && f.after == 0:
		return f.err(syscall.ECONNRESET)
	case f.ending == stalled && f.after == 0:
		<-ctx.Done()
	}
	return context.Cause(ctx)
}

// faultyAnswer returns the body of an answer with the fault.
func (x *exchange) faultyAnswer(ctx context.Context, body io.ReadCloser, f *Fault) io.ReadCloser {
	if f.ending == whole && f.rate == 0 {
		return body
	}
	b := &faultyBody{ReadCloser: body, exchange: x, ctx: ctx, limit: f.limit()}
	b.Fault, b.left = f, f.after
	return b
}

// Read reads what the member sends. What has passed goes to the client before the end.
func (b *faultyBody) Read(p []byte) (int, error) {
	n, ok := b.take(len(p))
	if ok {
		n, err := b.ReadCloser.Read(p[:n])
		b.passed(n)
		if b.limit != nil && err == nil {
			err = buckets{&b.limit.out}.wait(b.ctx, n)
		}
		return n, err
	}
	b.exchange.flush()
	if b.ending == cut {
		return 0, b.err(syscall.ECONNRESET)
	}
	<-b.ctx.Done()
	return 0, context.Cause(b.ctx)
}
