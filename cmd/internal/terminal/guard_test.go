package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode"
)

// hostile holds characters that terminals act on, and others.
const hostile = "a\x1b[31mred\x1b]0;title\x07\x00\b\r\x7f\u009b31m\u202eevil\u2066\u200f\u2028\ufeff\uffff é 漢 😀\tend\n"

// A guard lets nothing through that a terminal acts on, in whatever pieces it comes,
// but the styles of the program; JSON is the same after it.
func TestGuard(t *testing.T) {
	const want = `a\u001b[31mred\u001b]0;title\u0007\u0000\u0008\u000d\u007f\u009b31m\u202eevil\u2066\u200f\u2028\ufeff\uffff é 漢 😀` + "\tend\n"
	for size := 1; size <= len(hostile); size++ {
		var out bytes.Buffer
		g := Guarded(&out)
		for from := 0; from < len(hostile); from += size {
			if n, err := io.WriteString(g, hostile[from:min(from+size, len(hostile))]); err != nil || n == 0 {
				t.Fatal(n, err)
			}
		}
		if out.String() != want {
			t.Fatalf("in pieces of %d: %q, want %q", size, out.String(), want)
		}
	}
	var out bytes.Buffer
	styled := Bad.Render("no " + Good.Render("yes") + " \x1b[1mno")
	g := Guarded(&out)
	for _, b := range []byte(styled + "\x1b[32mhostile\n") {
		if _, err := g.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := out.String(), "\x1b[31mno \x1b[32myes\x1b[m \\u001b[1mno\x1b[m\\u001b[32mhostile\n"; got != want {
		t.Errorf("styles become %q, want %q", got, want)
	}
	out.Reset()
	text, err := json.Marshal(hostile)
	if err == nil {
		_, err = Guarded(&out).Write(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	var back string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back != hostile {
		t.Errorf("JSON becomes %s, which is %q, %v (%v)", out.Bytes(), back, err, err)
	}
}

// Every way to a Screen is guarded, with and without a terminal.
func TestScreenIsGuarded(t *testing.T) {
	for _, live := range []bool{false, true} {
		var out bytes.Buffer
		s := New(&out)
		s.live = live
		s.Printf("%s", hostile)
		s.Printf("%s", s.Fit(strings.Repeat(hostile, 3), 2))
		s.show(hostile)
		s.show("")
		if err := s.Table([]string{"NAME", "\x1b[2J"}, [][]string{{hostile, Good.Render(hostile)}, {strings.Repeat(hostile, 10), hostile}}); err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(Guarded(&out), hostile)
		text := strings.ReplaceAll(out.String(), "\r\x1b[K", "") // the living line
		if at := strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' || r == 0x202e }); at >= 0 {
			t.Errorf("live %t: %q reaches the terminal", live, text[max(at-10, 0):min(at+20, len(text))])
		}
	}
}
