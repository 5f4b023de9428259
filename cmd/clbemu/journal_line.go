package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/clbemu/clbemu/cmd/clbemu/terminal"
	"github.com/clbemu/clbemu/emulator/journal"
)

const entryTime = "2006-01-02 15:04:05.000"

// The widths of the columns; what is longer moves the rest of its line.
const (
	actionWidth   = 36
	resourceWidth = 26
	codeWidth     = 30
)

// entryLine is an entry for people to read.
func entryLine(e *journal.Entry) string {
	switch line := strings.TrimRight(callLine(e), " "); {
	case e.Kind != journal.KindCall:
		return terminal.Note.Render(changeLine(e))
	case len(e.Faults) > 0:
		return terminal.Odd.Render(line)
	case e.Code != "":
		return terminal.Bad.Render(line)
	default:
		return line
	}
}

func callLine(e *journal.Entry) string {
	sign, code := " ", journal.Success
	if e.Code != "" {
		sign, code = "!", e.Code
	}
	if len(e.Faults) > 0 {
		sign = "!"
	}
	line := fmt.Sprintf("%s %s  %-*s  %-*s  %d %-*s  %8.1f ms", sign, e.Time.Format(entryTime), actionWidth, printable(e.Action),
		resourceWidth, printable(e.Resource), e.Status, codeWidth, printable(code), e.Milliseconds)
	for _, fault := range e.Faults {
		line += "  fault=" + fault
	}
	for _, name := range e.Unread {
		line += "  unread=" + printable(name)
	}
	return line
}

func changeLine(e *journal.Entry) string {
	line := fmt.Sprintf("* %s  %s: %s", e.Time.Format(entryTime), e.Kind, e.Action)
	for _, name := range slices.Sorted(maps.Keys(e.Parameters)) {
		line += "  " + printable(name) + "=" + printable(e.Parameters[name])
	}
	return line
}

// printable keeps what a client chose from being more than text: an escape
// sequence would reach the terminal.
func printable(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}
