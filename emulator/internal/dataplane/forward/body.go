package forward

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A requestBody reads what a client sends after its header. Each read has a
// deadline. Close does nothing, so that an unread body can go to another member.
type requestBody struct {
	exchange *exchange
	body     io.ReadCloser
	control  *http.ResponseController

	late     atomic.Bool // the client did not send it in time
	broken   atomic.Bool // it ended early or is malformed
	mu       sync.Mutex
	finished bool
}

// Read reads what the client sends, for which the member need not wait.
func (b *requestBody) Read(p []byte) (int, error) {
	b.exchange.patience.off()
	defer b.exchange.wait()
	b.setDeadline(time.Now().Add(b.exchange.table.RequestTimeout))
	n, err := b.body.Read(p)
	switch {
	case err == io.EOF:
		b.setDeadline(time.Time{})
	case err != nil && timedOut(err):
		b.late.Store(true)
	case err != nil:
		b.broken.Store(true)
	}
	return n, err
}

// Close leaves the body open.
func (b *requestBody) Close() error { return nil }

// setDeadline does nothing once the handler has returned: then the connection
// may be at its next request.
func (b *requestBody) setDeadline(t time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.finished {
		b.control.SetReadDeadline(t)
	}
}

func (b *requestBody) finish() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.finished = true
}

// watched returns a reply's body for which the member has the request timeout
// again whenever it sends something.
func (x *exchange) watched(body io.ReadCloser) io.ReadCloser {
	if body == http.NoBody {
		return body
	}
	b := &replyBody{body, x, x.target.record}
	if both, ok := body.(io.ReadWriteCloser); ok {
		x.upgraded = both
		return upgraded{b, both}
	}
	return b
}

// A replyBody reads what a member sends after its header. That of an upgraded
// connection may still read when the exchange has ended and has no member any more.
type replyBody struct {
	io.ReadCloser
	exchange *exchange
	member   *record
}

// Read reads what the member sends.
func (b *replyBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.exchange.passed.Add(uint64(n))
	if err == nil {
		b.exchange.wait()
	} else if err != io.EOF && !errors.Is(err, net.ErrClosed) { // closed for the client or by a timeout
		b.exchange.web.server.countFailure(b.member)
	}
	return n, err
}

// An upgraded body is a connection of another protocol, such as WebSocket.
type upgraded struct {
	*replyBody
	both io.Writer
}

// Write sends to the member.
func (b upgraded) Write(p []byte) (int, error) {
	b.exchange.wait()
	return b.both.Write(p)
}

// proxyBuffers are the buffers for copying replies.
type proxyBuffers struct{}

const proxyBufferSize = 32 << 10

var proxyBufferPool = sync.Pool{New: func() any { return new([proxyBufferSize]byte) }}

// Get returns a buffer.
func (proxyBuffers) Get() []byte { return proxyBufferPool.Get().(*[proxyBufferSize]byte)[:] }

// Put takes a buffer of Get back.
func (proxyBuffers) Put(b []byte) { proxyBufferPool.Put((*[proxyBufferSize]byte)(b)) }
