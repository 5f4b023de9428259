package command

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"charm.land/lipgloss/v2"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator/explain"
	"github.com/clbemu/clbemu/emulator/journal"
)

const (
	entryTime = "2006-01-02 15:04:05.000"
	shortTime = "15:04:05.000"
)

// The widths of the columns where there is room for columns; what is longer moves the
// rest of its line.
const (
	actionWidth   = 36
	resourceWidth = 26
	codeWidth     = 34
	roomForAll    = 130
)

// entryLines are entries for people to read: in columns, or below each other where
// the terminal is narrow.
type entryLines struct {
	screen *terminal.Screen
	time   string
	narrow bool
}

func newEntryLines(screen *terminal.Screen) *entryLines {
	l := &entryLines{screen: screen, time: entryTime}
	if width, ok := screen.Width(); ok {
		l.time, l.narrow = shortTime, width < roomForAll
	}
	return l
}

// text returns the line of an entry.
func (l *entryLines) text(e *journal.Entry) string {
	pieces, style := l.call(e), terminal.Style{}
	switch {
	case e.Kind == journal.KindTraffic:
		pieces = l.traffic(e)
		if len(e.Faults) > 0 {
			style = terminal.Odd
		}
	case e.Kind != journal.KindCall:
		pieces, style = l.change(e), terminal.Note
	case len(e.Faults) > 0:
		style = terminal.Odd
	case e.Code != "":
		style = terminal.Bad
	}
	lines := strings.Split(l.fit(pieces), "\n")
	for i := range lines {
		lines[i] = style.Render(strings.TrimRight(lines[i], " "))
	}
	return strings.Join(lines, "\n")
}

// fit puts pieces side by side, and begins another line where one has no room.
func (l *entryLines) fit(pieces []string) string {
	const gap = "  "
	indent := len("! ") + len(l.time) + len(gap)
	width, live := l.screen.Width()
	text, used := pieces[0], lipgloss.Width(pieces[0])
	for _, p := range pieces[1:] {
		wide := lipgloss.Width(p)
		if live && used+len(gap)+wide > width && used > indent {
			text, used = text+"\n"+strings.Repeat(" ", indent), indent
			if indent+wide > width {
				p = strings.ReplaceAll(lipgloss.Wrap(p, max(width-indent, leastLine), ""), "\n", "\n"+strings.Repeat(" ", indent))
				used = width // what comes next has a line of its own
			}
			text, used = text+p, used+wide
			continue
		}
		text, used = text+gap+p, used+len(gap)+wide
	}
	return text
}

// leastLine is the least width of a line.
const leastLine = 20

func (l *entryLines) call(e *journal.Entry) (pieces []string) {
	sign, code := " ", journal.Success
	if e.Code != "" {
		sign, code = "!", e.Code
	}
	if len(e.Faults) > 0 {
		sign = "!"
	}
	pieces = append(pieces, sign+" "+e.Time.Format(l.time))
	for _, column := range []struct {
		text  string
		width int
	}{
		{printable(e.Action), actionWidth}, {printable(cmp.Or(e.Made, e.Resource)), resourceWidth},
		{strconv.Itoa(e.Status) + " " + printable(code), codeWidth}, {fmt.Sprintf("%8.1f ms", e.Milliseconds), 0},
	} {
		switch {
		case !l.narrow:
			pieces = append(pieces, fmt.Sprintf("%-*s", column.width, column.text))
		case column.text != "":
			pieces = append(pieces, strings.TrimSpace(column.text))
		}
	}
	return append(pieces, callDetails(e)...)
}

// callDetails lists the rest of what a line shows of a call: who called, what went wrong with
// it, and the parameters.
func callDetails(e *journal.Entry) (list []string) {
	if caller, _, _ := strings.Cut(e.UserAgent, " "); e.AccessKeyID != "" || caller != "" {
		list = append(list, "by "+printable(strings.Trim(e.AccessKeyID+" "+caller, " ")))
	}
	for _, fault := range e.Faults {
		list = append(list, "fault="+fault)
	}
	if e.Received != "" {
		list = append(list, "received="+e.Received)
	}
	if e.Evidence != "" && explain.Guessed(e.Evidence) {
		list = append(list, "guess="+printable(e.Evidence))
	}
	for _, name := range e.Unread {
		list = append(list, "unread="+printable(name))
	}
	for _, p := range e.Parameters {
		if unreported[p.Name] || p.Value == "" || p.Value == e.Resource && e.Made == "" {
			continue
		}
		list = append(list, printable(p.Name)+"="+short(p.Value))
	}
	return list
}

// unreported are parameters that most calls have.
var unreported = map[string]bool{"RegionId": true, "ClientToken": true, "PageNumber": true, "PageSize": true}

// traffic returns the pieces of the line of a connection, a session or a request, or of what a
// fault struck.
func (l *entryLines) traffic(e *journal.Entry) []string {
	sign := "+ "
	if len(e.Faults) > 0 {
		sign = "! "
	}
	pieces := []string{sign + e.Time.Format(l.time), e.Action, printable(e.Resource)}
	if e.Status != 0 {
		pieces = append(pieces, strconv.Itoa(e.Status))
	}
	if e.Milliseconds != 0 {
		pieces = append(pieces, fmt.Sprintf("%.1f ms", e.Milliseconds))
	}
	return append(pieces, callDetails(e)...)
}

func (l *entryLines) change(e *journal.Entry) []string {
	pieces := []string{"* " + e.Time.Format(l.time), string(e.Kind) + ": " + e.Action}
	for _, p := range e.Parameters {
		pieces = append(pieces, printable(p.Name)+"="+short(p.Value))
	}
	return pieces
}

// short returns a value as a line shows it, cut to 100 letters; JSON has all of it.
func short(value string) string {
	const most = 100
	if letters := []rune(value); len(letters) > most {
		value = string(letters[:most-1]) + "…"
	}
	return printable(value)
}

// printable keeps what a client chose from being more than text: an escape
// sequence would reach the terminal.
func printable(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}
