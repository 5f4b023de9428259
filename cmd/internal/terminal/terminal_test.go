package terminal

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"charm.land/lipgloss/v2"
)

// TestLog proves that what takes long is a line a minute where no terminal is, with
// no escape sequence.
func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s, began := New(&out), time.Now()
		stop := s.Live(func() string { return fmt.Sprint("at ", time.Since(began)) })
		time.Sleep(30 * time.Second)
		s.Printf("%s\n", Bad.Render("in between"))
		time.Sleep(2 * time.Minute)
		stop()
		time.Sleep(time.Hour)
		if want := "in between\nat 1m0s\nat 2m0s\n"; out.String() != want {
			t.Errorf("the log is %q, want %q", out.String(), want)
		}
	})
}

// TestLive proves that the living line is drawn again and again, below what is
// printed, that the width cuts it, and that nothing is left of it.
func TestLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := New(&out)
		s.live, s.width = true, func() int { return 12 }
		n := 0
		stop := s.Live(func() string { n++; return fmt.Sprint("step ", n, " of many") })
		time.Sleep(900 * time.Millisecond)
		s.mu.Lock()
		if out.Len() > 0 {
			t.Errorf("before it takes long, there is %q", out.String())
		}
		s.mu.Unlock()
		time.Sleep(200 * time.Millisecond)
		s.Printf("printed\n")
		stop()
		stop()
		const erase = "\r\x1b[K"
		drawn := strings.Split(out.String(), erase)
		if len(drawn) < 3 || !strings.Contains(drawn[0], "step 1 of") && !strings.HasSuffix(drawn[0], "…") || !strings.HasPrefix(drawn[1], "printed\n") || drawn[len(drawn)-1] != "" {
			t.Errorf("the terminal got %q, want the line, what is printed, the line and nothing", out.String())
		}
		for _, line := range drawn {
			if shown := []rune(strings.TrimPrefix(line, "printed\n")); len(shown) > 11 {
				t.Errorf("%q is wider than the terminal", string(shown))
			}
		}
	})
}

// TestWideLine proves that the living line counts columns: what takes two, as Chinese
// names do, must not get the line to break, as nothing erases what is above.
func TestWideLine(t *testing.T) {
	var out bytes.Buffer
	s := New(&out)
	s.live, s.width = true, func() int { return 12 }
	s.show("运行中 正在创建负载均衡")
	if shown := out.String(); lipgloss.Width(shown) > 11 || !strings.HasSuffix(shown, "…") {
		t.Errorf("%q takes %d columns of 12, want less, and a cut", shown, lipgloss.Width(shown))
	}
}

// TestTable proves that columns are aligned, also below wide letters, and that
// nothing stands behind the last one.
func TestTable(t *testing.T) {
	var out bytes.Buffer
	if err := New(&out).Table([]string{"NAME", "ABOUT"}, [][]string{{"a", "first"}, {"负载均衡", "second"}, {"b", ""}}); err != nil {
		t.Fatal(err)
	}
	if want := "NAME      ABOUT\na         first\n负载均衡  second\nb\n"; out.String() != want {
		t.Errorf("the table is\n%s\nwant\n%s", out.String(), want)
	}
	out.Reset()
	if err := New(&out).Table([]string{"NAME", "ABOUT"}, nil); err != nil || out.String() != "NAME  ABOUT\n" {
		t.Errorf("an empty table is %q, %v", out.String(), err)
	}
}

// TestIs proves that a file is no terminal.
func TestIs(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if Is(f) || Is(&bytes.Buffer{}) {
		t.Error("a file is taken for a terminal")
	}
}

// TestTransfer proves what is shown of an import at each stage of it.
func TestTransfer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		transfer := New(&out).Transfer("importing", 3<<20)
		from := transfer.Reader(strings.NewReader(strings.Repeat("x", 3<<20)))
		for _, n := range []int64{0, 1 << 10, 1 << 20, 2<<20 - 1<<10} {
			if _, err := io.CopyN(io.Discard, from, n); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		transfer.Stop()
		want := "importing: 1m0s\nimporting: 1 KiB of 3.0 MiB, 2m0s\nimporting: 1.0 MiB of 3.0 MiB, 3m0s\nimporting: all 3.0 MiB are read and are put in place, 4m0s\n"
		if out.String() != want {
			t.Errorf("the log is\n%s\nwant\n%s", out.String(), want)
		}
		out.Reset()
		transfer = New(&out).Transfer("exporting", 0)
		if _, err := transfer.Writer(io.Discard).Write(make([]byte, 5<<20)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		transfer.Stop()
		if out.String() != "exporting: 5.0 MiB, 1m0s\n" {
			t.Errorf("the log is %q", out.String())
		}
	})
}

// TestFit proves that long lines go on below their text, and that a file gets them
// as they are.
func TestFit(t *testing.T) {
	s := New(&bytes.Buffer{})
	const text = "short\n  to do     one two three four five\n            six seven eight nine ten\nno label before these many words\n"
	if got := s.Fit(text, 12); got != text {
		t.Errorf("outside a terminal the text is %q", got)
	}
	s.live, s.width = true, func() int { return 26 }
	want := "short\n  to do     one two three\n            four five\n            six seven\n            eight nine ten\nno label before these\n  many words\n"
	if got := s.Fit(text, 12); got != want {
		t.Errorf("on a terminal the text is\n%s\nwant\n%s", got, want)
	}
}

// TestNarrow proves that what is in the last column goes on below itself where the
// terminal is narrow, in a table and in a text of columns.
func TestNarrow(t *testing.T) {
	var out bytes.Buffer
	s := New(&out)
	s.live, s.width = true, func() int { return 33 }
	if err := s.Table([]string{"A", "ABOUT"}, [][]string{{"one", "two three four five six seven eight"}, {"b", "c"}}); err != nil {
		t.Fatal(err)
	}
	if want := "A    ABOUT\none  two three four five six\n     seven eight\nb    c\n"; out.String() != want {
		t.Errorf("the table is\n%s\nwant\n%s", out.String(), want)
	}
	out.Reset()
	if err := s.Table([]string{"A", "B"}, [][]string{{"a column that takes all the room", "gone"}}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if len(strings.TrimRight(line, "\n")) > 33 {
			t.Errorf("%q is wider than the terminal", line)
		}
	}
	const help = "      --a int   one two three four\nplain text of one column that is long\n"
	if got, want := s.Fit(help, LastColumn), "      --a int   one two three\n                four\nplain text of one column that\n  is long\n"; got != want {
		t.Errorf("the text is\n%s\nwant\n%s", got, want)
	}
}

// TestNoColumnIsLost proves that a narrow terminal shows the columns from the left,
// with long names shortened and addresses whole, and names those that it has no room for.
func TestNoColumnIsLost(t *testing.T) {
	header := []string{"ID", "NAME", "STATUS", "ADDRESS", "LISTENERS", "SERVERS", "PRODUCT", "TYPE"}
	row := []string{"lb-bp1f1369mvjhyc6c60umw", "a-load-balancer-with-a-rather-long-name-of-its-service-in-production", "active", "198.18.0.1", "2", "3", "Slb", "internet"}
	long := slices.Clone(row)
	long[3] = "198.18.165.234"
	for _, test := range []struct {
		row   []string
		width int
		want  []string
	}{
		{row, 80, []string{"lb-bp1f1369mvjhyc6c60umw  a-load-balanc…  active  198.18.0.1  2          3", "Left out, as the terminal is narrow: PRODUCT, TYPE."}},
		{long, 80, []string{"lb-bp1f1369mvjhyc6c60umw  a-load-balancer-wi…  active  198.18.165.234  2\n", "Left out, as the terminal is narrow: SERVERS, PRODUCT, TYPE."}},
		{row, 100, []string{"lb-bp1f1369mvjhyc6c60umw  a-load-balance…  active  198.18.0.1  2          3        Slb      internet"}},
		{row, 20, []string{"lb-bp1f1369mvjhyc6c60umw", "narrow: NAME,"}},
	} {
		var out bytes.Buffer
		s := New(&out)
		s.live, s.width = true, func() int { return test.width }
		if err := s.Table(header, [][]string{test.row}); err != nil {
			t.Fatal(err)
		}
		for _, w := range test.want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("on %d columns the table is\n%s\nwant %q", test.width, out.String(), w)
			}
		}
	}
}
