// Package terminal owns what people see of clbemu: colours, tables, what fits into
// a line, and the line that lives while something takes long. Where nobody looks,
// in a file or a log, colours go away and the living line becomes a line a minute.
// It must not know what is shown.
package terminal

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
	"github.com/charmbracelet/colorprofile"
	"golang.org/x/term"
)

// Is tells whether a person may look at what is written.
func Is(w io.Writer) bool {
	f, ok := Unguarded(w).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// NoColour is the user's wish for none, by the convention of no-color.org.
func NoColour() bool { return os.Getenv("NO_COLOR") != "" }

// defaultWidth is for terminals that don't tell theirs.
const defaultWidth = 80

// Screen is where text goes, with the living line below it. It is safe for
// concurrent use.
type Screen struct {
	out   io.Writer // guards, and takes colours away where they don't belong
	raw   io.Writer
	live  bool
	width func() int

	mu   sync.Mutex
	line string // the living one
}

// New returns a screen over a terminal, a file or a pipe.
func New(w io.Writer) *Screen {
	w = Unguarded(w)
	s := &Screen{out: Guarded(coloured(w)), raw: w, live: Is(w), width: func() int { return defaultWidth }}
	if f, ok := w.(*os.File); ok && s.live {
		s.width = func() int {
			if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
				return width
			}
			return defaultWidth
		}
	}
	return s
}

// coloured passes on what a writer may show.
func coloured(w io.Writer) io.Writer {
	if NoColour() {
		return &colorprofile.Writer{Forward: w, Profile: colorprofile.NoTTY}
	}
	return colorprofile.NewWriter(w, os.Environ())
}

// Width is that of the terminal, if it is one.
func (s *Screen) Width() (width int, live bool) { return s.width(), s.live }

// Write implements io.Writer.
func (s *Screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	n, err := s.out.Write(text)
	if strings.HasSuffix(string(text), "\n") {
		s.draw()
	}
	return n, err
}

// Printf prints.
func (s *Screen) Printf(format string, args ...any) { fmt.Fprintf(s, format, args...) }

// erase takes the living line away.
func (s *Screen) erase() {
	if s.live && s.line != "" {
		_, _ = io.WriteString(s.raw, "\r\x1b[K") // a terminal that is gone shows nothing
	}
}

// draw shows the living line, which the width of the terminal cuts.
func (s *Screen) draw() {
	if !s.live || s.line == "" {
		return
	}
	line := []rune(strings.ReplaceAll(Escape(s.line), "\n", " "))
	if most := s.width() - 1; len(line) > most && most > 0 {
		line = append(line[:most-1], '…')
	}
	_, _ = io.WriteString(s.raw, string(line))
}

func (s *Screen) show(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	s.line = line
	s.draw()
}

// The pace of the living line, on a terminal and in a log.
const (
	livePace = 200 * time.Millisecond
	logPace  = time.Minute
	// patience is how long something takes before it is worth a line.
	patience = time.Second
)

// spinner shows that time goes on.
var spinner = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// Live shows how something goes that takes long, until it is stopped.
func (s *Screen) Live(describe func() string) (stop func()) {
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		s.follow(describe, done)
	}()
	var once sync.Once
	return func() { once.Do(func() { close(done); <-over; s.show("") }) }
}

func (s *Screen) follow(describe func() string, done <-chan struct{}) {
	pace := logPace
	if s.live {
		pace = livePace
	}
	begin, ticker := time.Now(), time.NewTicker(pace)
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-done:
			return
		case <-ticker.C:
		}
		switch {
		case !s.live:
			s.Printf("%s\n", describe())
		case time.Since(begin) >= patience:
			s.show(spinner[n%len(spinner)] + " " + describe())
		}
	}
}

// LastColumn is a column of Fit: that of the last column of a line of several, which
// are two spaces or more apart.
const LastColumn = -1

// Fit breaks lines that a terminal would break within a word. What a line goes on
// with is indented as far as its first column goes, or as a column says.
func (s *Screen) Fit(text string, column int) string {
	if !s.live {
		return text
	}
	var fitted strings.Builder
	for line := range strings.Lines(text) {
		from := column
		if from == LastColumn {
			from = lastColumn(line)
		}
		fitted.WriteString(fit(line, s.width(), from))
	}
	return fitted.String()
}

// lastColumn is where the last column of a line begins, 0 if it has one alone.
func lastColumn(line string) int {
	start := len(line) - len(strings.TrimLeft(line, " "))
	if gap := strings.LastIndex(strings.TrimRight(line, " \n"), "  "); gap > start {
		return gap + 2
	}
	return 0
}

func fit(line string, width, column int) string {
	line = safe(line)
	if lipgloss.Width(line) <= width || width < 2*column {
		return line
	}
	end := strings.TrimLeft(line, " ")
	if start := len(line) - len(end); start < column && len(line) > column && (start > 0 || column > 0 && line[column-1] == ' ') {
		end = line[column:] // a label stands before it
	}
	first := line[:len(line)-len(end)]
	indent := strings.Repeat(" ", max(lipgloss.Width(first), 2))
	wrapped := lipgloss.Wrap(strings.TrimRight(end, "\n"), width-len(indent), "")
	return marked(first+strings.ReplaceAll(wrapped, "\n", "\n"+indent)) + line[len(strings.TrimRight(line, "\n")):]
}

// leastColumn is how narrow the last column of a table may become.
const leastColumn = 20

// Table prints rows under a header, in columns. Where they are wider than the
// terminal, the last goes on in the next lines, and where that does not help they are
// cut: a file or a pipe gets all of them.
func (s *Screen) Table(header []string, rows [][]string) error {
	safeRows := make([][]string, len(rows))
	for i, row := range rows {
		safeRows[i] = make([]string, len(row))
		for n, cell := range row {
			safeRows[i][n] = safe(cell)
		}
	}
	rows = safeRows
	if s.live {
		rows = narrowed(header, rows, s.width())
	}
	t := table.New().Headers(header...).Rows(rows...).Wrap(true).
		BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).BorderHeader(false).BorderColumn(false).BorderRow(false).
		StyleFunc(func(row, column int) lipgloss.Style {
			style := lipgloss.NewStyle()
			if row == table.HeaderRow {
				style = Title.look
			}
			if column < len(header)-1 {
				style = style.PaddingRight(2)
			}
			return style
		})
	var text strings.Builder
	for line := range strings.Lines(t.String()) {
		line = strings.TrimRight(line, " \n")
		if s.live {
			line = lipgloss.NewStyle().MaxWidth(s.width()).Render(line)
		}
		text.WriteString(marked(line) + "\n")
	}
	_, err := io.WriteString(s, text.String())
	return err
}

// narrowed breaks what is in the last column, if that makes the table fit.
func narrowed(header []string, rows [][]string, width int) [][]string {
	last := len(header) - 1
	room := width
	for column := range last {
		widest := lipgloss.Width(header[column])
		for _, row := range rows {
			widest = max(widest, lipgloss.Width(row[column]))
		}
		room -= widest + 2
	}
	if room < leastColumn {
		return rows
	}
	fitted := make([][]string, len(rows))
	for i, row := range rows {
		fitted[i] = append(slices.Clone(row[:last]), lipgloss.Wrap(row[last], room, ""))
	}
	return fitted
}
