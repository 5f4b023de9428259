package controlclient

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"sync"
)

// InProcess returns a client of a handler in this process. Answers come in pieces,
// as over a connection.
func InProcess(handler http.Handler) *Client {
	return &Client{URL: "http://localhost", HTTP: &http.Client{Transport: Transport(handler)}}
}

// Transport returns a transport that lets a handler of this process answer.
func Transport(handler http.Handler) http.RoundTripper { return &inProcess{handler} }

type inProcess struct{ handler http.Handler }

var _ http.RoundTripper = (*inProcess)(nil)

// RoundTrip implements http.RoundTripper.
func (t *inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, leave := context.WithCancel(r.Context())
	served := r.Clone(ctx)
	if served.Body == nil {
		served.Body = http.NoBody
	}
	reader, writer := io.Pipe()
	w := &answer{header: make(http.Header), body: writer, response: &http.Response{Proto: r.Proto, Request: r}, begun: make(chan struct{})}
	ended := make(chan struct{})
	w.response.Body = &answerBody{reader, leave, ended}
	go func() {
		defer close(ended)
		defer w.end()
		t.handler.ServeHTTP(w, served)
	}()
	<-w.begun
	return w.response, nil
}

// answer receives what a handler writes. Its response is complete when it has begun.
type answer struct {
	header   http.Header
	body     *io.PipeWriter
	response *http.Response
	once     sync.Once
	begun    chan struct{}
}

var _ http.Flusher = (*answer)(nil)
var _ http.ResponseWriter = (*answer)(nil)

// Header implements http.ResponseWriter.
func (w *answer) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *answer) WriteHeader(status int) {
	w.once.Do(func() {
		w.response.StatusCode, w.response.Status = status, http.StatusText(status)
		w.response.Header = maps.Clone(w.header)
		close(w.begun)
	})
}

// Write implements http.ResponseWriter.
func (w *answer) Write(text []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(text)
}

// Flush implements http.Flusher: nothing is kept back.
func (w *answer) Flush() { w.WriteHeader(http.StatusOK) }

// end ends the answer; a handler that gave up leaves it incomplete.
func (w *answer) end() {
	gaveUp := recover()
	if err, ok := gaveUp.(error); gaveUp != nil && !(ok && errors.Is(err, http.ErrAbortHandler)) {
		panic(gaveUp)
	}
	w.WriteHeader(http.StatusOK)
	if gaveUp != nil {
		_ = w.body.CloseWithError(io.ErrUnexpectedEOF) // which never fails
		return
	}
	_ = w.body.Close() // nor does this
}

// answerBody ends the handler's request when it is closed, and waits until the handler
// has returned.
type answerBody struct {
	*io.PipeReader
	leave context.CancelFunc
	ended <-chan struct{}
}

var _ io.Closer = (*answerBody)(nil)

// Close implements io.Closer.
func (b *answerBody) Close() error {
	b.leave()
	err := b.PipeReader.Close()
	<-b.ended
	return err
}
