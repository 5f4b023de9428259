package terminal

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Style is a text style. The zero Style leaves text unchanged.
type Style struct{ look lipgloss.Style }

// The styles. Those who want no colour say so by NO_COLOR.
var (
	Good = Style{lipgloss.NewStyle().Foreground(lipgloss.Green)}
	Bad  = Style{lipgloss.NewStyle().Foreground(lipgloss.Red)}
	Odd  = Style{lipgloss.NewStyle().Foreground(lipgloss.Yellow)}
	Note = Style{lipgloss.NewStyle().Foreground(lipgloss.Cyan)}
	// Title is for headings.
	Title = Style{lipgloss.NewStyle().Bold(true)}
)

// Render returns text that looks so where a Screen or a Guard writes it.
func (s Style) Render(text string) string { return marked(s.look.Render(safe(text))) }

// safe returns the text with all control characters escaped but styles.
func safe(text string) string {
	parts := strings.Split(text, mark)
	for i := range parts {
		parts[i] = Escape(parts[i])
	}
	return strings.Join(parts, mark)
}

// marked marks the styles of text in which nothing else is a control.
func marked(text string) string {
	const begin = "\x1b["
	parts := strings.Split(text, mark)
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], begin, mark)
	}
	return strings.Join(parts, mark)
}
