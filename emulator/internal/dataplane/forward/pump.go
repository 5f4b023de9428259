package forward

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// roundTime bounds one round of copying. The pump counts bytes between rounds.
const roundTime = 2 * time.Second

var errUseSplice = errors.New("there is enough for a splice")

func timedOut(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// A pump copies one way of a stream.
type pump struct {
	*stream
	dst, src net.Conn
	limits   buckets
	counts   [3]*atomic.Uint64
	splice   bool // src has sent much at a time
}

func (st *stream) newPump(dst, src net.Conn, limits buckets, counts ...*atomic.Uint64) *pump {
	return &pump{stream: st, dst: dst, src: src, limits: limits, counts: [3]*atomic.Uint64(counts)}
}

// run copies until src ends, and passes the end on; other ends reset the stream.
func (p *pump) run() {
	// What TLS has read ahead doesn't show in the socket.
	_, ahead := p.src.(*tls.Conn)
	var err error
	for err == nil {
		if !ahead {
			err = p.await()
		}
		ahead = false
		if err == nil {
			err = p.move()
		}
	}
	if !errors.Is(err, io.EOF) {
		if p.src == p.member && !p.idle.Load() && p.gone() {
			p.server.countFailure(p.target.record)
		}
		p.abort()
		return
	}
	if p.ended.Swap(true) {
		return // the stream closes both
	}
	if c, ok := p.dst.(interface{ CloseWrite() error }); ok {
		c.CloseWrite()
	}
}

// gone reports whether src has failed or ended. The error of a splice does not
// say which side caused it.
func (p *pump) gone() bool {
	if gone, known := peek(p.src); known {
		return gone
	}
	p.src.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := p.src.Read(make([]byte, 1))
	return err != nil && !timedOut(err) && !errors.Is(err, net.ErrClosed)
}

// await returns when src has bytes or has ended. It holds neither a buffer nor
// a pipe, so idle connections cost little.
func (p *pump) await() error {
	p.src.SetReadDeadline(time.Time{})
	return waitReadable(p.src)
}

// move copies in rounds until one was empty. It returns io.EOF at src's end.
//
// The read deadline that ends a round loses no bytes: a splice meets it only
// while its pipe is empty. It comes soon enough for the stream not to look idle. A
// peer that takes nothing for the whole timeout makes it idle.
func (p *pump) move() error {
	for {
		soon := max(p.server.config.Clock.Real(p.table.EstablishedTimeout/8), time.Millisecond)
		p.src.SetReadDeadline(time.Now().Add(min(soon, roundTime)))
		n, err := p.round()
		p.count(n)
		switch {
		case err == nil:
			return io.EOF
		case errors.Is(err, errUseSplice):
			p.splice = true
		case !timedOut(err):
			return err
		case n == 0:
			p.splice = false
			return nil
		}
	}
}

func (p *pump) count(n int64) {
	if n > 0 {
		for _, c := range p.counts {
			c.Add(uint64(n))
		}
	}
}

const copyBufferSize = 16 << 10

var copyBuffers = sync.Pool{New: func() any { return new([copyBufferSize]byte) }}

// round copies until src ends or a deadline passes. Where both are sockets and
// much is there at a time it splices; for short messages that would only cost a
// pipe.
func (p *pump) round() (n int64, err error) {
	src, fromSocket := p.src.(*net.TCPConn)
	dst, toSocket := p.dst.(*net.TCPConn)
	canSplice := fromSocket && toSocket && p.limits == nil
	if canSplice && p.splice {
		if n, err = dst.ReadFrom(src); n > 0 {
			p.watch.touch()
		}
		return n, err
	}
	b := copyBuffers.Get().(*[copyBufferSize]byte)
	defer copyBuffers.Put(b)
	for {
		got, err := p.src.Read(b[:])
		if got > 0 {
			p.watch.touch()
			if err := p.write(b[:got]); err != nil {
				return n, err
			}
			n += int64(got)
		}
		switch {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return n, err
		case canSplice && got == len(b):
			return n, errUseSplice
		}
	}
}

func (p *pump) write(b []byte) error {
	if err := p.limits.wait(p.server.ctx, len(b)); err != nil {
		return err
	}
	_, err := p.dst.Write(b)
	return err
}
