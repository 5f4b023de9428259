package terminal

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"unicode/utf8"
)

// Guard lets no control character of a text reach its output: from a server, its clients
// or a file, they could move the cursor, hide lines, or turn them round. It writes them as
// JSON escapes them, \u001b, so that JSON stays the same. Styles, line feeds and tabs
// pass.
type Guard struct {
	out  io.Writer
	rest []byte // of a letter or a style whose end is still to come
}

var _ io.Writer = (*Guard)(nil)

// Guarded returns a guard over a writer, which may be one already.
func Guarded(w io.Writer) *Guard {
	if g, ok := w.(*Guard); ok {
		return g
	}
	return &Guard{out: w}
}

// Unguarded returns the writer behind a guard, and any other writer itself: for text
// that is already escaped and has its own styles.
func Unguarded(w io.Writer) io.Writer {
	if g, ok := w.(*Guard); ok {
		return g.out
	}
	return w
}

// Write implements io.Writer.
func (g *Guard) Write(text []byte) (int, error) {
	all := text
	if len(g.rest) > 0 {
		all = append(g.rest, text...)
	}
	whole := len(all) - unfinished(all)
	g.rest = bytes.Clone(all[whole:])
	if _, err := g.out.Write(passed(all[:whole])); err != nil {
		return 0, err
	}
	return len(text), nil
}

// unfinished returns the length of the incomplete letter or style at the end of text.
func unfinished(text []byte) int {
	for n := 1; n <= min(len(text), len(mark)); n++ {
		end := text[len(text)-n:]
		if strings.HasPrefix(mark, string(end)) && n < len(mark) || n < utf8.UTFMax && utf8.RuneStart(end[0]) && !utf8.FullRune(end) {
			return n
		}
	}
	return 0
}

// mark begins each style of this process. No other process knows its number.
var mark = fmt.Sprintf("\x1b[%d;", 1e9+rand.Uint64N(1e9))

// passed returns text with styles as a terminal knows them, and with no other control.
func passed(text []byte) []byte {
	if clean(text) {
		return text
	}
	var out bytes.Buffer
	for i, part := range bytes.Split(text, []byte(mark)) {
		if i > 0 {
			out.WriteString("\x1b[")
		}
		escape(&out, part)
	}
	return out.Bytes()
}

// clean reports whether there is nothing to escape, and no style. Most text is such.
func clean(text []byte) bool {
	for _, b := range text {
		if b < ' ' && b != '\n' && b != '\t' || b >= 0x7f {
			return false
		}
	}
	return true
}

func escape(out *bytes.Buffer, text []byte) {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1:
			out.WriteRune(utf8.RuneError)
		case controls(r):
			fmt.Fprintf(out, `\u%04x`, r)
		default:
			out.Write(text[:size])
		}
		text = text[size:]
	}
}

// Escape returns text with its controls escaped.
func Escape(text string) string {
	if clean([]byte(text)) {
		return text
	}
	var out bytes.Buffer
	escape(&out, []byte(text))
	return out.String()
}

// controls reports whether a letter does something to those next to it: C0, C1, marks
// of direction, separators of lines, and what is no letter.
func controls(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r < ' ', r >= 0x7f && r < 0xa0:
		return true
	case r == 0x061c, r >= 0x200e && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return r == 0xfeff || r == 0xfffe || r == 0xffff
}
