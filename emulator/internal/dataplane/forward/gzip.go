package forward

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// compressible are the media types of replies to compress.
var compressible = map[string]bool{
	"text/xml": true, "text/plain": true, "text/css": true,
	"application/javascript": true, "application/x-javascript": true,
	"application/rss+xml": true, "application/atom+xml": true, "application/xml": true,
}

// compress compresses the reply with gzip, where its client and type allow that.
func compress(r *http.Response, in *http.Request) {
	if !compresses(r, in) {
		return
	}
	r.Body = newGzipBody(r.Body)
	r.ContentLength = -1
	r.Header.Del("Content-Length")
	r.Header.Del("Accept-Ranges")
	r.Header.Set("Content-Encoding", "gzip")
	r.Header.Add("Vary", "Accept-Encoding")
	if tag := r.Header.Get("Etag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		r.Header.Set("Etag", "W/"+tag)
	}
}

func compresses(r *http.Response, in *http.Request) bool {
	if in.Method == http.MethodHead || !in.ProtoAtLeast(1, 1) || r.ContentLength == 0 || r.Body == http.NoBody {
		return false
	}
	switch r.StatusCode {
	case http.StatusSwitchingProtocols, http.StatusNoContent, http.StatusPartialContent, http.StatusNotModified:
		return false
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && compressible[kind] && r.Header.Get("Content-Encoding") == "" && acceptsGzip(in.Header)
}

// acceptsGzip reports whether the client wants gzip.
func acceptsGzip(h http.Header) bool {
	for _, line := range h.Values("Accept-Encoding") {
		for item := range strings.SplitSeq(line, ",") {
			coding, parameters, _ := strings.Cut(item, ";")
			if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
				continue
			}
			q, given := strings.CutPrefix(strings.TrimSpace(parameters), "q=")
			quality, err := strconv.ParseFloat(q, 64)
			return !given || err == nil && quality > 0
		}
	}
	return false
}

var gzipWriters = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // a level that exists
	return w
}}

// A gzipBody compresses what it reads. What one read of the body gave, the
// client can have: replies that come bit by bit do not wait.
type gzipBody struct {
	body   io.ReadCloser
	writer *gzip.Writer
	ready  bytes.Buffer
	err    error
}

func newGzipBody(body io.ReadCloser) *gzipBody {
	b := &gzipBody{body: body, writer: gzipWriters.Get().(*gzip.Writer)}
	b.writer.Reset(&b.ready)
	return b
}

// Read reads compressed bytes.
func (b *gzipBody) Read(p []byte) (int, error) {
	for b.ready.Len() == 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.fill()
	}
	return b.ready.Read(p)
}

func (b *gzipBody) fill() {
	chunk := copyBuffers.Get().(*[copyBufferSize]byte)
	defer copyBuffers.Put(chunk)
	var n int
	n, b.err = b.body.Read(chunk[:])
	b.writer.Write(chunk[:n])
	switch {
	case errors.Is(b.err, io.EOF):
		b.writer.Close()
	case n > 0:
		b.writer.Flush()
	}
}

// Close ends the body.
func (b *gzipBody) Close() error {
	if b.writer != nil {
		gzipWriters.Put(b.writer)
		b.writer = nil
	}
	b.err = io.ErrClosedPipe
	return b.body.Close()
}
