package forward

import (
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A requestBody is what a client sends after its header. Each read has a
// deadline. Close does nothing, so that a body of which no byte was read can go
// to another member.
type requestBody struct {
	body    io.ReadCloser
	control *http.ResponseController
	timeout time.Duration

	late     atomic.Bool
	mu       sync.Mutex
	finished bool
}

// Read reads what the client sends.
func (b *requestBody) Read(p []byte) (int, error) {
	b.setDeadline(time.Now().Add(b.timeout))
	n, err := b.body.Read(p)
	switch {
	case err == io.EOF:
		b.setDeadline(time.Time{})
	case err != nil && timedOut(err):
		b.late.Store(true)
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

// failed reports whether the client did not send the body in time.
func (b *requestBody) failed() bool {
	return b != nil && b.late.Load()
}

// watch cuts the reply when the member is silent for the request timeout.
func (x *exchange) watch(r *http.Response) {
	if r.Body == http.NoBody {
		return
	}
	b := &replyBody{exchange: x, body: r.Body}
	b.timer = time.AfterFunc(x.web.timeout, func() { x.cancel(errSilentMember) })
	r.Body = b
	if rw, ok := b.body.(io.ReadWriteCloser); ok {
		r.Body = upgraded{b, rw}
	}
}

// A replyBody is what a member sends after its header.
type replyBody struct {
	exchange *exchange
	body     io.ReadCloser
	timer    *time.Timer
}

// Read reads what the member sends.
func (b *replyBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if err == nil {
		b.timer.Reset(b.exchange.web.timeout)
	} else if err != io.EOF {
		b.exchange.web.server.countFailure(b.exchange.target.record)
	}
	return n, err
}

// Close ends the reply.
func (b *replyBody) Close() error {
	b.timer.Stop()
	return b.body.Close()
}

// An upgraded body is a connection of another protocol, such as WebSocket.
type upgraded struct {
	*replyBody
	both io.ReadWriteCloser
}

// Write sends to the member.
func (b upgraded) Write(p []byte) (int, error) {
	b.timer.Reset(b.exchange.web.timeout)
	return b.both.Write(p)
}

// proxyBuffers are the buffers by which replies are copied.
type proxyBuffers struct{}

const proxyBufferSize = 32 << 10

var proxyBufferPool = sync.Pool{New: func() any { return new([proxyBufferSize]byte) }}

// Get returns a buffer.
func (proxyBuffers) Get() []byte { return proxyBufferPool.Get().(*[proxyBufferSize]byte)[:] }

// Put takes a buffer of Get back.
func (proxyBuffers) Put(b []byte) { proxyBufferPool.Put((*[proxyBufferSize]byte)(b)) }
