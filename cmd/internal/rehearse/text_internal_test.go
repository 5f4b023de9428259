package rehearse

import (
	"strings"
	"testing"

	"github.com/clbemu/clbemu/cmd/internal/explore"
)

// TestLog proves that no line of a CCM's log ends the block of the page that has it.
func TestLog(t *testing.T) {
	r := &Report{Phases: []*Phase{{Name: "upgrade", Unrested: "it ended:\n```\n# one\n"}}}
	if want := "\n\n    it ended:\n    ```\n    # one\n"; !strings.Contains(r.Markdown(), want) {
		t.Errorf("the page lacks %q:\n%s", want, r.Markdown())
	}
}

// TestLines proves that each line of a report is one: a terminal shows a line break within one in quotes.
func TestLines(t *testing.T) {
	r := &Report{Phases: []*Phase{{Name: "upgrade", Unrested: "it ended:\n  one\n  two"}}, Explored: &Explored{Stopped: "a\nb", Findings: []explore.Finding{{Rule: "a\nb", Expected: "a\nb", Seen: "a\nb"}}}}
	for _, line := range r.Lines() {
		if strings.Contains(line, "\n") {
			t.Errorf("%q has several lines", line)
		}
	}
}
