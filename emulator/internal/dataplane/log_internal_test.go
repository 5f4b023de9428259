package dataplane

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// TestLogIsBounded proves that the log gets a few lines of a listener whose trouble comes
// again and again, and that another listener is heard next to it.
func TestLogIsBounded(t *testing.T) {
	var b bytes.Buffer
	p := &Plane{cfg: Config{Log: zerolog.New(&b)}}
	one, other := p.logOf("lsn-1"), p.logOf("lsn-2")
	for range 1000 {
		one(errors.New("too many connections"))
	}
	other(errors.New("too many connections"))
	// Ten seconds may end while the lines come.
	if n := strings.Count(b.String(), `"listener":"lsn-1"`); n < logBurst || n > 2*logBurst {
		t.Errorf("%d lines of the first listener, want %d", n, logBurst)
	}
	if n := strings.Count(b.String(), `"listener":"lsn-2"`); n != 1 {
		t.Errorf("%d lines of the second listener, want 1", n)
	}
}
