package terminal

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// Transfer shows the progress of a transfer or of another long task.
type Transfer struct {
	what  string
	total int64 // in bytes, 0 if unknown
	begun time.Time
	moved atomic.Int64
	stop  func()
}

// Transfer begins to show its progress, until Stop.
func (s *Screen) Transfer(what string, total int64) *Transfer {
	t := &Transfer{what: what, total: total, begun: time.Now()}
	t.stop = s.Live(t.String)
	return t
}

// Stop removes the line.
func (t *Transfer) Stop() { t.stop() }

// Reader counts the bytes read.
func (t *Transfer) Reader(r io.Reader) io.Reader { return io.TeeReader(r, (*counter)(&t.moved)) }

// Writer counts the bytes written.
func (t *Transfer) Writer(w io.Writer) io.Writer { return io.MultiWriter(w, (*counter)(&t.moved)) }

// counter counts bytes.
type counter atomic.Int64

var _ io.Writer = (*counter)(nil)

// Write implements io.Writer.
func (c *counter) Write(text []byte) (int, error) {
	(*atomic.Int64)(c).Add(int64(len(text)))
	return len(text), nil
}

// String describes the progress.
func (t *Transfer) String() string {
	moved, took := t.moved.Load(), time.Since(t.begun).Truncate(time.Second)
	switch {
	case moved == 0:
		return fmt.Sprintf("%s: %s", t.what, took)
	case t.total > 0 && moved < t.total:
		return fmt.Sprintf("%s: %s of %s, %s", t.what, size(moved), size(t.total), took)
	case t.total > 0:
		return fmt.Sprintf("%s: all %s are read and are put in place, %s", t.what, size(moved), took)
	}
	return fmt.Sprintf("%s: %s, %s", t.what, size(moved), took)
}

func size(bytes int64) string {
	const kib, mib = 1 << 10, 1 << 20
	if bytes < mib {
		return fmt.Sprintf("%d KiB", (bytes+kib-1)/kib)
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/mib)
}
