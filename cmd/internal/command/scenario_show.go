package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/scenarios"
)

// say prints progress, but not for programs that read JSON.
func (r *scenarioRun) say(format string, args ...any) {
	if !r.printer.forPrograms() {
		r.screen.Printf(format, args...)
	}
}

func (r *scenarioRun) progress(step scenarios.StepDone) {
	r.wait.clear()
	mark := terminal.Good.Render("ok    ")
	if !step.Passed {
		mark = terminal.Bad.Render("failed")
	}
	r.say("  %s %4d  %s\n", mark, step.Line, step.Title)
}

func (r *scenarioRun) waiting(w scenarios.Waiting) {
	if !r.printer.forPrograms() {
		r.wait.update(w)
	}
}

// waitLine is the living line of a wait.
type waitLine struct {
	screen *terminal.Screen

	mu    sync.Mutex
	now   scenarios.Waiting
	since time.Time // the time of the last update
	first time.Time // when the wait began
	stop  func()
}

func newWaitLine(screen *terminal.Screen) *waitLine { return &waitLine{screen: screen} }

// update keeps the progress of a wait. The clock of a private emulator may have passed all of it in
// no time, which is not shown.
func (l *waitLine) update(w scenarios.Waiting) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now, l.since = w, time.Now()
	if l.first.IsZero() {
		l.first = l.since
	}
	if l.stop == nil && l.since.Sub(l.first) > showAfter {
		l.stop = l.screen.Live(l.text)
	}
}

// showAfter is the time after which a wait gets a line.
const showAfter = 300 * time.Millisecond

func (l *waitLine) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	passed := min(l.now.Passed+time.Since(l.since), l.now.Limit).Truncate(time.Second)
	return fmt.Sprintf("waiting %s of %s: %s", scenarios.Duration(passed), scenarios.Duration(l.now.Limit), strings.Join(strings.Fields(l.now.Seen), " "))
}

// clear takes the line away.
func (l *waitLine) clear() {
	l.mu.Lock()
	stop := l.stop
	l.stop, l.first = nil, time.Time{}
	l.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// prefixed marks what a program writes, without the colours that some write into a pipe too.
type prefixed struct{ screen *terminal.Screen }

var _ io.Writer = prefixed{}

// Write implements io.Writer.
func (p prefixed) Write(text []byte) (int, error) {
	for line := range strings.Lines(string(text)) {
		p.screen.Printf("  | %s\n", ansi.Strip(strings.TrimRight(line, "\r\n")))
	}
	return len(text), nil
}

var styleOf = map[scenarios.Status]terminal.Style{
	scenarios.Passed: terminal.Good, scenarios.Failed: terminal.Bad, scenarios.Broken: terminal.Bad, scenarios.Skipped: terminal.Odd, scenarios.NotApplicable: terminal.Odd,
}

// headOf returns how a part ended, such as "failed: arrears, client".
func headOf(result scenarios.Result) string {
	return fmt.Sprintf("%s: %s, %s", styleOf[result.Status].Render(string(result.Status)), result.Scenario, result.Part)
}

// show prints how a part ended, and why.
func (r *scenarioRun) show(result scenarios.Result) {
	switch head := headOf(result); {
	case result.Failure != nil:
		r.say("%s\n%s", head, r.screen.Fit(result.Failure.String(), failureColumn))
	case result.Reason != "":
		r.say("%s (%s)\n", head, result.Reason)
	default:
		r.say("%s\n", head)
	}
	for _, note := range result.Notes {
		r.say("%s", r.screen.Fit("  note:     "+note+"\n", failureColumn))
	}
}

// failureColumn is the column in which the text of a failure starts, behind its labels.
const failureColumn = 12

// report writes the results to the chosen files.
func (r *scenarioRun) report() error {
	if r.junit != "" {
		if err := writeJUnit(r.junit, r.results); err != nil {
			return err
		}
	}
	return r.printer.show(scenarios.ReportOf(r.results), func(s *terminal.Screen) error {
		count := scenarios.Summary(r.results)
		s.Printf("%d passed, %d failed, %d could not run, %d skipped", count[scenarios.Passed], count[scenarios.Failed], count[scenarios.Broken], count[scenarios.Skipped])
		if n := count[scenarios.NotApplicable]; n > 0 {
			s.Printf(", %d not applicable", n)
		}
		s.Printf("\n")
		for _, result := range r.results { // their reasons are far above in a long run
			if len(r.results) > 1 && (result.Status == scenarios.Failed || result.Status == scenarios.Broken) {
				s.Printf("  %s\n", headOf(result))
			}
		}
		for _, line := range whoseClients(r.results) {
			s.Printf("%s", s.Fit(line+"\n", 0))
		}
		return nil
	})
}

// whoseClients says plainly whose clients the play judged, and that the scripted one
// says nothing of the user's.
func whoseClients(results []scenarios.Result) (lines []string) {
	count := make(map[string]int)
	var order []string
	for _, r := range results {
		if r.Status == scenarios.Skipped || r.Client == "" {
			continue
		}
		who := r.Part + "\x00" + r.Client
		if count[who]++; !slices.Contains(order, who) {
			order = append(order, who)
		}
	}
	scriptedOnly := len(order) > 0
	for _, who := range order {
		part, client, _ := strings.Cut(who, "\x00")
		lines = append(lines, fmt.Sprintf("%s run by %s", counted(count[who], part+" part"), client))
		scriptedOnly = scriptedOnly && client == scenarios.ScriptedClient
	}
	if scriptedOnly {
		lines = append(lines, "none of your own clients was tested: use clbemu scenario watch, an exec step or --kubeconfig")
	}
	return lines
}

func writeJUnit(name string, results []scenarios.Result) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(scenarios.WriteJUnit(f, results), f.Close())
}
