package forward

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestQUICID(t *testing.T) {
	for name, tt := range map[string]struct{ packet, want string }{
		"Long":      {"\xc0\x00\x00\x00\x01\x03abcdef", "abc"},
		"LongNone":  {"\xc0\x00\x00\x00\x01\x00abcdef", ""},
		"LongCut":   {"\xc0\x00\x00\x00\x01\x09abcdef", ""},
		"LongShort": {"\xc0\x00\x00\x00\x01", ""},
		"Short":     {"\x4012345678rest", "12345678"},
		"ShortCut":  {"\x401234567", ""},
		"Empty":     {"", ""},
	} {
		if got := quicID([]byte(tt.packet)); string(got) != tt.want {
			t.Errorf("%s: quicID = %q, want %q", name, got, tt.want)
		}
	}
}

func FuzzQUICID(f *testing.F) {
	f.Add([]byte("\xc0\x00\x00\x00\x01\x03abcdef"))
	f.Add([]byte("\x4012345678rest"))
	f.Fuzz(func(t *testing.T, packet []byte) {
		if id := quicID(packet); len(id) > 0 && !bytes.Contains(packet, id) {
			t.Errorf("quicID(%x) = %x, which the packet lacks", packet, id)
		}
	})
}

func FuzzInserted(f *testing.F) {
	f.Add("0123456789abcdef|1700000000|1600000000")
	f.Add("|-1|")
	f.Fuzz(func(t *testing.T, text string) {
		c, ok := parseInserted(text)
		if !ok {
			return
		}
		if again, ok := parseInserted(c.String()); !ok || again != c {
			t.Errorf("parseInserted(%q) = %+v, written and read again %+v", text, c, again)
		}
	})
}

func TestRewriteCookie(t *testing.T) {
	lines := []string{"other=1; Path=/", "JSESSIONID=abc; Path=/; HttpOnly", "JSESSIONID=abc", "malformed"}
	rewriteCookie(lines, "JSESSIONID", "v")
	want := "other=1; Path=/ JSESSIONID=v; Path=/; HttpOnly JSESSIONID=v malformed"
	if got := strings.Join(lines, " "); got != want {
		t.Errorf("cookies are %q, want %q", got, want)
	}
}

func FuzzRewriteCookie(f *testing.F) {
	f.Add("JSESSIONID=abc; Path=/")
	f.Fuzz(func(t *testing.T, line string) {
		lines := []string{line}
		rewriteCookie(lines, "JSESSIONID", "v")
		_, attributes, _ := strings.Cut(line, ";")
		if _, got, _ := strings.Cut(lines[0], ";"); got != attributes {
			t.Errorf("the attributes of %q become %q", line, got)
		}
	})
}

func TestAcceptsGzip(t *testing.T) {
	for accept, want := range map[string]bool{
		"": false, "gzip": true, "deflate, GZIP": true, "gzip;q=0": false, "gzip; q=0.5": true, "gzip;q=x": false, "br": false,
	} {
		if got := acceptsGzip(http.Header{"Accept-Encoding": {accept}}); got != want {
			t.Errorf("acceptsGzip(%q) = %v, want %v", accept, got, want)
		}
	}
}

func TestPersistenceBound(t *testing.T) {
	var p persistence
	now := time.Unix(1e9, 0)
	for i := range maxPersistent + 10 {
		p.put(someClient(i).from.Addr(), "a", now, now.Add(time.Minute))
	}
	if len(p.entries) != maxPersistent {
		t.Errorf("%d sources are kept, want %d", len(p.entries), maxPersistent)
	}
	later := now.Add(time.Hour)
	p.put(someClient(maxPersistent+20).from.Addr(), "a", later, later.Add(time.Minute))
	if len(p.entries) != 1 {
		t.Errorf("%d sources are kept after their time, want 1", len(p.entries))
	}
}

// TestBucket checks how long bytes wait at 1,000 bytes a second.
func TestBucket(t *testing.T) {
	b := bucket{rate: 1000}
	now := time.Unix(1e9, 0)
	for _, tt := range []struct {
		after time.Duration
		n     int
		want  time.Duration
	}{{0, 100, 0}, {0, 900, 900 * time.Millisecond}, {time.Second, 100, 0}} {
		now = now.Add(tt.after)
		if got := b.take(now, tt.n); got != tt.want {
			t.Errorf("take(%d) = %v, want %v", tt.n, got, tt.want)
		}
	}
	if !b.allow(now, 1) || b.allow(now, 1) {
		t.Error("a packet within the burst is dropped, or one beyond it is not")
	}
}

// TestUDPRelease checks which members' connections are cut after a time.
func TestUDPRelease(t *testing.T) {
	up, off := &Member{Addr: someClient(1).from, Weight: 1}, &Member{Addr: someClient(1).from}
	for _, tt := range []struct {
		plan   Plan
		member *Member
		want   bool
	}{
		{Plan{Protocol: UDP}, up, false},
		{Plan{Protocol: UDP}, off, true},
		{Plan{Protocol: UDP}, nil, true},
		{Plan{Protocol: TCP}, nil, false},
		{Plan{Protocol: TCP, Drain: Drain{On: true, Timeout: time.Hour}}, off, false},
		{Plan{Protocol: TCP, Drain: Drain{On: true, Timeout: time.Hour}}, nil, true},
	} {
		r := &record{clock: MachineClock{}}
		r.follow(&tt.plan, tt.member)
		if got := r.stop != nil; got != tt.want {
			t.Errorf("the connections of %+v will be cut: %v, want %v", tt.member, got, tt.want)
		}
		r.follow(&tt.plan, up)
		if r.stop != nil {
			t.Errorf("the connections of %+v will be cut though it is back", tt.member)
		}
	}
}
