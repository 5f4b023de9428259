// Package terminal formats clbemu's output for people: colours, tables, lines that
// fit the width, and a progress line. In a file or a log it omits colours and writes
// the progress line once a minute. It must not know what it shows.
package terminal

import (
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// Is reports whether a person may see the output.
func Is(w io.Writer) bool {
	f, ok := Unguarded(w).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// NoColour reports whether the user wishes no colour, by the convention of no-color.org.
func NoColour() bool { return os.Getenv("NO_COLOR") != "" }

// defaultWidth is for terminals that don't tell theirs.
const defaultWidth = 80

// Screen writes text, with the living line below it. It is safe for concurrent use.
type Screen struct {
	out   io.Writer // guards, and takes colours away where they don't belong
	raw   io.Writer
	live  bool
	width func() int

	mu   sync.Mutex
	line string // the living one
}

var _ io.Writer = (*Screen)(nil)

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

// Width returns the width of the terminal, if it is one.
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
		_, _ = io.WriteString(s.raw, "\r\x1b[K") // a closed terminal shows nothing
	}
}

// draw shows the living line, which the width of the terminal cuts.
func (s *Screen) draw() {
	if !s.live || s.line == "" {
		return
	}
	line := strings.ReplaceAll(Escape(s.line), "\n", " ")
	if most := s.width() - 1; most > 0 {
		line = shortened(line, most)
	}
	_, _ = io.WriteString(s.raw, line)
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
	// patience is the time after which a running task gets a line.
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

// LastColumn is a column of Fit: the last column of a line of several, which
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

// lastColumn returns where the last column of a line starts, or 0 if it is the only one.
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

// leastColumn is the least width of a table's last column.
const leastColumn = 20

// Table prints rows under a header, in columns. Where they are wider than the
// terminal, the last column goes on in the next lines; where that does not help, long
// cells are shortened, and columns that still have no room are left out and named. A
// file or a pipe gets all of them.
func (s *Screen) Table(header []string, rows [][]string) error {
	safeRows := make([][]string, len(rows))
	for i, row := range rows {
		safeRows[i] = make([]string, len(row))
		for n, cell := range row {
			safeRows[i][n] = safe(cell)
		}
	}
	rows = safeRows
	var left []string
	if s.live && len(header) > 1 {
		header, rows, left = fitColumns(header, rows, s.width())
	}
	t := table.New().Headers(header...).Rows(rows...).Wrap(true).
		BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).BorderHeader(false).BorderColumn(false).BorderRow(false).
		StyleFunc(func(row, column int) lipgloss.Style {
			style := lipgloss.NewStyle()
			if row == table.HeaderRow {
				style = Title.look
			}
			if column < len(header)-1 {
				style = style.PaddingRight(gap)
			}
			return style
		})
	var text strings.Builder
	for line := range strings.Lines(t.String()) {
		line = strings.TrimRight(line, " \n")
		text.WriteString(marked(line) + "\n")
	}
	if len(left) > 0 {
		text.WriteString(s.Fit("Left out, as the terminal is narrow: "+strings.Join(left, ", ")+". A pipe and -o json have all.\n", 0))
	}
	_, err := io.WriteString(s, text.String())
	return err
}

// leastShort is the least width of a shortened cell.
const leastShort = 12

// gap is between the columns of a table.
const gap = 2

// fitColumns makes a table fit: it breaks what is in the last column, or else shortens
// the widest cells outside the first column, and then leaves out the last columns,
// which it returns.
func fitColumns(header []string, rows [][]string, width int) (keptHeader []string, keptRows [][]string, left []string) {
	widths := columnWidths(header, rows)
	last := len(header) - 1
	if room := width - tableWidth(widths[:last]) - gap; room >= leastColumn || tableWidth(widths) <= width {
		fitted := make([][]string, len(rows))
		for i, row := range rows {
			fitted[i] = append(slices.Clone(row[:last]), lipgloss.Wrap(row[last], max(room, 1), ""))
		}
		return header, fitted, nil
	}
	least := leastWidths(header, rows, widths)
	count := len(header)
	for count > 1 && tableWidth(least[:count]) > width {
		count--
	}
	widths = widths[:count]
	for count > 1 && tableWidth(widths) > width {
		widest := -1 // of those that may be narrower
		for column := range widths {
			if widths[column] > least[column] && (widest < 0 || widths[column] > widths[widest]) {
				widest = column
			}
		}
		widths[widest]--
	}
	fitted := make([][]string, len(rows))
	for i, row := range rows {
		for column, width := range widths {
			fitted[i] = append(fitted[i], shortened(row[column], width))
		}
	}
	return header[:count], fitted, header[count:]
}

func columnWidths(header []string, rows [][]string) []int {
	widths := make([]int, len(header))
	for column, name := range header {
		widths[column] = lipgloss.Width(name)
		for _, row := range rows {
			widths[column] = max(widths[column], lipgloss.Width(row[column]))
		}
	}
	return widths
}

// leastWidths returns the least widths of the columns. The first has ids; like addresses
// they are useless when cut.
func leastWidths(header []string, rows [][]string, widths []int) []int {
	least := slices.Clone(widths)
	for column := 1; column < len(least); column++ {
		if !slices.ContainsFunc(rows, func(row []string) bool { return isAddress(row[column]) }) {
			least[column] = min(least[column], max(leastShort, lipgloss.Width(header[column])))
		}
	}
	return least
}

func isAddress(cell string) bool {
	_, err := netip.ParseAddr(cell)
	return err == nil
}

func tableWidth(widths []int) int {
	all := gap * max(len(widths)-1, 0)
	for _, width := range widths {
		all += width
	}
	return all
}

// shortened cuts a text that takes more columns.
func shortened(text string, columns int) string { return ansi.Truncate(text, columns, "…") }
