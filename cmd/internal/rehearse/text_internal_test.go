package rehearse

import (
	"strings"
	"testing"
)

// TestFence proves that no line of a CCM's log ends the block of the page that has it.
func TestFence(t *testing.T) {
	for said, fence := range map[string]string{"one": "```", "```": "````", "a\n````\n# b": "`````", "``": "```"} {
		r := &Report{Phases: []*Phase{{Name: "upgrade", Unrested: said}}}
		if want := "\n" + fence + "\n" + said + "\n" + fence + "\n"; !strings.Contains(r.Markdown(), want) {
			t.Errorf("%q: the page lacks %q:\n%s", said, want, r.Markdown())
		}
	}
}

// TestLines proves that each line of a report is one: a terminal shows a line break within one in quotes.
func TestLines(t *testing.T) {
	r := &Report{Phases: []*Phase{{Name: "upgrade", Unrested: "it ended:\n  one\n  two"}}, Explored: &Explored{Stopped: "a\nb"}}
	for _, line := range r.Lines() {
		if strings.Contains(line, "\n") {
			t.Errorf("%q has several lines", line)
		}
	}
}
